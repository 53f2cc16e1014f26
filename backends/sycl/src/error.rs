//! Everything that can go wrong, as values that say what was asked, what is possible and what to change.

/// The result of everything in this crate that can fail.
pub type Result<T, E = SyclError> = std::result::Result<T, E>;

/// What went wrong between a piece of OpenCL C and its result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyclError {
    /// A shared library is not on this machine.
    #[error(
        "no {which}: looked at {}; {remedy}, or set FARRO_SYCL_PATH to the folder (or Python environment) that has it",
        .searched.join(", ")
    )]
    NoLibrary {
        /// `SYCL run-time` or `OpenCL loader`.
        which: String,
        /// The places that were tried, in order, each with the reason why it did not serve.
        searched: Vec<String>,
        /// What to install.
        remedy: String,
    },
    /// The library is there, the device is not.
    #[error("no {route} device {asked}: {reason}")]
    NoDevice {
        /// `SYCL` or `OpenCL`.
        route: String,
        /// Number of the device that was asked for.
        asked: usize,
        /// What there is.
        reason: String,
    },
    /// The device's compiler refused the text of a kernel.
    #[error("kernel `{kernel}` does not compile for {device}:\n{log}")]
    Build {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
        /// The compiler's log.
        log: String,
    },
    /// Lanes exchange values in divergent flow.
    #[error(
        "kernel `{kernel}`: lanes of a vector of {asked} exchange values in divergent flow, which needs sub-groups; {device} \
         has {possible}; use one of these lengths, or 1"
    )]
    SubGroups {
        /// The kernel.
        kernel: String,
        /// The vector length.
        asked: usize,
        /// The device.
        device: String,
        /// The sizes of its sub-groups.
        possible: String,
    },
    /// The device has too little memory.
    #[error(
        "out of device memory on {device}: asked for {asked} bytes; a block may have {largest}, the device {total}"
    )]
    OutOfMemory {
        /// The device.
        device: String,
        /// Bytes asked for.
        asked: u64,
        /// Bytes that one block may have.
        largest: u64,
        /// Bytes on the device.
        total: u64,
    },
    /// A team is larger than this kernel can have.
    #[error(
        "kernel `{kernel}` cannot be launched on {device}: {asked} work items, allowed are {allowed}; use a smaller team"
    )]
    LaunchTooLarge {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
        /// Work items asked for.
        asked: usize,
        /// Work items that are possible.
        allowed: usize,
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
    /// A call failed in a way that has no variant of its own.
    #[error("{call} failed on {device}: {message}")]
    Call {
        /// The call.
        call: String,
        /// The device.
        device: String,
        /// What is known.
        message: String,
    },
}
