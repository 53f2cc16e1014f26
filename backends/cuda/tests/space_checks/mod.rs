//! Everything that `CudaSpace` does on a GPU, as a list of checks that the tests and the `cuda_space` example both run.

mod kernels;
#[path = "../../../tests/printed_kernels/mod.rs"]
mod printed_kernels;

use farro_cuda::{CudaError, CudaMemory, CudaSpace};
use farro_portability::prelude::*;
use farro_portability::{MemoryError, conformance};
use kernels::{
    Counters, CountersArgs, Extremes, InputArgs, Lanes, Md, MdArgs, PairArgs, Prefix, PrefixArgs, Reverse, RowsArgs,
    Square, Stray, Tiled, Total,
};
use printed_kernels::{Axpy, AxpyArgs, Everything, EverythingViews, March, MarchArgs};
use std::marker::PhantomData;
use std::time::Instant;

/// Tells a process that it is the child of `fault_is_named_once`.
pub const FAULT_VARIABLE: &str = "FARRO_CUDA_SPACE_FAULT_CHILD";
/// The test that the child runs; the example looks at the variable alone.
pub const FAULT_TEST: &str = "fault_child";

pub type Outcome = Result<String, String>;
type Check = fn(&CudaSpace) -> Outcome;

pub const CHECKS: &[(&str, Check)] = &[
    ("axpy", axpy),
    ("reduce", reduce),
    ("scan", scan),
    ("md", md),
    ("team_scratch", team_scratch),
    ("lanes_and_private", lanes_and_private),
    ("march", march),
    ("atomics", atomics),
    ("storage_precision", storage_precision),
    ("every_operation_runs", every_operation_runs),
    ("conforms", conforms),
    ("refusals", refusals),
    ("largest_team", largest_team),
    ("inspect", inspect),
    ("graph", graph),
    ("bandwidth", bandwidth),
    ("launch_overhead", launch_overhead),
    ("fault_is_named_once", fault_is_named_once),
];

