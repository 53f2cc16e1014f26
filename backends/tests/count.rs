//! Counts against numbers derived by hand.
use farro_backends::checked::DeviceModel;
use farro_backends::count::{CountSpace, Counts};
use farro_portability::prelude::*;

fn view(label: &str, n: usize) -> View<f64, 1> {
    View::from_fn(label, [n], |[i]| i as f64).unwrap()
}

kernel_args! {
    struct AxpyArgs { a: Real, x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Debug, Hash, Clone)]
struct Axpy;
impl RangeKernel for Axpy {
    type Args = AxpyArgs<Declared>;
    const NAME: &'static str = "axpy";
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &AxpyArgs<T>) {
        // Nothing depends on the quotient, so it is not executed.
        let _ = args.a / args.x.at([i]);
        args.y.set([i], args.a.mul_add(args.x.at([i]), args.y.at([i])));
    }
}

#[test]
fn axpy() {
    for n in [0usize, 1, 31, 32, 1000, 4096] {
        let count = CountSpace::<f64>::new();
        let (x, mut y) = (view("first", n), view("second", n));
        count.parallel_for(RangePolicy::new(n), &Axpy, AxpyArgs { a: 2.0, x: x.read(), y: y.write() }).unwrap();
        assert!((0..n).all(|i| y.get([i]) == 3.0 * i as f64), "the results are those of any target");
        let counts = count.counts();
        let wide = n as u64;
        assert_eq!(counts.flops(), 2 * wide);
        assert_eq!((counts.operations.fma, counts.operations.add, counts.operations.div), (wide, 0, 0));
        assert_eq!((counts.global.loads.elements, counts.global.loads.bytes), (2 * wide, 16 * wide));
        assert_eq!((counts.global.stores.elements, counts.global.stores.bytes), (wide, 8 * wide));
        assert_eq!((counts.compulsory.read, counts.compulsory.written), (16 * wide, 8 * wide));
        assert_eq!(counts.compulsory.bytes(), 3 * 8 * wide);
        // A warp of 32 doubles is 8 sectors and 2 lines; teams start at multiples of 256 elements.
        assert_eq!(counts.views["x"].accesses.loads.requests, wide.div_ceil(32));
        assert_eq!(counts.views["x"].accesses.loads.sectors, (8 * wide).div_ceil(32));
        assert_eq!(counts.views["y"].accesses.stores.lines, (8 * wide).div_ceil(128));
        assert_eq!(counts.views["y"].compulsory.written, 8 * wide);
        assert_eq!(counts.global.atomics.elements + counts.barriers + counts.lane_exchanges, 0);
        assert_eq!(counts.teams, wide.div_ceil(256));
        if n > 0 {
            assert_eq!(counts.per(n as f64).flops, 2.0);
            assert!((counts.intensity() - 2.0 / 24.0).abs() < 1e-15);
        }
    }
}

#[test]
fn storage_of_32_bits_halves_the_bytes() {
    kernel_args! {
        struct Halves { x: View<f32, 1, LayoutRight, ReadOnly>, y: View<f32, 1, LayoutRight, ReadWrite> }
    }
    #[derive(Debug, Hash, Clone)]
    struct Stride(usize);
    impl RangeKernel for Stride {
        type Args = Halves<Declared>;
        const NAME: &'static str = "stride";
        fn run<T: Target>(&self, _t: T, i: T::Int, args: &Halves<T>) {
            args.y.set([i], args.x.at([i * self.0 as i64]).sqrt() / args.x.at([i]));
        }
    }
    for (stride, sectors) in [(1, 4), (2, 8), (4, 16), (8, 32), (16, 32)] {
        let x = View::<f32, 1>::from_fn("x", [64 * stride], |[i]| 1.0 + i as f32).unwrap();
        let mut y = View::<f32, 1>::from_fn("y", [64], |_| 0.0).unwrap();
        let count = CountSpace::<f32>::new();
        count.parallel_for(RangePolicy::new(64), &Stride(stride), Halves { x: x.read(), y: y.write() }).unwrap();
        let counts = count.counts();
        assert_eq!((counts.operations.sqrt, counts.operations.div, counts.flops()), (64, 64, 128));
        let x = &counts.views["x"].accesses.loads;
        assert_eq!((x.bytes, x.requests, x.sectors), (2 * 256, 4, 2 * (sectors + 4)));
        assert_eq!(counts.views["y"].compulsory.written, 256);
    }
}

