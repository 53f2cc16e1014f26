//! `farro inspect`: what kernels cost on architectures that need not be here.

use super::defaults::{label, ladder};
use super::error::CliError;
use super::options::by_name;
use super::output::{Table, line, short};
use super::target::Backend;
use super::tunables::Tunables;
use clap::Args;
use farro::inspect::{Cell, Row, Subject, columns, csv, family, inspect, json, known_ceilings};
use farro::kernels::{Choice, Named, count_for};
use farro_fem::viscous::{Rule, Variant};

/// Flags of `farro inspect`.
#[derive(Clone, Debug, Args)]
pub struct InspectArgs {
    /// Kernels, by the names of farro emit [default: every variant with every accumulator]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = named)]
    kernel: Vec<Named>,
    /// Architectures: sm_90, gfx90a and the like need not be there; sycl:0 and opencl:0 are devices of this machine
    #[arg(long, value_delimiter = ',', default_value = "sm_80,sm_90,sm_100")]
    arch: Vec<String>,
    /// Refinement level of the shell for whose DoFs work is shown; above 5 it is counted on a smaller one and scaled
    #[arg(long, default_value_t = 8)]
    level: u32,
    /// Radial cells of that shell [default: 2^(level-1)]
    #[arg(long, value_name = "N")]
    radial_cells: Option<usize>,
    /// Do not count: a table at once
    #[arg(long)]
    no_counts: bool,
    /// Print JSON: with all bounds
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    tunables: Tunables,
}

impl InspectArgs {
    fn radial_cells(&self) -> usize {
        self.radial_cells.unwrap_or(1 << (self.level.clamp(1, 16) - 1))
    }
}

fn named(text: &str) -> Result<Named, String> {
    by_name("kernel", text, &Named::all())
}

fn subjects(args: &InspectArgs) -> Result<Vec<Subject>, CliError> {
    let Tunables { precision, layout, .. } = args.tunables;
    let radial = args.radial_cells();
    let mut subjects = Vec::new();
    if args.kernel.is_empty() {
        for (variant, accumulator, rule) in ladder() {
            // The rule of the flags; the ladder has the textbook variant with another one beside it.
            if rule != Rule::OneByOne || !variant.supports(args.tunables.rule) {
                continue;
            }
            let tunables = Tunables { accumulator, ..args.tunables.clone() };
            let config = tunables.config(Backend::Cuda, variant, radial);
            let label = label(variant, accumulator, args.tunables.rule);
            let choice = Choice { config, precision, layout };
            subjects.push(Subject { label, named: Named::Element(variant), choice, counted: None });
        }
    }
    for &named in &args.kernel {
        let config = args.tunables.config(Backend::Cuda, named.variant(), radial);
        let known = Named::all().into_iter().find(|(_, known)| *known == named);
        let label = match named {
            Named::Element(Variant::Tuned) => label(Variant::Tuned, config.accumulator, config.rule),
            _ => known.map_or_else(String::new, |(name, _)| name.into()),
        };
        subjects.push(Subject { label, named, choice: Choice { config, precision, layout }, counted: None });
    }
    for subject in &mut subjects {
        subject.choice.config.check()?;
        if !args.no_counts && !matches!(subject.named, Named::Ceiling(_) | Named::Diagonal) {
            subject.counted = Some(count_for(&subject.choice, args.level, radial)?);
        }
    }
    Ok(subjects)
}

/// Runs the command.
///
/// # Errors
/// When the tunables are not possible or an architecture has no family.
pub fn run(args: &InspectArgs) -> Result<(), CliError> {
    if args.level == 0 || args.level > 12 || args.radial_cells() == 0 {
        return Err(CliError::Usage("--level 1 to 12 and --radial-cells 1 or more are possible".into()));
    }
    for arch in &args.arch {
        family(arch).map_err(CliError::Usage)?;
    }
    let subjects = subjects(args)?;
    let mut rows: Vec<Row> = Vec::new();
    for arch in &args.arch {
        let ceilings = known_ceilings(arch, args.tunables.precision);
        for subject in &subjects {
            rows.push(inspect(subject, arch, ceilings.as_ref())?);
        }
    }
    if args.json {
        line(json(&rows).to_string())?;
    } else if args.csv {
        line(csv(&rows))?;
    } else {
        print(&rows)?;
    }
    Ok(())
}

fn print(rows: &[Row]) -> Result<(), CliError> {
    let columns = columns(rows);
    // A column that nothing fills says nothing.
    let filled: Vec<_> = columns.iter().filter(|(_, cells)| cells.iter().any(|cell| *cell != Cell::Empty)).collect();
    let texts = |cells: &[Cell]| cells.iter().any(|cell| matches!(cell, Cell::Text(_)));
    let titles: Vec<String> =
        filled.iter().map(|(title, cells)| if texts(cells) { format!("<{title}") } else { title.clone() }).collect();
    let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    for i in 0..rows.len() {
        let cell = |(_, cells): &&(String, Vec<Cell>)| match &cells[i] {
            Cell::Text(text) => text.clone(),
            Cell::Number(number) if number.fract() == 0.0 => number.to_string(),
            Cell::Number(number) => short(*number),
            Cell::Empty => "-".into(),
        };
        table.row(filled.iter().map(cell).collect());
    }
    line(table.render())?;
    // One line for what several architectures have in common.
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for row in rows {
        for text in row
            .warnings
            .iter()
            .map(|warning| format!("{}: {warning}", row.label))
            .chain(row.built.as_ref().err().map(|reason| format!("resources missing: {reason}")))
        {
            match said.iter_mut().find(|(known, _)| *known == text) {
                Some((_, archs)) if archs.contains(&row.arch.as_str()) => {}
                Some((_, archs)) => archs.push(&row.arch),
                None => said.push((text, vec![&row.arch])),
            }
        }
    }
    for (text, archs) in &said {
        line(format!("warning: {} ({})", text, archs.join(", ")))?;
    }
    let mut devices: Vec<_> = rows.iter().filter_map(|row| row.expected.as_ref()).map(|e| &e.device).collect();
    devices.dedup();
    for device in devices {
        line(format!("ceilings of {device}"))?;
    }
    if rows.iter().any(|row| row.work.is_some() && row.expected.is_none()) {
        line("no ceilings are known for some of these architectures: run farro ceilings where there is such a device")?;
    }
    Ok(())
}
