//! The speed ratios that the project claims, measured in one interleaved run: `cargo bench --bench ratios [LEVEL]`.
//!
//! A report, not a test: a loaded machine may miss a ratio. Each round times every candidate once, so that a drifting
//! clock favours none; medians count.

use farro::backends::count::CountSpace;
use farro::backends::host::HostSpace;
use farro::ceilings;
use farro::fem::mesh::{ShellMesh, ShellSpec};
use farro::fem::viscous::{Config, LateralFastest, Mode, Rule, Variant, ViscousOperator};
use farro::portability::Space;
use std::time::Instant;

const ROUNDS: usize = 9;

fn k([_, x, y, r]: [usize; 4]) -> f64 {
    1.0 + ((3 * x + 5 * y + 7 * r) % 11) as f64
}
fn u([c, s, x, y, r]: [usize; 5]) -> f64 {
    ((c + 3 * s + 7 * x + 11 * y + 13 * r) % 17) as f64 - 8.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let level = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(5);
    let space = HostSpace::<f64>::new()?;
    let mesh = ShellMesh::new(ShellSpec::level(level))?;
    let with = |variant, rule| Config { variant, rule, ..Config::default() };
    let candidates = [
        ("marching", with(Variant::Marching, Rule::OneByOne)),
        ("textbook 3x2", with(Variant::Textbook, Rule::ThreeByTwo)),
        ("arreduc", with(Variant::ArReduc, Rule::OneByOne)),
    ];
    let mut operator = ViscousOperator::<_, f64, LateralFastest>::new(&space, &mesh, candidates[0].1, k)?;
    let (input, mut y) = (operator.vector_from("u", u)?, operator.new_vector("y")?);
    let mut times = vec![Vec::new(); candidates.len()];
    for round in 0..=ROUNDS {
        for ((_, config), times) in candidates.iter().zip(&mut times) {
            operator = operator.with_config(*config)?;
            let start = Instant::now();
            operator.apply(&input, &mut y, Mode::Replace)?;
            space.fence()?;
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
        println!("  {name:14} {:9.3} ms  {:8.5} GDoF/s", 1e3 * seconds, 1e-9 * dofs / seconds);
    }
    let report = |what: &str, ratio: f64, claimed: f64| {
        let verdict = if ratio >= claimed { "holds" } else { "MISSED" };
        println!("  {what}: {ratio:.2} (claimed: at least {claimed}) {verdict}");
    };
    report("marching over textbook 3x2", medians[1] / medians[0], 6.0);
    report("marching over arreduc", medians[2] / medians[0], 3.0);

    // Work of marching with the lanes of this host, counted on a small shell.
    let count = CountSpace::<f64>::new();
    let small = ShellMesh::new(ShellSpec::level(4))?;
    let config = Config { lanes: Some(space.lanes().max(4)), ..candidates[0].1 };
    let counted = ViscousOperator::<_, f64, LateralFastest>::new(&count, &small, config, k)?;
    let (input, mut y) = (counted.vector_from("u", u)?, counted.new_vector("y")?);
    counted.apply(&input, &mut y, Mode::Replace)?;
    let rates = count.total().per(3.0 * small.unique_nodes() as f64);
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
