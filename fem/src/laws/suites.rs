//! All laws at once.

use super::algebra::{self, Stop, Verdict, outcome};
use super::compare::{agreement, same_bits};
use super::guarded::nothing_outside;
use super::operator::{Operator, OperatorError};
use super::sample::Sample;
use super::shell::ShellOperator;
use crate::mesh::{ShellMesh, ShellSpec};
use crate::viscous::{Accumulator, Boundary, Config, FieldLayout, Rule, TileShape, Variant};
use farro_portability::conformance::{CaseReport, Report};
use farro_portability::{RealElement, Space};
use std::collections::BTreeMap;
use std::time::Instant;

/// A law of one operator: its name, and its check with a seed.
type NamedLaw = (&'static str, fn(&dyn Operator, u64) -> Verdict);

/// The laws of a single operator.
const SINGLE: [NamedLaw; 10] = [
    ("linearity", |op, seed| algebra::linearity(op, &sample(op, seed), &sample(op, seed + 1), [-1.75, 0.6])),
    ("symmetry", |op, seed| algebra::symmetry(op, &sample(op, seed), &sample(op, seed + 1))),
    ("positivity", |op, seed| algebra::positivity(op, &sample(op, seed), &sample(op, seed + 1))),
    ("null_space", |op, seed| algebra::null_space(op, &sample(op, seed))),
    ("patch_test", |op, seed| {
        algebra::patch_test(op, &Sample::random(1, 3 * op.components(), seed), &sample(op, seed))
    }),
    ("copies_agree", |op, seed| algebra::copies_agree(op, &sample(op, seed))),
    ("replace_and_add", |op, seed| algebra::replace_and_add(op, &sample(op, seed), &sample(op, seed + 1))),
    ("repeatable", |op, seed| algebra::repeatable(op, &sample(op, seed), 3)),
    ("assembled", |op, seed| algebra::assembled(op, &sample(op, seed))),
    ("constrained_nodes", |op, seed| algebra::constrained_nodes(op, &sample(op, seed), &sample(op, seed + 1))),
];

fn sample(op: &dyn Operator, seed: u64) -> Sample {
    Sample::random(op.components(), op.nodes().unique(), seed)
}

/// Runs all laws that concern one operator, with inputs from a seed.
pub fn suite(op: &dyn Operator, seed: u64) -> Report {
    let mut cases: Vec<CaseReport> = SINGLE.iter().map(|(name, law)| case(name, [("", || law(op, seed))])).collect();
    cases.push(case("diagonal", [("", || algebra::diagonal(op, 24, seed))]));
    Report { space: op.name(), cases }
}

/// A case of several configurations: it fails with the first that fails, and lists what was skipped.
fn case<'a, F: FnOnce() -> Verdict>(
    name: &'static str,
    configurations: impl IntoIterator<Item = (&'a str, F)>,
) -> CaseReport {
    let start = Instant::now();
    let (mut ran, mut verdict) = (0, Ok(()));
    // Configurations by the reason for which they are left out.
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (configuration, law) in configurations {
        match law() {
            Ok(()) => ran += 1,
            Err(Stop::Skipped(reason)) => reasons.entry(reason).or_default().push(configuration),
            Err(Stop::Failed(message)) => {
                ran += 1;
                let about = if configuration.is_empty() { "" } else { ": " };
                verdict = Err(Stop::Failed(format!("{configuration}{about}{message}")));
                break;
            }
        }
    }
    let describe = |(reason, of): (String, Vec<&str>)| match of[..] {
        [""] => reason,
        [one] => format!("{one}: {reason}"),
        _ => format!("{} configurations, {} the first: {reason}", of.len(), of[0]),
    };
    let mut left_out: Vec<String> = reasons.into_iter().map(describe).collect();
    if ran == 0 {
        verdict = Err(Stop::Skipped(left_out.join("; ")));
        left_out.clear();
    }
    CaseReport { name, outcome: outcome(verdict), left_out, seconds: start.elapsed().as_secs_f64() }
}

/// What [`viscous_suite`] runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ViscousLaws {
    /// Lateral level of the mesh.
    pub level: u32,
    /// Radial cells of the mesh; even, so that it can be split.
    pub radial_cells: usize,
    /// Orders of magnitude over which the coefficient varies.
    pub decades: f64,
    /// Where inputs come from.
    pub seed: u64,
    /// Boundary conditions.
    pub boundaries: Vec<Boundary>,
}

impl Default for ViscousLaws {
    fn default() -> Self {
        let boundaries = Boundary::NAMED.map(|(_, boundary)| boundary).to_vec();
        ViscousLaws { level: 2, radial_cells: 2, decades: 4.0, seed: 1, boundaries }
    }
}

/// Every variant, rule and accumulator, with tiles and teams that do not divide small meshes.
pub fn configurations(boundary: Boundary) -> Vec<Config> {
    let tile = TileShape { x: 3, y: 2, r: 2 };
    let base = Config { boundary, tile, rows: 2, ..Config::default() };
    let mut all = Vec::new();
    for rule in Rule::ALL {
        for variant in [Variant::Textbook, Variant::ArReduc, Variant::Shmem] {
            all.push(Config { variant, rule, ..base });
        }
        for (accumulator, keep_jacobian) in Accumulator::ALL.into_iter().zip([true, false, true]) {
            all.push(Config { variant: Variant::Tuned, rule, accumulator, keep_jacobian, passes: 2, ..base });
        }
    }
    for (threads, rows, radial_blocks) in [(1, 3, 1), (1, 2, 2), (2, 1, 1), (3, 2, 2)] {
        all.push(Config { variant: Variant::Marching, threads, rows, radial_blocks, ..base });
    }
    all
}

