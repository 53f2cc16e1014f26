//! Everything that can go wrong, as values that say what was asked, what is possible and what to change.

use farro_backends::device::cache::CacheError;

/// The result of everything in this crate that can fail.
pub type Result<T, E = HipError> = std::result::Result<T, E>;

/// What went wrong between a piece of HIP text and its result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HipError {
    /// A shared library is not on this machine.
    #[error("no {which}: looked at {}; install ROCm 5 to 7, or set FARRO_HIP_PATH to the folder that has it", .searched.join(", "))]
    NoLibrary {
        /// `HIP run-time` or `hiprtc`.
        which: String,
        /// The places that were tried, in order, each with the reason why it did not serve.
        searched: Vec<String>,
    },
    /// Neither hiprtc nor a clang that writes for AMD.
    #[error("no compiler for AMD devices: {}; install clang and lld (17 or newer), or set FARRO_HIP_CLANG", .searched.join(", "))]
    NoCompiler {
        /// What was tried, each with the reason why it did not serve.
        searched: Vec<String>,
    },
    /// The run-time is there, a usable device is not.
    #[error("no HIP device: {reason}")]
    NoDevice {
        /// What the run-time said.
        reason: String,
    },
    /// The run-time is older than what this crate needs.
    #[error(
        "the HIP run-time {found} is older than {needed}; install ROCm {needed} or newer, or set FARRO_HIP_PATH to one"
    )]
    RuntimeTooOld {
        /// Its version.
        found: String,
        /// The version that is needed.
        needed: String,
    },
    /// The compiler does not know this architecture.
    #[error("{compiler} does not know the architecture `{asked}`; possible are {}", .known.join(", "))]
    UnknownArchitecture {
        /// The architecture that was asked for.
        asked: String,
        /// The architectures that are known.
        known: Vec<String>,
        /// The compiler.
        compiler: String,
    },
    /// The compiler refused the text of a kernel.
    #[error("kernel `{kernel}` does not compile for {arch}:\n{log}")]
    Compile {
        /// The kernel.
        kernel: String,
        /// The architecture.
        arch: String,
        /// The compiler's log.
        log: String,
    },
    /// The compiler broke off instead of reporting an error.
    #[error("the compiler broke off at kernel `{kernel}` for {arch} ({status}):\n{log}")]
    CompilerCrash {
        /// The kernel.
        kernel: String,
        /// The architecture.
        arch: String,
        /// How it ended.
        status: String,
        /// What it said before.
        log: String,
    },
    /// A code object does not have the notes that it should have.
    #[error("the code object of kernel `{kernel}` cannot be read: {reason}")]
    CodeObject {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        reason: String,
    },
    /// A binary is for another architecture.
    #[error("kernel `{kernel}` was compiled for {binary}, but the device is a {device}")]
    WrongArchitecture {
        /// The kernel.
        kernel: String,
        /// What the binary is for.
        binary: String,
        /// What the device is.
        device: String,
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
    /// A team is larger than this kernel can have.
    #[error("kernel `{kernel}` cannot be launched: {what}: asked for {asked}, allowed are {allowed}")]
    LaunchTooLarge {
        /// The kernel.
        kernel: String,
        /// Which limit.
        what: String,
        /// What was asked for.
        asked: u64,
        /// The largest value that would have been accepted.
        allowed: u64,
    },
    /// A copy reaches beyond a block.
    #[error("a copy of bytes {offset}..{} of a block of {len}", .offset.saturating_add(*.bytes))]
    OutOfRange {
        /// First byte.
        offset: u64,
        /// Bytes asked for.
        bytes: u64,
        /// Bytes of the block.
        len: u64,
    },
    /// A kernel broke off, and with it everything on the device. Later calls report it again.
    #[error("kernel `{kernel}` failed on the device: {message} (code {code}); restart the process")]
    KernelFault {
        /// The kernels that were launched since the last synchronization.
        kernel: String,
        /// The run-time's error code.
        code: i32,
        /// The run-time's words.
        message: String,
    },
    /// A call failed in a way that has no variant of its own.
    #[error("{call} failed: {message} (code {code})")]
    Call {
        /// The call.
        call: String,
        /// The run-time's error code.
        code: i32,
        /// The run-time's words.
        message: String,
    },
    /// The operating system refused something.
    #[error("{action}: {reason}")]
    System {
        /// What was attempted.
        action: String,
        /// Its words.
        reason: String,
    },
}

impl From<CacheError> for HipError {
    fn from(error: CacheError) -> Self {
        let action = format!("{} the cache folder {}", error.action, error.path.display());
        HipError::System { action, reason: error.reason }
    }
}
