//! The checks that need a GPU, one test each. Without a GPU they say so, by name.

mod gpu_checks;
use farro_cuda::CudaError;
use gpu_checks::{CHECKS, FAULT_VARIABLE, Setup};
use std::sync::{Mutex, PoisonError};

/// One at a time: some checks measure.
static DEVICE: Mutex<()> = Mutex::new(());

fn run(name: &str) {
    let _alone = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let check = CHECKS.iter().find(|(known, _)| *known == name).expect("a check of this name").1;
    let setup = match Setup::new() {
        Ok(setup) => setup,
        Err(reason @ (CudaError::NoLibrary { .. } | CudaError::NoDevice { .. })) => {
            return println!("skipped: {name}: {reason}");
        }
        Err(error) => panic!("{error}"),
    };
    match check(&setup) {
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
    properties
    copies_round_trip
    axpy
    every_parameter_size
    limits_are_checked_first
    shared_memory_up_to_the_limit
    occupancy
    graph_replay
    failed_capture_leaves_nothing
    timing
    out_of_memory
    many_threads
    launch_overhead
    fault_is_named_once
}

/// What `fault_is_named_once` runs in a process of its own.
#[test]
fn fault_child() {
    if std::env::var_os(FAULT_VARIABLE).is_some() {
        gpu_checks::run_into_a_fault().unwrap();
    }
}
