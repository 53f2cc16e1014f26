//! The golden cases on every device of this machine.

mod common;
#[path = "../../tests/golden_cases/mod.rs"]
mod golden_cases;
use farro_portability::Space;
use farro_sycl::Route;
use farro_test_kernels as _;

#[test]
fn golden_cases_by_sycl() {
    common::spaces::<f64>("golden_cases_by_sycl", Route::Sycl).iter().for_each(golden_cases::check);
}

#[test]
fn golden_cases_by_opencl() {
    for space in common::spaces::<f64>("golden_cases_by_opencl", Route::OpenCl) {
        match common::too_slow(&space, "golden") {
            Some(reason) => println!("skipped: golden_cases_by_opencl on {}: {reason}", space.name()),
            None => golden_cases::check(&space),
        }
    }
}
