//! Team scratch, private arrays, barriers.

use super::lab::*;
use crate::prelude::*;

kernel_args! {
    struct OutArgs { ints: View<i64, 2, LayoutRight, ReadWrite>, reals: View<f64, 2, LayoutRight, ReadWrite> }
}

/// Each team writes its id, waits, and reads what a sibling wrote.
#[derive(Hash)]
struct Siblings {
    level: ScratchLevel,
}
impl Kernel for Siblings {
    type Args = OutArgs<Declared>;
    const NAME: &'static str = "conformance_siblings";
    fn run<T: Target>(&self, team: T, args: &OutArgs<T>) {
        let items = team.team_size() * team.vector_length();
        let rank = team.league_rank();
        let ids = team.scratch::<i64, 1>(self.level, "ids", [items]);
        let halves = team.scratch::<f64, 1>(self.level, "halves", [items]);
        team.for_each(items, |i| {
            ids.set([i], rank * 1000 + i);
            halves.set([i], team.to_real(rank).scale(0.5));
        });
        team.barrier();
        team.for_each(items, |i| {
            let sibling = (i + 1) % items as i64;
            args.ints.set([rank, i], ids.at([sibling]));
            args.reals.set([rank, i], halves.at([sibling]));
        });
    }
}

fn siblings<S: Space>(lab: &Lab<'_, S>, level: ScratchLevel) -> Verdict {
    let league = 64;
    for (team, vector) in lab.shapes(&[1, 8, 33, 127]) {
        let items = team * vector;
        let mut ints = lab.poisoned::<i64, 2>("ints", [league, items])?;
        let mut reals = lab.poisoned::<f64, 2>("reals", [league, items])?;
        let args = OutArgs { ints: ints.write(), reals: reals.write() };
        lab.run(&Siblings { level }, &lab.policy(league, team, vector)?, args)?;
        let what = format!("scratch level {level:?}, team {team} x vector {vector}");
        check(&what, lab.download(&ints)?.as_slice(), |k| ((k / items) * 1000 + (k % items + 1) % items) as i64)?;
        check(&what, lab.download(&reals)?.as_slice(), |k| (k / items) as f64 * 0.5)?;
    }
    Ok(())
}
pub(super) fn siblings_level_0<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    siblings(lab, ScratchLevel::Zero)
}
pub(super) fn siblings_level_1<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    siblings(lab, ScratchLevel::One)
}

/// Many arrays of odd lengths and all types: none may reach into another.
#[derive(Hash)]
struct Several;
impl Kernel for Several {
    type Args = OutArgs<Declared>;
    const NAME: &'static str = "conformance_several_arrays";
    fn run<T: Target>(&self, team: T, args: &OutArgs<T>) {
        let rank = team.league_rank();
        let level = |k: usize| if k.is_multiple_of(2) { ScratchLevel::Zero } else { ScratchLevel::One };
        let bytes: [_; 6] = std::array::from_fn(|k| team.scratch::<i32, 1>(level(k), "small", [1 + 2 * k]));
        let longs: [_; 6] = std::array::from_fn(|k| team.scratch::<i64, 2>(level(k), "long", [3, k + 1]));
        let singles: [_; 6] = std::array::from_fn(|k| team.scratch::<f32, 1>(level(k + 1), "single", [k + 1]));
        let doubles: [_; 6] = std::array::from_fn(|k| team.scratch::<f64, 3>(level(k), "double", [1, k + 1, 2]));
        for k in 0..6 {
            team.for_each(1 + 2 * k, |i| bytes[k].set([i], i + (1000 * k) as i64));
            team.for_each_md([3, k + 1], |index| longs[k].set(index, index[0] * 10 + index[1] + rank));
            team.for_each(k + 1, |i| singles[k].set([i], team.to_real(i + k as i64)));
            team.for_each_md([1, k + 1, 2], |index| doubles[k].set(index, team.to_real(index[1] * 2 + index[2])));
        }
        team.barrier();
        for k in 0..6usize {
            let sum = |n: usize, value: &dyn Fn(T::Int) -> T::Int| team.reduce(n, SumInt, value);
            let mut total = sum(1 + 2 * k, &|i| bytes[k].at([i]));
            total = total
                + sum(3 * (k + 1), &|i| {
                    let columns = (k + 1) as i64;
                    longs[k].at([i / columns, i % columns])
                });
            args.ints.set([rank, team.int(k)], total);
            let singles = team.reduce(k + 1, Sum, |i| singles[k].at([i]));
            let zero = team.int(0);
            let doubles = team.reduce(2 * (k + 1), Sum, |i| doubles[k].at([zero, i / 2, i % 2]));
            args.reals.set([rank, team.int(k)], singles + doubles);
        }
    }
}
pub(super) fn several_arrays<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let league = 9;
    for (team, vector) in lab.shapes(&[1, 7, 32]) {
        let mut ints = lab.poisoned::<i64, 2>("ints", [league, 6])?;
        let mut reals = lab.poisoned::<f64, 2>("reals", [league, 6])?;
        let args = OutArgs { ints: ints.write(), reals: reals.write() };
        lab.run(&Several, &lab.policy(league, team, vector)?, args)?;
        let what = format!("sums of scratch arrays, team {team} x vector {vector}");
        check(&what, lab.download(&ints)?.as_slice(), |at| {
            let (rank, k) = ((at / 6) as i64, (at % 6) as i64);
            let small = (0..1 + 2 * k).map(|i| i + 1000 * k).sum::<i64>();
            small + (0..3).flat_map(|i| (0..=k).map(move |j| i * 10 + j + rank)).sum::<i64>()
        })?;
        check(&what, lab.download(&reals)?.as_slice(), |at| {
            let k = (at % 6) as i64;
            ((0..=k).map(|i| i + k).sum::<i64>() + (0..2 * (k + 1)).sum::<i64>()) as f64
        })?;
    }
    Ok(())
}

