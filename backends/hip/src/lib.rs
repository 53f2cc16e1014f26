//! The HIP target of farro: kernels for AMD devices, compiled with or without one.
//!
//! Nothing is linked and nothing is assumed: the run-time of ROCm 5 to 7 is loaded when it is needed (see [`library`]).
//! Without one everything here is an error that says what was looked for and where.
//!
//! Texts are compiled by clang, or by hiprtc in a process of its own. What a kernel uses is read from its code object
//! ([`Resources`]), and from that follows its occupancy ([`Architecture`]).
//!
//! ```
//! use farro_backends::device::cache::{Cache, Location};
//! use farro_hip::{Compiler, OfflineSpace, Options};
//! use farro_portability::prelude::*;
//!
//! kernel_args! { struct FillArgs { y: View<f64, 1, LayoutRight, ReadWrite> } }
//! #[derive(Clone, Hash)]
//! struct Fill;
//! impl RangeKernel for Fill {
//!     type Args = FillArgs<Declared>;
//!     const NAME: &'static str = "fill";
//!     fn run<T: Target>(&self, t: T, i: T::Int, args: &FillArgs<T>) {
//!         args.y.set([i], t.real(1.0));
//!     }
//! }
//!
//! let compiler = match Compiler::new(Cache::open(Location::MemoryOnly)) {
//!     Ok(compiler) => compiler,
//!     Err(reason) => return Ok(println!("skipped: {reason}")),
//! };
//! let space: OfflineSpace = OfflineSpace::new(compiler, "gfx90a", Options::default());
//! let mut y = View::<f64, 1>::new(&HostMemory, "y", [1000])?;
//! space.parallel_for(RangePolicy::new(1000), &Fill, FillArgs { y: y.write() })?;
//! assert!(space.kernels()[0].resources.vgprs > 0);
//! # Ok::<(), LaunchError>(())
//! ```
#![deny(missing_docs)]

pub mod library;

mod arch;
mod compile;
mod device;
mod error;
mod hiprtc;
mod kernel;
mod resources;
mod space;

pub use arch::{ARCHITECTURES, Architecture, F64Atomics, Occupancy};
pub use compile::{BoundsMeaning, Compiled, Compiler, Options};
pub use device::{Block, DeviceProperties, Function, devices};
pub use error::{HipError, Result};
pub use hiprtc::run_child as run_hiprtc;
pub use kernel::{ArchCompiler, CompiledKernel, OfflineSpace, compile_for, compile_with};
pub use resources::Resources;
pub use space::{HipBuffer, HipMemory, HipRuntime, HipSpace, KernelReport, SpaceOptions};
