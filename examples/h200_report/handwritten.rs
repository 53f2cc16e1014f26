//! Traced kernels beside CUDA that was written by hand (benches/handwritten), in one run.

use super::configs;
use super::problem::{Field, Problem, distance, mesh};
use super::sheet::{Sheet, number, spread};
use super::{Context, Outcome};
use farro_cuda::{CudaMemory, CudaSpace, Function, Module, Options, Param};
use farro_fem::viscous::{LateralFastest, Mode};
use farro_portability::prelude::*;
use std::time::Duration;

/// The names that `--only` knows.
pub const NAMES: [&str; 4] = ["handwritten-marching", "handwritten-triad", "handwritten-triad-chunks", "triad"];

pub const TRIAD: &str = include_str!("../../benches/handwritten/triad.cu");
const MARCHING: &str = include_str!("../../benches/handwritten/marching.cu");
/// Work items of a block in both files, and elements of a block in `triad_chunks`.
const BLOCK: u32 = 256;
const CHUNK: usize = 2048;
/// Nodes that a block of the marching kernel owns along x and y.
const OWNED: [usize; 2] = [30, 15];

/// A function of a hand-written file.
pub fn function(context: &Context, file: &str, text: &str, name: &str) -> Outcome<Function> {
    let space = &context.double;
    let compiled = space.compiler().compile(file, text, &space.device().arch(), &Options::default())?;
    Ok(Module::load(space.device(), &compiled.cubin)?.function(name)?)
}

kernel_args! {
    struct TriadArgs {
        a: Real,
        x: View<f64, 1, LayoutRight, ReadOnly>,
        y: View<f64, 1, LayoutRight, ReadOnly>,
        z: View<f64, 1, LayoutRight, ReadWrite>,
    }
}
#[derive(Clone, Hash)]
struct Triad;
impl RangeKernel for Triad {
    type Args = TriadArgs<Declared>;
    const NAME: &'static str = "report_triad";
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &TriadArgs<T>) {
        args.z.set([i], args.a.mul_add(args.x.at([i]), args.y.at([i])));
    }
}

type Array = View<f64, 1, LayoutRight, CudaMemory>;

struct TriadProblem<'s> {
    space: &'s CudaSpace<f64>,
    arrays: [Array; 3],
    functions: [Function; 2],
}

impl<'s> TriadProblem<'s> {
    fn new(context: &'s Context, elements: usize) -> Outcome<Self> {
        let space = &context.double;
        let array = |label, value| -> Outcome<Array> {
            let mut array = View::new(space.memory(), label, [elements])?;
            array.fill(value)?;
            Ok(array)
        };
        let functions =
            [function(context, "triad", TRIAD, "triad")?, function(context, "triad", TRIAD, "triad_chunks")?];
        Ok(TriadProblem { space, arrays: [array("x", 1.0)?, array("y", 2.0)?, array("z", 0.0)?], functions })
    }
    fn traced(&mut self) -> Result<(), LaunchError> {
        let [x, y, z] = &mut self.arrays;
        let range = RangePolicy::new(x.span());
        self.space.parallel_for(range, &Triad, TriadArgs { a: 0.5, x: x.read(), y: y.read(), z: z.write() })
    }
    /// The first of the functions has a thread for each element, the second chunks.
    fn by_hand(&mut self, which: usize) -> Outcome {
        let [x, y, z] = &mut self.arrays;
        let n = x.span();
        let address = |pointer: *mut u8| Param::pointer(pointer.addr() as u64);
        let (x, y, z) = (x.read().pointer(), y.read().pointer(), z.write().pointer());
        let params = [Param::from(0.5), address(x), address(y), address(z), Param::from(n as i64)];
        let blocks = n.div_ceil([BLOCK as usize, CHUNK][which]) as u32;
        // SAFETY: the parameters are those of both functions, the arrays have `n` elements and outlive the launch,
        // which is queued on their stream.
        Ok(unsafe { self.functions[which].launch(self.space.stream(), [blocks, 1, 1], BLOCK, 0, &params) }?)
    }
    fn milliseconds(&mut self, which: Option<usize>) -> Outcome<f64> {
        let space = self.space;
        let (outcome, milliseconds) = space.time(|| {
            Ok(match which {
                None => self.traced().map_err(Into::into),
                Some(which) => self.by_hand(which),
            })
        })?;
        outcome?;
        Ok(milliseconds.into())
    }
    fn result(&self) -> Outcome<[f64; 2]> {
        let mut host = self.arrays[2].mirror()?;
        deep_copy(&mut host, &self.arrays[2])?;
        let n = host.span();
        Ok([host.get([n / 3]), host.get([n - 1])])
    }
}

