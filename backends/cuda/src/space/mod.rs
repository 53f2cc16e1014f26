//! The CUDA device as an execution space: kernels are traced, printed, compiled once and launched.
//!
//! ```
//! use farro_cuda::{CudaError, CudaSpace};
//! use farro_portability::prelude::*;
//!
//! kernel_args! { struct FillArgs { value: Real, y: View<f64, 1, LayoutRight, ReadWrite> } }
//! #[derive(Clone, Hash)]
//! struct Fill;
//! impl RangeKernel for Fill {
//!     type Args = FillArgs<Declared>;
//!     const NAME: &'static str = "fill";
//!     fn run<T: Target>(&self, _: T, i: T::Int, args: &FillArgs<T>) {
//!         args.y.set([i], args.value);
//!     }
//! }
//!
//! let space: CudaSpace = match CudaSpace::new(0) {
//!     Ok(space) => space,
//!     Err(reason) => return Ok(println!("skipped: {reason}")),
//! };
//! let mut y = View::<f64, 1, LayoutRight, _>::new(space.memory(), "y", [1000])?;
//! space.parallel_for(RangePolicy::new(1000), &Fill, FillArgs { value: 3.0, y: y.write() })?;
//! let mut host = y.mirror()?;
//! deep_copy(&mut host, &y)?;
//! assert!(host.as_slice().iter().all(|value| *value == 3.0));
//! # Ok::<(), LaunchError>(())
//! ```

mod errors;
mod graph;
mod kernel;
mod memory;
mod occupancy;
mod offline;
mod report;

pub use graph::CudaGraph;
pub use kernel::{CompiledKernel, compile_for, compile_with};
pub use memory::{CudaBuffer, CudaMemory};
pub use occupancy::{Occupancy, occupancy};
pub use offline::OfflineSpace;
pub use report::KernelReport;

use crate::cache::{Cache, Location};
use crate::compile::{Compiler, Options};
use crate::device::Device;
use crate::error::{CudaError, Result as CudaResult};
use crate::launch::{Function, Param};
use crate::memory::DeviceBuffer;
use crate::module::Module;
use crate::stream::{Event, Stream};
use errors::device_error;
use farro_backends::launch::{Arguments, PreparedKernels, check_limits, constants_key};
use farro_backends::print::{MAX_PARAMETERS, Passes};
use farro_portability::{
    ArgsOf, ElementKind, Kernel, LaunchError, LaunchInfo, Limits, MemoryError, RealElement, Space, TeamPolicy,
};
use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a [`CudaSpace`] compiles and shares out ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceOptions {
    /// Where binaries are kept.
    pub cache: Location,
    /// How texts are compiled.
    pub compile: Options,
    /// What happens to a program before it is printed.
    pub passes: Passes,
    /// Threads of a team in a range; best a multiple of 32.
    pub range_team: usize,
    /// Indices of a team in a range; best a multiple of `range_team`.
    pub range_chunk: usize,
    /// Most bytes of scratch of level 1 that a team may have.
    pub team_scratch_bytes: usize,
}

impl Default for SpaceOptions {
    fn default() -> Self {
        SpaceOptions {
            cache: Location::Default,
            compile: Options::default(),
            passes: Passes::default(),
            range_team: 256,
            range_chunk: 2048,
            team_scratch_bytes: 256 << 20,
        }
    }
}

/// A kernel on the device.
#[derive(Debug)]
struct Loaded {
    info: LaunchInfo,
    kernel: CompiledKernel,
    function: Function,
}

/// A CUDA device as an execution space, computing in precision `P`. Storage precision is that of the views.
pub struct CudaSpace<P: RealElement = f64> {
    stream: Stream,
    memory: CudaMemory,
    compiler: Compiler,
    options: SpaceOptions,
    limits: Limits,
    name: String,
    arch: String,
    prepared: PreparedKernels,
    loaded: Mutex<HashMap<(TypeId, u64), Arc<Loaded>>>,
    /// Scratch of level 1 of all teams of a launch; launches of one stream follow each other.
    team_scratch: Mutex<Option<Arc<DeviceBuffer>>>,
    precision: PhantomData<fn() -> P>,
}

