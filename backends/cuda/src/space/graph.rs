//! Launches that replay as one.

use super::CudaSpace;
use crate::error::CudaError;
use crate::memory::DeviceBuffer;
use crate::stream::Graph;
use farro_portability::{LaunchError, RealElement};
use std::sync::Arc;

/// Launches that were recorded once and are queued as one.
#[derive(Debug)]
pub struct CudaGraph {
    graph: Graph,
    /// Team scratch that the recorded launches use.
    _team_scratch: Option<Arc<DeviceBuffer>>,
}

impl<P: RealElement> CudaSpace<P> {
    /// Records what the closure launches, without running it. The closure runs twice: once to compile its kernels and
    /// reserve their scratch, then to record. It may launch
    /// kernels of this space, but not wait, reduce to the host or create views; other threads must leave the space alone.
    ///
    /// # Errors
    /// Those of the closure, and when something in it cannot be recorded.
    pub fn capture(&self, mut run: impl FnMut() -> Result<(), LaunchError>) -> Result<CudaGraph, LaunchError> {
        self.shared.rehearse(&mut run)?;
        let mut failure = None;
        let recorded = self.stream().capture(|_| {
            run().map_err(|error| {
                let message = error.to_string();
                failure = Some(error);
                CudaError::Driver { call: "recording launches".into(), code: 0, message }
            })
        });
        match (recorded, failure) {
            (_, Some(error)) => Err(error),
            (Ok(graph), None) => Ok(CudaGraph { graph, _team_scratch: self.shared.team_scratch() }),
            (Err(error), None) => Err(self.shared.error("recorded launches", &error)),
        }
    }

    /// Queues the recorded launches.
    ///
    /// # Safety
    /// Every view that was passed to a recorded launch is still alive, and none of them is borrowed for another use
    /// that overlaps in time: the graph reads and writes them as the recorded launches did.
    ///
    /// # Errors
    /// When the device fails.
    pub unsafe fn replay(&self, graph: &CudaGraph) -> Result<(), LaunchError> {
        // SAFETY: passed on from this function's contract; team scratch is kept by the graph.
        unsafe { graph.graph.launch(self.stream()) }.map_err(|error| self.shared.error("recorded launches", &error))
    }
}
