//! Weak forms on the host.

use farro_backends::host::HostSpace;
use farro_test_weak::{AgainstDense, Laws, each_form};

#[test]
fn all_seventy_cases_agree_with_the_dense_evaluation() {
    let space = HostSpace::<f64>::new().unwrap();
    let mut visit = AgainstDense { space: &space, divisions: 2, most: 8, compared: 0 };
    each_form(&mut visit);
    assert_eq!(visit.compared, 70);
}

#[test]
fn the_five_forms_obey_the_laws() {
    let space = HostSpace::<f64>::new().unwrap();
    for degree in [1, 3] {
        let mut visit = Laws { space: &space, degree, reports: Vec::new() };
        each_form(&mut visit);
        for report in visit.reports {
            report.assert();
            assert!(report.passed() >= 8, "{report}");
        }
    }
}