impl<P: RealElement> fmt::Debug for CudaSpace<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaSpace").field("name", &self.name).field("options", &self.options).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: RealElement> CudaSpace<P> {
    /// The device of this number, with a stream of its own.
    ///
    /// # Errors
    /// Where there is no driver, no such device or no NVRTC: the error says what was looked for.
    pub fn new(ordinal: usize) -> CudaResult<Self> {
        Self::with(ordinal, SpaceOptions::default())
    }
    /// The same with options.
    ///
    /// # Errors
    /// As [`CudaSpace::new`].
    pub fn with(ordinal: usize, options: SpaceOptions) -> CudaResult<Self> {
        let device = Device::open(ordinal)?;
        let compiler = Compiler::new(Cache::open(options.cache.clone()))?;
        Self::on(Stream::new(&device)?, compiler, options)
    }
    /// A space whose work is queued on this stream.
    ///
    /// # Errors
    /// None at present.
    pub fn on(stream: Stream, compiler: Compiler, options: SpaceOptions) -> CudaResult<Self> {
        let properties = stream.device().properties();
        let limits = Limits {
            max_team: properties.max_threads_per_block as usize,
            max_league: properties.max_grid[0] as usize,
            scratch_bytes: [properties.shared_bytes_per_block_optin as usize, options.team_scratch_bytes],
            vector_lengths: &[1, 2, 4, 8, 16, 32],
            best_vector_length: 32,
            range_chunk: options.range_chunk.max(1),
            range_team: options.range_team.clamp(1, properties.max_threads_per_block as usize),
            concurrency: properties.multiprocessors as usize,
        };
        let bits = if P::KIND == ElementKind::F32 { 32 } else { 64 };
        Ok(CudaSpace {
            memory: CudaMemory::new(stream.clone()),
            name: format!("{} (CUDA device {}, f{bits})", properties.name, properties.ordinal),
            arch: properties.arch(),
            stream,
            compiler,
            options,
            limits,
            prepared: PreparedKernels::default(),
            loaded: Mutex::default(),
            team_scratch: Mutex::default(),
            precision: PhantomData,
        })
    }
    /// The stream on which work is queued.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }
    /// The device.
    pub fn device(&self) -> &Device {
        self.stream.device()
    }
    /// The compiler.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    fn error(&self, kernel: &str, error: &CudaError) -> LaunchError {
        device_error(&self.name, kernel, error)
    }

    /// The kernel on the device; traced, printed, compiled and loaded at the first call only.
    fn load<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, CudaMemory>,
    ) -> Result<Arc<Loaded>, LaunchError> {
        let key = (TypeId::of::<K>(), constants_key(kernel, policy));
        if let Some(loaded) = lock(&self.loaded).get(&key) {
            return Ok(Arc::clone(loaded));
        }
        let prepared = self.prepared.get::<K, P, _>(kernel, policy, args)?;
        // Before the compiler fails for a reason that is harder to understand.
        check_limits::<K>(&self.name, &self.limits, policy, &prepared.info)?;
        let options = &self.options;
        let load = || -> CudaResult<Loaded> {
            let compiled =
                compile_with(&self.compiler, &self.arch, &prepared.program, options.passes, &options.compile)?;
            let function = Module::load(self.device(), &compiled.cubin)?.function(&compiled.printed.entry)?;
            Ok(Loaded { info: prepared.info.clone(), kernel: compiled, function })
        };
        let loaded = Arc::new(load().map_err(|error| self.error(K::NAME, &error))?);
        Ok(Arc::clone(lock(&self.loaded).entry(key).or_insert(loaded)))
    }

    /// The scratch of level 1 for all teams. It must be held until the launch is queued: freeing it waits for the
    /// device, but another thread may ask for more and let go of it.
    fn reserve_team_scratch(
        &self,
        kernel: &str,
        teams: usize,
        bytes: usize,
    ) -> Result<Option<Arc<DeviceBuffer>>, LaunchError> {
        if bytes == 0 {
            return Ok(None);
        }
        let label = format!("team scratch of kernel `{kernel}`");
        let too_large = || MemoryError::TooLarge { label: label.clone(), extents: vec![teams, bytes] };
        let total = teams.checked_mul(bytes).ok_or_else(too_large)? as u64;
        let mut scratch = lock(&self.team_scratch);
        if let Some(buffer) = scratch.as_ref().filter(|buffer| buffer.len() >= total) {
            return Ok(Some(Arc::clone(buffer)));
        }
        // The old block first: both might not fit.
        *scratch = None;
        let buffer = DeviceBuffer::new(self.device(), total).map_err(|error| match error {
            CudaError::OutOfMemory { free, .. } => LaunchError::Memory(MemoryError::Exhausted {
                label: label.clone(),
                space: self.name.clone(),
                asked: total as usize,
                available: usize::try_from(free).ok(),
            }),
            error => self.error(kernel, &error),
        })?;
        Ok(Some(Arc::clone(scratch.insert(Arc::new(buffer)))))
    }

    /// Device time of what the closure launches, in milliseconds, with the closure's result.
    ///
    /// # Errors
    /// Those of the closure, and what failed on the device.
    pub fn time<T>(&self, run: impl FnOnce() -> Result<T, LaunchError>) -> Result<(T, f32), LaunchError> {
        let failed = |error: CudaError| self.error("timed launches", &error);
        let begin = Event::new(self.device()).map_err(failed)?;
        let end = Event::new(self.device()).map_err(failed)?;
        begin.record(&self.stream).map_err(failed)?;
        let value = run()?;
        end.record(&self.stream).map_err(failed)?;
        self.stream.synchronize().map_err(failed)?;
        Ok((value, end.milliseconds_since(&begin).map_err(failed)?))
    }
}

