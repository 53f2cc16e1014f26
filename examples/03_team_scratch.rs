//! Teams with scratch: a 1-2-1 filter that loads each value once. Builds on 02.
//!
//! A team stages its part of x, with a halo, in scratch (shared memory on a GPU). The barrier keeps the phase that fills
//! apart from the phase that reads. Leave it out and the checked target names the race; the result on the host might
//! still be right, which is why the checked target is there.

use farro::backends::checked::CheckedSpace;
use farro::backends::host::HostSpace;
use farro::portability::prelude::*;

kernel_args! {
    struct FilterArgs { x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}

#[derive(Clone, Hash)]
struct Filter {
    block: usize,
    with_barrier: bool,
}

impl Kernel for Filter {
    type Args = FilterArgs<Declared>;
    const NAME: &'static str = "filter";
    fn run<T: Target>(&self, team: T, args: &FilterArgs<T>) {
        let staged = team.scratch::<f64, 1>(ScratchLevel::Zero, "staged", [self.block + 2]);
        let first = team.league_rank() * self.block as i64;
        let last = args.x.extent(0) - 1;
        team.for_each(self.block + 2, |i| {
            // The halo repeats the ends of x.
            let place = (first + i - 1).max(T::Int::from(0i32)).min(last);
            staged.set([i], args.x.at([place]));
        });
        if self.with_barrier {
            team.barrier();
        }
        team.for_each(self.block, |i| {
            team.when((first + i).le(last), || {
                let sum = staged.at([i]) + staged.at([i + 1]).scale(2.0) + staged.at([i + 2]);
                args.y.set([first + i], sum.scale(0.25));
            });
        });
    }
}

fn main() -> Result<(), LaunchError> {
    let (n, block) = (1000, 128);
    let x = View::<f64, 1>::from_fn("x", [n], |[i]| if i % 2 == 0 { 1.0 } else { -1.0 })?;
    let mut y = View::<f64, 1>::new(&HostMemory, "y", [n])?;
    let policy = TeamPolicy::new(n.div_ceil(block), 64, 1)?;
    let filter = Filter { block, with_barrier: true };
    let host = HostSpace::<f64>::new()?;
    host.launch(&filter, &policy, FilterArgs { x: x.read(), y: y.write() })?;
    println!("inside, the filter removes what alternates: y[500] = {}", y.get([500]));
    assert!((1..n - 1).all(|i| y.get([i]) == 0.0));

    let checked = CheckedSpace::<f64>::new();
    checked.launch(&filter, &policy, FilterArgs { x: x.read(), y: y.write() })?;
    let faulty = Filter { with_barrier: false, ..filter };
    let fault = checked.launch(&faulty, &policy, FilterArgs { x: x.read(), y: y.write() });
    println!("without the barrier: {}", fault.expect_err("a race"));
    Ok(())
}
