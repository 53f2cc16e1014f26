//! The ladder: every kernel, tile, layout, precision and boundary, level by level.

use super::configs::{self, Named, boundary};
use super::problem::{Field, Problem, distance, mesh};
use super::sheet::{Sheet, number, spread};
use super::{Context, Outcome};
use farro::kernels::{Choice, LayoutChoice, Precision};
use farro_cuda::{CudaSpace, KernelReport};
use farro_fem::mesh::ShellMesh;
use farro_fem::viscous::{Boundary, Config, FieldLayout, LateralFastest, RadiusFastest, Variant};
use farro_portability::{RealElement, deep_copy};
use std::time::{Duration, Instant};

const HEADER: [&str; 20] = [
    "level",
    "dofs",
    "layout",
    "precision",
    "boundary",
    "kernel",
    "kernel_ms",
    "kernel_ms_min",
    "kernel_ms_max",
    "kernel_gdof_per_s",
    "apply_ms",
    "apply_gdof_per_s",
    "repetitions",
    "relative_error",
    "registers",
    "spill_bytes",
    "scratch_bytes",
    "teams_per_multiprocessor",
    "occupancy",
    "failure",
];

/// Seconds after which one kernel is not repeated.
const PATIENCE: f64 = 1.0;

pub fn run(context: &Context) -> Outcome {
    let mut sheet = Sheet::new(&context.options, "ladder.csv", &HEADER)?;
    for &level in &context.options.levels {
        precompile(context, level)?;
        let mesh = mesh(level)?;
        let mut full = configs::marching_shapes(level);
        full.extend(configs::rungs());
        // What is asked first comes first: the time may run out.
        let with = |name: &str| -> Vec<Named> {
            let change = |named: Named| Named { config: Config { boundary: boundary(name), ..named.config }, ..named };
            configs::chosen(level).into_iter().map(change).collect()
        };
        let chosen = configs::chosen(level);
        let reference = reference::<LateralFastest>(context, &mesh, boundary("dirichlet"))?;
        group::<f64, f64, LateralFastest>(
            context,
            &context.double,
            &mesh,
            (level, "f64", "dirichlet"),
            &full,
            Some(&reference),
            &mut sheet,
        )?;
        group::<f32, f32, LateralFastest>(
            context,
            &context.single,
            &mesh,
            (level, "f32", "dirichlet"),
            &chosen,
            Some(&reference),
            &mut sheet,
        )?;
        group::<f64, f32, LateralFastest>(
            context,
            &context.double,
            &mesh,
            (level, "f32-f64", "dirichlet"),
            &chosen,
            Some(&reference),
            &mut sheet,
        )?;
        drop(reference);
        let mut by_r = configs::rungs();
        by_r.retain(|named| named.config.bounds.is_none());
        by_r.extend(configs::marching_shapes(level).into_iter().take(3));
        let reference = self::reference::<RadiusFastest>(context, &mesh, boundary("dirichlet"))?;
        group::<f64, f64, RadiusFastest>(
            context,
            &context.double,
            &mesh,
            (level, "f64", "dirichlet"),
            &by_r,
            Some(&reference),
            &mut sheet,
        )?;
        drop(reference);
        for name in ["neumann", "free-slip"] {
            let reference = self::reference::<LateralFastest>(context, &mesh, boundary(name))?;
            group::<f64, f64, LateralFastest>(
                context,
                &context.double,
                &mesh,
                (level, "f64", name),
                &with(name),
                Some(&reference),
                &mut sheet,
            )?;
        }
    }
    Ok(())
}

/// All kernels of a level; what another level had already costs nothing.
fn precompile(context: &Context, level: u32) -> Outcome {
    let choices = |named: Vec<Named>, precision, layout| {
        named.into_iter().map(move |named| Choice { config: named.config, precision, layout })
    };
    let full = || configs::marching_shapes(level).into_iter().chain(configs::rungs()).collect::<Vec<_>>();
    let mut all: Vec<Choice> = choices(full(), Precision::F64, LayoutChoice::X).collect();
    all.extend(choices(full(), Precision::F64, LayoutChoice::R));
    for precision in [Precision::F32, Precision::Mixed] {
        all.extend(choices(configs::chosen(level), precision, LayoutChoice::X));
    }
    for name in ["neumann", "free-slip"] {
        let open = configs::chosen(level).into_iter().map(|named| Config { boundary: boundary(name), ..named.config });
        all.extend(open.map(|config| Choice { config, ..Choice::default() }));
    }
    super::precompile::run(context, &all, 5)
}

/// The result of the second-simplest variant in 64 bits; `correctness` compares it with the definition.
fn reference<L: FieldLayout>(context: &Context, mesh: &ShellMesh, boundary: Boundary) -> Outcome<Field<f64, L>> {
    let config = Config { variant: Variant::ArReduc, boundary, ..configs::rungs().remove(2).config };
    let mut problem = Problem::<f64, f64, L>::new(&context.double, mesh, config)?;
    problem.apply()?;
    let mut kept = problem.operator.new_vector("reference")?;
    deep_copy(&mut kept, &problem.y)?;
    Ok(kept)
}

