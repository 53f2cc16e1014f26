//! Interprets traced programs: all work items of a team in lockstep, teams one after another in order.
//!
//! Each step runs over all active work items before the next, so the cost of dispatch is shared by the team, and the
//! result is the same in each run. Views that a kernel may write are copied first and written back when all teams have
//! ended without a fault.

mod arithmetic;
mod check;
mod lanes;
mod liveness;
mod machine;
mod memory;
mod observer;
mod plan;

pub(crate) use lanes::Lanes;
pub(crate) use memory::{Object, Room};
pub(crate) use observer::{AccessMode, MemoryAccess, Objection, Observer, Shape, name_item};
pub(crate) use plan::{Code, Plan};

use crate::launch::{Arguments, Prepared};
use crate::trace::Program;
use farro_portability::{ArgsOf, HostMemory, Kernel, LaunchError, TeamPolicy};
use machine::Machine;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most work items of a team that can be interpreted: observers number them in 16 bits.
pub(crate) const MAX_ITEMS: usize = 1 << 16;

/// A traced kernel with its plan.
type Planned = (Arc<Prepared>, Arc<Plan>);

/// Plans of traced kernels, made at the first launch only.
#[derive(Default)]
pub(crate) struct Plans {
    /// By the address of the traced kernel, which is kept alive.
    by_address: Mutex<HashMap<usize, Planned>>,
}

impl Plans {
    /// The plan of a traced kernel; see [`Plan::new`].
    pub fn get(&self, prepared: &Arc<Prepared>, all_accesses: bool) -> Result<Arc<Plan>, LaunchError> {
        let mut plans = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let address = Arc::as_ptr(prepared).addr();
        if let Some((_, plan)) = plans.get(&address) {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(Plan::new(&prepared.program, all_accesses)?);
        plans.insert(address, (Arc::clone(prepared), Arc::clone(&plan)));
        Ok(plan)
    }
}

/// Runs a program, which may differ from what `K` traces to, with the arguments of kernel `K`.
///
/// Arguments come by value, since handles that may write are exclusive.
pub(crate) fn run<K: Kernel, O: Observer>(
    program: &Program,
    plan: &Plan,
    policy: &TeamPolicy,
    args: ArgsOf<'_, K, HostMemory>,
    observer: &mut O,
) -> Result<(), LaunchError> {
    let arguments = Arguments::collect::<K, _>(&args)?;
    arguments.check_aliasing(K::NAME)?;
    if (policy.team_size(), policy.vector_length()) != (program.team_size, program.vector_length) {
        let message = format!(
            "the program was traced for teams of {} x {}, the policy has {} x {}",
            program.team_size,
            program.vector_length,
            policy.team_size(),
            policy.vector_length()
        );
        return Err(LaunchError::Arguments { kernel: program.name.clone(), message });
    }
    Machine::new(program, plan, policy.league_size(), arguments.as_slice(), observer)?.run().map_err(|stop| *stop)
}
