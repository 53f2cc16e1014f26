//! The shell mesh: counts, golden coordinates, orientation, and requests that must be refused.

use farro_fem::golden::GoldenCase;
use farro_fem::mesh::{DIAMONDS, MAX_LEVEL, MeshError, RadiiSpec, ShellMesh, ShellSpec, WedgeFaultKind};
use proptest::prelude::*;

fn golden(name: &str) -> GoldenCase {
    GoldenCase::read(format!("{}/../tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn spec(level: u32) -> ShellSpec {
    ShellSpec::level(level)
}

/// The lateral points of a mesh with one subdomain a diamond, ready for `from_parts`.
fn parts(mesh: &ShellMesh) -> [Vec<f64>; 3] {
    let each = mesh.unit_sphere().len() / 3;
    [0, 1, 2].map(|component| mesh.unit_sphere()[component * each..(component + 1) * each].to_vec())
}

fn from_parts(n: usize, points: &[Vec<f64>; 3], radii: &[f64]) -> Result<ShellMesh, MeshError> {
    ShellMesh::from_parts(n, [&points[0], &points[1], &points[2]], radii, 1, 1)
}

#[test]
fn points_and_radii_match_the_golden_files() {
    for (level, name) in [(1, "l1-r2-1x1-neumann"), (1, "l1-r3-3x2-dirichlet"), (2, "l2-r3-1x1-surface")] {
        let case = golden(name);
        let (inner, outer) = (case.radii[0], case.radii[case.radial_cells]);
        let radii = RadiiSpec::Uniform { inner, outer };
        let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(case.radial_cells), radii, ..spec(level) }).unwrap();
        let n = case.lateral_cells;
        for diamond in 0..DIAMONDS {
            for x in 0..=n {
                for y in 0..=n {
                    let point = mesh.point(diamond, x, y);
                    for (component, value) in point.into_iter().enumerate() {
                        let golden = case.unit_sphere[component][(diamond * (n + 1) + x) * (n + 1) + y];
                        assert!((value - golden).abs() <= 1e-15, "{name}: {diamond} {x} {y} {component}");
                    }
                }
            }
            for (r, golden) in case.radii.iter().enumerate() {
                assert!((mesh.radius(diamond, r) - golden).abs() <= 1e-15, "{name}: radius {r}");
            }
        }
    }
}

#[test]
fn level_eight_has_the_unknowns_of_the_paper() {
    let mesh = ShellMesh::new(spec(8)).unwrap();
    assert_eq!((mesh.lateral_cells(), mesh.radial_cells()), (256, 128));
    assert_eq!(mesh.unique_nodes(), 84_541_698);
    assert_eq!(3 * mesh.unique_nodes(), 253_625_094);
    assert_eq!(mesh.stored_nodes(), 10 * 257 * 257 * 129);
    mesh.check().unwrap();
}

#[test]
fn defaults_are_the_shell_from_half_to_one() {
    let mesh = ShellMesh::new(spec(1)).unwrap();
    assert_eq!(mesh.cells(), [2, 2, 1]);
    assert_eq!(mesh.radii()[..2], [0.5, 1.0]);
    assert_eq!(ShellMesh::new(spec(3)).unwrap().radii()[..5], [0.5, 0.625, 0.75, 0.875, 1.0]);
}

#[test]
fn determinants_are_positive_in_the_north_and_negative_in_the_south() {
    let mesh = ShellMesh::new(spec(2)).unwrap();
    for (s, subdomain) in mesh.subdomains().iter().enumerate() {
        let [p0, p1, p2] = [(0, 0), (1, 0), (0, 1)].map(|(x, y)| mesh.point(s, x, y));
        let (a, b) = ([0, 1, 2].map(|c| p1[c] - p0[c]), [0, 1, 2].map(|c| p2[c] - p0[c]));
        let determinant = p0[0] * (a[1] * b[2] - a[2] * b[1])
            + p0[1] * (a[2] * b[0] - a[0] * b[2])
            + p0[2] * (a[0] * b[1] - a[1] * b[0]);
        assert_eq!(determinant.signum(), if subdomain.diamond < 5 { 1.0 } else { -1.0 });
        assert_eq!(determinant.signum(), subdomain.expected_sign());
    }
}

