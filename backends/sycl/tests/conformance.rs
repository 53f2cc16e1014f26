//! The conformance suite on every device of this machine.

mod common;
use farro_portability::{RealElement, conformance};
use farro_sycl::Route;

fn conforms<P: RealElement>(test: &str, route: Route) {
    for space in common::spaces::<P>(test, route) {
        let report = conformance::suite(&space);
        println!("{report}");
        report.assert();
    }
}

#[test]
fn sycl_f64() {
    conforms::<f64>("sycl_f64", Route::Sycl);
}

#[test]
fn sycl_f32() {
    conforms::<f32>("sycl_f32", Route::Sycl);
}
