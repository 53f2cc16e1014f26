//! Queues of work, events that time it, and graphs that replay it.

use crate::device::Device;
use crate::error::Result;
use crate::fault::Launches;
use crate::launch::FunctionInner;
use cudarc::driver::sys::{self, CUresult};
use std::sync::Arc;

/// A queue of work on a device: what is queued runs in order. Clones share it.
#[derive(Debug, Clone)]
pub struct Stream {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    device: Device,
    raw: sys::CUstream,
    launches: Arc<Launches>,
}
// SAFETY: the driver's functions may be called with one stream from any thread.
unsafe impl Send for Inner {}
// SAFETY: as above; the handle itself is never written.
unsafe impl Sync for Inner {}

impl Stream {
    /// A new queue, which does not wait for others (nor for the legacy default stream).
    pub fn new(device: &Device) -> Result<Self> {
        device.bind()?;
        let mut raw = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is current; the call writes one handle.
        device.check("cuStreamCreate", unsafe { sys::cuStreamCreate(&mut raw, flags) })?;
        let launches = Arc::new(Launches::new());
        device.fault().watch(&launches);
        Ok(Stream { inner: Arc::new(Inner { device: device.clone(), raw, launches }) })
    }

    /// The device it queues work for.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Waits for everything that was queued, and reports what failed in it.
    pub fn synchronize(&self) -> Result<()> {
        self.device().bind()?;
        // SAFETY: the stream is live and its context current.
        self.device().check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw()) })?;
        self.inner.launches.finished();
        Ok(())
    }

    /// What is queued from here on waits for the event.
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.device().bind()?;
        // SAFETY: stream and event are live.
        self.device().check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(self.raw(), event.raw, 0) })
    }

    /// Milliseconds of device time that the queued work takes, with the result of the closure that queues it.
    pub fn time<T>(&self, queue: impl FnOnce(&Stream) -> Result<T>) -> Result<(T, f32)> {
        let (begin, end) = (Event::new(self.device())?, Event::new(self.device())?);
        begin.record(self)?;
        let value = queue(self)?;
        end.record(self)?;
        self.synchronize()?;
        Ok((value, end.milliseconds_since(&begin)?))
    }

    /// Records what the closure queues on this stream, without running it, into a graph to replay.
    ///
    /// The closure may launch, fill and copy between buffers. What waits for the device (copies to or from the host,
    /// synchronization) or frees memory fails in there. When it fails, nothing is left behind.
    pub fn capture(&self, queue: impl FnOnce(&Stream) -> Result<()>) -> Result<Graph> {
        self.device().bind()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is live and its context current. Ended by `Capture`, whatever happens.
        self.device().check("cuStreamBeginCapture", unsafe { sys::cuStreamBeginCapture_v2(self.raw(), mode) })?;
        self.inner.launches.begin_recording();
        let capture = Capture { stream: self, graph: std::ptr::null_mut() };
        queue(self)?;
        let (template, functions) = capture.end()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the graph is live; the call writes one handle.
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&mut raw, template.graph, 0) };
        self.device().check("cuGraphInstantiate", code)?;
        Ok(Graph { device: self.device().clone(), raw, functions })
    }

    pub(crate) fn raw(&self) -> sys::CUstream {
        self.inner.raw
    }

    #[inline]
    pub(crate) fn launched(&self, function: &Arc<FunctionInner>) {
        self.inner.launches.add(function);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.device.bind_for_drop();
        // SAFETY: created by `new` and not used afterwards. Queued work still finishes; wait for it, since the
        // functions that are remembered here may be unloaded next.
        unsafe {
            sys::cuStreamSynchronize(self.raw);
            sys::cuStreamDestroy_v2(self.raw);
        }
    }
}

/// A recording under way, or the graph that came of it. Dropping it ends the recording and frees the graph.
struct Capture<'a> {
    stream: &'a Stream,
    graph: sys::CUgraph,
}

