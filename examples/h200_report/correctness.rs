//! Are the results right? Golden cases, and every kernel against the interpreter and the definition.

use super::configs::{self, Named, boundary};
use super::problem::{Field, Problem, distance, mesh, velocity, viscosity};
use super::sheet::Sheet;
use super::{Context, Outcome};
use farro::kernels::{Choice, LayoutChoice, Precision};
use farro_backends::count::CountSpace;
use farro_cuda::CudaSpace;
use farro_fem::golden::GoldenCase;
use farro_fem::viscous::definition::Definition;
use farro_fem::viscous::{
    Boundary, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, Rule, TileShape, Variant, ViscousOperator,
};
use farro_portability::{RealElement, Space, View, deep_copy};
use std::path::Path;

const HEADER: [&str; 7] = ["check", "level", "layout", "precision", "kernel", "relative_error", "verdict"];

struct Report {
    sheet: Sheet,
    failures: usize,
}

impl Report {
    fn add(&mut self, cells: [String; 5], error: Outcome<f64>, tolerance: f64) -> Outcome {
        let (error, verdict) = match error {
            // A result that is not a number must not pass.
            Ok(error) if error < tolerance => (format!("{error:.2e}"), "PASS".to_string()),
            Ok(error) => (format!("{error:.2e}"), format!("FAIL above {tolerance:e}")),
            Err(error) => (String::new(), format!("FAIL {error}")),
        };
        self.failures += usize::from(verdict.starts_with("FAIL"));
        let mut row = cells.to_vec();
        row.extend([error, verdict]);
        self.sheet.row(&row)
    }
}

pub fn run(context: &Context) -> Outcome {
    let mut report = Report { sheet: Sheet::new(&context.options, "correctness.csv", &HEADER)?, failures: 0 };
    precompile(context)?;
    golden(context, &mut report)?;
    for level in [2, 3] {
        interpreted::<f64, f64, LateralFastest>(context, &context.double, level, "f64", 1e-13, &mut report)?;
        interpreted::<f64, f64, RadiusFastest>(context, &context.double, level, "f64", 1e-13, &mut report)?;
        interpreted::<f32, f32, LateralFastest>(context, &context.single, level, "f32", 1e-4, &mut report)?;
        interpreted::<f64, f32, LateralFastest>(context, &context.double, level, "f32-f64", 1e-6, &mut report)?;
    }
    against_definition::<LateralFastest>(context, &mut report)?;
    against_definition::<RadiusFastest>(context, &mut report)?;
    same_bits(context, &mut report)?;
    if report.failures > 0 {
        return Err(format!("{} checks failed (correctness.csv)", report.failures).into());
    }
    Ok(())
}

/// One kernel of each kind, with tiles that divide the shell and tiles that do not, and the shapes of marching.
fn kernels(level: u32) -> Vec<Named> {
    let (short, all) = (configs::chosen(level), configs::rungs());
    let more = ["textbook", "shmem-4x4x8"].map(|name| all.iter().find(|named| named.name == name).cloned());
    let mut kernels: Vec<Named> = more.into_iter().flatten().chain(short).collect();
    let uneven = TileShape { x: 3, y: 2, r: 2 };
    let tiled = kernels.iter().filter(|named| matches!(named.config.variant, Variant::Shmem | Variant::Tuned));
    let uneven: Vec<_> = tiled
        .map(|named| Named {
            name: format!("{} with tile 3x2x2", named.name),
            config: Config { tile: uneven, passes: 1, ..named.config },
        })
        .collect();
    kernels.extend(uneven);
    for named in configs::marching_shapes(level).into_iter().take(6) {
        if !kernels.iter().any(|known| known.name == named.name) {
            kernels.push(named);
        }
    }
    kernels
}

/// The golden cases with their names.
fn golden_files(context: &Context) -> Outcome<Vec<(String, GoldenCase)>> {
    let folder = &context.options.golden;
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}; name the folder with --golden", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let name = |file: &Path| file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    files.iter().map(|file| Ok((name(file), GoldenCase::read(file)?))).collect()
}

