//! The space of schedules, the cost model and the formulas of work, against published numbers.

use farro_fem::schedule::{Case, Device, Knee, Model, Space, Work, rank, work_item_pairs};
use farro_fem::simplex::max_degree;
use farro_fem::weak::{Elasticity, Helmholtz, Hyperelasticity, Laplace, Mass, Schedule, WeakError, WeakForm};
use std::collections::HashSet;

/// Numbers in the order of magnitude of a large GPU; none of them is claimed to be that of a particular one.
const DEVICE: Device = Device {
    subgroup: 32,
    subgroups: 64,
    teams: 32,
    local_bytes: 228 << 10,
    local_bytes_of_team: 227 << 10,
    global: Knee { peak: 4000.0, knee: 24.0 },
    local: Knee { peak: 30000.0, knee: 16.0 },
};

fn cases() -> Vec<Case> {
    fn of<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(form: F) -> Vec<Case> {
        (1..=max_degree(D)).map(|degree| Case::new(&form, degree).unwrap()).collect()
    }
    [
        of::<_, 2, 1, 0>(Mass),
        of::<_, 3, 1, 0>(Mass),
        of::<_, 2, 1, 0>(Laplace),
        of::<_, 3, 1, 0>(Laplace),
        of::<_, 2, 1, 0>(Helmholtz),
        of::<_, 3, 1, 0>(Helmholtz),
        of::<_, 2, 2, 0>(Elasticity),
        of::<_, 3, 3, 0>(Elasticity),
        of::<_, 2, 2, 1>(Hyperelasticity::default()),
        of::<_, 3, 3, 1>(Hyperelasticity::default()),
    ]
    .concat()
}

#[test]
fn candidates_are_counted_as_published() {
    assert_eq!(work_item_pairs().len(), 90);
    let mass = Case::new::<_, 3, 1, 0>(&Mass, 6).unwrap();
    assert_eq!(Space::of(&mass).count(), 624_061);
    let hyperelasticity = Case::new::<_, 3, 3, 1>(&Hyperelasticity::default(), 6).unwrap();
    assert_eq!(Space::of(&hyperelasticity).count(), 5_279_221);
}

#[test]
fn candidates_are_distinct_valid_schedules() {
    let cases = cases();
    assert_eq!(cases.len(), 70);
    for case in cases.iter().filter(|case| case.degree <= 3) {
        let space = Space::of(case);
        let mut seen = HashSet::new();
        for candidate in space.groups().flatten() {
            candidate.schedule().check(case.points, case.nodes).unwrap();
            assert!(seen.insert(candidate));
        }
        assert_eq!(seen.len() + 1, space.count());
    }
}

#[test]
fn work_follows_the_published_formulas() {
    for case in cases() {
        let (q, n, c) = (case.points as f64, case.nodes as f64, case.components as f64);
        let m = case.evaluation_matrices as f64;
        assert_eq!(case.evaluation_matrices, case.quadrature_matrices);
        let expected = match case.form {
            "mass" => 1,
            "helmholtz" => case.dimension + 1,
            _ => case.dimension,
        };
        assert_eq!(case.evaluation_matrices, expected);
        assert_eq!(Work::sums(&case), 2.0 * q * n * m * c * (case.functions as f64 + 1.0));
        // One cell alone shares nothing: vertices and nodes are its own.
        let work = Work::of(&case, 1, case.dimension + 1, case.nodes);
        assert_eq!(work.local_bytes, 16.0 * m * n * q);
        if case.degree > 1 {
            assert!(work.flops > Work::sums(&case));
        }
    }
    // 2D mass P2 on the published mesh: 3 points, 6 nodes; 2·3·6·2 + 2·3 + 8 FLOPs.
    let mass = Case::new::<_, 2, 1, 0>(&Mass, 2).unwrap();
    let (cells, vertices, nodes) = (2 * 1280 * 1280, 1281 * 1281, 2561 * 2561);
    let work = Work::of(&mass, cells, vertices, nodes);
    assert_eq!(work.flops, 2.0 * 6.0 * 6.0 * 2.0 + 2.0 * 6.0 + 8.0);
    let bytes = 12.0 + 24.0 + 16.0 * vertices as f64 / cells as f64 + 24.0 * nodes as f64 / cells as f64;
    assert!((work.global_bytes - bytes).abs() < 1e-12);
    let lines = work.rooflines(30_000.0, 4000.0, 20_000.0, 500.0);
    assert!(lines.sum < lines.min && lines.l1 <= lines.min);
    assert_eq!(lines.atomics, work.flops * 500.0 / 6.0);
}

