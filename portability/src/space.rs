//! Execution spaces: where kernels run, and what can be launched there.

use crate::args::{ArgSet, Borrowed, reborrow};
use crate::error::LaunchError;
use crate::kernel::{Kernel, MdKernel, OverMd, OverRange, RangeKernel};
use crate::league::{CombinePartials, Partials, PrefixPartials, ReduceChunks, ScanOutputs, ScanTotals};
use crate::memory::MemorySpace;
use crate::policy::{MdRangePolicy, RangePolicy, TeamPolicy};
use crate::reduce::Reducer;
use crate::target::Target;
use std::hash::Hash;
use std::marker::PhantomData;

/// What a space can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Most work items of a team.
    pub max_team: usize,
    /// Most teams of a league.
    pub max_league: usize,
    /// Bytes of scratch that a team may have, levels 0 and 1.
    pub scratch_bytes: [usize; 2],
    /// Vector lengths on which lanes can exchange values.
    pub vector_lengths: &'static [usize],
    /// The vector length at which this space is fastest.
    pub best_vector_length: usize,
    /// Indices of a team in a [`RangePolicy`].
    pub range_chunk: usize,
    /// Threads of a team in a [`RangePolicy`].
    pub range_team: usize,
    /// Units that run teams at the same time.
    pub concurrency: usize,
}

impl Limits {
    /// The powers of two up to `largest`, which is 64 at most: vector lengths as [`Limits::vector_lengths`] has them.
    pub fn powers_of_two(largest: usize) -> &'static [usize] {
        const POWERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
        let count = POWERS.iter().filter(|&&power| power <= largest.max(1)).count();
        &POWERS[..count]
    }
}

/// What a kernel needs of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchInfo {
    /// Bytes of team scratch, levels 0 and 1.
    pub scratch_bytes: [usize; 2],
    /// Whether lanes of a thread exchange values.
    pub exchanges_lanes: bool,
    /// Private slots of a work item.
    pub private_slots: usize,
}

/// Arguments of kernel `K` for a launch on memory space `M`.
pub type ArgsOf<'a, K, M> = <<K as Kernel>::Args as ArgSet>::With<Borrowed<'a, M>>;

/// A body whose values are reduced over a range, over the whole league.
pub trait ReduceKernel: Hash + Sync + 'static {
    /// The argument list.
    type Args: ArgSet;
    /// The reducer.
    type Reducer: Reducer;
    /// The name.
    const NAME: &'static str;
    /// The value of index `i`.
    fn value<T: Target>(
        &self,
        target: T,
        i: T::Int,
        args: &<Self::Args as ArgSet>::With<T>,
    ) -> <Self::Reducer as Reducer>::Value<T>;
}

/// A body whose values are scanned over a range, over the whole league.
pub trait ScanKernel: Hash + Sync + 'static {
    /// The argument list.
    type Args: ArgSet;
    /// The reducer.
    type Reducer: Reducer;
    /// The name.
    const NAME: &'static str;
    /// The value of index `i`.
    fn value<T: Target>(
        &self,
        target: T,
        i: T::Int,
        args: &<Self::Args as ArgSet>::With<T>,
    ) -> <Self::Reducer as Reducer>::Value<T>;
    /// Receives the combination of all values before `i`.
    fn output<T: Target>(
        &self,
        target: T,
        i: T::Int,
        prefix: <Self::Reducer as Reducer>::Value<T>,
        args: &<Self::Args as ArgSet>::With<T>,
    );
}

/// An execution space: the host, a sanitizer, a counter, or a device.
pub trait Space {
    /// The memory that its kernels reach.
    type Memory: MemorySpace;

