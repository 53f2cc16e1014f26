//! Launches at and beyond the limits: a typed error with the numbers, and an untouched output.

use super::lab::*;
use crate::error::LaunchError;
use crate::prelude::*;

kernel_args! {
    struct OutArgs { out: View<i64, 1, LayoutRight, ReadWrite> }
}
/// Each thread has some scratch; the team writes what it read back from it.
#[derive(Hash)]
struct PerThread {
    level: ScratchLevel,
    elements: usize,
}
impl Kernel for PerThread {
    type Args = OutArgs<Declared>;
    const NAME: &'static str = "conformance_per_thread";
    fn run<T: Target>(&self, team: T, args: &OutArgs<T>) {
        let threads = team.team_size();
        let scratch = team.scratch::<i64, 2>(self.level, "per_thread", [threads, self.elements]);
        let last = team.int(self.elements - 1);
        team.for_each(threads, |i| scratch.set([i, last], i + 1));
        team.barrier();
        let sum = team.reduce(threads, SumInt, |i| scratch.at([i, last]));
        args.out.set([team.league_rank()], sum);
    }
}

/// Eight teams and an output with a sentinel in each element.
const LEAGUE: usize = 2;

/// Launches and hands back the error and the output.
fn try_launch<S: Space, K: Kernel<Args = OutArgs<Declared>>>(
    lab: &Lab<'_, S>,
    kernel: &K,
    policy: &TeamPolicy,
) -> Result<(Result<(), LaunchError>, Vec<i64>), Stop> {
    let mut out = lab.poisoned::<i64, 1>("out", [LEAGUE])?;
    let launched = lab.space.launch(kernel, policy, OutArgs { out: out.write() });
    let result = if launched.is_ok() { lab.space.fence() } else { launched };
    Ok((result, lab.download(&out)?.as_slice().to_vec()))
}

fn untouched(what: &str, out: &[i64]) -> Verdict {
    check(&format!("{what}: the output of a refused launch"), out, |_| i64::POISON)
}

pub(super) fn zero_teams<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for (team, vector) in lab.shapes(&[1, 33]) {
        let kernel = PerThread { level: ScratchLevel::Zero, elements: 2 };
        let (result, out) = try_launch(lab, &kernel, &lab.policy(0, team, vector)?)?;
        result?;
        check("the output of zero teams", &out, |_| i64::POISON)?;
    }
    Ok(())
}

/// Counts of work items that exceed 32 bits are numbers like any other: a policy keeps them, an empty launch of such
/// a shape is accepted or refused with an error.
pub(super) fn league_times_team<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for (league, team) in [((1usize << 31) + 7, 1usize), ((1 << 26) + 1, 33), (1 << 40, 1024)] {
        let policy = lab.policy(league, team, 1)?;
        let items = policy.league_size() as u128 * policy.work_items() as u128;
        ensure!(items == league as u128 * team as u128, "league {league} x team {team} became {items} work items");
    }
    let len = (1usize << 31) + 7;
    ensure!(RangePolicy::new(len).len == len, "a range of {len} indices became shorter");
    let most = lab.limits.max_league;
    if most == usize::MAX || most >= i64::MAX as usize {
        lab.leave_out(format!("a league above the limit {most}"));
        return Ok(());
    }
    let kernel = PerThread { level: ScratchLevel::Zero, elements: 1 };
    let (result, out) = try_launch(lab, &kernel, &lab.policy(most + 1, 1, 1)?)?;
    let named = matches!(&result, Err(LaunchError::LeagueTooLarge { asked, allowed, .. })
        if *asked == most + 1 && *allowed == most);
    ensure!(named, "a league of {} teams, {most} allowed: {result:?}", most + 1);
    untouched("league too large", &out)
}

/// Elements of scratch for each thread so that about ten threads fit.
fn tenth<S: Space>(lab: &Lab<'_, S>) -> usize {
    (lab.limits.scratch_bytes[0] / 80).max(1)
}

