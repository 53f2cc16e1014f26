//! Which kernel to blame when a device's context is lost.
//!
//! The driver reports the failure of a kernel in some later call, without a name. So each stream remembers which
//! functions were launched since its last synchronization, and the first failure that comes up names them. Without an
//! allocation or a search of more than a few pointers per launch.

use crate::error::{CudaError, Result};
use crate::launch::FunctionInner;
use cudarc::driver::sys::{self, CUresult};
use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// How many functions a stream remembers between synchronizations.
const REMEMBERED: usize = 8;

/// The functions that were launched on one stream and may still run.
#[derive(Debug)]
pub(crate) struct Launches(Mutex<List>);

#[derive(Debug)]
struct List {
    functions: Vec<Arc<FunctionInner>>,
    /// Some function did not fit.
    incomplete: bool,
    /// While the stream records a graph: the functions that the graph will launch.
    recording: Option<Vec<Arc<FunctionInner>>>,
}

impl Launches {
    pub(crate) fn new() -> Self {
        Launches(Mutex::new(List { functions: Vec::with_capacity(REMEMBERED), incomplete: false, recording: None }))
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a launch.
    #[inline]
    pub(crate) fn add(&self, function: &Arc<FunctionInner>) {
        let list = &mut *self.list();
        let (functions, limit) = match &mut list.recording {
            Some(functions) => (functions, usize::MAX),
            None => (&mut list.functions, REMEMBERED),
        };
        if functions.iter().rev().any(|known| Arc::ptr_eq(known, function)) {
            return;
        }
        if functions.len() < limit {
            functions.push(Arc::clone(function));
        } else {
            list.incomplete = true;
        }
    }

    /// Everything that was launched has finished.
    pub(crate) fn finished(&self) {
        let mut list = self.list();
        list.incomplete = false;
        list.functions.clear();
    }

    /// Launches from here on are recorded into a graph.
    pub(crate) fn begin_recording(&self) {
        self.list().recording = Some(Vec::new());
    }

    /// The functions that were recorded.
    pub(crate) fn end_recording(&self) -> Vec<Arc<FunctionInner>> {
        self.list().recording.take().unwrap_or_default()
    }
}

/// What a device's context has gone through.
#[derive(Debug, Default)]
pub(crate) struct Fault {
    first: OnceLock<String>,
    streams: Mutex<Vec<Weak<Launches>>>,
}

impl Fault {
    /// Fails once the context is lost.
    #[inline]
    pub(crate) fn check_alive(&self) -> Result<()> {
        match self.first.get() {
            None => Ok(()),
            Some(first) => Err(CudaError::ContextLost { first: first.clone() }),
        }
    }

    /// A new stream whose launches are to be remembered.
    pub(crate) fn watch(&self, launches: &Arc<Launches>) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|stream| stream.strong_count() > 0);
        streams.push(Arc::downgrade(launches));
    }

    /// Everything on every stream has finished.
    pub(crate) fn all_finished(&self) {
        self.live_streams().iter().for_each(|launches| launches.finished());
    }

    /// The error for a code that is not success.
    #[cold]
    pub(crate) fn failure(&self, call: &str, code: CUresult) -> CudaError {
        if !takes_context(code) {
            return driver_failure(call, code);
        }
        let error = CudaError::KernelFault { kernel: self.suspects(), code: code as u32, message: message(code) };
        match self.first.set(error.to_string()) {
            Ok(()) => error,
            Err(_) => CudaError::ContextLost { first: self.first.get().cloned().unwrap_or_default() },
        }
    }

    fn live_streams(&self) -> Vec<Arc<Launches>> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter().filter_map(Weak::upgrade).collect()
    }

    /// The names of the functions that may have failed.
    fn suspects(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        let mut incomplete = false;
        for launches in self.live_streams() {
            let list = launches.list();
            incomplete |= list.incomplete;
            for function in &list.functions {
                if !names.contains(&function.name) {
                    names.push(function.name.clone());
                }
            }
        }
        if incomplete {
            names.push("another".into());
        }
        if names.is_empty() { "unknown".into() } else { names.join("` or `") }
    }
}

/// Whether the driver gives this error for every call that follows.
fn takes_context(code: CUresult) -> bool {
    use CUresult::*;
    matches!(
        code,
        CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUDA_ERROR_CONTAINED
            | CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_TENSOR_MEMORY_LEAK
    )
}

/// The error for a code that says nothing about a kernel.
#[cold]
pub(crate) fn driver_failure(call: &str, code: CUresult) -> CudaError {
    CudaError::Driver { call: call.to_string(), code: code as u32, message: message(code) }
}

/// The driver's words for a code.
fn message(code: CUresult) -> String {
    let mut text = std::ptr::null();
    // SAFETY: a code came from the driver, so it is loaded; the call writes one pointer.
    let known = unsafe { sys::cuGetErrorString(code, &mut text) } == CUresult::CUDA_SUCCESS && !text.is_null();
    if !known {
        return format!("{code:?}");
    }
    // SAFETY: not null, and a string that lives as long as the driver.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
