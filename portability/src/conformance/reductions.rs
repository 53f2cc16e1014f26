//! Every reducer at every level.

use super::lab::*;
use super::reducers::*;
use crate::ArgSet;
use crate::args::{Borrowed, Both};
use crate::prelude::*;
use std::marker::PhantomData;

/// Most numbers of a reduced value here.
const NUMBERS: usize = 5;
/// Teams, and rows that each of them writes: team, threads, and three threads over their lanes.
const LEAGUE: usize = 2;
const THREAD_ROWS: usize = 3;
const ROWS: usize = 2 + THREAD_ROWS;
const LENGTHS: [usize; 8] = [0, 1, 2, 31, 33, 97, 128, 261];

/// Samples in the memory of a space.
pub(super) struct OnDevice<S: Space> {
    reals: OnSpace<S, f64, 1>,
    factors: OnSpace<S, f64, 1>,
    keys: OnSpace<S, i64, 1>,
}

impl<S: Space> OnDevice<S> {
    pub fn new(lab: &Lab<'_, S>, samples: &[HostSample]) -> Result<Self, Stop> {
        Ok(OnDevice {
            reals: lab.upload("reals", [samples.len()], |[i]| samples[i].real)?,
            factors: lab.upload("factors", [samples.len()], |[i]| samples[i].factor)?,
            keys: lab.upload("keys", [samples.len()], |[i]| samples[i].key)?,
        })
    }
    pub fn args(&self) -> Data<Borrowed<'_, S::Memory>> {
        Data { reals: self.reals.read(), factors: self.factors.read(), keys: self.keys.read() }
    }
}

kernel_args! {
    struct LevelArgs {
        n: Int,
        reals: View<f64, 2, LayoutRight, ReadWrite>,
        ints: View<i64, 2, LayoutRight, ReadWrite>,
    }
}

/// The same reduction over the team, its threads, and the lanes of some threads. Teams begin at different samples.
struct Levels<R>(PhantomData<R>);
impl<R> std::hash::Hash for Levels<R> {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}
impl<R: Tested> Kernel for Levels<R> {
    type Args = Both<DataSet, LevelArgs<Declared>>;
    const NAME: &'static str = "conformance_reduce";
    fn run<T: Target>(&self, team: T, (data, args): &<Self::Args as ArgSet>::With<T>) {
        let rank = team.league_rank();
        let row = rank * ROWS as i64;
        let identity = R::identity::<T>();
        let value = |i: T::Int| value_at::<T, R>(team, data, i + rank);
        let write = |row: T::Int, value: R::Value<T>| write_row(team, &args.reals, &args.ints, row, value);
        write(row, team.reduce_spread(crate::Spread::Team, args.n, identity, R::join::<T>, value));
        write(row + 1, team.reduce_spread(crate::Spread::Threads, args.n, identity, R::join::<T>, value));
        team.for_each_thread(THREAD_ROWS, |k| {
            let lanes = team.reduce_spread(crate::Spread::Lanes, args.n, identity, R::join::<T>, |i| value(i + k));
            write(row + 2 + k, lanes);
        });
    }
}
type DataSet = Data<Declared>;

/// Checks one row of numbers.
fn check_row(
    what: &str,
    reals: &View<f64, 2>,
    ints: &View<i64, 2>,
    row: usize,
    samples: &[HostSample],
    expected: &[Number],
) -> Verdict {
    for (k, &number) in expected.iter().enumerate() {
        let found = match number {
            Number::Real(_) => Number::Real(reals.get([row, k])),
            Number::Int(_) => Number::Int(ints.get([row, k])),
        };
        ensure!(found == number, "{what}: number {k} over {} values is {found:?}, expected {number:?}", samples.len());
    }
    Ok(())
}

