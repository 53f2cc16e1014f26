//! Policies visit each index once, and nothing else.

use super::lab::*;
use crate::prelude::*;

kernel_args! {
    struct VisitArgs { visits: View<i32, 1, LayoutRight, Atomic> }
}
#[derive(Hash, Clone)]
struct Visit;
impl RangeKernel for Visit {
    type Args = VisitArgs<Declared>;
    const NAME: &'static str = "conformance_visit";
    fn run<T: Target>(&self, _: T, i: T::Int, args: &VisitArgs<T>) {
        args.visits.add([i], T::Int::from(1i32));
    }
}

kernel_args! {
    struct MarkArgs { offset: Int, out: View<i64, 1, LayoutRight, ReadWrite>, half: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Hash, Clone)]
struct Mark;
impl RangeKernel for Mark {
    type Args = MarkArgs<Declared>;
    const NAME: &'static str = "conformance_mark";
    fn run<T: Target>(&self, target: T, i: T::Int, args: &MarkArgs<T>) {
        args.out.set([i], i * 2 + args.offset);
        args.half.set([i], target.to_real(i).scale(0.5));
    }
}

/// Lengths around the borders of vectors, warps and chunks.
fn lengths(chunk: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1, 2, 3, 15, 16, 17, 31, 33, 127, 1000];
    lengths.extend([chunk - 1, chunk, chunk + 1, 3 * chunk + 17]);
    lengths
}

pub(super) fn range<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for n in lengths(lab.limits.range_chunk) {
        let mut visits = lab.filled::<i32, 1, _>("visits", [n + 67], 0)?;
        lab.space.parallel_for(RangePolicy::new(n), &Visit, VisitArgs { visits: visits.update() })?;
        lab.space.fence()?;
        let found = lab.download(&visits)?;
        check(&format!("visits of 0..{n}"), found.as_slice(), |i| i32::from(i < n))?;
    }
    Ok(())
}

pub(super) fn range_stores<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for n in lengths(lab.limits.range_chunk) {
        let mut out = lab.poisoned::<i64, 1>("out", [n + 67])?;
        let mut half = lab.poisoned::<f64, 1>("half", [n + 67])?;
        let args = MarkArgs { offset: 1 << 40, out: out.write(), half: half.write() };
        lab.space.parallel_for(RangePolicy::new(n), &Mark, args)?;
        lab.space.fence()?;
        let (out, half) = (lab.download(&out)?, lab.download(&half)?);
        let marked = |i| if i < n { 2 * i as i64 + (1 << 40) } else { i64::POISON };
        check(&format!("integers stored over 0..{n}"), out.as_slice(), marked)?;
        let halved = |i| if i < n { i as f64 / 2.0 } else { f64::POISON };
        check(&format!("reals stored over 0..{n}"), half.as_slice(), halved)?;
    }
    Ok(())
}

#[derive(Hash, Clone)]
struct VisitMd;
impl<const R: usize> MdKernel<R> for VisitMd {
    type Args = Cells<i32, R, LayoutRight, Atomic>;
    const NAME: &'static str = "conformance_visit_md";
    fn run<T: Target>(&self, _: T, index: [T::Int; R], cells: &crate::KernelView<T, i32, R, LayoutRight, Atomic>) {
        cells.add(index, T::Int::from(1i32));
    }
}

/// Runs a range inside a view with a margin, so that visits outside are seen.
fn md<S: Space, const R: usize>(lab: &Lab<'_, S>, extents: [usize; R], tile: Option<[usize; R]>) -> Verdict {
    let mut cells = lab.filled::<i32, R, _>("cells", extents.map(|e| e + 1), 0)?;
    let mut policy = MdRangePolicy::new(extents);
    if let Some(tile) = tile {
        policy = policy.with_tile(tile)?;
    }
    lab.space.parallel_for_md(policy, &VisitMd, cells.update())?;
    lab.space.fence()?;
    let found = lab.download(&cells)?;
    check(&format!("visits of {extents:?} in tiles {:?}", policy.tile()), found.as_slice(), |i| {
        let mut rest = i;
        let inside = (0..R).rev().all(|d| {
            let index = rest % (extents[d] + 1);
            rest /= extents[d] + 1;
            index < extents[d]
        });
        i32::from(inside)
    })
}