impl<P: RealElement> Space for CudaSpace<P> {
    type Memory = CudaMemory;

    fn name(&self) -> String {
        self.name.clone()
    }
    fn memory(&self) -> &CudaMemory {
        &self.memory
    }
    fn limits(&self) -> Limits {
        self.limits.clone()
    }
    fn launch_info<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, CudaMemory>,
    ) -> Result<LaunchInfo, LaunchError> {
        Ok(self.prepared.get::<K, P, _>(kernel, policy, args)?.info.clone())
    }
    fn launch<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, CudaMemory>,
    ) -> Result<(), LaunchError> {
        let loaded = self.load(kernel, policy, &args)?;
        let arguments = Arguments::collect::<K, _>(&args)?;
        arguments.check_aliasing(K::NAME)?;
        check_limits::<K>(&self.name, &self.limits, policy, &loaded.info)?;
        let printed = &loaded.kernel.printed;
        let scratch = self.reserve_team_scratch(K::NAME, policy.league_size(), printed.scratch_bytes[1])?;
        let packed = printed.pack(&arguments, scratch.as_ref().map_or(0, |buffer| buffer.address()))?;
        if policy.league_size() == 0 || graph::is_rehearsal() {
            return Ok(());
        }
        let mut params = [Param::from(0u64); MAX_PARAMETERS];
        let values = packed.as_slice();
        for (param, value) in params.iter_mut().zip(values) {
            *param = if value.bytes == 4 { Param::from(value.bits as u32) } else { Param::from(value.bits) };
        }
        // Both numbers were checked against the limits.
        let (grid, block) = (policy.league_size() as u32, policy.work_items() as u32);
        let shared = printed.scratch_bytes[0] as u32;
        // SAFETY: the values are packed by the printed signature; views are borrowed from buffers of this memory, which
        // are freed in stream order or after the device has finished. What the kernel does inside them is the kernel's
        // responsibility; the checked target proves it.
        unsafe { loaded.function.launch(&self.stream, [grid, 1, 1], block, shared, &params[..values.len()]) }
            .map_err(|error| self.error(K::NAME, &error))
    }
    fn fence(&self) -> Result<(), LaunchError> {
        self.stream.synchronize().map_err(|error| self.error("earlier launches", &error))
    }
}
