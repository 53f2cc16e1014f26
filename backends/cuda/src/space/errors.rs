//! What goes wrong on the device, in the words of a launch.

use crate::error::CudaError;
use farro_portability::LaunchError;

/// The kernel's own name in that of a printed function, or in a list of them.
fn without_prefix(name: &str) -> String {
    name.replace("farro_", "")
}

/// An error that no kernel in particular is to blame for, unless the driver names one.
pub(super) fn device_error(space: &str, kernel: &str, error: &CudaError) -> LaunchError {
    let (kernel, message) = match error {
        CudaError::KernelFault { kernel, code, message } => (
            without_prefix(kernel),
            format!("it failed on the device: {message} (code {code}); run it on the checked target to see where"),
        ),
        other => (kernel.into(), other.to_string()),
    };
    LaunchError::Device { kernel, space: space.into(), message }
}
