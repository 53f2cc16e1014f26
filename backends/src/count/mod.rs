//! The counting target: a kernel runs as written, and everything it does is counted.
//!
//! Counts are exact: they come from executing the traced program for all work items, with the results written as on any
//! other target. What no result depends on is not executed, as a compiler would drop it. Work that all work items of a
//! team do alike (such as arithmetic at team level) counts once for each, as on a device.
//!
//! Requests are accesses by whole warps, 32 neighbouring work items of a team unless another width is asked for. Each
//! view is taken to start at an address that is a multiple of 128 bytes; so is each subview.

mod counter;
mod counts;

pub use counts::{Accesses, Compulsory, Counts, MemoryCounts, Operations, Rates, ViewCounts};

use crate::checked::{DeviceModel, interpreter_limits};
use crate::interpret::{self, Plan, Plans};
use crate::launch::{PreparedKernels, check_limits};
use crate::trace::Program;
use counter::Counter;
use farro_portability::{ArgsOf, HostMemory, Kernel, LaunchError, LaunchInfo, Limits, RealElement, Space, TeamPolicy};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts since a space was made or reset.
#[derive(Default)]
struct Record {
    last: Counts,
    total: Counts,
    by_kernel: BTreeMap<&'static str, Counts>,
}

/// Runs kernels in host memory and counts what they do, computing in precision `P`.
pub struct CountSpace<P: RealElement = f64> {
    warp: usize,
    model: Option<DeviceModel>,
    prepared: PreparedKernels,
    plans: Plans,
    record: Mutex<Record>,
    marker: PhantomData<P>,
}

impl<P: RealElement> CountSpace<P> {
    /// Requests of 32 work items.
    pub fn new() -> Self {
        CountSpace {
            warp: 32,
            model: None,
            prepared: PreparedKernels::default(),
            plans: Plans::default(),
            record: Mutex::default(),
            marker: PhantomData,
        }
    }
    /// Requests of `warp` neighbouring work items; at least one.
    pub fn with_warp(warp: usize) -> Self {
        CountSpace { warp: warp.max(1), ..Self::new() }
    }
    /// The limits and the warp of a device.
    pub fn imitating(model: DeviceModel) -> Self {
        CountSpace { warp: model.vector_length, model: Some(model), ..Self::new() }
    }
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The counts of the last launch that succeeded.
    pub fn counts(&self) -> Counts {
        self.record().last.clone()
    }
    /// The counts of all launches since the space was made or reset.
    pub fn total(&self) -> Counts {
        self.record().total.clone()
    }
    /// The same for each kernel, by its name.
    pub fn by_kernel(&self) -> BTreeMap<&'static str, Counts> {
        self.record().by_kernel.clone()
    }
    /// Starts counting anew; returns what was counted.
    pub fn reset(&self) -> Counts {
        std::mem::take(&mut *self.record()).total
    }
    /// Runs a program in the place of kernel `K`, for example a mutation of what `K` traces to.
    ///
    /// # Errors
    /// As [`Space::launch`].
    pub fn run_program<K: Kernel>(
        &self,
        program: &Program,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, HostMemory>,
    ) -> Result<(), LaunchError> {
        self.run_plan::<K>(program, &Plan::new(program, false)?, policy, args)
    }
    fn run_plan<K: Kernel>(
        &self,
        program: &Program,
        plan: &Plan,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, HostMemory>,
    ) -> Result<(), LaunchError> {
        check_limits::<K>(&self.name(), &self.limits(), policy, &program.launch_info())?;
        let mut counter = Counter::new(self.warp);
        interpret::run::<K, _>(program, plan, policy, args, &mut counter)?;
        let counts = counter.into_counts();
        let mut record = self.record();
        record.total += &counts;
        *record.by_kernel.entry(K::NAME).or_default() += &counts;
        record.last = counts;
        Ok(())
    }
}

impl<P: RealElement> Default for CountSpace<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: RealElement> Space for CountSpace<P> {
    type Memory = HostMemory;

    fn name(&self) -> String {
        match self.model {
            Some(model) => format!("count (limits of {})", model.name),
            None => "count".into(),
        }
    }
    fn memory(&self) -> &HostMemory {
        &HostMemory
    }
    fn limits(&self) -> Limits {
        self.model.map_or_else(|| interpreter_limits(256, 256), |model| model.limits())
    }
    fn launch_info<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, HostMemory>,
    ) -> Result<LaunchInfo, LaunchError> {
        Ok(self.prepared.get::<K, P, _>(kernel, policy, args)?.info.clone())
    }
    fn launch<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, HostMemory>,
    ) -> Result<(), LaunchError> {
        let prepared = self.prepared.get::<K, P, _>(kernel, policy, &args)?;
        let plan = self.plans.get(&prepared, false)?;
        self.run_plan::<K>(&prepared.program, &plan, policy, args)
    }
    fn fence(&self) -> Result<(), LaunchError> {
        Ok(())
    }
}
