//! A kernel closure must not change Rust variables outside: on a device they do not exist.
use farro_portability::prelude::*;

#[derive(Hash)]
struct Counts;
impl Kernel for Counts {
    type Args = ();
    const NAME: &'static str = "counts";
    fn run<T: Target>(&self, team: T, _args: &()) {
        let mut count = 0;
        team.for_each(10usize, |_| count += 1);
    }
}

fn main() {}
