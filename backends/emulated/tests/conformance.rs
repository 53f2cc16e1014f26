//! The printed text itself runs: HIP text, compiled as host C++, passes the conformance suite.

use farro_emulated::EmulatedSpace;
use farro_portability::conformance::{self, Outcome};
use farro_test_suite as _;

#[test]
fn printed_text_conforms() {
    let space = match EmulatedSpace::<f64>::new() {
        Ok(space) => space,
        Err(reason) => return println!("skipped: printed_text_conforms: {reason}"),
    };
    // A process of the compiler for each of 1500 kernels takes minutes, unless they are in the cache.
    let all = std::env::var("FARRO_EMULATE").is_ok_and(|value| value == "all");
    let usual = ["control::", "arithmetic::", "atomics::f64", "lanes::up", "scratch::private", "scans::league"];
    let (mut passed, mut left_out, mut failures) = (0, 0, Vec::new());
    for name in conformance::cases() {
        if !all && !usual.iter().any(|usual| name.starts_with(usual)) {
            left_out += 1;
            continue;
        }
        let report = conformance::suite_of(&space, |case| case == name);
        println!("{}", report.to_string().lines().nth(1).unwrap_or_default());
        match report.cases.into_iter().next().map(|case| case.outcome) {
            Some(Outcome::Passed) => passed += 1,
            Some(Outcome::Skipped(reason)) => println!("skipped: {name} as host C++: {reason}"),
            other => failures.push(format!("{name}: {other:?}")),
        }
    }
    if left_out > 0 {
        println!("skipped: {left_out} cases of the suite as host C++: set FARRO_EMULATE=all");
    }
    println!("HIP text as host C++: {passed} cases passed, {} failed", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
