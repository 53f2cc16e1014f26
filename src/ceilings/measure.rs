//! Launching and timing the microbenchmarks on any space.

use super::Ceilings;
use super::kernels::{AddArgs, Adds, CHAINS, Cached, ChainArgs, Chains, Copies, LOADS, Pair, RereadArgs, Scratched};
use super::kernels::{Stored, Streams, Triad};
use farro_portability::prelude::*;
use farro_portability::{Limits, Space};
use std::marker::PhantomData;
use std::time::{Duration, Instant};

/// A microbenchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    /// `z = a x + y`.
    Triad,
    /// `z = x`.
    Copy,
    /// Multiply-adds in registers.
    Fma,
    /// Loads of team scratch.
    Scratch,
    /// Loads of an array in a large cache.
    Cache,
    /// Atomic additions to an array larger than any cache.
    Atomics,
    /// Atomic additions to an array in a large cache.
    CachedAtomics,
}

impl Probe {
    /// All of them.
    pub const ALL: [Probe; 7] =
        [Probe::Triad, Probe::Copy, Probe::Fma, Probe::Scratch, Probe::Cache, Probe::Atomics, Probe::CachedAtomics];

    /// The name of its kernel.
    pub fn kernel(self) -> &'static str {
        match self {
            Probe::Triad => "ceiling_triad",
            Probe::Copy => "ceiling_copy",
            Probe::Fma => "ceiling_fma",
            Probe::Scratch => "ceiling_scratch",
            Probe::Cache => "ceiling_cached",
            Probe::Atomics | Probe::CachedAtomics => "ceiling_atomics",
        }
    }
}

/// How much the microbenchmarks do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// Elements of each of three arrays; far larger than the caches.
    pub elements: usize,
    /// Bytes of the array that is to lie in a large cache.
    pub cached_bytes: usize,
    /// Work of one launch that stays on the chip, in operations for each unit that runs teams.
    pub work: usize,
    /// Seconds of one timed batch of launches: long beside the launch, short beside what disturbs it.
    pub batch: f64,
    /// Seconds for each microbenchmark; the best batch counts.
    pub seconds: f64,
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { elements: 1 << 25, cached_bytes: 8 << 20, work: 100_000_000, batch: 2e-3, seconds: 0.5 }
    }
}

/// Three arrays and what is launched over them.
struct Bench<'s, S: Space, E: RealElement> {
    space: &'s S,
    limits: Limits,
    sizes: Sizes,
    x: View<E, 1, LayoutRight, S::Memory>,
    y: View<E, 1, LayoutRight, S::Memory>,
    z: View<E, 1, LayoutRight, S::Memory>,
}

impl<'s, S: Space, E: RealElement> Bench<'s, S, E> {
    fn new(space: &'s S, sizes: Sizes) -> Result<Self, LaunchError> {
        // What a step of the smallest team reads must be there.
        let sizes = Sizes { elements: sizes.elements.max(1 << 13), ..sizes };
        let array = |label, value| -> Result<_, LaunchError> {
            let mut array = View::<E, 1, LayoutRight, _>::new(space.memory(), label, [sizes.elements])?;
            array.fill(E::from_f64(value))?;
            Ok(array)
        };
        let (x, y, z) = (array("x", 1.0)?, array("y", 2.0)?, array("z", 0.0)?);
        Ok(Bench { space, limits: space.limits(), sizes, x, y, z })
    }
    fn items(&self) -> usize {
        self.limits.range_team.min(self.limits.max_team).clamp(32, 256)
    }
    fn cached_elements(&self) -> usize {
        (self.sizes.cached_bytes / E::KIND.bytes()).min(self.sizes.elements)
    }

    /// Launches a microbenchmark; returns the work that one launch does, in FLOPs, bytes or updates.
    fn launch(&mut self, probe: Probe) -> Result<f64, LaunchError> {
        let stored: Stored<E> = PhantomData;
        let (elements, items) = (self.sizes.elements, self.items());
        let bytes = (E::KIND.bytes() * elements) as f64;
        let Limits { concurrency, range_chunk, .. } = self.limits;
        match probe {
            Probe::Triad => {
                let args = Streams { a: 0.5, x: self.x.read(), y: self.y.read(), z: self.z.write() };
                self.space.parallel_for(RangePolicy::new(elements), &Triad(stored), args)?;
                Ok(3.0 * bytes)
            }
            Probe::Copy => {
                let args = Pair { x: self.x.read(), z: self.z.write() };
                self.space.parallel_for(RangePolicy::new(elements), &Copies(stored), args)?;
                Ok(2.0 * bytes)
            }
            Probe::Fma => {
                // Teams for all units a few times over, but chains so long that their ends do not count.
                let work = (4 * concurrency * range_chunk).min(elements);
                let steps = (self.sizes.work * concurrency / (CHAINS * work)).clamp(64, 1 << 16) / 4 * 4;
                let kernel = Chains { steps, stored };
                let args = ChainArgs { a: 0.999_999, b: 1e-7, out: self.z.write() };
                self.space.parallel_for(RangePolicy::new(work), &kernel, args)?;
                Ok(2.0 * (CHAINS * steps * work) as f64)
            }
            Probe::Scratch | Probe::Cache => {
                let teams = (8 * 2048 / items * concurrency).min(elements / items).max(1);
                let steps = (self.sizes.work * concurrency / (16 * LOADS * teams * items)).clamp(8, 1 << 16);
                let policy = TeamPolicy::new(teams, items, 1)?;
                let stride = LOADS * items;
                let round = if probe == Probe::Scratch { 2 * stride } else { self.cached_elements() / stride * stride };
                let args = RereadArgs {
                    stride: stride as i64,
                    round: round.max(stride) as i64,
                    x: self.x.read(),
                    out: self.z.write(),
                };
                if probe == Probe::Scratch {
                    self.space.launch(&Scratched { items, steps, stored }, &policy, args)?;
                } else {
                    self.space.launch(&Cached { items, steps, stored }, &policy, args)?;
                }
                Ok((E::KIND.bytes() * LOADS * steps * teams * items) as f64)
            }
            Probe::Atomics | Probe::CachedAtomics => {
                // Additions are slow on processors; a part of the arrays is large enough.
                let updates = (self.sizes.work * concurrency / 40).max(1);
                let (range, times) = match probe {
                    Probe::Atomics => (updates.min(elements), 1),
                    _ => {
                        let range = updates.min(self.cached_elements()).max(1);
                        (range, updates.div_ceil(range))
                    }
                };
                let args = AddArgs { times: times as i64, z: self.z.update() };
                self.space.parallel_for(RangePolicy::new(range), &Adds(stored), args)?;
                Ok((range * times) as f64)
            }
        }
    }

