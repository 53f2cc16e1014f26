//! The golden cases: every variant that supports the rule, in both layouts, on the host and on the checked target.

use farro_backends::checked::CheckedSpace;
use farro_backends::host::{HostSpace, InstructionSet};
use farro_fem::golden::{GoldenBoundary, GoldenCase, GoldenRule};
use farro_fem::viscous::{
    Accumulator, Boundary, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, Rule, TileShape, Variant,
    ViscousOperator,
};
use farro_portability::{HostMemory, Space};
use farro_test_kernels as _;
use std::path::Path;

/// The relative error in the l2 norm over all components, copies counted as they are stored.
fn error_of<S: Space<Memory = HostMemory>, L: FieldLayout>(space: &S, case: &GoldenCase, config: Config) -> f64 {
    let mesh = case.mesh().expect("a mesh");
    let k = |[s, x, y, r]: [usize; 4]| case.k[case.node_index(&mesh, s, x, y, r)];
    let operator = ViscousOperator::<_, f64, L>::new(space, &mesh, config, k).expect("an operator");
    let value = |list: &[Vec<f64>; 3], [c, s, x, y, r]: [usize; 5]| list[c][case.node_index(&mesh, s, x, y, r)];
    let u = operator.vector_from("u", |index| value(&case.u, index)).expect("u");
    let mut y = operator.new_vector("y").expect("y");
    y.fill(f64::NAN).expect("poison");
    operator.apply(&u, &mut y, Mode::Replace).unwrap_or_else(|error| panic!("{config:?}: {error}"));
    space.fence().expect("fence");
    let (mut difference, mut norm) = (0.0, 0.0);
    let [_, ns, nx, ny, nr] = operator.vector_extents();
    for c in 0..3 {
        for s in 0..ns {
            for x in 0..nx {
                for yy in 0..ny {
                    for r in 0..nr {
                        let expected = value(&case.au, [c, s, x, yy, r]);
                        let found = y.get([c, s, x, yy, r]);
                        difference += (found - expected).powi(2);
                        norm += expected.powi(2);
                    }
                }
            }
        }
    }
    (difference / norm).sqrt()
}

/// Every variant that supports the rule, each in several shapes; `lanes` and `rows` are those of marching.
fn configurations(rule: Rule, boundary: Boundary, lanes: &[Option<usize>], rows: &[usize]) -> Vec<Config> {
    let tile = TileShape { x: 3, y: 2, r: 2 };
    let base = Config { rule, boundary, tile, ..Config::default() };
    let mut all: Vec<Config> =
        [Variant::Textbook, Variant::ArReduc, Variant::Shmem].map(|variant| Config { variant, ..base }).to_vec();
    for accumulator in Accumulator::ALL {
        all.push(Config { variant: Variant::Tuned, accumulator, passes: 2, ..base });
        all.push(Config { variant: Variant::Tuned, accumulator, keep_jacobian: false, ..base });
    }
    if !Variant::Marching.supports(rule) {
        return all;
    }
    for threads in 1..=3 {
        for radial_blocks in 1..=2 {
            for &rows in rows {
                for &lanes in lanes {
                    let marching = Config { variant: Variant::Marching, threads, radial_blocks, rows, lanes, ..base };
                    // One thread of one row owns no node that it can advance by.
                    if threads * rows > 1 {
                        all.push(marching);
                    }
                }
            }
        }
    }
    all
}

/// Compares all golden cases on a space.
fn golden_cases<S: Space<Memory = HostMemory>>(space: &S, lanes: &[Option<usize>], rows: &[usize]) {
    let mut cases = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")).expect("golden folder") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        cases += 1;
        let case = GoldenCase::read(&path).expect("a golden case");
        let rule = match case.rule {
            GoldenRule::OneByOne => Rule::OneByOne,
            GoldenRule::OneByTwo => Rule::OneByTwo,
            GoldenRule::ThreeByTwo => Rule::ThreeByTwo,
        };
        let boundary = match case.boundary {
            GoldenBoundary::Neumann => Boundary::NEUMANN,
            GoldenBoundary::Dirichlet => Boundary::DIRICHLET,
            GoldenBoundary::Cmb => Boundary::NAMED[2].1,
            GoldenBoundary::Surface => Boundary::NAMED[3].1,
        };
        let mut largest = 0.0f64;
        for config in configurations(rule, boundary, lanes, rows) {
            let errors = [
                error_of::<_, RadiusFastest>(space, &case, config),
                error_of::<_, LateralFastest>(space, &case, config),
            ];
            assert!(
                errors.iter().all(|&error| error < 1e-13),
                "{}: {} on {}: {errors:?} with {config:?}",
                path.display(),
                config.variant.name(),
                space.name()
            );
            largest = errors.into_iter().fold(largest, f64::max);
        }
        println!("{} on {}: at most {largest:e}", path.display(), space.name());
    }
    assert!(cases >= 5, "{cases} golden cases were found");
}

#[test]
fn golden_cases_on_the_host() {
    for set in InstructionSet::available() {
        for threads in [1, 3] {
            let space = HostSpace::<f64>::with(threads, set).expect("a host space");
            // Vectors of the machine and the least and the most lanes that marching can have there.
            let most = space.limits().vector_lengths.last().copied().filter(|&lanes| lanes >= 4);
            golden_cases(&space, &[None, most], &[1, 2, 3, 16]);
        }
    }
}

#[test]
fn golden_cases_on_the_checked_target() {
    golden_cases(&CheckedSpace::<f64>::new(), &[Some(4), Some(8)], &[2, 3]);
}
