//! Device memory as a memory space of views.

use super::runtime::CudaRuntime;
use farro_backends::device::{DeviceBlock, DeviceMemory};

/// The memory of one device, used in the order of one stream. Clones are the same memory.
pub type CudaMemory = DeviceMemory<CudaRuntime>;
/// A block of device memory. When it is dropped, later views on the same stream may use it again.
pub type CudaBuffer = DeviceBlock<CudaRuntime>;
