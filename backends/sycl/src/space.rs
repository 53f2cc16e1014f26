//! A SYCL or OpenCL device as an execution space.

use crate::compiler::{CompileOptions, CompiledKernel, QueueCompiler};
use crate::device::{Properties, Route};
use crate::error::{Result, SyclError};
use crate::opencl::OpenClQueue;
use crate::queue::{Block, Kernel, Queue, Resources};
use crate::sycl::SyclQueue;
use farro_backends::device::cache::Cache;
use farro_backends::device::{
    DeviceBlock, DeviceCompiler as _, DeviceMemory, DeviceOptions, DeviceRuntime, DeviceSpace, Launch,
};
use farro_backends::trace::Program;
use farro_portability::{ArgsOf, ElementKind, Kernel as PortableKernel, LaunchError, Limits, RealElement, TeamPolicy};
use std::fmt;
use std::sync::Arc;

/// How a [`SyclSpace`] compiles and shares out ranges.
pub type SpaceOptions = DeviceOptions<CompileOptions>;
/// The memory of one device, used in the order of one queue. Clones are the same memory.
pub type SyclMemory = DeviceMemory<SyclRuntime>;
/// A block of device memory.
pub type SyclBuffer = DeviceBlock<SyclRuntime>;

/// One queue of a device, as the shared launch path sees it.
#[derive(Debug)]
pub struct SyclRuntime {
    queue: Arc<dyn Queue>,
    compiler: QueueCompiler,
}

impl SyclRuntime {
    fn open(route: Route, ordinal: usize, options: &SpaceOptions) -> Result<Self> {
        let queue: Arc<dyn Queue> = match route {
            Route::Sycl => Arc::new(SyclQueue::open(ordinal)?),
            Route::OpenCl => Arc::new(OpenClQueue::open(ordinal, Some(Arc::new(Cache::open(options.cache.clone()))))?),
        };
        let properties = queue.properties();
        // A CPU's driver keeps the private memory of a whole group on one stack: what it allows depends on the kernel.
        let most =
            if properties.is_gpu { properties.max_work_group } else { properties.max_work_group.min(LARGEST_CPU_TEAM) };
        let range_team = options.range_team.clamp(1, most.max(1));
        let limits = Limits {
            max_team: most,
            max_league: i32::MAX as usize,
            scratch_bytes: [properties.local_bytes as usize, options.team_scratch_bytes],
            vector_lengths: vector_lengths(&properties.sub_groups),
            best_vector_length: best_vector_length(properties),
            range_chunk: options.range_chunk.max(1),
            range_team,
            concurrency: properties.compute_units.max(1),
        };
        let compiler = QueueCompiler { queue: Arc::clone(&queue), options: options.compile.clone(), limits };
        Ok(SyclRuntime { queue, compiler })
    }
}

/// Work items of a team that every kernel of interest can have on a CPU.
const LARGEST_CPU_TEAM: usize = 512;

/// Lengths at which lanes can exchange values everywhere. Without sub-groups they can do so in uniform flow alone, at any
/// length; a kernel that does more is refused when it is compiled.
fn vector_lengths(sub_groups: &[usize]) -> &'static [usize] {
    match sub_groups {
        [] => &[1, 2, 4, 8, 16, 32, 64],
        sizes if [4, 8, 16, 32, 64].iter().all(|size| sizes.contains(size)) => &[1, 4, 8, 16, 32, 64],
        sizes if [8, 16, 32].iter().all(|size| sizes.contains(size)) => &[1, 8, 16, 32],
        sizes if [16, 32].iter().all(|size| sizes.contains(size)) => &[1, 16, 32],
        sizes if sizes.contains(&32) => &[1, 32],
        _ => &[1],
    }
}

fn best_vector_length(properties: &Properties) -> usize {
    let sizes = &properties.sub_groups;
    let wish = [16, 32, 8];
    if sizes.is_empty() { 16 } else { wish.into_iter().find(|size| sizes.contains(size)).unwrap_or(1) }
}

impl DeviceRuntime for SyclRuntime {
    type Compiler = QueueCompiler;
    type Block = Block;
    type Function = Arc<Kernel>;

