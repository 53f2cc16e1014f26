//! The smallest launches: a range and a reduction.
use farro_backends::host::HostSpace;
use farro_portability::prelude::*;

kernel_args! {
    /// `y := a x + y`.
    struct AxpyArgs { a: Real, x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Debug, Hash, Clone)]
struct Axpy;
impl RangeKernel for Axpy {
    type Args = AxpyArgs<Declared>;
    const NAME: &'static str = "axpy";
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &AxpyArgs<T>) {
        args.y.set([i], args.a.mul_add(args.x.at([i]), args.y.at([i])));
    }
}
kernel_args! {
    struct DotArgs { x: View<f64, 1, LayoutRight, ReadOnly> }
}
#[derive(Debug, Hash, Clone)]
struct Norm;
impl ReduceKernel for Norm {
    type Args = DotArgs<Declared>;
    type Reducer = Sum;
    const NAME: &'static str = "norm";
    fn value<T: Target>(&self, _t: T, i: T::Int, args: &DotArgs<T>) -> T::Real {
        args.x.at([i]).square()
    }
}

#[test]
fn axpy_and_norm() {
    let host = HostSpace::<f64>::new().unwrap();
    let x = View::<f64, 1>::from_fn("x", [10007], |[i]| i as f64).unwrap();
    let mut y = View::<f64, 1>::from_fn("y", [10007], |[i]| 1.0 + i as f64).unwrap();
    host.parallel_for(RangePolicy::new(10007), &Axpy, AxpyArgs { a: 2.0, x: x.read(), y: y.write() }).unwrap();
    for i in 0..10007 {
        assert_eq!(y.get([i]), 3.0 * i as f64 + 1.0);
    }
    let norm = host.parallel_reduce(RangePolicy::new(10007), &Norm, DotArgs { x: x.read() }).unwrap();
    assert_eq!(norm, vec![(0..10007u64).map(|i| i * i).sum::<u64>() as f64]);
}
