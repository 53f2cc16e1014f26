//! SYCL, by the C interface of dpctl 0.18 and later. Failures are null pointers; whoever receives an object deletes it.

use std::ffi::{c_char, c_int, c_void};

/// An object of SYCL behind a pointer.
pub type Ref = *mut c_void;
/// Receives the numbers of asynchronous errors.
pub type ErrorHandler = unsafe extern "C" fn(c_int);

/// All kinds of devices of all backends, for [`Sycl::devices`].
pub const ALL_DEVICES: c_int = (((1 << 5) - 1) << 16) | ((1 << 6) - 1);
/// The OpenCL backend.
pub const BACKEND_OPENCL: c_int = 1 << 18;
/// The Level Zero backend.
pub const BACKEND_LEVEL_ZERO: c_int = 1 << 17;
/// The device has 64-bit floating point.
pub const ASPECT_FP64: c_int = 6;
/// The device has 64-bit atomics.
pub const ASPECT_ATOMIC64: c_int = 7;
/// Queues of the device tell times.
pub const ASPECT_QUEUE_PROFILING: c_int = 11;
/// The device has USM memory of its own.
pub const ASPECT_USM_DEVICE: c_int = 12;
/// Queue property: events tell times.
pub const ENABLE_PROFILING: c_int = 1;
/// Queue property: commands run in order.
pub const IN_ORDER: c_int = 2;
/// Kernel argument: a 32-bit signed integer.
pub const INT32: c_int = 4;
/// Kernel argument: a 64-bit signed integer.
pub const INT64: c_int = 6;
/// Kernel argument: a 32-bit float.
pub const FLOAT32: c_int = 8;
/// Kernel argument: a 64-bit float.
pub const FLOAT64: c_int = 9;
/// Kernel argument: a USM pointer, passed as itself.
pub const VOID_PTR: c_int = 10;

super::functions! {
    /// The functions of SYCL.
    Sycl {
        devices = "DPCTLDeviceMgr_GetDevices": fn(c_int) -> Ref;
        devices_size = "DPCTLDeviceVector_Size": fn(Ref) -> usize;
        devices_at = "DPCTLDeviceVector_GetAt": fn(Ref, usize) -> Ref;
        devices_delete = "DPCTLDeviceVector_Delete": fn(Ref);
        device_copy = "DPCTLDevice_Copy": fn(Ref) -> Ref;
        device_delete = "DPCTLDevice_Delete": fn(Ref);
        device_name = "DPCTLDevice_GetName": fn(Ref) -> *const c_char;
        device_vendor = "DPCTLDevice_GetVendor": fn(Ref) -> *const c_char;
        device_driver = "DPCTLDevice_GetDriverVersion": fn(Ref) -> *const c_char;
        device_backend = "DPCTLDevice_GetBackend": fn(Ref) -> c_int;
        device_has_aspect = "DPCTLDevice_HasAspect": fn(Ref, c_int) -> bool;
        device_is_gpu = "DPCTLDevice_IsGPU": fn(Ref) -> bool;
        device_max_work_group = "DPCTLDevice_GetMaxWorkGroupSize": fn(Ref) -> usize;
        device_local_bytes = "DPCTLDevice_GetLocalMemSize": fn(Ref) -> u64;
        device_global_bytes = "DPCTLDevice_GetGlobalMemSize": fn(Ref) -> u64;
        device_max_allocation = "DPCTLDevice_GetMaxMemAllocSize": fn(Ref) -> u64;
        device_compute_units = "DPCTLDevice_GetMaxComputeUnits": fn(Ref) -> u32;
        /// The sizes, and how many there are.
        device_sub_groups = "DPCTLDevice_GetSubGroupSizes": fn(Ref, *mut usize) -> *mut usize;
        sizes_delete = "DPCTLSize_t_Array_Delete": fn(*mut usize);
        string_delete = "DPCTLCString_Delete": fn(*const c_char);
        context_create = "DPCTLContext_Create": fn(Ref, Option<ErrorHandler>, c_int) -> Ref;
        context_delete = "DPCTLContext_Delete": fn(Ref);
        queue_create = "DPCTLQueue_Create": fn(Ref, Ref, Option<ErrorHandler>, c_int) -> Ref;
        queue_delete = "DPCTLQueue_Delete": fn(Ref);
        queue_wait = "DPCTLQueue_Wait": fn(Ref);
        queue_copy = "DPCTLQueue_Memcpy": fn(Ref, *mut c_void, *const c_void, usize) -> Ref;
        queue_fill = "DPCTLQueue_Memset": fn(Ref, *mut c_void, u8, usize) -> Ref;
        /// Kernel, queue, arguments, their kinds, their number, global range, local range, dimensions, events, their number.
        queue_submit = "DPCTLQueue_SubmitNDRange": fn(
            Ref, Ref, *const *mut c_void, *const c_int, usize, *const usize, *const usize, usize, *const Ref, usize
        ) -> Ref;
        allocate = "DPCTLaligned_alloc_device": fn(usize, usize, Ref) -> *mut c_void;
        free = "DPCTLfree_with_queue": fn(*mut c_void, Ref);
        bundle_from_source = "DPCTLKernelBundle_CreateFromOCLSource": fn(Ref, Ref, *const c_char, *const c_char) -> Ref;
        bundle_from_spirv = "DPCTLKernelBundle_CreateFromSpirv": fn(Ref, Ref, *const c_void, usize, *const c_char) -> Ref;
        bundle_kernel = "DPCTLKernelBundle_GetKernel": fn(Ref, *const c_char) -> Ref;
        bundle_delete = "DPCTLKernelBundle_Delete": fn(Ref);
        kernel_delete = "DPCTLKernel_Delete": fn(Ref);
        kernel_arguments = "DPCTLKernel_GetNumArgs": fn(Ref) -> usize;
        kernel_work_group = "DPCTLKernel_GetWorkGroupSize": fn(Ref) -> usize;
        kernel_multiple = "DPCTLKernel_GetPreferredWorkGroupSizeMultiple": fn(Ref) -> usize;
        kernel_private_bytes = "DPCTLKernel_GetPrivateMemSize": fn(Ref) -> usize;
        kernel_sub_group = "DPCTLKernel_GetMaxSubGroupSize": fn(Ref) -> u32;
        event_wait = "DPCTLEvent_WaitAndThrow": fn(Ref);
        event_delete = "DPCTLEvent_Delete": fn(Ref);
        event_start = "DPCTLEvent_GetProfilingInfoStart": fn(Ref) -> u64;
        event_end = "DPCTLEvent_GetProfilingInfoEnd": fn(Ref) -> u64;
    }
}
