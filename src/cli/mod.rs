//! The command line.

mod apply;
mod cache;
mod ceilings;
mod chart;
mod counts;
mod defaults;
mod devices;
mod emit;
mod error;
mod inspect;
mod laws;
mod machine;
mod main_job;
mod measure;
mod options;
mod output;
mod problem;
mod reference;
mod target;
mod tunables;
mod verify;

use clap::{Parser, Subcommand};
use error::CliError;
use std::process::ExitCode;

/// Performance portability for finite-element kernels: one generic Rust kernel, native on every device.
///
/// Without a command, farro applies a viscous operator on a thick spherical shell by every variant on every target of
/// this machine: checked, timed, counted, compared with measured ceilings. It takes about a minute, prints a table and
/// saves it under out/ as CSV, JSON and SVG.
#[derive(Debug, Parser)]
#[command(name = "farro", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  farro                                                     the main job
  farro devices                                             what this machine has, and why not more
  farro apply --variant marching --level 6                  speed and error of one variant
  farro apply --variant tuned --accumulator tile --tile 4,4,16 --threads 2 --json
  farro apply --viscosity fem/data/mantle_layers.csv --boundary free-slip --vtu shell.vtu
  farro apply --backend checked --imitate MI250X --variant shmem --tile 8,8,32
  farro verify tests/golden/*.json                          golden cases, every variant and backend

Exit status: 0 success, 1 a check failed, 2 the request cannot be served.";

const APPLY_EXAMPLES: &str = "\
Examples:
  farro apply --level 6 --variant marching --layout x
  farro apply --variant tuned --accumulator hex-cell --tile 4,4,8 --passes 2
  farro apply --variant textbook --rule 3x2 --repeat 3 --json
  farro apply --backend cuda --level 8 --bounds 256,2

The result is compared with the textbook variant in f64 (at every node of small problems), or with the definition of the
operator at a sample of nodes (large ones). With --json there is one object: gdof_per_s, error, config, machine.";

const EMIT_EXAMPLES: &str = "\
Examples:
  farro emit --kernel marching --target opencl
  farro emit --kernel tuned --accumulator tile --tile 4,4,16 --passes 2 --what ptx --arch sm_80
  farro emit --kernel marching --bounds 256,1 --what sass

The same kernel always gives the same text. ptx and sass need NVRTC, sass nvdisasm or cuobjdump as well; no device.";

const INSPECT_EXAMPLES: &str = "\
Examples:
  farro inspect                                             every variant on sm_80, sm_90, sm_100
  farro inspect --kernel tuned --accumulator tile --tile 4,4,16 --passes 2 --bounds 128,5 --arch sm_90
  farro inspect --kernel marching --layout r --json

Registers and spills need NVRTC, bounds need ceilings that farro ceilings measured on such a device.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Say what was found on this machine, what was not, and why
    Devices,
    /// Apply the viscous operator: speed and correctness of one variant on one backend
    #[command(after_help = APPLY_EXAMPLES, allow_negative_numbers = true)]
    Apply(Box<apply::ApplyArgs>),
    /// Compare every variant on every backend with golden cases
    Verify(verify::VerifyArgs),
    /// Test what every space and every operator must obey
    Laws(laws::LawsArgs),
    /// Count FLOPs, bytes and atomics of each variant
    Count(counts::CountArgs),
    /// Print a kernel as device code, PTX or instructions; no device is needed
    #[command(after_help = EMIT_EXAMPLES)]
    Emit(Box<emit::EmitArgs>),
    /// Say what kernels cost on an architecture: registers, spills, occupancy, counted work, bounds; no device is needed
    #[command(after_help = INSPECT_EXAMPLES)]
    Inspect(Box<inspect::InspectArgs>),
    /// Measure how fast this machine computes and moves data, and keep it for each device
    Ceilings(ceilings::CeilingsArgs),
    /// Show or clean what is kept on disk: compiled kernels and measured ceilings
    Cache(cache::CacheArgs),
}

/// Runs the command that was asked for.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            // One line, as for every other error; the list of possible values follows the first line.
            let text = error.to_string();
            let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
            let told: Vec<_> = lines.filter(|line| !line.is_empty() && !line.starts_with("For more")).collect();
            eprintln!("farro: {} (see --help)", told.join(" ").trim_start_matches("error: "));
            return ExitCode::from(2);
        }
        Err(help) => {
            let _ = help.print();
            return ExitCode::SUCCESS;
        }
    };
    let result = match &cli.command {
        None => main_job::run(),
        Some(Command::Devices) => devices::run(),
        Some(Command::Apply(args)) => apply::run(args),
        Some(Command::Verify(args)) => in_full(|| verify::run(args)),
        Some(Command::Laws(args)) => in_full(|| laws::run(args)),
        Some(Command::Count(args)) => counts::run(args),
        Some(Command::Emit(args)) => in_full(|| emit::run(args)),
        Some(Command::Inspect(args)) => in_full(|| inspect::run(args)),
        Some(Command::Ceilings(args)) => ceilings::run(args),
        Some(Command::Cache(args)) => cache::run(args),
    };
    let result = match result {
        Err(CliError::Elsewhere) => match full() {
            Some(status) => return status,
            None => Err(CliError::Elsewhere),
        },
        result => result,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(message) = error.message() {
                eprintln!("farro: {message}");
            }
            error.exit_code()
        }
    }
}

/// Leaves a command to the full program before it prints anything. The condition is a constant, so that the command is
/// compiled into that program only.
fn in_full(command: impl FnOnce() -> Result<(), CliError>) -> Result<(), CliError> {
    if crate::FULL { command() } else { Err(CliError::Elsewhere) }
}

/// Runs the same command line with the full program, if it lies beside this one.
fn full() -> Option<ExitCode> {
    let path = std::env::current_exe().ok()?.with_file_name(format!("farro-full{}", std::env::consts::EXE_SUFFIX));
    if crate::FULL || !path.exists() {
        return None;
    }
    let status = std::process::Command::new(path).args(std::env::args_os().skip(1)).status().ok()?;
    Some(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)))
}
