//! Device memory as a memory space of views.

use crate::device::Device;
use crate::error::CudaError;
use crate::memory::DeviceBuffer;
use crate::stream::Stream;
use farro_portability::{MemoryError, MemorySpace};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Blocks up to this size are kept for the next view of their size: reductions need small ones again and again.
const LARGEST_KEPT: u64 = 4 << 20;
/// Blocks of one size that are kept.
const MOST_KEPT: usize = 16;

/// The memory of one device, used in the order of one stream. Clones are the same memory.
#[derive(Clone)]
pub struct CudaMemory {
    inner: Arc<Inner>,
}

struct Inner {
    stream: Stream,
    name: String,
    kept: Mutex<BTreeMap<u64, Vec<DeviceBuffer>>>,
}

impl fmt::Debug for CudaMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaMemory({})", self.inner.name)
    }
}

/// A block of device memory. When it is dropped, later views on the same stream may use it again.
pub struct CudaBuffer {
    block: Option<DeviceBuffer>,
    memory: Arc<Inner>,
}

impl fmt::Debug for CudaBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaBuffer({:?})", self.block)
    }
}

impl CudaBuffer {
    fn block(&self) -> Result<&DeviceBuffer, CudaError> {
        // Taken by `drop` alone.
        self.block.as_ref().ok_or_else(|| CudaError::NoDevice { reason: "the block was given back".into() })
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        let Some(block) = self.block.take() else { return };
        if block.is_empty() || block.len() > LARGEST_KEPT || block.len() != size_class(block.len()) {
            return;
        }
        let mut kept = self.memory.kept();
        let blocks = kept.entry(block.len()).or_default();
        if blocks.len() < MOST_KEPT {
            // Work that still uses the block comes earlier in the stream than any later use.
            blocks.push(block);
        }
    }
}

/// The size of the block for this many bytes.
fn size_class(bytes: u64) -> u64 {
    match bytes {
        0 => 0,
        1..=LARGEST_KEPT => bytes.next_power_of_two().max(256),
        _ => bytes,
    }
}

impl Inner {
    fn kept(&self) -> MutexGuard<'_, BTreeMap<u64, Vec<DeviceBuffer>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn device(&self) -> &Device {
        self.stream.device()
    }
    fn refusal(&self, error: &CudaError) -> MemoryError {
        MemoryError::Device { space: self.name.clone(), message: error.to_string() }
    }
    fn block(&self, bytes: u64) -> Result<DeviceBuffer, CudaError> {
        let size = size_class(bytes);
        if let Some(block) = self.kept().get_mut(&size).and_then(Vec::pop) {
            return Ok(block);
        }
        match DeviceBuffer::new(self.device(), size) {
            Err(CudaError::OutOfMemory { .. }) => {
                self.kept().clear();
                DeviceBuffer::new(self.device(), size)
            }
            other => other,
        }
    }
}

impl CudaMemory {
    pub(super) fn new(stream: Stream) -> Self {
        let properties = stream.device().properties();
        let name = format!("memory of {} (CUDA device {})", properties.name, properties.ordinal);
        CudaMemory { inner: Arc::new(Inner { stream, name, kept: Mutex::default() }) }
    }
    /// Gives blocks that are kept for later views back to the device.
    pub fn trim(&self) {
        self.inner.kept().clear();
    }
}

impl MemorySpace for CudaMemory {
    type Buffer = CudaBuffer;

    fn name(&self) -> String {
        self.inner.name.clone()
    }
    fn allocate(&self, label: &str, bytes: usize) -> Result<CudaBuffer, MemoryError> {
        let block = self.inner.block(bytes as u64).map_err(|error| match error {
            CudaError::OutOfMemory { free, .. } => MemoryError::Exhausted {
                label: label.into(),
                space: self.name(),
                asked: bytes,
                available: usize::try_from(free).ok(),
            },
            error => self.inner.refusal(&error),
        })?;
        block.zero(&self.inner.stream).map_err(|error| self.inner.refusal(&error))?;
        Ok(CudaBuffer { block: Some(block), memory: Arc::clone(&self.inner) })
    }
    fn pointer(&self, buffer: &CudaBuffer) -> *mut u8 {
        let address = buffer.block.as_ref().map_or(0, DeviceBuffer::address);
        std::ptr::without_provenance_mut(address as usize)
    }
    fn read(&self, buffer: &CudaBuffer, offset: usize, to: &mut [u8]) -> Result<(), MemoryError> {
        let copied = buffer.block().and_then(|block| block.copy_to_host(&self.inner.stream, offset as u64, to));
        copied.map_err(|error| self.inner.refusal(&error))
    }
    fn write(&self, buffer: &mut CudaBuffer, offset: usize, from: &[u8]) -> Result<(), MemoryError> {
        let copied = buffer.block().and_then(|block| block.copy_from_host(&self.inner.stream, offset as u64, from));
        copied.map_err(|error| self.inner.refusal(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_blocks_share_sizes_and_large_ones_are_exact() {
        assert_eq!(size_class(0), 0);
        assert_eq!(size_class(1), 256);
        assert_eq!(size_class(257), 512);
        assert_eq!(size_class(LARGEST_KEPT), LARGEST_KEPT);
        assert_eq!(size_class(LARGEST_KEPT + 8), LARGEST_KEPT + 8);
        assert_eq!(size_class(size_class(1000)), size_class(1000));
    }
}
