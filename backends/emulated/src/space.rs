//! The host as if it were a device.

use crate::compiler::{EmulatedError, HostCompiler, HostKernel, Library};
use farro_backends::device::{DeviceBlock, DeviceCompiler, DeviceMemory, DeviceRuntime, DeviceSpace, Launch};
use farro_backends::print::Passes;
use farro_portability::{Limits, RealElement};
use std::cell::UnsafeCell;
use std::fmt;
use std::sync::Arc;

/// The memory of the emulated device. Clones are the same memory.
pub type EmulatedMemory = DeviceMemory<EmulatedRuntime>;

/// A block of memory that kernels write to behind the compiler's back.
pub struct HostBlock {
    words: Box<[UnsafeCell<u64>]>,
    len: u64,
}
// SAFETY: launches and copies are done by the time their calls return, and whoever writes holds a view mutably.
unsafe impl Send for HostBlock {}
// SAFETY: as above.
unsafe impl Sync for HostBlock {}

impl fmt::Debug for HostBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBlock({} bytes)", self.len)
    }
}

impl HostBlock {
    fn at(&self, offset: u64, bytes: usize) -> Result<*mut u8, EmulatedError> {
        match offset.checked_add(bytes as u64) {
            // SAFETY: the offset lies in the block.
            Some(end) if end <= self.len => Ok(unsafe { self.start().add(offset as usize) }),
            _ => Err(EmulatedError::OutOfRange { offset, bytes: bytes as u64, len: self.len }),
        }
    }
    fn start(&self) -> *mut u8 {
        self.words.as_ptr().cast::<u8>().cast_mut()
    }
}

/// The emulated device.
#[derive(Debug)]
pub struct EmulatedRuntime {
    compiler: HostCompiler,
}

impl DeviceRuntime for EmulatedRuntime {
    type Compiler = HostCompiler;
    type Block = HostBlock;
    type Function = Arc<EmulatedFunction>;

    fn compiler(&self) -> &HostCompiler {
        &self.compiler
    }
    fn name(&self) -> String {
        self.compiler.name()
    }
    fn limits(&self) -> Limits {
        self.compiler.limits()
    }
    fn allocate(&self, bytes: u64) -> Result<HostBlock, EmulatedError> {
        let words = usize::try_from(bytes.div_ceil(8)).map_err(|_| EmulatedError::OutOfMemory { asked: bytes })?;
        let mut list = Vec::new();
        list.try_reserve_exact(words).map_err(|_| EmulatedError::OutOfMemory { asked: bytes })?;
        list.resize_with(words, || UnsafeCell::new(0));
        Ok(HostBlock { words: list.into(), len: bytes })
    }
    fn exhausted(error: &EmulatedError) -> Option<u64> {
        matches!(error, EmulatedError::OutOfMemory { .. }).then_some(0)
    }
    fn address(block: &HostBlock) -> u64 {
        if block.len == 0 { 0 } else { block.start().expose_provenance() as u64 }
    }
    fn len(block: &HostBlock) -> u64 {
        block.len
    }
    fn zero(&self, block: &HostBlock) -> Result<(), EmulatedError> {
        // SAFETY: the block has that many bytes, and nothing runs.
        unsafe { std::ptr::write_bytes(block.start(), 0, block.len as usize) };
        Ok(())
    }
    fn read(&self, block: &HostBlock, offset: u64, to: &mut [u8]) -> Result<(), EmulatedError> {
        let from = block.at(offset, to.len())?;
        // SAFETY: both have that many bytes, and nothing runs.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
        Ok(())
    }
    fn write(&self, block: &HostBlock, offset: u64, from: &[u8]) -> Result<(), EmulatedError> {
        let to = block.at(offset, from.len())?;
        // SAFETY: both have that many bytes, and nothing runs.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        Ok(())
    }
    fn load(&self, kernel: &HostKernel) -> Result<Arc<EmulatedFunction>, EmulatedError> {
        Ok(Arc::new(EmulatedFunction(Arc::clone(&kernel.library))))
    }
    unsafe fn launch(&self, function: &Arc<EmulatedFunction>, launch: Launch<'_>) -> Result<(), EmulatedError> {
        let values: Vec<u64> = launch.values.iter().map(|value| value.bits).collect();
        // SAFETY: passed on from this function's contract.
        unsafe { function.0.run(&values, launch.teams as i32, launch.work_items as i32) }
    }
    fn synchronize(&self) -> Result<(), EmulatedError> {
        Ok(())
    }
}

/// A kernel of the emulated device.
#[derive(Debug)]
pub struct EmulatedFunction(Arc<Library>);

/// Printed HIP text on the host as an execution space, computing in precision `P`.
pub struct EmulatedSpace<P: RealElement = f64> {
    shared: DeviceSpace<EmulatedRuntime, P>,
}

farro_backends::shared_space!(EmulatedSpace, EmulatedMemory);

/// A block of the emulated device's memory.
pub type EmulatedBuffer = DeviceBlock<EmulatedRuntime>;

impl<P: RealElement> EmulatedSpace<P> {
    /// The space.
    ///
    /// # Errors
    /// Where there is no C++ compiler.
    pub fn new() -> Result<Self, EmulatedError> {
        let runtime = EmulatedRuntime { compiler: HostCompiler::new()? };
        Ok(EmulatedSpace { shared: DeviceSpace::new(Arc::new(runtime), Passes::default()) })
    }
}
