//! An AMD device as an execution space.

use crate::arch::Occupancy;
use crate::compile::{Compiler, Options};
use crate::device::{Block, DeviceProperties, Function, Queue};
use crate::error::{HipError, Result};
use crate::kernel::{ArchCompiler, CompiledKernel};
use crate::resources::Resources;
use farro_backends::device::cache::Cache;
use farro_backends::device::{
    DeviceBlock, DeviceCompiler, DeviceMemory, DeviceOptions, DeviceRuntime, DeviceSpace, Launch,
};
use farro_portability::{ArgsOf, Bounds, Kernel, LaunchError, Limits, RealElement, TeamPolicy};
use std::fmt;
use std::sync::Arc;

/// How a [`HipSpace`] compiles and shares out ranges.
pub type SpaceOptions = DeviceOptions<Options>;
/// The memory of one device, used in the order of one stream. Clones are the same memory.
pub type HipMemory = DeviceMemory<HipRuntime>;
/// A block of device memory.
pub type HipBuffer = DeviceBlock<HipRuntime>;

/// One stream of a device, as the shared launch path sees it.
#[derive(Debug)]
pub struct HipRuntime {
    queue: Arc<Queue>,
    compiler: ArchCompiler,
    limits: Limits,
}

impl HipRuntime {
    fn open(ordinal: usize, options: &SpaceOptions) -> Result<Self> {
        let queue = Arc::new(Queue::open(ordinal)?);
        let properties = &queue.properties;
        let compiler = ArchCompiler {
            compiler: Compiler::new(Cache::open(options.cache.clone()))?,
            arch: properties.plain_arch().into(),
            options: options.compile.clone(),
        };
        let limits = Limits {
            max_team: properties.max_threads_per_block,
            max_league: properties.max_grid,
            scratch_bytes: [properties.shared_bytes_per_block, options.team_scratch_bytes],
            range_chunk: options.range_chunk.max(1),
            range_team: options.range_team.clamp(1, properties.max_threads_per_block.max(1)),
            concurrency: properties.compute_units,
            ..compiler.limits()
        };
        Ok(HipRuntime { queue, compiler, limits })
    }
}

impl DeviceRuntime for HipRuntime {
    type Compiler = ArchCompiler;
    type Block = Block;
    type Function = Function;

    fn compiler(&self) -> &ArchCompiler {
        &self.compiler
    }
    fn name(&self) -> String {
        self.queue.properties.title()
    }
    fn limits(&self) -> Limits {
        self.limits.clone()
    }
    fn allocate(&self, bytes: u64) -> Result<Block> {
        Block::new(&self.queue, bytes)
    }
    fn exhausted(error: &HipError) -> Option<u64> {
        match error {
            HipError::OutOfMemory { free, .. } => Some(*free),
            _ => None,
        }
    }
    fn address(block: &Block) -> u64 {
        block.address
    }
    fn len(block: &Block) -> u64 {
        block.len
    }
    fn zero(&self, block: &Block) -> Result<()> {
        block.zero()
    }
    fn read(&self, block: &Block, offset: u64, to: &mut [u8]) -> Result<()> {
        block.read(offset, to)
    }
    fn write(&self, block: &Block, offset: u64, from: &[u8]) -> Result<()> {
        block.write(offset, from)
    }
    fn load(&self, kernel: &CompiledKernel) -> Result<Function> {
        let printed = &kernel.printed;
        let CompiledKernel { code_object, target, resources, .. } = kernel;
        Function::load(&self.queue, &printed.kernel, &printed.entry, code_object, target, resources.max_team)
    }
    unsafe fn launch(&self, function: &Function, launch: Launch<'_>) -> Result<()> {
        // SAFETY: passed on from this function's contract.
        unsafe { function.launch(launch.teams, launch.work_items, launch.scratch_bytes, launch.values) }
    }
    fn synchronize(&self) -> Result<()> {
        self.queue.synchronize()
    }
}

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
    /// Registers, spills, private and local memory.
    pub resources: Resources,
    /// Bytes of scratch of a team, levels 0 and 1.
    pub scratch_bytes: [usize; 2],
    /// The calculated occupancy.
    pub occupancy: Option<Occupancy>,
    /// Whether the code object came from the cache.
    pub from_cache: bool,
    /// Seconds that printing and compiling took.
    pub seconds: f64,
    /// The text.
    pub text: String,
}

/// An AMD device as an execution space, computing in precision `P`. Storage precision is that of the views.
pub struct HipSpace<P: RealElement = f64> {
    shared: DeviceSpace<HipRuntime, P>,
}

impl<P: RealElement> fmt::Debug for HipSpace<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HipSpace").field(&self.shared).finish()
    }
}

farro_backends::shared_space!(HipSpace, HipMemory);

impl<P: RealElement> HipSpace<P> {
    /// The device of this number, with a stream of its own.
    ///
    /// # Errors
    /// Where there is no run-time, no such device or no compiler: the error says what was looked for.
    pub fn new(ordinal: usize) -> Result<Self> {
        Self::with(ordinal, SpaceOptions::default())
    }
    /// The same with options.
    ///
    /// # Errors
    /// As [`HipSpace::new`].
    pub fn with(ordinal: usize, options: SpaceOptions) -> Result<Self> {
        let runtime = HipRuntime::open(ordinal, &options)?;
        Ok(HipSpace { shared: DeviceSpace::new(Arc::new(runtime), options.passes) })
    }
    /// What the device is and allows.
    pub fn properties(&self) -> &DeviceProperties {
        &self.shared.runtime().queue.properties
    }

    /// Device time of what the closure launches, in milliseconds, with the closure's result.
    ///
    /// # Errors
    /// Those of the closure, and what failed on the device.
    pub fn time<T>(&self, run: impl FnOnce() -> Result<T, LaunchError>) -> Result<(T, f32), LaunchError> {
        self.shared.runtime().queue.time(run, |error| self.shared.error("timed launches", &error))
    }

    /// What a kernel uses under a policy, without launching it.
    ///
    /// # Errors
    /// As a launch.
    pub fn inspect<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, HipMemory>,
    ) -> Result<KernelReport, LaunchError> {
        let loaded = self.shared.load(kernel, policy, args)?;
        let compiled = &loaded.kernel;
        Ok(KernelReport {
            kernel: K::NAME.into(),
            arch: compiled.arch.clone(),
            bounds: policy.bounds(),
            work_items: policy.work_items(),
            resources: compiled.resources,
            scratch_bytes: compiled.printed.scratch_bytes,
            occupancy: compiled.occupancy(),
            from_cache: compiled.from_cache,
            seconds: compiled.seconds,
            text: compiled.printed.text.clone(),
        })
    }
}
