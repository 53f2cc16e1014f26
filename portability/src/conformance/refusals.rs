//! What is refused before a launch, as typed errors with the numbers; the output stays untouched.

use super::lab::*;
use crate::error::LaunchError;
use crate::prelude::*;

kernel_args! {
    struct PairArgs { first: View<i64, 1, LayoutRight, ReadWrite>, second: View<i64, 1, LayoutRight, ReadWrite> }
}
kernel_args! {
    struct OutArgs { out: View<i64, 1, LayoutRight, ReadWrite> }
}

pub(super) fn bounds_too_small<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let asked = lab.policy(1, 64, 16)?;
    let refused = asked.with_bounds(LaunchBounds::<512, 1>);
    let named = refused == Err(LaunchError::BoundsTooSmall { work_items: 1024, max_threads: 512 });
    ensure!(named, "a team of 1024 under bounds of 512: {refused:?}");
    let text = refused.err().map(|e| e.to_string()).unwrap_or_default();
    ensure!(text.contains("1024") && text.contains("512"), "the message names not both numbers: {text}");
    let refused = asked.with_bounds(Bounds { max_threads: 0, min_blocks: 1 });
    ensure!(refused.is_err(), "a bound of 0 threads was accepted");
    Ok(())
}

pub(super) fn policy<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let none = TeamPolicy::new(4, 0, 1);
    ensure!(matches!(none, Err(LaunchError::NoTeam { .. })), "a team of 0 threads: {none:?}");
    let one = lab.policy(4, 3, 2)?;
    ensure!(one.work_items() == 6 && one.bounds().is_none(), "a policy of 3 x 2 is {one:?}");
    Ok(())
}

pub(super) fn vector_length<S: Space>(_: &Lab<'_, S>) -> Verdict {
    for vector in [0, 3, 48, 65, 128, usize::MAX] {
        let refused = TeamPolicy::new(1, 4, vector);
        let named = matches!(&refused, Err(LaunchError::VectorLength { asked, .. }) if *asked == vector);
        ensure!(named, "vector length {vector}: {refused:?}");
    }
    for vector in [1, 2, 4, 8, 16, 32, 64] {
        ensure!(TeamPolicy::new(1, 4, vector).is_ok(), "vector length {vector} was refused");
    }
    Ok(())
}

pub(super) fn tile<S: Space>(_: &Lab<'_, S>) -> Verdict {
    let policy = MdRangePolicy::new([100, 100, 100]);
    for tile in [[0, 4, 4], [4, 0, 1], [1 << 10, 1 << 10, 2], [usize::MAX, 2, 2]] {
        let refused = policy.with_tile(tile);
        let named = matches!(&refused, Err(LaunchError::TileTooLarge { tile: named, .. }) if named[..] == tile);
        ensure!(named, "tile {tile:?}: {refused:?}");
    }
    Ok(())
}

/// Stores to both views.
#[derive(Hash)]
struct Both;
impl Kernel for Both {
    type Args = PairArgs<Declared>;
    const NAME: &'static str = "conformance_both";
    fn run<T: Target>(&self, team: T, args: &PairArgs<T>) {
        args.first.set([team.int(0)], T::Int::from(1i32));
        args.second.set([team.int(0)], T::Int::from(2i32));
    }
}
/// Handles of one view that overlap in all, some or one of their elements.
pub(super) fn aliasing<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for (first, second) in [((0, 20), (0, 20)), ((0, 11), (10, 20)), ((5, 6), (0, 20)), ((3, 9), (8, 9))] {
        let mut view = lab.poisoned::<i64, 1>("shared", [20])?;
        let whole = view.write();
        let part = |(start, end)| whole.duplicate().subview([start], [end]);
        let args = PairArgs { first: part(first)?, second: part(second)? };
        let result = lab.space.launch(&Both, &lab.policy(1, 1, 1)?, args);
        let named = matches!(&result, Err(LaunchError::Aliasing { kernel, written, .. })
            if kernel == "conformance_both" && written == "shared");
        ensure!(named, "parts {first:?} and {second:?} of one view: {result:?}");
        check("the output of a refused launch", lab.download(&view)?.as_slice(), |_| i64::POISON)?;
    }
    Ok(())
}