/// The space that all checks share.
pub fn setup() -> Result<CudaSpace, CudaError> {
    CudaSpace::new(0)
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn upload<E: Element, const R: usize, L: Layout>(
    space: &CudaSpace,
    host: &View<E, R, L>,
) -> Result<View<E, R, L, CudaMemory>, MemoryError> {
    let mut view = View::new(space.memory(), host.label(), host.extents())?;
    deep_copy(&mut view, host)?;
    Ok(view)
}

fn download<E: Element, const R: usize, L: Layout>(
    view: &View<E, R, L, CudaMemory>,
) -> Result<View<E, R, L>, MemoryError> {
    let mut host = view.mirror()?;
    deep_copy(&mut host, view)?;
    Ok(host)
}

fn numbers(space: &CudaSpace, n: usize) -> Result<View<f64, 1, LayoutRight, CudaMemory>, String> {
    let host = View::<f64, 1>::from_fn("x", [n], |[i]| (i * 7919 % 1009) as f64).map_err(text)?;
    upload(space, &host).map_err(text)
}

fn axpy(space: &CudaSpace) -> Outcome {
    for n in [0usize, 1, 31, 2049, 1_000_003] {
        let x = numbers(space, n)?;
        let mut y = numbers(space, n)?;
        for _ in 0..2 {
            let args = AxpyArgs { a: 2.0, x: x.read(), y: y.write() };
            space.parallel_for(RangePolicy::new(n), &Axpy, args).map_err(text)?;
        }
        let (x, y) = (download(&x).map_err(text)?, download(&y).map_err(text)?);
        let wrong = x.as_slice().iter().zip(y.as_slice()).position(|(x, y)| *y != 5.0 * x);
        ensure!(wrong.is_none(), "n = {n}: element {wrong:?} is wrong");
    }
    Ok("up to 1 000 003 elements".into())
}

fn reduce(space: &CudaSpace) -> Outcome {
    for n in [0usize, 1, 257, 100_000] {
        let x = numbers(space, n)?;
        let values: Vec<f64> = download(&x).map_err(text)?.as_slice().to_vec();
        let policy = RangePolicy::new(n);
        let total = space.parallel_reduce(policy, &Total, InputArgs { x: x.read() }).map_err(text)?;
        ensure!(total == [values.iter().sum::<f64>()], "n = {n}: sum {total:?}");
        let found = space.parallel_reduce(policy, &Extremes, InputArgs { x: x.read() }).map_err(text)?;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ensure!(found == [low, high], "n = {n}: {found:?} instead of {low}, {high}");
    }
    Ok("sum, smallest and largest".into())
}

fn scan(space: &CudaSpace) -> Outcome {
    for n in [0usize, 1, 300, 50_000] {
        let mut out = View::<i64, 1, LayoutRight, _>::new(space.memory(), "out", [n]).map_err(text)?;
        let args = PrefixArgs { out: out.write() };
        let total = space.parallel_scan(RangePolicy::new(n), &Prefix, args).map_err(text)?;
        ensure!(total == [(n * n.saturating_sub(1) / 2) as f64], "n = {n}: total {total:?}");
        let out = download(&out).map_err(text)?;
        let wrong = out.as_slice().iter().enumerate().position(|(i, v)| *v as usize != i * i.saturating_sub(1) / 2);
        ensure!(wrong.is_none(), "n = {n}: element {wrong:?} is wrong");
    }
    Ok("up to 50 000 elements".into())
}

fn md(space: &CudaSpace) -> Outcome {
    let extents = [5usize, 37, 65];
    let left = View::<f64, 3, LayoutLeft>::from_fn("left", extents, |[i, j, k]| 0.25 * (i + j + k) as f64);
    let left = left.map_err(text)?;
    let device = upload(space, &left).map_err(text)?;
    for tile in [[1, 4, 32], [2, 3, 5], [1, 1, 128]] {
        let mut tiled = View::<f64, 3, Tiled, _>::new(space.memory(), "tiled", extents).map_err(text)?;
        let policy = MdRangePolicy::new(extents).with_tile(tile).map_err(text)?;
        let args = MdArgs { left: device.read(), tiled: tiled.write() };
        space.parallel_for_md(policy, &Md, args).map_err(text)?;
        let tiled = download(&tiled).map_err(text)?;
        for i in 0..extents[0] * extents[1] * extents[2] {
            let index = [i / (37 * 65), i / 65 % 37, i % 65];
            let expected = left.get(index) + (index[0] * 10000 + index[1] * 100 + index[2]) as f64;
            ensure!(tiled.get(index) == expected, "tile {tile:?}: {index:?} is {}", tiled.get(index));
        }
    }
    Ok("three tiles, two layouts".into())
}

fn team_scratch(space: &CudaSpace) -> Outcome {
    let most = space.limits().scratch_bytes[0] / 16 * 2;
    let mut sizes = Vec::new();
    for (len, level) in [(1, 0), (1000, 0), (6000, 0), (most, 0), (1000, 1), (100_000, 1)] {
        let teams = 7;
        let host = View::<f64, 2>::from_fn("rows", [teams, len], |[t, i]| (t * len + i) as f64).map_err(text)?;
        let mut rows = upload(space, &host).map_err(text)?;
        let policy = TeamPolicy::new(teams, 256, 1).map_err(text)?;
        space.launch(&Reverse { len, level }, &policy, RowsArgs { rows: rows.write() }).map_err(text)?;
        let rows = download(&rows).map_err(text)?;
        for team in 0..teams {
            for i in 0..len {
                let (got, expected) = (rows.get([team, i]), (team * len + len - 1 - i) as f64);
                ensure!(got == expected, "level {level}, {len} elements: [{team}, {i}] is {got}, not {expected}");
            }
        }
        sizes.push(8 * len);
    }
    Ok(format!("{sizes:?} bytes a team"))
}

fn lanes_and_private(space: &CudaSpace) -> Outcome {
    for (threads, lanes) in [(8usize, 32usize), (5, 16), (9, 8), (64, 4), (3, 2)] {
        let teams = 3;
        let host = View::<f64, 2>::new(&HostMemory, "rows", [teams, threads * lanes]).map_err(text)?;
        let mut rows = upload(space, &host).map_err(text)?;
        let policy = TeamPolicy::new(teams, threads, lanes).map_err(text)?;
        space.launch(&Lanes, &policy, RowsArgs { rows: rows.write() }).map_err(text)?;
        let rows = download(&rows).map_err(text)?;
        let mut values: Vec<f64> = (0..lanes).map(|lane| lane as f64).collect();
        for _ in 0..2 {
            let old = values.clone();
            for (lane, value) in values.iter_mut().enumerate() {
                let down = if lane + 1 < lanes { lane + 1 } else { lane };
                let up = if lane >= 2 { lane - 2 } else { lane };
                *value = old[down] + old[up] + old[(lane + 3) % lanes] + old[0];
            }
        }
        for thread in 0..threads {
            for (lane, value) in values.iter().enumerate() {
                let summed = lane == 0 && thread < threads - 1;
                let sum = (lanes * (lanes - 1) / 2) as f64;
                let expected = if summed { sum } else { value + (thread * 1000) as f64 };
                let got = rows.get([1, thread * lanes + lane]);
                ensure!(got == expected, "{threads}×{lanes}, thread {thread}, lane {lane}: {got}, not {expected}");
            }
        }
    }
    Ok("vectors of 2 to 32 lanes".into())
}

fn march(space: &CudaSpace) -> Outcome {
    let (levels, threads, lanes, teams) = (9, 4, 32, 5);
    let width = threads * lanes;
    let u = View::<f64, 2>::from_fn("u", [levels, teams * width], |[l, x]| ((l * 31 + x * 17) % 64) as f64);
    let u = u.map_err(text)?;
    let device = upload(space, &u).map_err(text)?;
    let mut out = View::<f64, 2, LayoutRight, _>::new(space.memory(), "out", u.extents()).map_err(text)?;
    let policy = TeamPolicy::new(teams, threads, lanes).map_err(text)?;
    space.launch(&March, &policy, MarchArgs { u: device.read(), out: out.write() }).map_err(text)?;
    let out = download(&out).map_err(text)?;
    for level in 1..levels - 1 {
        for x in 0..teams * width {
            let at = |x: usize| u.get([level, x]);
            let down = if x % lanes == lanes - 1 { at(x) } else { at(x + 1) };
            let up = if x.is_multiple_of(lanes) { at(x) } else { at(x - 1) };
            let expected = 0.25 * (u.get([level - 1, x]) + u.get([level + 1, x])) + 0.25 * (down + up);
            ensure!(out.get([level, x]) == expected, "[{level}, {x}]: {} not {expected}", out.get([level, x]));
        }
    }
    Ok(format!("{levels} levels, {} columns", teams * width))
}

fn atomics(space: &CudaSpace) -> Outcome {
    let n = 20_000usize;
    let mut d = View::<f64, 1, LayoutRight, _>::new(space.memory(), "d", [6]).map_err(text)?;
    let mut f = View::<f32, 1, LayoutRight, _>::new(space.memory(), "f", [6]).map_err(text)?;
    let mut k = View::<i32, 1, LayoutRight, _>::new(space.memory(), "k", [6]).map_err(text)?;
    let mut l = View::<i64, 1, LayoutRight, _>::new(space.memory(), "l", [6]).map_err(text)?;
    let args = CountersArgs { n: n as i64, d: d.update(), f: f.update(), k: k.update(), l: l.update() };
    space.parallel_for(RangePolicy::new(n), &Counters, args).map_err(text)?;
    let (d, f) = (download(&d).map_err(text)?, download(&f).map_err(text)?);
    let (k, l) = (download(&k).map_err(text)?, download(&l).map_err(text)?);
    let wide = |values: Vec<f64>| -> Result<(), String> {
        let last = (n - 1) as f64;
        ensure!(values[..3] == [n as f64, -last, last], "{values:?}");
        ensure!((1.0..=n as f64).contains(&values[4]), "{values:?}");
        Ok(())
    };
    let all = (n * (n - 1) / 2) as f64;
    let lists = [
        (d.as_slice().to_vec(), all),
        (f.as_slice().iter().map(|v| f64::from(*v)).collect(), (n / 2) as f64),
        (k.as_slice().iter().map(|v| f64::from(*v)).collect(), (n / 2) as f64),
        (l.as_slice().iter().map(|v| *v as f64).collect(), all),
    ];
    for (values, exchanged) in lists {
        ensure!(values[3] + values[5] == exchanged, "exchange: {values:?}, not {exchanged} together");
        wide(values)?;
    }
    Ok(format!("{n} updates of each kind"))
}

fn storage_precision(space: &CudaSpace) -> Outcome {
    let n = 5000usize;
    let value = |i: usize| 0.1 * i as f64;
    let x64 = View::<f64, 1>::from_fn("x", [n], |[i]| value(i)).map_err(text)?;
    let x32 = View::<f32, 1>::from_fn("x", [n], |[i]| value(i) as f32).map_err(text)?;
    let policy = RangePolicy::new(n);
    let single = CudaSpace::<f32>::new(0).map_err(text)?;
    // 32-bit storage with 64-bit arithmetic: rounded once, at the end.
    let x = upload(space, &x32).map_err(text)?;
    let mut y = View::<f32, 1, LayoutRight, _>::new(space.memory(), "y", [n]).map_err(text)?;
    let args = PairArgs { x: x.read(), y: y.write() };
    space.parallel_for(policy, &Square::<f32, f32>(PhantomData), args).map_err(text)?;
    let y = download(&y).map_err(text)?;
    for (x, y) in x32.as_slice().iter().zip(y.as_slice()) {
        let x = f64::from(*x);
        ensure!(*y == (x * x / 3.0) as f32, "f32 storage: {x} gives {y}");
    }
    // 64-bit storage with 32-bit arithmetic.
    let x = upload(&CudaSpace::new(0).map_err(text)?, &x64).map_err(text)?;
    space.fence().map_err(text)?;
    let mut y = View::<f64, 1, LayoutRight, _>::new(single.memory(), "y", [n]).map_err(text)?;
    let args = PairArgs { x: x.read(), y: y.write() };
    single.parallel_for(policy, &Square::<f64, f64>(PhantomData), args).map_err(text)?;
    let y = download(&y).map_err(text)?;
    for (x, y) in x64.as_slice().iter().zip(y.as_slice()) {
        let x = *x as f32;
        ensure!(*y == f64::from(x * x / 3.0), "f32 arithmetic: {x} gives {y}");
    }
    Ok("f32 storage with f64 arithmetic, and the other way round".into())
}

fn every_operation_runs(space: &CudaSpace) -> Outcome {
    for (threads, lanes) in [(8, 8), (1, 32), (40, 1)] {
        let mut views = EverythingViews::new(space.memory()).map_err(text)?;
        let policy = TeamPolicy::new(1, threads, lanes).map_err(text)?;
        space.launch(&Everything, &policy, views.args()).map_err(text)?;
        space.fence().map_err(text)?;
    }
    Ok("three team shapes".into())
}

/// The suite that every execution space passes.
fn conforms(space: &CudaSpace) -> Outcome {
    let report = conformance::suite(space);
    let failures: Vec<_> = report.failures().map(|case| format!("\n  {}: {:?}", case.name, case.outcome)).collect();
    ensure!(failures.is_empty(), "{}", failures.concat());
    Ok(format!("{} cases passed, {} skipped", report.passed(), report.skipped().count()))
}

fn refusals(space: &CudaSpace) -> Outcome {
    let mut rows = View::<f64, 2, LayoutRight, _>::new(space.memory(), "rows", [4, 64]).map_err(text)?;
    let small = Reverse { len: 64, level: 0 };
    let mut launch =
        |kernel: &Reverse, policy: TeamPolicy| space.launch(kernel, &policy, RowsArgs { rows: rows.write() });
    let team = |teams, threads| TeamPolicy::new(teams, threads, 1).map_err(text);
    let empty = launch(&small, team(0, 64)?);
    ensure!(empty.is_ok(), "no teams: {empty:?}");
    let large = launch(&small, team(1, 1025)?);
    ensure!(matches!(large, Err(LaunchError::TeamTooLarge { asked: 1025, allowed: 1024, .. })), "{large:?}");
    let scratch = launch(&Reverse { len: 1 << 20, level: 0 }, team(1, 64)?);
    ensure!(matches!(scratch, Err(LaunchError::ScratchTooLarge { level: 0, .. })), "{scratch:?}");
    let x = numbers(space, 100)?;
    let slice = x.read();
    let aliased = PairArgs::<_, f64, f64> { x: slice, y: numbers_of(&x) };
    let aliasing = space.parallel_for(RangePolicy::new(100), &Square::<f64, f64>(PhantomData), aliased);
    ensure!(matches!(aliasing, Err(LaunchError::Aliasing { .. })), "{aliasing:?}");
    let huge = View::<f64, 1, LayoutRight, _>::new(space.memory(), "huge", [1 << 40]);
    ensure!(matches!(huge, Err(MemoryError::Exhausted { available: Some(_), .. })), "{huge:?}");
    Ok(scratch.unwrap_err().to_string())
}

/// A second name for a view that is written: what safe code cannot have, and a launch refuses.
fn numbers_of(
    x: &View<f64, 1, LayoutRight, CudaMemory>,
) -> farro_portability::ViewHandle<'_, f64, 1, LayoutRight, CudaMemory, ReadWrite> {
    let pointer: *const View<f64, 1, LayoutRight, CudaMemory> = x;
    // SAFETY: the handle only copies address and shape; the launch refuses it, so nothing is written.
    unsafe { (*pointer.cast_mut()).write() }
}