type Shell<'s> = Problem<'s, f64, f64, LateralFastest>;

fn march(function: &Function, problem: &mut Shell<'_>, into: &mut Field<f64, LateralFastest>) -> Outcome {
    let [s, nx, ny, nr] = problem.operator.cells();
    let tiles = |cells: usize, owned: usize| (cells - 1).div_ceil(owned).max(1);
    let blocks = (s * tiles(nx, OWNED[0]) * tiles(ny, OWNED[1])) as u32;
    let stream = problem.operator.space().stream();
    let args = problem.operator.args(&problem.u, into.write());
    let address = |pointer: *mut u8| Param::pointer(pointer.addr() as u64);
    let mut params = vec![
        address(args.u.pointer()),
        address(args.k.pointer()),
        address(args.points.pointer()),
        address(args.radii.pointer()),
        address(args.surface.pointer()),
        address(args.kept.pointer()),
        address(args.y.pointer()),
    ];
    params.extend([s, nx, ny, nr].map(|n| Param::from(n as i32)));
    // SAFETY: the parameters are those of `marching`; the fields have the extents that it is told, with x fastest, and
    // outlive the launch, which is queued on their stream.
    Ok(unsafe { function.launch(stream, [blocks, 1, 1], BLOCK, 0, &params) }?)
}

fn time_march(function: &Function, problem: &mut Shell<'_>, into: &mut Field<f64, LateralFastest>) -> Outcome<f64> {
    let space = problem.operator.space();
    let (outcome, milliseconds) = space.time(|| Ok(march(function, problem, into)))?;
    outcome?;
    Ok(milliseconds.into())
}

/// One launch of one kernel, for a profiler.
pub fn only(context: &Context, name: &str) -> Outcome {
    for _ in 0..context.options.repeat {
        match name {
            "handwritten-marching" => {
                let level = context.options.level;
                let mut problem = Shell::new(&context.double, &mesh(level)?, configs::marching(8))?;
                let mut into = problem.operator.new_vector("by hand")?;
                march(&function(context, "marching", MARCHING, "marching")?, &mut problem, &mut into)?;
                context.double.fence()?;
            }
            "triad" => TriadProblem::new(context, 1 << 26)?.traced()?,
            "handwritten-triad" => TriadProblem::new(context, 1 << 26)?.by_hand(0)?,
            _ => TriadProblem::new(context, 1 << 26)?.by_hand(1)?,
        }
        context.double.fence()?;
    }
    println!("{name}: {} launches", context.options.repeat);
    Ok(())
}

const HEADER: [&str; 9] = [
    "kernel",
    "size",
    "traced_ms",
    "traced_ms_min",
    "handwritten_ms",
    "handwritten_ms_min",
    "traced_over_handwritten",
    "relative_difference",
    "registers_by_hand",
];

