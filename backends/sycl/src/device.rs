//! Devices: which there are, and what they allow.

use crate::error::Result;
use crate::{opencl_info, sycl};
use std::fmt;

/// By which interface a device is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// The SYCL run-time.
    Sycl,
    /// OpenCL, without SYCL.
    OpenCl,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Route::Sycl => "SYCL",
            Route::OpenCl => "OpenCL",
        })
    }
}

/// What a device is and allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// The interface.
    pub route: Route,
    /// The device's number among those of its interface.
    pub ordinal: usize,
    /// The product's name.
    pub name: String,
    /// Its vendor or platform.
    pub vendor: String,
    /// The driver's version.
    pub driver: String,
    /// Whether it is a GPU.
    pub is_gpu: bool,
    /// Whether it computes with 64-bit floating point.
    pub has_f64: bool,
    /// Units that run work-groups at the same time.
    pub compute_units: usize,
    /// Work items of the largest work-group.
    pub max_work_group: usize,
    /// Bytes of local memory of a work-group.
    pub local_bytes: u64,
    /// Bytes of device memory.
    pub global_bytes: u64,
    /// Bytes of the largest block.
    pub max_allocation: u64,
    /// Sizes that a sub-group can be asked to have; none where the device cannot be asked.
    pub sub_groups: Vec<usize>,
}

impl Properties {
    /// The name for messages.
    pub fn title(&self) -> String {
        format!("{} ({} device {}, {})", self.name, self.route, self.ordinal, self.vendor)
    }
}

/// The devices of one interface.
///
/// # Errors
/// Where its library is missing.
pub fn devices(route: Route) -> Result<Vec<Properties>> {
    match route {
        Route::Sycl => sycl::devices(),
        Route::OpenCl => opencl_info::devices(),
    }
}