    /// Work per second, in 10^9: the best of many short batches, since a machine that is shared has few quiet moments.
    fn rate(&mut self, probe: Probe) -> Result<f64, LaunchError> {
        self.launch(probe)?;
        self.space.fence()?;
        let (start, mut launches, mut best) = (Instant::now(), 1usize, 0.0f64);
        let budget = Duration::from_secs_f64(self.sizes.seconds.clamp(0.0, 60.0));
        loop {
            let batch = Instant::now();
            let mut work = 0.0;
            for _ in 0..launches {
                work += self.launch(probe)?;
            }
            self.space.fence()?;
            let seconds = batch.elapsed().as_secs_f64().max(1e-9);
            best = best.max(1e-9 * work / seconds);
            if seconds < self.sizes.batch {
                launches = (launches * 2).min(1 << 12);
            }
            if start.elapsed() >= budget {
                return Ok(best);
            }
        }
    }
}

/// Launches one microbenchmark once, to look at its kernel.
///
/// # Errors
/// When memory is exhausted or the launch fails.
pub fn launch_probe<S: Space, E: RealElement>(space: &S, probe: Probe, sizes: Sizes) -> Result<(), LaunchError> {
    Bench::<S, E>::new(space, sizes)?.launch(probe)?;
    space.fence()
}

/// Measures the ceilings of a space with `E` stored.
///
/// # Errors
/// When memory is exhausted or a launch fails.
pub fn measure<S: Space, E: RealElement>(space: &S, sizes: Sizes) -> Result<Ceilings, LaunchError> {
    let mut bench = Bench::<S, E>::new(space, sizes)?;
    Ok(Ceilings {
        gflops: bench.rate(Probe::Fma)?,
        triad: bench.rate(Probe::Triad)?,
        copy: bench.rate(Probe::Copy)?,
        scratch: bench.rate(Probe::Scratch)?,
        cache: bench.rate(Probe::Cache)?,
        atomics: bench.rate(Probe::Atomics)?,
        cached_atomics: bench.rate(Probe::CachedAtomics)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use farro_backends::checked::CheckedSpace;
    use farro_backends::count::CountSpace;

    fn small() -> Sizes {
        Sizes { elements: 1 << 14, cached_bytes: 1 << 16, work: 1 << 14, batch: 0.0, seconds: 0.0 }
    }

    #[test]
    fn kernels_do_as_much_as_they_say() {
        let space = CountSpace::<f64>::new();
        let mut bench = Bench::<_, f64>::new(&space, small()).unwrap();
        for probe in Probe::ALL {
            let said = bench.launch(probe).unwrap();
            let counts = space.counts();
            let scratch = counts.scratch[0].loads.bytes;
            let counted = match probe {
                Probe::Triad | Probe::Copy => counts.compulsory.bytes(),
                Probe::Fma => 2 * counts.operations.fma,
                Probe::Scratch => scratch,
                Probe::Cache => counts.global.loads.bytes,
                Probe::Atomics | Probe::CachedAtomics => counts.global.atomics.elements,
            };
            assert_eq!(counted as f64, said, "{probe:?}");
            assert_eq!(space.by_kernel().keys().filter(|name| **name == probe.kernel()).count(), 1);
            if probe == Probe::Scratch {
                // Neighbours read neighbours: no bank serves two of them.
                assert_eq!(counts.scratch[0].loads.bank_passes, 2 * counts.scratch[0].loads.requests);
            }
        }
    }

    #[test]
    fn kernels_are_clean_under_the_sanitizer() {
        let space = CheckedSpace::<f32>::new();
        for probe in Probe::ALL {
            launch_probe::<_, f32>(&space, probe, Sizes { work: 1 << 12, ..small() }).unwrap();
        }
    }
}
