//! Everything that can go wrong, as values that say what was asked, what is allowed and what to change.

use crate::cache::CacheError;

/// The result of everything in this crate that can fail.
pub type Result<T, E = CudaError> = std::result::Result<T, E>;

/// What went wrong between a piece of CUDA text and its result.
///
/// Every variant is plain data, so that an error can be cloned, compared and kept in a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// A shared library is not on this machine.
    #[error("no {which} library: looked at {}; set FARRO_CUDA_PATH to the folder that holds it", .searched.join(", "))]
    NoLibrary {
        /// `CUDA driver` or `NVRTC`.
        which: String,
        /// The places that were tried, in order, each with the reason why it did not serve.
        searched: Vec<String>,
    },
    /// None of NVIDIA's disassemblers is on this machine.
    #[error(
        "no nvdisasm or cuobjdump: looked at {}; install the CUDA toolkit or the Python package nvidia-cuda-nvdisasm, \
         and set FARRO_CUDA_PATH to where it is", .searched.join(", ")
    )]
    NoDisassembler {
        /// The folders that were looked at.
        searched: Vec<String>,
    },
    /// The driver is there, a usable device is not.
    #[error("no CUDA device: {reason}")]
    NoDevice {
        /// What the driver said.
        reason: String,
    },
    /// The driver is older than what this crate, or the binary that it was given, needs.
    #[error("the CUDA driver supports CUDA {driver}, but CUDA {needed} is needed: {remedy}")]
    DriverTooOld {
        /// The newest CUDA version that the driver supports, as `major.minor`.
        driver: String,
        /// The version that is needed, as `major.minor`.
        needed: String,
        /// What to install or which variable to set.
        remedy: String,
    },
    /// NVRTC refused the text of a kernel.
    #[error("kernel `{kernel}` does not compile for {arch}:\n{log}")]
    Compile {
        /// The kernel's name, as the caller gave it.
        kernel: String,
        /// The architecture that was asked for.
        arch: String,
        /// The compiler's log; its lines start with `kernel(line)`.
        log: String,
    },
    /// The compiler does not know this architecture.
    #[error(
        "NVRTC {version} does not know the architecture `{asked}`, only {}; \
         for a newer device set FARRO_CUDA_PATH to a newer NVRTC", .known.join(", ")
    )]
    UnknownArchitecture {
        /// The architecture that was asked for.
        asked: String,
        /// The architectures that this compiler can write for.
        known: Vec<String>,
        /// The compiler's version.
        version: String,
    },
    /// The device has too little free memory.
    #[error("out of device memory: asked for {asked} bytes, {free} of {total} are free")]
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes free on the device.
        free: u64,
        /// Bytes on the device.
        total: u64,
    },
    /// A launch asks for more than the device, or the kernel's own bounds, allow.
    #[error("kernel `{kernel}` cannot be launched: {what}: asked for {asked}, allowed are {allowed}")]
    LaunchTooLarge {
        /// The kernel's name.
        kernel: String,
        /// Which limit.
        what: String,
        /// What was asked for.
        asked: u64,
        /// The largest value that would have been accepted.
        allowed: u64,
    },
    /// A launch with blocks of no threads: it would silently do nothing.
    #[error("kernel `{kernel}` cannot be launched: a block of 0 threads")]
    EmptyBlock {
        /// The kernel's name.
        kernel: String,
    },
    /// The parameters do not fit the kernel's signature.
    #[error("kernel `{kernel}` takes parameters of {expected:?} bytes, but was given {given:?}")]
    WrongParameters {
        /// The kernel's name.
        kernel: String,
        /// Bytes of each parameter in the kernel's signature.
        expected: Vec<usize>,
        /// Bytes of each parameter that was given.
        given: Vec<usize>,
    },
    /// A module has no kernel of this name.
    #[error("the module has no kernel `{kernel}`")]
    NoSuchKernel {
        /// The name that was looked up.
        kernel: String,
    },
    /// A copy or fill reaches beyond a buffer.
    #[error("{what}: bytes {offset}..{} of a buffer of {len}", .offset.saturating_add(*.bytes))]
    OutOfRange {
        /// Which operation.
        what: String,
        /// First byte.
        offset: u64,
        /// Bytes asked for.
        bytes: u64,
        /// Bytes of the buffer.
        len: u64,
    },
    /// A kernel broke off (invalid address, assertion, ...). The device's context is lost with it; this error is
    /// reported once, and every later call gives [`ContextLost`](CudaError::ContextLost).
    #[error("kernel `{kernel}` failed on the device: {message} (code {code}); CUDA_LAUNCH_BLOCKING=1 narrows it down")]
    KernelFault {
        /// The kernel; several names when several were launched since the last synchronization.
        kernel: String,
        /// The driver's error code.
        code: u32,
        /// The driver's words.
        message: String,
    },
    /// An earlier fault took the device's context with it; only a new process gets a new one.
    #[error("the device's context was lost to an earlier fault (restart the process): {first}")]
    ContextLost {
        /// The first fault.
        first: String,
    },
    /// A driver or compiler call failed in a way that has no variant of its own.
    #[error("{call} failed: {message} (code {code})")]
    Driver {
        /// The call.
        call: String,
        /// The driver's error code.
        code: u32,
        /// The driver's words.
        message: String,
    },
    /// The cache's folder could not be used where it had to be.
    #[error("{action} the cache folder {path}: {reason}")]
    Cache {
        /// What was attempted.
        action: String,
        /// The folder or file.
        path: String,
        /// The operating system's words.
        reason: String,
    },
}

impl From<CacheError> for CudaError {
    fn from(error: CacheError) -> Self {
        CudaError::Cache { action: error.action, path: error.path.display().to_string(), reason: error.reason }
    }
}

/// A CUDA version number (1000·major + 10·minor) as `major.minor`.
pub(crate) fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_what_was_asked_and_what_is_allowed() {
        let error = CudaError::LaunchTooLarge {
            kernel: "apply".into(),
            what: "threads per block".into(),
            asked: 2048,
            allowed: 1024,
        };
        let text = error.to_string();
        assert!(text.contains("apply") && text.contains("2048") && text.contains("1024"), "{text}");
        assert_eq!(version_text(12080), "12.8");
        assert_eq!(version_text(13000), "13.0");
        let range = CudaError::OutOfRange { what: "copy".into(), offset: u64::MAX, bytes: 8, len: 4 };
        assert!(range.to_string().contains("of a buffer of 4"));
    }
}
