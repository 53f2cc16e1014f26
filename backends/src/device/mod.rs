//! What all device backends share: the way from a kernel to a launch.
//!
//! A backend is a table of words in [`print`](crate::print) and an implementation of two traits. [`DeviceCompiler`] turns
//! a traced program into a binary and needs no device; [`DeviceRuntime`] has memory, loads binaries and launches them.
//! [`DeviceSpace`] makes an execution space of a run-time: it traces, prints, compiles once, checks limits and aliasing,
//! packs arguments and reserves team scratch. [`CompileSpace`] makes one of a compiler alone, which runs nothing.
//! [`DeviceMemory`] is the memory of a run-time with small blocks kept for later. [`cache`] keeps binaries.
//!
//! See `docs/backends.md` for the order in which a new backend is brought up.

pub mod cache;
mod compile_space;
pub mod libraries;
mod memory;
mod space;

pub use compile_space::CompileSpace;
pub use memory::{DeviceBlock, DeviceMemory};
pub use space::{DeviceOptions, DeviceSpace, LoadedKernel};

use crate::print::{Passes, Printed, RawValue};
use crate::trace::Program;
use farro_portability::{LaunchError, Limits};
use std::any::TypeId;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A kernel in a backend's binary form.
pub trait DeviceKernel: Debug + Send + Sync + 'static {
    /// Its text, parameters and scratch.
    fn printed(&self) -> &Printed;
}

/// Turns programs into binaries for one architecture. No device is needed.
pub trait DeviceCompiler: Send + Sync + 'static {
    /// A compiled kernel.
    type Kernel: DeviceKernel;
    /// What can go wrong.
    type Error: std::error::Error + Clone + Send + Sync + 'static;

    /// The name of a space that only compiles, as in `CUDA compiler for sm_90`.
    fn name(&self) -> String;
    /// What devices of the architecture can run.
    fn limits(&self) -> Limits;
    /// Prints and compiles a program after the passes asked for.
    ///
    /// # Errors
    /// When the compiler is missing or refuses the text.
    fn compile(&self, program: &Program, passes: Passes) -> Result<Self::Kernel, Self::Error>;
    /// An error in the words of a launch.
    fn launch_error(space: &str, kernel: &str, error: &Self::Error) -> LaunchError {
        LaunchError::Device { kernel: kernel.into(), space: space.into(), message: error.to_string() }
    }
}

/// What a launch consists of.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Number of teams, not zero.
    pub teams: usize,
    /// Work items of a team.
    pub work_items: usize,
    /// Bytes of scratch of level 0.
    pub scratch_bytes: usize,
    /// The parameters of the printed function, in order.
    pub values: &'a [RawValue],
}

/// The error of a run-time's compiler.
pub type ErrorOf<R> = <<R as DeviceRuntime>::Compiler as DeviceCompiler>::Error;
/// The kernel of a run-time's compiler.
pub type KernelOf<R> = <<R as DeviceRuntime>::Compiler as DeviceCompiler>::Kernel;

/// One queue of one device. Everything is used in the order of the queue.
pub trait DeviceRuntime: Send + Sync + 'static {
    /// Its compiler.
    type Compiler: DeviceCompiler;
    /// A block of device memory, freed when dropped.
    type Block: Debug + Send + Sync;
    /// A kernel on the device.
    type Function: Debug + Send + Sync;

    /// The compiler for this device.
    fn compiler(&self) -> &Self::Compiler;
    /// The device's name, without precision.
    fn name(&self) -> String;
    /// What the device can run.
    fn limits(&self) -> Limits;

    /// Memory that is not initialised.
    ///
    /// # Errors
    /// When there is too little.
    fn allocate(&self, bytes: u64) -> Result<Self::Block, ErrorOf<Self>>;
    /// Free bytes, if the error says that memory is exhausted.
    fn exhausted(error: &ErrorOf<Self>) -> Option<u64>;
    /// The address by which kernels reach the block.
    fn address(block: &Self::Block) -> u64;
    /// Bytes of the block.
    fn len(block: &Self::Block) -> u64;
    /// Sets all bytes to zero, in order of the queue.
    ///
    /// # Errors
    /// When the device fails.
    fn zero(&self, block: &Self::Block) -> Result<(), ErrorOf<Self>>;
    /// Copies to the host and waits.
    ///
    /// # Errors
    /// When the device fails or the range is outside the block.
    fn read(&self, block: &Self::Block, offset: u64, to: &mut [u8]) -> Result<(), ErrorOf<Self>>;
    /// Copies from the host and waits.
    ///
    /// # Errors
    /// When the device fails or the range is outside the block.
    fn write(&self, block: &Self::Block, offset: u64, from: &[u8]) -> Result<(), ErrorOf<Self>>;

    /// Brings a binary to the device.
    ///
    /// # Errors
    /// When the device refuses it.
    fn load(&self, kernel: &KernelOf<Self>) -> Result<Self::Function, ErrorOf<Self>>;
    /// Queues a launch.
    ///
    /// # Safety
    /// The values are those of the function's signature, and every address among them is that of a live block of this
    /// device, large enough for what the kernel does with it.
    ///
    /// # Errors
    /// When the device refuses the launch.
    unsafe fn launch(&self, function: &Self::Function, launch: Launch<'_>) -> Result<(), ErrorOf<Self>>;
    /// Waits for everything that was queued.
    ///
    /// # Errors
    /// When a kernel failed.
    fn synchronize(&self) -> Result<(), ErrorOf<Self>>;
}

/// Implements [`Space`](farro_portability::Space) for a type with a field `shared` that is a space.
#[macro_export]
macro_rules! shared_space {
    ($space:ident, $memory:ty) => {
        impl<P: ::farro_portability::RealElement> ::farro_portability::Space for $space<P> {
            type Memory = $memory;

            fn name(&self) -> String {
                ::farro_portability::Space::name(&self.shared)
            }
            fn memory(&self) -> &$memory {
                ::farro_portability::Space::memory(&self.shared)
            }
            fn limits(&self) -> ::farro_portability::Limits {
                ::farro_portability::Space::limits(&self.shared)
            }
            fn launch_info<K: ::farro_portability::Kernel>(
                &self,
                kernel: &K,
                policy: &::farro_portability::TeamPolicy,
                args: &::farro_portability::ArgsOf<'_, K, $memory>,
            ) -> Result<::farro_portability::LaunchInfo, ::farro_portability::LaunchError> {
                ::farro_portability::Space::launch_info(&self.shared, kernel, policy, args)
            }
            fn launch<K: ::farro_portability::Kernel>(
                &self,
                kernel: &K,
                policy: &::farro_portability::TeamPolicy,
                args: ::farro_portability::ArgsOf<'_, K, $memory>,
            ) -> Result<(), ::farro_portability::LaunchError> {
                ::farro_portability::Space::launch(&self.shared, kernel, policy, args)
            }
            fn fence(&self) -> Result<(), ::farro_portability::LaunchError> {
                ::farro_portability::Space::fence(&self.shared)
            }
        }
    };
}

/// Kernels by type and constants.
pub(crate) type ByKey<T> = Mutex<HashMap<(TypeId, u64), Arc<T>>>;

/// A panic elsewhere leaves every value here whole, so poisoning carries no news.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
