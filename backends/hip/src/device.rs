//! Devices, and one stream of one device with everything that is done on it.

use crate::arch::Architecture;
use crate::error::{HipError, Result};
use crate::library::{Handle, Runtime, load_runtime};
use farro_backends::print::{MAX_PARAMETERS, RawValue};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

/// Numbers of attributes, the same from ROCm 5 on.
mod attribute {
    pub const MAX_GRID_X: i32 = 29;
    pub const MAX_THREADS_PER_BLOCK: i32 = 56;
    pub const MULTIPROCESSORS: i32 = 63;
    pub const MAX_SHARED_BYTES: i32 = 74;
    pub const WARP_SIZE: i32 = 87;
}

/// Numbers of errors.
mod code {
    pub const OUT_OF_MEMORY: i32 = 2;
    pub const NO_BINARY_FOR_GPU: i32 = 209;
    pub const ILLEGAL_ADDRESS: i32 = 700;
    pub const LAUNCH_TIMEOUT: i32 = 702;
    pub const ASSERT: i32 = 710;
    pub const LAUNCH_FAILURE: i32 = 719;
}

/// What a device is and allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceProperties {
    /// The device's number.
    pub ordinal: usize,
    /// The product's name.
    pub name: String,
    /// The architecture with its features, such as `gfx90a:sramecc+:xnack-`.
    pub arch: String,
    /// Compute units.
    pub compute_units: usize,
    /// Lanes of a wave.
    pub wavefront: usize,
    /// Largest team.
    pub max_threads_per_block: usize,
    /// Bytes of local memory that a team may have.
    pub shared_bytes_per_block: usize,
    /// Largest league.
    pub max_grid: usize,
}

impl DeviceProperties {
    /// The architecture without features.
    pub fn plain_arch(&self) -> &str {
        self.arch.split(':').next().unwrap_or(&self.arch)
    }
    /// The name for messages.
    pub fn title(&self) -> String {
        format!("{} (HIP device {}, {})", self.name, self.ordinal, self.plain_arch())
    }
}

/// The devices of this machine.
///
/// # Errors
/// Where there is no run-time or no device.
pub fn devices() -> Result<Vec<DeviceProperties>> {
    let api = load_runtime()?;
    (0..count(api)?).map(|ordinal| properties(api, ordinal)).collect()
}

fn count(api: &Runtime) -> Result<usize> {
    let mut count = 0;
    // SAFETY: the call writes one number.
    let code = unsafe { (api.device_count)(&mut count) };
    match (code, count) {
        (0, 1..) => Ok(count as usize),
        (0, _) => Err(HipError::NoDevice { reason: format!("the run-time {} sees none", api.path) }),
        (code, _) => {
            let reason = format!("{} (code {code}, from {})", api.message(code), api.path);
            Err(HipError::NoDevice { reason })
        }
    }
}

fn properties(api: &Runtime, ordinal: usize) -> Result<DeviceProperties> {
    let number = ordinal as c_int;
    let get = |attribute: i32| -> Result<usize> {
        let mut value = 0;
        // SAFETY: the call writes one number.
        let code = unsafe { (api.device_attribute)(&mut value, attribute, number) };
        check(api, "hipDeviceGetAttribute", code)?;
        Ok(value.max(0) as usize)
    };
    let mut name = [0u8; 256];
    // SAFETY: the buffer has as many bytes as the call is told.
    let code = unsafe { (api.device_name)(name.as_mut_ptr().cast::<c_char>(), name.len() as c_int, number) };
    check(api, "hipDeviceGetName", code)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let arch = api.architecture(number);
    let arch = arch.ok_or_else(|| HipError::NoDevice { reason: format!("device {ordinal} tells no architecture") })?;
    Ok(DeviceProperties {
        ordinal,
        name: String::from_utf8_lossy(name).into_owned(),
        arch,
        compute_units: get(attribute::MULTIPROCESSORS)?,
        wavefront: get(attribute::WARP_SIZE)?,
        max_threads_per_block: get(attribute::MAX_THREADS_PER_BLOCK)?,
        shared_bytes_per_block: get(attribute::MAX_SHARED_BYTES)?,
        max_grid: get(attribute::MAX_GRID_X)?,
    })
}

fn check(api: &Runtime, call: &str, code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(HipError::Call { call: call.into(), code, message: api.message(code) }),
    }
}

/// One stream of one device.
#[derive(Debug)]
pub(crate) struct Queue {
    api: &'static Runtime,
    pub properties: DeviceProperties,
    stream: Handle,
    /// Kernels that were launched since the last synchronization.
    launched: Mutex<Vec<String>>,
}
// SAFETY: the run-time's functions may be called with one stream from any thread.
unsafe impl Send for Queue {}
// SAFETY: as above; the handle itself is never written.
unsafe impl Sync for Queue {}

