//! The checked and the counting target compute what the host computes.
use farro_backends::checked::{CheckedSpace, DeviceModel};
use farro_backends::count::CountSpace;
use farro_backends::host::HostSpace;
use farro_backends::trace::trace;
use farro_portability::prelude::*;
use farro_portability::{OverRange, conformance};
use farro_test_suite as _;
use proptest::prelude::*;
use std::sync::LazyLock;

fn conforms<S: Space>(space: &S) {
    let report = conformance::suite(space);
    println!("{report}");
    report.assert();
}
#[test]
fn checked_conforms() {
    conforms(&CheckedSpace::<f64>::new());
    conforms(&CheckedSpace::<f64>::imitating(DeviceModel::MI250X));
}
#[test]
fn count_conforms() {
    conforms(&CountSpace::<f32>::new());
}

static HOST: LazyLock<HostSpace<f64>> = LazyLock::new(|| HostSpace::new().expect("the host is there"));

kernel_args! {
    struct VectorArgs { a: Real, x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}
/// A formula with most operations, a branch and a loop whose length depends on data.
#[derive(Debug, Hash, Clone)]
struct Formula;
impl RangeKernel for Formula {
    type Args = VectorArgs<Declared>;
    const NAME: &'static str = "formula";
    fn run<T: Target>(&self, t: T, i: T::Int, args: &VectorArgs<T>) {
        let x = args.x.at([i]);
        let root = (x.square() + t.real(0.5)).sqrt();
        let sum = t.fold(i % 7, (root, t.int(0).widen()), |k, (sum, steps)| {
            (args.a.mul_add(sum, t.to_real(k)) / (root + t.real(1.0)), steps + k)
        });
        args.y.set([i], sum.0.min(t.real(20.0)) - sum.0.abs() + t.to_real(sum.1));
        t.when(x.lt(t.real(0.0)), || args.y.set([i], (-x).max(args.y.at([i]))));
    }
}

kernel_args! {
    struct BoxArgs { x: View<f64, 3, LayoutLeft, ReadOnly>, y: View<f64, 3, LayoutRight, ReadWrite> }
}
#[derive(Debug, Hash, Clone)]
struct Stencil;
impl MdKernel<3> for Stencil {
    type Args = BoxArgs<Declared>;
    const NAME: &'static str = "stencil";
    fn run<T: Target>(&self, t: T, [i, j, k]: [T::Int; 3], args: &BoxArgs<T>) {
        let left = (i - 1).max(t.int(0));
        let right = (k + 1).min(args.x.extent(2) - 1);
        args.y.set([i, j, k], args.x.at([i, j, k]) - args.x.at([left, j, right]).scale(0.25));
    }
}

kernel_args! {
    struct TeamArgs { x: View<f64, 2, LayoutRight, ReadOnly>, y: View<f64, 2, LayoutRight, ReadWrite> }
}
/// Rows reversed through scratch, less their mean; prefix sums kept in private memory.
#[derive(Debug, Hash, Clone)]
struct Rows {
    columns: usize,
}
impl Kernel for Rows {
    type Args = TeamArgs<Declared>;
    const NAME: &'static str = "rows";
    fn run<T: Target>(&self, team: T, args: &TeamArgs<T>) {
        let (row, n) = (team.league_rank(), self.columns);
        let tile = team.scratch::<f64, 1>(ScratchLevel::Zero, "tile", [n]);
        let prefix = team.scratch::<f64, 1>(ScratchLevel::One, "prefix", [n]);
        let kept = team.private(1);
        team.for_each(n, |j| tile.set([j], args.x.at([row, j])));
        team.barrier();
        let total = team.reduce(n, Sum, |j| tile.at([j]));
        team.scan(n, Sum, |j| tile.at([j]), |j, before| prefix.set([j], before));
        team.phase(|item| kept.set(0, team.to_real(item.thread * 10 + item.lane)));
        team.barrier();
        team.for_each(n, |j| {
            let mean = total / team.real(n as f64);
            args.y.set([row, j], tile.at([team.int(n - 1) - j]) - mean + prefix.at([j]));
        });
        team.barrier();
        team.phase(|item| {
            let place = item.thread * team.vector_length() as i64 + item.lane;
            let moved = team.rotate_down(kept.get(0), 1);
            team.when(place.lt(team.int(n)), || args.y.set([row, place], args.y.at([row, place]) + moved));
        });
    }
}

/// Fails unless the numbers agree to 1e-13 of the largest.
fn agree(a: &[f64], b: &[f64]) -> Result<(), TestCaseError> {
    let scale = a.iter().fold(1.0f64, |scale, value| scale.max(value.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        prop_assert!((a - b).abs() <= 1e-13 * scale, "element {i}: {a} and {b}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn ranges(n in 0usize..1500, a in -1.5f64..1.5) {
        let x = View::<f64, 1>::from_fn("x", [n], |[i]| ((i * 37) % 101) as f64 / 10.0 - 4.0).unwrap();
        let mut y = [(); 3].map(|()| View::<f64, 1>::from_fn("y", [n], |[i]| i as f64).unwrap());
        let [host, checked, count] = &mut y;
        let args = |y| VectorArgs { a, x: x.read(), y };
        HOST.parallel_for(RangePolicy::new(n), &Formula, args(host.write())).unwrap();
        CheckedSpace::<f64>::new().parallel_for(RangePolicy::new(n), &Formula, args(checked.write())).unwrap();
        CountSpace::<f64>::new().parallel_for(RangePolicy::new(n), &Formula, args(count.write())).unwrap();
        agree(host.as_slice(), checked.as_slice())?;
        prop_assert_eq!(checked.as_slice(), count.as_slice());
    }

    #[test]
    fn boxes(extents in [1usize..9, 1usize..12, 1usize..20], tile in [1usize..4, 1usize..5, 1usize..9]) {
        let x = View::<f64, 3, LayoutLeft>::from_fn("x", extents, |[i, j, k]| (i * 100 + j * 10 + k) as f64).unwrap();
        let mut y = [(); 2].map(|()| View::<f64, 3>::new(&HostMemory, "y", extents).unwrap());
        let [host, checked] = &mut y;
        let policy = MdRangePolicy::new(extents).with_tile(tile).unwrap();
        HOST.parallel_for_md(policy, &Stencil, BoxArgs { x: x.read(), y: host.write() }).unwrap();
        let space = CheckedSpace::<f64>::new();
        space.parallel_for_md(policy, &Stencil, BoxArgs { x: x.read(), y: checked.write() }).unwrap();
        agree(host.as_slice(), checked.as_slice())?;
    }

    #[test]
    fn teams(rows in 0usize..4, columns in 1usize..70, threads in 1usize..40, power in 0u32..3) {
        // Vectors as the host has them, and one lane.
        let lanes = (1usize << power).min(*HOST.limits().vector_lengths.last().unwrap());
        let policy = TeamPolicy::new(rows, threads, lanes).unwrap();
        let x = View::<f64, 2>::from_fn("x", [rows, columns], |[i, j]| ((i * 31 + j * 17) % 23) as f64).unwrap();
        let mut y = [(); 3].map(|()| View::<f64, 2>::new(&HostMemory, "y", [rows, columns]).unwrap());
        let [host, checked, count] = &mut y;
        let kernel = Rows { columns };
        HOST.launch(&kernel, &policy, TeamArgs { x: x.read(), y: host.write() }).unwrap();
        CheckedSpace::<f64>::new().launch(&kernel, &policy, TeamArgs { x: x.read(), y: checked.write() }).unwrap();
        CountSpace::<f64>::new().launch(&kernel, &policy, TeamArgs { x: x.read(), y: count.write() }).unwrap();
        agree(host.as_slice(), checked.as_slice())?;
        prop_assert_eq!(checked.as_slice(), count.as_slice());
    }
}

kernel_args! {
    struct OutArgs { y: View<f64, 1, LayoutRight, ReadWrite> }
}
/// 64 reals of scratch for each thread.
#[derive(Debug, Hash, Clone)]
struct ScratchOfThreads;
impl Kernel for ScratchOfThreads {
    type Args = OutArgs<Declared>;
    const NAME: &'static str = "scratch_of_threads";
    fn run<T: Target>(&self, team: T, args: &OutArgs<T>) {
        let tile = team.scratch::<f64, 2>(ScratchLevel::Zero, "tile", [team.team_size(), 64]);
        team.phase(|item| tile.set([item.thread, team.int(63)], team.real(1.0)));
        team.barrier();
        args.y.set([team.league_rank()], tile.at([team.int(team.team_size() - 1), team.int(63)]));
    }
}

#[test]
fn the_largest_team_of_a_device_launches_and_one_more_does_not() {
    for (model, largest) in [(DeviceModel::MI250X, 128), (DeviceModel::H200, 454), (DeviceModel::SMALL, 32)] {
        let space = CheckedSpace::<f64>::imitating(model);
        let mut y = View::<f64, 1>::new(&HostMemory, "y", [2]).unwrap();
        let policy = |threads| TeamPolicy::new(2, threads, 1).unwrap();
        let args = OutArgs { y: y.write() };
        assert_eq!(space.largest_team(&ScratchOfThreads, &policy(1), &args).unwrap(), largest);
        space.launch(&ScratchOfThreads, &policy(largest), args).unwrap();
        assert_eq!(y.as_slice(), [1.0, 1.0]);
        match space.launch(&ScratchOfThreads, &policy(largest + 1), OutArgs { y: y.write() }) {
            Err(LaunchError::ScratchTooLarge { asked, available, .. }) => {
                assert_eq!((asked, available), ((largest + 1) * 512, model.scratch_bytes));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn programs_that_do_not_fit_are_refused() {
    let mut y = View::<f64, 1>::new(&HostMemory, "y", [1]).unwrap();
    let policy = TeamPolicy::new(2, 3, 1).unwrap();
    let program = trace::<_, f64, _>(&ScratchOfThreads, &policy, &OutArgs { y: y.write() }).unwrap();
    // Counting keeps inside the bounds too: the second team has no element.
    let count = CountSpace::<f64>::new();
    match count.run_program::<ScratchOfThreads>(&program, &policy, OutArgs { y: y.write() }) {
        Err(LaunchError::Fault { view, team: 1, .. }) => assert_eq!(view, "y"),
        other => panic!("{other:?}"),
    }
    assert_eq!((y.get([0]), count.total().launches), (0.0, 0));
    let checked = CheckedSpace::<f64>::new();
    let mut broken = program.clone();
    broken.memories.clear();
    let result = checked.run_program::<ScratchOfThreads>(&broken, &policy, OutArgs { y: y.write() });
    assert!(matches!(result, Err(LaunchError::Kernel { .. })), "{result:?}");
    let other = TeamPolicy::new(2, 4, 1).unwrap();
    let result = checked.run_program::<ScratchOfThreads>(&program, &other, OutArgs { y: y.write() });
    assert!(matches!(result, Err(LaunchError::Arguments { .. })), "{result:?}");
    let x = View::<f64, 1>::new(&HostMemory, "x", [1]).unwrap();
    let result = checked.run_program::<OverRange<Formula>>(
        &program,
        &policy,
        (VectorArgs { a: 0.0, x: x.read(), y: y.write() }, [1]),
    );
    assert!(matches!(result, Err(LaunchError::Arguments { .. })), "{result:?}");
}
