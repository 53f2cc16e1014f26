//! Devices: which there are, what they can do, and a handle that everything else is made from.

use crate::error::{CudaError, Result, version_text};
use crate::fault::{Fault, driver_failure};
use crate::library::{Driver, load_driver};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};
use std::ffi::{CStr, c_int};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// What a device is and allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// The device's number, for [`Device::open`].
    pub ordinal: usize,
    /// The product's name.
    pub name: String,
    /// Compute capability, as `(major, minor)`.
    pub compute_capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// Shared memory of a block without asking, in bytes.
    pub shared_bytes_per_block: u32,
    /// Shared memory that a block may ask for, in bytes.
    pub shared_bytes_per_block_optin: u32,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_bytes_per_multiprocessor: u32,
    /// Shared memory that every block costs on top of its own, in bytes.
    pub reserved_shared_bytes_per_block: u32,
    /// Registers of a block.
    pub registers_per_block: u32,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Largest block.
    pub max_threads_per_block: u32,
    /// Threads that a multiprocessor holds.
    pub max_threads_per_multiprocessor: u32,
    /// Blocks that a multiprocessor holds.
    pub max_blocks_per_multiprocessor: u32,
    /// Largest grid in each dimension.
    pub max_grid: [u32; 3],
    /// Bytes of the L2 cache.
    pub l2_bytes: u32,
    /// Peak clock in kHz.
    pub clock_khz: u32,
    /// Bytes of device memory.
    pub total_bytes: u64,
    /// The newest CUDA version that the driver supports, as `major.minor`.
    pub driver_version: String,
}

impl Properties {
    /// The architecture to compile for, such as `sm_90`.
    pub fn arch(&self) -> String {
        format!("sm_{}{}", self.compute_capability.0, self.compute_capability.1)
    }

