//! Printed HIP text, run on the host: a test of the text itself on a machine without an AMD device.
//!
//! The text that hiprtc would compile is compiled as C++ by the host's compiler, with a header of our own (`words.hpp`) that
//! says what threads, barriers, shared memory, atomics and lanes are: work items are fibers that take turns, a barrier
//! is a turn that is passed on until all are there. Scratch holds a pattern before each team, so that what was not
//! written is seen.
//!
//! ```
//! use farro_emulated::EmulatedSpace;
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
//! let space: EmulatedSpace = match EmulatedSpace::new() {
//!     Ok(space) => space,
//!     Err(reason) => return Ok(println!("skipped: {reason}")),
//! };
//! let mut y = View::<f64, 1, LayoutRight, _>::new(space.memory(), "y", [100])?;
//! space.parallel_for(RangePolicy::new(100), &Fill, FillArgs { value: 3.0, y: y.write() })?;
//! let mut host = y.mirror()?;
//! deep_copy(&mut host, &y)?;
//! assert!(host.as_slice().iter().all(|value| *value == 3.0));
//! # Ok::<(), LaunchError>(())
//! ```
#![deny(missing_docs)]

mod compiler;
mod space;

pub use compiler::{EmulatedError, HostCompiler, HostKernel};
pub use space::{EmulatedBuffer, EmulatedFunction, EmulatedMemory, EmulatedRuntime, EmulatedSpace, HostBlock};
