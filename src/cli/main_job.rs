//! `farro` without arguments: every variant on every target of this machine, checked, timed and explained.

use super::ceilings;
use super::chart;
use super::counts::{self, Work};
use super::defaults::{self, label};
use super::error::CliError;
use super::machine::Machine;
use super::measure::{Applied, Keep, Measure, relative_error};
use super::options::{LayoutChoice, Precision};
use super::output::{self, Table, line, short};
use super::problem::{Problem, ProblemSpec};
use super::reference;
use super::target::{self, Backend, Target};
use farro::ceilings::{Ceilings, Sizes};
use farro_backends::host::{HostPrecision, InstructionSet};
use farro_fem::viscosity::Profile;
use farro_fem::viscous::{Boundary, Config, Rule, Variant};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Fields lie with x fastest: neighbouring lanes work on neighbouring columns.
const LAYOUT: LayoutChoice = LayoutChoice::X;
/// Level of the quick timing from which the level of the run follows.
const QUICK_LEVEL: u32 = 4;
/// Level of counts: subdomains large enough that their borders matter little.
const COUNT_LEVEL: u32 = 4;
/// Level of the sanitizer.
const CHECKED_LEVEL: u32 = 2;
/// Seconds that the timed part should take.
const SECONDS: f64 = 30.0;
/// Timed applies of each configuration.
const REPEAT: usize = 9;
/// Nodes at which the textbook variant is compared with the definition of the operator.
const SAMPLE: usize = 2000;

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name of the space.
    pub target: String,
    /// The variant, with accumulator and rule.
    pub variant: String,
    /// Why there are no numbers.
    pub failure: Option<String>,
    /// Median time of an apply in milliseconds.
    pub milliseconds: f64,
    /// Giga-DoFs per second.
    pub gdof_per_s: f64,
    /// Relative error against the textbook variant in f64; for that one, against the definition at a sample of nodes.
    pub error: f64,
    /// Counted FLOPs for each DoF.
    pub flops_per_dof: f64,
    /// Counted compulsory bytes for each DoF.
    pub bytes_per_dof: f64,
    /// Counted global atomic updates for each DoF.
    pub atomics_per_dof: f64,
    /// GDoF/s that the measured ceilings allow for the counted work.
    pub ceiling_gdof_per_s: f64,
    /// Share of that.
    pub share_of_ceiling: f64,
    /// What the sanitizer said, with the error it saw.
    pub checked: String,
}

/// Everything that is saved.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// The machine.
    pub machine: Machine,
    /// Refinement level.
    pub level: u32,
    /// Velocity DoFs.
    pub dofs: f64,
    /// Largest over least viscosity.
    pub viscosity_contrast: f64,
    /// Measured ceilings, by target: GFLOP/s, triad GB/s, copy GB/s.
    pub ceilings: Vec<(String, [f64; 3])>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Seconds that the whole job took.
    pub seconds: f64,
}

/// The ladder's configurations on a backend.
fn configs(backend: Backend, problem: &Problem) -> Vec<Config> {
    let config = |(variant, accumulator, rule)| {
        defaults::config(backend, variant, accumulator, rule, Boundary::DIRICHLET, problem.mesh.cells()[2])
    };
    defaults::ladder().into_iter().map(config).collect()
}

struct Bar(ProgressBar);

impl Bar {
    fn new(steps: usize) -> Self {
        let bar = ProgressBar::new(steps as u64);
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} {msg}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Bar(bar)
    }
    fn say(&self, message: impl Into<String>) {
        self.0.set_message(message.into());
    }
    fn step(&self, message: impl Into<String>) {
        self.say(message);
        self.0.inc(1);
    }
}

