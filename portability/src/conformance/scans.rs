//! Scans are prefix sums, for any length and team.

use super::lab::*;
use super::reducers::*;
use super::reductions::OnDevice;
use crate::ArgSet;
use crate::args::Both;
use crate::prelude::*;
use std::marker::PhantomData;

/// Lengths that a team scans: 0 to 199.
const LENGTHS: usize = 200;

/// Sums of integers and reals, and the largest integer, in one scan.
#[derive(Clone, Copy, Debug, Hash)]
struct Mixed;
impl Reducer for Mixed {
    type Value<T: Target> = (T::Int, T::Real, [T::Int; 1]);
    fn identity<T: Target>() -> Self::Value<T> {
        (T::Int::from(0i32), T::Real::lit(0.0), [T::Int::from(i64::MIN)])
    }
    fn join<T: Target>(a: Self::Value<T>, b: Self::Value<T>) -> Self::Value<T> {
        (a.0 + b.0, a.1 + b.1, [a.2[0].max(b.2[0])])
    }
}

kernel_args! {
    struct ScanArgs {
        keys: View<i64, 1, LayoutRight, ReadOnly>,
        sums: View<i64, 2, LayoutRight, ReadWrite>,
        reals: View<f64, 2, LayoutRight, ReadWrite>,
        largest: View<i64, 2, LayoutRight, ReadWrite>,
        totals: View<i64, 1, LayoutRight, ReadWrite>,
    }
}
/// Team `n` scans `n` values.
#[derive(Hash)]
struct TeamScan;
impl Kernel for TeamScan {
    type Args = ScanArgs<Declared>;
    const NAME: &'static str = "conformance_team_scan";
    fn run<T: Target>(&self, team: T, args: &ScanArgs<T>) {
        let n = team.league_rank();
        let total = team.scan(
            n,
            Mixed,
            |i| {
                let key = args.keys.at([i + n]);
                (key, team.to_real(i % 10), [key])
            },
            |i, (sum, real, [largest])| {
                args.sums.set([n, i], sum);
                args.reals.set([n, i], real);
                args.largest.set([n, i], largest);
            },
        );
        args.totals.set([n], total.0);
    }
}

pub(super) fn team<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let mut generator = Generator(1);
    let mut sizes = vec![1, 2, 3, 7, 32, 33, 64, 96, 127, 130];
    sizes.extend((0..4).map(|_| generator.within(4, 130) as usize));
    let mut shapes = lab.shapes_of(&sizes, 1);
    for &vector in lab.limits.vector_lengths.iter().filter(|&&vector| vector > 1) {
        shapes.extend(lab.shapes_of(&[1, 7, 33], vector));
    }
    let keys: Vec<i64> = (0..2 * LENGTHS).map(|_| generator.within(-(1 << 40), 1 << 40)).collect();
    let on_space = lab.upload::<i64, 1, _>("keys", [keys.len()], |[i]| keys[i])?;
    for (team, vector) in shapes {
        let mut sums = lab.poisoned::<i64, 2>("sums", [LENGTHS, LENGTHS])?;
        let mut reals = lab.poisoned::<f64, 2>("reals", [LENGTHS, LENGTHS])?;
        let mut largest = lab.poisoned::<i64, 2>("largest", [LENGTHS, LENGTHS])?;
        let mut totals = lab.poisoned::<i64, 1>("totals", [LENGTHS])?;
        let args = ScanArgs {
            keys: on_space.read(),
            sums: sums.write(),
            reals: reals.write(),
            largest: largest.write(),
            totals: totals.write(),
        };
        lab.run(&TeamScan, &lab.policy(LENGTHS, team, vector)?, args)?;
        let (sums, reals) = (lab.download(&sums)?, lab.download(&reals)?);
        let (largest, totals) = (lab.download(&largest)?, lab.download(&totals)?);
        for n in 0..LENGTHS {
            let what = |i: usize| format!("team {team} x vector {vector}, place {i} of {n} values");
            let (mut sum, mut real, mut most) = (0, 0.0, i64::MIN);
            for i in 0..LENGTHS {
                let found = (sums.get([n, i]), reals.get([n, i]), largest.get([n, i]));
                if i >= n {
                    ensure!(found.0 == i64::POISON && found.1.is_nan(), "{}: written, though outside", what(i));
                    continue;
                }
                let wanted = (sum, real, most);
                ensure!(found == wanted, "{}: {found:?}, expected {wanted:?}", what(i));
                let key = keys[i + n];
                (sum, real, most) = (sum + key, real + (i % 10) as f64, most.max(key));
            }
            let found = totals.get([n]);
            ensure!(found == sum, "{}: the total is {found}, expected {sum}", what(n));
        }
    }
    Ok(())
}