    fn query(ordinal: usize) -> Result<(sys::CUdevice, Self)> {
        let driver = init()?;
        let mut device = 0;
        // SAFETY: the driver is initialised; the call writes one handle.
        driver_result("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut device, ordinal as c_int) })?;
        let get = |attribute: Attribute| -> Result<u32> {
            let mut value = 0;
            // SAFETY: the device handle is valid; the call writes one integer.
            driver_result("cuDeviceGetAttribute", unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device) })?;
            Ok(value.max(0) as u32)
        };
        let mut name = [0; 256];
        // SAFETY: the call writes at most as many bytes as it is told, with a zero at the end.
        driver_result("cuDeviceGetName", unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), 256, device) })?;
        // SAFETY: the driver ended the name with a zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let mut total = 0;
        // SAFETY: the device handle is valid; the call writes one size.
        driver_result("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&mut total, device) })?;
        use Attribute::*;
        let properties = Properties {
            ordinal,
            name,
            compute_capability: (
                get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            warp_size: get(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            shared_bytes_per_block: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_bytes_per_block_optin: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            shared_bytes_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            reserved_shared_bytes_per_block: get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)?,
            registers_per_block: get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?,
            registers_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            max_threads_per_block: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_threads_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            max_blocks_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            max_grid: [
                get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            l2_bytes: get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
            clock_khz: get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
            total_bytes: total as u64,
            driver_version: version_text(driver.version),
        };
        Ok((device, properties))
    }
}

/// A device with its primary context. Clones share it; it can be used from any thread.
#[derive(Debug, Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    device: sys::CUdevice,
    context: ContextPointer,
    properties: Properties,
    driver: &'static Driver,
    /// Shared by every handle of this device that the process ever makes: a lost context stays lost.
    fault: Arc<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct ContextPointer(sys::CUcontext);
// SAFETY: the driver's functions may be called with one context from any thread.
unsafe impl Send for ContextPointer {}
// SAFETY: as above; the pointer itself is never written.
unsafe impl Sync for ContextPointer {}

impl Device {
    /// The devices of this machine. An empty list is an error too: [`CudaError::NoLibrary`] without a driver,
    /// [`CudaError::NoDevice`] with the reason otherwise.
    pub fn list() -> Result<Vec<Properties>> {
        (0..count()?).map(|ordinal| Ok(Properties::query(ordinal)?.1)).collect()
    }

    /// Opens a device. Opening it again gives another handle of the same context.
    pub fn open(ordinal: usize) -> Result<Self> {
        type Known = (usize, Weak<Inner>, Arc<Fault>);
        static OPEN: Mutex<Vec<Known>> = Mutex::new(Vec::new());
        let devices = count()?;
        if ordinal >= devices {
            let reason = format!("device {ordinal} was asked for, there are {devices} (see CUDA_VISIBLE_DEVICES)");
            return Err(CudaError::NoDevice { reason });
        }
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open.iter().position(|(known, ..)| *known == ordinal);
        if let Some(index) = known {
            open[index].2.check_alive()?;
        }
        if let Some(inner) = known.and_then(|index| open[index].1.upgrade()) {
            return Ok(Device { inner });
        }
        let (device, properties) = Properties::query(ordinal)?;
        let mut context = std::ptr::null_mut();
        // SAFETY: the device handle is valid; the call writes one handle. Released in `Inner::drop`.
        driver_result("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, device) })?;
        let fault = known.map(|index| Arc::clone(&open[index].2)).unwrap_or_default();
        let context = ContextPointer(context);
        let inner = Arc::new(Inner { device, context, properties, driver: init()?, fault: Arc::clone(&fault) });
        let entry = (ordinal, Arc::downgrade(&inner), fault);
        match known {
            Some(index) => open[index] = entry,
            None => open.push(entry),
        }
        Ok(Device { inner })
    }

    /// What the device is and allows.
    pub fn properties(&self) -> &Properties {
        &self.inner.properties
    }

    /// The architecture to compile for, such as `sm_90`.
    pub fn arch(&self) -> String {
        self.inner.properties.arch()
    }

    /// Free and total bytes of device memory, now.
    pub fn memory(&self) -> Result<(u64, u64)> {
        self.bind()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the context is current; the call writes two sizes.
        self.check("cuMemGetInfo", unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
        Ok((free as u64, total as u64))
    }

    /// Waits for everything that was queued on this device, and reports what failed in it.
    pub fn synchronize(&self) -> Result<()> {
        self.bind()?;
        // SAFETY: the context is current.
        self.check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })?;
        self.inner.fault.all_finished();
        Ok(())
    }

    /// Makes the context current in this thread, unless it is lost.
    #[inline]
    pub(crate) fn bind(&self) -> Result<()> {
        self.inner.fault.check_alive()?;
        self.bind_for_drop();
        Ok(())
    }

    /// Makes the context current, lost or not: destructors free what they can and ignore the rest.
    #[inline]
    pub(crate) fn bind_for_drop(&self) {
        let context = self.inner.context.0;
        let mut current = std::ptr::null_mut();
        // SAFETY: the driver is initialised; the call writes one handle.
        unsafe { sys::cuCtxGetCurrent(&mut current) };
        if current != context {
            // SAFETY: the context is retained as long as `inner` lives. A failure shows in the next call.
            unsafe { sys::cuCtxSetCurrent(context) };
        }
    }

    /// Turns the driver's code into an error, and notices when the context was lost.
    #[inline]
    pub(crate) fn check(&self, call: &str, code: CUresult) -> Result<()> {
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(self.inner.fault.failure(call, code)) }
    }

    pub(crate) fn fault(&self) -> &Fault {
        &self.inner.fault
    }

    pub(crate) fn driver(&self) -> &'static Driver {
        self.inner.driver
    }

    /// Whether two handles mean one device.
    pub fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: retained once in `Device::open`; nothing that uses the context outlives `Inner`.
        unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// Loads and initialises the driver once per process.
fn init() -> Result<&'static Driver> {
    static INIT: OnceLock<Result<&'static Driver>> = OnceLock::new();
    INIT.get_or_init(|| {
        let driver = load_driver()?;
        // SAFETY: the driver is loaded; 0 is the only flag there is.
        match unsafe { sys::cuInit(0) } {
            CUresult::CUDA_SUCCESS => Ok(driver),
            // NVIDIA's word for the library that toolkits ship to link against.
            CUresult::CUDA_ERROR_STUB_LIBRARY => Err(CudaError::NoDevice {
                reason: format!("{} is a toolkit's stub, not a driver; take it off LD_LIBRARY_PATH", driver.path),
            }),
            CUresult::CUDA_ERROR_NO_DEVICE => Err(no_device()),
            code => Err(CudaError::NoDevice { reason: driver_failure("cuInit", code).to_string() }),
        }
    })
    .clone()
}

fn count() -> Result<usize> {
    init()?;
    let mut count = 0;
    // SAFETY: the driver is initialised; the call writes one integer.
    driver_result("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&mut count) })?;
    if count < 1 { Err(no_device()) } else { Ok(count as usize) }
}

fn no_device() -> CudaError {
    let visible = std::env::var("CUDA_VISIBLE_DEVICES").map(|value| format!(" (CUDA_VISIBLE_DEVICES={value})"));
    CudaError::NoDevice { reason: format!("the driver sees none{}", visible.unwrap_or_default()) }
}

fn driver_result(call: &str, code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(driver_failure(call, code)) }
}
