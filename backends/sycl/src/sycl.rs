//! A queue of the SYCL run-time.

use crate::device::{Properties, Route};
use crate::error::{Result, SyclError};
use crate::library::load_sycl;
use crate::opencl;
use crate::queue::{Build, Handle, Kernel, Queue, Resources, span};
use farro_backends::print::{MAX_PARAMETERS, Printed, RawValue};
use farro_sycl_sys::sycl::{self as sys, Ref, Sycl};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of the last asynchronous error of any queue.
static ASYNCHRONOUS: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn note_error(code: c_int) {
    ASYNCHRONOUS.store(code, Ordering::Relaxed);
}

/// Alignment of device memory.
const ALIGNMENT: usize = 256;

/// All devices.
pub(crate) fn devices() -> Result<Vec<Properties>> {
    let api = load_sycl()?;
    Ok(with_devices(api, |devices| devices.iter().enumerate().map(|(i, &device)| properties(api, device, i)).collect()))
}

/// Runs a closure with references to all devices, which live as long as it runs.
fn with_devices<T>(api: &'static Sycl, run: impl FnOnce(&[Ref]) -> T) -> T {
    // SAFETY: the vector is owned and its elements are; both are deleted below, after their last use.
    unsafe {
        let vector = (api.devices)(sys::ALL_DEVICES);
        let count = if vector.is_null() { 0 } else { (api.devices_size)(vector) };
        let devices: Vec<Ref> =
            (0..count).map(|i| (api.devices_at)(vector, i)).filter(|device| !device.is_null()).collect();
        let value = run(&devices);
        devices.into_iter().for_each(|device| (api.device_delete)(device));
        if !vector.is_null() {
            (api.devices_delete)(vector);
        }
        value
    }
}

fn text(api: &Sycl, text: *const c_char) -> String {
    if text.is_null() {
        return "unknown".into();
    }
    // SAFETY: a string that is ours to delete, and is not used afterwards.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().trim().to_string();
        (api.string_delete)(text);
        copy
    }
}

fn properties(api: &Sycl, device: Ref, ordinal: usize) -> Properties {
    // SAFETY: the device is live; strings and sizes are copied and deleted.
    unsafe {
        let mut count = 0;
        let sizes = (api.device_sub_groups)(device, &mut count);
        let mut sub_groups = Vec::new();
        if !sizes.is_null() {
            sub_groups = std::slice::from_raw_parts(sizes, count).to_vec();
            // One size of 1 is what drivers without sub-groups report.
            sub_groups.retain(|&size| size > 1);
            (api.sizes_delete)(sizes);
        }
        let backend = match (api.device_backend)(device) {
            sys::BACKEND_OPENCL => "over OpenCL",
            sys::BACKEND_LEVEL_ZERO => "over Level Zero",
            _ => "over another backend",
        };
        Properties {
            route: Route::Sycl,
            ordinal,
            name: text(api, (api.device_name)(device)),
            vendor: format!("{} {backend}", text(api, (api.device_vendor)(device))),
            driver: text(api, (api.device_driver)(device)),
            is_gpu: (api.device_is_gpu)(device),
            has_f64: (api.device_has_aspect)(device, sys::ASPECT_FP64),
            compute_units: (api.device_compute_units)(device) as usize,
            max_work_group: (api.device_max_work_group)(device),
            local_bytes: (api.device_local_bytes)(device),
            global_bytes: (api.device_global_bytes)(device),
            max_allocation: (api.device_max_allocation)(device),
            sub_groups,
        }
    }
}

/// One in-order queue of one device.
#[derive(Debug)]
pub(crate) struct SyclQueue {
    api: &'static Sycl,
    device: Ref,
    context: Ref,
    queue: Ref,
    properties: Properties,
    /// Events of launches that are timed.
    timed: Mutex<Option<Vec<usize>>>,
}
// SAFETY: SYCL's objects may be used from any thread.
unsafe impl Send for SyclQueue {}
// SAFETY: as above; the pointers themselves are never written.
unsafe impl Sync for SyclQueue {}