    fn compiler(&self) -> &QueueCompiler {
        &self.compiler
    }
    fn name(&self) -> String {
        self.queue.properties().title()
    }
    fn limits(&self) -> Limits {
        self.compiler.limits.clone()
    }
    fn allocate(&self, bytes: u64) -> Result<Block> {
        Block::new(&self.queue, bytes)
    }
    fn exhausted(error: &SyclError) -> Option<u64> {
        match error {
            SyclError::OutOfMemory { largest, .. } => Some(*largest),
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
        self.queue.zero(block.address, block.len)
    }
    fn read(&self, block: &Block, offset: u64, to: &mut [u8]) -> Result<()> {
        self.queue.read(block.range(offset, to.len() as u64)?, to)
    }
    fn write(&self, block: &Block, offset: u64, from: &[u8]) -> Result<()> {
        self.queue.write(block.range(offset, from.len() as u64)?, from)
    }
    fn load(&self, kernel: &CompiledKernel) -> Result<Arc<Kernel>> {
        Ok(Arc::clone(&kernel.kernel))
    }
    unsafe fn launch(&self, function: &Arc<Kernel>, launch: Launch<'_>) -> Result<()> {
        // SAFETY: passed on from this function's contract. Scratch of level 0 is part of the text.
        unsafe { function.submit(launch.teams, launch.work_items, launch.values) }
    }
    fn synchronize(&self) -> Result<()> {
        self.queue.wait()
    }
}

/// Compiles a program for a device, with the usual cache, without launching it.
///
/// # Errors
/// Where there is no such device, when lanes exchange values in a way that it cannot, or its compiler refuses the text.
pub fn compile_on(route: Route, ordinal: usize, program: &Program, options: &CompileOptions) -> Result<CompiledKernel> {
    let options = SpaceOptions { compile: options.clone(), ..SpaceOptions::default() };
    SyclRuntime::open(route, ordinal, &options)?.compiler.compile(program, options.passes)
}

/// What one kernel uses under one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelReport {
    /// The kernel.
    pub kernel: String,
    /// The device.
    pub device: String,
    /// Work items of a team.
    pub work_items: usize,
    /// What the device's compiler made of it.
    pub resources: Resources,
    /// Bytes of scratch of a team, levels 0 and 1.
    pub scratch_bytes: [usize; 2],
    /// Whether the binary came from the cache.
    pub from_cache: bool,
    /// Seconds that printing and compiling took.
    pub seconds: f64,
    /// The text.
    pub text: String,
}

/// A device as an execution space, computing in precision `P`. Storage precision is that of the views.
pub struct SyclSpace<P: RealElement = f64> {
    shared: DeviceSpace<SyclRuntime, P>,
}

impl<P: RealElement> fmt::Debug for SyclSpace<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SyclSpace").field(&self.shared).finish()
    }
}

farro_backends::shared_space!(SyclSpace, SyclMemory);

impl<P: RealElement> SyclSpace<P> {
    /// The SYCL device of this number, with a queue of its own.
    ///
    /// # Errors
    /// Where there is no run-time or no such device: the error says what was looked for.
    pub fn new(ordinal: usize) -> Result<Self> {
        Self::with(Route::Sycl, ordinal, SpaceOptions::default())
    }
    /// The OpenCL device of this number, without SYCL.
    ///
    /// # Errors
    /// Where there is no OpenCL or no such device: the error says what was looked for.
    pub fn opencl(ordinal: usize) -> Result<Self> {
        Self::with(Route::OpenCl, ordinal, SpaceOptions::default())
    }
    /// A device of either interface, with options.
    ///
    /// # Errors
    /// As [`SyclSpace::new`] and [`SyclSpace::opencl`], and when the device does not compute in this precision.
    pub fn with(route: Route, ordinal: usize, options: SpaceOptions) -> Result<Self> {
        let runtime = SyclRuntime::open(route, ordinal, &options)?;
        let properties = runtime.queue.properties();
        if P::KIND == ElementKind::F64 && !properties.has_f64 {
            let reason = format!("{} has no 64-bit floating point; use f32", properties.title());
            return Err(SyclError::NoDevice { route: route.to_string(), asked: ordinal, reason });
        }
        Ok(SyclSpace { shared: DeviceSpace::new(Arc::new(runtime), options.passes) })
    }
    /// What the device is and allows.
    pub fn properties(&self) -> &Properties {
        self.shared.runtime().queue.properties()
    }

    /// Device time from the start of the closure's first launch to the end of its last, in milliseconds, with the
    /// closure's result.
    ///
    /// # Errors
    /// Those of the closure, and what failed on the device.
    pub fn time<T>(&self, run: impl FnOnce() -> Result<T, LaunchError>) -> Result<(T, f32), LaunchError> {
        let queue = &self.shared.runtime().queue;
        queue.begin_timing();
        let result = run();
        let nanoseconds = queue.end_timing().map_err(|error| self.shared.error("timed launches", &error))?;
        Ok((result?, nanoseconds as f32 * 1e-6))
    }

    /// What a kernel uses under a policy, without launching it.
    ///
    /// # Errors
    /// As a launch.
    pub fn inspect<K: PortableKernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, SyclMemory>,
    ) -> Result<KernelReport, LaunchError> {
        let loaded = self.shared.load(kernel, policy, args)?;
        let CompiledKernel { printed, resources, from_cache, seconds, .. } = &loaded.kernel;
        Ok(KernelReport {
            kernel: K::NAME.into(),
            device: self.properties().title(),
            work_items: policy.work_items(),
            resources: *resources,
            scratch_bytes: printed.scratch_bytes,
            from_cache: *from_cache,
            seconds: *seconds,
            text: printed.text.clone(),
        })
    }
}
