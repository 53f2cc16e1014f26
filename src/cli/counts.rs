//! `farro count`: what each variant does, counted by running its kernel on the count target.

use super::defaults::{self, label};
use super::error::CliError;
use super::measure::{Keep, Measure};
use super::options::{LayoutChoice, Precision};
use super::output::{Table, line, short};
use super::problem::{Problem, ProblemSpec};
use super::target::{self, Backend, Target};
use clap::Args;
use farro_backends::count::Counts;
use farro_fem::viscosity::Profile;
use farro_fem::viscous::{Accumulator, Boundary, Config, Rule, TileShape, Variant};

/// Flags of `farro count`.
#[derive(Clone, Debug, Args)]
pub struct CountArgs {
    /// Refinement level of the counts for each DoF
    #[arg(long, default_value_t = 3)]
    level: u32,
    /// Lanes of a thread (marching)
    #[arg(long, default_value_t = 8)]
    lanes: usize,
    /// Storage of reals
    #[arg(long, value_enum, default_value = "f64")]
    precision: Precision,
}

/// Counts of one apply.
#[derive(Clone, Debug)]
pub struct Work {
    /// FLOPs for each DoF.
    pub flops: f64,
    /// Distinct bytes that must move between memory and chip, for each DoF.
    pub bytes: f64,
    /// Atomic updates of global memory, for each DoF.
    pub atomics: f64,
    /// All counts.
    pub counts: Counts,
}

/// The counts of some configurations on a problem.
///
/// # Errors
/// When the problem cannot be set up.
pub fn work(
    problem: &Problem,
    configs: &[Config],
    precision: Precision,
    layout: LayoutChoice,
    progress: &dyn Fn(usize),
) -> Result<Vec<Option<Work>>, CliError> {
    let job = Measure { problem, configs, repeat: 0, budget: 0.0, keep: Keep::Nothing, progress };
    let measured = target::run(&Target::new(Backend::Count), precision, layout, &job)?;
    let dofs = problem.dofs();
    let of = |counts: Counts| {
        let rates = counts.per(dofs);
        Work {
            flops: rates.flops,
            bytes: rates.compulsory_read_bytes + rates.compulsory_written_bytes,
            atomics: counts.global.atomics.elements as f64 / dofs,
            counts,
        }
    };
    Ok(measured.applied.into_iter().map(|applied| applied.ok()?.counts.map(of)).collect())
}

/// Values that a team of tile 4,4,32 gathers and scatters: kernels run on a shell with one such tile a diamond.
fn tile_counts(args: &CountArgs) -> Result<Table, CliError> {
    let spec = ProblemSpec { radial_cells: Some(32), ..ProblemSpec::level(2) };
    let problem = Problem::new(&spec, &Profile::builtin())?;
    let (tile, neumann) = (TileShape { x: 4, y: 4, r: 32 }, Boundary::NEUMANN);
    let rungs: Vec<_> = [(Variant::Shmem, Accumulator::Direct)]
        .into_iter()
        .chain(Accumulator::ALL.map(|accumulator| (Variant::Tuned, accumulator)))
        .collect();
    let configs: Vec<_> = rungs
        .iter()
        .map(|&(variant, accumulator)| Config { variant, accumulator, tile, boundary: neumann, ..Config::default() })
        .collect();
    let work = work(&problem, &configs, args.precision, LayoutChoice::X, &|_| ())?;
    let teams = problem.mesh.subdomains().len() as u64;
    let mut table = Table::new(&["<tile 4,4,32", "gathered values", "atomic updates", "scratch bytes", "barriers"]);
    for (&(variant, accumulator), work) in rungs.iter().zip(work) {
        let Some(Work { counts, .. }) = work else { continue };
        let gathered = counts.global.loads.elements / teams;
        let updates = counts.global.atomics.elements / teams;
        let scratch = counts.scratch[0].bytes() / teams;
        table.row(vec![
            label(variant, accumulator, Rule::OneByOne),
            gathered.to_string(),
            updates.to_string(),
            scratch.to_string(),
            (counts.barriers / teams).to_string(),
        ]);
    }
    Ok(table)
}

/// Runs the command.
///
/// # Errors
/// When the level is not possible.
pub fn run(args: &CountArgs) -> Result<(), CliError> {
    if args.level > 5 {
        let message =
            format!("--level {}: the count target interprets kernels; levels 1 to 5 are possible", args.level);
        return Err(CliError::Usage(message));
    }
    let problem = Problem::new(&ProblemSpec::level(args.level), &Profile::builtin())?;
    let ladder = defaults::ladder();
    let configs: Vec<_> = ladder
        .iter()
        .map(|&(variant, accumulator, rule)| {
            let radial = problem.mesh.cells()[2];
            let boundary = Boundary::DIRICHLET;
            let config = defaults::config(Backend::Host, variant, accumulator, rule, boundary, radial);
            Config { lanes: Some(args.lanes), ..config }
        })
        .collect();
    let mut table = Table::new(&[
        "<for each DoF",
        "FLOPs",
        "compulsory bytes",
        "loaded bytes",
        "stored bytes",
        "atomics",
        "scratch bytes",
        "private bytes",
        "FLOPs/byte",
    ]);
    let counted = work(&problem, &configs, args.precision, LayoutChoice::X, &|_| ())?;
    for (&(variant, accumulator, rule), work) in ladder.iter().zip(counted) {
        let Some(Work { flops, bytes, atomics, counts }) = work else { continue };
        let rates = counts.per(problem.dofs());
        let mut cells = vec![label(variant, accumulator, rule)];
        let numbers = [
            flops,
            bytes,
            rates.global_loaded_bytes,
            rates.global_stored_bytes,
            atomics,
            rates.scratch_bytes[0],
            rates.private_bytes,
            flops / bytes,
        ];
        cells.extend(numbers.map(short));
        table.row(cells);
    }
    let mesh = problem.mesh.cells().map(|n| n.to_string()).join(" x ");
    line(format!(
        "Counts of one apply at level {} ({mesh} cells a diamond), {}, Dirichlet, from the kernels as they run.",
        args.level,
        args.precision.name()
    ))?;
    line(table.render())?;
    line("\nFor each team with one full tile (no boundary conditions):")?;
    line(tile_counts(args)?.render())?;
    Ok(())
}
