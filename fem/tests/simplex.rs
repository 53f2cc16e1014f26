//! Elements, quadrature, meshes and numbering on simplices: laws that hold for every dimension and degree.

use farro_fem::laws::SplitMix;
use farro_fem::simplex::{
    DofMap, Lagrange, Quadrature, SimplexError, SimplexMesh, max_degree, node_count, tabulated_degree,
};
use proptest::prelude::*;

fn elements() -> impl Iterator<Item = Lagrange> {
    [2, 3].into_iter().flat_map(|d| (1..=max_degree(d)).map(move |p| Lagrange::new(d, p).unwrap()))
}

/// A point inside the reference simplex.
fn inside(dimension: usize, random: &mut SplitMix) -> Vec<f64> {
    let shares: Vec<f64> = (0..=dimension).map(|_| -(0.5 * (random.real() + 1.0) + 1e-9).ln()).collect();
    let total: f64 = shares.iter().sum();
    shares[1..].iter().map(|share| share / total).collect()
}

/// The integral of a monomial over the reference simplex: Π eᵢ! / (Σ eᵢ + d)!.
fn monomial_integral(exponents: &[usize]) -> f64 {
    let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
    exponents.iter().map(|&e| factorial(e)).product::<f64>()
        / factorial(exponents.iter().sum::<usize>() + exponents.len())
}

fn monomials(dimension: usize, degree: usize) -> Vec<Vec<usize>> {
    let side = degree + 1;
    (0..side.pow(dimension as u32))
        .map(|code| (0..dimension).map(|d| code / side.pow(d as u32) % side).collect::<Vec<_>>())
        .filter(|e: &Vec<usize>| e.iter().sum::<usize>() <= degree)
        .collect()
}

fn power(point: &[f64], exponents: &[usize]) -> f64 {
    point.iter().zip(exponents).map(|(x, &e)| x.powi(e as i32)).product()
}

#[test]
fn rules_are_exact_to_their_degree_and_no_further() {
    for dimension in [2, 3] {
        for degree in (0..=tabulated_degree(dimension) + 8).chain([28, 40]) {
            let rule = Quadrature::new(dimension, degree).unwrap();
            for exponents in monomials(dimension, degree) {
                let sum: f64 = rule.iter().map(|(point, weight)| weight * power(point, &exponents)).sum();
                let exact = monomial_integral(&exponents);
                assert!((sum - exact).abs() < 2e-15, "{dimension}D degree {degree}: {exponents:?} {sum} {exact}");
            }
            for (point, weight) in rule.iter() {
                assert!(point.iter().all(|&x| x > 0.0) && point.iter().sum::<f64>() < 1.0 && weight > 0.0);
            }
        }
    }
}

#[test]
fn rules_have_the_published_numbers_of_points() {
    let triangle = [
        (0, 1),
        (1, 1),
        (2, 3),
        (3, 6),
        (4, 6),
        (6, 12),
        (8, 16),
        (10, 25),
        (12, 33),
        (14, 42),
        (16, 55),
        (20, 79),
        (24, 112),
        (28, 150),
    ];
    let tetrahedron = [(0, 1), (1, 1), (2, 4), (4, 11), (6, 23), (8, 44), (10, 74), (12, 122), (16, 729), (20, 1331)];
    for (dimension, rules) in [(2, &triangle[..]), (3, &tetrahedron[..])] {
        for &(degree, points) in rules {
            assert_eq!(Quadrature::new(dimension, degree).unwrap().len(), points, "{dimension}D degree {degree}");
        }
    }
}

#[test]
fn basis_functions_are_one_at_their_node_and_zero_at_the_others() {
    for element in elements() {
        assert_eq!(element.len(), node_count(element.dimension(), element.degree()));
        for node in 0..element.len() {
            let values = element.values(&element.node(node)[1..]);
            for (other, value) in values.into_iter().enumerate() {
                assert!(
                    (value - f64::from(u8::from(node == other))).abs() < 1e-12,
                    "{} {node} {other}",
                    element.degree()
                );
            }
        }
    }
}

