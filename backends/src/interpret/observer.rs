//! What looks on while a program is interpreted: the sanitizer and the counter.

use super::lanes::{Lanes, Row};
use super::memory::Object;
use super::plan::Code;
use crate::trace::ir::{MemoryId, Site};
use farro_portability::LaunchError;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessMode {
    Load,
    Store,
    Atomic,
}

impl AccessMode {
    /// The word for messages.
    pub fn name(self) -> &'static str {
        match self {
            AccessMode::Load => "load",
            AccessMode::Store => "store",
            AccessMode::Atomic => "atomic update",
        }
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub teams: usize,
    pub items: usize,
    pub vector_length: usize,
    pub private_slots: usize,
    /// Bytes of a real of the program.
    pub real_bytes: usize,
}

/// One access to memory by some work items, inside the bounds.
#[derive(Clone, Copy)]
pub(crate) struct MemoryAccess<'m> {
    pub memory: MemoryId,
    pub mode: AccessMode,
    pub offsets: Row<'m>,
    pub lanes: Lanes<'m>,
    pub site: Option<Site>,
}

/// What an observer objects to.
pub(crate) struct Objection {
    pub kind: String,
    /// The work item whose multi-index is reported.
    pub item: usize,
    /// The threads; that of the work item if none.
    pub threads: Option<String>,
}

/// Looks on, and may stop the launch.
pub(crate) trait Observer {
    /// Whether faults of single operations end the launch.
    const CHECKS: bool;
    /// A launch begins.
    ///
    /// # Errors
    /// When the observer cannot follow the launch.
    fn start(&mut self, kernel: &str, shape: Shape, objects: &[Object<'_>]) -> Result<(), LaunchError>;
    /// A team begins.
    fn begin_team(&mut self, team: usize);
    /// A computation.
    fn compute(&mut self, code: Code, lanes: usize);
    /// An access.
    fn access(&mut self, access: MemoryAccess<'_>) -> Result<(), Objection>;
    /// An access to private memory.
    fn private(&mut self, mode: AccessMode, number: usize, lanes: Lanes<'_>) -> Result<(), Objection>;
    /// An exchange of values between lanes.
    fn exchange(&mut self, lanes: usize);
    /// The whole team waits.
    fn barrier(&mut self);
    /// All teams have ended.
    fn finish(&mut self);
}

/// A work item, as messages name it.
pub(crate) fn name_item(item: usize, vector_length: usize) -> String {
    if vector_length == 1 {
        format!("thread {item}")
    } else {
        format!("thread {} lane {}", item / vector_length, item % vector_length)
    }
}