kernel_args! {
    struct RowArgs {
        n: Int,
        reals: View<f64, 2, LayoutRight, ReadWrite>,
        ints: View<i64, 2, LayoutRight, ReadWrite>,
    }
}
struct ReducerScan<R>(PhantomData<R>);
impl<R> std::hash::Hash for ReducerScan<R> {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}
impl<R: Tested> Kernel for ReducerScan<R> {
    type Args = Both<Data<Declared>, RowArgs<Declared>>;
    const NAME: &'static str = "conformance_reducer_scan";
    fn run<T: Target>(&self, team: T, (data, args): &<Self::Args as ArgSet>::With<T>) {
        let total = team.scan_spread(
            args.n,
            R::identity::<T>(),
            R::join::<T>,
            |i| value_at::<T, R>(team, data, i),
            |i, prefix| write_row(team, &args.reals, &args.ints, i, prefix),
        );
        write_row(team, &args.reals, &args.ints, args.n, total);
    }
}

fn reducer_scan<S: Space, R: Tested>(lab: &Lab<'_, S>, name: &str) -> Verdict {
    for (team, vector) in lab.shapes(&[1, 7, 33]) {
        for n in [0, 1, 5, 64, 101] {
            let samples = samples(n, Some(n / 2));
            let data = OnDevice::new(lab, &samples)?;
            let mut reals = lab.poisoned::<f64, 2>("reals", [n + 1, 5])?;
            let mut ints = lab.poisoned::<i64, 2>("ints", [n + 1, 5])?;
            let rows = RowArgs { n: n as i64, reals: reals.write(), ints: ints.write() };
            let policy = lab.policy(1, team, vector)?;
            lab.run(&ReducerScan(PhantomData::<R>), &policy, (data.args(), rows))?;
            let (reals, ints) = (lab.download(&reals)?, lab.download(&ints)?);
            for row in 0..=n {
                for (k, number) in R::expected(&samples[..row]).into_iter().enumerate() {
                    let found = match number {
                        Number::Real(_) => Number::Real(reals.get([row, k])),
                        Number::Int(_) => Number::Int(ints.get([row, k])),
                    };
                    ensure!(
                        found == number,
                        "{name}, team {team} x vector {vector}: number {k} before {row} of {n} is {found:?}, expected {number:?}"
                    );
                }
            }
        }
    }
    Ok(())
}

pub(super) fn every_reducer<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    reducer_scan::<S, Product>(lab, "Product")?;
    reducer_scan::<S, MinMax>(lab, "MinMax")?;
    reducer_scan::<S, MaxLoc>(lab, "MaxLoc")?;
    reducer_scan::<S, Any>(lab, "Any")?;
    reducer_scan::<S, Moments>(lab, "a custom reducer")
}

kernel_args! {
    struct LeagueArgs {
        keys: View<i64, 1, LayoutRight, ReadOnly>,
        sums: View<i64, 1, LayoutRight, ReadWrite>,
        reals: View<f64, 1, LayoutRight, ReadWrite>,
    }
}
#[derive(Hash, Clone)]
struct LeagueScan;
impl ScanKernel for LeagueScan {
    type Args = LeagueArgs<Declared>;
    type Reducer = Mixed;
    const NAME: &'static str = "conformance_league_scan";
    fn value<T: Target>(&self, target: T, i: T::Int, args: &LeagueArgs<T>) -> (T::Int, T::Real, [T::Int; 1]) {
        let key = args.keys.at([i]);
        (key, target.to_real(i % 10), [key])
    }
    fn output<T: Target>(&self, _: T, i: T::Int, prefix: (T::Int, T::Real, [T::Int; 1]), args: &LeagueArgs<T>) {
        args.sums.set([i], prefix.0);
        args.reals.set([i], prefix.1);
    }
}

pub(super) fn league<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let chunk = lab.limits.range_chunk;
    let mut generator = Generator(2);
    for n in [0, 1, 2, 33, 200, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 5] {
        let keys: Vec<i64> = (0..n).map(|_| generator.within(-(1 << 36), 1 << 36)).collect();
        let on_space = lab.upload::<i64, 1, _>("keys", [n], |[i]| keys[i])?;
        let mut sums = lab.poisoned::<i64, 1>("sums", [n + 9])?;
        let mut reals = lab.poisoned::<f64, 1>("reals", [n + 9])?;
        let args = LeagueArgs { keys: on_space.read(), sums: sums.write(), reals: reals.write() };
        let total = lab.space.parallel_scan(RangePolicy::new(n), &LeagueScan, args)?;
        let (mut sum, mut real, mut most) = (0, 0.0, i64::MIN);
        let (mut sum_before, mut real_before) = (Vec::new(), Vec::new());
        for (i, &key) in keys.iter().enumerate() {
            sum_before.push(sum);
            real_before.push(real);
            (sum, real, most) = (sum + key, real + (i % 10) as f64, most.max(key));
        }
        let what = format!("scan of {n} values over the league");
        let poisoned = |i| sum_before.get(i).copied().unwrap_or(i64::POISON);
        check(&what, lab.download(&sums)?.as_slice(), poisoned)?;
        let poisoned = |i| real_before.get(i).copied().unwrap_or(f64::POISON);
        check(&what, lab.download(&reals)?.as_slice(), poisoned)?;
        let expected = [sum as f64, real, most as f64];
        ensure!(total == expected, "{what}: the total is {total:?}, expected {expected:?}");
    }
    Ok(())
}