fn largest_team(space: &CudaSpace) -> Outcome {
    let mut rows = View::<f64, 2, LayoutRight, _>::new(space.memory(), "rows", [1, 64]).map_err(text)?;
    let policy = TeamPolicy::new(1, 1, 4).map_err(text)?;
    let kernel = Reverse { len: 64, level: 0 };
    let threads = space.largest_team(&kernel, &policy, &RowsArgs { rows: rows.write() }).map_err(text)?;
    ensure!(threads == 256, "{threads} threads of 4 lanes");
    Ok(format!("{threads} threads of 4 lanes"))
}

fn inspect(space: &CudaSpace) -> Outcome {
    let u = View::<f64, 2, LayoutRight, _>::new(space.memory(), "u", [4, 256]).map_err(text)?;
    let mut out = View::<f64, 2, LayoutRight, _>::new(space.memory(), "out", [4, 256]).map_err(text)?;
    let policy = TeamPolicy::new(1, 8, 32).map_err(text)?.with_bounds(LaunchBounds::<256, 4>).map_err(text)?;
    let args = MarchArgs { u: u.read(), out: out.write() };
    let report = space.inspect(&March, &policy, &args).map_err(text)?;
    ensure!(report.teams_per_multiprocessor >= 4 && report.resources.registers <= 64, "{report:?}");
    ensure!(report.scratch_bytes == [2048, 0] && report.text.contains("__launch_bounds__(256, 4)"), "{report:?}");
    Ok(format!("{:?}, occupancy {:.2}", report.resources, report.occupancy))
}

