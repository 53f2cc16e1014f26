//! Properties of random launches on every space of this machine.

mod spaces;

use farro_portability::prelude::*;
use farro_portability::{KernelView, RangePolicy};
use proptest::prelude::{ProptestConfig, Strategy};
use proptest::test_runner::TestRunner;

/// Runs a property with a fixed seed, so that a failure comes back, and a bounded number of cases.
fn property<V: Strategy>(strategy: V, test: impl Fn(V::Value)) {
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner =
        TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(Default::default()));
    if let Err(error) = runner.run(&strategy, |value| {
        test(value);
        Ok(())
    }) {
        panic!("{error}");
    }
}

fn upload<S: Space, E: Element>(space: &S, label: &str, values: &[E]) -> View<E, 1, LayoutRight, S::Memory> {
    let host = View::<E, 1>::from_fn(label, [values.len()], |[i]| values[i]).unwrap();
    let mut view = View::new(space.memory(), label, [values.len()]).unwrap();
    deep_copy(&mut view, &host).unwrap();
    view
}
fn poisoned<S: Space, E: Element>(space: &S, label: &str, n: usize) -> View<E, 1, LayoutRight, S::Memory> {
    let mut view = View::new(space.memory(), label, [n]).unwrap();
    view.fill(E::POISON).unwrap();
    view
}
fn download<S: Space, E: Element>(view: &View<E, 1, LayoutRight, S::Memory>) -> Vec<E> {
    let mut host = view.mirror().unwrap();
    deep_copy(&mut host, view).unwrap();
    host.as_slice().to_vec()
}

kernel_args! {
    struct ScanArgs {
        n: Int,
        values: View<i64, 1, LayoutRight, ReadOnly>,
        prefix: View<i64, 1, LayoutRight, ReadWrite>,
    }
}
#[derive(Hash)]
struct TeamScan;
impl Kernel for TeamScan {
    type Args = ScanArgs<Declared>;
    const NAME: &'static str = "property_scan";
    fn run<T: Target>(&self, team: T, args: &ScanArgs<T>) {
        let total = team.scan(args.n, SumInt, |i| args.values.at([i]), |i, sum| args.prefix.set([i], sum));
        args.prefix.set([args.n], total);
    }
}

fn scan_is_prefix_sum<S: Space>(space: &S) {
    let values = proptest::collection::vec(-1_000_000_000_000i64..1_000_000_000_000, 0..200);
    property((values, 1usize..130, 0usize..8), |(values, team, vector)| {
        let lengths = space.limits().vector_lengths;
        let vector = lengths[vector % lengths.len()];
        if team * vector > space.limits().max_team {
            return;
        }
        let n = values.len();
        let on_space = upload(space, "values", &values);
        let mut prefix = poisoned::<S, i64>(space, "prefix", n + 1);
        let args = ScanArgs { n: n as i64, values: on_space.read(), prefix: prefix.write() };
        space.launch(&TeamScan, &TeamPolicy::new(1, team, vector).unwrap(), args).unwrap();
        space.fence().unwrap();
        let sums = values.iter().scan(0, |sum, value| {
            let before = *sum;
            *sum += value;
            Some(before)
        });
        let expected: Vec<i64> = sums.chain([values.iter().sum()]).collect();
        assert_eq!(download::<S, i64>(&prefix), expected, "team {team} x vector {vector}");
    });
}

kernel_args! {
    struct Values { values: View<f64, 1, LayoutRight, ReadOnly> }
}
#[derive(Hash, Clone)]
struct Total;
impl ReduceKernel for Total {
    type Args = Values<Declared>;
    type Reducer = Sum;
    const NAME: &'static str = "property_reduce";
    fn value<T: Target>(&self, _: T, i: T::Int, args: &Values<T>) -> T::Real {
        args.values.at([i])
    }
}

fn reduce_is_sequential_sum<S: Space>(space: &S) {
    let values = proptest::collection::vec((-1000.0f64..1000.0, 0i32..40).prop_map(|(x, e)| x * 2f64.powi(e)), 0..9000);
    // A small term is lost in 32-bit arithmetic.
    let probe = upload(space, "probe", &[1.0, 2f64.powi(-40)]);
    let sum = space.parallel_reduce(RangePolicy::new(2), &Total, Values { values: probe.read() }).unwrap();
    let epsilon = if sum == [1.0] { f64::from(f32::EPSILON) } else { f64::EPSILON };
    property(values, |values| {
        let on_space = upload(space, "values", &values);
        let policy = RangePolicy::new(values.len());
        let run = || space.parallel_reduce(policy, &Total, Values { values: on_space.read() }).unwrap();
        let found = run();
        assert_eq!(found, run(), "the order of combination is fixed");
        // Inputs may be rounded to 32 bits, too.
        let size: f64 = values.iter().map(|x| x.abs()).sum();
        let error = (found[0] - values.iter().sum::<f64>()).abs();
        assert!(error <= (values.len() + 1) as f64 * epsilon * size, "{error:e} of {size:e}");
    });
}

kernel_args! {
    struct Visits { visits: View<i32, 3, LayoutLeft, Atomic> }
}
#[derive(Hash, Clone)]
struct Visit;
impl MdKernel<3> for Visit {
    type Args = Visits<Declared>;
    const NAME: &'static str = "property_visit";
    fn run<T: Target>(&self, _: T, index: [T::Int; 3], args: &Visits<T>) {
        let visits: KernelView<T, i32, 3, LayoutLeft, Atomic> = args.visits;
        visits.add(index, T::Int::from(1i32));
    }
}

fn md_range_visits_once<S: Space>(space: &S) {
    let extents = (0usize..12, 0usize..12, 0usize..40);
    let tile = (1usize..6, 1usize..6, 1usize..20);
    property((extents, tile), |((a, b, c), (i, j, k))| {
        let mut visits = View::<i32, 3, LayoutLeft, S::Memory>::new(space.memory(), "visits", [a, b, c]).unwrap();
        let policy = MdRangePolicy::new([a, b, c]).with_tile([i, j, k]).unwrap();
        space.parallel_for_md(policy, &Visit, Visits { visits: visits.update() }).unwrap();
        space.fence().unwrap();
        let mut host = visits.mirror().unwrap();
        deep_copy(&mut host, &visits).unwrap();
        assert!(host.as_slice().iter().all(|&count| count == 1), "extents {:?}, tile {:?}", [a, b, c], [i, j, k]);
    });
}

every_space!(scan_equals_prefix_sum, super::scan_is_prefix_sum);
every_space!(reduce_equals_sequential_sum, super::reduce_is_sequential_sum);
every_space!(md_range_visits_each_index_once, super::md_range_visits_once);