    /// The name, for messages and reports.
    fn name(&self) -> String;
    /// The memory that its kernels reach.
    fn memory(&self) -> &Self::Memory;
    /// What the space can run.
    fn limits(&self) -> Limits;
    /// What a kernel needs under a policy.
    ///
    /// # Errors
    /// When the kernel uses the language wrongly.
    fn launch_info<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, Self::Memory>,
    ) -> Result<LaunchInfo, LaunchError>;
    /// Runs a kernel over a league. Returns when the launch is accepted; [`Space::fence`] waits for its end.
    ///
    /// # Errors
    /// When the launch is impossible; then nothing is written. Faults of a running kernel may be reported later.
    fn launch<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, Self::Memory>,
    ) -> Result<(), LaunchError>;
    /// Waits until all launches have ended.
    ///
    /// # Errors
    /// When a kernel failed.
    fn fence(&self) -> Result<(), LaunchError>;

    /// Refuses a launch that the space cannot run, without running it.
    ///
    /// # Errors
    /// When the kernel uses the language wrongly, or team, league, scratch or vector length are not possible.
    fn check<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, Self::Memory>,
    ) -> Result<(), LaunchError> {
        let info = self.launch_info(kernel, policy, args)?;
        check_limits::<K>(&self.name(), &self.limits(), policy, &info)
    }

    /// The largest team size (threads) that launches, by scratch and team limits, for the policy's vector length.
    ///
    /// # Errors
    /// When not even one thread is possible.
    fn largest_team<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, Self::Memory>,
    ) -> Result<usize, LaunchError> {
        let limits = self.limits();
        let fits = |threads: usize| -> Result<Result<(), LaunchError>, LaunchError> {
            let candidate = TeamPolicy::new(policy.league_size(), threads, policy.vector_length())?;
            let info = self.launch_info(kernel, &candidate, args)?;
            Ok(check_scratch::<K>(&self.name(), &limits, &info))
        };
        let (mut low, mut high) = (0, limits.max_team / policy.vector_length());
        // Scratch grows with the team in every kernel of interest, so bisection finds the edge.
        while low < high {
            let middle = (low + high).div_ceil(2);
            match fits(middle)? {
                Ok(()) => low = middle,
                Err(_) => high = middle - 1,
            }
        }
        if low == 0 {
            return Err(match fits(1)? {
                Err(error) => error,
                Ok(()) => LaunchError::TeamTooLarge {
                    kernel: K::NAME.into(),
                    space: self.name(),
                    asked: policy.vector_length(),
                    allowed: limits.max_team,
                },
            });
        }
        Ok(low)
    }

    /// Runs a body for each index of a range.
    ///
    /// # Errors
    /// As [`Space::launch`].
    fn parallel_for<K: RangeKernel + Clone>(
        &self,
        policy: RangePolicy,
        body: &K,
        args: <K::Args as ArgSet>::With<Borrowed<'_, Self::Memory>>,
    ) -> Result<(), LaunchError> {
        let limits = self.limits();
        let kernel =
            OverRange { body: body.clone(), chunk: limits.range_chunk, wide: policy.len > i32::MAX as usize / 2 };
        let team = range_team(&limits, policy.len.div_ceil(limits.range_chunk))?;
        self.launch(&kernel, &team, (args, [policy.len as i64]))
    }

    /// Runs a body for each multi-index of a box.
    ///
    /// # Errors
    /// As [`Space::launch`], and when an extent exceeds 32 bits.
    fn parallel_for_md<K: MdKernel<R> + Clone, const R: usize>(
        &self,
        policy: MdRangePolicy<R>,
        body: &K,
        args: <K::Args as ArgSet>::With<Borrowed<'_, Self::Memory>>,
    ) -> Result<(), LaunchError> {
        let extents = policy.extents();
        let tiles = (0..R).try_fold(1usize, |product, d| product.checked_mul(extents[d].div_ceil(policy.tile()[d])));
        let limit = i32::MAX as usize;
        let tiles = tiles.filter(|&tiles| tiles <= limit && extents.iter().all(|&e| e <= limit));
        let tiles = tiles.ok_or_else(|| LaunchError::LeagueTooLarge {
            kernel: K::NAME.into(),
            space: self.name(),
            asked: usize::MAX,
            allowed: limit,
        })?;
        let kernel = OverMd { body: body.clone(), tile: policy.tile() };
        self.launch(&kernel, &range_team(&self.limits(), tiles)?, (args, extents.map(|e| e as i64)))
    }

    /// Reduces a body over a range; returns the numbers of the reduced value, in order. An empty range gives the
    /// identity. The order of combination is fixed, so the result is the same in each run.
    ///
    /// # Errors
    /// As [`Space::launch`].
    fn parallel_reduce<K: ReduceKernel + Clone>(
        &self,
        policy: RangePolicy,
        body: &K,
        args: <K::Args as ArgSet>::With<Borrowed<'_, Self::Memory>>,
    ) -> Result<Vec<f64>, LaunchError> {
        let limits = self.limits();
        let teams = policy.len.div_ceil(limits.range_chunk);
        let mut partials = Partials::new(self.memory(), teams)?;
        let wide = policy.len > i32::MAX as usize / 2;
        let kernel = ReduceChunks { body: body.clone(), chunk: limits.range_chunk, wide };
        let extent = [policy.len as i64];
        let arguments = ((reborrow::<K::Args, _>(&args), extent), partials.args());
        self.launch(&kernel, &range_team(&limits, teams)?, arguments)?;
        let combine = CombinePartials(PhantomData::<K::Reducer>);
        let arguments = (partials.args(), [teams as i64]);
        self.launch(&combine, &range_team(&limits, 1)?, arguments)?;
        self.fence()?;
        partials.total()
    }

    /// Scans a body over a range: `output` receives the combination of all earlier values. Returns the combination of
    /// all values, number by number. The body's values are evaluated twice, so they must not depend on its outputs.
    ///
    /// # Errors
    /// As [`Space::launch`].
    fn parallel_scan<K: ScanKernel + Clone>(
        &self,
        policy: RangePolicy,
        body: &K,
        args: <K::Args as ArgSet>::With<Borrowed<'_, Self::Memory>>,
    ) -> Result<Vec<f64>, LaunchError> {
        let limits = self.limits();
        let teams = policy.len.div_ceil(limits.range_chunk);
        let mut partials = Partials::new(self.memory(), teams)?;
        let wide = policy.len > i32::MAX as usize / 2;
        let (chunk, extent) = (limits.range_chunk, [policy.len as i64]);
        let over_chunks = range_team(&limits, teams)?;
        let totals = ReduceChunks { body: ScanTotals(body.clone()), chunk, wide };
        let arguments = (reborrow::<K::Args, _>(&args), extent);
        self.launch(&totals, &over_chunks, (arguments, partials.args()))?;
        let prefixes = PrefixPartials(PhantomData::<K::Reducer>);
        let arguments = (partials.args(), [teams as i64]);
        self.launch(&prefixes, &range_team(&limits, 1)?, arguments)?;
        let outputs = ScanOutputs { body: body.clone(), chunk, wide };
        let arguments = ((reborrow::<K::Args, _>(&args), extent), partials.args());
        self.launch(&outputs, &over_chunks, arguments)?;
        self.fence()?;
        partials.total()
    }
}

