//! The printed text itself runs: HIP text, compiled as host C++, passes the conformance suite.

#![cfg(target_os = "linux")]

mod emulated_space;
use emulated_space::EmulatedSpace;
use farro_portability::conformance::{self, Outcome};

#[test]
fn printed_text_conforms() {
    let space = match EmulatedSpace::new("conformance") {
        Ok(space) => space,
        Err(reason) => return println!("skipped: printed_text_conforms: {reason}"),
    };
    // Thousands of launches or teams of many fibers take minutes here and show nothing new.
    let slow = ["beyond_32_bits", "thousand_back_to_back"];
    let mut failures = Vec::new();
    for name in conformance::cases().into_iter().filter(|name| !slow.iter().any(|slow| name.ends_with(slow))) {
        let outcome = conformance::run_case(&space, name);
        println!("{name}: {outcome:?}");
        if matches!(outcome, Outcome::Failed(_)) {
            failures.push(name);
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}