#[test]
fn nodes_of_low_degree_are_evenly_spaced_and_all_are_symmetric() {
    for element in elements() {
        let nodes: Vec<Vec<f64>> = (0..element.len()).map(|node| element.node(node).to_vec()).collect();
        for node in &nodes {
            assert!((node.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            // Each node has its mirror images among the nodes.
            let mut mirrored = node.clone();
            mirrored.rotate_left(1);
            mirrored.swap(0, 1);
            let near = |other: &Vec<f64>| other.iter().zip(&mirrored).all(|(a, b)| (a - b).abs() < 1e-14);
            assert!(nodes.iter().any(near), "{node:?}");
            if element.degree() <= 2 {
                assert!(node.iter().all(|share| (share * 2.0).fract().abs() < 1e-15));
            }
        }
    }
}

#[test]
fn tables_reproduce_polynomials_and_their_derivatives() {
    let mut random = SplitMix::new(11);
    for element in elements() {
        let (dimension, degree) = (element.dimension(), element.degree());
        let exponents = monomials(dimension, degree);
        let coefficients: Vec<f64> = exponents.iter().map(|_| random.real()).collect();
        let polynomial =
            |point: &[f64]| -> f64 { exponents.iter().zip(&coefficients).map(|(e, c)| c * power(point, e)).sum() };
        let derivative = |point: &[f64], d: usize| -> f64 {
            let term = |e: &Vec<usize>| {
                let mut lower = e.clone();
                if e[d] == 0 {
                    return 0.0;
                }
                lower[d] -= 1;
                e[d] as f64 * power(point, &lower)
            };
            exponents.iter().zip(&coefficients).map(|(e, c)| c * term(e)).sum()
        };
        let nodal: Vec<f64> = (0..element.len()).map(|node| polynomial(&element.node(node)[1..])).collect();
        let rule = Quadrature::new(dimension, 4).unwrap();
        let table = element.tabulate(&rule);
        for (q, (point, _)) in rule.iter().enumerate() {
            for (m, matrix) in table.matrices.iter().enumerate() {
                let row = &matrix[q * element.len()..][..element.len()];
                let found: f64 = row.iter().zip(&nodal).map(|(phi, u)| phi * u).sum();
                let expected = if m == 0 { polynomial(point) } else { derivative(point, m - 1) };
                assert!((found - expected).abs() < 2e-12, "{dimension}D P{degree} matrix {m}: {found} {expected}");
            }
            let unity: f64 = table.matrices[0][q * element.len()..][..element.len()].iter().sum();
            assert!((unity - 1.0).abs() < 1e-13);
        }
        let point = inside(dimension, &mut random);
        let found: f64 = element.values(&point).iter().zip(&nodal).map(|(phi, u)| phi * u).sum();
        assert!((found - polynomial(&point)).abs() < 1e-12);
    }
}

#[test]
fn published_meshes_have_the_published_sizes() {
    // The square of 1280² is one of the same family; this one keeps a debug build fast.
    let square = SimplexMesh::unit(2, 80).unwrap();
    assert_eq!((square.cell_count(), square.vertex_count()), (2 * 80 * 80, 81 * 81));
    let cube = SimplexMesh::unit(3, 12).unwrap();
    assert_eq!((cube.cell_count(), cube.vertex_count()), (6 * 12 * 12 * 12, 13 * 13 * 13));
    for mesh in [square, cube] {
        let volume: f64 = (0..mesh.cell_count()).map(|cell| mesh.volume(cell)).sum();
        assert!((volume - 1.0).abs() < 1e-12);
    }
}

#[test]
fn nodes_on_unit_meshes_form_a_lattice() {
    for (dimension, n) in [(2, 5), (3, 3)] {
        let mesh = SimplexMesh::unit(dimension, n).unwrap();
        for degree in 1..=max_degree(dimension) {
            let element = Lagrange::new(dimension, degree).unwrap();
            let map = DofMap::<i32>::new(&mesh, &element).unwrap();
            let side: usize = n * degree + 1;
            assert_eq!(map.node_count(), side.pow(dimension as u32));
            assert_eq!(DofMap::<i64>::new(&mesh, &element).unwrap().node_count(), map.node_count());
            let inner = (side - 2).pow(dimension as u32);
            assert_eq!(map.boundary(&mesh, &element).unwrap().len(), map.node_count() - inner);
            // Every cell computes the same position for a node that it shares.
            let positions = map.positions(&mesh, &element);
            for cell in 0..mesh.cell_count() {
                for (local, &node) in map.cell(cell).iter().enumerate() {
                    for d in 0..dimension {
                        let corners = mesh.cell(cell).iter().zip(element.node(local));
                        let x: f64 = corners.map(|(&v, share)| share * mesh.vertex(v as usize)[d]).sum();
                        assert!((x - positions[node as usize * dimension + d]).abs() < 1e-14);
                    }
                }
            }
        }
    }
}

#[test]
fn localized_meshes_keep_nodes_of_neighbouring_cells_together() {
    let mesh = SimplexMesh::unit(2, 32).unwrap();
    let element = Lagrange::new(2, 3).unwrap();
    let spread = |mesh: &SimplexMesh| -> usize {
        let map = DofMap::<i32>::new(mesh, &element).unwrap();
        let range = |cell: &[i32]| cell.iter().max().unwrap() - cell.iter().min().unwrap();
        (0..mesh.cell_count()).map(|cell| range(map.cell(cell)) as usize).sum()
    };
    let mut random = SplitMix::new(5);
    let mut shuffle = |n: usize| {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        order
    };
    let cells = shuffle(mesh.cell_count());
    let vertices: Vec<u32> = shuffle(mesh.vertex_count()).into_iter().map(|v| v as u32).collect();
    let shuffled = mesh.renumbered(&cells, &vertices).unwrap();
    assert!(spread(&shuffled) > 4 * spread(&mesh));
    assert_eq!(shuffled.localized().localized(), shuffled.localized());
    assert!(spread(&shuffled.localized()) < 2 * spread(&mesh));
}

#[test]
fn what_is_not_possible_is_refused() {
    assert_eq!(Lagrange::new(2, 0), Err(SimplexError::Degree { asked: 0, dimension: 2, limit: 8 }));
    assert_eq!(Lagrange::new(2, 9), Err(SimplexError::Degree { asked: 9, dimension: 2, limit: 8 }));
    assert_eq!(Lagrange::new(3, 7), Err(SimplexError::Degree { asked: 7, dimension: 3, limit: 6 }));
    assert_eq!(Lagrange::new(4, 1), Err(SimplexError::Dimension { asked: 4 }));
    assert!(matches!(Quadrature::new(3, 121), Err(SimplexError::QuadratureDegree { .. })));
    assert!(matches!(SimplexMesh::unit(2, 0), Err(SimplexError::Divisions { .. })));
    let square = vec![0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0];
    let mesh = |cells: &[u32]| SimplexMesh::new(2, square.clone(), cells.to_vec());
    assert!(mesh(&[0, 1, 2, 0, 2, 3]).is_ok());
    assert!(matches!(mesh(&[0, 1, 2, 0, 3, 2]), Err(SimplexError::Inverted { cell: 1, .. })));
    assert!(matches!(mesh(&[0, 1, 4]), Err(SimplexError::Vertex { cell: 0, vertex: 4, vertices: 4 })));
    assert!(matches!(mesh(&[0, 1, 1]), Err(SimplexError::RepeatedVertex { cell: 0, vertex: 1 })));
    assert!(matches!(mesh(&[0, 1]), Err(SimplexError::Length { .. })));
    assert!(matches!(mesh(&[]), Err(SimplexError::Empty("cells"))));
    let flat = SimplexMesh::new(2, vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0], vec![0, 1, 2]);
    assert!(matches!(flat, Err(SimplexError::Degenerate { cell: 0, .. })));
    let infinite = SimplexMesh::new(2, vec![0.0, f64::NAN, 1.0, 1.0, 2.0, 0.0], vec![0, 1, 2]);
    assert!(matches!(infinite, Err(SimplexError::Coordinate { vertex: 0, .. })));
    let unit = SimplexMesh::unit(2, 1).unwrap();
    assert!(matches!(unit.renumbered(&[0, 0], &[0, 1, 2, 3]), Err(SimplexError::Permutation { what: "cells", .. })));
    let fan =
        SimplexMesh::new(2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5, 2.0], vec![0, 1, 2, 0, 1, 3, 0, 1, 4])
            .unwrap();
    assert_eq!(fan.boundary(), Err(SimplexError::Facet { cell: 2 }));
}