kernel_args! {
    struct Matrices { x: View<f64, 2, LayoutRight, ReadOnly>, y: View<f64, 2, LayoutRight, ReadWrite> }
}
/// A matrix transposed through scratch whose rows have `padding` elements more.
#[derive(Debug, Hash, Clone, Copy)]
struct Transpose {
    padding: usize,
}
impl Kernel for Transpose {
    type Args = Matrices<Declared>;
    const NAME: &'static str = "transpose";
    fn run<T: Target>(&self, team: T, a: &Matrices<T>) {
        let tile = team.scratch::<f64, 2>(ScratchLevel::Zero, "tile", [32, 32 + self.padding]);
        let tiles = a.x.extent(1) / 32;
        let (row, column) = (team.league_rank() / tiles * 32, team.league_rank() % tiles * 32);
        team.for_each_md([32, 32], |[i, j]| tile.set([i, j], a.x.at([row + i, column + j])));
        team.barrier();
        team.for_each_md([32, 32], |[i, j]| a.y.set([column + i, row + j], tile.at([j, i])));
    }
}

#[test]
fn transposition_through_scratch() {
    // 2 x 3 tiles of 32 x 32, 256 work items each.
    let x = View::<f64, 2>::from_fn("x", [64, 96], |[i, j]| (100 * i + j) as f64).unwrap();
    let mut y = View::<f64, 2>::from_fn("y", [96, 64], |_| -1.0).unwrap();
    let policy = TeamPolicy::new(6, 256, 1).unwrap();
    let mut run = |padding: usize| -> Counts {
        let count = CountSpace::<f64>::new();
        count.launch(&Transpose { padding }, &policy, Matrices { x: x.read(), y: y.write() }).unwrap();
        assert!((0..96).all(|i| (0..64).all(|j| y.get([i, j]) == x.get([j, i]))));
        count.counts()
    };
    let (plain, padded) = (run(0), run(1));
    for counts in [&plain, &padded] {
        assert_eq!((counts.flops(), counts.barriers, counts.teams, counts.work_items), (0, 6, 6, 6 * 256));
        assert_eq!((counts.global.loads.bytes, counts.global.stores.bytes), (8 * 6144, 8 * 6144));
        assert_eq!((counts.global.loads.requests, counts.global.loads.sectors), (6144 / 32, 6144 / 4));
        assert_eq!(counts.global.stores.lines, 6144 / 16);
        assert_eq!((counts.scratch[0].loads.elements, counts.scratch[0].stores.elements), (6144, 6144));
        assert_eq!(counts.scratch_arrays["tile"], counts.scratch[0]);
        // Rows are stored without conflict: one pass for each half warp.
        assert_eq!(counts.scratch[0].stores.bank_passes, 2 * 6144 / 32);
        assert_eq!(counts.scratch[1], Default::default());
        assert_eq!(counts.per_team().barriers, 1.0);
        assert_eq!(counts.per_team().scratch_bytes, [2.0 * 8192.0, 0.0]);
    }
    // A column of 32 doubles in rows of 64 words meets in one bank pair: 16 passes for each half warp.
    assert_eq!(plain.scratch[0].loads.bank_passes, 16 * 2 * 6144 / 32);
    assert_eq!(padded.scratch[0].loads.bank_passes, 2 * 6144 / 32);
}

kernel_args! {
    struct Histogram { keys: View<i32, 1, LayoutRight, ReadOnly>, sums: View<f64, 1, LayoutRight, Atomic> }
}
/// Work items add to the bin of their key; teams of 64.
#[derive(Debug, Hash, Clone, Copy)]
struct Bins;
impl Kernel for Bins {
    type Args = Histogram<Declared>;
    const NAME: &'static str = "bins";
    fn run<T: Target>(&self, team: T, a: &Histogram<T>) {
        let first = team.league_rank() * 100;
        team.for_each(team.int(100), |i| {
            a.sums.add([a.keys.at([first + i])], team.real(1.0));
        });
    }
}

#[test]
fn atomic_updates() {
    let keys = View::<i32, 1>::from_fn("keys", [300], |[i]| (i % 7) as i32).unwrap();
    let mut sums = View::<f64, 1>::from_fn("sums", [9], |_| 0.0).unwrap();
    let count = CountSpace::<f64>::new();
    let policy = TeamPolicy::new(3, 64, 1).unwrap();
    count.launch(&Bins, &policy, Histogram { keys: keys.read(), sums: sums.update() }).unwrap();
    assert_eq!(sums.as_slice(), [43.0, 43.0, 43.0, 43.0, 43.0, 43.0, 42.0, 0.0, 0.0]);
    let counts = count.counts();
    assert_eq!((counts.atomics(), counts.global.atomics.bytes, counts.flops()), (300, 2400, 0));
    // A team's 100 keys are warps of 32, 32, 32 and 4; 7 doubles lie in 2 sectors of one line.
    assert_eq!(counts.global.atomics.requests, 3 * 4);
    let last = |team: usize| -> u64 {
        let mut sectors: Vec<usize> = (96..100).map(|i| (100 * team + i) % 7 / 4).collect();
        sectors.dedup();
        if sectors.contains(&0) && sectors.contains(&1) { 2 } else { 1 }
    };
    assert_eq!(counts.global.atomics.sectors, 3 * 3 * 2 + (0..3).map(last).sum::<u64>());
    assert_eq!(counts.global.atomics.lines, 3 * 4);
    // 7 of the 9 bins are touched; they come in and go out. Keys are 4 bytes.
    let sums = &counts.views["sums"];
    assert_eq!((sums.compulsory.read, sums.compulsory.written), (56, 56));
    assert_eq!(counts.compulsory.read, 56 + 1200);
}

