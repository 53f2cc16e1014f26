//! What a kernel costs on the device.

use super::{CudaMemory, CudaSpace};
use crate::resources::Resources;
use farro_portability::{ArgsOf, Bounds, Kernel, LaunchError, RealElement, TeamPolicy};

/// What one kernel uses under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelReport {
    /// The kernel.
    pub kernel: String,
    /// The architecture.
    pub arch: String,
    /// The bounds that were asked for.
    pub bounds: Option<Bounds>,
    /// Work items of a team.
    pub work_items: usize,
    /// Registers, spills, stack and fixed shared memory.
    pub resources: Resources,
    /// Bytes of scratch of a team, levels 0 and 1.
    pub scratch_bytes: [usize; 2],
    /// Teams that a multiprocessor holds at one time.
    pub teams_per_multiprocessor: u32,
    /// Threads that it holds, as a fraction of what it could hold.
    pub occupancy: f64,
    /// The largest team that the kernel's registers and bounds allow.
    pub largest_team: u32,
    /// Whether the binary came from the cache, and the seconds it took to have it.
    pub from_cache: bool,
    /// Seconds that printing and compiling took.
    pub seconds: f64,
    /// The text.
    pub text: String,
}

impl<P: RealElement> CudaSpace<P> {
    /// What a kernel uses under a policy, without launching it.
    ///
    /// # Errors
    /// As a launch.
    pub fn inspect<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, CudaMemory>,
    ) -> Result<KernelReport, LaunchError> {
        let loaded = self.shared.load(kernel, policy, args)?;
        let (compiled, function) = (&loaded.kernel, &loaded.function);
        let (block, shared) = (policy.work_items() as u32, compiled.printed.scratch_bytes[0] as u32);
        let failed = |error| self.shared.error(K::NAME, &error);
        Ok(KernelReport {
            kernel: K::NAME.into(),
            arch: compiled.arch.clone(),
            bounds: policy.bounds(),
            work_items: policy.work_items(),
            resources: compiled.resources,
            scratch_bytes: compiled.printed.scratch_bytes,
            teams_per_multiprocessor: function.blocks_per_multiprocessor(block, shared).map_err(failed)?,
            occupancy: function.occupancy(block, shared).map_err(failed)?,
            largest_team: function.attributes().max_threads_per_block,
            from_cache: compiled.from_cache,
            seconds: compiled.seconds,
            text: compiled.printed.text.clone(),
        })
    }
}
