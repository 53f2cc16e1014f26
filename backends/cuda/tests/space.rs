//! The checks of `CudaSpace` that need a GPU, one test each. Without a GPU they say so, by name.

mod space_checks;
use farro_cuda::CudaError;
use farro_test_suite as _;
use space_checks::{CHECKS, FAULT_VARIABLE, setup};
use std::sync::{Mutex, PoisonError};

/// One at a time: some checks measure.
static DEVICE: Mutex<()> = Mutex::new(());

fn run(name: &str) {
    let _alone = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let check = CHECKS.iter().find(|(known, _)| *known == name).expect("a check of this name").1;
    let space = match setup() {
        Ok(space) => space,
        Err(reason @ (CudaError::NoLibrary { .. } | CudaError::NoDevice { .. })) => {
            return println!("skipped: {name}: {reason}");
        }
        Err(error) => panic!("{error}"),
    };
    match check(&space) {
        Ok(note) => println!("{name}: {note}"),
        Err(message) => panic!("{name}: {message}"),
    }
}

macro_rules! tests {
    ($($name:ident)*) => {
        $(#[test] fn $name() { run(stringify!($name)); })*

        #[test]
        fn every_check_is_a_test() {
            let tests = [$(stringify!($name)),*];
            assert!(CHECKS.iter().map(|(name, _)| *name).eq(tests));
        }
    };
}

tests! {
    axpy
    reduce
    scan
    md
    team_scratch
    lanes_and_private
    march
    atomics
    storage_precision
    every_operation_runs
    conforms
    refusals
    largest_team
    inspect
    graph
    bandwidth
    launch_overhead
    fault_is_named_once
}

/// What `fault_is_named_once` runs in a process of its own.
#[test]
fn fault_child() {
    if std::env::var_os(FAULT_VARIABLE).is_some() {
        space_checks::run_into_a_fault().unwrap();
    }
}