const MSH_2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 1 \"plate\"\n$EndPhysicalNames\n$Nodes\n5\n1 0 0 0\n\
    2 1 0 0\n5 1 1 0\n4 0 1 0\n9 7 7 7\n$EndNodes\n$Elements\n4\n1 15 2 0 1 1\n2 1 2 0 1 1 2\n3 2 2 0 1 1 2 5\n4 2 2 0 1 1 5 4\n$EndElements\n";
const MSH_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n2 4 1 4\n\
    0 1 0 2\n1\n2\n0 0 0\n1 0 0\n3 1 0 2\n3\n4\n0 1 0\n0 0 1\n$EndNodes\n$Elements\n2 2 1 2\n2 1 2 1\n1 1 2 3\n3 1 4 1\n2 1 2 3 4\n$EndElements\n";

#[test]
fn gmsh_files_of_both_formats_are_read() {
    let plate = SimplexMesh::from_gmsh("plate.msh", MSH_2).unwrap();
    assert_eq!((plate.dimension(), plate.cell_count(), plate.vertex_count()), (2, 2, 4));
    assert_eq!(plate.vertex(2), [1.0, 1.0]);
    let tetrahedron = SimplexMesh::from_gmsh("one.msh", MSH_4).unwrap();
    assert_eq!((tetrahedron.dimension(), tetrahedron.cell_count()), (3, 1));
    assert!((tetrahedron.volume(0) - 1.0 / 6.0).abs() < 1e-15);
}