/// Counts in scratch by atomic updates; every old value occurs once.
#[derive(Hash)]
struct Counts {
    n: usize,
}
impl Kernel for Counts {
    type Args = OutArgs<Declared>;
    const NAME: &'static str = "conformance_scratch_counts";
    fn run<T: Target>(&self, team: T, args: &OutArgs<T>) {
        let rank = team.league_rank();
        let int = team.scratch::<i64, 1>(ScratchLevel::Zero, "int", [1]);
        let small = team.scratch::<i32, 1>(ScratchLevel::Zero, "small", [1]);
        let real = team.scratch::<f64, 1>(ScratchLevel::Zero, "real", [1]);
        let single = team.scratch::<f32, 1>(ScratchLevel::One, "single", [1]);
        let zero = team.int(0);
        int.set([zero], zero);
        small.set([zero], zero);
        real.set([zero], team.real(0.0));
        single.set([zero], team.real(0.0));
        team.barrier();
        team.for_each(self.n, |i| {
            args.ints.set([rank, int.add([zero], T::Int::from(1i32))], i);
            small.max([zero], i * 3 + rank);
            args.reals.set([rank, i], real.add([zero], team.real(1.0)));
            single.min([zero], team.to_real(rank - i));
        });
        team.barrier();
        args.ints.set([rank, team.int(self.n)], int.at([zero]) + small.at([zero]) * 1000);
        args.reals.set([rank, team.int(self.n)], real.at([zero]) + single.at([zero]).scale(1000.0));
    }
}
pub(super) fn atomic_counts<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let (league, n) = (5usize, 100usize);
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        let mut ints = lab.poisoned::<i64, 2>("ints", [league, n + 1])?;
        let mut reals = lab.poisoned::<f64, 2>("reals", [league, n + 1])?;
        let args = OutArgs { ints: ints.write(), reals: reals.write() };
        lab.run(&Counts { n }, &lab.policy(league, team, vector)?, args)?;
        let (ints, reals) = (lab.download(&ints)?, lab.download(&reals)?);
        for rank in 0..league {
            let what = format!("team {team} x vector {vector}, league rank {rank}");
            let mut order: Vec<i64> = (0..n).map(|i| ints.get([rank, i])).collect();
            order.sort_unstable();
            ensure!(order.iter().copied().eq(0..n as i64), "{what}: old integers are no permutation");
            let mut old: Vec<f64> = (0..n).map(|i| reals.get([rank, i])).collect();
            old.sort_by(f64::total_cmp);
            ensure!(old.iter().copied().eq((0..n).map(|i| i as f64)), "{what}: old reals are no permutation");
            let most = 3 * (n - 1) + rank;
            let found = (ints.get([rank, n]), reals.get([rank, n]));
            let least = (rank as f64 - (n - 1) as f64).min(0.0);
            let wanted = ((n + 1000 * most) as i64, n as f64 + 1000.0 * least);
            ensure!(found == wanted, "{what}: counts are {found:?}, expected {wanted:?}");
        }
    }
    Ok(())
}

