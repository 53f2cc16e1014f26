//! Memory spaces: where views live.

use std::alloc::{self, Layout as AllocLayout};
use std::fmt::Debug;
use std::ptr::NonNull;

/// What can go wrong with memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The space has not that much memory left.
    #[error("view `{label}` needs {asked} bytes, which {space} cannot provide{}; use a smaller problem or more subdomains on more devices",
        .available.map(|a| format!(" ({a} bytes are free)")).unwrap_or_default())]
    Exhausted {
        /// The view.
        label: String,
        /// The memory space.
        space: String,
        /// Bytes that were asked for.
        asked: usize,
        /// Bytes that are free, where the space can tell.
        available: Option<usize>,
    },
    /// The size of a view does not fit the address space.
    #[error("view `{label}` with extents {extents:?} has more elements than the address space holds")]
    TooLarge {
        /// The view.
        label: String,
        /// Its extents.
        extents: Vec<usize>,
    },
    /// Source and destination of a copy differ in shape.
    #[error("deep_copy from `{from}` {from_extents:?} to `{to}` {to_extents:?}: the extents must agree")]
    ExtentMismatch {
        /// The source.
        from: String,
        /// Its extents.
        from_extents: Vec<usize>,
        /// The destination.
        to: String,
        /// Its extents.
        to_extents: Vec<usize>,
    },
    /// The device refused a copy or an allocation.
    #[error("{space}: {message}")]
    Device {
        /// The memory space.
        space: String,
        /// What the device said.
        message: String,
    },
}

/// A place where views live: host memory, or the memory of one device.
pub trait MemorySpace: Clone + Debug + Send + Sync + 'static {
    /// An owned, uninitialised or zeroed block of bytes, freed when dropped.
    type Buffer: Send + Sync;

    /// The name, for messages.
    fn name(&self) -> String;
    /// Allocates `bytes` zero bytes, aligned to 64 bytes at least.
    ///
    /// # Errors
    /// When the space has not enough memory.
    fn allocate(&self, label: &str, bytes: usize) -> Result<Self::Buffer, MemoryError>;
    /// The address by which kernels of this space reach the block.
    fn pointer(&self, buffer: &Self::Buffer) -> *mut u8;
    /// Copies bytes at `offset` to the host, after all work that was launched before.
    ///
    /// # Errors
    /// When the device fails.
    fn read(&self, buffer: &Self::Buffer, offset: usize, to: &mut [u8]) -> Result<(), MemoryError>;
    /// Copies bytes from the host to `offset`.
    ///
    /// # Errors
    /// When the device fails.
    fn write(&self, buffer: &mut Self::Buffer, offset: usize, from: &[u8]) -> Result<(), MemoryError>;
}

/// The memory of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostMemory;

/// A block of host memory, aligned to 64 bytes.
#[derive(Debug)]
pub struct HostBuffer {
    pointer: NonNull<u8>,
    layout: AllocLayout,
}

// SAFETY: the block is owned and has no thread affinity; shared references allow reads only, and kernels that write
// hold an exclusive borrow of the view.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// Bytes of the block.
    pub fn len(&self) -> usize {
        self.layout.size()
    }
    /// Whether the block has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the block is owned, initialised and `len` bytes long.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len()) }
    }
    /// The bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len()) }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if !self.is_empty() {
            // SAFETY: allocated by `HostMemory::allocate` with this layout.
            unsafe { alloc::dealloc(self.pointer.as_ptr(), self.layout) }
        }
    }
}

impl MemorySpace for HostMemory {
    type Buffer = HostBuffer;

    fn name(&self) -> String {
        "host memory".into()
    }
    fn allocate(&self, label: &str, bytes: usize) -> Result<HostBuffer, MemoryError> {
        let exhausted =
            || MemoryError::Exhausted { label: label.into(), space: self.name(), asked: bytes, available: None };
        let layout = AllocLayout::from_size_align(bytes, 64).map_err(|_| exhausted())?;
        if bytes == 0 {
            return Ok(HostBuffer { pointer: NonNull::<u64>::dangling().cast(), layout });
        }
        // SAFETY: the layout has a size greater than zero.
        let pointer = NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).ok_or_else(exhausted)?;
        Ok(HostBuffer { pointer, layout })
    }
    fn pointer(&self, buffer: &HostBuffer) -> *mut u8 {
        buffer.pointer.as_ptr()
    }
    fn read(&self, buffer: &HostBuffer, offset: usize, to: &mut [u8]) -> Result<(), MemoryError> {
        to.copy_from_slice(&buffer.bytes()[offset..offset + to.len()]);
        Ok(())
    }
    fn write(&self, buffer: &mut HostBuffer, offset: usize, from: &[u8]) -> Result<(), MemoryError> {
        buffer.bytes_mut()[offset..offset + from.len()].copy_from_slice(from);
        Ok(())
    }
}