#[test]
fn faults_of_mesh_files_are_named_by_line() {
    let cases = [
        (MSH_2.replace("4 0 1 0", "4 0 x 0"), 13, "coordinate `x`"),
        (MSH_2.replace("4 0 1 0", "4 0 1"), 13, "2 coordinates"),
        (MSH_2.replace("4 0 1 0", "2 0 1 0"), 13, "node 2 is there twice"),
        (MSH_2.replace("4 2 2 0 1 1 5 4", "4 2 2 0 1 1 5 8"), 21, "node 8 does not exist"),
        (MSH_2.replace("4 2 2 0 1 1 5 4", "4 2 2 0 1 1 4 5"), 21, "inverted"),
        (MSH_2.replace("4 2 2 0 1 1 5 4", "4 2 2 0 1 1 5 9"), 21, "z = 7"),
        (MSH_2.replace("4 2 2 0 1 1 5 4", "4 9 2 0 1 1 5 4"), 21, "higher degree"),
        (MSH_2.replace("4 2 2 0 1 1 5 4", "4 2 99 0 1 1 5 4"), 21, "99 tags"),
        (MSH_2.replace("$Elements\n4", "$Elements\n5"), 22, "`$EndElements` found"),
        (MSH_2.replace("2.2 0 8", "2.2 1 8"), 2, "binary"),
        (MSH_2.replace("2.2 0 8", "3.0 0 8"), 2, "format `3.0 0 8`"),
        (MSH_2.replace("$EndPhysicalNames\n", ""), 4, "no $EndPhysicalNames"),
        (MSH_4.replace("2 4 1 4", "2 5 1 4"), 19, "4 nodes found, 5 announced"),
        (MSH_4.replace("2 1 2 3 4\n", "2 1 2 3\n"), 26, "3 nodes found"),
        ("hello".into(), 1, "$MeshFormat should be"),
        (String::new(), 0, "the file ends"),
        ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n".into(), 1, "no triangles"),
        ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n99999999999999999999\n".into(), 5, "whole numbers"),
    ];
    for (text, expected_line, expected) in cases {
        match SimplexMesh::from_gmsh("bad.msh", &text) {
            Err(SimplexError::Gmsh { line, message, .. }) => {
                assert!(message.contains(expected) && line == expected_line, "line {line}: {message}");
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
    assert!(matches!(SimplexMesh::read_gmsh("does-not-exist.msh"), Err(SimplexError::File { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whatever is done to a mesh file, reading it ends with a mesh or a typed error.
    #[test]
    fn damaged_mesh_files_never_panic(which in 0..2usize, cut in 0.0..1.0f64, insert in "[ -~\n]{0,12}", keep in any::<bool>()) {
        let text = [MSH_2, MSH_4][which];
        let at = (cut * text.len() as f64) as usize;
        let rest = if keep { &text[at..] } else { "" };
        let _ = SimplexMesh::from_gmsh("damaged.msh", &format!("{}{insert}{rest}", &text[..at]));
    }
}
