//! One view cannot be read and written in one launch.
use farro_portability::prelude::*;

kernel_args! {
    struct Args { x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Hash, Clone)]
struct Copies;
impl RangeKernel for Copies {
    type Args = Args<Declared>;
    const NAME: &'static str = "copies";
    fn run<T: Target>(&self, _: T, i: T::Int, args: &Args<T>) {
        args.y.set([i], args.x.at([i]));
    }
}

fn twice<S: Space<Memory = HostMemory>>(space: &S, view: &mut View<f64, 1>) {
    let args = Args { x: view.read(), y: view.write() };
    space.parallel_for(RangePolicy::new(3), &Copies, args).unwrap();
}

fn main() {}
