//! OpenCL 1.2, with the shared virtual memory of 2.0 where the loader has it. Failures are numbers other than 0.

use std::ffi::{c_char, c_void};

/// An object of OpenCL behind a pointer.
pub type Object = *mut c_void;
/// A status: 0 or a negative number.
pub type Status = i32;

/// `CL_DEVICE_TYPE_ALL`.
pub const DEVICE_TYPE_ALL: u64 = 0xffff_ffff;
/// `CL_DEVICE_NOT_FOUND`.
pub const DEVICE_NOT_FOUND: Status = -1;
/// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
pub const ALLOCATION_FAILURE: Status = -4;
/// `CL_OUT_OF_RESOURCES`.
pub const OUT_OF_RESOURCES: Status = -5;
/// `CL_OUT_OF_HOST_MEMORY`.
pub const OUT_OF_HOST_MEMORY: Status = -6;
/// `CL_INVALID_BUFFER_SIZE`.
pub const INVALID_BUFFER_SIZE: Status = -61;
/// `CL_PLATFORM_NOT_FOUND_KHR`.
pub const PLATFORM_NOT_FOUND: Status = -1001;
/// `CL_PLATFORM_NAME`.
pub const PLATFORM_NAME: u32 = 0x0902;
/// `CL_DEVICE_TYPE`.
pub const DEVICE_TYPE: u32 = 0x1000;
/// `CL_DEVICE_MAX_COMPUTE_UNITS`.
pub const DEVICE_COMPUTE_UNITS: u32 = 0x1002;
/// `CL_DEVICE_MAX_WORK_GROUP_SIZE`.
pub const DEVICE_MAX_WORK_GROUP: u32 = 0x1004;
/// `CL_DEVICE_MAX_MEM_ALLOC_SIZE`.
pub const DEVICE_MAX_ALLOCATION: u32 = 0x1010;
/// `CL_DEVICE_GLOBAL_MEM_SIZE`.
pub const DEVICE_GLOBAL_BYTES: u32 = 0x101F;
/// `CL_DEVICE_LOCAL_MEM_SIZE`.
pub const DEVICE_LOCAL_BYTES: u32 = 0x1023;
/// `CL_DEVICE_NAME`.
pub const DEVICE_NAME: u32 = 0x102B;
/// `CL_DRIVER_VERSION`.
pub const DRIVER_VERSION: u32 = 0x102D;
/// `CL_DEVICE_VERSION`.
pub const DEVICE_VERSION: u32 = 0x102F;
/// `CL_DEVICE_EXTENSIONS`.
pub const DEVICE_EXTENSIONS: u32 = 0x1030;
/// `CL_DEVICE_OPENCL_C_VERSION`.
pub const DEVICE_C_VERSION: u32 = 0x103D;
/// `CL_DEVICE_SVM_CAPABILITIES`.
pub const DEVICE_SVM: u32 = 0x1053;
/// `CL_DEVICE_SUB_GROUP_SIZES_INTEL`.
pub const DEVICE_SUB_GROUP_SIZES: u32 = 0x4108;
/// `CL_QUEUE_PROFILING_ENABLE`.
pub const QUEUE_PROFILING: u64 = 2;
/// `CL_MEM_READ_WRITE`.
pub const MEM_READ_WRITE: u64 = 1;
/// `CL_BUFFER_CREATE_TYPE_REGION`.
pub const BUFFER_REGION: u32 = 0x1220;
/// `CL_PROGRAM_BINARY_SIZES`.
pub const PROGRAM_BINARY_SIZES: u32 = 0x1165;
/// `CL_PROGRAM_BINARIES`.
pub const PROGRAM_BINARIES: u32 = 0x1166;
/// `CL_PROGRAM_BUILD_LOG`.
pub const BUILD_LOG: u32 = 0x1183;
/// `CL_KERNEL_NUM_ARGS`.
pub const KERNEL_ARGUMENTS: u32 = 0x1191;
/// `CL_KERNEL_WORK_GROUP_SIZE`.
pub const KERNEL_WORK_GROUP: u32 = 0x11B0;
/// `CL_KERNEL_LOCAL_MEM_SIZE`.
pub const KERNEL_LOCAL_BYTES: u32 = 0x11B2;
/// `CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE`.
pub const KERNEL_MULTIPLE: u32 = 0x11B3;
/// `CL_KERNEL_PRIVATE_MEM_SIZE`.
pub const KERNEL_PRIVATE_BYTES: u32 = 0x11B4;
/// `CL_KERNEL_SPILL_MEM_SIZE_INTEL`.
pub const KERNEL_SPILL_BYTES: u32 = 0x4109;
/// `CL_PROFILING_COMMAND_START`.
pub const PROFILING_START: u32 = 0x1282;
/// `CL_PROFILING_COMMAND_END`.
pub const PROFILING_END: u32 = 0x1283;

