//! The SYCL target of farro: kernels as OpenCL C, on any device that the SYCL run-time or OpenCL has.
//!
//! Nothing is linked and nothing is assumed: without a run-time everything here is an error that says what was looked for
//! and what to install (see [`library`]). [`SyclSpace::new`] goes through SYCL, with device memory as USM pointers;
//! [`SyclSpace::opencl`] through plain OpenCL, for devices that SYCL does not see (PoCL, oclgrind).
//!
//! The lanes of a thread are a sub-group where the device has sub-groups of that size; elsewhere they exchange values
//! through local memory. Sums of floating-point numbers are the device's own where it has `cl_ext_float_atomics`, else a
//! loop that compares bits. SYCL's C interface takes no binaries, so kernels are compiled once a process there; plain
//! OpenCL keeps them in the [cache](farro_backends::device::cache).
//!
//! ```
//! use farro_portability::prelude::*;
//! use farro_sycl::SyclSpace;
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
//! let space: SyclSpace = match SyclSpace::new(0) {
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
#![deny(missing_docs)]

pub mod library;

mod compiler;
mod device;
mod error;
mod opencl;
mod opencl_info;
mod queue;
mod space;
mod stack;
mod sycl;

pub use compiler::{CompileOptions, CompiledKernel, QueueCompiler};
pub use device::{Properties, Route, devices};
pub use error::{Result, SyclError};
pub use queue::{Block, Kernel, Resources};
pub use space::{KernelReport, SpaceOptions, SyclBuffer, SyclMemory, SyclRuntime, SyclSpace, compile_on};
