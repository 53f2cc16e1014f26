//! Device memory as plain bytes, and host memory that the device copies from at full speed.

use crate::device::Device;
use crate::error::{CudaError, Result};
use crate::stream::Stream;
use cudarc::driver::sys::{self, CUresult};
use std::ffi::c_void;

/// Values that are nothing but their bytes.
///
/// # Safety
/// Every bit pattern is a value, and there are no padding bytes.
pub unsafe trait Pod: Copy + Send + Sync + 'static {}

macro_rules! pod {
    ($($type:ty),*) => {$(
        // SAFETY: a number: every bit pattern is a value.
        unsafe impl Pod for $type {}
    )*};
}
pod!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize, f32, f64);
// SAFETY: an array has no padding between its elements.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}

/// Bytes of device memory, freed with the value.
///
/// Copies between host and device are finished when they return. All other operations are queued on the stream that
/// they name; two streams that use one buffer need an [`Event`](crate::Event) between them, as kernels do.
#[derive(Debug)]
pub struct DeviceBuffer {
    device: Device,
    pointer: sys::CUdeviceptr,
    len: u64,
}

impl DeviceBuffer {
    /// Bytes that are not initialised. No bytes at all are allowed.
    pub fn new(device: &Device, bytes: u64) -> Result<Self> {
        device.bind()?;
        let mut pointer = 0;
        if bytes > 0 {
            // SAFETY: the context is current; the call writes one pointer.
            let code = unsafe { sys::cuMemAlloc_v2(&mut pointer, bytes as usize) };
            if code == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                let (free, total) = device.memory()?;
                return Err(CudaError::OutOfMemory { asked: bytes, free, total });
            }
            device.check("cuMemAlloc", code)?;
        }
        Ok(DeviceBuffer { device: device.clone(), pointer, len: bytes })
    }

    /// Bytes that are zero once the stream gets there.
    pub fn zeroed(stream: &Stream, bytes: u64) -> Result<Self> {
        let buffer = Self::new(stream.device(), bytes)?;
        buffer.fill_bytes(stream, 0)?;
        Ok(buffer)
    }

    /// A copy of a slice.
    pub fn from_slice<T: Pod>(stream: &Stream, values: &[T]) -> Result<Self> {
        let buffer = Self::new(stream.device(), size_of_val(values) as u64)?;
        buffer.copy_from_host(stream, 0, values)?;
        Ok(buffer)
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address on the device; 0 when empty.
    pub fn address(&self) -> u64 {
        self.pointer
    }

    /// The device that holds it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Sets every byte.
    pub fn fill_bytes(&self, stream: &Stream, value: u8) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        self.device.bind()?;
        // SAFETY: the allocation is live and has as many bytes; freeing it waits for the device.
        let code = unsafe { sys::cuMemsetD8Async(self.pointer, value, self.len as usize, stream.raw()) };
        self.device.check("cuMemsetD8Async", code)
    }

    /// Sets every byte to zero.
    pub fn zero(&self, stream: &Stream) -> Result<()> {
        self.fill_bytes(stream, 0)
    }

    /// Copies a slice to the bytes that start at `offset`, after what was queued before; returns when it is done.
    pub fn copy_from_host<T: Pod>(&self, stream: &Stream, offset: u64, values: &[T]) -> Result<()> {
        // SAFETY: the slice outlives the copy, since the stream is waited for even when queueing fails.
        let queued = unsafe { self.copy_from_host_async(stream, offset, values) };
        queued.and(stream.synchronize())
    }

    /// Copies bytes that start at `offset` to a slice, after what was queued before; returns when it is done.
    pub fn copy_to_host<T: Pod>(&self, stream: &Stream, offset: u64, values: &mut [T]) -> Result<()> {
        // SAFETY: the slice outlives the copy, since the stream is waited for even when queueing fails.
        let queued = unsafe { self.copy_to_host_async(stream, offset, values) };
        queued.and(stream.synchronize())
    }

    /// The buffer's bytes as values; its length must be a multiple of theirs.
    pub fn to_vec<T: Pod>(&self, stream: &Stream) -> Result<Vec<T>> {
        let size = size_of::<T>().max(1) as u64;
        if !self.len.is_multiple_of(size) {
            let what = format!("reading values of {size} bytes");
            return Err(CudaError::OutOfRange {
                what,
                offset: 0,
                bytes: self.len.next_multiple_of(size),
                len: self.len,
            });
        }
        let count = (self.len / size) as usize;
        // SAFETY: zero bytes are a value of every `Pod`.
        let mut values = vec![unsafe { std::mem::zeroed::<T>() }; count];
        self.copy_to_host(stream, 0, &mut values)?;
        Ok(values)
    }

    /// Queues a copy from a slice; with a slice of a [`PinnedBuffer`] the host goes on meanwhile.
    ///
    /// # Safety
    /// The slice must stay alive and unchanged until the stream has been synchronized.
    pub unsafe fn copy_from_host_async<T: Pod>(&self, stream: &Stream, offset: u64, values: &[T]) -> Result<()> {
        let bytes = size_of_val(values) as u64;
        self.check_range("copy to the device", offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        self.device.bind()?;
        let (target, source) = (self.pointer + offset, values.as_ptr().cast::<c_void>());
        // SAFETY: both ranges have as many bytes (checked above), and the caller keeps the slice.
        let code = unsafe { sys::cuMemcpyHtoDAsync_v2(target, source, bytes as usize, stream.raw()) };
        self.device.check("cuMemcpyHtoDAsync", code)
    }

    /// Queues a copy to a slice; with a slice of a [`PinnedBuffer`] the host goes on meanwhile.
    ///
    /// # Safety
    /// The slice must stay alive, and must be neither read nor written, until the stream has been synchronized.
    pub unsafe fn copy_to_host_async<T: Pod>(&self, stream: &Stream, offset: u64, values: &mut [T]) -> Result<()> {
        let bytes = size_of_val(values) as u64;
        self.check_range("copy to the host", offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        self.device.bind()?;
        let (target, source) = (values.as_mut_ptr().cast::<c_void>(), self.pointer + offset);
        // SAFETY: both ranges have as many bytes (checked above), and the caller keeps the slice.
        let code = unsafe { sys::cuMemcpyDtoHAsync_v2(target, source, bytes as usize, stream.raw()) };
        self.device.check("cuMemcpyDtoHAsync", code)
    }

    /// Queues a copy of `bytes` bytes from another buffer.
    pub fn copy_from_device(
        &self,
        stream: &Stream,
        offset: u64,
        source: &DeviceBuffer,
        source_offset: u64,
        bytes: u64,
    ) -> Result<()> {
        self.check_range("copy between buffers, target", offset, bytes)?;
        source.check_range("copy between buffers, source", source_offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        self.device.bind()?;
        let (target, source) = (self.pointer + offset, source.pointer + source_offset);
        // SAFETY: both ranges lie inside live allocations (checked above); freeing one waits for the device.
        let code = unsafe { sys::cuMemcpyDtoDAsync_v2(target, source, bytes as usize, stream.raw()) };
        self.device.check("cuMemcpyDtoDAsync", code)
    }

    fn check_range(&self, what: &str, offset: u64, bytes: u64) -> Result<()> {
        if offset.checked_add(bytes).is_some_and(|end| end <= self.len) {
            return Ok(());
        }
        Err(CudaError::OutOfRange { what: what.to_string(), offset, bytes, len: self.len })
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        if self.pointer != 0 {
            self.device.bind_for_drop();
            // SAFETY: allocated by `new` and not used afterwards; an error can only come from a lost context.
            unsafe { sys::cuMemFree_v2(self.pointer) };
        }
    }
}

/// Host memory that stays in place, so that the device copies from and to it directly. It starts as zeros.
#[derive(Debug)]
pub struct PinnedBuffer {
    device: Device,
    pointer: *mut u8,
    len: usize,
}
// SAFETY: the memory belongs to this value alone, like that of a `Vec<u8>`.
unsafe impl Send for PinnedBuffer {}
// SAFETY: shared references only read.
unsafe impl Sync for PinnedBuffer {}

impl PinnedBuffer {
    /// Bytes that are zero.
    pub fn new(device: &Device, bytes: usize) -> Result<Self> {
        device.bind()?;
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the context is current; the call writes one pointer. A byte more, since none is refused.
        device.check("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&mut pointer, bytes.max(1), 0) })?;
        let pointer = pointer.cast::<u8>();
        // SAFETY: the allocation has at least this many bytes.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(PinnedBuffer { device: device.clone(), pointer, len: bytes })
    }

    /// As many whole values as fit.
    pub fn as_slice<T: Pod>(&self) -> &[T] {
        // SAFETY: initialised, aligned to a page, and long enough; every bit pattern is a value.
        unsafe { std::slice::from_raw_parts(self.pointer.cast(), self.count::<T>()) }
    }

    /// As many whole values as fit.
    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.cast(), self.count::<T>()) }
    }

    fn count<T>(&self) -> usize {
        self.len.checked_div(size_of::<T>()).unwrap_or(0)
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        self.device.bind_for_drop();
        // SAFETY: allocated by `new` and not used afterwards.
        unsafe { sys::cuMemFreeHost(self.pointer.cast()) };
    }
}
