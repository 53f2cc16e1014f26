//! What a machine can do at most, measured with kernels of the language itself: arithmetic, memory, cache, scratch and
//! atomic updates.
//!
//! The numbers are ceilings of the very path that an operator takes (same launches, same lanes, same threads), so the
//! share of a ceiling that an operator reaches compares like with like. They are kept on disk for each device: see
//! [`store`].

mod kernels;
mod measure;
pub mod store;

pub use measure::{Probe, Sizes, launch_probe, measure};

use serde::{Deserialize, Serialize};

/// Measured ceilings of a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// Fused multiply-adds in registers, each counted as two, in GFLOP/s.
    pub gflops: f64,
    /// `z = a x + y` over arrays far larger than the caches, three elements each, in GB/s.
    pub triad: f64,
    /// `z = x`, two elements each, in GB/s.
    pub copy: f64,
    /// Loads of team scratch, in GB/s.
    pub scratch: f64,
    /// Loads of an array of 8 MiB, which lies in L2 of a GPU and in L3 of a processor, in GB/s.
    pub cache: f64,
    /// Atomic additions to neighbouring elements of an array far larger than the caches, in 10^9 a second.
    pub atomics: f64,
    /// The same in an array of 8 MiB.
    pub cached_atomics: f64,
}

/// What a kernel does for a unit of work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes that must move between memory and chip.
    pub bytes: f64,
    /// Bytes of the sectors that its requests ask the cache for.
    pub cache_bytes: f64,
    /// Bytes to and from scratch.
    pub scratch_bytes: f64,
    /// Atomic updates of global memory.
    pub atomics: f64,
}

impl Ceilings {
    /// The larger bandwidth.
    pub fn bandwidth(&self) -> f64 {
        self.triad.max(self.copy)
    }
    /// Giga-units of work per second that the ceilings allow, if each needs so many FLOPs and so many bytes.
    pub fn bound(&self, flops: f64, bytes: f64) -> f64 {
        (self.gflops / flops).min(self.bandwidth() / bytes)
    }
    /// Giga-units of work per second that each ceiling allows, by its name, the lowest first. What is not measured or not
    /// needed bounds nothing.
    pub fn bounds(&self, demand: &Demand) -> Vec<(&'static str, f64)> {
        let mut bounds: Vec<_> = [
            ("FLOPs", self.gflops, demand.flops),
            ("memory", self.bandwidth(), demand.bytes),
            ("cache", self.cache, demand.cache_bytes),
            ("scratch", self.scratch, demand.scratch_bytes),
            ("atomics", self.cached_atomics.max(self.atomics), demand.atomics),
        ]
        .into_iter()
        .filter(|&(_, ceiling, need)| ceiling > 0.0 && need > 0.0)
        .map(|(name, ceiling, need)| (name, ceiling / need))
        .collect();
        bounds.sort_by(|a, b| a.1.total_cmp(&b.1));
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_ceiling_comes_first_and_unmeasured_ones_bound_nothing() {
        let ceilings = Ceilings { gflops: 100.0, triad: 20.0, copy: 10.0, atomics: 1.0, ..Ceilings::default() };
        assert_eq!(ceilings.bound(100.0, 10.0), 1.0);
        let demand = Demand { flops: 100.0, bytes: 10.0, atomics: 4.0, scratch_bytes: 1e9, cache_bytes: 0.0 };
        assert_eq!(ceilings.bounds(&demand), [("atomics", 0.25), ("FLOPs", 1.0), ("memory", 2.0)]);
    }
}