/// Rule and boundary conditions of a golden case.
fn kind(case: &GoldenCase) -> Outcome<(Rule, Boundary)> {
    let rule = Rule::ALL.into_iter().find(|rule| rule.name() == case.rule.name()).ok_or("an unknown rule")?;
    Ok((rule, boundary(case.boundary.name())))
}

fn golden(context: &Context, report: &mut Report) -> Outcome {
    for (check, case) in golden_files(context)? {
        let (rule, boundary) = kind(&case)?;
        let mut kernels = kernels(1);
        kernels.retain(|named| named.config.variant.supports(rule));
        for named in kernels {
            let config = Config { rule, boundary, ..named.config };
            let level = case.lateral_cells.ilog2();
            let cells =
                |layout: char| [check.clone(), level.to_string(), layout.into(), "f64".into(), named.name.clone()];
            let error = golden_error::<LateralFastest>(&context.double, &case, config);
            report.add(cells('x'), error, 1e-13)?;
            let error = golden_error::<RadiusFastest>(&context.double, &case, config);
            report.add(cells('r'), error, 1e-13)?;
        }
    }
    Ok(())
}

fn golden_error<L: FieldLayout>(space: &CudaSpace<f64>, case: &GoldenCase, config: Config) -> Outcome<f64> {
    let mesh = case.mesh()?;
    let at = |[s, x, y, r]: [usize; 4]| case.node_index(&mesh, s, x, y, r);
    let operator = ViscousOperator::<_, f64, L>::new(space, &mesh, config, |node| case.k[at(node)])?;
    let value = |list: &[Vec<f64>; 3], [c, s, x, y, r]: [usize; 5]| list[c][at([s, x, y, r])];
    let u = operator.vector_from("u", |index| value(&case.u, index))?;
    let expected = operator.vector_from("expected", |index| value(&case.au, index))?;
    let mut y = operator.new_vector("y")?;
    y.fill(f64::NAN)?;
    operator.apply(&u, &mut y, Mode::Replace)?;
    distance(space, &y, &expected)
}

/// Whether kernels are compared with the interpreter at this level with these boundary conditions: one for each is
/// enough where kernels are many, and the golden cases have more.
fn is_compared(level: u32, boundary: &str) -> bool {
    matches!((level, boundary), (2, "free-slip" | "neumann") | (3, "dirichlet"))
}

/// Compiles all kernels of this section.
fn precompile(context: &Context) -> Outcome {
    let mut all = Vec::new();
    for level in [2, 3] {
        for (_, boundary) in Boundary::NAMED.into_iter().filter(|(name, _)| is_compared(level, name)) {
            for named in kernels(level) {
                let config = Config { boundary, ..named.config };
                for (precision, layout) in [
                    (Precision::F64, LayoutChoice::X),
                    (Precision::F64, LayoutChoice::R),
                    (Precision::F32, LayoutChoice::X),
                    (Precision::Mixed, LayoutChoice::X),
                ] {
                    all.push(Choice { config, precision, layout });
                }
            }
        }
    }
    for (rule, boundary) in golden_files(context)?.iter().map(|(_, case)| kind(case)).collect::<Outcome<Vec<_>>>()? {
        for named in kernels(1).into_iter().filter(|named| named.config.variant.supports(rule)) {
            let config = Config { rule, boundary, ..named.config };
            all.extend(LayoutChoice::ALL.map(|layout| Choice { config, precision: Precision::F64, layout }));
        }
    }
    super::precompile::run(context, &all, 3)
}

