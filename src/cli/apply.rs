//! `farro apply`: one variant on one backend, timed and checked.

use super::defaults;
use super::error::CliError;
use super::machine::Machine;
use super::measure::{Applied, Keep, Measure, relative_error};
use super::options;
use super::output::{line, short};
use super::problem::{Problem, ProblemSpec};
use super::reference;
use super::target::{self, Backend, Target};
use super::tunables::Tunables;
use clap::Args;
use farro_backends::checked::DeviceModel;
use farro_backends::host::InstructionSet;
use farro_fem::exchange::{Components, Exchange};
use farro_fem::viscosity::Profile;
use farro_fem::viscous::{Accumulator, Config, Variant};
use farro_fem::vtu::{PointField, WedgeOrder, write_vtu};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Problems of at most so many DoFs are compared at every node, larger ones at a sample of nodes.
const FULL_REFERENCE_DOFS: f64 = 5e6;
/// Nodes of a sample.
const SAMPLE: usize = 1000;

/// Flags of `farro apply`.
#[derive(Clone, Debug, Args)]
pub struct ApplyArgs {
    /// Where to run
    #[arg(long, value_enum, default_value = "host", help_heading = "Where")]
    backend: Backend,
    /// Number of the device (cuda, hip, sycl, opencl)
    #[arg(long, default_value_t = 0, help_heading = "Where")]
    device: usize,
    /// Threads of the host [default: all processors]
    #[arg(long, help_heading = "Where")]
    threads: Option<usize>,
    /// Instruction set of the host: portable, avx2 or avx-512 [default: the best there is]
    #[arg(long, value_parser = instructions, help_heading = "Where")]
    instructions: Option<InstructionSet>,
    /// Limits that the checked backend imitates: would this launch on an MI250X?
    #[arg(long, value_name = "DEVICE", value_parser = model, help_heading = "Where")]
    imitate: Option<DeviceModel>,

    /// Refinement level: 2^L by 2^L lateral cells in each of ten diamonds, 2^(L-1) radial ones [default: 5, or 2 where
    /// kernels are interpreted]
    #[arg(long, help_heading = "Problem")]
    level: Option<u32>,
    /// Radial cells [default: 2^(level-1)]
    #[arg(long, value_name = "N", help_heading = "Problem")]
    radial_cells: Option<usize>,
    /// Radius of the inner surface
    #[arg(long, default_value_t = 0.5, help_heading = "Problem")]
    inner: f64,
    /// Radius of the outer surface
    #[arg(long, default_value_t = 1.0, help_heading = "Problem")]
    outer: f64,
    /// Subdomains: 10 l^2 m for l by l lateral and m radial pieces of each diamond
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Problem")]
    subdomains: usize,
    /// Viscosity profile: a CSV with one of radius_m, radius_km, depth_m, depth_km, and viscosity_pa_s [default: the
    /// layered mantle that ships with farro]
    #[arg(long, value_name = "FILE.csv", help_heading = "Problem")]
    viscosity: Option<PathBuf>,
    /// Seed of the random velocity
    #[arg(long, default_value_t = 1, help_heading = "Problem")]
    seed: u64,

    /// Variant: textbook, arreduc, shmem, tuned or marching
    #[arg(long, default_value = "marching", value_parser = options::variant, help_heading = "Kernel")]
    variant: Variant,
    #[command(flatten)]
    kernel: Tunables,

    /// Timed repetitions, after one that warms up; the median counts
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    repeat: usize,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Write mesh, u, k and Au for ParaView
    #[arg(long, value_name = "FILE.vtu", help_heading = "Output")]
    vtu: Option<PathBuf>,
}

fn instructions(text: &str) -> Result<InstructionSet, String> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "");
    let found = InstructionSet::ALL.into_iter().find(|set| plain(set.name()) == plain(text));
    found.ok_or_else(|| format!("there is no instruction set '{text}'; possible are portable, avx2, avx-512"))
}

fn model(text: &str) -> Result<DeviceModel, String> {
    DeviceModel::named(text).ok_or_else(|| {
        let names: Vec<_> = DeviceModel::ALL.iter().map(|model| model.name).collect();
        format!("there is no device model '{text}'; possible are {}", names.join(", "))
    })
}

