//! Nested ranges visit each index once, at every team shape.

use super::lab::*;
use crate::prelude::*;

const LEAGUE: usize = 3;
const LENGTHS: [usize; 9] = [0, 1, 2, 31, 32, 33, 97, 128, 261];
const BOXES: [(usize, usize); 7] = [(0, 5), (5, 0), (1, 1), (1, 40), (7, 3), (13, 33), (40, 9)];

kernel_args! {
    struct RangeArgs { n: Int, visits: View<i32, 2, LayoutRight, Atomic> }
}
kernel_args! {
    struct BoxArgs { rows: Int, columns: Int, visits: View<i32, 2, LayoutRight, Atomic> }
}

/// A kernel whose body is `team.$range(n, visit)`.
macro_rules! range_kernel {
    ($name:ident, $text:literal, |$team:ident, $n:ident, $visit:ident| $body:expr) => {
        #[derive(Hash)]
        struct $name;
        impl Kernel for $name {
            type Args = RangeArgs<Declared>;
            const NAME: &'static str = $text;
            fn run<T: Target>(&self, $team: T, args: &RangeArgs<T>) {
                let $n = args.n;
                let $visit = |i: T::Int| {
                    args.visits.add([$team.league_rank(), i], T::Int::from(1i32));
                };
                $body
            }
        }
    };
}
range_kernel!(TeamVector, "conformance_team_vector", |team, n, visit| team.for_each(n, visit));
range_kernel!(TeamThread, "conformance_team_thread", |team, n, visit| team.for_each_thread(n, visit));
// Each thread repeats serially over a part: indices 3 i to 3 i + 2.
range_kernel!(RepeatInThread, "conformance_repeat", |team, n, visit| {
    team.for_each_thread((n + 2) / 3, |i| {
        let rest = (n - i * 3).min(T::Int::from(3i32));
        team.repeat(rest, |k| visit(i * 3 + k));
    });
});

fn ranges<S: Space, K: Kernel<Args = RangeArgs<Declared>>>(lab: &Lab<'_, S>, kernel: &K) -> Verdict {
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        for n in LENGTHS {
            let mut visits = lab.filled::<i32, 2, _>("visits", [LEAGUE, n + 5], 0)?;
            let args = RangeArgs { n: n as i64, visits: visits.update() };
            lab.run(kernel, &lab.policy(LEAGUE, team, vector)?, args)?;
            let what = format!("visits of 0..{n}, team {team} x vector {vector}");
            check(&what, lab.download(&visits)?.as_slice(), |i| i32::from(i % (n + 5) < n))?;
        }
    }
    Ok(())
}

pub(super) fn team_vector<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    ranges(lab, &TeamVector)
}
pub(super) fn team_thread<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    ranges(lab, &TeamThread)
}
pub(super) fn repeat_in_thread<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    ranges(lab, &RepeatInThread)
}

#[derive(Hash)]
struct ThreadVector;
impl Kernel for ThreadVector {
    type Args = BoxArgs<Declared>;
    const NAME: &'static str = "conformance_thread_vector";
    fn run<T: Target>(&self, team: T, args: &BoxArgs<T>) {
        team.for_each_thread(args.rows, |row| {
            team.for_each_lane(args.columns, |column| {
                args.visits.add([team.league_rank(), row * args.columns + column], T::Int::from(1i32));
            });
        });
    }
}
#[derive(Hash)]
struct RowColumn;
impl Kernel for RowColumn {
    type Args = BoxArgs<Declared>;
    const NAME: &'static str = "conformance_row_column";
    fn run<T: Target>(&self, team: T, args: &BoxArgs<T>) {
        team.for_each_row_column(args.rows, args.columns, |row, column| {
            args.visits.add([team.league_rank(), row * args.columns + column], T::Int::from(1i32));
        });
    }
}

fn boxes<S: Space, K: Kernel<Args = BoxArgs<Declared>>>(lab: &Lab<'_, S>, kernel: &K) -> Verdict {
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        for (rows, columns) in BOXES {
            let n = rows * columns;
            let mut visits = lab.filled::<i32, 2, _>("visits", [LEAGUE, n + 5], 0)?;
            let args = BoxArgs { rows: rows as i64, columns: columns as i64, visits: visits.update() };
            lab.run(kernel, &lab.policy(LEAGUE, team, vector)?, args)?;
            let what = format!("visits of {rows} x {columns}, team {team} x vector {vector}");
            check(&what, lab.download(&visits)?.as_slice(), |i| i32::from(i % (n + 5) < n))?;
        }
    }
    Ok(())
}

pub(super) fn thread_vector<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    boxes(lab, &ThreadVector)
}
pub(super) fn row_column<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    boxes(lab, &RowColumn)
}

#[derive(Hash)]
struct Md<const R: usize> {
    extents: [usize; R],
}
impl<const R: usize> Kernel for Md<R> {
    type Args = RangeArgs<Declared>;
    const NAME: &'static str = "conformance_md";
    fn run<T: Target>(&self, team: T, args: &RangeArgs<T>) {
        team.for_each_md(self.extents, |index| {
            let mut offset = index[0];
            for (&i, &extent) in index.iter().zip(&self.extents).skip(1) {
                offset = offset * extent as i64 + i;
            }
            args.visits.add([team.league_rank(), offset], T::Int::from(1i32));
        });
    }
}

fn md<S: Space, const R: usize>(lab: &Lab<'_, S>, boxes: &[[usize; R]]) -> Verdict {
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        for &extents in boxes {
            let n: usize = extents.iter().product();
            let mut visits = lab.filled::<i32, 2, _>("visits", [LEAGUE, n + 5], 0)?;
            let args = RangeArgs { n: n as i64, visits: visits.update() };
            lab.run(&Md { extents }, &lab.policy(LEAGUE, team, vector)?, args)?;
            let what = format!("visits of {extents:?}, team {team} x vector {vector}");
            check(&what, lab.download(&visits)?.as_slice(), |i| i32::from(i % (n + 5) < n))?;
        }
    }
    Ok(())
}

pub(super) fn md_rank_1<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md(lab, &[[0], [1], [33], [100]])
}
pub(super) fn md_rank_2<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md(lab, &[[0, 3], [3, 0], [1, 1], [7, 9], [2, 65]])
}
pub(super) fn md_rank_3<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md(lab, &[[2, 0, 3], [3, 4, 5], [5, 1, 17]])
}
pub(super) fn md_rank_4<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md(lab, &[[2, 3, 0, 4], [2, 3, 2, 5]])
}

kernel_args! {
    struct PhaseArgs { visits: View<i32, 3, LayoutRight, Atomic> }
}
#[derive(Hash)]
struct Phases;
impl Kernel for Phases {
    type Args = PhaseArgs<Declared>;
    const NAME: &'static str = "conformance_phases";
    fn run<T: Target>(&self, team: T, args: &PhaseArgs<T>) {
        for weight in [1i32, 10, 100] {
            team.phase(|item| {
                args.visits.add([team.league_rank(), item.thread, item.lane], T::Int::from(weight));
            });
            team.barrier();
        }
    }
}

pub(super) fn phase<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        let mut visits = lab.filled::<i32, 3, _>("visits", [LEAGUE, team, vector], 0)?;
        lab.run(&Phases, &lab.policy(LEAGUE, team, vector)?, PhaseArgs { visits: visits.update() })?;
        check(&format!("phases, team {team} x vector {vector}"), lab.download(&visits)?.as_slice(), |_| 111)?;
    }
    Ok(())
}
