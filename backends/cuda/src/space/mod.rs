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

mod graph;
mod kernel;
mod memory;
mod occupancy;
mod offline;
mod report;
mod runtime;

pub use graph::CudaGraph;
pub use kernel::{ArchCompiler, CompiledKernel, compile_for, compile_with};
pub use memory::{CudaBuffer, CudaMemory};
pub use occupancy::{Occupancy, occupancy};
pub use offline::OfflineSpace;
pub use report::KernelReport;
pub use runtime::CudaRuntime;

use crate::cache::Cache;
use crate::compile::{Compiler, Options};
use crate::device::Device;
use crate::error::{CudaError, Result as CudaResult};
use crate::stream::{Event, Stream};
use farro_backends::device::{DeviceOptions, DeviceSpace};
use farro_portability::{LaunchError, RealElement};
use std::fmt;
use std::sync::Arc;

/// How a [`CudaSpace`] compiles and shares out ranges.
pub type SpaceOptions = DeviceOptions<Options>;

/// A CUDA device as an execution space, computing in precision `P`. Storage precision is that of the views.
pub struct CudaSpace<P: RealElement = f64> {
    shared: DeviceSpace<CudaRuntime, P>,
}

impl<P: RealElement> fmt::Debug for CudaSpace<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CudaSpace").field(&self.shared).finish()
    }
}

farro_backends::shared_space!(CudaSpace, CudaMemory);

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
        let runtime = CudaRuntime::new(stream, compiler, &options);
        Ok(CudaSpace { shared: DeviceSpace::new(Arc::new(runtime), options.passes) })
    }
    /// The stream on which work is queued.
    pub fn stream(&self) -> &Stream {
        &self.shared.runtime().stream
    }
    /// The device.
    pub fn device(&self) -> &Device {
        self.stream().device()
    }
    /// The compiler.
    pub fn compiler(&self) -> &Compiler {
        &self.shared.runtime().compiler.compiler
    }

    /// Device time of what the closure launches, in milliseconds, with the closure's result.
    ///
    /// # Errors
    /// Those of the closure, and what failed on the device.
    pub fn time<T>(&self, run: impl FnOnce() -> Result<T, LaunchError>) -> Result<(T, f32), LaunchError> {
        let failed = |error: CudaError| self.shared.error("timed launches", &error);
        let begin = Event::new(self.device()).map_err(failed)?;
        let end = Event::new(self.device()).map_err(failed)?;
        begin.record(self.stream()).map_err(failed)?;
        let value = run()?;
        end.record(self.stream()).map_err(failed)?;
        self.stream().synchronize().map_err(failed)?;
        Ok((value, end.milliseconds_since(&begin).map_err(failed)?))
    }
}
