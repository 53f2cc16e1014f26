//! The speed ratios that the project claims, measured in one interleaved run: `cargo bench --no-default-features
//! --features avx512 --bench ratios [LEVEL]` (the default features would build the programs, too).
//!
//! A report, not a test: a loaded machine may miss a ratio. Each round times every candidate once, so that a drifting
//! clock favours none; medians count.

use farro::backends::count::CountSpace;
use farro::backends::host::{HostSpace, OneLane};
use farro::ceilings;
use farro::fem::mesh::{ShellMesh, ShellSpec};
use farro::fem::viscous::{Config, LateralFastest, Mode, RadiusFastest, Rule, Variant, ViscousOperator};
use farro::portability::Space;
use std::time::Instant;

const ROUNDS: usize = 9;

fn k([_, x, y, r]: [usize; 4]) -> f64 {
    1.0 + ((3 * x + 5 * y + 7 * r) % 11) as f64
}
fn u([c, s, x, y, r]: [usize; 5]) -> f64 {
    ((c + 3 * s + 7 * x + 11 * y + 13 * r) % 17) as f64 - 8.0
}

/// One way to apply the operator, ready to be timed.
type Candidate<'a> = (&'static str, Box<dyn FnMut() -> Result<(), Box<dyn std::error::Error>> + 'a>);

fn candidate<'a, S: Space>(
    name: &'static str,
    space: &'a S,
    mesh: &'a ShellMesh,
    config: Config,
) -> Result<Candidate<'a>, Box<dyn std::error::Error>> {
    let operator = ViscousOperator::<_, f64, LateralFastest>::new(space, mesh, config, k)?;
    let (input, mut y) = (operator.vector_from("u", u)?, operator.new_vector("y")?);
    let apply = move || {
        operator.apply(&input, &mut y, Mode::Replace)?;
        Ok(space.fence()?)
    };
    Ok((name, Box::new(apply)))
}

/// The operator's diagonal: one kernel, small enough to be compiled for a single lane, too.
fn diagonal<'a, S: Space>(
    name: &'static str,
    space: &'a S,
    mesh: &'a ShellMesh,
) -> Result<Candidate<'a>, Box<dyn std::error::Error>> {
    let operator = ViscousOperator::<_, f64, RadiusFastest>::new(space, mesh, Config::default(), k)?;
    let mut y = operator.new_vector("y")?;
    let apply = move || {
        operator.diagonal(&mut y)?;
        Ok(space.fence()?)
    };
    Ok((name, Box::new(apply)))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let level = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(5);
    let space = HostSpace::<f64>::new()?;
    let one_lane = HostSpace::<OneLane>::new()?;
    let mesh = ShellMesh::new(ShellSpec::level(level))?;
    let with = |variant, rule| Config { variant, rule, ..Config::default() };
    let marching = with(Variant::Marching, Rule::OneByOne);
    let mut candidates = [
        candidate("marching", &space, &mesh, marching)?,
        candidate("textbook 3x2", &space, &mesh, with(Variant::Textbook, Rule::ThreeByTwo))?,
        candidate("arreduc", &space, &mesh, with(Variant::ArReduc, Rule::OneByOne))?,
        diagonal("diagonal", &space, &mesh)?,
        diagonal("diagonal, 1 lane", &one_lane, &mesh)?,
    ];
    let mut times = vec![Vec::new(); candidates.len()];
    for round in 0..=ROUNDS {
        for ((_, apply), times) in candidates.iter_mut().zip(&mut times) {
            let start = Instant::now();
            apply()?;
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let medians: Vec<f64> = times.iter_mut().map(median).collect();
    let dofs = 3.0 * mesh.unique_nodes() as f64;
    println!("{}, level {level}, {dofs:.3e} DoFs", space.name());
    for ((name, _), seconds) in candidates.iter().zip(&medians) {
        println!("  {name:17} {:9.3} ms  {:8.5} GDoF/s", 1e3 * seconds, 1e-9 * dofs / seconds);
    }
    let report = |what: &str, ratio: f64, claimed: f64| {
        let verdict = if ratio >= claimed { "holds" } else { "MISSED" };
        println!("  {what}: {ratio:.2} (claimed: at least {claimed}) {verdict}");
    };
    report("marching over textbook 3x2", medians[1] / medians[0], 6.0);
    report("marching over arreduc", medians[2] / medians[0], 3.0);
    report("lanes over one lane", medians[4] / medians[3], 2.5);

    // Work of marching with the lanes of this host; a smaller shell would have more borders.
    let count = CountSpace::<f64>::new();
    let config = Config { lanes: Some(space.lanes().max(4)), ..marching };
    let counted = ViscousOperator::<_, f64, LateralFastest>::new(&count, &mesh, config, k)?;
    let (input, mut y) = (counted.vector_from("u", u)?, counted.new_vector("y")?);
    counted.apply(&input, &mut y, Mode::Replace)?;
    let rates = count.total().per(dofs);
    let bytes = rates.compulsory_read_bytes + rates.compulsory_written_bytes;
    let ceilings =
        ceilings::measure::<_, f64>(&space, ceilings::Sizes { elements: 1 << 24, ..ceilings::Sizes::default() })?;
    let bound = ceilings.bound(rates.flops, bytes);
    println!(
        "  ceilings: {:.1} GFLOP/s, {:.1} GB/s; marching: {:.0} FLOPs and {bytes:.1} bytes a DoF, so {bound:.4} GDoF/s",
        ceilings.gflops,
        ceilings.bandwidth(),
        rates.flops
    );
    report("share of the ceiling", 1e-9 * dofs / medians[0] / bound, 0.4);
    Ok(())
}
