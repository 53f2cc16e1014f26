//! The golden cases on any space: every variant that supports the rule, in both layouts.
#![allow(dead_code)]

use farro_fem::golden::{GoldenBoundary, GoldenCase, GoldenRule};
use farro_fem::viscous::{
    Accumulator, Boundary, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, Rule, TileShape, Variant,
    ViscousError, ViscousOperator,
};
use farro_portability::{Space, deep_copy};
use std::path::{Path, PathBuf};

/// Largest relative error.
pub const TOLERANCE: f64 = 1e-13;

/// The files, in order of their names.
pub fn files() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = here.ancestors().map(|root| root.join("tests/golden")).find(|folder| folder.is_dir());
    let entries = std::fs::read_dir(folder.expect("tests/golden")).expect("the golden folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files
}

/// The variants for a case, with tiles that are no divisors of the mesh.
pub fn configs(case: &GoldenCase) -> Vec<Config> {
    let rule = match case.rule {
        GoldenRule::OneByOne => Rule::OneByOne,
        GoldenRule::OneByTwo => Rule::OneByTwo,
        GoldenRule::ThreeByTwo => Rule::ThreeByTwo,
    };
    let boundary = match case.boundary {
        GoldenBoundary::Neumann => Boundary::NAMED[0].1,
        GoldenBoundary::Dirichlet => Boundary::NAMED[1].1,
        GoldenBoundary::Cmb => Boundary::NAMED[2].1,
        GoldenBoundary::Surface => Boundary::NAMED[3].1,
    };
    let mut configs = Vec::new();
    for variant in Variant::ALL.into_iter().filter(|variant| variant.supports(rule)) {
        for accumulator in Accumulator::ALL {
            if variant != Variant::Tuned && accumulator != Accumulator::Direct {
                continue;
            }
            configs.push(Config {
                variant,
                rule,
                boundary,
                accumulator,
                tile: TileShape { x: 3, y: 2, r: 2 },
                passes: if variant == Variant::Tuned { 2 } else { 1 },
                rows: 3,
                ..Config::default()
            });
        }
    }
    configs
}

/// The relative error of one application.
pub fn error_of<S: Space, L: FieldLayout>(space: &S, case: &GoldenCase, config: Config) -> Result<f64, ViscousError> {
    let mesh = case.mesh().expect("a mesh");
    let k = |[s, x, y, r]: [usize; 4]| case.k[case.node_index(&mesh, s, x, y, r)];
    let operator = ViscousOperator::<_, f64, L>::new(space, &mesh, config, k)?;
    let value = |list: &[Vec<f64>; 3], [c, s, x, y, r]: [usize; 5]| list[c][case.node_index(&mesh, s, x, y, r)];
    let u = operator.vector_from("u", |index| value(&case.u, index))?;
    let mut y = operator.new_vector("y")?;
    y.fill(f64::NAN)?;
    operator.apply(&u, &mut y, Mode::Replace)?;
    space.fence()?;
    let mut host = y.mirror()?;
    deep_copy(&mut host, &y)?;
    let (mut difference, mut norm) = (0.0, 0.0);
    let extents = operator.vector_extents();
    for flat in 0..extents.iter().product() {
        let (mut rest, mut index) = (flat, [0; 5]);
        for d in (0..5).rev() {
            index[d] = rest % extents[d];
            rest /= extents[d];
        }
        let expected = value(&case.au, index);
        difference += (host.get(index) - expected).powi(2);
        norm += expected.powi(2);
    }
    Ok((difference / norm).sqrt())
}

/// Runs all cases and prints a line for each; panics with a list of those that fail.
pub fn check<S: Space>(space: &S) {
    let (mut failures, mut count, mut worst) = (Vec::new(), 0, 0.0f64);
    for path in files() {
        let case = GoldenCase::read(&path).expect("a golden case");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for config in configs(&case) {
            let errors = [
                ("r", error_of::<S, RadiusFastest>(space, &case, config)),
                ("x", error_of::<S, LateralFastest>(space, &case, config)),
            ];
            for (layout, error) in errors {
                let what = format!("{name} {} {} {layout}", config.variant.name(), config.accumulator.name());
                count += 1;
                match error {
                    Ok(error) if error < TOLERANCE => worst = worst.max(error),
                    Ok(error) => failures.push(format!("{what}: {error:e}")),
                    Err(error) => failures.push(format!("{what}: {error}")),
                }
            }
        }
    }
    println!("golden cases on {}: {count} runs, largest error {worst:.2e}", space.name());
    assert!(failures.is_empty(), "{}:\n{}", space.name(), failures.join("\n"));
}