/// The level at which all variants take about [`SECONDS`] together, from their times on a small shell.
fn choose_level(profile: &Profile, targets: &[Target], bar: &Bar) -> Result<u32, CliError> {
    let problem = Problem::new(&ProblemSpec::level(QUICK_LEVEL), profile)?;
    let mut level = QUICK_LEVEL + 3;
    for target in targets {
        let configs = configs(target.backend, &problem);
        let progress = |_: usize| bar.say("quick timing");
        let job = Measure {
            problem: &problem,
            configs: &configs,
            repeat: 1,
            budget: 2.0,
            keep: Keep::Nothing,
            progress: &progress,
        };
        let measured = target::run(target, Precision::F64, LAYOUT, &job)?;
        let seconds = |applied: &Applied| applied.median();
        let times: Vec<f64> = measured.applied.iter().flatten().map(seconds).collect();
        // One apply for the result, then as many as the budget of each configuration allows.
        let total = |level: u32| -> f64 {
            let growth = 8f64.powi((level - QUICK_LEVEL) as i32);
            times.iter().map(|t| t * growth + (REPEAT as f64 * t * growth).min(budget(targets) + t * growth)).sum()
        };
        while level > QUICK_LEVEL && total(level) > SECONDS / targets.len() as f64 {
            level -= 1;
        }
    }
    while level > QUICK_LEVEL && ProblemSpec::level(level).check_memory(Precision::F64, true).is_err() {
        level -= 1;
    }
    Ok(level)
}

/// Seconds of one configuration.
fn budget(targets: &[Target]) -> f64 {
    SECONDS / (8 * targets.len()) as f64
}

/// What the sanitizer says of each rung, on a small shell.
fn checked(profile: &Profile, bar: &Bar) -> Result<Vec<String>, CliError> {
    let problem = Problem::new(&ProblemSpec::level(CHECKED_LEVEL), profile)?;
    let ladder = defaults::ladder();
    let configs = configs(Backend::Checked, &problem);
    let progress = |number: usize| {
        let (variant, accumulator, rule) = ladder[number];
        bar.step(format!("checked: {}", label(variant, accumulator, rule)));
    };
    let job =
        Measure { problem: &problem, configs: &configs, repeat: 0, budget: 0.0, keep: Keep::All, progress: &progress };
    let measured = target::run(&Target::new(Backend::Checked), Precision::F64, LAYOUT, &job)?;
    let references = [Rule::ThreeByTwo, Rule::OneByOne]
        .map(|rule| reference::textbook(&problem, rule, configs[0].boundary).map(|values| (rule, values)));
    let references = references.into_iter().collect::<Result<Vec<_>, _>>()?;
    let verdict = |(applied, config): (&Result<Applied, _>, &Config)| match applied {
        Ok(applied) => {
            let reference = references.iter().find(|(rule, _)| *rule == config.rule);
            let error = reference.map_or(f64::NAN, |(_, values)| relative_error(&applied.values, values));
            if error < 1e-12 { "clean".into() } else { format!("error {error:.1e}") }
        }
        Err(error) => farro_fem::viscous::ViscousError::to_string(error),
    };
    Ok(measured.applied.iter().zip(&configs).map(verdict).collect())
}

/// What each rung does for each DoF, with the lanes of the host.
fn counted(profile: &Profile, bar: &Bar) -> Result<Vec<Option<Work>>, CliError> {
    let problem = Problem::new(&ProblemSpec::level(COUNT_LEVEL), profile)?;
    let best = InstructionSet::best();
    let lanes = Some(<f64 as HostPrecision>::lanes(best).max(4));
    let ladder = defaults::ladder();
    let configs: Vec<_> =
        configs(Backend::Host, &problem).into_iter().map(|config| Config { lanes, ..config }).collect();
    let progress = |number: usize| {
        let (variant, accumulator, rule) = ladder[number];
        bar.step(format!("count: {}", label(variant, accumulator, rule)));
    };
    counts::work(&problem, &configs, Precision::F64, LAYOUT, &progress)
}

