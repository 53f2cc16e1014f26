//! Small problems: what launching costs, with and without graphs.

use super::configs;
use super::handwritten::{TRIAD, function};
use super::problem::{Problem, mesh};
use super::sheet::{Sheet, number, spread};
use super::{Context, Outcome};
use farro_cuda::{CudaGraph, CudaSpace};
use farro_fem::viscous::{Config, LateralFastest, Mode};
use farro_portability::{LaunchError, Space};
use std::time::{Duration, Instant};

const HEADER: [&str; 12] = [
    "level",
    "dofs",
    "radial_blocks",
    "kernel_us",
    "apply_us",
    "graph_us",
    "empty_graph_us",
    "apply_wall_us",
    "graph_wall_us",
    "empty_graph_wall_us",
    "graph_gdof_per_s",
    "graph_over_empty_plus_kernel",
];

/// Applies that are queued one after the other.
const QUEUED: usize = 40;
/// Largest level.
const LAST: u32 = 9;

pub fn run(context: &Context) -> Outcome {
    let mut sheet = Sheet::new(&context.options, "curve.csv", &HEADER)?;
    let space = &context.double;
    let empty = function(context, "triad", TRIAD, "empty")?;
    let stream = space.stream();
    // SAFETY: the kernel takes no parameters and touches no memory.
    let empty_graph = stream.capture(|stream| unsafe { empty.launch(stream, [1; 3], 32, 0, &[]) })?;
    // SAFETY: as above.
    let replay_empty = || -> Outcome { Ok(unsafe { empty_graph.launch(stream) }?) };
    for level in 2..=LAST {
        if context.is_over() {
            println!("   the time ran out before level {level}");
            break;
        }
        let base = configs::marching(level);
        let blocks = if level <= 7 { vec![1, base.radial_blocks, 2 * base.radial_blocks] } else { vec![1] };
        for radial_blocks in blocks {
            let config = Config { radial_blocks, ..base };
            let mut problem = Problem::<f64, f64, LateralFastest>::new(space, &mesh(level)?, config)?;
            problem.apply()?;
            let graph = capture(space, &mut problem)?;
            let rounds = if level >= 7 { 3 } else { 9 };
            let queued = if level >= 7 { 4 } else { QUEUED };
            let (mut kernel, mut columns) = (Vec::new(), [(); 6].map(|()| Vec::new()));
            for _ in 0..rounds {
                std::thread::sleep(Duration::from_millis(3));
                kernel.push(1e3 * problem.time_kernel()?);
                let Problem { operator, u, y, .. } = &mut problem;
                let mut apply = || -> Outcome { Ok(operator.apply(u, y, Mode::Replace)?) };
                // SAFETY: the views that the graph uses are those of `problem`, which outlives it; nothing else runs.
                let replay = || -> Outcome { Ok(unsafe { space.replay(&graph) }?) };
                let times = [
                    device(space, queued, &mut apply)?,
                    device(space, queued, &mut || replay())?,
                    device(space, queued, &mut || replay_empty())?,
                    wall(space, &mut apply)?,
                    wall(space, &mut || replay())?,
                    wall(space, &mut || replay_empty())?,
                ];
                columns.iter_mut().zip(times).for_each(|(column, time)| column.push(time));
            }
            let [kernel, ..] = spread(&kernel);
            let medians = columns.each_ref().map(|column| spread(column)[0]);
            let [_, graph_us, empty_us, ..] = medians;
            let mut row = vec![level.to_string(), problem.dofs.to_string(), radial_blocks.to_string(), number(kernel)];
            row.extend(medians.map(number));
            row.push(number(1e-3 * problem.dofs / graph_us));
            row.push(number(graph_us / (empty_us + kernel)));
            sheet.row(&row)?;
        }
    }
    Ok(())
}

fn capture(
    space: &CudaSpace<f64>,
    problem: &mut Problem<'_, f64, f64, LateralFastest>,
) -> Result<CudaGraph, LaunchError> {
    let Problem { operator, u, y, .. } = problem;
    space.capture(|| {
        operator.apply(u, y, Mode::Replace).map_err(|error| LaunchError::Device {
            kernel: "apply".into(),
            space: space.name(),
            message: error.to_string(),
        })
    })
}

/// Microseconds of device time for each of many that are queued.
fn device(space: &CudaSpace<f64>, queued: usize, run: &mut dyn FnMut() -> Outcome) -> Outcome<f64> {
    let (outcome, milliseconds) = space.time(|| Ok((0..queued).try_for_each(|_| run())))?;
    outcome?;
    Ok(1e3 * f64::from(milliseconds) / queued as f64)
}

/// Microseconds from asking until it is known to be done.
fn wall(space: &CudaSpace<f64>, run: &mut dyn FnMut() -> Outcome) -> Outcome<f64> {
    space.fence()?;
    let begin = Instant::now();
    run()?;
    space.fence()?;
    Ok(1e6 * begin.elapsed().as_secs_f64())
}