fn graph(space: &CudaSpace) -> Outcome {
    let n = 10_000usize;
    let x = numbers(space, n)?;
    let mut y = numbers(space, n)?;
    let graph = space.capture(|| {
        for _ in 0..3 {
            let args = AxpyArgs { a: 1.0, x: x.read(), y: y.write() };
            space.parallel_for(RangePolicy::new(n), &Axpy, args)?;
        }
        Ok(())
    });
    let graph = graph.map_err(text)?;
    for _ in 0..4 {
        // SAFETY: both views live until the end of this function, and nothing else uses them meanwhile.
        unsafe { space.replay(&graph) }.map_err(text)?;
    }
    let (x, y) = (download(&x).map_err(text)?, download(&y).map_err(text)?);
    let right = x.as_slice().iter().zip(y.as_slice()).all(|(x, y)| *y == 13.0 * x);
    ensure!(right, "{:?}", &y.as_slice()[..4]);
    let failed = space.capture(|| Err(LaunchError::NoTeam { asked: "a failure on purpose".into() }));
    ensure!(matches!(failed, Err(LaunchError::NoTeam { .. })), "{failed:?}");
    axpy(space)?;
    Ok("3 launches, 4 replays".into())
}

fn bandwidth(space: &CudaSpace) -> Outcome {
    let n = 1usize << 26;
    let x = View::<f64, 1, LayoutRight, _>::new(space.memory(), "x", [n]).map_err(text)?;
    let mut y = View::<f64, 1, LayoutRight, _>::new(space.memory(), "y", [n]).map_err(text)?;
    let mut best = f32::INFINITY;
    for _ in 0..10 {
        let args = AxpyArgs { a: 1.0, x: x.read(), y: y.write() };
        let run = || space.parallel_for(RangePolicy::new(n), &Axpy, args);
        best = best.min(space.time(run).map_err(text)?.1);
    }
    let mut reduction = f64::INFINITY;
    for _ in 0..5 {
        let begin = Instant::now();
        space.parallel_reduce(RangePolicy::new(n), &Total, InputArgs { x: x.read() }).map_err(text)?;
        reduction = reduction.min(begin.elapsed().as_secs_f64());
    }
    let axpy = 24.0 * n as f64 / f64::from(best) / 1e9;
    let sum = 8.0 * n as f64 / reduction / 1e12;
    Ok(format!("axpy {axpy:.2} TB/s, sum {sum:.2} TB/s with its copy to the host"))
}

