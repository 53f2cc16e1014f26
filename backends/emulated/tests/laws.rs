//! The laws of the viscous operator by printed HIP text, run as host C++.

use farro_emulated::EmulatedSpace;
use farro_fem::laws::{ViscousLaws, viscous_suite};
use farro_fem::viscous::{Boundary, Condition, RadiusFastest};
use farro_test_kernels as _;

#[test]
fn laws_as_host_cpp() {
    let space = match EmulatedSpace::<f64>::new() {
        Ok(space) => space,
        Err(reason) => return println!("skipped: laws_as_host_cpp: {reason}"),
    };
    let mixed = Boundary { inner: Condition::FreeSlip, outer: Condition::Dirichlet };
    let options = ViscousLaws { level: 1, boundaries: vec![mixed], ..ViscousLaws::default() };
    let report = viscous_suite::<_, f64, RadiusFastest>(&space, &options);
    println!("{report}");
    report.assert();
}