/// A kernel that is refused or fails: `out[0] = 1` comes first.
macro_rules! refused_kernel {
    ($kernel:ident, $name:literal, |$team:ident| $body:expr) => {
        #[derive(Hash)]
        struct $kernel;
        impl Kernel for $kernel {
            type Args = OutArgs<Declared>;
            const NAME: &'static str = $name;
            fn run<T: Target>(&self, $team: T, args: &OutArgs<T>) {
                args.out.set([$team.int(0)], T::Int::from(1i32));
                $body
            }
        }
    };
}

fn refused<S: Space, K: Kernel<Args = OutArgs<Declared>>>(lab: &Lab<'_, S>, kernel: &K, vector: usize) -> Verdict {
    let mut out = lab.poisoned::<i64, 1>("out", [4])?;
    let policy = lab.policy(2, 4, vector)?;
    let result = lab.space.launch(kernel, &policy, OutArgs { out: out.write() });
    let named = matches!(&result, Err(LaunchError::Kernel { kernel, .. }) if kernel == K::NAME);
    ensure!(named, "kernel `{}` was not refused: {result:?}", K::NAME);
    check("the output of a refused launch", lab.download(&out)?.as_slice(), |_| i64::POISON)
}

refused_kernel!(BarrierInPhase, "conformance_barrier_in_phase", |team| team.phase(|_| team.barrier()));
refused_kernel!(BarrierInBranch, "conformance_barrier_in_branch", |team| {
    team.for_each_thread(3usize, |_| team.barrier());
});
pub(super) fn barrier_in_phase<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    refused(lab, &BarrierInPhase, 1)?;
    refused(lab, &BarrierInBranch, 1)
}

// Which work item runs an index of a range is the target's choice, so an index has no private memory.
refused_kernel!(PrivateInRange, "conformance_private_in_range", |team| {
    let slots = team.private(1);
    team.for_each(4usize, |i| slots.set(0, team.to_real(i)));
});
refused_kernel!(PrivateAtTeamLevel, "conformance_private_at_team_level", |team| {
    let slots = team.private(1);
    slots.set(0, team.real(1.0));
});
pub(super) fn private_in_range<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    refused(lab, &PrivateInRange, 1)?;
    refused(lab, &PrivateAtTeamLevel, 1)
}

// A loop of the kernel runs its body many times; an allocation there would be made many times.
refused_kernel!(ScratchInLoop, "conformance_scratch_in_loop", |team| {
    team.repeat(team.league_size(), |i| {
        let scratch = team.scratch::<i64, 1>(ScratchLevel::Zero, "scratch", [4]);
        scratch.set([team.int(0)], i);
    });
});
refused_kernel!(PrivateInLoop, "conformance_private_in_loop", |team| {
    team.phase(|_| {
        team.private(2);
    });
});
pub(super) fn scratch_in_loop<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    refused(lab, &ScratchInLoop, 1)?;
    refused(lab, &PrivateInLoop, 1)
}

// An error of the kernel's own Rust code.
refused_kernel!(Panics, "conformance_panics", |team| {
    let slots = team.private(2);
    team.phase(|_| slots.set(2, team.real(0.0)));
});
pub(super) fn panicking_kernel<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    refused(lab, &Panics, 1)
}

refused_kernel!(Exchanges, "conformance_exchanges", |team| {
    team.phase(|item| {
        args_free_shift(team, item.lane);
    });
});
fn args_free_shift<T: Target>(team: T, lane: T::Int) {
    team.shift_down(lane, 1);
}
pub(super) fn lanes_of_impossible_vectors<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let possible = &lab.limits.vector_lengths;
    let Some(vector) = [64, 32, 16, 8, 4, 2].into_iter().find(|vector| !possible.contains(vector)) else {
        return Err(Stop::Skipped("lanes exchange values at all vector lengths".into()));
    };
    let mut out = lab.poisoned::<i64, 1>("out", [4])?;
    let result = lab.space.launch(&Exchanges, &lab.policy(2, 1, vector)?, OutArgs { out: out.write() });
    let named = matches!(&result, Err(LaunchError::VectorLength { asked, .. }) if *asked == vector);
    ensure!(named, "lanes exchange values at vector length {vector}, {possible:?} are possible: {result:?}");
    check("the output of a refused launch", lab.download(&out)?.as_slice(), |_| i64::POISON)
}
