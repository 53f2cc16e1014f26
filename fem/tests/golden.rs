//! Golden files: all that ship are read, written back exactly, and every damage is named.

use farro_fem::golden::{GoldenBoundary, GoldenCase, GoldenError, GoldenRule};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// The first case with some text replaced, and the error it gives.
fn damaged(from: &str, to: &str) -> GoldenError {
    let sound = text("l1-r2-1x1-neumann.json");
    assert!(sound.contains(from), "{from}");
    let error = GoldenCase::parse("case.json", sound.replacen(from, to, 1).as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with("case.json: "), "{error}");
    error
}

#[test]
fn all_cases_are_read_and_their_meshes_are_sound() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let case = GoldenCase::read(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(name.ends_with(&format!("{}-{}", case.rule, case.boundary)), "{name}");
        let mesh = case.mesh().unwrap();
        mesh.check().unwrap();
        assert_eq!(mesh.stored_nodes(), case.k.len());
        for splits in [1, 2] {
            let split = case.split_mesh(splits, 1).unwrap();
            for (s, piece) in split.subdomains().iter().enumerate() {
                let place = case.node_index(&split, s, 1, 0, 1);
                assert_eq!(place, mesh.node_index(piece.diamond, piece.first[0] + 1, piece.first[1], 1));
            }
        }
        count += 1;
    }
    assert!(count >= 5);
}

#[test]
fn boundaries_name_their_surfaces() {
    let surfaces = GoldenBoundary::ALL.map(|b| (b.name(), b.inner_is_dirichlet(), b.outer_is_dirichlet()));
    let expected =
        [("neumann", false, false), ("dirichlet", true, true), ("cmb", true, false), ("surface", false, true)];
    assert_eq!(surfaces, expected);
    assert_eq!(GoldenRule::ALL.map(GoldenRule::name), ["1x1", "1x2", "3x2"]);
}

#[test]
fn written_cases_read_back_to_the_last_bit_and_leave_nothing_else() {
    let place = std::env::temp_dir().join(format!("farro-golden-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    let mut case = GoldenCase::read(folder().join("l2-r3-1x1-surface.json")).unwrap();
    case.u[0][3] = 0.1 + 0.2;
    case.u[1][0] = f64::MIN_POSITIVE / 3.0;
    let path = place.join("case.json");
    case.write(&path).unwrap();
    case.write(&path).unwrap();
    assert_eq!(GoldenCase::read(&path).unwrap(), case);
    // A case that is not sound never touches the file.
    case.au[2][5] = f64::NAN;
    assert!(matches!(case.write(&path), Err(GoldenError::Value { .. })));
    assert!(matches!(case.write(&place), Err(GoldenError::Value { .. })));
    case.au[2][5] = 0.0;
    assert!(matches!(case.write(&place), Err(GoldenError::Write { .. })));
    assert!(matches!(case.write(place.join("no/case.json")), Err(GoldenError::Write { .. })));
    let left: Vec<_> = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["case.json"]);
    std::fs::remove_dir_all(&place).unwrap();
}

#[test]
fn keys_beyond_the_format_are_accepted_and_the_level_may_be_absent() {
    let sound = text("l1-r2-1x1-neumann.json");
    let other = sound.replacen("\"seed\": 11", "\"seed\": {\"any\": [null]}, \"note\": \"x\"", 1);
    assert!(GoldenCase::parse("case.json", other.as_bytes()).is_ok());
    let without = sound.replacen("\"lateral_level\": 1, ", "", 1);
    assert_eq!(GoldenCase::parse("case.json", without.as_bytes()).unwrap().lateral_level, None);
}

#[test]
fn every_damage_names_file_and_key() {
    assert!(matches!(damaged("{", "["), GoldenError::Parse { .. }));
    assert!(matches!(damaged("\"radii\": [0.5", "\"radii\": [\"a\""), GoldenError::Parse { .. }));
    assert!(matches!(damaged("\"radii\": [0.5", "\"radii\": [1e999"), GoldenError::Parse { .. }));
    for key in ["lateral_cells", "radial_cells", "rule", "boundary", "radii", "unit_sphere", "k", "u", "au"] {
        let error = damaged(&format!("\"{key}\""), "\"renamed\"");
        assert!(matches!(error, GoldenError::Missing { field, .. } if field == key), "{error}");
    }
    for (key, from, to) in [("rule", "\"1x1\"", "\"2x2\""), ("boundary", "\"neumann\"", "\"periodic\"")] {
        let error = damaged(from, to);
        assert!(matches!(error, GoldenError::Unknown { field, .. } if field == key), "{error}");
        assert!(error.to_string().contains("possible are"), "{error}");
    }
    assert!(matches!(damaged("\"lateral_cells\": 2", "\"lateral_cells\": 0"), GoldenError::Size { .. }));
    assert!(matches!(damaged("\"radial_cells\": 2", "\"radial_cells\": 0"), GoldenError::Size { .. }));
    assert!(matches!(damaged("\"radial_cells\": 2", "\"radial_cells\": 3"), GoldenError::Length { .. }));
    assert!(matches!(
        damaged("\"radial_cells\": 2", "\"radial_cells\": 18446744073709551615"),
        GoldenError::Length { .. }
    ));
    assert!(matches!(damaged("\"lateral_level\": 1", "\"lateral_level\": 2"), GoldenError::Size { .. }));
    assert!(matches!(damaged("\"lateral_level\": 1", "\"lateral_level\": 70"), GoldenError::Size { .. }));
    assert!(matches!(damaged("0.5, 0.75, 1.0", "0.5, 1.0, 0.75"), GoldenError::Mesh { .. }));
    assert!(matches!(damaged("0.5, 0.75, 1.0", "-0.5, 0.75, 1.0"), GoldenError::Value { .. }));
    let error = damaged("\"k\": [1.8023891364921745", "\"k\": [0.0");
    assert!(matches!(&error, GoldenError::Value { field, index: 0, .. } if field == "k"), "{error}");
    let error = damaged("\"k\": [1.8023891364921745, ", "\"k\": [");
    assert!(matches!(&error, GoldenError::Length { field, expected: 270, found: 269, .. } if field == "k"), "{error}");
    let error = damaged("\"u\": [[", "\"u\": [[], [");
    assert!(matches!(&error, GoldenError::Length { field, expected: 3, found: 4, .. } if field == "u"), "{error}");
    let absurd = text("l1-r2-1x1-neumann.json").replacen("\"lateral_level\": 1, ", "", 1).replacen(
        "\"lateral_cells\": 2",
        "\"lateral_cells\": 18446744073709551615",
        1,
    );
    assert!(matches!(GoldenCase::parse("case.json", absurd.as_bytes()), Err(GoldenError::Length { .. })));
    assert!(matches!(GoldenCase::read("no/such.json"), Err(GoldenError::Read { .. })));
}
