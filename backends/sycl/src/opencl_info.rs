//! What OpenCL tells about platforms, devices and everything else.

use crate::device::{Properties, Route};
use crate::error::Result;
use crate::library::load_opencl;
use farro_sycl_sys::opencl::{self as sys, Object, OpenCl, Status};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Text or bytes that an information call gives.
pub(crate) fn info(call: impl Fn(usize, *mut c_void, *mut usize) -> Status) -> Vec<u8> {
    let mut size = 0;
    if call(0, null_mut(), &mut size) != 0 {
        return Vec::new();
    }
    let mut bytes = vec![0u8; size];
    match call(size, bytes.as_mut_ptr().cast(), null_mut()) {
        0 => bytes,
        _ => Vec::new(),
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_string()
}

/// A number of 4 or 8 bytes; 0 where there is none.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let count = bytes.len().min(8);
    wide[..count].copy_from_slice(&bytes[..count]);
    u64::from_le_bytes(wide)
}

pub(crate) fn device_info(api: &OpenCl, device: Object, name: u32) -> Vec<u8> {
    // SAFETY: the device is live, and the call writes at most as many bytes as it is told.
    info(|size, to, actual| unsafe { (api.device_info)(device, name, size, to, actual) })
}

/// The devices of all platforms, with the platforms' names.
pub(crate) fn all_devices(api: &OpenCl) -> Vec<(Object, String)> {
    let mut count = 0;
    let mut devices = Vec::new();
    // SAFETY: the call writes one number.
    if unsafe { (api.platforms)(0, null_mut(), &mut count) } != 0 {
        return devices;
    }
    let mut platforms = vec![null_mut(); count as usize];
    // SAFETY: there is room for as many handles.
    unsafe { (api.platforms)(count, platforms.as_mut_ptr(), null_mut()) };
    for platform in platforms {
        // SAFETY: the platform is live, and the call writes at most as many bytes as it is told.
        let name =
            info(|size, to, actual| unsafe { (api.platform_info)(platform, sys::PLATFORM_NAME, size, to, actual) });
        let mut count = 0;
        // SAFETY: the platform is live; the call writes one number.
        if unsafe { (api.devices)(platform, sys::DEVICE_TYPE_ALL, 0, null_mut(), &mut count) } != 0 {
            continue;
        }
        let mut list = vec![null_mut(); count as usize];
        // SAFETY: there is room for as many handles.
        unsafe { (api.devices)(platform, sys::DEVICE_TYPE_ALL, count, list.as_mut_ptr(), null_mut()) };
        devices.extend(list.into_iter().map(|device| (device, text(&name))));
    }
    devices
}

pub(crate) fn properties(api: &OpenCl, device: Object, platform: &str, ordinal: usize) -> Properties {
    let get = |name| number(&device_info(api, device, name));
    let extensions = text(&device_info(api, device, sys::DEVICE_EXTENSIONS));
    let has = |name: &str| extensions.split(' ').any(|extension| extension == name);
    let mut sub_groups = Vec::new();
    if has("cl_intel_required_subgroup_size") && has("cl_khr_subgroup_shuffle") {
        let sizes = device_info(api, device, sys::DEVICE_SUB_GROUP_SIZES);
        sub_groups = sizes.chunks_exact(size_of::<usize>()).map(|bytes| number(bytes) as usize).collect();
    }
    Properties {
        route: Route::OpenCl,
        ordinal,
        name: text(&device_info(api, device, sys::DEVICE_NAME)),
        vendor: platform.into(),
        driver: text(&device_info(api, device, sys::DRIVER_VERSION)),
        is_gpu: get(sys::DEVICE_TYPE) & 4 != 0,
        has_f64: has("cl_khr_fp64"),
        compute_units: get(sys::DEVICE_COMPUTE_UNITS) as usize,
        max_work_group: get(sys::DEVICE_MAX_WORK_GROUP) as usize,
        local_bytes: get(sys::DEVICE_LOCAL_BYTES),
        global_bytes: get(sys::DEVICE_GLOBAL_BYTES),
        max_allocation: get(sys::DEVICE_MAX_ALLOCATION),
        sub_groups,
    }
}

/// All devices.
pub(crate) fn devices() -> Result<Vec<Properties>> {
    let api = &load_opencl()?.api;
    let list = all_devices(api);
    Ok(list.iter().enumerate().map(|(i, (device, platform))| properties(api, *device, platform, i)).collect())
}