impl Queue {
    pub fn open(ordinal: usize) -> Result<Self> {
        let api = load_runtime()?;
        let devices = count(api)?;
        if ordinal >= devices {
            return Err(HipError::NoDevice { reason: format!("number {ordinal} was asked for, there are {devices}") });
        }
        let properties = properties(api, ordinal)?;
        let arch = properties.plain_arch();
        if Architecture::named(arch).is_none() {
            return Err(HipError::UnknownArchitecture {
                asked: arch.into(),
                known: Architecture::names(),
                compiler: "this backend".into(),
            });
        }
        let mut stream = null_mut();
        /// `hipStreamNonBlocking`
        const NON_BLOCKING: u32 = 1;
        // SAFETY: the device exists; the call writes one handle.
        unsafe {
            check(api, "hipSetDevice", (api.set_device)(ordinal as c_int))?;
            check(api, "hipStreamCreateWithFlags", (api.stream_create)(&mut stream, NON_BLOCKING))?;
        }
        Ok(Queue { api, properties, stream, launched: Mutex::default() })
    }

    /// The device is the calling thread's business.
    fn bind(&self) -> Result<()> {
        // SAFETY: the device exists.
        self.check("hipSetDevice", unsafe { (self.api.set_device)(self.properties.ordinal as c_int) })
    }
    fn launched(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.launched.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn check(&self, call: &str, code: c_int) -> Result<()> {
        if matches!(code, code::ILLEGAL_ADDRESS | code::LAUNCH_TIMEOUT | code::ASSERT | code::LAUNCH_FAILURE) {
            let names = self.launched().join("` or `");
            let kernel = if names.is_empty() { "unknown".into() } else { names };
            return Err(HipError::KernelFault { kernel, code, message: self.api.message(code) });
        }
        check(self.api, call, code)
    }

    pub fn synchronize(&self) -> Result<()> {
        self.bind()?;
        // SAFETY: the stream is live.
        self.check("hipStreamSynchronize", unsafe { (self.api.stream_wait)(self.stream) })?;
        self.launched().clear();
        Ok(())
    }
    /// Milliseconds that the work which the closure queues takes on the device.
    pub fn time<T, E>(
        &self,
        run: impl FnOnce() -> std::result::Result<T, E>,
        failed: impl Fn(HipError) -> E,
    ) -> std::result::Result<(T, f32), E> {
        let begin = Event::new(self).map_err(&failed)?;
        let end = Event::new(self).map_err(&failed)?;
        begin.record().map_err(&failed)?;
        let value = run()?;
        end.record().map_err(&failed)?;
        self.synchronize().map_err(&failed)?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are live and have happened; the call writes one number.
        let code = unsafe { (self.api.event_elapsed)(&mut milliseconds, begin.raw, end.raw) };
        self.check("hipEventElapsedTime", code).map_err(&failed)?;
        Ok((value, milliseconds))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the stream is owned and not used afterwards; queued work is waited for first.
        unsafe {
            (self.api.set_device)(self.properties.ordinal as c_int);
            (self.api.stream_wait)(self.stream);
            (self.api.stream_destroy)(self.stream);
        }
    }
}

struct Event<'a> {
    queue: &'a Queue,
    raw: Handle,
}

impl<'a> Event<'a> {
    fn new(queue: &'a Queue) -> Result<Self> {
        queue.bind()?;
        let mut raw = null_mut();
        // SAFETY: the call writes one handle.
        queue.check("hipEventCreate", unsafe { (queue.api.event_create)(&mut raw) })?;
        Ok(Event { queue, raw })
    }
    fn record(&self) -> Result<()> {
        self.queue.bind()?;
        // SAFETY: event and stream are live.
        self.queue.check("hipEventRecord", unsafe { (self.queue.api.event_record)(self.raw, self.queue.stream) })
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the event is owned and not used afterwards.
        unsafe { (self.queue.api.event_destroy)(self.raw) };
    }
}

/// A block of device memory, freed when dropped.
#[derive(Debug)]
pub struct Block {
    queue: Arc<Queue>,
    pub(crate) address: u64,
    pub(crate) len: u64,
}