/// A value travels around the team, one place for each pair of barriers.
#[derive(Hash)]
struct Ring {
    turns: usize,
}
impl Kernel for Ring {
    type Args = OutArgs<Declared>;
    const NAME: &'static str = "conformance_ring";
    fn run<T: Target>(&self, team: T, args: &OutArgs<T>) {
        let items = team.team_size() * team.vector_length();
        let rank = team.league_rank();
        let ring = team.scratch::<i64, 2>(ScratchLevel::Zero, "ring", [2, items]);
        team.for_each(items, |i| ring.set([team.int(0), i], i + rank * 7));
        team.barrier();
        team.repeat(self.turns as i64, |turn| {
            let (from, to) = (turn % 2, (turn + 1) % 2);
            team.for_each(items, |i| ring.set([to, i], ring.at([from, (i + 1) % items as i64])));
            team.barrier();
        });
        team.for_each(items, |i| args.ints.set([rank, i], ring.at([team.int(self.turns % 2), i])));
    }
}
pub(super) fn barriers<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let (league, turns) = (6, 25);
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        let items = team * vector;
        let mut ints = lab.poisoned::<i64, 2>("ints", [league, items])?;
        let mut reals = lab.poisoned::<f64, 2>("reals", [1, 1])?;
        let args = OutArgs { ints: ints.write(), reals: reals.write() };
        lab.run(&Ring { turns }, &lab.policy(league, team, vector)?, args)?;
        check(&format!("ring, team {team} x vector {vector}"), lab.download(&ints)?.as_slice(), |k| {
            ((k % items + turns) % items + 7 * (k / items)) as i64
        })?;
    }
    Ok(())
}

kernel_args! {
    struct PrivateArgs { rounds: Int, out: View<f64, 4, LayoutRight, ReadWrite> }
}
/// Two private arrays accumulate over phases, across barriers and a reduction.
#[derive(Hash)]
struct Private {
    masked: bool,
}
impl Kernel for Private {
    type Args = PrivateArgs<Declared>;
    const NAME: &'static str = "conformance_private";
    fn run<T: Target>(&self, team: T, args: &PrivateArgs<T>) {
        let rank = team.league_rank();
        let sums = team.private(3);
        let kept = team.private(1);
        let lanes = team.vector_length() as i64;
        team.phase(|item| {
            let number = team.to_real(item.thread * lanes + item.lane);
            sums.set_array(0, [number, team.real(0.0), team.real(1.0)]);
            kept.set(0, number.scale(0.25));
        });
        team.repeat(args.rounds, |round| {
            team.barrier();
            team.phase(|item| {
                let add = || {
                    let [a, b] = sums.get_array::<2>(1);
                    sums.set(1, a + team.to_real(round));
                    sums.set(2, b + sums.get(0));
                };
                match self.masked {
                    true => team.when(((item.thread + item.lane + round) % 2).equals(T::Int::from(0i32)), add),
                    false => add(),
                }
            });
            team.reduce(7usize, SumInt, |i| i);
        });
        team.barrier();
        team.phase(|item| {
            for k in 0..3 {
                args.out.set([rank, item.thread, item.lane, team.int(k)], sums.get(k));
            }
            args.out.set([rank, item.thread, item.lane, team.int(3)], kept.get(0));
        });
    }
}
fn private_arrays<S: Space>(lab: &Lab<'_, S>, masked: bool) -> Verdict {
    let (league, rounds) = (4, 5usize);
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        let mut out = lab.poisoned::<f64, 4>("out", [league, team, vector, 4])?;
        let args = PrivateArgs { rounds: rounds as i64, out: out.write() };
        lab.run(&Private { masked }, &lab.policy(league, team, vector)?, args)?;
        check(&format!("private slots, team {team} x vector {vector}"), lab.download(&out)?.as_slice(), |at| {
            let (slot, lane, thread) = (at % 4, at / 4 % vector, at / 4 / vector % team);
            let number = (thread * vector + lane) as f64;
            let turns = (0..rounds).filter(|round| !masked || (thread + lane + round) % 2 == 0);
            match slot {
                0 => number,
                1 => turns.sum::<usize>() as f64,
                2 => 1.0 + turns.count() as f64 * number,
                _ => number * 0.25,
            }
        })?;
    }
    Ok(())
}
pub(super) fn private<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    private_arrays(lab, false)
}
pub(super) fn private_masked<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    private_arrays(lab, true)
}