#[test]
fn a_ranking_is_the_sorted_head_of_the_whole_space() {
    let case = Case::new::<_, 3, 1, 0>(&Helmholtz, 3).unwrap();
    let model = Model { case: &case, device: &DEVICE };
    let mut all: Vec<(f64, usize)> = Space::of(&case)
        .groups()
        .flatten()
        .filter_map(|candidate| Some((model.cost(&candidate)?.nanoseconds, candidate.synchronisations(&case))))
        .collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let ranking = rank(&case, &DEVICE, 25);
    let found: Vec<_> = ranking.best.iter().map(|r| (r.cost.nanoseconds, r.synchronisations)).collect();
    assert_eq!(found, all[..25]);
    assert_eq!(ranking.count, all.len() + ranking.too_large + 1);
    // A device with little local memory excludes more.
    let small = Device { local_bytes_of_team: 2 << 10, ..DEVICE };
    assert!(rank(&case, &small, 1).too_large > ranking.too_large);
    assert!(rank(&case, &small, 0).best.is_empty());
}

#[test]
fn costs_obey_the_model() {
    for case in cases().iter().filter(|case| case.degree % 2 == 0) {
        let model = Model { case, device: &DEVICE };
        let faster = Device { global: Knee { peak: 8000.0, ..DEVICE.global }, ..DEVICE };
        for cost in Space::of(case).groups().flatten().step_by(997).filter_map(|candidate| model.cost(&candidate)) {
            assert!(cost.useful > 0.0 && cost.useful <= 1.0);
            assert!((cost.nanoseconds - cost.global - cost.local).abs() < 1e-12 * cost.nanoseconds);
            assert!(cost.resident <= 64.0 && cost.teams >= 1);
        }
        let best = rank(case, &DEVICE, 1).best[0];
        let with_faster = Model { case, device: &faster }.cost(&best.candidate).unwrap();
        assert!((with_faster.global * 2.0 - best.cost.global).abs() < 1e-12 * best.cost.global);
        assert_eq!(with_faster.local, best.cost.local);
    }
}

/// The largest case takes well under five seconds when optimized.
#[test]
fn five_million_candidates_are_ranked() {
    let case = Case::new::<_, 3, 3, 1>(&Hyperelasticity::default(), 6).unwrap();
    let start = std::time::Instant::now();
    let ranking = rank(&case, &DEVICE, 10);
    println!("{:.2} s", start.elapsed().as_secs_f64());
    assert_eq!(ranking.best.len(), 10);
    assert!(start.elapsed().as_secs() < 5);
}

#[test]
fn schedules_out_of_range_are_refused() {
    let case = Case::new::<_, 2, 1, 0>(&Mass, 2).unwrap();
    let candidate = Space::of(&case).groups().flatten().next().unwrap();
    let mut tiles = candidate.tiles;
    tiles.evaluation_columns = case.nodes + 1;
    let error = Schedule::Tiled(tiles).check(case.points, case.nodes).unwrap_err();
    assert!(
        matches!(error, WeakError::Schedule { parameter: "evaluation columns", value: 7, limit: 6, .. }),
        "{error}"
    );
    assert!(Schedule::Single { cells: 0 }.check(case.points, case.nodes).is_err());
    assert!(Case::new::<_, 2, 1, 0>(&Mass, 9).is_err());
    assert!(Case::new::<_, 2, 1, 0>(&Mass, 0).is_err());
}