#[test]
fn surfaces_are_flagged_on_the_outermost_pieces_only() {
    let mesh = ShellMesh::new(ShellSpec { radial_splits: 4, ..spec(3) }).unwrap();
    for (s, subdomain) in mesh.subdomains().iter().enumerate() {
        assert_eq!(subdomain.inner, mesh.radius(s, 0) == mesh.inner_radius());
        assert_eq!(subdomain.outer, mesh.radius(s, mesh.cells()[2]) == mesh.outer_radius());
    }
    assert!(ShellMesh::new(spec(1)).unwrap().subdomains().iter().all(|piece| piece.inner && piece.outer));
}

#[test]
fn two_swapped_points_are_found_and_named() {
    for (diamond, x, y) in [(3, 4, 4), (7, 3, 5)] {
        let sound = ShellMesh::new(spec(3)).unwrap();
        let mut points = parts(&sound);
        let at = |x: usize, y: usize| (diamond * 9 + x) * 9 + y;
        for component in &mut points {
            component.swap(at(x, y), at(x + 1, y));
        }
        let error = from_parts(8, &points, &sound.radii()[..5]).unwrap().check().unwrap_err();
        let (first, sign) = (error.first, if diamond < 5 { 1.0 } else { -1.0 });
        assert_eq!((first.subdomain, first.kind), (diamond, WedgeFaultKind::Inverted));
        assert!(first.determinant * sign < 0.0 && first.expected_sign == sign);
        assert!(first.cell[0] + 1 >= x && first.cell[0] <= x + 1 && first.cell[1] + 1 >= y && first.cell[1] <= y);
        // Two triangles hold both points; each is a wedge on all four layers.
        assert_eq!((error.total, error.faults.len()), (8, 8));
        let text = error.to_string();
        for part in [format!("subdomain {diamond}"), "determinant".into(), format!("{} faulty", error.total)] {
            assert!(text.contains(&part), "{text}");
        }
    }
}

#[test]
fn degenerate_and_overflowing_wedges_are_told_apart_from_inverted_ones() {
    let sound = ShellMesh::new(spec(1)).unwrap();
    let check = |points: &[Vec<f64>; 3], radii: &[f64]| from_parts(2, points, radii).unwrap().check();
    assert_eq!(check(&parts(&sound), &[0.5, 1.0]), Ok(()));
    let mut doubled = parts(&sound);
    for component in &mut doubled {
        component[1] = component[0];
    }
    assert_eq!(check(&doubled, &[0.5, 1.0]).unwrap_err().first.kind, WedgeFaultKind::Degenerate);
    assert_eq!(check(&parts(&sound), &[1e200, 2e200]).unwrap_err().first.kind, WedgeFaultKind::NotFinite);
    let tiny = check(&parts(&sound), &[1e-200, 2e-200]).unwrap_err();
    assert_eq!((tiny.first.kind, tiny.total), (WedgeFaultKind::Degenerate, 10 * 2 * 2 * 2));
    let inside_out = parts(&sound).map(|values| values.iter().map(|value| -value).collect::<Vec<_>>());
    let all = check(&inside_out, &[0.5, 1.0]).unwrap_err();
    assert_eq!((all.total, all.faults.len()), (80, 16));
}

