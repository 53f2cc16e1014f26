//! The run-time of farro's CUDA target: it takes CUDA C++ as text and runs it.
//!
//! Nothing is linked and nothing is assumed. The driver and NVRTC are looked for when they are first needed (see
//! [`library`]); on a machine without them everything here returns an error that says what was looked for and where,
//! and nothing panics.
//!
//! [`CudaSpace`] is the execution space: it traces a kernel, prints it, and sends the text through the steps below, which
//! know nothing of kernels and can be used alone.
//!
//! The way from text to result, each step a module of its own:
//!
//! | step | |
//! |---|---|
//! | [`library`] | finds and loads the driver and NVRTC |
//! | [`Compiler`] | text → CUBIN for one architecture, with registers and spills; no device needed |
//! | [`cache`] | keeps binaries in memory and on disk; knows nothing of CUDA |
//! | [`Device`], [`Properties`] | which devices there are and what they allow |
//! | [`DeviceBuffer`], [`PinnedBuffer`] | memory |
//! | [`Stream`], [`Event`], [`Graph`] | queues, timing, replay |
//! | [`Module`], [`Function`], [`Param`] | kernels, their limits, launches |
//! | [`CudaSpace`], [`CudaMemory`] | all of it as an execution space of farro |
//! | [`disassemble()`] | a CUBIN's instructions, through NVIDIA's own programs |
//! | [`OfflineSpace`], [`compile_for`] | kernels compiled for a named architecture, with no device |
//! | [`CudaError`] | everything that can go wrong |
//!
//! # Example
//!
//! ```
//! use farro_cuda::{Compiler, CudaError, Device, DeviceBuffer, Module, Options, Param, Stream};
//! use farro_cuda::cache::{Cache, Location};
//!
//! const TEXT: &str = r#"
//! extern "C" __global__ void axpy(double a, const double* x, double* y, long long n) {
//!     long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
//!     if (i < n) y[i] += a * x[i];
//! }"#;
//!
//! fn axpy(a: f64, x: &[f64], y: &mut [f64]) -> Result<(), CudaError> {
//!     let device = Device::open(0)?;
//!     let stream = Stream::new(&device)?;
//!     let compiler = Compiler::new(Cache::open(Location::Default))?;
//!     let compiled = compiler.compile("axpy", TEXT, &device.arch(), &Options::default())?;
//!     let kernel = Module::load(&device, &compiled.cubin)?.function("axpy")?;
//!
//!     let (dx, dy) = (DeviceBuffer::from_slice(&stream, x)?, DeviceBuffer::from_slice(&stream, y)?);
//!     let params = [Param::from(a), Param::from(&dx), Param::from(&dy), Param::from(x.len() as i64)];
//!     let blocks = x.len().div_ceil(256) as u32;
//!     // SAFETY: the parameters are those of `axpy`, and both buffers outlive the copy below, which waits.
//!     unsafe { kernel.launch(&stream, [blocks, 1, 1], 256, 0, &params)? };
//!     dy.copy_to_host(&stream, 0, y)
//! }
//!
//! let (x, mut y) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
//! match axpy(2.0, &x, &mut y) {
//!     Ok(()) => assert_eq!(y, [12.0, 24.0, 36.0]),
//!     Err(error @ (CudaError::NoLibrary { .. } | CudaError::NoDevice { .. })) => println!("skipped: {error}"),
//!     Err(error) => panic!("{error}"),
//! }
//! ```
//!
//! # Faults
//!
//! A kernel that breaks off takes the device's context with it. The first call that learns of it returns
//! [`CudaError::KernelFault`] with the kernel's name; every later call returns [`CudaError::ContextLost`] with the
//! first fault's text. Dropping buffers, streams and modules stays quiet throughout.

pub mod library;

mod compile;
mod device;
mod disassemble;
mod error;
mod fault;
mod launch;
mod memory;
mod module;
mod resources;
mod space;
mod stream;

pub use farro_backends::device::cache;

pub use compile::{Compiled, Compiler, Options};
pub use device::{Device, Properties};
pub use disassemble::disassemble;
pub use error::{CudaError, Result};
pub use launch::{Function, FunctionAttributes, Param};
pub use memory::{DeviceBuffer, PinnedBuffer, Pod};
pub use module::Module;
pub use resources::Resources;
pub use space::{
    ArchCompiler, CompiledKernel, CudaBuffer, CudaGraph, CudaMemory, CudaRuntime, CudaSpace, KernelReport, Occupancy,
    OfflineSpace, SpaceOptions, compile_for, compile_with, occupancy,
};
pub use stream::{Event, Graph, Stream};
