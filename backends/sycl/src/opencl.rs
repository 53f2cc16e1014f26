//! A queue of OpenCL, without SYCL. Memory is shared virtual memory where the device has it. Elsewhere it is buffers
//! behind made-up addresses, which a launch turns into the buffer that they fall into.

use crate::device::Properties;
use crate::error::{Result, SyclError};
use crate::library::{OpenClLibrary, load_opencl};
use crate::opencl_info::{all_devices, device_info, devices, info, number, properties, text};
use crate::queue::{Build, Handle, Kernel, Queue, Resources, span};
use farro_backends::device::cache::{Cache, Key, Origin};
use farro_backends::print::{Printed, RawValue};
use farro_sycl_sys::opencl::{self as sys, Object, OpenCl, Status, Svm};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Alignment of shared virtual memory, the largest that OpenCL grants, and distance of made-up addresses.
const ALIGNMENT: u64 = 128;

/// What OpenCL's compiler says about a text on the device of this name.
pub(crate) fn build_log(device: &str, printed: &Printed, options: &str) -> Option<String> {
    let properties = devices().ok()?.into_iter().find(|found| found.name == device)?;
    let queue = OpenClQueue::open(properties.ordinal, None).ok()?;
    match queue.build(printed, options) {
        Err(SyclError::Build { log, .. }) => Some(log),
        _ => None,
    }
}

/// A block behind made-up addresses.
#[derive(Debug)]
struct Buffer {
    object: usize,
    len: u64,
}

#[derive(Debug, Default)]
struct State {
    /// By address, where there is no shared virtual memory.
    buffers: BTreeMap<u64, Buffer>,
    next_address: u64,
    /// Parts of buffers that queued launches use.
    parts: Vec<usize>,
    /// Events of launches that are timed.
    timed: Option<Vec<usize>>,
}

/// One in-order queue of one device.
#[derive(Debug)]
pub(crate) struct OpenClQueue {
    api: &'static OpenCl,
    svm: Option<&'static Svm>,
    device: Object,
    context: Object,
    queue: Object,
    properties: Properties,
    cache: Option<Arc<Cache>>,
    /// Also keeps threads from setting the arguments of one kernel at one time.
    state: Mutex<State>,
}
// SAFETY: OpenCL's objects may be used from any thread, except for a kernel's arguments, which the state guards.
unsafe impl Send for OpenClQueue {}
// SAFETY: as above; the pointers themselves are never written.
unsafe impl Sync for OpenClQueue {}

