//! `farro ceilings`: what each space can do at most, measured once and kept for each device.

use super::error::CliError;
use super::machine::Machine;
use super::options::Precision;
use super::output::{Table, line, short};
use super::target::{self, Backend, Counted, SpaceJob, Target};
use clap::Args;
use farro::ceilings::{Ceilings, Sizes, measure, store};
use farro_cuda::Device;
use farro_portability::Space;
use serde_json::json;

/// Flags of `farro ceilings`.
#[derive(Clone, Debug, Args)]
pub struct CeilingsArgs {
    /// Where to measure [default: every backend of this machine that runs at full speed]
    #[arg(long, value_enum)]
    backend: Option<Backend>,
    /// Number of the device (cuda)
    #[arg(long, default_value_t = 0)]
    device: usize,
    /// Threads of the host [default: all processors]
    #[arg(long)]
    threads: Option<usize>,
    /// Storage and arithmetic
    #[arg(long, value_enum, default_value = "f64")]
    precision: Precision,
    /// Elements of each of three arrays; they should be far larger than the caches
    #[arg(long, default_value_t = 1 << 25)]
    elements: usize,
    /// Show what was measured before; measure only where nothing was
    #[arg(long)]
    cached: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Measures the ceilings of a space, or finds those that were measured before.
pub struct Measurement {
    /// How much to do.
    pub sizes: Sizes,
    /// The target whose space it is.
    pub target: Target,
    /// Storage.
    pub precision: Precision,
    /// Whether to measure although there are some.
    pub fresh: bool,
}

impl Measurement {
    fn device(&self, space: String) -> store::Device {
        let arch = match self.target.backend {
            Backend::Cuda => Device::open(self.target.device).map_or_else(|_| String::new(), |device| device.arch()),
            _ => String::new(),
        };
        let stored = if self.precision == Precision::F64 { "f64" } else { "f32" };
        store::Device { space, machine: Machine::this().cpu, arch, stored: stored.into() }
    }
}

impl SpaceJob for Measurement {
    type Output = (String, Ceilings);
    fn run<S: Space + Counted>(&self, space: &S) -> Result<Self::Output, CliError> {
        let (device, folder) = (self.device(space.name()), store::folder());
        if let Some(known) = folder.as_ref().filter(|_| !self.fresh).and_then(|folder| store::find(folder, &device)) {
            return Ok((device.space, known));
        }
        let ceilings = match self.precision {
            Precision::F64 => measure::<S, f64>(space, self.sizes)?,
            _ => measure::<S, f32>(space, self.sizes)?,
        };
        if let Some(folder) = folder {
            // What cannot be kept is measured again.
            let _ = store::keep(&folder, &device, &ceilings);
        }
        Ok((device.space, ceilings))
    }
}

/// The ceilings of a target, from the cache or measured.
///
/// # Errors
/// When the space cannot be opened or memory is exhausted.
pub fn of(target: &Target, precision: Precision, sizes: Sizes, fresh: bool) -> Result<(String, Ceilings), CliError> {
    let job = Measurement { sizes, target: *target, precision, fresh };
    match precision {
        Precision::F32 if crate::FULL => target::run_on::<f32, _>(target, &job),
        Precision::F32 => Err(CliError::Elsewhere),
        _ => target::run_on::<f64, _>(target, &job),
    }
}

/// Runs the command.
///
/// # Errors
/// When memory is exhausted or there is no such backend.
pub fn run(args: &CeilingsArgs) -> Result<(), CliError> {
    if args.elements == 0 || args.elements > 1 << 31 {
        return Err(CliError::Usage(format!("--elements {} is not possible; use 1 to 2^31", args.elements)));
    }
    let targets = match args.backend {
        Some(backend) if backend.interprets() || backend == Backend::OneLane => {
            let message = format!("--backend {} has no ceilings worth measuring", backend.name());
            return Err(CliError::Usage(message));
        }
        Some(backend) => vec![Target { device: args.device, threads: args.threads, ..Target::new(backend) }],
        None => target::fast_targets(),
    };
    let mut table = Table::new(&[
        "<space",
        "FMA GFLOP/s",
        "triad GB/s",
        "copy GB/s",
        "scratch GB/s",
        "cache GB/s",
        "atomics G/s",
        "in cache G/s",
    ]);
    let sizes = Sizes { elements: args.elements, ..Sizes::default() };
    for target in targets {
        let (space, c) = of(&target, args.precision, sizes, !args.cached)?;
        if args.json {
            line(json!({ "space": space, "precision": args.precision.name(), "ceilings": c }).to_string())?;
            continue;
        }
        let numbers = [c.gflops, c.triad, c.copy, c.scratch, c.cache, c.atomics, c.cached_atomics];
        table.row([space].into_iter().chain(numbers.map(short)).collect());
    }
    if !args.json {
        line(table.render())?;
    }
    Ok(())
}
