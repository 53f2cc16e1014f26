//! Device memory as a memory space of views.

use super::{DeviceRuntime, ErrorOf, lock};
use farro_portability::{MemoryError, MemorySpace};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Blocks up to this size are kept for the next view of their size: reductions need small ones again and again.
const LARGEST_KEPT: u64 = 4 << 20;
/// Blocks of one size that are kept.
const MOST_KEPT: usize = 16;

/// The memory of one device, used in the order of one queue. Clones are the same memory.
pub struct DeviceMemory<R: DeviceRuntime> {
    inner: Arc<Inner<R>>,
}

struct Inner<R: DeviceRuntime> {
    runtime: Arc<R>,
    name: String,
    kept: Mutex<BTreeMap<u64, Vec<R::Block>>>,
}

impl<R: DeviceRuntime> Clone for DeviceMemory<R> {
    fn clone(&self) -> Self {
        DeviceMemory { inner: Arc::clone(&self.inner) }
    }
}

impl<R: DeviceRuntime> fmt::Debug for DeviceMemory<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceMemory({})", self.inner.name)
    }
}

/// A block of device memory. When it is dropped, later views on the same queue may use it again.
pub struct DeviceBlock<R: DeviceRuntime> {
    /// Taken by `drop` alone.
    block: Option<R::Block>,
    memory: Arc<Inner<R>>,
}

impl<R: DeviceRuntime> fmt::Debug for DeviceBlock<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBlock({:?})", self.block)
    }
}

impl<R: DeviceRuntime> Drop for DeviceBlock<R> {
    fn drop(&mut self) {
        let Some(block) = self.block.take() else { return };
        let len = R::len(&block);
        if len == 0 || len > LARGEST_KEPT || len != size_class(len) {
            return;
        }
        let mut kept = lock(&self.memory.kept);
        let blocks = kept.entry(len).or_default();
        if blocks.len() < MOST_KEPT {
            // Work that still uses the block comes earlier in the queue than any later use.
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

impl<R: DeviceRuntime> Inner<R> {
    fn refusal(&self, error: &ErrorOf<R>) -> MemoryError {
        MemoryError::Device { space: self.name.clone(), message: error.to_string() }
    }
    fn block(&self, bytes: u64) -> Result<R::Block, ErrorOf<R>> {
        let size = size_class(bytes);
        if let Some(block) = lock(&self.kept).get_mut(&size).and_then(Vec::pop) {
            return Ok(block);
        }
        match self.runtime.allocate(size) {
            Err(error) if R::exhausted(&error).is_some() => {
                lock(&self.kept).clear();
                self.runtime.allocate(size)
            }
            other => other,
        }
    }
}

impl<R: DeviceRuntime> DeviceMemory<R> {
    /// The memory of a run-time's device.
    pub fn new(runtime: Arc<R>) -> Self {
        let name = format!("memory of {}", runtime.name());
        DeviceMemory { inner: Arc::new(Inner { runtime, name, kept: Mutex::default() }) }
    }
    /// Gives blocks that are kept for later views back to the device.
    pub fn trim(&self) {
        lock(&self.inner.kept).clear();
    }
}

impl<R: DeviceRuntime> MemorySpace for DeviceMemory<R> {
    type Buffer = DeviceBlock<R>;

    fn name(&self) -> String {
        self.inner.name.clone()
    }
    fn allocate(&self, label: &str, bytes: usize) -> Result<DeviceBlock<R>, MemoryError> {
        let inner = &self.inner;
        let block = inner.block(bytes as u64).map_err(|error| match R::exhausted(&error) {
            Some(free) => MemoryError::Exhausted {
                label: label.into(),
                space: self.name(),
                asked: bytes,
                available: usize::try_from(free).ok(),
            },
            None => inner.refusal(&error),
        })?;
        inner.runtime.zero(&block).map_err(|error| inner.refusal(&error))?;
        Ok(DeviceBlock { block: Some(block), memory: Arc::clone(inner) })
    }
    fn pointer(&self, buffer: &DeviceBlock<R>) -> *mut u8 {
        std::ptr::without_provenance_mut(buffer.block.as_ref().map_or(0, R::address) as usize)
    }
    fn read(&self, buffer: &DeviceBlock<R>, offset: usize, to: &mut [u8]) -> Result<(), MemoryError> {
        let Some(block) = &buffer.block else { return Ok(()) };
        self.inner.runtime.read(block, offset as u64, to).map_err(|error| self.inner.refusal(&error))
    }
    fn write(&self, buffer: &mut DeviceBlock<R>, offset: usize, from: &[u8]) -> Result<(), MemoryError> {
        let Some(block) = &buffer.block else { return Ok(()) };
        self.inner.runtime.write(block, offset as u64, from).map_err(|error| self.inner.refusal(&error))
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
