//! An atomic view is updated, not set.
use farro_portability::prelude::*;

kernel_args! {
    struct Args { x: View<f64, 1, LayoutRight, Atomic> }
}
#[derive(Hash)]
struct Sets;
impl RangeKernel for Sets {
    type Args = Args<Declared>;
    const NAME: &'static str = "sets";
    fn run<T: Target>(&self, target: T, i: T::Int, args: &Args<T>) {
        args.x.set([i], target.real(1.0));
    }
}

fn main() {}
