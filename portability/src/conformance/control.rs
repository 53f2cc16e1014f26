//! Effects, branches and loops.

use super::lab::*;
use crate::prelude::*;

const LEAGUE: usize = 3;
/// Work items of a range in which lanes go different ways.
const N: usize = 77;

kernel_args! {
    struct OutArgs {
        n: Int,
        ints: View<i64, 2, LayoutRight, ReadWrite>,
        reals: View<f64, 2, LayoutRight, ReadWrite>,
        counts: View<i64, 2, LayoutRight, Atomic>,
    }
}

/// A kernel and what it leaves: `ints[team][i]`, `reals[team][i]` and `counts[team][i]`; none where untouched.
struct Expected {
    kernel: &'static str,
    ints: fn(usize, usize, i64) -> Option<i64>,
    reals: fn(usize, usize, i64) -> Option<f64>,
    counts: fn(usize, usize, i64) -> i64,
}

fn no_reals(_: usize, _: usize, _: i64) -> Option<f64> {
    None
}
fn no_counts(_: usize, _: usize, _: i64) -> i64 {
    0
}

fn run<S: Space, K>(lab: &Lab<'_, S>, kernel: &K, lengths: &[i64], expected: &Expected) -> Verdict
where
    K: Kernel<Args = OutArgs<Declared>>,
{
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        for &n in lengths {
            let mut ints = lab.poisoned::<i64, 2>("ints", [LEAGUE, N])?;
            let mut reals = lab.poisoned::<f64, 2>("reals", [LEAGUE, N])?;
            let mut counts = lab.filled::<i64, 2, _>("counts", [LEAGUE, N], 0)?;
            let args = OutArgs { n, ints: ints.write(), reals: reals.write(), counts: counts.update() };
            lab.run(kernel, &lab.policy(LEAGUE, team, vector)?, args)?;
            let what = format!("{}, n = {n}, team {team} x vector {vector}", expected.kernel);
            let at = |k: usize| (k / N, k % N);
            check(&format!("integers of {what}"), lab.download(&ints)?.as_slice(), |k| {
                (expected.ints)(at(k).0, at(k).1, n).unwrap_or(i64::POISON)
            })?;
            check(&format!("reals of {what}"), lab.download(&reals)?.as_slice(), |k| {
                (expected.reals)(at(k).0, at(k).1, n).unwrap_or(f64::POISON)
            })?;
            check(&format!("counts of {what}"), lab.download(&counts)?.as_slice(), |k| {
                (expected.counts)(at(k).0, at(k).1, n)
            })?;
        }
    }
    Ok(())
}

/// Declares a kernel and the case that runs it.
macro_rules! case {
    ($case:ident, $kernel:ident, $name:literal, $lengths:expr, ints: $ints:expr, reals: $reals:expr, counts: $counts:expr,
     |$team:ident, $args:ident, $rank:ident| $body:expr) => {
        #[derive(Hash)]
        struct $kernel;
        impl Kernel for $kernel {
            type Args = OutArgs<Declared>;
            const NAME: &'static str = $name;
            fn run<T: Target>(&self, $team: T, $args: &OutArgs<T>) {
                let $rank = $team.league_rank();
                $body
            }
        }
        pub(super) fn $case<S: Space>(lab: &Lab<'_, S>) -> Verdict {
            let expected = Expected { kernel: stringify!($case), ints: $ints, reals: $reals, counts: $counts };
            run(lab, &$kernel, $lengths, &expected)
        }
    };
}

case!(team_effects_once, TeamEffects, "conformance_team_effects", &[3],
ints: |team, i, _| (i == 0).then_some(team as i64 * 5),
reals: |team, i, _| (i == 1).then_some(team as f64 * 0.5),
counts: |_, i, n| match i { 0 => 1, 1 => n, 2 => 4, _ => 0 },
|team, args, rank| {
    let at = |k: usize| [rank, team.int(k)];
    args.ints.set(at(0), rank * 5);
    args.reals.set(at(1), team.to_real(rank).scale(0.5));
    args.counts.add(at(0), T::Int::from(1i32));
    team.repeat(args.n, |_| { args.counts.add(at(1), T::Int::from(1i32)); });
    for _ in 0..4 {
        args.counts.add(at(2), T::Int::from(1i32));
    }
});

case!(thread_effects_once, ThreadEffects, "conformance_thread_effects", &[0, 1, 5, 77],
ints: |team, i, n| ((i as i64) < n).then_some(i as i64 + team as i64),
reals: no_reals,
counts: |_, i, n| if (i as i64) < n { 1 + 3 } else { 0 },
|team, args, rank| {
    team.for_each_thread(args.n, |i| {
        args.ints.set([rank, i], i + rank);
        args.counts.add([rank, i], T::Int::from(1i32));
        team.repeat(3i64, |_| { args.counts.add([rank, i], T::Int::from(1i32)); });
    });
});