pub fn run(context: &Context) -> Outcome {
    let mut sheet = Sheet::new(&context.options, "handwritten.csv", &HEADER)?;
    let pause = Duration::from_millis(context.options.pause);
    let repeat = 2 * context.options.repeat + 1;
    for elements in [1usize << 22, 1 << 25, 1 << 28] {
        let mut problem = TriadProblem::new(context, elements)?;
        let mut times = [const { Vec::new() }; 3];
        let mut results = Vec::new();
        for repetition in 0..repeat {
            for (which, times) in [None, Some(0), Some(1)].into_iter().zip(&mut times) {
                std::thread::sleep(pause / 4);
                let milliseconds = problem.milliseconds(which)?;
                if repetition == 0 {
                    results.push(problem.result()?);
                    problem.arrays[2].fill(f64::NAN)?;
                } else {
                    times.push(milliseconds);
                }
            }
        }
        let [traced, by_element, by_chunk] = times.each_ref().map(|times| spread(times));
        let best = if by_element[0] <= by_chunk[0] { by_element } else { by_chunk };
        let difference = results.iter().flatten().map(|value| (value - 2.5).abs()).fold(0.0, f64::max);
        for (name, hand) in
            [("triad (the better)", best), ("triad by element", by_element), ("triad by chunk", by_chunk)]
        {
            sheet.row(&[
                name.into(),
                elements.to_string(),
                number(traced[0]),
                number(traced[1]),
                number(hand[0]),
                number(hand[1]),
                number(traced[0] / hand[0]),
                format!("{difference:.2e}"),
                String::new(),
            ])?;
        }
    }
    let function = function(context, "marching", MARCHING, "marching")?;
    let registers = function.attributes().registers.to_string();
    for level in [8, 7, 6] {
        if context.is_over() {
            println!("   the time ran out before marching at level {level}");
            break;
        }
        let mesh = mesh(level)?;
        // As the hand-written one: a team marches all of r.
        let mut problem = Shell::new(&context.double, &mesh, configs::marching(8))?;
        let mut by_hand = problem.operator.new_vector("by hand")?;
        by_hand.fill(f64::NAN)?;
        let shapes: Vec<_> = configs::marching_shapes(8).into_iter().filter(|n| n.config.radial_blocks == 1).collect();
        let mut best: Option<(f64, f64, String)> = None;
        let mut hand = Vec::new();
        let mut traced: Vec<Vec<f64>> = vec![Vec::new(); shapes.len()];
        let mut differences = vec![f64::NAN; shapes.len()];
        march(&function, &mut problem, &mut by_hand)?;
        context.double.fence()?;
        for repetition in 0..repeat {
            for (i, named) in shapes.iter().enumerate() {
                problem = problem.with(named.config)?;
                if repetition == 0 {
                    problem.y.fill(f64::NAN)?;
                    problem.operator.launch_elements(&problem.u, &mut problem.y, Mode::Replace)?;
                    differences[i] = distance(&context.double, &problem.y, &by_hand)?;
                    continue;
                }
                // Beside each traced launch one by hand, so that both meet the same clock.
                std::thread::sleep(pause);
                traced[i].push(problem.time_kernel()?);
                std::thread::sleep(pause);
                hand.push(time_march(&function, &mut problem, &mut by_hand)?);
            }
        }
        let by_hand_ms = spread(&hand);
        for (i, named) in shapes.iter().enumerate() {
            let [median, least, _] = spread(&traced[i]);
            if best.as_ref().is_none_or(|(known, ..)| median < *known) {
                best = Some((median, least, named.name.clone()));
            }
            sheet.row(&[
                named.name.clone(),
                level.to_string(),
                number(median),
                number(least),
                number(by_hand_ms[0]),
                number(by_hand_ms[1]),
                number(median / by_hand_ms[0]),
                format!("{:.2e}", differences[i]),
                registers.clone(),
            ])?;
        }
        if let Some((median, _, name)) = best {
            let rate = |milliseconds: f64| 1e-6 * problem.dofs / milliseconds;
            println!("   level {level}: {name} {:.1} GDoF/s, by hand {:.1} GDoF/s", rate(median), rate(by_hand_ms[0]));
        }
    }
    Ok(())
}