kernel_args! {
    struct Sums { out: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Debug, Hash, Clone, Copy)]
struct SumOf(usize);
impl Kernel for SumOf {
    type Args = Sums<Declared>;
    const NAME: &'static str = "sum";
    fn run<T: Target>(&self, team: T, a: &Sums<T>) {
        let total = team.reduce(team.int(self.0), Sum, |i| team.to_real(i));
        a.out.set([team.league_rank()], total);
    }
}

#[test]
fn reductions() {
    // 8 threads: 3 levels, each with a barrier; one before the total is read, one after.
    let mut out = view("out", 5);
    let count = CountSpace::<f64>::new();
    count.launch(&SumOf(20), &TeamPolicy::new(5, 8, 1).unwrap(), Sums { out: out.write() }).unwrap();
    assert_eq!(out.as_slice(), [190.0; 5]);
    let counts = count.counts();
    assert_eq!(counts.per_team().barriers, 5.0);
    // 20 additions by threads, then 4 + 2 + 1 in the tree.
    assert_eq!((counts.operations.add, counts.flops()), (5 * 27, 5 * 27));
    let scratch = &counts.scratch[0];
    assert_eq!((scratch.stores.elements, scratch.loads.elements), (5 * (8 + 7), 5 * (2 * 7 + 8)));
    assert_eq!((counts.global.stores.elements, counts.global.stores.requests), (5, 5));
    // 4 lanes of one thread: no scratch, no barrier, 2 shifts and a broadcast for each lane.
    let count = CountSpace::<f64>::new();
    count.launch(&SumOf(20), &TeamPolicy::new(5, 1, 4).unwrap(), Sums { out: out.write() }).unwrap();
    assert_eq!(out.as_slice(), [190.0; 5]);
    let counts = count.counts();
    assert_eq!((counts.barriers, counts.scratch[0].bytes(), counts.lane_exchanges), (0, 0, 5 * 3 * 4));
    assert_eq!(counts.operations.add, 5 * (20 + 2 * 4));
}

/// Private memory: a value is set and read once by each work item.
#[derive(Debug, Hash, Clone, Copy)]
struct Keep;
impl Kernel for Keep {
    type Args = Sums<Declared>;
    const NAME: &'static str = "keep";
    fn run<T: Target>(&self, team: T, a: &Sums<T>) {
        let kept = team.private(2);
        team.phase(|item| {
            kept.set(0, team.to_real(item.thread));
            kept.set(1, team.real(1.0));
        });
        team.barrier();
        team.phase(|item| {
            a.out.set([team.league_rank() * team.team_size() as i64 + item.thread], kept.get(0) + kept.get(1));
        });
    }
}

#[test]
fn private_memory_and_totals() {
    let mut out = view("out", 12);
    let count = CountSpace::<f64>::with_warp(4);
    let policy = TeamPolicy::new(2, 6, 1).unwrap();
    count.launch(&Keep, &policy, Sums { out: out.write() }).unwrap();
    assert!((0..12).all(|i| out.get([i]) == (1 + i % 6) as f64));
    let once = count.counts();
    assert_eq!((once.private.loads.elements, once.private.stores.bytes), (24, 24 * 8));
    assert_eq!((once.operations.add, once.barriers, once.launches), (12, 2, 1));
    // Warps of 4 and 2 in each team of 6. The second team starts at byte 48, in the middle of a sector.
    assert_eq!((once.global.stores.requests, once.global.stores.sectors), (4, 1 + 1 + 2 + 1));
    count.launch(&Keep, &policy, Sums { out: out.write() }).unwrap();
    assert_eq!(count.counts(), once);
    assert_eq!(count.total(), once.clone() + once.clone());
    assert_eq!(count.reset().launches, 2);
    assert_eq!(count.total(), Counts::default());
    // The limits are those of the device; nothing is counted for a launch that is refused.
    let small = CountSpace::<f64>::imitating(DeviceModel::SMALL);
    let result = small.launch(&Keep, &TeamPolicy::new(1, 300, 1).unwrap(), Sums { out: out.write() });
    assert!(matches!(result, Err(LaunchError::TeamTooLarge { asked: 300, allowed: 256, .. })));
    assert_eq!(small.total(), Counts::default());
}