case!(when, When, "conformance_when", &[0, 40, 100],
ints: |_, i, n| match i {
    _ if i % 3 == 0 && (i as i64) < n => Some(if i % 2 == 0 { 6 } else { 3 }),
    _ => Some(-1),
},
reals: |_, i, _| (i % 2 == 1).then_some(i as f64),
counts: |_, i, n| i64::from(i % 3 == 0 && (i as i64) < n) + i64::from(i % 3 != 0),
|team, args, rank| {
    team.for_each(N, |i| {
        let is = |divisor: i64| (i % divisor).equals(T::Int::from(0i32));
        args.ints.set([rank, i], T::Int::from(-1i32));
        team.when(is(3) & i.lt(args.n), || {
            args.ints.set([rank, i], T::Int::from(3i32));
            team.when(is(2), || args.ints.set([rank, i], T::Int::from(6i32)));
            args.counts.add([rank, i], T::Int::from(1i32));
        });
        team.when(!is(3), || { args.counts.add([rank, i], T::Int::from(1i32)); });
        team.when(!is(2), || args.reals.set([rank, i], team.to_real(i)));
        team.when(T::Predicate::lit(false), || args.ints.set([rank, i], T::Int::from(99i32)));
        team.when(is(3) & !is(3), || args.ints.set([rank, i], T::Int::from(98i32)));
    });
});

case!(when_uniform, WhenUniform, "conformance_when_uniform", &[0, 1, 2, 5],
ints: |team, i, n| match i {
    0 => (team as i64 == n).then_some(1),
    1 => (n > 1).then_some(n * 30),
    2 => Some(4),
    _ => None,
},
reals: |team, i, _| (i < 50 && team % 2 == 1).then_some(i as f64),
counts: no_counts,
|team, args, rank| {
    let at = |k: usize| [rank, team.int(k)];
    team.when(rank.equals(args.n), || args.ints.set(at(0), T::Int::from(1i32)));
    // A whole phase and a reduction depend on what is the same for all work items.
    team.when((rank % 2).equals(T::Int::from(1i32)), || {
        team.for_each(50usize, |i| args.reals.set([rank, i], team.to_real(i)));
    });
    team.when(T::Int::from(1i32).lt(args.n), || {
        let sum = team.reduce(30usize, SumInt, |_| args.n);
        args.ints.set(at(1), sum);
    });
    team.when(T::Predicate::lit(true), || args.ints.set(at(2), T::Int::from(4i32)));
});

case!(fold_uniform, FoldUniform, "conformance_fold_uniform", &[-3, 0, 1, 2, 9],
ints: |_, i, n| Some(i as i64 + (0..n).map(|k| k * k).sum::<i64>()),
reals: |_, i, n| Some((0..n).fold(i as f64, |sum, k| sum * 2.0 + k as f64)),
counts: |_, i, n| if i == 0 { n.max(0) } else { 0 },
|team, args, rank| {
    team.repeat(args.n, |_| { args.counts.add([rank, team.int(0)], T::Int::from(1i32)); });
    team.for_each(N, |i| {
        args.ints.set([rank, i], team.fold(args.n, i, |k, sum| sum + k * k));
        let real = team.fold(args.n, team.to_real(i), |k, sum| sum.scale(2.0) + team.to_real(k));
        args.reals.set([rank, i], real);
    });
});

case!(fold_varying, FoldVarying, "conformance_fold_varying", &[0, 1, 4],
ints: |_, i, n| {
    let trips = (i % 5) as i64 * n - 2;
    Some((0..trips).sum::<i64>() + 100)
},
reals: |_, i, n| Some(0.5f64.powi(((i % 5) as i64 * n - 2).max(0) as i32)),
counts: |_, i, n| ((i % 5) as i64 * n - 2).max(0),
|team, args, rank| {
    team.for_each(N, |i| {
        let trips = (i % 5) * args.n - 2;
        args.ints.set([rank, i], team.fold(trips, T::Int::from(100i32), |k, sum| sum + k));
        args.reals.set([rank, i], team.fold(trips, team.real(1.0), |_, half| half.scale(0.5)));
        team.repeat(trips, |_| { args.counts.add([rank, i], T::Int::from(1i32)); });
    });
});

