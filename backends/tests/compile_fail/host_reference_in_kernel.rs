//! A kernel must not hold references to host memory.
use farro_portability::prelude::*;

#[derive(Hash)]
struct Holds<'a> {
    weights: &'a [u64],
}
impl<'a> Kernel for Holds<'a> {
    type Args = ();
    const NAME: &'static str = "holds";
    fn run<T: Target>(&self, _team: T, _args: &()) {}
}

fn main() {}
