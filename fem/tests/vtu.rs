//! ParaView files, read back by hand: sizes, offsets, orientation of the wedges, data, and nothing partial.

use farro_fem::exchange::Components;
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::vtu::{PointField, VtuError, WedgeOrder, write_vtu};
use std::collections::HashMap;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("farro-vtu-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The blocks of a file by array name, with the components the header states, found by the header's offsets.
fn blocks(bytes: &[u8]) -> HashMap<String, (usize, Vec<u8>)> {
    let start = bytes.windows(15).position(|window| window == b"encoding=\"raw\">").unwrap() + 15;
    let data = start + bytes[start..].iter().position(|&byte| byte == b'_').unwrap() + 1;
    let header = std::str::from_utf8(&bytes[..start]).unwrap();
    let value =
        |line: &str, key: &str| line.split(&format!("{key}=\"")).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let mut blocks = HashMap::new();
    let mut end = data;
    for line in header.lines().filter(|line| line.contains("<DataArray")) {
        let at = data + value(line, "offset").parse::<usize>().unwrap();
        assert_eq!(at, end, "blocks follow each other");
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        end = at + 8 + length;
        let components = value(line, "NumberOfComponents").parse().unwrap();
        blocks.insert(value(line, "Name"), (components, bytes[at + 8..end].to_vec()));
    }
    assert!(bytes[end..].starts_with(b"\n  </AppendedData>"));
    blocks
}

fn words(block: &[u8]) -> Vec<[u8; 8]> {
    block.chunks_exact(8).map(|chunk| chunk.try_into().unwrap()).collect()
}

fn floats(block: &[u8]) -> Vec<f64> {
    words(block).into_iter().map(f64::from_le_bytes).collect()
}

#[test]
fn a_file_holds_the_mesh_and_its_fields() {
    let place = folder("whole");
    let mesh = ShellMesh::new(ShellSpec { lateral_splits: 2, radial_splits: 2, ..ShellSpec::level(2) }).unwrap();
    let nodes = mesh.stored_nodes();
    let cells = 2 * 10 * 4 * 4 * 2;
    let (u, k): (Vec<f32>, Vec<f32>) = ((0..3 * nodes).map(|i| i as f32).collect(), vec![2.5; nodes]);
    let path = place.join("shell.vtu");
    let fields = [
        PointField { name: "u", values: &u, components: Components::separate(3, nodes) },
        PointField { name: "k", values: &k, components: Components::scalar() },
        PointField { name: "a<u>", values: &u, components: Components::interleaved(3) },
    ];
    write_vtu(&path, &mesh, |s, x, y, r| mesh.node_index(s, x, y, r), &fields, WedgeOrder::Current).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let blocks = blocks(&bytes);
    let points = floats(&blocks["Points"].1);
    assert_eq!(points.len(), 3 * nodes);
    let [x, y, z] = mesh.position(3, 1, 2, 0);
    let at = 3 * mesh.node_index(3, 1, 2, 0);
    assert_eq!(points[at..at + 3], [x, y, z]);
    assert_eq!(blocks["types"].1, vec![13u8; cells]);
    let offsets: Vec<i64> = words(&blocks["offsets"].1).into_iter().map(i64::from_le_bytes).collect();
    assert!(offsets.iter().enumerate().all(|(cell, &end)| end == 6 * (cell as i64 + 1)) && offsets.len() == cells);
    assert_eq!(blocks["u"].0, 3);
    let expected: Vec<f64> = (0..3 * nodes).map(|i| (i % 3 * nodes + i / 3) as f64).collect();
    assert_eq!(floats(&blocks["u"].1), expected);
    assert_eq!(floats(&blocks["a&lt;u&gt;"].1), u.iter().map(|&v| f64::from(v)).collect::<Vec<_>>());
    assert_eq!(floats(&blocks["k"].1), vec![2.5; nodes]);

    std::fs::remove_dir_all(&place).unwrap();
}

#[test]
fn wedges_turn_as_asked_in_both_hemispheres() {
    let place = folder("order");
    let mesh = ShellMesh::new(ShellSpec { lateral_splits: 2, ..ShellSpec::level(3) }).unwrap();
    for (order, sign) in [(WedgeOrder::default(), 1.0), (WedgeOrder::Older, -1.0)] {
        let path = place.join("shell.vtu");
        write_vtu::<f64>(&path, &mesh, |_, _, _, _| 0, &[], order).unwrap();
        let blocks = blocks(&std::fs::read(&path).unwrap());
        let points = floats(&blocks["Points"].1);
        let point = |node: &[u8; 8]| [0, 1, 2].map(|c| points[3 * i64::from_le_bytes(*node) as usize + c]);
        let mut volume = 0.0;
        for wedge in words(&blocks["connectivity"].1).chunks_exact(6) {
            let p: Vec<[f64; 3]> = wedge.iter().map(point).collect();
            let (a, b) = ([0, 1, 2].map(|c| p[1][c] - p[0][c]), [0, 1, 2].map(|c| p[2][c] - p[0][c]));
            let normal = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
            let norm = |q: [f64; 3]| (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]).sqrt();
            for (low, high) in [(0, 3), (1, 4), (2, 5)] {
                let ratio = norm(p[high]) / norm(p[low]);
                // Each pair of nodes is one column, and the second triangle is the outer one.
                assert!(ratio > 1.0 && (0..3).all(|c| (p[high][c] - ratio * p[low][c]).abs() < 1e-14));
                let along = (0..3).map(|c| normal[c] * (p[high][c] - p[low][c])).sum::<f64>();
                assert!(sign * along > 0.0);
            }
            // A wedge is a cone over its outer triangle less one over its inner triangle.
            let tip = (0..3).map(|c| normal[c] * p[0][c]).sum::<f64>() / 6.0;
            volume += tip * ((norm(p[3]) / norm(p[0])).powi(3) - 1.0);
        }
        let sphere = 4.0 / 3.0 * std::f64::consts::PI * (1.0 - 0.125);
        assert!((sign * volume / sphere - 1.0).abs() < 0.02, "volume {volume}");
    }
    std::fs::remove_dir_all(&place).unwrap();
}

#[test]
fn refused_writes_leave_the_folder_as_it_was() {
    let place = folder("refused");
    let mesh = ShellMesh::new(ShellSpec::level(1)).unwrap();
    let nodes = mesh.stored_nodes();
    let index = |s, x, y, r| mesh.node_index(s, x, y, r);
    let path = place.join("shell.vtu");
    std::fs::write(&path, "before").unwrap();
    let values = vec![1.0; nodes];
    let field = |name, components| PointField { name, values: &values, components };
    let short = write_vtu(&path, &mesh, index, &[field("u", Components::separate(3, nodes))], WedgeOrder::Current);
    assert!(matches!(short, Err(VtuError::OutsideField { length, .. }) if length == nodes));
    for fields in [vec![field("", Components::scalar())], vec![field("k", Components::scalar()); 2]] {
        assert!(matches!(write_vtu(&path, &mesh, index, &fields, WedgeOrder::Current), Err(VtuError::Name { .. })));
    }
    for bad in [place.clone(), place.join("no/shell.vtu")] {
        let error =
            write_vtu(&bad, &mesh, index, &[field("k", Components::scalar())], WedgeOrder::Current).unwrap_err();
        assert!(matches!(error, VtuError::Write { .. }) && error.to_string().contains("cannot write"), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 1);
    std::fs::remove_dir_all(&place).unwrap();
}