/// Refuses a launch that the space cannot run.
///
/// # Errors
/// When team, league, scratch or vector length are not possible.
pub fn check_limits<K: Kernel>(
    space: &str,
    limits: &Limits,
    policy: &TeamPolicy,
    info: &LaunchInfo,
) -> Result<(), LaunchError> {
    if policy.work_items() > limits.max_team {
        return Err(LaunchError::TeamTooLarge {
            kernel: K::NAME.into(),
            space: space.into(),
            asked: policy.work_items(),
            allowed: limits.max_team,
        });
    }
    if policy.league_size() > limits.max_league {
        return Err(LaunchError::LeagueTooLarge {
            kernel: K::NAME.into(),
            space: space.into(),
            asked: policy.league_size(),
            allowed: limits.max_league,
        });
    }
    if info.exchanges_lanes && !limits.vector_lengths.contains(&policy.vector_length()) {
        return Err(LaunchError::VectorLength {
            asked: policy.vector_length(),
            allowed: format!(
                "{:?} on {space} for kernel `{}`, whose lanes exchange values",
                limits.vector_lengths,
                K::NAME
            ),
        });
    }
    check_scratch::<K>(space, limits, info)
}

/// Refuses scratch that does not fit.
///
/// # Errors
/// When a level is too small.
pub fn check_scratch<K: Kernel>(space: &str, limits: &Limits, info: &LaunchInfo) -> Result<(), LaunchError> {
    for level in 0..2 {
        if info.scratch_bytes[level] > limits.scratch_bytes[level] {
            return Err(LaunchError::ScratchTooLarge {
                kernel: K::NAME.into(),
                space: space.into(),
                level,
                asked: info.scratch_bytes[level],
                available: limits.scratch_bytes[level],
                hint: "use a smaller tile or team, or scratch level 1".into(),
            });
        }
    }
    Ok(())
}

fn range_team(limits: &Limits, teams: usize) -> Result<TeamPolicy, LaunchError> {
    TeamPolicy::new(teams, limits.range_team, 1)
}
