//! `farro ceilings`: what each space can do at most.

use super::error::CliError;
use super::output::{Table, line, short};
use super::target::{self, Counted, SpaceJob};
use clap::Args;
use farro::ceilings::{Ceilings, measure};
use farro_portability::Space;

/// Flags of `farro ceilings`.
#[derive(Clone, Debug, Args)]
pub struct CeilingsArgs {
    /// Elements of each of three arrays; they should be far larger than the caches
    #[arg(long, default_value_t = 1 << 25)]
    elements: usize,
}

/// Measures the ceilings of a space.
pub struct Measurement {
    /// Elements of each of three arrays.
    pub elements: usize,
    /// Repetitions.
    pub repeat: usize,
}

impl SpaceJob for Measurement {
    type Output = (String, Ceilings);
    fn run<S: Space + Counted>(&self, space: &S) -> Result<Self::Output, CliError> {
        Ok((space.name(), measure::<S, f64>(space, self.elements, self.repeat)?))
    }
}

/// Runs the command.
///
/// # Errors
/// When memory is exhausted.
pub fn run(args: &CeilingsArgs) -> Result<(), CliError> {
    if args.elements == 0 || args.elements > 1 << 31 {
        return Err(CliError::Usage(format!("--elements {} is not possible; use 1 to 2^31", args.elements)));
    }
    let mut table = Table::new(&["<space", "FMA GFLOP/s", "triad GB/s", "copy GB/s"]);
    for target in target::fast_targets() {
        let job = Measurement { elements: args.elements, repeat: 5 };
        let (space, Ceilings { gflops, triad, copy }) = target::run_on::<f64, _>(&target, &job)?;
        table.row(vec![space, short(gflops), short(triad), short(copy)]);
    }
    line(table.render())?;
    Ok(())
}
