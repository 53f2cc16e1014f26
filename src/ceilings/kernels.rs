//! The microbenchmarks, written in the language that they measure.

use farro_portability::kernel_args;
use farro_portability::prelude::*;
use std::marker::PhantomData;

/// The stored type as a constant of a kernel.
pub(super) type Stored<E> = PhantomData<fn() -> E>;

kernel_args! {
    pub(super) struct Streams[E: RealElement] {
        a: Real,
        x: View<E, 1, LayoutRight, ReadOnly>,
        y: View<E, 1, LayoutRight, ReadOnly>,
        z: View<E, 1, LayoutRight, ReadWrite>,
    }
}

/// `z = a x + y`.
#[derive(Clone, Debug, Hash)]
pub(super) struct Triad<M>(pub M);
impl<E: RealElement> RangeKernel for Triad<Stored<E>> {
    type Args = Streams<Declared, E>;
    const NAME: &'static str = "ceiling_triad";
    #[inline(always)]
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &Streams<T, E>) {
        args.z.set([i], args.a.mul_add(args.x.at([i]), args.y.at([i])));
    }
}

kernel_args! {
    pub(super) struct Pair[E: RealElement] {
        x: View<E, 1, LayoutRight, ReadOnly>,
        z: View<E, 1, LayoutRight, ReadWrite>,
    }
}

/// `z = x`.
#[derive(Clone, Debug, Hash)]
pub(super) struct Copies<M>(pub M);
impl<E: RealElement> RangeKernel for Copies<Stored<E>> {
    type Args = Pair<Declared, E>;
    const NAME: &'static str = "ceiling_copy";
    #[inline(always)]
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &Pair<T, E>) {
        args.z.set([i], args.x.at([i]));
    }
}

/// Independent chains of a work item: enough to cover the latency of two pipes, few enough for 16 registers.
pub(super) const CHAINS: usize = 10;

kernel_args! {
    pub(super) struct ChainArgs[E: RealElement] { a: Real, b: Real, out: View<E, 1, LayoutRight, ReadWrite> }
}

/// Multiply-adds in registers.
#[derive(Clone, Debug, Hash)]
pub(super) struct Chains<M> {
    /// Steps of each chain; a multiple of four.
    pub steps: usize,
    pub stored: M,
}
impl<E: RealElement> RangeKernel for Chains<Stored<E>> {
    type Args = ChainArgs<Declared, E>;
    const NAME: &'static str = "ceiling_fma";
    #[inline(always)]
    fn run<T: Target>(&self, t: T, i: T::Int, args: &ChainArgs<T, E>) {
        let index = t.to_real(i);
        let start: [T::Real; CHAINS] = farro_portability::array(
            #[inline(always)]
            |c| index.scale(1e-6 * (1 + c) as f64),
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
        args.out.set([i], total(end));
    }
}

#[inline(always)]
fn total<R: Real, const N: usize>(values: [R; N]) -> R {
    let mut sum = values[0];
    for value in &values[1..] {
        sum = sum + *value;
    }
    sum
}

/// Loads of one step, each into a sum of its own.
pub(super) const LOADS: usize = 4;

kernel_args! {
    pub(super) struct RereadArgs[E: RealElement] {
        /// Elements from one step to the next, and of the whole round: arguments, so that no compiler can know which
        /// elements a later step reads again.
        stride: Int,
        round: Int,
        x: View<E, 1, LayoutRight, ReadOnly>,
        out: View<E, 1, LayoutRight, ReadWrite>,
    }
}

/// Where the step after `offset` reads.
#[inline(always)]
fn next<I: Integer>(offset: I, stride: I, round: I) -> I {
    let next = offset + stride;
    I::select(next.lt(round), next, next - round)
}

/// Loads scratch that a team filled once, over and over.
#[derive(Clone, Debug, Hash)]
pub(super) struct Scratched<M> {
    pub items: usize,
    pub steps: usize,
    pub stored: M,
}
impl<E: RealElement> Kernel for Scratched<Stored<E>> {
    type Args = RereadArgs<Declared, E>;
    const NAME: &'static str = "ceiling_scratch";
    #[inline(always)]
    fn run<T: Target>(&self, team: T, args: &RereadArgs<T, E>) {
        // Twice the loads of a step, so that two steps differ.
        let length = 2 * LOADS * self.items;
        let held = team.scratch::<E, 1>(ScratchLevel::Zero, "held", [length]);
        team.for_each(
            length,
            #[inline(always)]
            |i| held.set([i], args.x.at([i])),
        );
        team.barrier();
        let first = team.league_rank() * self.items as i64;
        team.for_each(
            self.items,
            #[inline(always)]
            |i| {
                let zeros = [team.real(0.0); LOADS];
                let (sums, _) = team.fold(
                    self.steps,
                    (zeros, T::Int::from(0i32)),
                    #[inline(always)]
                    |_, (sums, offset): ([T::Real; LOADS], T::Int)| {
                        let sums = farro_portability::array(
                            #[inline(always)]
                            |l| sums[l] + held.at([offset + (l * self.items) as i64 + i]),
                        );
                        (sums, next(offset, args.stride, args.round))
                    },
                );
                args.out.set([first + i], total(sums));
            },
        );
    }
}

/// Loads an array that fits a large cache, each team beginning somewhere else.
#[derive(Clone, Debug, Hash)]
pub(super) struct Cached<M> {
    pub items: usize,
    pub steps: usize,
    pub stored: M,
}
impl<E: RealElement> Kernel for Cached<Stored<E>> {
    type Args = RereadArgs<Declared, E>;
    const NAME: &'static str = "ceiling_cached";
    #[inline(always)]
    fn run<T: Target>(&self, team: T, args: &RereadArgs<T, E>) {
        let first = team.league_rank() * self.items as i64;
        let start = (team.league_rank() * args.stride) % args.round;
        team.for_each(
            self.items,
            #[inline(always)]
            |i| {
                let zeros = [team.real(0.0); LOADS];
                let (sums, _) = team.fold(
                    self.steps,
                    (zeros, start),
                    #[inline(always)]
                    |_, (sums, offset): ([T::Real; LOADS], T::Int)| {
                        let sums = farro_portability::array(
                            #[inline(always)]
                            |l| sums[l] + args.x.at([offset + (l * self.items) as i64 + i]),
                        );
                        (sums, next(offset, args.stride, args.round))
                    },
                );
                args.out.set([first + i], total(sums));
            },
        );
    }
}

kernel_args! {
    pub(super) struct AddArgs[E: RealElement] { times: Int, z: View<E, 1, LayoutRight, Atomic> }
}

/// Adds one to each element, neighbours at once, `times` times.
#[derive(Clone, Debug, Hash)]
pub(super) struct Adds<M>(pub M);
impl<E: RealElement> RangeKernel for Adds<Stored<E>> {
    type Args = AddArgs<Declared, E>;
    const NAME: &'static str = "ceiling_atomics";
    #[inline(always)]
    fn run<T: Target>(&self, t: T, i: T::Int, args: &AddArgs<T, E>) {
        t.repeat(
            args.times,
            #[inline(always)]
            |_| {
                args.z.add([i], t.real(1.0));
            },
        );
    }
}