fn every_level<S: Space, R: Tested>(lab: &Lab<'_, S>) -> Verdict {
    let most = LENGTHS[LENGTHS.len() - 1] + LEAGUE + THREAD_ROWS;
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        for (number, n) in LENGTHS.into_iter().enumerate() {
            // Marks decide All and Any; every other length has one in its middle.
            let samples = samples(most, (number % 2 == 1).then_some(n / 2 + 1));
            let data = OnDevice::new(lab, &samples)?;
            let mut reals = lab.poisoned::<f64, 2>("reals", [LEAGUE * ROWS, NUMBERS])?;
            let mut ints = lab.poisoned::<i64, 2>("ints", [LEAGUE * ROWS, NUMBERS])?;
            let levels = LevelArgs { n: n as i64, reals: reals.write(), ints: ints.write() };
            lab.run(&Levels(PhantomData::<R>), &lab.policy(LEAGUE, team, vector)?, (data.args(), levels))?;
            let (reals, ints) = (lab.download(&reals)?, lab.download(&ints)?);
            for rank in 0..LEAGUE {
                for row in 0..ROWS {
                    let first = rank + row.saturating_sub(2);
                    let level = ["team", "threads", "lanes of thread 0", "lanes of thread 1", "lanes of thread 2"][row];
                    let what = format!("{level}, team {team} x vector {vector}, league rank {rank}");
                    let part = &samples[first..first + n];
                    check_row(&what, &reals, &ints, rank * ROWS + row, part, &R::expected(part))?;
                }
            }
        }
    }
    Ok(())
}

#[derive(Clone, Hash)]
struct OverLeague<R>(R);
impl<R: Tested> ReduceKernel for OverLeague<R> {
    type Args = DataSet;
    type Reducer = R;
    const NAME: &'static str = "conformance_league_reduce";
    fn value<T: Target>(&self, target: T, i: T::Int, data: &Data<T>) -> R::Value<T> {
        value_at::<T, R>(target, data, i)
    }
}

/// A reducer as a value, for kernels that hold one.
trait Unit {
    const VALUE: Self;
}
macro_rules! unit {
    ($($reducer:ident)*) => {$(impl Unit for $reducer { const VALUE: Self = $reducer; })*};
}
unit! { Sum Product Min Max MinMax MinLoc MaxLoc SumInt MinInt MaxInt All Any Moments }

macro_rules! reducer_cases {
    ($($case:ident $reducer:ident;)*) => {$(
        pub(super) fn $case<S: Space>(lab: &Lab<'_, S>) -> Verdict {
            every_level::<S, $reducer>(lab)?;
            league::<S, $reducer>(lab)
        }
    )*};
}
reducer_cases! {
    sum Sum; product Product; min Min; max Max; min_max MinMax; min_loc MinLoc; max_loc MaxLoc; sum_int SumInt;
    min_int MinInt; max_int MaxInt; all All; any Any; custom Moments;
}

fn league<S: Space, R: Tested + Unit>(lab: &Lab<'_, S>) -> Verdict {
    let chunk = lab.limits.range_chunk;
    for (number, n) in [0, 1, 2, 33, chunk - 1, chunk, chunk + 1, 2 * chunk + 3].into_iter().enumerate() {
        let samples = samples(n, (number % 2 == 1).then_some(n / 2));
        let data = OnDevice::new(lab, &samples)?;
        let found = lab.space.parallel_reduce(RangePolicy::new(n), &OverLeague(R::VALUE), data.args())?;
        let expected: Vec<f64> = R::expected(&samples).into_iter().map(Number::as_f64).collect();
        ensure!(found == expected, "over the league: {n} values give {found:?}, expected {expected:?}");
    }
    Ok(())
}

kernel_args! {
    struct SequenceArgs {
        n: Int,
        rounds: Int,
        ints: View<i64, 2, LayoutRight, ReadWrite>,
        reals: View<f64, 2, LayoutRight, ReadWrite>,
    }
}

/// Rounds of two reductions each without a barrier of the user between them.
#[derive(Hash)]
struct BackToBack;
impl Kernel for BackToBack {
    type Args = SequenceArgs<Declared>;
    const NAME: &'static str = "conformance_back_to_back";
    fn run<T: Target>(&self, team: T, args: &SequenceArgs<T>) {
        let rank = team.league_rank();
        team.repeat(args.rounds, |round| {
            let int = team.reduce(args.n, SumInt, |i| i + round);
            args.ints.set([rank, round], int);
            let real = team.reduce_threads(args.n, Sum, |i| team.to_real(i + rank));
            args.reals.set([rank, round], real);
        });
    }
}

