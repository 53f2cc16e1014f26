//! `farro verify`: golden cases, every variant on every backend that is here.

use super::error::CliError;
use super::options::{LayoutChoice, Precision};
use super::output::{Table, line};
use super::target::{self, Backend, Counted, Job, Target};
use clap::Args;
use farro_fem::golden::GoldenCase;
use farro_fem::viscous::{
    Accumulator, Boundary, Config, FieldLayout, Mode, Rule, TileShape, Variant, ViscousError, ViscousOperator,
};
use farro_portability::{RealElement, Space, deep_copy};
use std::path::PathBuf;

/// Flags of `farro verify`.
#[derive(Clone, Debug, Args)]
pub struct VerifyArgs {
    /// Files in the golden format (see tests/golden/README.md)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Largest relative error allowed
    #[arg(long, default_value_t = 1e-13)]
    tolerance: f64,
    /// Backends to try [default: host, checked, and cuda where there is one]
    #[arg(long, value_enum, value_delimiter = ',')]
    backend: Vec<Backend>,
}

/// One case in all configurations, on one space.
struct Case<'a> {
    case: &'a GoldenCase,
    configs: &'a [Config],
}

impl Job for Case<'_> {
    /// The name of the space, and the error of each configuration.
    type Output = (String, Vec<Result<f64, ViscousError>>);

    fn run<S: Space + Counted, E: RealElement, L: FieldLayout>(&self, space: &S) -> Result<Self::Output, CliError> {
        let Case { case, configs } = *self;
        let mesh = case.mesh()?;
        let at = |[s, x, y, r]: [usize; 4]| case.node_index(&mesh, s, x, y, r);
        let Some(&first) = configs.first() else { return Ok((space.name(), Vec::new())) };
        let mut operator = ViscousOperator::<S, E, L>::new(space, &mesh, first, |node| case.k[at(node)])?;
        let u = operator.vector_from("u", |[c, s, x, y, r]| case.u[c][at([s, x, y, r])])?;
        let mut y = operator.new_vector("y")?;
        let mut host = y.mirror()?;
        let [_, ns, nx, ny, nr] = operator.vector_extents();
        let mut errors = Vec::new();
        for &config in configs {
            operator = operator.with_config(config)?;
            y.fill(E::POISON)?;
            let outcome = operator.apply(&u, &mut y, Mode::Replace).and_then(|()| Ok(space.fence()?));
            if let Err(error) = outcome {
                errors.push(Err(error));
                continue;
            }
            deep_copy(&mut host, &y)?;
            let (mut difference, mut norm) = (0.0, 0.0);
            for place in 0..3 * ns * nx * ny * nr {
                let index = [
                    place / (ns * nx * ny * nr),
                    place / (nx * ny * nr) % ns,
                    place / (ny * nr) % nx,
                    place / nr % ny,
                    place % nr,
                ];
                let [c, s, x, y, r] = index;
                let expected = case.au[c][at([s, x, y, r])];
                difference += (host.get(index).to_f64() - expected).powi(2);
                norm += expected.powi(2);
            }
            errors.push(Ok((difference / norm).sqrt()));
        }
        Ok((space.name(), errors))
    }
}

/// Every variant that supports the rule, with every accumulator, and with tiles that do and do not divide the mesh.
fn configurations(rule: Rule, boundary: Boundary) -> Vec<Config> {
    let base = Config { rule, boundary, tile: TileShape { x: 3, y: 2, r: 2 }, ..Config::default() };
    let with = |variant| Config { variant, ..base };
    let mut configs = vec![
        with(Variant::Textbook),
        with(Variant::ArReduc),
        with(Variant::Shmem),
        Config { tile: TileShape { x: 4, y: 4, r: 4 }, ..with(Variant::Shmem) },
    ];
    for accumulator in Accumulator::ALL {
        for (passes, keep_jacobian) in [(2, true), (1, false)] {
            configs.push(Config { accumulator, passes, keep_jacobian, ..with(Variant::Tuned) });
        }
    }
    if Variant::Marching.supports(rule) {
        configs.push(Config { rows: 3, ..with(Variant::Marching) });
        configs.push(Config { rows: 2, threads: 2, radial_blocks: 2, ..with(Variant::Marching) });
    }
    configs
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, or an error is above the tolerance.
pub fn run(args: &VerifyArgs) -> Result<(), CliError> {
    if args.tolerance.is_nan() || args.tolerance < 0.0 {
        return Err(CliError::Usage(format!("--tolerance {} is not possible; use 0 or more", args.tolerance)));
    }
    let cases = args.files.iter().map(GoldenCase::read).collect::<Result<Vec<_>, _>>()?;
    let mut targets: Vec<Target> = args.backend.iter().map(|&backend| Target::new(backend)).collect();
    if targets.is_empty() {
        targets = target::fast_targets();
        targets.insert(1, Target::new(Backend::Checked));
        if targets.len() == 2 {
            line("skipped: cuda (farro devices says why)")?;
        }
    }
    let mut table = Table::new(&["<case", "<space", "<layout", "applies", "largest error", "<of"]);
    let (mut largest, mut failures) = (0.0f64, Vec::new());
    for (case, file) in cases.iter().zip(&args.files) {
        let named = Boundary::NAMED.iter().find(|(name, _)| *name == case.boundary.name());
        let boundary = named.map_or(Boundary::NEUMANN, |&(_, boundary)| boundary);
        let rule = Rule::ALL.into_iter().find(|rule| rule.name() == case.rule.name()).unwrap_or(Rule::OneByOne);
        let configs = configurations(rule, boundary);
        for target in &targets {
            for layout in LayoutChoice::ALL {
                let job = Case { case, configs: &configs };
                let (space, errors) = target::run(target, Precision::F64, layout, &job)?;
                let (mut worst, mut of) = (0.0, "");
                for (config, error) in configs.iter().zip(errors) {
                    // A result that is not a number must not pass.
                    let error = error?;
                    let error = if error.is_nan() { f64::INFINITY } else { error };
                    if error >= worst {
                        (worst, of) = (error, config.variant.name());
                    }
                    if error > args.tolerance {
                        failures.push(format!(
                            "{}: {} ({}), layout {}, {space}: {error:.2e}",
                            file.display(),
                            config.variant.name(),
                            config.accumulator.name(),
                            layout.name()
                        ));
                    }
                }
                largest = largest.max(worst);
                let name = file.file_stem().map_or_else(|| file.display().to_string(), |s| s.to_string_lossy().into());
                let applies = configs.len().to_string();
                table.row(vec![name, space, layout.name().into(), applies, format!("{worst:.1e}"), of.into()]);
            }
        }
    }
    line(table.render())?;
    for failure in &failures {
        line(format!("FAILED {failure}"))?;
    }
    line(format!("largest relative error: {largest:.2e}"))?;
    if failures.is_empty() {
        return Ok(());
    }
    Err(CliError::Failed(format!("{} applies are above the tolerance {:e}", failures.len(), args.tolerance)))
}