pub(super) fn largest_team<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for elements in [1, tenth(lab)] {
        let kernel = PerThread { level: ScratchLevel::Zero, elements };
        let policy = lab.policy(LEAGUE, 1, 1)?;
        let mut out = lab.poisoned::<i64, 1>("out", [LEAGUE])?;
        let n = lab.space.largest_team(&kernel, &policy, &OutArgs { out: out.write() })?;
        let (result, out) = try_launch(lab, &kernel, &lab.policy(LEAGUE, n, 1)?)?;
        ensure!(result.is_ok(), "{n} is the largest team, but its launch fails: {result:?}");
        let sum = (n * (n + 1) / 2) as i64;
        check(&format!("the output of the largest team {n}"), &out, |_| sum)?;
        let (result, out) = try_launch(lab, &kernel, &lab.policy(LEAGUE, n + 1, 1)?)?;
        let named = match &result {
            Err(LaunchError::TeamTooLarge { asked, allowed, .. }) => *asked == n + 1 && *allowed == n,
            Err(LaunchError::ScratchTooLarge { level, asked, available, .. }) => {
                *level == 0 && *asked > (n + 1) * elements * 8 - 1 && *available == lab.limits.scratch_bytes[0]
            }
            _ => false,
        };
        ensure!(named, "team {} is one above the largest: {result:?}", n + 1);
        untouched("one thread too many", &out)?;
    }
    Ok(())
}

pub(super) fn team_too_large<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let most = lab.limits.max_team;
    let kernel = PerThread { level: ScratchLevel::Zero, elements: 1 };
    for (team, vector) in [(most + 1, 1), (most / 2 + 1, 2), (4 * most, 1)] {
        let (result, out) = try_launch(lab, &kernel, &lab.policy(LEAGUE, team, vector)?)?;
        let named = matches!(&result, Err(LaunchError::TeamTooLarge { kernel, asked, allowed, .. })
            if kernel == "conformance_per_thread" && *asked == team * vector && *allowed == most);
        ensure!(named, "a team of {team} x {vector}, {most} allowed: {result:?}");
        untouched("team too large", &out)?;
    }
    Ok(())
}

pub(super) fn scratch_too_large<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for (number, level) in [ScratchLevel::Zero, ScratchLevel::One].into_iter().enumerate() {
        let available = lab.limits.scratch_bytes[number];
        let kernel = PerThread { level, elements: available / 8 + 1 };
        let (result, out) = try_launch(lab, &kernel, &lab.policy(LEAGUE, 1, 1)?)?;
        let named = matches!(&result, Err(LaunchError::ScratchTooLarge { kernel, level, asked, available: limit, .. })
            if kernel == "conformance_per_thread" && *level == number && *asked > available && *limit == available);
        ensure!(named, "scratch level {number} of more than {available} bytes: {result:?}");
        untouched("scratch too large", &out)?;
    }
    Ok(())
}

pub(super) fn no_team_possible<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let available = lab.limits.scratch_bytes[0];
    let kernel = PerThread { level: ScratchLevel::Zero, elements: available / 8 + 1 };
    let mut out = lab.poisoned::<i64, 1>("out", [LEAGUE])?;
    let policy = lab.policy(LEAGUE, 4, 1)?;
    let result = lab.space.largest_team(&kernel, &policy, &OutArgs { out: out.write() });
    let named = matches!(&result, Err(LaunchError::ScratchTooLarge { asked, available: limit, .. })
        if *asked > available && *limit == available);
    ensure!(named, "no team fits, but largest_team says {result:?}");
    untouched("no team possible", lab.download(&out)?.as_slice())
}

#[derive(Hash, Clone)]
struct Store;
impl MdKernel<3> for Store {
    type Args = OutArgs<Declared>;
    const NAME: &'static str = "conformance_md_store";
    fn run<T: Target>(&self, target: T, _: [T::Int; 3], args: &OutArgs<T>) {
        args.out.set([target.int(0)], T::Int::from(1i32));
    }
}
/// More tiles than 32 bits count.
pub(super) fn md_too_large<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for extents in [[1 << 16, 1 << 16, 2], [1 << 40, 1, 1], [usize::MAX, usize::MAX, 1]] {
        let mut out = lab.poisoned::<i64, 1>("out", [LEAGUE])?;
        let policy = MdRangePolicy::new(extents).with_tile([1, 1, 1])?;
        let result = lab.space.parallel_for_md(policy, &Store, OutArgs { out: out.write() });
        let named = matches!(&result, Err(LaunchError::LeagueTooLarge { asked, allowed, .. }) if asked > allowed);
        ensure!(named, "a range of {extents:?}: {result:?}");
        untouched("too many tiles", lab.download(&out)?.as_slice())?;
    }
    Ok(())
}