/// Runs the job.
///
/// # Errors
/// When the machine lacks memory, or a file cannot be written.
pub fn run() -> Result<(), CliError> {
    let start = Instant::now();
    let machine = Machine::this();
    let profile = Profile::builtin();
    line(format!("farro {}: the viscous operator on a spherical shell, on {}", machine.farro, machine.cpu))?;
    let targets = target::fast_targets();
    if targets.len() == 1 {
        line("skipped: cuda (farro devices says why)")?;
    }
    let ladder = defaults::ladder();
    let steps = (targets.len() * (1 + REPEAT) + 2) * ladder.len();
    let bar = Bar::new(steps);
    bar.say("ceilings");
    let mut measured_ceilings = Vec::new();
    for target in &targets {
        let sizes = Sizes { elements: 1 << 24, ..Sizes::default() };
        let (space, measured) = ceilings::of(target, Precision::F64, sizes, false)?;
        measured_ceilings.push((target.backend, space, measured));
    }
    let level = choose_level(&profile, &targets, &bar)?;
    let checked = checked(&profile, &bar)?;
    let counted = counted(&profile, &bar)?;
    let problem = Problem::new(&ProblemSpec::level(level), &profile)?;
    let boundary = Boundary::DIRICHLET;
    let nodes: Vec<_> =
        problem.sample(SAMPLE).into_iter().filter(|&node| reference::is_free(&problem, boundary, node)).collect();
    let mut rows = Vec::new();
    let mut textbook: Vec<f64> = Vec::new();
    for target in &targets {
        let configs = configs(target.backend, &problem);
        let progress = |number: usize| {
            let (variant, accumulator, rule) = ladder[number];
            bar.step(format!("{}: {}", target.backend.name(), label(variant, accumulator, rule)));
        };
        let job = Measure {
            problem: &problem,
            configs: &configs,
            repeat: REPEAT,
            budget: budget(&targets),
            keep: Keep::All,
            progress: &progress,
        };
        let mut measured = match target::run(target, Precision::F64, LAYOUT, &job) {
            Err(error @ CliError::Backend { .. }) => {
                bar.0.suspend(|| line(format!("skipped: {error}")))?;
                continue;
            }
            measured => measured?,
        };
        if textbook.is_empty() {
            let place =
                ladder.iter().position(|&(variant, _, rule)| variant == Variant::Textbook && rule == Rule::OneByOne);
            if let Some(Ok(applied)) = place.map(|place| &measured.applied[place]) {
                textbook.clone_from(&applied.values);
            }
        }
        for ((place, &rung), applied) in ladder.iter().enumerate().zip(&mut measured.applied) {
            let (variant, accumulator, rule) = rung;
            let ceiling = measured_ceilings.iter().find(|(backend, ..)| *backend == target.backend).map(|(.., c)| *c);
            let mut row = Row {
                target: measured.space.clone(),
                variant: label(variant, accumulator, rule),
                failure: None,
                milliseconds: f64::NAN,
                gdof_per_s: f64::NAN,
                error: f64::NAN,
                flops_per_dof: f64::NAN,
                bytes_per_dof: f64::NAN,
                atomics_per_dof: f64::NAN,
                ceiling_gdof_per_s: f64::NAN,
                share_of_ceiling: f64::NAN,
                checked: checked.get(place).cloned().unwrap_or_default(),
            };
            if let Some(Some(work)) = counted.get(place) {
                (row.flops_per_dof, row.bytes_per_dof, row.atomics_per_dof) = (work.flops, work.bytes, work.atomics);
                if let Some(ceiling) = ceiling {
                    row.ceiling_gdof_per_s = ceiling.bound(work.flops, work.bytes);
                }
            }
            match applied {
                Err(error) => row.failure = Some(error.to_string()),
                Ok(applied) => {
                    let median = applied.median();
                    row.milliseconds = 1e3 * median;
                    row.gdof_per_s = 1e-9 * problem.dofs() / median;
                    row.share_of_ceiling = row.gdof_per_s / row.ceiling_gdof_per_s;
                    row.error = if variant == Variant::Textbook {
                        against_definition(&problem, rule, boundary, &nodes, &applied.values)
                    } else {
                        relative_error(&applied.values, &textbook)
                    };
                    applied.values = Vec::new();
                }
            }
            rows.push(row);
        }
    }
    bar.0.finish_and_clear();
    let ceilings = measured_ceilings.into_iter();
    let ceilings = ceilings.map(|(_, space, c): (_, _, Ceilings)| (space, [c.gflops, c.triad, c.copy]));
    let results = Results {
        machine,
        level,
        dofs: problem.dofs(),
        viscosity_contrast: problem.contrast(),
        ceilings: ceilings.collect(),
        rows,
        seconds: start.elapsed().as_secs_f64(),
    };
    print(&results)?;
    save(&results, Path::new("out"))?;
    let wrong =
        results.rows.iter().filter(|row| row.failure.is_none() && (row.error.is_nan() || row.error > 1e-12)).count();
    if wrong > 0 {
        return Err(CliError::Failed(format!("{wrong} rows have a relative error above 1e-12")));
    }
    Ok(())
}

