//! The candidates that the model expects to be fastest.

use super::case::Case;
use super::device::Device;
use super::model::{Cost, Model};
use super::space::{Candidate, Space};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A candidate with its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The candidate.
    pub candidate: Candidate,
    /// Its cost.
    pub cost: Cost,
    /// Its synchronisations, which decide between candidates of equal cost.
    pub synchronisations: usize,
}

impl Ranked {
    fn key(&self) -> (f64, usize) {
        (self.cost.nanoseconds, self.synchronisations)
    }
}
impl Eq for Ranked {}
impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((a, m), (b, n)) = (self.key(), other.key());
        a.total_cmp(&b).then(m.cmp(&n))
    }
}

/// All candidates of a case, ranked.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The best ones, the best first.
    pub best: Vec<Ranked>,
    /// Number of candidates, the one with one work item a cell included.
    pub count: usize,
    /// Candidates whose teams do not fit the device.
    pub too_large: usize,
    /// Combinations that are no candidates, because the stages would share their buffer badly.
    pub unbalanced: usize,
}

/// Ranks all candidates of a case and keeps the best `wanted`.
pub fn rank(case: &Case, device: &Device, wanted: usize) -> Ranking {
    let (space, model) = (Space::of(case), Model { case, device });
    let (mut best, mut too_large) = (BinaryHeap::new(), 0);
    for group in space.groups() {
        for candidate in group {
            let Some(cost) = model.cost(&candidate) else {
                too_large += 1;
                continue;
            };
            let worst: Option<&Ranked> = best.peek();
            let full = best.len() >= wanted;
            if full && worst.is_none_or(|worst| cost.nanoseconds > worst.cost.nanoseconds) {
                continue;
            }
            best.push(Ranked { candidate, cost, synchronisations: candidate.synchronisations(case) });
            if best.len() > wanted {
                best.pop();
            }
        }
    }
    Ranking { best: best.into_sorted_vec(), count: space.count(), too_large, unbalanced: space.unbalanced() }
}
