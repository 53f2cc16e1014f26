//! What a machine can do at most, measured with kernels of the language itself: arithmetic and memory bandwidth.
//!
//! Both numbers are ceilings of the very path that an operator takes (same launches, same lanes, same threads), so the
//! share of a ceiling that an operator reaches compares like with like.

use farro_portability::prelude::*;
use farro_portability::{Limits, kernel_args};
use std::marker::PhantomData;
use std::time::Instant;

/// Measured ceilings of a space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// Fused multiply-adds in registers, each counted as two, in GFLOP/s.
    pub gflops: f64,
    /// `z = a x + y` over arrays far larger than the caches, 24 bytes an element of `f64`, in GB/s.
    pub triad: f64,
    /// `y = x`, 16 bytes an element of `f64`, in GB/s.
    pub copy: f64,
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
}

/// The stored type as a constant of a kernel.
type Stored<E> = PhantomData<fn() -> E>;

kernel_args! {
    struct Triad[E: RealElement] {
        a: Real,
        x: View<E, 1, LayoutRight, ReadOnly>,
        y: View<E, 1, LayoutRight, ReadOnly>,
        z: View<E, 1, LayoutRight, ReadWrite>,
    }
}
/// `z = a x + y`, or `z = x`.
#[derive(Clone, Debug, Hash)]
struct Stream<M> {
    copies: bool,
    stored: M,
}
impl<E: RealElement> RangeKernel for Stream<Stored<E>> {
    type Args = Triad<Declared, E>;
    const NAME: &'static str = "ceiling_stream";
    #[inline(always)]
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &Triad<T, E>) {
        let x = args.x.at([i]);
        let value = if self.copies { x } else { args.a.mul_add(x, args.y.at([i])) };
        args.z.set([i], value);
    }
}

/// Independent chains of a work item: enough to cover the latency of two pipes, few enough for 16 registers.
const CHAINS: usize = 10;

kernel_args! {
    struct Fma[E: RealElement] { a: Real, b: Real, out: View<E, 1, LayoutRight, ReadWrite> }
}
#[derive(Clone, Debug, Hash)]
struct FmaChains<M> {
    steps: usize,
    stored: M,
}
impl<E: RealElement> RangeKernel for FmaChains<Stored<E>> {
    type Args = Fma<Declared, E>;
    const NAME: &'static str = "ceiling_fma";
    #[inline(always)]
    fn run<T: Target>(&self, t: T, i: T::Int, args: &Fma<T, E>) {
        let start: [T::Real; CHAINS] = farro_portability::array(
            #[inline(always)]
            |c| t.to_real(i).scale(1e-6 * (1 + c) as f64),
        );
        // Four steps an iteration: the loop itself must not count.
        let end = t.fold(
            self.steps / 4,
            start,
            #[inline(always)]
            |_, mut chain: [T::Real; CHAINS]| {
                for _ in 0..4 {
                    chain = farro_portability::array(
                        #[inline(always)]
                        |c| chain[c].mul_add(args.a, args.b),
                    );
                }
                chain
            },
        );
        let mut sum = end[0];
        for value in &end[1..] {
            sum = sum + *value;
        }
        args.out.set([i], sum);
    }
}

fn best<F: FnMut() -> Result<(), LaunchError>>(repeat: usize, mut run: F) -> Result<f64, LaunchError> {
    run()?;
    let mut least = f64::INFINITY;
    for _ in 0..repeat {
        let start = Instant::now();
        run()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Measures the ceilings of a space with `E` stored, `elements` long arrays (three of them) and `repeat` repetitions.
///
/// # Errors
/// When memory is exhausted or a launch fails.
pub fn measure<S: Space, E: RealElement>(space: &S, elements: usize, repeat: usize) -> Result<Ceilings, LaunchError> {
    let stored: Stored<E> = PhantomData;
    let array = |label| View::<E, 1, LayoutRight, _>::new(space.memory(), label, [elements]);
    let (mut x, mut y, mut z) = (array("x")?, array("y")?, array("z")?);
    x.fill(E::from_f64(1.0))?;
    y.fill(E::from_f64(2.0))?;
    z.fill(E::from_f64(0.0))?;
    let mut seconds = [0.0; 2];
    for (copies, seconds) in [false, true].into_iter().zip(&mut seconds) {
        let kernel = Stream { copies, stored };
        *seconds = best(repeat, || {
            let args = Triad { a: 0.5, x: x.read(), y: y.read(), z: z.write() };
            space.parallel_for(RangePolicy::new(elements), &kernel, args)?;
            space.fence()
        })?;
    }
    let bytes = (E::KIND.bytes() * elements) as f64;
    let Limits { concurrency, range_chunk, .. } = space.limits();
    // As many teams as units, several times over, so that the last ones to end do not count.
    let items = (8 * concurrency * range_chunk).min(elements);
    let steps = (400_000_000 / (CHAINS * items) * concurrency).clamp(64, 1 << 16) / 4 * 4;
    let kernel = FmaChains { steps, stored };
    let fma = best(repeat, || {
        let args = Fma { a: 0.999_999, b: 1e-7, out: z.write() };
        space.parallel_for(RangePolicy::new(items), &kernel, args)?;
        space.fence()
    })?;
    Ok(Ceilings {
        gflops: 2e-9 * (CHAINS * steps * items) as f64 / fma,
        triad: 3e-9 * bytes / seconds[0],
        copy: 2e-9 * bytes / seconds[1],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_compute_and_count_what_the_ceilings_say() {
        let space = farro_backends::count::CountSpace::<f64>::new();
        let mut out = View::<f64, 1>::new(&HostMemory, "out", [64]).unwrap();
        let kernel = FmaChains { steps: 8, stored: PhantomData::<fn() -> f64> };
        let args = Fma { a: 0.5, b: 1.0, out: out.write() };
        space.parallel_for(RangePolicy::new(64), &kernel, args).unwrap();
        assert_eq!(space.counts().operations.fma, (64 * 8 * CHAINS) as u64);
        let ceilings = measure::<_, f64>(&farro_backends::host::HostSpace::<f64>::new().unwrap(), 1 << 16, 1).unwrap();
        assert!(ceilings.gflops > 0.0 && ceilings.triad > 0.0 && ceilings.copy > 0.0, "{ceilings:?}");
        assert_eq!(Ceilings { gflops: 100.0, triad: 20.0, copy: 10.0 }.bound(100.0, 10.0), 1.0);
    }
}
