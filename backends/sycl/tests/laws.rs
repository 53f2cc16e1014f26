//! The laws of the viscous operator on the devices of this machine.

mod common;
use farro_fem::laws::{ViscousLaws, viscous_suite};
use farro_fem::viscous::{Boundary, Condition, LateralFastest};
use farro_sycl::Route;
use farro_test_kernels as _;

#[test]
fn laws_by_sycl() {
    let mixed = Boundary { inner: Condition::FreeSlip, outer: Condition::Dirichlet };
    let options = ViscousLaws { level: 1, boundaries: vec![mixed], ..ViscousLaws::default() };
    for space in common::spaces::<f64>("laws_by_sycl", Route::Sycl) {
        let report = viscous_suite::<_, f64, LateralFastest>(&space, &options);
        println!("{report}");
        report.assert();
    }
}