impl OpenClQueue {
    pub fn open(ordinal: usize, cache: Option<Arc<Cache>>) -> Result<Self> {
        let OpenClLibrary { api, svm } = load_opencl()?;
        let list = all_devices(api);
        let missing = |reason: String| SyclError::NoDevice { route: "OpenCL".into(), asked: ordinal, reason };
        let Some((device, platform)) = list.get(ordinal) else {
            return Err(missing(match list.len() {
                0 => "the loader knows none; install a driver such as pocl-opencl-icd".into(),
                count => format!("there are {count}"),
            }));
        };
        let properties = properties(api, *device, platform, ordinal);
        // Coarse-grained buffers are all that is needed.
        let has_svm = number(&device_info(api, *device, sys::DEVICE_SVM)) & 1 != 0;
        let mut code = 0;
        // SAFETY: the device is live; the calls write one number.
        let (context, queue) = unsafe {
            let context = (api.context_create)(null(), 1, device, null(), null_mut(), &mut code);
            if code != 0 {
                return Err(missing(format!("{} gives no context (code {code})", properties.title())));
            }
            let queue = (api.queue_create)(context, *device, sys::QUEUE_PROFILING, &mut code);
            if code != 0 {
                (api.context_release)(context);
                return Err(missing(format!("{} gives no queue (code {code})", properties.title())));
            }
            (context, queue)
        };
        let state = State { next_address: 1 << 40, ..State::default() };
        let svm = svm.as_ref().filter(|_| has_svm);
        Ok(OpenClQueue { api, svm, device: *device, context, queue, properties, cache, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn check(&self, call: &str, code: Status) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let message = format!("code {code}");
        Err(SyclError::Call { call: call.into(), device: self.properties.title(), message })
    }
    fn exhausted(&self, asked: u64) -> SyclError {
        let Properties { max_allocation: largest, global_bytes: total, .. } = self.properties;
        SyclError::OutOfMemory { device: self.properties.title(), asked, largest, total }
    }
    /// The buffer that an address falls into, and where in it.
    fn place(&self, state: &State, address: u64) -> Result<(Object, u64, u64)> {
        let found = state.buffers.range(..=address).next_back().filter(|(start, buffer)| address - *start < buffer.len);
        let (start, buffer) = found.ok_or(SyclError::OutOfRange { offset: address, bytes: 0, len: 0 })?;
        Ok((std::ptr::with_exposed_provenance_mut(buffer.object), address - start, buffer.len))
    }

    /// A program made from a cached binary, or from the text.
    fn program(&self, printed: &Printed, options: &str) -> Result<(Object, bool)> {
        let Some(cache) = &self.cache else { return Ok((self.build_source(printed, options)?, false)) };
        let Properties { name, vendor, driver, .. } = &self.properties;
        let parts = ["opencl", name, vendor, driver, options, &printed.text].map(str::as_bytes);
        let key = Key::new(&parts);
        let mut built = None;
        let (binary, origin) = cache.get_or_build(key, || {
            let program = self.build_source(printed, options)?;
            built = Some(program);
            Ok::<_, SyclError>(self.binary(program))
        })?;
        if let Some(program) = built {
            return Ok((program, false));
        }
        match self.build_binary(&binary, options) {
            Some(program) => Ok((program, origin != Origin::Built)),
            None => {
                cache.forget(&key);
                Ok((self.build_source(printed, options)?, false))
            }
        }
    }
    fn build_source(&self, printed: &Printed, options: &str) -> Result<Object> {
        let failed = |log| SyclError::Build { kernel: printed.kernel.clone(), device: self.properties.title(), log };
        let options = CString::new(options).map_err(|_| failed("an option holds a zero byte".into()))?;
        let (source, len) = (printed.text.as_ptr().cast(), printed.text.len());
        let mut code = 0;
        // SAFETY: the text has that length, device and context are live, and the log is copied before the release.
        unsafe {
            let program = (self.api.program_from_source)(self.context, 1, &source, &len, &mut code);
            self.check("clCreateProgramWithSource", code)?;
            if (self.api.program_build)(program, 1, &self.device, options.as_ptr(), null(), null_mut()) != 0 {
                let log = info(|size, to, actual| {
                    (self.api.build_info)(program, self.device, sys::BUILD_LOG, size, to, actual)
                });
                (self.api.program_release)(program);
                return Err(failed(text(&log)));
            }
            Ok(program)
        }
    }
    fn build_binary(&self, binary: &[u8], options: &str) -> Option<Object> {
        let options = CString::new(options).ok()?;
        let (pointer, len) = (binary.as_ptr(), binary.len());
        let (mut status, mut code) = (0, 0);
        // SAFETY: one device with one binary of that length.
        unsafe {
            let program =
                (self.api.program_from_binary)(self.context, 1, &self.device, &len, &pointer, &mut status, &mut code);
            if code != 0 || status != 0 {
                return None;
            }
            if (self.api.program_build)(program, 1, &self.device, options.as_ptr(), null(), null_mut()) != 0 {
                (self.api.program_release)(program);
                return None;
            }
            Some(program)
        }
    }
    /// The binary of a built program; nothing where there is none.
    fn binary(&self, program: Object) -> Vec<u8> {
        let mut size = 0usize;
        let bytes = size_of::<usize>();
        // SAFETY: there is one device, so one size and one pointer; the buffer is as large as the size says.
        unsafe {
            let to = (&raw mut size).cast();
            if (self.api.program_info)(program, sys::PROGRAM_BINARY_SIZES, bytes, to, null_mut()) != 0 {
                return Vec::new();
            }
            let mut binary = vec![0u8; size];
            let mut pointer = binary.as_mut_ptr();
            let to = (&raw mut pointer).cast();
            match (self.api.program_info)(program, sys::PROGRAM_BINARIES, bytes, to, null_mut()) {
                0 => binary,
                _ => Vec::new(),
            }
        }
    }
    fn resources(&self, kernel: Object) -> Resources {
        let get = |name| {
            // SAFETY: kernel and device are live, and the call writes at most as many bytes as it is told.
            let bytes = info(|size, to, actual| unsafe {
                (self.api.kernel_group_info)(kernel, self.device, name, size, to, actual)
            });
            (!bytes.is_empty()).then(|| number(&bytes))
        };
        Resources {
            private_bytes: get(sys::KERNEL_PRIVATE_BYTES).unwrap_or(0),
            spill_bytes: get(sys::KERNEL_SPILL_BYTES),
            local_bytes: get(sys::KERNEL_LOCAL_BYTES),
            max_work_group: get(sys::KERNEL_WORK_GROUP).map_or(self.properties.max_work_group, |n| n as usize),
            multiple: get(sys::KERNEL_MULTIPLE).unwrap_or(1) as usize,
            sub_group: None,
        }
    }
    fn set_arguments(&self, kernel: &Kernel, raw: Object, values: &[RawValue], state: &mut State) -> Result<()> {
        for (i, (value, is_pointer)) in values.iter().zip(&kernel.is_pointer).enumerate() {
            let i = i as u32;
            // SAFETY: the kernel is live, and each value has the bytes that are told.
            let code = unsafe {
                match (is_pointer, self.svm) {
                    (false, _) => {
                        (self.api.kernel_argument)(raw, i, value.bytes.into(), (&raw const value.bits).cast())
                    }
                    (true, Some(svm)) => {
                        (svm.kernel_argument)(raw, i, std::ptr::with_exposed_provenance(value.bits as usize))
                    }
                    (true, None) => {
                        let object = if value.bits == 0 { null_mut() } else { self.part(state, value.bits)? };
                        (self.api.kernel_argument)(raw, i, size_of::<Object>(), (&raw const object).cast())
                    }
                }
            };
            self.check("setting a kernel's arguments", code)?;
        }
        Ok(())
    }
    /// The buffer, or part of a buffer, that begins at an address.
    fn part(&self, state: &mut State, address: u64) -> Result<Object> {
        let (buffer, offset, len) = self.place(state, address)?;
        if offset == 0 {
            return Ok(buffer);
        }
        let region = [offset as usize, (len - offset) as usize];
        let mut code = 0;
        // SAFETY: the buffer is live and the region lies in it.
        let part = unsafe {
            (self.api.sub_buffer_create)(
                buffer,
                sys::MEM_READ_WRITE,
                sys::BUFFER_REGION,
                region.as_ptr().cast(),
                &mut code,
            )
        };
        self.check("making a part of a buffer (its offset may not be aligned)", code)?;
        state.parts.push(part.expose_provenance());
        Ok(part)
    }
    fn release_parts(&self, state: &mut State) {
        for part in state.parts.drain(..) {
            // SAFETY: made by `part`; the launches that use it have ended.
            unsafe { (self.api.memory_release)(std::ptr::with_exposed_provenance_mut(part)) };
        }
    }
}

impl Drop for OpenClQueue {
    fn drop(&mut self) {
        // SAFETY: both are owned and not used afterwards; queued work is waited for first.
        unsafe {
            (self.api.finish)(self.queue);
            let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
            for part in state.parts.drain(..) {
                (self.api.memory_release)(std::ptr::with_exposed_provenance_mut(part));
            }
            (self.api.queue_release)(self.queue);
            (self.api.context_release)(self.context);
        }
    }
}

impl Queue for OpenClQueue {
    fn properties(&self) -> &Properties {
        &self.properties
    }
    fn allocate(&self, bytes: u64) -> Result<u64> {
        if let Some(svm) = self.svm {
            // SAFETY: the context is live.
            let pointer =
                unsafe { (svm.allocate)(self.context, sys::MEM_READ_WRITE, bytes as usize, ALIGNMENT as u32) };
            return match pointer.is_null() {
                true => Err(self.exhausted(bytes)),
                false => Ok(pointer.expose_provenance() as u64),
            };
        }
        let mut code = 0;
        // SAFETY: the context is live; the call writes one number.
        let object = unsafe {
            (self.api.buffer_create)(self.context, sys::MEM_READ_WRITE, bytes as usize, null_mut(), &mut code)
        };
        match code {
            0 => {}
            sys::ALLOCATION_FAILURE | sys::OUT_OF_RESOURCES | sys::OUT_OF_HOST_MEMORY | sys::INVALID_BUFFER_SIZE => {
                return Err(self.exhausted(bytes));
            }
            code => self.check("clCreateBuffer", code)?,
        }
        let mut state = self.state();
        let address = state.next_address;
        // A gap, so that an address just past one block lies in no other.
        state.next_address += bytes.next_multiple_of(ALIGNMENT) + ALIGNMENT;
        state.buffers.insert(address, Buffer { object: object.expose_provenance(), len: bytes });
        Ok(address)
    }
    fn free(&self, address: u64) {
        // SAFETY: allocated by this queue and not used afterwards; launches that use it are waited for.
        unsafe {
            (self.api.finish)(self.queue);
            if let Some(svm) = self.svm {
                return (svm.free)(self.context, std::ptr::with_exposed_provenance_mut(address as usize));
            }
            let mut state = self.state();
            self.release_parts(&mut state);
            if let Some(buffer) = state.buffers.remove(&address) {
                (self.api.memory_release)(std::ptr::with_exposed_provenance_mut(buffer.object));
            }
        }
    }
    fn zero(&self, address: u64, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (pattern, len) = (0u8, bytes as usize);
        let from = (&raw const pattern).cast();
        // SAFETY: the block has that many bytes; the pattern has been copied when the call returns.
        let code = unsafe {
            match self.svm {
                Some(svm) => {
                    let to = std::ptr::with_exposed_provenance_mut(address as usize);
                    (svm.fill)(self.queue, to, from, 1, len, 0, null(), null_mut())
                }
                None => {
                    let (buffer, offset, _) = self.place(&self.state(), address)?;
                    (self.api.fill)(self.queue, buffer, from, 1, offset as usize, len, 0, null(), null_mut())
                }
            }
        };
        self.check("filling memory", code)
    }
    fn read(&self, address: u64, to: &mut [u8]) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        let (pointer, len) = (to.as_mut_ptr().cast(), to.len());
        // SAFETY: both have that many bytes, and the call waits.
        let code = unsafe {
            match self.svm {
                Some(svm) => {
                    let from = std::ptr::with_exposed_provenance(address as usize);
                    (svm.copy)(self.queue, 1, pointer, from, len, 0, null(), null_mut())
                }
                None => {
                    let (buffer, offset, _) = self.place(&self.state(), address)?;
                    (self.api.read)(self.queue, buffer, 1, offset as usize, len, pointer, 0, null(), null_mut())
                }
            }
        };
        self.check("copying to the host", code)
    }
    fn write(&self, address: u64, from: &[u8]) -> Result<()> {
        if from.is_empty() {
            return Ok(());
        }
        let (pointer, len) = (from.as_ptr().cast(), from.len());
        // SAFETY: both have that many bytes, and the call waits.
        let code = unsafe {
            match self.svm {
                Some(svm) => {
                    let to = std::ptr::with_exposed_provenance_mut(address as usize);
                    (svm.copy)(self.queue, 1, to, pointer, len, 0, null(), null_mut())
                }
                None => {
                    let (buffer, offset, _) = self.place(&self.state(), address)?;
                    (self.api.write)(self.queue, buffer, 1, offset as usize, len, pointer, 0, null(), null_mut())
                }
            }
        };
        self.check("copying from the host", code)
    }
    fn build(&self, printed: &Printed, options: &str) -> Result<Build> {
        let (program, from_cache) = self.program(printed, options)?;
        let failed =
            |log: String| SyclError::Build { kernel: printed.kernel.clone(), device: self.properties.title(), log };
        let entry = CString::new(printed.entry.as_str()).map_err(|_| failed("its name holds a zero byte".into()))?;
        let mut code = 0;
        // SAFETY: the program is live, and the kernel keeps what it needs of it.
        let kernel = unsafe {
            let kernel = (self.api.kernel_create)(program, entry.as_ptr(), &mut code);
            (self.api.program_release)(program);
            kernel
        };
        if code != 0 {
            return Err(failed(format!("the program has no kernel `{}` (code {code})", printed.entry)));
        }
        // SAFETY: the kernel is live, and the call writes at most as many bytes as it is told.
        let arguments = number(&info(|size, to, actual| unsafe {
            (self.api.kernel_info)(kernel, sys::KERNEL_ARGUMENTS, size, to, actual)
        }));
        if arguments as usize != printed.parameters.len() {
            self.release(kernel.expose_provenance());
            return Err(failed(format!("it takes {arguments} parameters, not {}", printed.parameters.len())));
        }
        Ok(Build { handle: kernel.expose_provenance(), resources: self.resources(kernel), from_cache })
    }
    fn release(&self, handle: Handle) {
        // SAFETY: made by `build` and not used afterwards; OpenCL keeps it for launches that are queued.
        unsafe { (self.api.kernel_release)(std::ptr::with_exposed_provenance_mut(handle)) };
    }
    unsafe fn submit(&self, kernel: &Kernel, teams: usize, items: usize, values: &[RawValue]) -> Result<()> {
        let raw: Object = std::ptr::with_exposed_provenance_mut(kernel.handle);
        let mut state = self.state();
        self.set_arguments(kernel, raw, values, &mut state)?;
        let (global, local) = (teams * items, items);
        let mut event = null_mut();
        // SAFETY: kernel and queue are live; the caller answers for the values.
        let code = unsafe { (self.api.launch)(self.queue, raw, 1, null(), &global, &local, 0, null(), &mut event) };
        self.check("launching a kernel", code)?;
        match &mut state.timed {
            Some(events) => events.push(event.expose_provenance()),
            None => {
                // SAFETY: the event is ours and not used afterwards.
                unsafe { (self.api.event_release)(event) };
            }
        }
        Ok(())
    }
    fn wait(&self) -> Result<()> {
        // SAFETY: the queue is live.
        self.check("waiting for the queue", unsafe { (self.api.finish)(self.queue) })?;
        self.release_parts(&mut self.state());
        Ok(())
    }
    fn begin_timing(&self) {
        self.state().timed = Some(Vec::new());
    }
    fn end_timing(&self) -> Result<u64> {
        let events = self.state().timed.take().unwrap_or_default();
        let waited = self.wait();
        let times = events.into_iter().map(|event| {
            let event = std::ptr::with_exposed_provenance_mut(event);
            let get = |name| {
                // SAFETY: the event is live, and the call writes at most as many bytes as it is told.
                number(&info(|size, to, actual| unsafe { (self.api.event_profile)(event, name, size, to, actual) }))
            };
            let times = (get(sys::PROFILING_START), get(sys::PROFILING_END));
            // SAFETY: the event is ours and not used afterwards.
            unsafe { (self.api.event_release)(event) };
            times
        });
        let span = span(times);
        waited.map(|()| span)
    }
}
