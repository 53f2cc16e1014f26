//! Kernels: their limits, and launching them.

use crate::device::Device;
use crate::error::{CudaError, Result};
use crate::memory::DeviceBuffer;
use crate::module::ModuleInner;
use crate::stream::Stream;
use cudarc::driver::sys::{self, CUfunction_attribute as Attribute, CUresult};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One parameter of a kernel: 1, 2, 4 or 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    bits: u64,
    size: u8,
}

macro_rules! param {
    ($($type:ty),*) => {$(
        impl From<$type> for Param {
            #[inline]
            fn from(value: $type) -> Self {
                let mut bytes = [0; 8];
                bytes[..size_of::<$type>()].copy_from_slice(&value.to_ne_bytes());
                Param { bits: u64::from_ne_bytes(bytes), size: size_of::<$type>() as u8 }
            }
        }
    )*};
}
param!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl From<&DeviceBuffer> for Param {
    /// The buffer's address.
    #[inline]
    fn from(buffer: &DeviceBuffer) -> Self {
        Param::pointer(buffer.address())
    }
}

impl Param {
    /// An address on the device.
    #[inline]
    pub fn pointer(address: u64) -> Self {
        Param::from(address)
    }

    /// Bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.size.into()
    }
}

/// What the driver says about a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionAttributes {
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of local memory per thread.
    pub local_bytes: u32,
    /// Bytes of shared memory whose size is fixed in the text.
    pub static_shared_bytes: u32,
    /// The largest block that this kernel can be launched with: registers and launch bounds counted.
    pub max_threads_per_block: u32,
    /// The architecture that the binary is for: 10·major + minor.
    pub binary_version: u32,
}

/// A kernel that can be launched. Clones share it, and keep its module loaded.
#[derive(Debug, Clone)]
pub struct Function {
    inner: Arc<FunctionInner>,
}

#[derive(Debug)]
pub(crate) struct FunctionInner {
    pub(crate) name: String,
    raw: sys::CUfunction,
    module: Arc<ModuleInner>,
    attributes: FunctionAttributes,
    /// Bytes of each parameter; `None` where the driver does not tell.
    parameters: Option<Vec<usize>>,
    /// Dynamic shared memory that needs no asking: raised by launches that need more.
    dynamic_shared: AtomicU32,
}
// SAFETY: the driver's functions may be called with one function from any thread.
unsafe impl Send for FunctionInner {}
// SAFETY: as above; the handle itself is never written.
unsafe impl Sync for FunctionInner {}

/// Parameters up to this many take no allocation.
const PARAMETERS_ON_STACK: usize = 64;

