//! Weak forms as traced programs: under the sanitizer, and counted.

use farro_backends::checked::CheckedSpace;
use farro_backends::count::CountSpace;
use farro_fem::laws::{Operator, SplitMix};
use farro_fem::schedule::{Case, Work};
use farro_fem::simplex::{DofMap, Lagrange, SimplexMesh, max_degree};
use farro_fem::weak::{DiscreteForm, Schedule, Tiles, WeakForm};
use farro_test_weak::{AgainstDense, Visit, each_form, odd_tiles};
use std::collections::BTreeMap;

#[test]
fn all_seventy_cases_agree_with_the_dense_evaluation() {
    let space = CheckedSpace::<f64>::new();
    let mut visit = AgainstDense { space: &space, divisions: 1, most: 8, compared: 0 };
    each_form(&mut visit);
    assert_eq!(visit.compared, 70);
}

/// Counts each form at degrees 2 to 4, by both schedules.
struct Counted {
    /// FLOPs of a point beside the sums, by form, dimension and schedule, which must not depend on the degree.
    of_point: BTreeMap<(&'static str, usize, bool), Vec<f64>>,
}

impl Visit for Counted {
    fn visit<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(&mut self, form: F) {
        let space = CountSpace::<f64>::new();
        let mesh = SimplexMesh::unit(D, 1).unwrap();
        let cells = mesh.cell_count() as f64;
        // Points and FLOPs beside the sums, for each schedule and degree.
        let mut rest: [Vec<(f64, f64)>; 2] = Default::default();
        for degree in 2..=max_degree(D).min(4) {
            let case = Case::new(&form, degree).unwrap();
            let nodes = DofMap::<i32>::new(&mesh, &Lagrange::new(D, degree).unwrap()).unwrap().node_count();
            let work = Work::of(&case, mesh.cell_count(), mesh.vertex_count(), nodes);
            // Each work item of a cell computes the cell's map, so their number must not change with the degree.
            let tiles = Tiles { items: 3, ..odd_tiles(case.points, case.nodes, &mut SplitMix::new(degree as u64)) };
            for (place, schedule) in [Schedule::default(), Schedule::Tiled(tiles)].into_iter().enumerate() {
                let operator = DiscreteForm::new(&space, &mesh, degree, form, schedule, 3).unwrap();
                let u: Vec<f64> = (0..nodes * C).map(|i| (i as f64).sin()).collect();
                space.reset();
                operator.apply(&u).unwrap();
                let counts = &space.by_kernel()[F::NAME];
                // What is the same table for all cells is not work of a cell.
                let views = ["coordinates", "vertices", "nodes", "unknown", "coefficients", "y"];
                let bytes: u64 =
                    views.iter().filter_map(|view| counts.views.get(*view)).map(|view| view.compulsory.bytes()).sum();
                assert_eq!(bytes as f64, (work.global_bytes * cells).round(), "{} P{degree}", F::NAME);
                rest[place].push((case.points as f64, counts.flops() as f64 / cells - Work::sums(&case)));
                if let Schedule::Tiled(tiles) = schedule {
                    let matrices = &counts.scratch_arrays["tile_matrices"];
                    assert_eq!(matrices.loads.bytes as f64, work.local_bytes * cells, "{} P{degree}", F::NAME);
                    let scatters = case.points.div_ceil(tiles.points);
                    assert_eq!(counts.global.atomics.elements as f64, work.atomics * cells * scatters as f64);
                } else {
                    assert_eq!(counts.global.atomics.elements as f64, work.atomics * cells);
                    assert_eq!(counts.barriers, 0);
                }
            }
        }
        // Beside the sums there are FLOPs of each point and of each cell, whatever the degree: rest = a Q + b.
        for (place, rest) in rest.iter().enumerate() {
            let a = (rest[1].1 - rest[0].1) / (rest[1].0 - rest[0].0);
            let b = rest[0].1 - a * rest[0].0;
            for (points, found) in rest {
                assert!((a * points + b - found).abs() < 1e-9 * found.abs().max(1.0), "{} {D}D: {rest:?}", F::NAME);
            }
            println!("{} {D}D schedule {place}: {a} a point, {b} a cell", F::NAME);
            self.of_point.entry((F::NAME, D, place == 1)).or_default().push(a);
        }
    }
}

#[test]
fn counted_work_is_that_of_the_formulas() {
    let mut visit = Counted { of_point: BTreeMap::new() };
    each_form(&mut visit);
    assert_eq!(visit.of_point.len(), 20);
    // FLOPs of a point as published, where symmetric tensors leave nothing to save; fewer for the vector forms.
    let published = [
        ("mass", [2.0, 2.0]),
        ("laplace", [15.0, 34.0]),
        ("helmholtz", [16.0, 35.0]),
        ("elasticity", [45.0, 154.0]),
        ("hyperelasticity", [139.0, 435.0]),
    ];
    for (form, of_dimension) in published {
        for (dimension, expected) in [2, 3].into_iter().zip(of_dimension) {
            let [found] = visit.of_point[&(form, dimension, true)][..] else { panic!("{form} was counted once") };
            let saves = form.ends_with("elasticity");
            assert!(if saves { found < expected } else { found == expected }, "{form} {dimension}D: {found}");
            // One work item a cell needs no addition for the first basis function.
            assert!(visit.of_point[&(form, dimension, false)][0] < found);
        }
    }
}