#[test]
fn impossible_requests_are_refused_with_what_would_be_possible() {
    let refused = |spec: ShellSpec| ShellMesh::new(spec).unwrap_err();
    let uniform = |inner, outer| RadiiSpec::Uniform { inner, outer };
    for level in [0, MAX_LEVEL + 1, 64, u32::MAX] {
        assert_eq!(refused(spec(level)), MeshError::Level { asked: level, limit: MAX_LEVEL });
    }
    assert!(refused(spec(13)).to_string().contains("memory"));
    for cells in [0, usize::MAX] {
        let error = refused(ShellSpec { radial_cells: Some(cells), ..spec(1) });
        assert!(matches!(error, MeshError::RadialCells { asked, .. } if asked == cells));
    }
    for (inner, outer) in [(-0.5, 1.0), (0.0, 1.0), (f64::NAN, 1.0), (0.5, f64::INFINITY)] {
        let error = refused(ShellSpec { radii: uniform(inner, outer), ..spec(2) });
        assert!(matches!(error, MeshError::BadRadius { .. }), "{error}");
    }
    for (inner, outer) in [(1.0, 1.0), (1.0, 0.5), (1.0, 1.0f64.next_up())] {
        let error = refused(ShellSpec { radii: uniform(inner, outer), ..spec(3) });
        assert!(matches!(error, MeshError::RadiiNotIncreasing { .. }), "{error}");
    }
    let explicit =
        |radii: &[f64], radial_cells| ShellSpec { radii: RadiiSpec::Explicit(radii.to_vec()), radial_cells, ..spec(1) };
    assert_eq!(refused(explicit(&[1.0], None)), MeshError::TooFewRadii { found: 1 });
    assert_eq!(refused(explicit(&[], Some(usize::MAX))), MeshError::RadiiCount { cells: usize::MAX, radii: 0 });
    assert_eq!(refused(explicit(&[1.0, 2.0], Some(2))), MeshError::RadiiCount { cells: 2, radii: 2 });
    let error = refused(explicit(&[1.0, 3.0, 2.0], None));
    assert_eq!(error, MeshError::RadiiNotIncreasing { index: 2, below: 3.0, above: 2.0 });
    for (lateral_splits, radial_splits) in [(0, 1), (3, 1), (1, 0), (1, 3), (16, 1), (usize::MAX, 1)] {
        let error = refused(ShellSpec { lateral_splits, radial_splits, ..spec(3) });
        assert!(matches!(error, MeshError::Splits { .. }), "{error}");
    }
    let error = refused(ShellSpec { lateral_splits: 4096, radial_splits: 2048, ..spec(12) });
    assert!(matches!(error, MeshError::TooLarge { .. }), "{error}");
}

#[test]
fn parts_of_the_wrong_shape_are_refused() {
    let points = parts(&ShellMesh::new(spec(1)).unwrap());
    let refused = |n, points: &[Vec<f64>; 3]| from_parts(n, points, &[0.5, 1.0]).unwrap_err();
    assert!(matches!(refused(0, &points), MeshError::LateralCells { asked: 0, .. }));
    assert!(matches!(refused(usize::MAX, &points), MeshError::LateralCells { .. }));
    assert!(matches!(refused(3, &points), MeshError::CoordinateCount { component: 0, expected: 160, found: 90, .. }));
    let mut broken = points;
    broken[2][9 * 4 + 3 + 2] = f64::NAN;
    assert!(matches!(refused(2, &broken), MeshError::BadCoordinate { component: 2, diamond: 4, x: 1, y: 2, .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_split_is_the_same_shell(level in 1u32..5, lateral in 0u32..5, radial in 0u32..4) {
        let whole = ShellMesh::new(spec(level)).unwrap();
        let (lateral_splits, radial_splits) = (1 << lateral.min(level), 1 << radial.min(level - 1));
        let split = ShellMesh::new(ShellSpec { lateral_splits, radial_splits, ..spec(level) }).unwrap();
        prop_assert_eq!(split.unique_nodes(), whole.unique_nodes());
        prop_assert_eq!(split.subdomains().len(), 10 * lateral_splits * lateral_splits * radial_splits);
        prop_assert!(split.check().is_ok());
        let [nx, ny, nr] = split.cells();
        let mut seen = vec![false; split.unique_nodes()];
        for (s, piece) in split.subdomains().iter().enumerate() {
            for x in 0..=nx {
                for y in 0..=ny {
                    let point = whole.point(piece.diamond, piece.first[0] + x, piece.first[1] + y);
                    prop_assert_eq!(split.point(s, x, y), point);
                    for r in 0..=nr {
                        prop_assert_eq!(split.radius(s, r), whole.radius(piece.diamond, piece.first[2] + r));
                        seen[split.unique_number(s, x, y, r)] = true;
                    }
                }
            }
        }
        prop_assert!(seen.into_iter().all(|node| node));
    }

    #[test]
    fn points_of_any_cell_count_survive_from_parts(n in 1usize..7, seed in prop::collection::vec(-1.0f64..1.0, 3)) {
        let count = 10 * (n + 1) * (n + 1);
        let points = [0, 1, 2].map(|c| (0..count).map(|i| seed[c] + i as f64).collect::<Vec<_>>());
        let mesh = from_parts(n, &points, &[1.0, 2.0]).unwrap();
        prop_assert_eq!(parts(&mesh), points);
    }
}