/// What was measured of one kernel.
#[derive(Default)]
struct Measured {
    kernel: Vec<f64>,
    apply: Vec<f64>,
    error: Option<f64>,
    report: Option<KernelReport>,
    failure: Option<String>,
    seconds: f64,
}

/// Kernels that share types and data, their repetitions interleaved.
fn group<P: RealElement, E: RealElement, L: FieldLayout>(
    context: &Context,
    space: &CudaSpace<P>,
    mesh: &ShellMesh,
    (level, precision, boundary): (u32, &str, &str),
    kernels: &[Named],
    reference: Option<&Field<f64, L>>,
    sheet: &mut Sheet,
) -> Outcome {
    let Some(first) = kernels.first() else { return Ok(()) };
    if context.is_over() {
        println!("   the time ran out before level {level}, {precision}, {boundary}, layout {}", L::LETTER);
        return Ok(());
    }
    let mut problem = Problem::<P, E, L>::new(space, mesh, first.config)?;
    let mut all: Vec<Measured> = Vec::new();
    for named in kernels {
        problem = problem.with(named.config)?;
        let mut measured = Measured::default();
        let begin = Instant::now();
        match problem.apply() {
            Err(error) => measured.failure = Some(error.to_string()),
            Ok(()) => {
                measured.error =
                    reference.map(|reference| distance(&context.double, &problem.y, reference)).transpose()?;
                measured.report = report(&mut problem, named)?;
                // Warm from now on.
                let milliseconds = problem.time_kernel()?;
                measured.kernel.push(milliseconds);
                measured.apply.push(problem.time_apply()?);
                measured.seconds = 1e-3 * milliseconds;
            }
        }
        if begin.elapsed().as_secs_f64() > 4.0 {
            println!("   {} took {:.1} s to begin with", named.name, begin.elapsed().as_secs_f64());
        }
        all.push(measured);
    }
    let pause = Duration::from_millis(if level >= 7 { context.options.pause } else { context.options.pause / 4 });
    for repetition in 1..context.options.repeat {
        for (named, measured) in kernels.iter().zip(&mut all) {
            if measured.failure.is_some() || measured.seconds > PATIENCE || (context.is_over() && repetition > 2) {
                continue;
            }
            problem = problem.with(named.config)?;
            std::thread::sleep(pause);
            let milliseconds = problem.time_kernel()?;
            measured.kernel.push(milliseconds);
            measured.seconds += 1e-3 * milliseconds;
            // The whole apply differs by what is done around the kernel; a few times will do.
            if repetition <= 3 {
                measured.apply.push(problem.time_apply()?);
            }
        }
    }
    for (named, measured) in kernels.iter().zip(&all) {
        let ([median, least, most], [apply, ..]) = (spread(&measured.kernel), spread(&measured.apply));
        let report = measured.report.as_ref();
        let of = |f: &dyn Fn(&KernelReport) -> String| report.map_or_else(String::new, f);
        sheet.row(&[
            level.to_string(),
            problem.dofs.to_string(),
            L::LETTER.to_string(),
            precision.into(),
            boundary.into(),
            named.name.clone(),
            number(median),
            number(least),
            number(most),
            number(1e-6 * problem.dofs / median),
            number(apply),
            number(1e-6 * problem.dofs / apply),
            measured.kernel.len().to_string(),
            measured.error.map_or_else(String::new, |error| format!("{error:.2e}")),
            of(&|r| r.resources.registers.to_string()),
            of(&|r| (r.resources.spill_store_bytes + r.resources.spill_load_bytes).to_string()),
            of(&|r| r.scratch_bytes[0].to_string()),
            of(&|r| r.teams_per_multiprocessor.to_string()),
            of(&|r| format!("{:.3}", r.occupancy)),
            measured.failure.clone().unwrap_or_default(),
        ])?;
    }
    Ok(())
}

/// What the compiler and the driver say about a kernel that has a policy of its own.
fn report<P: RealElement, E: RealElement, L: FieldLayout>(
    problem: &mut Problem<'_, P, E, L>,
    named: &Named,
) -> Outcome<Option<KernelReport>> {
    let Problem { operator, u, y, .. } = problem;
    let space = operator.space();
    let policy = operator.team_policy()?;
    Ok(match named.config.variant {
        Variant::Marching => {
            let kernel = operator.marching(&policy, farro_fem::viscous::Mode::Replace);
            Some(space.inspect(&kernel, &policy, &operator.args(u, y.write()))?)
        }
        Variant::Tuned => Some(space.inspect(&operator.tuned(), &policy, &operator.args(u, y.update()))?),
        Variant::Shmem => Some(space.inspect(&operator.shmem(), &policy, &operator.args(u, y.update()))?),
        Variant::Textbook | Variant::ArReduc => None,
    })
}
