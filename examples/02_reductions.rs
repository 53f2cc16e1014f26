//! Reductions over a whole range: a ready-made reducer, and one of your own. Builds on 01.
//!
//! A reducer is an identity and a join. The order in which partial results are joined is fixed, so a sum of floating-point
//! numbers has the same bits in every run and for any number of threads.

use farro::backends::host::{HostSpace, InstructionSet};
use farro::portability::prelude::*;

kernel_args! { struct Input { x: View<f64, 1, LayoutRight, ReadOnly> } }

/// The squared length of x.
#[derive(Clone, Hash)]
struct SquaredNorm;
impl ReduceKernel for SquaredNorm {
    type Args = Input<Declared>;
    type Reducer = Sum;
    const NAME: &'static str = "squared_norm";
    fn value<T: Target>(&self, _t: T, i: T::Int, args: &Input<T>) -> T::Real {
        args.x.at([i]).square()
    }
}

/// A reducer of our own: how many values, and their sum.
#[derive(Clone, Copy, Hash)]
struct CountAndSum;
impl Reducer for CountAndSum {
    type Value<T: Target> = [T::Real; 2];
    fn identity<T: Target>() -> [T::Real; 2] {
        [T::Real::zero(), T::Real::zero()]
    }
    fn join<T: Target>(a: [T::Real; 2], b: [T::Real; 2]) -> [T::Real; 2] {
        [a[0] + b[0], a[1] + b[1]]
    }
}

/// The positive values of x: how many, and their sum.
#[derive(Clone, Hash)]
struct Positive;
impl ReduceKernel for Positive {
    type Args = Input<Declared>;
    type Reducer = CountAndSum;
    const NAME: &'static str = "positive";
    fn value<T: Target>(&self, t: T, i: T::Int, args: &Input<T>) -> [T::Real; 2] {
        let x = args.x.at([i]);
        let positive = t.real(0.0).lt(x);
        [positive.select(t.real(1.0), t.real(0.0)), positive.select(x, t.real(0.0))]
    }
}

fn main() -> Result<(), LaunchError> {
    let n = 100_000;
    let x = View::<f64, 1>::from_fn("x", [n], |[i]| (i as f64 * 0.37).sin())?;
    let mut results = Vec::new();
    for threads in [1, 2, 3] {
        let space = HostSpace::<f64>::with(threads, InstructionSet::best())?;
        let norm = space.parallel_reduce(RangePolicy::new(n), &SquaredNorm, Input { x: x.read() })?;
        let positive = space.parallel_reduce(RangePolicy::new(n), &Positive, Input { x: x.read() })?;
        println!(
            "{threads} threads: |x|^2 = {}, {} positive values, mean {}",
            norm[0],
            positive[0],
            positive[1] / positive[0]
        );
        results.push((norm, positive));
    }
    assert!(results.iter().all(|result| *result == results[0]), "the same bits for any number of threads");
    Ok(())
}