impl ApplyArgs {
    fn target(&self) -> Target {
        let ApplyArgs { backend, threads, instructions, imitate, device, .. } = *self;
        Target { backend, threads, instructions, imitate, device }
    }
    fn spec(&self) -> ProblemSpec {
        ProblemSpec {
            level: self.level.unwrap_or(if self.backend.interprets() { 2 } else { 5 }),
            radial_cells: self.radial_cells,
            inner: self.inner,
            outer: self.outer,
            subdomains: self.subdomains,
            seed: self.seed,
        }
    }
    fn config(&self, radial_cells: usize) -> Config {
        self.kernel.config(self.backend, self.variant, radial_cells)
    }
    /// Refuses what no run could serve, before anything large is made.
    fn check(&self) -> Result<Profile, CliError> {
        let usage = |message: &str| Err(CliError::Usage(message.into()));
        if self.repeat == 0 {
            return usage("--repeat 0 is not possible; at least one apply is timed");
        }
        if self.threads == Some(0) {
            return usage("--threads 0 is not possible; use 1 or more, or leave it out for all processors");
        }
        if self.kernel.accumulator != Accumulator::Direct && self.variant != Variant::Tuned {
            return usage("--accumulator chooses for --variant tuned; the other variants have one way to accumulate");
        }
        if self.imitate.is_some() && self.backend != Backend::Checked {
            return usage("--imitate works with --backend checked");
        }
        self.config(32).check().or_else(|error| {
            // With the default tile the subdomain decides; that is checked once the mesh is known.
            if self.kernel.tile.is_none() && self.kernel.passes.is_some() { Ok(()) } else { Err(error) }
        })?;
        self.spec().check_memory(self.kernel.precision, true)?;
        Ok(match &self.viscosity {
            Some(file) => Profile::read(file)?,
            None => Profile::builtin(),
        })
    }
}

/// Runs the command.
///
/// # Errors
/// When the request cannot be served; then nothing is written.
pub fn run(args: &ApplyArgs) -> Result<(), CliError> {
    let profile = args.check()?;
    let problem = Problem::new(&args.spec(), &profile)?;
    let config = args.config(problem.mesh.cells()[2]);
    config.check()?;
    let full = problem.dofs() <= FULL_REFERENCE_DOFS;
    let nodes: Vec<_> = problem
        .sample(SAMPLE)
        .into_iter()
        .filter(|&node| reference::is_free(&problem, args.kernel.boundary, node))
        .collect();
    let keep = if full || args.vtu.is_some() { Keep::All } else { Keep::Nodes(&nodes) };
    let budget = if args.backend.interprets() { 0.0 } else { f64::INFINITY };
    let job = Measure { problem: &problem, configs: &[config], repeat: args.repeat, budget, keep, progress: &|_| () };
    let measured = target::run(&args.target(), args.kernel.precision, args.kernel.layout, &job)?;
    let applied = measured.applied.into_iter().next().unwrap_or_else(|| Ok(Applied::default()))?;
    let (error, compared) = if full {
        (
            relative_error(&applied.values, &reference::textbook(&problem, args.kernel.rule, args.kernel.boundary)?),
            "all nodes",
        )
    } else {
        let at = |&node: &[usize; 4]| reference::at_node(&problem, args.kernel.rule, args.kernel.boundary, node);
        let expected: Vec<f64> = nodes.iter().flat_map(at).collect();
        let found: Vec<f64> = match keep {
            Keep::All => {
                let value =
                    |&[s, x, y, r]: &[usize; 4]| [0, 1, 2].map(|c| applied.values[problem.place([c, s, x, y, r])]);
                nodes.iter().flat_map(value).collect()
            }
            _ => applied.values.clone(),
        };
        (relative_error(&found, &expected), "a sample of nodes")
    };
    if let Some(path) = &args.vtu {
        write_fields(path, &problem, applied.values.clone())?;
    }
    report(args, &problem, &config, &measured.space, &applied, error, compared)?;
    let tolerance = args.kernel.precision.tolerance();
    if error.is_nan() || error > tolerance {
        return Err(CliError::Failed(format!("the relative error {error:e} is above {tolerance:e}")));
    }
    Ok(())
}

