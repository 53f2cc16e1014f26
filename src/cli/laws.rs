//! `farro laws`: the conformance suite and the laws of the viscous operator on every space that is here.

use super::error::CliError;
use super::output::line;
use super::target::{self, Backend, Counted, SpaceJob, Target};
use clap::Args;
use farro_fem::laws;
use farro_portability::Space;
use farro_portability::conformance::{self, Report};

/// Flags of `farro laws`.
#[derive(Clone, Debug, Args)]
pub struct LawsArgs {
    /// Backends to try [default: host, checked, count, and cuda where there is one]
    #[arg(long, value_enum, value_delimiter = ',')]
    backend: Vec<Backend>,
    /// Only the conformance suite of the backend
    #[arg(long, conflicts_with = "operator")]
    conformance: bool,
    /// Only the laws of the viscous operator
    #[arg(long)]
    operator: bool,
}

struct Suites<'a>(&'a LawsArgs);

impl SpaceJob for Suites<'_> {
    type Output = Vec<(&'static str, Report)>;

    fn run<S: Space + Counted>(&self, space: &S) -> Result<Self::Output, CliError> {
        let mut reports = Vec::new();
        if !self.0.operator {
            reports.push(("conformance", conformance::suite(space)));
        }
        if !self.0.conformance {
            reports.push((
                "viscous operator",
                laws::viscous_suite::<S, f64, farro_fem::viscous::LateralFastest>(space, &laws::ViscousLaws::default()),
            ));
        }
        Ok(reports)
    }
}

/// Runs the command.
///
/// # Errors
/// When a law is broken.
pub fn run(args: &LawsArgs) -> Result<(), CliError> {
    let mut targets: Vec<Target> = args.backend.iter().map(|&backend| Target::new(backend)).collect();
    if targets.is_empty() {
        targets = target::fast_targets();
        if targets.len() == 1 {
            line("skipped: cuda (farro devices says why)")?;
        }
        targets.extend([Backend::Checked, Backend::Count].map(Target::new));
    }
    let mut broken = 0;
    // Cases catch what kernels do wrong; the default hook would print each of these panics.
    std::panic::set_hook(Box::new(|_| ()));
    for target in &targets {
        for (name, report) in target::run_on::<f64, _>(target, &Suites(args))? {
            line(format!("{name} on {report}\n"))?;
            broken += report.failures().count();
        }
    }
    if broken == 0 { Ok(()) } else { Err(CliError::Failed(format!("{broken} cases failed"))) }
}
