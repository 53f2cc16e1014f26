//! Binaries on a device.

use crate::device::Device;
use crate::error::{CudaError, Result, version_text};
use crate::launch::Function;
use cudarc::driver::sys::{self, CUresult};
use std::ffi::CString;
use std::sync::Arc;

/// A binary that is loaded on a device. Its functions keep it loaded; clones share it.
#[derive(Debug, Clone)]
pub struct Module {
    inner: Arc<ModuleInner>,
}

#[derive(Debug)]
pub(crate) struct ModuleInner {
    pub(crate) device: Device,
    raw: sys::CUmodule,
}
// SAFETY: the driver's functions may be called with one module from any thread.
unsafe impl Send for ModuleInner {}
// SAFETY: as above; the handle itself is never written.
unsafe impl Sync for ModuleInner {}

impl Module {
    /// Loads a CUBIN (or a PTX text, which the driver then translates).
    pub fn load(device: &Device, image: &[u8]) -> Result<Self> {
        device.bind()?;
        // PTX must end in a zero, and the driver reads a binary as 8-byte words: copy to where both hold.
        let mut aligned = vec![0u64; image.len() / 8 + 1];
        for (word, bytes) in aligned.iter_mut().zip(image.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        let mut raw = std::ptr::null_mut();
        // SAFETY: the context is current, and the image is a whole binary by its own header or ends in a zero.
        let code = unsafe { sys::cuModuleLoadData(&mut raw, aligned.as_ptr().cast()) };
        if code != CUresult::CUDA_SUCCESS {
            return Err(explain(device, code));
        }
        Ok(Module { inner: Arc::new(ModuleInner { device: device.clone(), raw }) })
    }

    /// The device that it is loaded on.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// The kernel of this name.
    pub fn function(&self, name: &str) -> Result<Function> {
        let device = self.device();
        device.bind()?;
        let missing = || CudaError::NoSuchKernel { kernel: name.to_string() };
        let symbol = CString::new(name).map_err(|_| missing())?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the module is live and the name ends in a zero; the call writes one handle.
        match unsafe { sys::cuModuleGetFunction(&mut raw, self.inner.raw, symbol.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => Err(missing()),
            code => {
                device.check("cuModuleGetFunction", code)?;
                Function::new(Arc::clone(&self.inner), raw, name)
            }
        }
    }
}

impl Drop for ModuleInner {
    fn drop(&mut self) {
        self.device.bind_for_drop();
        // SAFETY: loaded by `load`; its functions hold it, so none is left. Work that still runs is waited for.
        unsafe {
            sys::cuCtxSynchronize();
            sys::cuModuleUnload(self.raw);
        }
    }
}

/// Says why a binary does not load, where the versions or the architecture explain it.
fn explain(device: &Device, code: CUresult) -> CudaError {
    use CUresult::*;
    let unsuitable = matches!(
        code,
        CUDA_ERROR_INVALID_IMAGE
            | CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUDA_ERROR_INVALID_PTX
            | CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    );
    let error = device.fault().failure("cuModuleLoadData", code);
    let CudaError::Driver { call, code: number, message } = error else { return error };
    if !unsuitable {
        return CudaError::Driver { call, code: number, message };
    }
    let driver = device.driver().version;
    if let Ok(api) = crate::library::load_nvrtc() {
        let compiler = api.version.0 * 1000 + api.version.1 * 10;
        if compiler > driver {
            return CudaError::DriverTooOld {
                driver: version_text(driver),
                needed: version_text(compiler),
                remedy: format!(
                    "NVRTC {}.{} ({}) wrote the binary; install a newer driver, or set FARRO_CUDA_PATH to the folder \
                     of an NVRTC no newer than the driver",
                    api.version.0, api.version.1, api.path
                ),
            };
        }
    }
    let message = format!("{message}; the device needs a binary for {}", device.arch());
    CudaError::Driver { call, code: number, message }
}
