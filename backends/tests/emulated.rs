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
    // Each kernel is one run of the compiler; all of them take minutes.
    let all = std::env::var("FARRO_EMULATE").is_ok_and(|value| value == "all");
    let usual = ["control::", "arithmetic::", "atomics::f64", "lanes::up", "scratch::private", "scans::league"];
    // Thousands of launches show nothing new.
    let slow = ["beyond_32_bits", "thousand_back_to_back"];
    let mut failures = Vec::new();
    for name in conformance::cases() {
        let chosen = all || usual.iter().any(|usual| name.starts_with(usual));
        if !chosen || slow.iter().any(|slow| name.ends_with(slow)) {
            continue;
        }
        let outcome = conformance::run_case(&space, name);
        println!("{name}: {outcome:?}");
        if matches!(outcome, Outcome::Failed(_)) {
            failures.push(name);
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}