fn report(
    args: &ApplyArgs,
    problem: &Problem,
    config: &Config,
    space: &str,
    applied: &Applied,
    error: f64,
    compared: &str,
) -> Result<(), CliError> {
    let median = applied.median();
    let (shortest, longest) = applied.range();
    let gdofs = problem.dofs() / median * 1e-9;
    if args.json {
        let value = json!({
            "gdof_per_s": gdofs,
            "error": error,
            "error_over": compared,
            "seconds": { "median": median, "min": shortest, "max": longest, "applies": applied.seconds.len() },
            "dofs": problem.dofs(),
            "overhead_bytes": applied.overhead_bytes,
            "config": config_json(args, problem, config, space),
            "machine": Machine::this(),
        });
        line(value.to_string())?;
        return Ok(());
    }
    let label = defaults::label(config.variant, config.accumulator, config.rule);
    let level = args.spec().level;
    line(format!("{label} on {space}"))?;
    line(format!(
        "  level {level}, {} cells a subdomain, {} subdomains, {:.4e} DoFs, viscosity contrast {:.1e}",
        problem.mesh.cells().map(|n| n.to_string()).join(" x "),
        problem.mesh.subdomains().len(),
        problem.dofs(),
        problem.contrast()
    ))?;
    line(format!(
        "  {} GDoF/s; median {} ms of {} applies ({} to {} ms)",
        short(gdofs),
        short(1e3 * median),
        applied.seconds.len(),
        short(1e3 * shortest),
        short(1e3 * longest)
    ))?;
    line(format!("  relative error {error:.1e} against a reference in f64, over {compared}"))?;
    if let Some(path) = &args.vtu {
        line(format!("  wrote {}", path.display()))?;
    }
    Ok(())
}

fn config_json(args: &ApplyArgs, problem: &Problem, config: &Config, space: &str) -> Value {
    json!({
        "backend": args.backend.name(),
        "space": space,
        "level": args.spec().level,
        "cells": problem.mesh.cells(),
        "subdomains": problem.mesh.subdomains().len(),
        "inner": problem.mesh.inner_radius(),
        "outer": problem.mesh.outer_radius(),
        "viscosity": args.viscosity.as_ref().map_or("built in".into(), |path| path.display().to_string()),
        "seed": args.seed,
        "variant": config.variant.name(),
        "accumulator": config.accumulator.name(),
        "rule": config.rule.name(),
        "boundary": options::boundary_name(config.boundary),
        "tile": [config.tile.x, config.tile.y, config.tile.r],
        "passes": config.passes,
        "keep_jacobian": config.keep_jacobian,
        "bounds": config.bounds.map(|bounds| [bounds.max_threads, bounds.min_blocks]),
        "rows": config.rows,
        "team_threads": config.threads,
        "lanes": config.lanes,
        "radial_blocks": config.radial_blocks,
        "layout": args.kernel.layout.name(),
        "precision": args.kernel.precision.name(),
        "deterministic": config.variant.is_deterministic(),
    })
}

/// Writes u, k and the result, with the copies of shared nodes added up.
fn write_fields(path: &std::path::Path, problem: &Problem, mut au: Vec<f64>) -> Result<(), CliError> {
    let mesh = &problem.mesh;
    let index = |s, x, y, r| mesh.node_index(s, x, y, r);
    let vector = Components::separate(3, mesh.stored_nodes());
    Exchange::new(mesh).add(&mut au, index, vector)?;
    let component = |c: usize| problem.nodes().map(move |[s, x, y, r]| problem.u([c, s, x, y, r]));
    let u: Vec<f64> = (0..3).flat_map(component).collect();
    let k: Vec<f64> = problem.nodes().map(|node| problem.k(node)).collect();
    let fields = [
        PointField { name: "u", values: &u, components: vector },
        PointField { name: "k", values: &k, components: Components::scalar() },
        PointField { name: "Au", values: &au, components: vector },
    ];
    Ok(write_vtu(path, mesh, index, &fields, WedgeOrder::default())?)
}
