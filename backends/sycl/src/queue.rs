//! What both interfaces have in common: one queue of one device, in order.

use crate::device::Properties;
use crate::error::{Result, SyclError};
use crate::stack::with_large_stack;
use farro_backends::print::{Printed, PrintedParameter, RawValue};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

/// A kernel's handle; what it means is the queue's business.
pub(crate) type Handle = usize;

/// What the device's compiler made of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    /// Bytes of private memory of a work item, where the device tells.
    pub private_bytes: u64,
    /// Bytes that did not fit registers, where the device tells.
    pub spill_bytes: Option<u64>,
    /// Bytes of local memory of a work-group, where the device tells.
    pub local_bytes: Option<u64>,
    /// Work items of the largest work-group of this kernel.
    pub max_work_group: usize,
    /// Work-groups are best a multiple of this.
    pub multiple: usize,
    /// Work items of a sub-group, where the device tells.
    pub sub_group: Option<usize>,
}

/// A kernel that was built, and where it came from.
pub(crate) struct Build {
    pub handle: Handle,
    pub resources: Resources,
    pub from_cache: bool,
}

/// One in-order queue.
pub(crate) trait Queue: Debug + Send + Sync {
    fn properties(&self) -> &Properties;
    fn allocate(&self, bytes: u64) -> Result<u64>;
    fn free(&self, address: u64);
    fn zero(&self, address: u64, bytes: u64) -> Result<()>;
    fn read(&self, address: u64, to: &mut [u8]) -> Result<()>;
    fn write(&self, address: u64, from: &[u8]) -> Result<()>;
    fn build(&self, printed: &Printed, options: &str) -> Result<Build>;
    fn release(&self, handle: Handle);
    /// # Safety
    /// The values are those of the kernel's signature, and addresses are those of live memory of this queue.
    unsafe fn submit(&self, kernel: &Kernel, teams: usize, items: usize, values: &[RawValue]) -> Result<()>;
    fn wait(&self) -> Result<()>;
    /// From here on, times of launches are kept.
    fn begin_timing(&self);
    /// Nanoseconds from the start of the first launch that is kept to the end of the last one.
    fn end_timing(&self) -> Result<u64>;
}

/// A built kernel.
#[derive(Debug)]
pub struct Kernel {
    queue: Arc<dyn Queue>,
    pub(crate) handle: Handle,
    pub(crate) name: String,
    /// Which parameters are addresses.
    pub(crate) is_pointer: Vec<bool>,
    pub(crate) max_work_group: usize,
    /// The sizes of work-groups that it was launched with.
    launched: Mutex<Vec<usize>>,
}

impl Kernel {
    pub(crate) fn new(queue: Arc<dyn Queue>, printed: &Printed, build: &Build) -> Self {
        let is_pointer = |parameter: &PrintedParameter| !matches!(parameter, PrintedParameter::Scalar { .. });
        Kernel {
            queue,
            handle: build.handle,
            name: printed.kernel.clone(),
            is_pointer: printed.parameters.iter().map(is_pointer).collect(),
            max_work_group: build.resources.max_work_group,
            launched: Mutex::default(),
        }
    }
    /// Whether a launch with so many work-items may compile once more: a CPU's driver does for each size of a group.
    fn compiles(&self, items: usize) -> bool {
        if self.queue.properties().is_gpu {
            return false;
        }
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !launched.contains(&items);
        if is_new {
            launched.push(items);
        }
        is_new
    }
    /// # Safety
    /// As [`Queue::submit`].
    pub(crate) unsafe fn submit(&self, teams: usize, items: usize, values: &[RawValue]) -> Result<()> {
        if items > self.max_work_group {
            return Err(SyclError::LaunchTooLarge {
                kernel: self.name.clone(),
                device: self.queue.properties().title(),
                asked: items,
                allowed: self.max_work_group,
            });
        }
        // SAFETY: passed on from this function's contract.
        let submit = || unsafe { self.queue.submit(self, teams, items, values) };
        if self.compiles(items) { with_large_stack(submit) } else { submit() }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.queue.release(self.handle);
    }
}

/// A block of device memory, freed when dropped.
#[derive(Debug)]
pub struct Block {
    queue: Arc<dyn Queue>,
    pub(crate) address: u64,
    pub(crate) len: u64,
}

impl Block {
    pub(crate) fn new(queue: &Arc<dyn Queue>, bytes: u64) -> Result<Self> {
        let properties = queue.properties();
        let exhausted = SyclError::OutOfMemory {
            device: properties.title(),
            asked: bytes,
            largest: properties.max_allocation,
            total: properties.global_bytes,
        };
        if bytes > properties.max_allocation {
            return Err(exhausted);
        }
        let address = if bytes == 0 { 0 } else { queue.allocate(bytes)? };
        Ok(Block { queue: Arc::clone(queue), address, len: bytes })
    }
    pub(crate) fn range(&self, offset: u64, bytes: u64) -> Result<u64> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.len => Ok(self.address + offset),
            _ => Err(SyclError::OutOfRange { offset, bytes, len: self.len }),
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.address != 0 {
            self.queue.free(self.address);
        }
    }
}

/// The first start and the last end of some launches.
pub(crate) fn span(times: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    let (start, end) = times.into_iter().fold((u64::MAX, 0), |(a, b), (start, end)| (a.min(start), b.max(end)));
    end.saturating_sub(start)
}