fn title(config: &Config) -> String {
    let Config { variant, rule, accumulator, threads, rows, radial_blocks, tile, passes, .. } = config;
    let boundary = Boundary::NAMED.iter().find(|(_, boundary)| *boundary == config.boundary);
    let boundary = boundary.map_or_else(|| format!("{:?}", config.boundary), |(name, _)| (*name).into());
    let tunables = match variant {
        Variant::Marching => format!("{threads} threads of {rows} rows, {radial_blocks} blocks"),
        Variant::Tuned => format!("{} {},{},{} in {passes}", accumulator.name(), tile.x, tile.y, tile.r),
        Variant::Shmem => format!("{},{},{}", tile.x, tile.y, tile.r),
        Variant::Textbook | Variant::ArReduc => String::new(),
    };
    format!("{} {} {boundary} {tunables}", variant.name(), rule.name()).trim_end().into()
}

/// Runs all laws of the viscous operator on a space, with fields stored as `E` in layout `L`: every variant, rule and
/// boundary condition on a small shell. What the variants are compared with is the textbook variant on the same fields;
/// [`assembled`](super::assembled) compares with element matrices in double precision.
pub fn viscous_suite<S: Space, E: RealElement, L: FieldLayout>(space: &S, options: &ViscousLaws) -> Report {
    let fields = format!("fields of f{}, {}", 8 * size_of::<E>(), L::NAME);
    Report { space: format!("{}, {fields}", space.name()), cases: cases::<S, E, L>(space, options) }
}

fn cases<S: Space, E: RealElement, L: FieldLayout>(space: &S, options: &ViscousLaws) -> Vec<CaseReport> {
    type Made<'s, S, E, L> = Result<(String, ShellOperator<'s, S, E, L>), Stop>;
    let ViscousLaws { level, radial_cells, decades, seed, ref boundaries } = *options;
    let mesh = |lateral_splits: usize, radial_splits: usize| {
        let spec = ShellSpec { lateral_splits, radial_splits, ..ShellSpec::level(level) };
        ShellMesh::new(ShellSpec { radial_cells: Some(radial_cells), ..spec })
            .map_err(|error| Stop::Skipped(error.to_string()))
    };
    let coefficient = |mesh: &ShellMesh| Sample::coefficient(mesh.unique_nodes(), decades, seed + 7);
    let make = |mesh: &ShellMesh, config: Config, is_constant: bool| -> Made<'_, S, E, L> {
        let k = coefficient(mesh);
        let value = |number: usize| if is_constant { 1.5 } else { k.at(number, 0) };
        Ok((format!("{} {}", title(&config), L::NAME), ShellOperator::new(space, mesh, config, value)?))
    };
    let whole = mesh(1, 1);
    let configs: Vec<Config> = boundaries.iter().flat_map(|&boundary| configurations(boundary)).collect();
    let all = |is_constant: bool| -> Vec<Made<'_, S, E, L>> {
        match &whole {
            Ok(mesh) => configs.iter().map(|&config| make(mesh, config, is_constant)).collect(),
            Err(stop) => vec![Err(stop.clone())],
        }
    };
    let (made, constant) = (all(false), all(true));
    let each = |name: &'static str, of: &[Made<'_, S, E, L>], law: &dyn Fn(&ShellOperator<'_, S, E, L>) -> Verdict| {
        let laws = of.iter().map(|made| match made {
            Ok((title, op)) => (title.as_str(), Ok(op)),
            Err(stop) => ("", Err(stop.clone())),
        });
        case(name, laws.map(|(title, op)| (title, move || law(op?))))
    };
    let mut cases: Vec<CaseReport> = Vec::new();
    for (name, law) in SINGLE {
        let of = if name == "patch_test" { &constant } else { &made };
        cases.push(each(name, of, &|op| law(op, seed)));
    }
    cases.push(each("diagonal", &made, &|op| algebra::diagonal(op, 2, seed)));
    cases.push(each("nothing_outside", &made, &|op| nothing_outside(op, &sample(op, seed))));
    let with = |config: Config, lateral: usize, radial: usize| make(&mesh(lateral, radial)?, config, false);
    cases.push(each("variants_agree", &made, &|op| {
        let config = *op.operator().config();
        let (_, reference) = with(Config { variant: Variant::Textbook, ..config }, 1, 1)?;
        agreement(op, &reference, &sample(op, seed))
    }));
    cases.push(each("exchange_commutes_with_splitting", &made, &|op| {
        for (lateral, radial) in [(2, 1), (1, 2), (2, 2)] {
            let (_, split) = with(*op.operator().config(), lateral, radial)?;
            agreement(&split, op, &sample(op, seed))?;
        }
        Ok(())
    }));
    cases.push(each("marching_blocks_same_bits", &made, &|op| {
        let config = *op.operator().config();
        if config.variant != Variant::Marching || config.radial_blocks == 1 {
            return Err(Stop::Skipped("only marching in several radial blocks repeats another's sums".into()));
        }
        let (_, other) = with(Config { radial_blocks: 1, ..config }, 1, 1)?;
        same_bits(op, &other, &sample(op, seed))
    }));
    cases
}

impl From<crate::mesh::MeshError> for OperatorError {
    fn from(error: crate::mesh::MeshError) -> Self {
        OperatorError::Failed(error.to_string())
    }
}