fn launch_overhead(space: &CudaSpace) -> Outcome {
    let x = numbers(space, 64)?;
    let mut y = numbers(space, 64)?;
    let (launches, mut best) = (400, f64::INFINITY);
    for _ in 0..25 {
        let begin = Instant::now();
        for _ in 0..launches {
            let args = AxpyArgs { a: 0.0, x: x.read(), y: y.write() };
            space.parallel_for(RangePolicy::new(64), &Axpy, args).map_err(text)?;
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e6 / f64::from(launches));
        space.fence().map_err(text)?;
    }
    Ok(format!("{best:.2} µs per launch on the host (compare `launch_overhead` of cuda_smoke)"))
}

/// A fault takes the context of its whole process, so a child process runs into it.
fn fault_is_named_once(_: &CudaSpace) -> Outcome {
    let program = std::env::current_exe().map_err(text)?;
    let output = std::process::Command::new(program)
        .args(["--exact", FAULT_TEST, "--nocapture"])
        .env(FAULT_VARIABLE, "1")
        .output()
        .map_err(text)?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success() && out.contains("the fault was named once"), "{out}\n{err}");
    Ok(out.lines().find(|line| line.contains("stray")).unwrap_or_default().to_string())
}

/// What the child does.
pub fn run_into_a_fault() -> Outcome {
    let space = setup().map_err(text)?;
    let mut rows = View::<f64, 2, LayoutRight, _>::new(space.memory(), "rows", [4, 64]).map_err(text)?;
    let policy = TeamPolicy::new(1, 1, 32).map_err(text)?;
    let queued = space.launch(&Stray, &policy, RowsArgs { rows: rows.write() });
    let first = queued.and_then(|()| space.fence());
    println!("{first:?}");
    ensure!(matches!(&first, Err(LaunchError::Device { kernel, .. }) if kernel == "stray"), "{first:?}");
    let later = space.fence();
    ensure!(matches!(&later, Err(LaunchError::Device { message, .. }) if message.contains("lost")), "{later:?}");
    println!("the fault was named once");
    Ok(String::new())
}