case!(fold_carried_shapes, FoldShapes, "conformance_fold_shapes", &[0, 1, 7],
ints: |_, i, n| {
    let (mut a, mut b) = (i as i64, 1);
    for _ in 0..n { (a, b) = (b, (a + b) % 1000); }
    Some(a * 1000 + b)
},
reals: |_, i, n| {
    let mut x = [i as f64, 1.0, 2.0];
    for k in 0..n { x = [x[1], x[2], x[0] + k as f64]; }
    Some(x[0] + 100.0 * x[1] + 10000.0 * x[2])
},
counts: no_counts,
|team, args, rank| {
    team.for_each(N, |i| {
        // States swap places: each must move at once.
        let (a, b) = team.fold(args.n, (i, T::Int::from(1i32)), |_, (a, b)| (b, (a + b) % 1000));
        args.ints.set([rank, i], a * 1000 + b);
        let start = ([team.to_real(i), team.real(1.0), team.real(2.0)], ((), T::Int::from(0i32)));
        let (x, _) = team.fold(args.n, start, |k, (x, (unit, count))| {
            ([x[1], x[2], x[0] + team.to_real(k)], (unit, count + 1))
        });
        args.reals.set([rank, i], x[0] + x[1].scale(100.0) + x[2].scale(10000.0));
    });
});

case!(fold_widens, FoldWidens, "conformance_fold_widens", &[0, 1, 3],
ints: |_, i, n| Some(n * (1 << 40) + if i == 0 { 0 } else { i as i64 * n }),
reals: no_reals,
counts: |_, i, n| if i == 0 { n * (1 << 41) } else { 0 },
|team, args, rank| {
    // A sum that begins with a small literal and does not stay small.
    let total = team.fold(args.n, T::Int::from(0i32), |_, sum| sum + (1i64 << 41));
    args.counts.add([rank, team.int(0)], total);
    team.for_each(N, |i| {
        let sum = team.fold(args.n, T::Int::from(0i32), |_, sum| sum + (1i64 << 40) + i);
        args.ints.set([rank, i], sum);
    });
});

case!(fold_nested, FoldNested, "conformance_fold_nested", &[0, 1, 5],
ints: |_, i, n| Some((0..n).map(|k| (0..k + (i % 3) as i64).map(|j| j * k + 1).sum::<i64>()).sum()),
reals: |_, i, n| Some((0..n).filter(|k| (k + i as i64) % 2 == 0).sum::<i64>() as f64),
counts: no_counts,
|team, args, rank| {
    team.for_each(N, |i| {
        let sum = team.fold(args.n, T::Int::from(0i32), |k, sum| {
            team.fold(k + i % 3, sum, |j, sum| sum + j * k + 1)
        });
        args.ints.set([rank, i], sum);
        let even = team.fold(args.n, team.real(0.0), |k, sum| {
            ((k + i) % 2).equals(T::Int::from(0i32)).select(sum + team.to_real(k), sum)
        });
        args.reals.set([rank, i], even);
    });
});

case!(update_if, UpdateIf, "conformance_update_if", &[0, 3, 77],
ints: |_, i, n| Some(if (i as i64) < n { i as i64 * 2 } else { i as i64 }),
reals: |_, i, n| Some(if (i as i64) < n { 1.0 } else { 7.0 }),
counts: |_, i, n| i64::from((i as i64) < n),
|team, args, rank| {
    team.for_each(N, |i| {
        let below = i.lt(args.n);
        let (int, real) = team.update_if(below, (i, team.real(7.0)), |(int, _)| {
            args.counts.add([rank, i], T::Int::from(1i32));
            (int * 2, team.real(1.0))
        });
        args.ints.set([rank, i], int);
        args.reals.set([rank, i], real);
    });
});

case!(select, SelectKernel, "conformance_select", &[10],
ints: |_, i, n| Some(match i as i64 { i if i < n => -i, i if i == n => 1 << 35, i => i }),
reals: |_, i, n| Some(if (i as i64) < n || i == 20 { 0.5 } else { 2.5 * i as f64 }),
counts: |_, i, n| i64::from(i % 2 == 0 && (i as i64) < n) + 2 * i64::from(i == 5),
|team, args, rank| {
    team.for_each(N, |i| {
        let zero = T::Int::from(0i32);
        let below = i.lt(args.n);
        let wide = i.equals(args.n).select(T::Int::from(1i64 << 35), i);
        args.ints.set([rank, i], below.select(zero - i, wide));
        let some = below | i.equals(T::Int::from(20i32));
        args.reals.set([rank, i], some.select(team.real(0.5), team.to_real(i).scale(2.5)));
        let even = (i % 2).equals(zero) & i.lt(args.n);
        let five = i.le(T::Int::from(5i32)) & !i.lt(T::Int::from(5i32));
        let count = even.select(T::Int::from(1i32), zero) + five.select(T::Int::from(2i32), zero);
        args.counts.add([rank, i], count);
    });
});