impl SyclQueue {
    pub fn open(ordinal: usize) -> Result<Self> {
        let api = load_sycl()?;
        with_devices(api, |devices| {
            let missing = |reason| SyclError::NoDevice { route: "SYCL".into(), asked: ordinal, reason };
            let Some(&device) = devices.get(ordinal) else {
                return Err(missing(match devices.len() {
                    0 => "the run-time sees none; install a driver, for a CPU `pip install intel-opencl-rt`".into(),
                    count => format!("there are {count}"),
                }));
            };
            let properties = properties(api, device, ordinal);
            // SAFETY: the device is live.
            if !unsafe { (api.device_has_aspect)(device, sys::ASPECT_USM_DEVICE) } {
                let title = properties.title();
                return Err(missing(format!("{title} has no USM device memory; reach it by OpenCL instead")));
            }
            // SAFETY: the device is live; null results are looked for.
            unsafe {
                let context = (api.context_create)(device, Some(note_error), 0);
                let flags = sys::IN_ORDER | sys::ENABLE_PROFILING;
                let queue = match context.is_null() {
                    true => context,
                    false => (api.queue_create)(context, device, Some(note_error), flags),
                };
                if queue.is_null() {
                    return Err(missing(format!("{} gives no queue", properties.title())));
                }
                // The list's own reference is deleted with the list.
                let device = (api.device_copy)(device);
                Ok(SyclQueue { api, device, context, queue, properties, timed: Mutex::default() })
            }
        })
    }

    fn failure(&self, call: &str) -> SyclError {
        let code = ASYNCHRONOUS.swap(0, Ordering::Relaxed);
        let message = match code {
            0 => "the run-time gives no reason here; its own message is on standard error".into(),
            code => format!("the run-time reports the error {code}"),
        };
        SyclError::Call { call: call.into(), device: self.properties.title(), message }
    }
    /// Waits for an event and deletes it.
    fn finish(&self, call: &str, event: Ref) -> Result<()> {
        if event.is_null() {
            return Err(self.failure(call));
        }
        // SAFETY: the event is live and not used afterwards.
        unsafe {
            (self.api.event_wait)(event);
            (self.api.event_delete)(event);
        }
        self.check(call)
    }
    fn check(&self, call: &str) -> Result<()> {
        match ASYNCHRONOUS.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err(self.failure(call)),
        }
    }
    fn timed(&self) -> std::sync::MutexGuard<'_, Option<Vec<usize>>> {
        self.timed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SyclQueue {
    fn drop(&mut self) {
        // SAFETY: all are owned and not used afterwards; queued work is waited for first.
        unsafe {
            (self.api.queue_wait)(self.queue);
            (self.api.queue_delete)(self.queue);
            (self.api.context_delete)(self.context);
            (self.api.device_delete)(self.device);
        }
    }
}