fn against_definition(problem: &Problem, rule: Rule, boundary: Boundary, nodes: &[[usize; 4]], values: &[f64]) -> f64 {
    let expected = nodes.iter().flat_map(|&node| reference::at_node(problem, rule, boundary, node));
    let found = nodes.iter().flat_map(|&[s, x, y, r]| [0, 1, 2].map(|c| values[problem.place([c, s, x, y, r])]));
    relative_error(&found.collect::<Vec<_>>(), &expected.collect::<Vec<_>>())
}

fn print(results: &Results) -> Result<(), CliError> {
    let radial = 1u64 << (results.level - 1);
    line(format!(
        "level {}: ten diamonds of {n} x {n} x {radial} cells, {:.3e} DoFs; layered mantle, viscosity contrast {:.0e}; \
         Dirichlet; f64, x fastest",
        results.level,
        results.dofs,
        results.viscosity_contrast,
        n = 2 * radial
    ))?;
    for (space, [gflops, triad, copy]) in &results.ceilings {
        line(format!("{space}: {} GFLOP/s, triad {} GB/s, copy {} GB/s", short(*gflops), short(*triad), short(*copy)))?;
    }
    let mut table = Table::new(&[
        "<variant",
        "ms",
        "GDoF/s",
        "error",
        "FLOP/DoF",
        "byte/DoF",
        "atomic/DoF",
        "ceiling",
        "share",
        "<checked",
    ]);
    let mut previous = "";
    for row in &results.rows {
        if row.target != previous {
            previous = &row.target;
            let mut cells = vec![String::new(); 10];
            cells[0] = format!("[{previous}]");
            table.row(cells);
        }
        let number = |value: f64| if value.is_nan() { "-".into() } else { short(value) };
        table.row(vec![
            format!("  {}", row.variant),
            row.failure.as_ref().map_or_else(|| number(row.milliseconds), |_| "does not launch".into()),
            number(row.gdof_per_s),
            if row.error.is_nan() { "-".into() } else { format!("{:.0e}", row.error) },
            number(row.flops_per_dof),
            number(row.bytes_per_dof),
            number(row.atomics_per_dof),
            number(row.ceiling_gdof_per_s),
            if row.share_of_ceiling.is_nan() { "-".into() } else { format!("{:.0} %", 100.0 * row.share_of_ceiling) },
            row.checked.clone(),
        ]);
    }
    line(table.render())?;
    for row in results.rows.iter() {
        if let Some(failure) = &row.failure {
            line(format!("{} on {}: {failure}", row.variant, row.target))?;
        }
    }
    line(
        "error: against textbook (same rule, f64); of textbook itself, against the definition of the operator at a \
         sample of nodes.\nFLOP, byte (compulsory) and atomic: counted from the kernels with the host's lanes. ceiling: \
         GDoF/s that the measured arithmetic and bandwidth allow.",
    )?;
    Ok(())
}

fn save(results: &Results, folder: &Path) -> Result<(), CliError> {
    let mut csv = String::from(
        "target,variant,milliseconds,gdof_per_s,error,flops_per_dof,bytes_per_dof,atomics_per_dof,ceiling_gdof_per_s,\
         share_of_ceiling,checked,failure\n",
    );
    for row in &results.rows {
        let number = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\"").replace('\n', " "));
        let cells = [
            quoted(&row.target),
            quoted(&row.variant),
            number(row.milliseconds),
            number(row.gdof_per_s),
            number(row.error),
            number(row.flops_per_dof),
            number(row.bytes_per_dof),
            number(row.atomics_per_dof),
            number(row.ceiling_gdof_per_s),
            number(row.share_of_ceiling),
            quoted(&row.checked),
            quoted(row.failure.as_deref().unwrap_or("")),
        ];
        csv.push_str(&cells.join(","));
        csv.push('\n');
    }
    let json = serde_json::to_string_pretty(results).map_err(|e| CliError::Failed(e.to_string()))?;
    output::save(&folder.join("farro.csv"), csv.as_bytes())?;
    output::save(&folder.join("farro.json"), json.as_bytes())?;
    output::save(&folder.join("farro.svg"), chart::svg(results)?.as_bytes())?;
    let names = ["csv", "json", "svg"].map(|kind| folder.join(format!("farro.{kind}")).display().to_string());
    line(format!("saved {} after {:.0} s", names.join(", "), results.seconds))?;
    Ok(())
}
