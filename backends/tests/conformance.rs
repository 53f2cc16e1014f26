//! The conformance suite on every space of this machine.

mod spaces;

use farro_portability::conformance::{self, Outcome};
use farro_portability::prelude::*;
use farro_test_suite as _;

fn conforms<S: Space>(space: &S) {
    let report = conformance::suite(space);
    println!("{report}");
    report.assert();
}

every_space!(suite, super::conforms);

#[test]
fn cases_have_names_of_their_own() {
    let mut names = conformance::cases();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let space = farro_backends::host::HostSpace::<f64>::new().unwrap();
    assert_eq!(conformance::run_case(&space, names[0]), Outcome::Passed);
    assert!(matches!(conformance::run_case(&space, "no such case"), Outcome::Failed(_)));
}
