//! Everything that is worth knowing about the operator on a CUDA device, in one run, as CSV:
//!
//! ```text
//! cargo run --release --example h200_report -- --out DIR [--seconds 500] [--levels 8,7,6,5] [--sections costs,ladder]
//! h200_report --only marching --level 7       one kernel, launched once, for ncu and compute-sanitizer
//! h200_report --counts 6 --out DIR            counted work of every kernel; needs no device
//! h200_report --list                          the names that --only knows
//! ```
//!
//! Sections, in the order in which they run: `costs` (launch, text, compile, cache, ceilings), `correctness` (golden
//! cases, and every kernel against the interpreted one), `handwritten` (against benches/handwritten), `curve` (levels 2
//! to 9: launches, graph, empty graph), `ladder` (every kernel, tile, layout, precision and boundary). Each file is
//! complete up to the row at which the time ran out. Times are medians; repetitions are interleaved with pauses between
//! them, because the card lowers its clock when it gets hot.

mod configs;
mod correctness;
mod costs;
mod counts;
mod curve;
mod handwritten;
mod ladder;
mod only;
mod options;
mod precompile;
mod problem;
mod sheet;

use farro_cuda::{CudaError, CudaSpace};
use options::Options;
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What any part may fail with.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Spaces of one device, and what is left of the time.
struct Context {
    options: Options,
    double: CudaSpace<f64>,
    single: CudaSpace<f32>,
    deadline: Instant,
}

impl Context {
    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

/// A section: its name, what it does, and its largest share of the time.
type Section = (&'static str, fn(&Context) -> Outcome, f64);
const SECTIONS: [Section; 5] = [
    ("costs", costs::run, 0.15),
    ("correctness", correctness::run, 0.2),
    ("handwritten", handwritten::run, 0.2),
    ("curve", curve::run, 0.2),
    ("ladder", ladder::run, 1.0),
];

fn main() -> ExitCode {
    let result = Options::of_arguments().and_then(|options| {
        if options.list {
            configs::all(8).iter().for_each(|named| println!("{}", named.name));
            handwritten::NAMES.iter().for_each(|name| println!("{name}"));
            return Ok(true);
        }
        if let Some(level) = options.counts {
            return counts::run(&options, level).map(|()| true);
        }
        on_device(options)
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("h200_report: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all sections that ran succeeded.
fn on_device(options: Options) -> Outcome<bool> {
    let begin = Instant::now();
    let spaces = CudaSpace::new(options.device).and_then(|double| Ok((double, CudaSpace::new(options.device)?)));
    let (double, single) = match spaces {
        Ok(spaces) => spaces,
        Err(reason @ (CudaError::NoLibrary { .. } | CudaError::NoDevice { .. })) => {
            println!("skipped: h200_report: {reason}");
            return Ok(true);
        }
        Err(error) => return Err(error.into()),
    };
    let seconds = Duration::from_secs_f64(options.seconds);
    let mut context = Context { options, double, single, deadline: begin + seconds };
    if context.options.only.is_some() {
        return only::run(&context).map(|()| true);
    }
    sheet::machine(&context)?;
    let clocks = sheet::Clocks::start(&context.options);
    let mut good = true;
    for (name, run, share) in SECTIONS {
        if !context.options.sections.is_empty() && !context.options.sections.iter().any(|chosen| chosen == name) {
            continue;
        }
        let start = Instant::now();
        context.deadline = (begin + seconds).min(start + seconds.mul_f64(share));
        println!("== {name} (at {:.0} s)", begin.elapsed().as_secs_f64());
        if let Err(error) = run(&context) {
            // The other sections are worth having all the same, unless the device is lost.
            println!("FAILED {name}: {error}");
            good = false;
        }
        println!("   {name} took {:.1} s", start.elapsed().as_secs_f64());
    }
    drop(clocks);
    println!("{} after {:.0} s", if good { "complete" } else { "with failures" }, begin.elapsed().as_secs_f64());
    Ok(good)
}