impl Block {
    pub(crate) fn new(queue: &Arc<Queue>, bytes: u64) -> Result<Self> {
        queue.bind()?;
        let api = queue.api;
        let mut pointer = null_mut();
        if bytes > 0 {
            // SAFETY: the call writes one pointer.
            let code = unsafe { (api.allocate)(&mut pointer, bytes as usize) };
            if code == code::OUT_OF_MEMORY {
                let (mut free, mut total) = (0, 0);
                // SAFETY: the call writes two numbers.
                unsafe { (api.memory_info)(&mut free, &mut total) };
                return Err(HipError::OutOfMemory { asked: bytes, free: free as u64, total: total as u64 });
            }
            queue.check("hipMalloc", code)?;
        }
        Ok(Block { queue: Arc::clone(queue), address: pointer.expose_provenance() as u64, len: bytes })
    }
    fn at(&self, offset: u64, bytes: usize) -> Result<*mut c_void> {
        match offset.checked_add(bytes as u64) {
            Some(end) if end <= self.len => Ok(std::ptr::with_exposed_provenance_mut((self.address + offset) as usize)),
            _ => Err(HipError::OutOfRange { offset, bytes: bytes as u64, len: self.len }),
        }
    }
    pub(crate) fn zero(&self) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let (queue, to) = (&self.queue, self.at(0, self.len as usize)?);
        queue.bind()?;
        // SAFETY: the block has that many bytes, and it is freed after the stream got there.
        queue.check("hipMemsetAsync", unsafe { (queue.api.fill)(to, 0, self.len as usize, queue.stream) })
    }
    pub(crate) fn read(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        let (queue, from) = (&self.queue, self.at(offset, to.len())?);
        if to.is_empty() {
            return Ok(());
        }
        queue.bind()?;
        // SAFETY: both have that many bytes, and the copy is waited for.
        let code = unsafe { (queue.api.copy_to_host)(to.as_mut_ptr().cast(), from, to.len(), queue.stream) };
        queue.check("hipMemcpyDtoH", code)?;
        queue.synchronize()
    }
    pub(crate) fn write(&self, offset: u64, from: &[u8]) -> Result<()> {
        let (queue, to) = (&self.queue, self.at(offset, from.len())?);
        if from.is_empty() {
            return Ok(());
        }
        queue.bind()?;
        // SAFETY: both have that many bytes, and the copy is waited for.
        let code = unsafe { (queue.api.copy_to_device)(to, from.as_ptr().cast(), from.len(), queue.stream) };
        queue.check("hipMemcpyHtoD", code)?;
        queue.synchronize()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.address != 0 {
            // SAFETY: allocated by `new` and not used afterwards; the call waits for work that uses it.
            unsafe {
                (self.queue.api.set_device)(self.queue.properties.ordinal as c_int);
                (self.queue.api.free)(std::ptr::with_exposed_provenance_mut(self.address as usize));
            }
        }
    }
}

/// A kernel on the device. It keeps its module loaded.
#[derive(Debug)]
pub struct Function {
    queue: Arc<Queue>,
    module: Handle,
    raw: Handle,
    name: String,
    max_team: u32,
}
// SAFETY: the run-time's functions may be called with one function from any thread.
unsafe impl Send for Function {}
// SAFETY: as above; the handles themselves are never written.
unsafe impl Sync for Function {}

impl Function {
    pub(crate) fn load(
        queue: &Arc<Queue>,
        kernel: &str,
        entry: &str,
        code_object: &[u8],
        target: &str,
        max_team: u32,
    ) -> Result<Self> {
        let plain = target.split(':').next().unwrap_or(target);
        let wrong = || HipError::WrongArchitecture {
            kernel: kernel.into(),
            binary: target.into(),
            device: queue.properties.arch.clone(),
        };
        if plain != queue.properties.plain_arch() {
            return Err(wrong());
        }
        queue.bind()?;
        let missing = || HipError::CodeObject { kernel: kernel.into(), reason: format!("it has no kernel `{entry}`") };
        let symbol = CString::new(entry).map_err(|_| missing())?;
        let mut module = null_mut();
        // SAFETY: the code object is a whole ELF file; the call writes one handle.
        let code = unsafe { (queue.api.module_load)(&mut module, code_object.as_ptr().cast()) };
        if code == code::NO_BINARY_FOR_GPU {
            return Err(wrong());
        }
        queue.check("hipModuleLoadData", code)?;
        let mut function =
            Function { queue: Arc::clone(queue), module, raw: null_mut(), name: kernel.into(), max_team };
        // SAFETY: the module is live and the name ends in zero; the call writes one handle.
        let code = unsafe { (queue.api.module_function)(&mut function.raw, module, symbol.as_ptr()) };
        queue.check("hipModuleGetFunction", code)?;
        Ok(function)
    }

    /// # Safety
    /// The values are those of the kernel's signature, and addresses are those of live blocks of this device.
    pub(crate) unsafe fn launch(&self, teams: usize, items: usize, lds: usize, values: &[RawValue]) -> Result<()> {
        let queue = &self.queue;
        if items as u64 > u64::from(self.max_team) {
            return Err(HipError::LaunchTooLarge {
                kernel: self.name.clone(),
                what: "work items of a team, by the kernel's launch bounds".into(),
                asked: items as u64,
                allowed: self.max_team.into(),
            });
        }
        queue.bind()?;
        let mut pointers = [null_mut::<c_void>(); MAX_PARAMETERS];
        for (pointer, value) in pointers.iter_mut().zip(values) {
            *pointer = (&raw const value.bits).cast_mut().cast();
        }
        let (teams, items, lds) = (teams as u32, items as u32, lds as u32);
        let list = pointers.as_mut_ptr();
        // SAFETY: function and stream are live; the caller answers for the values.
        let code =
            unsafe { (queue.api.launch)(self.raw, teams, 1, 1, items, 1, 1, lds, queue.stream, list, null_mut()) };
        let mut launched = queue.launched();
        if !launched.contains(&self.name) {
            launched.push(self.name.clone());
        }
        drop(launched);
        queue.check(&format!("launching kernel `{}`", self.name), code)
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        // SAFETY: the module is owned and not used afterwards; work that still runs is waited for.
        unsafe {
            (self.queue.api.set_device)(self.queue.properties.ordinal as c_int);
            (self.queue.api.stream_wait)(self.queue.stream);
            (self.queue.api.module_unload)(self.module);
        }
    }
}