fn md_all<S: Space, const R: usize>(lab: &Lab<'_, S>, extents: [usize; R], tile: [usize; R]) -> Verdict {
    md(lab, extents, None)?;
    md(lab, extents, Some(tile))?;
    md(lab, extents, Some([1; R]))?;
    // One tile that is larger than the box.
    md(lab, extents, Some(extents.map(|e| e + 2)))?;
    md(lab, [1; R], Some(tile))?;
    for d in 0..R {
        let mut empty = extents;
        empty[d] = 0;
        md(lab, empty, Some(tile))?;
    }
    Ok(())
}

pub(super) fn md_rank_1<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for n in [127, 128, 129] {
        md_all(lab, [n], [10])?;
    }
    Ok(())
}
pub(super) fn md_rank_2<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md_all(lab, [13, 37], [4, 8])?;
    md_all(lab, [3, 131], [2, 33])
}
pub(super) fn md_rank_3<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md_all(lab, [7, 5, 19], [2, 3, 4])
}
pub(super) fn md_rank_4<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md_all(lab, [3, 5, 4, 7], [2, 2, 3, 4])
}
pub(super) fn md_rank_5<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md_all(lab, [3, 2, 4, 3, 5], [2, 2, 3, 2, 4])
}
pub(super) fn md_rank_6<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    md_all(lab, [3, 2, 3, 2, 3, 5], [2, 2, 2, 1, 2, 3])
}

kernel_args! {
    struct TeamArgs {
        about: View<i32, 2, LayoutRight, ReadWrite>,
        items: View<i32, 3, LayoutRight, Atomic>,
    }
}
#[derive(Hash)]
struct Team;
impl Kernel for Team {
    type Args = TeamArgs<Declared>;
    const NAME: &'static str = "conformance_team";
    fn run<T: Target>(&self, team: T, args: &TeamArgs<T>) {
        let rank = team.league_rank();
        let about = [rank, team.league_size(), team.int(team.team_size()), team.int(team.vector_length())];
        for (k, value) in about.into_iter().enumerate() {
            args.about.set([rank, team.int(k)], value);
        }
        team.phase(|item| {
            args.items.add([rank, item.thread, item.lane], T::Int::from(1i32));
        });
    }
}

fn run_team<S: Space>(lab: &Lab<'_, S>, policy: TeamPolicy) -> Verdict {
    let (league, team, vector) = (policy.league_size(), policy.team_size(), policy.vector_length());
    let mut about = lab.poisoned::<i32, 2>("about", [league, 4])?;
    let mut items = lab.filled::<i32, 3, _>("items", [league, team, vector], 0)?;
    lab.run(&Team, &policy, TeamArgs { about: about.write(), items: items.update() })?;
    let what = format!("league {league}, team {team}, vector {vector}");
    check(&format!("rank and sizes, {what}"), lab.download(&about)?.as_slice(), |i| {
        [i as i32 / 4, league as i32, team as i32, vector as i32][i % 4]
    })?;
    check(&format!("work items, {what}"), lab.download(&items)?.as_slice(), |_| 1)
}

pub(super) fn team<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for (team, vector) in lab.shapes(&TEAM_SIZES) {
        for league in [1, 3, 65] {
            run_team(lab, lab.policy(league, team, vector)?)?;
        }
    }
    Ok(())
}

pub(super) fn bounds<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for (team, vector) in lab.shapes(&[1, 32, 33]) {
        let policy = lab.policy(5, team, vector)?;
        run_team(lab, policy.with_bounds(Bounds { max_threads: team * vector, min_blocks: 1 })?)?;
        if lab.limits.max_team >= 1024 && policy.work_items() <= 1024 {
            run_team(lab, policy.with_bounds(LaunchBounds::<1024, 1>)?)?;
        }
    }
    Ok(())
}