impl Queue for SyclQueue {
    fn properties(&self) -> &Properties {
        &self.properties
    }
    fn allocate(&self, bytes: u64) -> Result<u64> {
        // SAFETY: the queue is live.
        let pointer = unsafe { (self.api.allocate)(ALIGNMENT, bytes as usize, self.queue) };
        if pointer.is_null() {
            let Properties { max_allocation: largest, global_bytes: total, .. } = self.properties;
            return Err(SyclError::OutOfMemory { device: self.properties.title(), asked: bytes, largest, total });
        }
        Ok(pointer.expose_provenance() as u64)
    }
    fn free(&self, address: u64) {
        // SAFETY: allocated by this queue and not used afterwards; launches that use it are waited for.
        unsafe {
            (self.api.queue_wait)(self.queue);
            (self.api.free)(std::ptr::with_exposed_provenance_mut(address as usize), self.queue);
        }
    }
    fn zero(&self, address: u64, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let pointer = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the block has that many bytes.
        let event = unsafe { (self.api.queue_fill)(self.queue, pointer, 0, bytes as usize) };
        self.finish("filling memory", event)
    }
    fn read(&self, address: u64, to: &mut [u8]) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        let from = std::ptr::with_exposed_provenance(address as usize);
        // SAFETY: both have that many bytes, and the copy is waited for.
        let event = unsafe { (self.api.queue_copy)(self.queue, to.as_mut_ptr().cast(), from, to.len()) };
        self.finish("copying to the host", event)
    }
    fn write(&self, address: u64, from: &[u8]) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        let to = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: both have that many bytes, and the copy is waited for.
        let event = unsafe { (self.api.queue_copy)(self.queue, to, from.as_ptr().cast(), from.len()) };
        self.finish("copying from the host", event)
    }
    fn build(&self, printed: &Printed, options: &str) -> Result<Build> {
        let failed =
            |log: String| SyclError::Build { kernel: printed.kernel.clone(), device: self.properties.title(), log };
        let [source, options_text, entry] = [printed.text.as_str(), options, &printed.entry].map(CString::new);
        let zero = |_| failed("the text holds a zero byte".into());
        let (source, options_text, entry) = (source.map_err(zero)?, options_text.map_err(zero)?, entry.map_err(zero)?);
        let api = self.api;
        // SAFETY: context and device are live, the texts end in zero; null results are looked for.
        unsafe {
            let bundle = (api.bundle_from_source)(self.context, self.device, source.as_ptr(), options_text.as_ptr());
            if bundle.is_null() {
                // This interface keeps the log to itself; OpenCL has it.
                let log = opencl::build_log(&self.properties.name, printed, options);
                return Err(failed(log.unwrap_or_else(|| "the run-time gives no log".into())));
            }
            let kernel = (api.bundle_kernel)(bundle, entry.as_ptr());
            (api.bundle_delete)(bundle);
            if kernel.is_null() {
                return Err(failed(format!("the program has no kernel `{}`", printed.entry)));
            }
            let arguments = (api.kernel_arguments)(kernel);
            if arguments != printed.parameters.len() {
                (api.kernel_delete)(kernel);
                return Err(failed(format!("it takes {arguments} parameters, not {}", printed.parameters.len())));
            }
            let resources = Resources {
                private_bytes: (api.kernel_private_bytes)(kernel) as u64,
                spill_bytes: None,
                local_bytes: None,
                max_work_group: (api.kernel_work_group)(kernel),
                multiple: (api.kernel_multiple)(kernel),
                sub_group: Some((api.kernel_sub_group)(kernel) as usize),
            };
            Ok(Build { handle: kernel.expose_provenance(), resources, from_cache: false })
        }
    }
    fn release(&self, handle: Handle) {
        // SAFETY: made by `build` and not used afterwards; the run-time keeps it for launches that are queued.
        unsafe { (self.api.kernel_delete)(std::ptr::with_exposed_provenance_mut(handle)) };
    }
    unsafe fn submit(&self, kernel: &Kernel, teams: usize, items: usize, values: &[RawValue]) -> Result<()> {
        let mut pointers = [std::ptr::null_mut::<c_void>(); MAX_PARAMETERS];
        let mut kinds = [sys::INT64; MAX_PARAMETERS];
        for (i, (value, is_pointer)) in values.iter().zip(&kernel.is_pointer).enumerate() {
            (pointers[i], kinds[i]) = match (is_pointer, value.bytes) {
                (true, _) => (std::ptr::with_exposed_provenance_mut(value.bits as usize), sys::VOID_PTR),
                // Numbers are passed as their bytes, whatever they mean.
                (false, 4) => ((&raw const value.bits).cast_mut().cast(), sys::INT32),
                (false, _) => ((&raw const value.bits).cast_mut().cast(), sys::INT64),
            };
        }
        let (global, local) = ([teams * items, 1, 1], [items, 1, 1]);
        let raw = std::ptr::with_exposed_provenance_mut(kernel.handle);
        // SAFETY: kernel and queue are live; the caller answers for the values.
        let event = unsafe {
            (self.api.queue_submit)(
                raw,
                self.queue,
                pointers.as_ptr(),
                kinds.as_ptr(),
                values.len(),
                global.as_ptr(),
                local.as_ptr(),
                1,
                std::ptr::null(),
                0,
            )
        };
        if event.is_null() {
            return Err(self.failure("launching a kernel"));
        }
        match &mut *self.timed() {
            Some(events) => events.push(event.expose_provenance()),
            // SAFETY: the event is ours and not used afterwards.
            None => unsafe { (self.api.event_delete)(event) },
        }
        Ok(())
    }
    fn wait(&self) -> Result<()> {
        // SAFETY: the queue is live.
        unsafe { (self.api.queue_wait)(self.queue) };
        self.check("waiting for the queue")
    }
    fn begin_timing(&self) {
        *self.timed() = Some(Vec::new());
    }
    fn end_timing(&self) -> Result<u64> {
        let events = self.timed().take().unwrap_or_default();
        let waited = self.wait();
        let times = events.into_iter().map(|event| {
            let event = std::ptr::with_exposed_provenance_mut(event);
            // SAFETY: the event is ours, has happened, and is not used afterwards.
            unsafe {
                let times = ((self.api.event_start)(event), (self.api.event_end)(event));
                (self.api.event_delete)(event);
                times
            }
        });
        let span = span(times);
        waited.map(|()| span)
    }
}
