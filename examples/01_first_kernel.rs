//! The first kernel: `y := a x + y`, written once, run on two targets.
//!
//! A kernel is generic over its target `T`. On the host `T::Real` is a pack of SIMD lanes; on the checked target every
//! access is watched. What a kernel touches is declared with `kernel_args!`: here a number and two views, one of which it
//! may write. Asking for more than was declared does not compile.

use farro::backends::checked::CheckedSpace;
use farro::backends::host::HostSpace;
use farro::portability::prelude::*;

kernel_args! {
    /// What axpy works on.
    struct AxpyArgs { a: Real, x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}

#[derive(Clone, Hash)]
struct Axpy;

impl RangeKernel for Axpy {
    type Args = AxpyArgs<Declared>;
    const NAME: &'static str = "axpy";
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &AxpyArgs<T>) {
        args.y.set([i], args.a.mul_add(args.x.at([i]), args.y.at([i])));
    }
}

fn axpy_on<S: Space>(space: &S, n: usize) -> Result<f64, LaunchError> {
    let host = View::<f64, 1>::from_fn("x", [n], |[i]| i as f64)?;
    let mut x = View::<f64, 1, LayoutRight, _>::new(space.memory(), "x", [n])?;
    let mut y = View::<f64, 1, LayoutRight, _>::new(space.memory(), "y", [n])?;
    deep_copy(&mut x, &host)?;
    y.fill(1.0)?;
    space.parallel_for(RangePolicy::new(n), &Axpy, AxpyArgs { a: 2.0, x: x.read(), y: y.write() })?;
    space.fence()?;
    let mut result = y.mirror()?;
    deep_copy(&mut result, &y)?;
    Ok(result.get([n - 1]))
}

fn main() -> Result<(), LaunchError> {
    let (host, checked) = (HostSpace::<f64>::new()?, CheckedSpace::<f64>::new());
    println!("{}: y[999] = {}", host.name(), axpy_on(&host, 1000)?);
    println!("{}: y[999] = {}", checked.name(), axpy_on(&checked, 1000)?);
    assert_eq!(axpy_on(&host, 1000)?, 2.0 * 999.0 + 1.0);
    assert_eq!(axpy_on(&host, 1000)?, axpy_on(&checked, 1000)?);
    Ok(())
}
