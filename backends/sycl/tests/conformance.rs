//! The conformance suite on every device of this machine.

mod common;
use farro_portability::{RealElement, Space, conformance};
use farro_sycl::{Route, SyclSpace};
use farro_test_suite as _;

/// Case by case, so that the log tells where a driver broke off. `FARRO_CASES=atomics` runs those that begin so.
fn check<P: RealElement>(space: &SyclSpace<P>) {
    println!("{}", space.name());
    let (mut passed, mut failures) = (0, Vec::new());
    let wanted = std::env::var("FARRO_CASES").unwrap_or_default();
    for name in conformance::cases().into_iter().filter(|name| name.starts_with(&wanted)) {
        if let Some(reason) = common::too_slow(space, name) {
            println!("skipped: {name} on {}: {reason}", space.name());
            continue;
        }
        let report = conformance::suite_of(space, |case| case == name);
        println!("{}", report.to_string().lines().nth(1).unwrap_or_default());
        for case in &report.cases {
            match &case.outcome {
                conformance::Outcome::Passed => passed += 1,
                conformance::Outcome::Skipped(reason) => println!("skipped: {name} on {}: {reason}", space.name()),
                // Without sub-groups there is no way to exchange values in divergent flow; the error says so.
                conformance::Outcome::Failed(message) if message.contains("which needs sub-groups") => {
                    println!("skipped: {name} on {}: {message}", space.name());
                }
                conformance::Outcome::Failed(message) => failures.push(format!("{name}: {message}")),
            }
        }
    }
    println!("{}: {passed} passed, {} failed", space.name(), failures.len());
    assert!(failures.is_empty(), "{}:\n{}", space.name(), failures.join("\n"));
}

#[test]
fn sycl_f64() {
    common::spaces::<f64>("sycl_f64", Route::Sycl).iter().for_each(check);
}

#[test]
fn sycl_f32() {
    common::spaces::<f32>("sycl_f32", Route::Sycl).iter().for_each(check);
}

#[test]
fn opencl_f64() {
    common::spaces::<f64>("opencl_f64", Route::OpenCl).iter().for_each(check);
}
