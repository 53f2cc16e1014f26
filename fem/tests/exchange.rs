//! The exchange of node copies, against brute force over coordinates, and the laws it obeys.

use farro_fem::exchange::{Components, Exchange, ExchangeError, Node};
use farro_fem::mesh::{ShellMesh, ShellSpec};
use proptest::prelude::*;

fn mesh(level: u32, lateral_splits: usize, radial_splits: usize) -> ShellMesh {
    ShellMesh::new(ShellSpec { lateral_splits, radial_splits, ..ShellSpec::level(level) }).unwrap()
}

fn all_nodes(mesh: &ShellMesh) -> Vec<Node> {
    let [nx, ny, nr] = mesh.cells();
    let mut nodes = Vec::new();
    for subdomain in 0..mesh.subdomains().len() {
        for x in 0..=nx {
            for y in 0..=ny {
                nodes.extend((0..=nr).map(|r| Node { subdomain, x, y, r }));
            }
        }
    }
    nodes
}

fn position(mesh: &ShellMesh, node: Node) -> [f64; 3] {
    mesh.position(node.subdomain, node.x, node.y, node.r)
}

fn close(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// Whole numbers, so that sums are exact in any order.
fn noise(length: usize, seed: u64) -> Vec<f64> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 - 8388608.0
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn copies_are_those_that_coordinates_show() {
    for (level, lateral, radial) in [(1, 1, 1), (1, 2, 1), (2, 1, 2), (2, 2, 1), (2, 4, 2)] {
        let mesh = mesh(level, lateral, radial);
        let exchange = Exchange::new(&mesh);
        let nodes = all_nodes(&mesh);
        let index = |s, x, y, r| mesh.node_index(s, x, y, r);
        let field = noise(nodes.len(), 7);
        let mut added = field.clone();
        exchange.add(&mut added, index, Components::scalar()).unwrap();
        for (i, &node) in nodes.iter().enumerate() {
            let copies = (0..nodes.len()).filter(|&j| close(position(&mesh, node), position(&mesh, nodes[j])));
            let (mut count, mut sum, mut first) = (0, 0.0, None);
            for copy in copies {
                count += 1;
                sum += field[copy];
                first.get_or_insert(copy);
            }
            assert_eq!(added[i], sum, "level {level}, splits {lateral} and {radial}, {node:?}");
            assert_eq!(exchange.copies(node), count);
            // With several radial pieces the lower piece owns, which also comes first.
            assert_eq!(exchange.owns(node), first == Some(i));
        }
    }
}

#[test]
fn poles_close_five_diamonds_and_ring_vertices_three() {
    let mesh = mesh(3, 1, 1);
    let exchange = Exchange::new(&mesh);
    let copies = |subdomain, x, y| exchange.copies(Node { subdomain, x, y, r: 2 });
    for diamond in 0..10 {
        assert_eq!([copies(diamond, 0, 0), copies(diamond, 8, 0), copies(diamond, 8, 8)], [5, 3, 3]);
        assert_eq!([copies(diamond, 0, 5), copies(diamond, 5, 8), copies(diamond, 5, 5)], [2, 2, 1]);
    }
}

#[test]
fn memory_grows_with_edges_not_with_the_field() {
    let bytes = |level| Exchange::new(&mesh(level, 1, 1)).bytes();
    let (small, large) = (bytes(6), bytes(7));
    assert!(large < small * 21 / 10, "{small} to {large} bytes");
    assert!(large * 1000 < 8 * mesh(7, 1, 1).stored_nodes());
}

#[test]
fn a_sum_with_wide_spread_is_bitwise_the_same_for_all_copies_and_runs() {
    let mesh = mesh(2, 2, 2);
    let exchange = Exchange::new(&mesh);
    let field: Vec<f64> = noise(mesh.stored_nodes(), 3).into_iter().map(|v| v * 10f64.powi(v as i32 % 9)).collect();
    let run = || {
        let mut added = field.clone();
        exchange.add(&mut added, |s, x, y, r| mesh.node_index(s, x, y, r), Components::scalar()).unwrap();
        added
    };
    let first = run();
    exchange.for_each_shared(|copies| {
        let value = |node: Node| first[mesh.node_index(node.subdomain, node.x, node.y, node.r)].to_bits();
        assert!(copies.len() > 1 && copies.iter().all(|&copy| value(copy) == value(copies[0])));
        assert!(exchange.owns(copies[0]) && copies[1..].iter().all(|&copy| !exchange.owns(copy)));
    });
    assert!((0..50).all(|_| run() == first));
}

#[test]
fn a_field_too_short_is_refused_and_left_alone() {
    let mesh = mesh(1, 1, 1);
    let exchange = Exchange::new(&mesh);
    let index = |s, x, y, r| mesh.node_index(s, x, y, r);
    let mut field = vec![1.0f32; mesh.stored_nodes() - 1];
    let error = exchange.add(&mut field, index, Components::scalar()).unwrap_err();
    assert!(matches!(error, ExchangeError::OutsideField { component: 0, .. }), "{error}");
    assert!(field.iter().all(|&value| value == 1.0));
    let far = Components { count: 3, node_stride: usize::MAX, component_stride: 1 };
    assert!(exchange.add(&mut field, index, far).is_err());
    assert!(exchange.dot(&field, &field[..9], index, Components::scalar()).is_err());
    // Components reach past the end although node indices do not.
    let nodes = mesh.stored_nodes();
    assert!(exchange.add(&mut vec![0.0; 3 * nodes - 1], index, Components::separate(3, nodes)).is_err());
}

#[test]
fn copies_with_other_points_are_found() {
    let sound = mesh(1, 1, 1);
    let exchange = Exchange::new(&sound);
    exchange.check_points(&sound, 0.0).unwrap();
    let each = sound.unit_sphere().len() / 3;
    let mut points = sound.unit_sphere().to_vec();
    points[each - 1] += 1e-3;
    let moved =
        ShellMesh::from_parts(2, [&points[..each], &points[each..2 * each], &points[2 * each..]], &[0.5, 1.0], 1, 1);
    let error = exchange.check_points(&moved.unwrap(), 1e-12).unwrap_err();
    assert!(
        matches!(error, ExchangeError::CopiesApart { second: Node { subdomain: 9, x: 2, y: 2, .. }, .. }),
        "{error}"
    );
    assert_eq!(exchange.check_points(&mesh(2, 1, 1), 1.0), Err(ExchangeError::OtherMesh));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn totals_are_preserved(level in 1u32..4, lateral in 0u32..4, radial in 0u32..3, seed: u64) {
        let mesh = mesh(level, 1 << lateral.min(level), 1 << radial.min(level - 1));
        let exchange = Exchange::new(&mesh);
        let nodes = mesh.stored_nodes();
        let index = |s, x, y, r| mesh.node_index(s, x, y, r);
        let field = noise(3 * nodes, seed);
        let ones = vec![1.0; 3 * nodes];
        let mut separate = field.clone();
        exchange.add(&mut separate, index, Components::separate(3, nodes)).unwrap();
        // The total over all copies before is the total over unique nodes afterwards.
        let total: f64 = field.iter().sum();
        prop_assert_eq!(exchange.dot(&separate, &ones, index, Components::separate(3, nodes)).unwrap(), total);
        // The interleaved layout gives the same numbers.
        let mut interleaved: Vec<f64> = (0..3 * nodes).map(|i| field[i % 3 * nodes + i / 3]).collect();
        exchange.add(&mut interleaved, index, Components::interleaved(3)).unwrap();
        prop_assert!((0..3 * nodes).all(|i| interleaved[i] == separate[i % 3 * nodes + i / 3]));
        let mut unique = 0;
        exchange.for_each_unique(|node| {
            assert!(exchange.owns(node));
            unique += 1;
        });
        prop_assert_eq!(unique, mesh.unique_nodes());
        prop_assert_eq!(exchange.dot(&ones, &ones, index, Components::scalar()).unwrap(), unique as f64);
    }

    #[test]
    fn dot_does_not_depend_on_splits(lateral in 0u32..4, radial in 0u32..3) {
        let split = mesh(3, 1 << lateral, 1 << radial);
        let number = |n: &Node| split.unique_number(n.subdomain, n.x, n.y, n.r) as f64;
        let values: Vec<f64> = all_nodes(&split).iter().map(number).collect();
        let index = |s, x, y, r| split.node_index(s, x, y, r);
        let dot = Exchange::new(&split).dot(&values, &values, index, Components::scalar());
        let n = split.unique_nodes() as f64;
        prop_assert_eq!(dot.unwrap(), (n - 1.0) * n * (2.0 * n - 1.0) / 6.0);
    }
}
