//! The checked target: a kernel runs under a sanitizer.
//!
//! | fault | found by |
//! |---|---|
//! | out-of-bounds access | each index against its extent, of views and of scratch |
//! | uninitialised read | scratch and private memory that this team, or this work item, did not write |
//! | data race | two work items of a team at one element with no barrier between, one of them storing |
//! | conflict of teams | two teams at one element of a view, one of them storing: nothing orders teams |
//! | partial barrier | a barrier that some work items do not reach |
//! | lane exchange | with a lane that does not take part, or that the vector does not have |
//! | integer faults | division by zero, and 32-bit results that do not fit; 64-bit arithmetic wraps |
//!
//! Atomic updates do not conflict with each other, but with plain loads and stores. Two stores conflict even if they
//! store the same value. Division of reals by zero follows IEEE 754 and is no fault. The first fault ends the launch
//! with [`LaunchError::Fault`]; then nothing is written.

mod device;
mod sanitizer;
mod shadow;

pub use device::DeviceModel;

use crate::interpret::{self, MAX_ITEMS, Plan, Plans};
use crate::launch::{PreparedKernels, check_limits};
use crate::trace::Program;
use farro_portability::{ArgsOf, HostMemory, Kernel, LaunchError, LaunchInfo, Limits, RealElement, Space, TeamPolicy};
use sanitizer::Sanitizer;
use std::marker::PhantomData;

/// Runs kernels in host memory under a sanitizer, computing in precision `P`.
pub struct CheckedSpace<P: RealElement = f64> {
    model: Option<DeviceModel>,
    prepared: PreparedKernels,
    plans: Plans,
    marker: PhantomData<P>,
}

impl<P: RealElement> CheckedSpace<P> {
    /// A space with generous limits.
    pub fn new() -> Self {
        CheckedSpace { model: None, prepared: PreparedKernels::default(), plans: Plans::default(), marker: PhantomData }
    }
    /// A space with the limits of a device: what does not launch there does not launch here, with the same error.
    pub fn imitating(model: DeviceModel) -> Self {
        CheckedSpace { model: Some(model), ..Self::new() }
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
        self.run_plan::<K>(program, &Plan::new(program, true)?, policy, args)
    }
    fn run_plan<K: Kernel>(
        &self,
        program: &Program,
        plan: &Plan,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, HostMemory>,
    ) -> Result<(), LaunchError> {
        check_limits::<K>(&self.name(), &self.limits(), policy, &program.launch_info())?;
        interpret::run::<K, _>(program, plan, policy, args, &mut Sanitizer::default())
    }
}

impl<P: RealElement> Default for CheckedSpace<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// Limits of a space that interprets kernels and imitates no device.
pub(crate) fn interpreter_limits(range_chunk: usize, range_team: usize) -> Limits {
    Limits {
        max_team: MAX_ITEMS,
        max_league: i32::MAX as usize,
        scratch_bytes: [64 << 20, 1 << 30],
        vector_lengths: Limits::powers_of_two(64),
        best_vector_length: 32,
        range_chunk,
        range_team,
        concurrency: 1,
    }
}

impl<P: RealElement> Space for CheckedSpace<P> {
    type Memory = HostMemory;

    fn name(&self) -> String {
        match self.model {
            Some(model) => format!("checked (limits of {})", model.name),
            None => "checked".into(),
        }
    }
    fn memory(&self) -> &HostMemory {
        &HostMemory
    }
    fn limits(&self) -> Limits {
        // Chunks longer than a team, so that ranges exercise their loops.
        self.model.map_or_else(|| interpreter_limits(160, 64), |model| model.limits())
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
        let plan = self.plans.get(&prepared, true)?;
        self.run_plan::<K>(&prepared.program, &plan, policy, args)
    }
    fn fence(&self) -> Result<(), LaunchError> {
        Ok(())
    }
}