impl Function {
    pub(crate) fn new(module: Arc<ModuleInner>, raw: sys::CUfunction, name: &str) -> Result<Self> {
        let device = &module.device;
        let get = |attribute: Attribute| -> Result<u32> {
            let mut value: c_int = 0;
            // SAFETY: the function is live; the call writes one integer.
            let code = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, raw) };
            device.check("cuFuncGetAttribute", code)?;
            Ok(value.max(0) as u32)
        };
        let attributes = FunctionAttributes {
            registers: get(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local_bytes: get(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            static_shared_bytes: get(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_threads_per_block: get(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            binary_version: get(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
        };
        let unasked = device.properties().shared_bytes_per_block.saturating_sub(attributes.static_shared_bytes);
        let dynamic_shared = get(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?.min(unasked);
        let parameters = device.driver().parameter_info.map(|info| {
            let size_of_parameter = |index| {
                let (mut offset, mut size) = (0, 0);
                // SAFETY: the function is live; the call writes two sizes, or fails past the last parameter.
                let code = unsafe { info(raw, index, &mut offset, &mut size) };
                (code == CUresult::CUDA_SUCCESS).then_some(size)
            };
            (0..).map_while(size_of_parameter).collect()
        });
        let dynamic_shared = AtomicU32::new(dynamic_shared);
        let name = name.to_string();
        Ok(Function { inner: Arc::new(FunctionInner { name, raw, module, attributes, parameters, dynamic_shared }) })
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Device {
        &self.inner.module.device
    }

    /// What the driver says about it.
    pub fn attributes(&self) -> FunctionAttributes {
        self.inner.attributes
    }

    /// Bytes of each parameter in the kernel's signature; `None` where the driver does not tell (before CUDA 12.4).
    pub fn parameter_sizes(&self) -> Option<&[usize]> {
        self.inner.parameters.as_deref()
    }

    /// Queues a launch. Limits are checked first: a launch that the device cannot do is a typed error, and nothing
    /// was queued. A grid with no blocks is a no-op.
    ///
    /// # Safety
    /// The parameters are those of the kernel's signature, in order, and every address among them is that of device
    /// memory (large enough for what the kernel does with it) that stays alive until the launch has finished.
    #[inline]
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        grid: [u32; 3],
        block: u32,
        shared_bytes: u32,
        params: &[Param],
    ) -> Result<()> {
        self.device().bind()?;
        self.check_launch(grid, block, shared_bytes)?;
        self.check_parameters(params)?;
        if grid.contains(&0) {
            return Ok(());
        }
        let code = if params.len() <= PARAMETERS_ON_STACK {
            let mut pointers = [std::ptr::null_mut::<c_void>(); PARAMETERS_ON_STACK];
            for (pointer, param) in pointers.iter_mut().zip(params) {
                *pointer = (&raw const param.bits).cast_mut().cast();
            }
            // SAFETY: passed on from this function's contract.
            unsafe { self.launch_unchecked(stream, grid, block, shared_bytes, &mut pointers) }
        } else {
            let mut pointers: Vec<_> = params.iter().map(|param| (&raw const param.bits).cast_mut().cast()).collect();
            // SAFETY: passed on from this function's contract.
            unsafe { self.launch_unchecked(stream, grid, block, shared_bytes, &mut pointers) }
        };
        if code != CUresult::CUDA_SUCCESS {
            return self.device().check(&format!("launching kernel `{}`", self.name()), code);
        }
        stream.launched(&self.inner);
        Ok(())
    }

    /// # Safety
    /// As for [`launch`](Self::launch), with one pointer per parameter.
    unsafe fn launch_unchecked(
        &self,
        stream: &Stream,
        [x, y, z]: [u32; 3],
        block: u32,
        shared_bytes: u32,
        pointers: &mut [*mut c_void],
    ) -> CUresult {
        let (function, pointers) = (self.inner.raw, pointers.as_mut_ptr());
        // SAFETY: function and stream are live, and the caller answers for the parameters.
        unsafe {
            sys::cuLaunchKernel(
                function,
                x,
                y,
                z,
                block,
                1,
                1,
                shared_bytes,
                stream.raw(),
                pointers,
                std::ptr::null_mut(),
            )
        }
    }

    /// Whether a launch is within the limits of the kernel and its device, without launching.
    #[inline]
    pub fn check_launch(&self, grid: [u32; 3], block: u32, shared_bytes: u32) -> Result<()> {
        if block == 0 {
            return Err(CudaError::EmptyBlock { kernel: self.name().to_string() });
        }
        let limit = self.inner.attributes.max_threads_per_block;
        if block > limit {
            let what = "threads per block (registers and launch bounds counted)";
            return Err(self.too_large(what, block.into(), limit.into()));
        }
        let limits = &self.device().properties().max_grid;
        for ((asked, allowed), what) in grid.iter().zip(limits).zip(["blocks in x", "blocks in y", "blocks in z"]) {
            if asked > allowed {
                return Err(self.too_large(what, u64::from(*asked), u64::from(*allowed)));
            }
        }
        self.ask_for_shared(shared_bytes)
    }

    #[inline]
    fn check_parameters(&self, params: &[Param]) -> Result<()> {
        let Some(expected) = &self.inner.parameters else { return Ok(()) };
        if expected.len() == params.len() && expected.iter().zip(params).all(|(size, param)| *size == param.size()) {
            return Ok(());
        }
        Err(CudaError::WrongParameters {
            kernel: self.name().to_string(),
            expected: expected.clone(),
            given: params.iter().map(Param::size).collect(),
        })
    }

    /// The most dynamic shared memory that a launch may ask for, in bytes.
    pub fn max_shared_bytes(&self) -> u32 {
        let limit = self.device().properties().shared_bytes_per_block_optin;
        limit.saturating_sub(self.inner.attributes.static_shared_bytes)
    }

    /// Raises the kernel's bound on dynamic shared memory when a launch needs more than the usual 48 KB.
    #[inline]
    fn ask_for_shared(&self, bytes: u32) -> Result<()> {
        if bytes <= self.inner.dynamic_shared.load(Ordering::Relaxed) {
            return Ok(());
        }
        let allowed = self.max_shared_bytes();
        if bytes > allowed {
            return Err(self.too_large("bytes of dynamic shared memory per block", bytes.into(), allowed.into()));
        }
        // Straight to the largest value: it is a permission, not a reservation, and then threads cannot undo it.
        self.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, allowed as c_int)?;
        self.inner.dynamic_shared.store(allowed, Ordering::Relaxed);
        Ok(())
    }

    /// Says how much of the memory that L1 and shared memory have in common is to be shared memory, in percent;
    /// `None` leaves it to the driver.
    pub fn set_shared_carveout(&self, percent: Option<u32>) -> Result<()> {
        let value = percent.map_or(-1, |percent| percent.min(100) as c_int);
        self.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value)
    }

    fn set_attribute(&self, attribute: Attribute, value: c_int) -> Result<()> {
        self.device().bind()?;
        // SAFETY: the function is live and its context current.
        let code = unsafe { sys::cuFuncSetAttribute(self.inner.raw, attribute, value) };
        self.device().check("cuFuncSetAttribute", code)
    }

    /// How many blocks of this kernel a multiprocessor holds at one time.
    pub fn blocks_per_multiprocessor(&self, block: u32, shared_bytes: u32) -> Result<u32> {
        self.device().bind()?;
        self.check_launch([1; 3], block, shared_bytes)?;
        let mut blocks = 0;
        // SAFETY: the function is live; the call writes one integer.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.inner.raw,
                block as c_int,
                shared_bytes as usize,
            )
        };
        self.device().check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
        Ok(blocks.max(0) as u32)
    }

    /// The threads that a multiprocessor holds at one time, as a fraction of what it could hold.
    pub fn occupancy(&self, block: u32, shared_bytes: u32) -> Result<f64> {
        let warp = self.device().properties().warp_size;
        let threads = self.blocks_per_multiprocessor(block, shared_bytes)? * block.next_multiple_of(warp.max(1));
        Ok(f64::from(threads) / f64::from(self.device().properties().max_threads_per_multiprocessor))
    }

    /// The largest block that launches when it needs `shared_bytes` and `shared_bytes_per_thread` for each thread:
    /// this many threads do launch, one more does not. 0 when not even one thread does.
    pub fn largest_block(&self, shared_bytes: u32, shared_bytes_per_thread: u32) -> u32 {
        let Some(left) = self.max_shared_bytes().checked_sub(shared_bytes) else { return 0 };
        let by_shared = left.checked_div(shared_bytes_per_thread).unwrap_or(u32::MAX);
        self.inner.attributes.max_threads_per_block.min(by_shared)
    }

    #[cold]
    fn too_large(&self, what: &str, asked: u64, allowed: u64) -> CudaError {
        CudaError::LaunchTooLarge { kernel: self.name().to_string(), what: what.to_string(), asked, allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_bytes_and_size() {
        let param = Param::from(1.5f32);
        assert_eq!((param.bits.to_ne_bytes()[..4].to_vec(), param.size()), (1.5f32.to_ne_bytes().to_vec(), 4));
        assert_eq!(Param::pointer(u64::MAX).bits, u64::MAX);
        assert_eq!(Param::from(-1i8).size(), 1);
        assert_eq!(Param::from(-1i64).bits, u64::MAX);
    }
}
