//! Weak forms on the host.

use farro_backends::host::HostSpace;
use farro_fem::schedule::{Device, Effort, Knee, search};
use farro_fem::simplex::{DofMap, Lagrange, SimplexMesh};
use farro_fem::weak::{Helmholtz, Laplace, Mass, Schedule, WeakForm, WeakOperator, l2_error, solve_cg};
use farro_test_weak::{AgainstDense, Laws, each_form};
use std::f64::consts::PI;

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

/// The L2 error of a boundary-value problem on the unit square with the exact solution sin(πx) cos(πy) + x.
fn error_of<F: WeakForm<2, 1, 0>>(form: F, reaction: f64, degree: usize, n: usize) -> f64 {
    let space = HostSpace::<f64>::new().unwrap();
    let mesh = SimplexMesh::unit(2, n).unwrap();
    let element = Lagrange::new(2, degree).unwrap();
    let map = DofMap::<i32>::new(&mesh, &element).unwrap();
    let positions = map.positions(&mesh, &element);
    let exact = |x: &[f64]| (PI * x[0]).sin() * (PI * x[1]).cos() + x[0];
    // −Δu + reaction u, interpolated: as accurate as the elements are.
    let source = |x: &[f64]| 2.0 * PI * PI * (exact(x) - x[0]) + reaction * exact(x);
    let at = |f: &dyn Fn(&[f64]) -> f64, node: usize| f(&positions[2 * node..2 * node + 2]);
    let operator = WeakOperator::<_, F, i32, 2, 1, 0>::new(&space, &mesh, degree, form, Schedule::default()).unwrap();
    let mass = WeakOperator::<_, Mass, i32, 2, 1, 0>::new(&space, &mesh, degree, Mass, Schedule::default()).unwrap();
    let mut f = mass.new_field("f").unwrap();
    let nodal = mass.field_from("source", |node, _| at(&source, node)).unwrap();
    mass.apply(&nodal, None, &mut f).unwrap();
    let mut fixed = vec![false; map.node_count()];
    map.boundary(&mesh, &element).unwrap().into_iter().for_each(|node| fixed[node] = true);
    let guess = |node: usize, _: usize| if fixed[node] { at(&exact, node) } else { 0.0 };
    let mut u = operator.field_from("u", guess).unwrap();
    let solved = solve_cg(&operator, &f, &mut u, &fixed, 1e-12, 2000).unwrap();
    assert!(solved.residual <= 1e-12, "{solved:?}");
    l2_error(&mesh, degree, 1, u.as_slice(), |x, _| exact(x)).unwrap()
}

#[test]
fn errors_fall_with_the_order_of_the_elements() {
    for degree in 1..=4 {
        // A mesh of n divisions and one of twice as many.
        let n = [12, 6, 4, 3][degree - 1];
        for (name, coarse, fine) in [
            ("laplace", error_of(Laplace, 0.0, degree, n), error_of(Laplace, 0.0, degree, 2 * n)),
            ("helmholtz", error_of(Helmholtz, -1.0, degree, n), error_of(Helmholtz, -1.0, degree, 2 * n)),
        ] {
            let order = (coarse / fine).log2();
            assert!((order - (degree + 1) as f64).abs() < 0.35, "{name} P{degree}: {coarse:e} {fine:e}, order {order}");
        }
    }
}

#[test]
fn a_search_times_correct_schedules() {
    let space = HostSpace::<f64>::new().unwrap();
    let mesh = SimplexMesh::unit(2, 6).unwrap();
    let bandwidth = |peak| Knee { peak, knee: 1.0 };
    let (global, local) = (bandwidth(10.0), bandwidth(50.0));
    let (local_bytes, local_bytes_of_team) = (1 << 18, 1 << 18);
    let device = Device { subgroup: 8, subgroups: 32, teams: 1, local_bytes, local_bytes_of_team, global, local };
    let steps = std::cell::RefCell::new(Vec::new());
    let effort = Effort { top: 4, seconds: 0.0 };
    let found = search::<_, _, 2, 1, 0>(&space, &mesh, 3, Helmholtz, &device, effort, &|done, all| {
        steps.borrow_mut().push((done, all));
    })
    .unwrap();
    assert_eq!(steps.into_inner(), (0..=5).map(|done| (done, 5)).collect::<Vec<_>>());
    assert_eq!((found.timed.len(), found.timed[0].schedule), (5, Schedule::default()));
    for timed in &found.timed {
        assert!(timed.seconds.clone().unwrap() > 0.0 && timed.difference < 1e-13, "{timed:?}");
    }
    let fastest = found.winner().unwrap().seconds.clone().unwrap();
    assert!(found.timed.iter().all(|timed| timed.seconds.clone().unwrap() >= fastest));
    assert!(found.rank_correlation().is_none_or(|correlation| correlation.abs() <= 1.0));
}