/// Every kernel on the device against the same kernel under the interpreter.
fn interpreted<P: RealElement, E: RealElement, L: FieldLayout>(
    context: &Context,
    space: &CudaSpace<P>,
    level: u32,
    precision: &str,
    tolerance: f64,
    report: &mut Report,
) -> Outcome {
    let mesh = mesh(level)?;
    for (name, boundary) in Boundary::NAMED {
        if !is_compared(level, name) {
            continue;
        }
        for named in kernels(level) {
            if context.is_over() {
                println!("   the time ran out at level {level}, {precision}, {name}");
                return Ok(());
            }
            let config = Config { boundary, ..named.config };
            let error = (|| -> Outcome<f64> {
                let mut problem = Problem::<P, E, L>::new(space, &mesh, config)?;
                problem.apply()?;
                let count = CountSpace::<P>::new();
                let operator = ViscousOperator::<_, E, L>::new(&count, &mesh, config, viscosity)?;
                let (mut u, mut expected) = (operator.new_vector("u")?, operator.new_vector("expected")?);
                for (place, value) in u.as_mut_slice().iter_mut().enumerate() {
                    *value = E::from_f64(velocity(place));
                }
                operator.apply(&u, &mut expected, Mode::Replace)?;
                let mut on_device: Field<f64, L> = View::new(space.memory(), "expected", expected.extents())?;
                let host = View::<f64, 5, L>::from_fn("expected", expected.extents(), |i| expected.get(i).to_f64())?;
                deep_copy(&mut on_device, &host)?;
                space.fence()?;
                distance(&context.double, &problem.y, &on_device)
            })();
            let check = format!("interpreted {name}");
            let layout = L::LETTER.to_string();
            report.add([check, level.to_string(), layout, precision.into(), named.name], error, tolerance)?;
        }
    }
    Ok(())
}

/// A variant against sums over element matrices, at a sample of nodes of a large shell.
fn against_definition<L: FieldLayout>(context: &Context, report: &mut Report) -> Outcome {
    let level = 6;
    let mesh = mesh(level)?;
    for named in [configs::rungs().remove(2), configs::chosen(level).pop().ok_or("no kernel")?] {
        let config = named.config;
        let mut problem = Problem::<f64, f64, L>::new(&context.double, &mesh, config)?;
        problem.apply()?;
        let mut host = problem.y.mirror()?;
        deep_copy(&mut host, &problem.y)?;
        let definition = Definition {
            mesh: &mesh,
            rule: config.rule,
            boundary: config.boundary,
            k: viscosity,
            u: |index| velocity(host.offset(index)),
        };
        let [_, ns, nx, ny, nr] = problem.operator.vector_extents();
        let (mut apart, mut norm) = (0.0, 0.0);
        for i in 0..2000usize {
            let pick = |d: usize, extent: usize| i.wrapping_mul([7919, 104_729, 1_299_709, 15_485_863][d]) % extent;
            let node = [pick(0, ns), pick(1, nx), pick(2, ny), 1 + pick(3, nr - 2)];
            let [s, x, y, r] = node;
            for (c, expected) in definition.at_node(node).into_iter().enumerate() {
                apart += (host.get([c, s, x, y, r]) - expected).powi(2);
                norm += expected * expected;
            }
        }
        let cells = ["definition".into(), level.to_string(), L::LETTER.into(), "f64".into(), named.name];
        report.add(cells, Ok((apart / norm).sqrt()), 1e-13)?;
    }
    Ok(())
}

/// The marching kernel gives the same bits in every run.
fn same_bits(context: &Context, report: &mut Report) -> Outcome {
    let level = 5;
    let config = configs::marching(level);
    let mut problem = Problem::<f64, f64, LateralFastest>::new(&context.double, &mesh(level)?, config)?;
    problem.apply()?;
    let mut first = problem.operator.new_vector("first")?;
    deep_copy(&mut first, &problem.y)?;
    let mut largest = 0.0f64;
    for _ in 0..50 {
        problem.apply()?;
        largest = largest.max(distance(&context.double, &problem.y, &first)?);
    }
    let cells = ["same bits in 50 runs".into(), level.to_string(), "x".into(), "f64".into(), "marching".into()];
    report.add(cells, Ok(largest), f64::MIN_POSITIVE)
}
