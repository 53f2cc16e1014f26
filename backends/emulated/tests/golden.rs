//! The golden cases by printed HIP text, run as host C++.

#[path = "../../tests/golden_cases/mod.rs"]
mod golden_cases;
use farro_emulated::EmulatedSpace;
use farro_test_kernels as _;

#[test]
fn golden_cases_as_host_cpp() {
    match EmulatedSpace::<f64>::new() {
        Ok(space) => golden_cases::check(&space),
        Err(reason) => println!("skipped: golden_cases_as_host_cpp: {reason}"),
    }
}