impl<'a> Capture<'a> {
    fn end(mut self) -> Result<(Capture<'a>, Vec<Arc<FunctionInner>>)> {
        let functions = self.stream.inner.launches.end_recording();
        // SAFETY: the stream is recording; the call writes one handle, or null.
        let code = unsafe { sys::cuStreamEndCapture(self.stream.raw(), &mut self.graph) };
        self.stream.device().check("cuStreamEndCapture", code)?;
        Ok((self, functions))
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        self.stream.device().bind_for_drop();
        if self.graph.is_null() {
            self.stream.inner.launches.end_recording();
            // SAFETY: the stream is live. When it no longer records, this is an error without consequence.
            unsafe { sys::cuStreamEndCapture(self.stream.raw(), &mut self.graph) };
        }
        if !self.graph.is_null() {
            // SAFETY: the graph came from the recording and is not used afterwards.
            unsafe { sys::cuGraphDestroy(self.graph) };
        }
    }
}

/// Recorded work that is launched as one. It keeps the kernels alive that it launches, but not the buffers.
#[derive(Debug)]
pub struct Graph {
    device: Device,
    raw: sys::CUgraphExec,
    functions: Vec<Arc<FunctionInner>>,
}
// SAFETY: the driver's functions may be called with one graph from any thread, one at a time.
unsafe impl Send for Graph {}

impl Graph {
    /// Queues the recorded work.
    ///
    /// # Safety
    /// What held for the launches that were recorded must hold again: every buffer that they name is still alive.
    pub unsafe fn launch(&self, stream: &Stream) -> Result<()> {
        self.device.bind()?;
        // SAFETY: graph and stream are live; the caller answers for the work in it.
        let code = unsafe { sys::cuGraphLaunch(self.raw, stream.raw()) };
        self.device.check("cuGraphLaunch", code)?;
        self.functions.iter().for_each(|function| stream.launched(function));
        Ok(())
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.device.bind_for_drop();
        // SAFETY: instantiated by `capture` and not used afterwards; launches under way finish first.
        unsafe { sys::cuGraphExecDestroy(self.raw) };
    }
}

/// A point in a stream's work, with the time when the device got there.
#[derive(Debug)]
pub struct Event {
    device: Device,
    raw: sys::CUevent,
}
// SAFETY: the driver's functions may be called with one event from any thread.
unsafe impl Send for Event {}
// SAFETY: as above; the handle itself is never written.
unsafe impl Sync for Event {}

impl Event {
    /// An event that has not been recorded.
    pub fn new(device: &Device) -> Result<Self> {
        device.bind()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the context is current; the call writes one handle.
        device.check("cuEventCreate", unsafe { sys::cuEventCreate(&mut raw, 0) })?;
        Ok(Event { device: device.clone(), raw })
    }

    /// Marks the end of what has been queued so far.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.device.bind()?;
        // SAFETY: event and stream are live.
        self.device.check("cuEventRecord", unsafe { sys::cuEventRecord(self.raw, stream.raw()) })
    }

    /// Waits until the device got there.
    pub fn synchronize(&self) -> Result<()> {
        self.device.bind()?;
        // SAFETY: the event is live.
        self.device.check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.raw) })
    }

    /// Whether the device got there.
    pub fn is_done(&self) -> Result<bool> {
        self.device.bind()?;
        // SAFETY: the event is live.
        match unsafe { sys::cuEventQuery(self.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => self.device.check("cuEventQuery", code).map(|()| true),
        }
    }

    /// Milliseconds between an earlier event and this one; both must have been recorded and have happened.
    pub fn milliseconds_since(&self, earlier: &Event) -> Result<f32> {
        self.device.bind()?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are live; the call writes one number.
        let code = unsafe { (self.device.driver().event_elapsed)(&mut milliseconds, earlier.raw, self.raw) };
        self.device.check("cuEventElapsedTime", code)?;
        Ok(milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        self.device.bind_for_drop();
        // SAFETY: created by `new` and not used afterwards.
        unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}