super::functions! {
    /// The functions of OpenCL 1.2.
    OpenCl {
        platforms = "clGetPlatformIDs": fn(u32, *mut Object, *mut u32) -> Status;
        platform_info = "clGetPlatformInfo": fn(Object, u32, usize, *mut c_void, *mut usize) -> Status;
        devices = "clGetDeviceIDs": fn(Object, u64, u32, *mut Object, *mut u32) -> Status;
        device_info = "clGetDeviceInfo": fn(Object, u32, usize, *mut c_void, *mut usize) -> Status;
        context_create = "clCreateContext": fn(*const isize, u32, *const Object, *const c_void, *mut c_void, *mut Status) -> Object;
        context_release = "clReleaseContext": fn(Object) -> Status;
        queue_create = "clCreateCommandQueue": fn(Object, Object, u64, *mut Status) -> Object;
        queue_release = "clReleaseCommandQueue": fn(Object) -> Status;
        finish = "clFinish": fn(Object) -> Status;
        buffer_create = "clCreateBuffer": fn(Object, u64, usize, *mut c_void, *mut Status) -> Object;
        sub_buffer_create = "clCreateSubBuffer": fn(Object, u64, u32, *const c_void, *mut Status) -> Object;
        memory_release = "clReleaseMemObject": fn(Object) -> Status;
        /// Queue, buffer, whether to wait, offset, bytes, destination, events.
        read = "clEnqueueReadBuffer": fn(Object, Object, u32, usize, usize, *mut c_void, u32, *const Object, *mut Object) -> Status;
        /// Queue, buffer, whether to wait, offset, bytes, source, events.
        write = "clEnqueueWriteBuffer": fn(Object, Object, u32, usize, usize, *const c_void, u32, *const Object, *mut Object) -> Status;
        /// Queue, buffer, pattern, its bytes, offset, bytes, events.
        fill = "clEnqueueFillBuffer": fn(Object, Object, *const c_void, usize, usize, usize, u32, *const Object, *mut Object) -> Status;
        program_from_source = "clCreateProgramWithSource": fn(Object, u32, *const *const c_char, *const usize, *mut Status) -> Object;
        program_from_binary = "clCreateProgramWithBinary": fn(
            Object, u32, *const Object, *const usize, *const *const u8, *mut Status, *mut Status
        ) -> Object;
        program_build = "clBuildProgram": fn(Object, u32, *const Object, *const c_char, *const c_void, *mut c_void) -> Status;
        program_info = "clGetProgramInfo": fn(Object, u32, usize, *mut c_void, *mut usize) -> Status;
        build_info = "clGetProgramBuildInfo": fn(Object, Object, u32, usize, *mut c_void, *mut usize) -> Status;
        program_release = "clReleaseProgram": fn(Object) -> Status;
        kernel_create = "clCreateKernel": fn(Object, *const c_char, *mut Status) -> Object;
        kernel_release = "clReleaseKernel": fn(Object) -> Status;
        kernel_argument = "clSetKernelArg": fn(Object, u32, usize, *const c_void) -> Status;
        kernel_info = "clGetKernelInfo": fn(Object, u32, usize, *mut c_void, *mut usize) -> Status;
        kernel_group_info = "clGetKernelWorkGroupInfo": fn(Object, Object, u32, usize, *mut c_void, *mut usize) -> Status;
        /// Queue, kernel, dimensions, offsets, global sizes, local sizes, events.
        launch = "clEnqueueNDRangeKernel": fn(
            Object, Object, u32, *const usize, *const usize, *const usize, u32, *const Object, *mut Object
        ) -> Status;
        event_wait = "clWaitForEvents": fn(u32, *const Object) -> Status;
        event_profile = "clGetEventProfilingInfo": fn(Object, u32, usize, *mut c_void, *mut usize) -> Status;
        event_release = "clReleaseEvent": fn(Object) -> Status;
    }
}

super::functions! {
    /// The functions of shared virtual memory, from OpenCL 2.0 on.
    Svm {
        allocate = "clSVMAlloc": fn(Object, u64, usize, u32) -> *mut c_void;
        free = "clSVMFree": fn(Object, *mut c_void);
        /// Queue, whether to wait, destination, source, bytes, events.
        copy = "clEnqueueSVMMemcpy": fn(Object, u32, *mut c_void, *const c_void, usize, u32, *const Object, *mut Object) -> Status;
        /// Queue, destination, pattern, its bytes, bytes, events.
        fill = "clEnqueueSVMMemFill": fn(Object, *mut c_void, *const c_void, usize, usize, u32, *const Object, *mut Object) -> Status;
        kernel_argument = "clSetKernelArgSVMPointer": fn(Object, u32, *const c_void) -> Status;
    }
}