pub(super) fn thousand_back_to_back<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    const ROUNDS: usize = 500;
    let mut shapes = lab.shapes_of(&[33, 96, 127], 1);
    shapes.extend(lab.shapes_of(&[33], lab.limits.best_vector_length));
    for (team, vector) in shapes {
        let n = 131i64;
        let mut ints = lab.poisoned::<i64, 2>("ints", [LEAGUE, ROUNDS])?;
        let mut reals = lab.poisoned::<f64, 2>("reals", [LEAGUE, ROUNDS])?;
        let args = SequenceArgs { n, rounds: ROUNDS as i64, ints: ints.write(), reals: reals.write() };
        lab.run(&BackToBack, &lab.policy(LEAGUE, team, vector)?, args)?;
        let what = format!("team {team} x vector {vector}");
        let base = n * (n - 1) / 2;
        check(&format!("sums of integers, {what}"), lab.download(&ints)?.as_slice(), |k| {
            base + n * (k % ROUNDS) as i64
        })?;
        check(&format!("sums of reals, {what}"), lab.download(&reals)?.as_slice(), |k| {
            (base + n * (k / ROUNDS) as i64) as f64
        })?;
    }
    Ok(())
}

/// A reduction whose result decides the length of the next one.
#[derive(Hash)]
struct Chained;
impl Kernel for Chained {
    type Args = SequenceArgs<Declared>;
    const NAME: &'static str = "conformance_chained";
    fn run<T: Target>(&self, team: T, args: &SequenceArgs<T>) {
        let rank = team.league_rank();
        let (steps, sum) = team.fold(args.rounds, (args.n, team.real(0.0)), |round, (n, sum)| {
            let count = team.reduce(n, SumInt, |_| T::Int::from(1i32));
            (count - 1, sum + team.reduce(count, Sum, |i| team.to_real(i + round)))
        });
        args.ints.set([rank, team.int(0)], steps);
        args.reals.set([rank, team.int(0)], sum);
    }
}

pub(super) fn inside_serial_loop<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let (n, rounds) = (40i64, 9i64);
    let mut sum = 0;
    for round in 0..rounds {
        sum += (0..n - round).map(|i| i + round).sum::<i64>();
    }
    for (team, vector) in lab.shapes(&[1, 7, 33]) {
        let mut ints = lab.poisoned::<i64, 2>("ints", [LEAGUE, 1])?;
        let mut reals = lab.poisoned::<f64, 2>("reals", [LEAGUE, 1])?;
        let args = SequenceArgs { n, rounds, ints: ints.write(), reals: reals.write() };
        lab.run(&Chained, &lab.policy(LEAGUE, team, vector)?, args)?;
        let what = format!("chained reductions, team {team} x vector {vector}");
        check(&what, lab.download(&ints)?.as_slice(), |_| n - rounds)?;
        check(&what, lab.download(&reals)?.as_slice(), |_| sum as f64)?;
    }
    Ok(())
}

/// Sums whose rounding depends on the order of addition are the same bits in each run.
pub(super) fn repeatable<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let n = 2 * lab.limits.range_chunk + 77;
    let mut generator = Generator(5);
    let mut spread = samples(n, None);
    for sample in &mut spread {
        // From 1 to 1e16, with either sign.
        sample.real = (generator.within(-1000, 1000) as f64) * 10f64.powi(generator.within(0, 14) as i32);
    }
    let data = OnDevice::new(lab, &spread)?;
    let run = || -> Result<Vec<f64>, Stop> {
        Ok(lab.space.parallel_reduce(RangePolicy::new(n), &OverLeague(Sum), data.args())?)
    };
    let first = run()?;
    for number in 1..10 {
        let again = run()?;
        ensure!(first == again, "run 0 gives {first:?}, run {number} gives {again:?}");
    }
    let (exact, size) = spread.iter().fold((0.0, 0.0), |(sum, size), s| (sum + s.real, size + s.real.abs()));
    let error = (first.first().copied().unwrap_or(f64::NAN) - exact).abs();
    let bound = lab.epsilon * size * n as f64;
    ensure!(error <= bound, "the sum is off by {error:e}, the bound is {bound:e}");
    Ok(())
}
