//! The viscous operator's ladder on a CUDA device: every variant, with its error against another variant, as CSV.
//!
//! `cargo run --release -p farro-cuda --example viscous_ladder -- 5 6 7 8`. A time is one whole apply by CUDA events
//! (zero-fill, element kernel, constrained surfaces), the median of 9 after 2 warm-up runs with pauses between them;
//! fields are random, results are poisoned before the first run.

use farro_cuda::CudaSpace;
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::{
    Accumulator, Boundary, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, Rule, TileShape, Variant,
    ViscousError, ViscousOperator,
};
use farro_portability::{Element, LaunchError, RealElement, Space, View, deep_copy};
use std::time::Duration;

/// A random number in −0.5..0.5 for each index (SplitMix64 of the packed index).
fn random(index: &[usize]) -> f64 {
    let packed = index.iter().fold(1u64, |sum, &i| sum.wrapping_mul(0x0001_0001_0000_0057).wrapping_add(i as u64 + 1));
    let mut z = packed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

fn viscosity(node: [usize; 4]) -> f64 {
    10f64.powf(3.0 * random(&node))
}

type Field<L> = View<f64, 5, L>;

fn apply<P: RealElement, E: RealElement, L: FieldLayout>(
    space: &CudaSpace<P>,
    level: u32,
    config: Config,
    runs: usize,
) -> Result<(View<E, 5, L>, f64), ViscousError> {
    let mesh = ShellMesh::new(ShellSpec::level(level))
        .map_err(|e| ViscousError::Tunable { variant: "mesh", message: e.to_string() })?;
    let operator = ViscousOperator::<_, E, L>::new(space, &mesh, config, viscosity)?;
    // Values that 32 bits hold exactly, so that one reference serves all precisions.
    let u = operator.vector_from("u", |index| f64::from(random(&index) as f32))?;
    let mut y = operator.new_vector("y")?;
    y.fill(E::POISON)?;
    let mut times = Vec::new();
    for run in 0..runs + 2 {
        let ((), milliseconds) = space.time(|| {
            operator.apply(&u, &mut y, Mode::Replace).map_err(|error| match error {
                ViscousError::Launch(error) => error,
                error => LaunchError::Device {
                    kernel: config.variant.name().into(),
                    space: space.name(),
                    message: error.to_string(),
                },
            })
        })?;
        if run >= 2 {
            times.push(f64::from(milliseconds));
        }
        std::thread::sleep(Duration::from_millis(if level >= 8 { 20 } else { 1 }));
    }
    times.sort_by(f64::total_cmp);
    let mut host = y.mirror()?;
    deep_copy(&mut host, &y)?;
    Ok((host, times.get(times.len() / 2).copied().unwrap_or(f64::NAN)))
}

fn relative_error<E: RealElement, L: FieldLayout>(y: &View<E, 5, L>, reference: &Field<L>) -> f64 {
    let (mut difference, mut norm) = (0.0, 0.0);
    for (&y, &expected) in y.as_slice().iter().zip(reference.as_slice()) {
        difference += (Element::to_f64(y) - expected).powi(2);
        norm += expected.powi(2);
    }
    (difference / norm).sqrt()
}

fn row<P: RealElement, E: RealElement, L: FieldLayout>(
    space: &CudaSpace<P>,
    level: u32,
    name: &str,
    config: Config,
    reference: Option<&Field<L>>,
) {
    let layout = L::LETTER;
    match apply::<P, E, L>(space, level, config, 9) {
        Ok((y, milliseconds)) => {
            let dofs = 3.0 * (10.0 * 4f64.powi(level as i32) + 2.0) * (2f64.powi(level as i32 - 1) + 1.0);
            let throughput = dofs / milliseconds / 1e6;
            let error = reference.map_or(String::new(), |reference| format!("{:.2e}", relative_error(&y, reference)));
            println!("{level},{layout},{name},{milliseconds:.4},{throughput:.2},{error}");
        }
        Err(error) => println!("{level},{layout},{name},,,\"does not launch: {error}\""),
    }
}

fn main() {
    let spaces = CudaSpace::<f64>::new(0).and_then(|f64s| Ok((f64s, CudaSpace::<f32>::new(0)?)));
    let (space, single) = match spaces {
        Ok(spaces) => spaces,
        Err(reason) => {
            println!("skipped: viscous_ladder: {reason}");
            return;
        }
    };
    let levels: Vec<u32> = std::env::args().skip(1).filter_map(|level| level.parse().ok()).collect();
    println!("# {}", space.name());
    println!("level,layout,variant,milliseconds,gdof_per_s,relative_error");
    for level in if levels.is_empty() { vec![5, 6] } else { levels } {
        let base = Config { boundary: Boundary::DIRICHLET, rule: Rule::OneByOne, ..Config::default() };
        let reference_config = Config { variant: Variant::ArReduc, ..base };
        let reference = |config| apply::<f64, f64, LateralFastest>(&space, level, config, 1).map(|(y, _)| y);
        let by_x = reference(reference_config).ok();
        let by_r = apply::<f64, f64, RadiusFastest>(&space, level, reference_config, 1).map(|(y, _)| y).ok();
        let (by_x, by_r) = (by_x.as_ref(), by_r.as_ref());
        for (threads, rows) in [(8, 2), (4, 2), (4, 1)] {
            for radial_blocks in if level >= 8 { vec![1] } else { vec![1, 2, 4] } {
                let config = Config { threads, rows, radial_blocks, lanes: Some(32), prefetch: true, ..base };
                let name = format!("marching {threads}x{rows} threads x rows; {radial_blocks} radial blocks");
                row::<f64, f64, LateralFastest>(&space, level, &name, config, by_x);
                if (threads, rows) == (8, 2) {
                    let open = Config { boundary: Boundary::NEUMANN, ..config };
                    row::<f64, f64, LateralFastest>(&space, level, &format!("{name}; neumann"), open, None);
                    row::<f32, f32, LateralFastest>(&single, level, &format!("{name}; f32"), config, by_x);
                    row::<f64, f32, LateralFastest>(&space, level, &format!("{name}; f32-f64"), config, by_x);
                    row::<f64, f64, RadiusFastest>(&space, level, &name, config, by_r);
                }
            }
        }
        let textbook = Config { variant: Variant::Textbook, ..base };
        row::<f64, f64, RadiusFastest>(
            &space,
            level,
            "textbook 3x2",
            Config { rule: Rule::ThreeByTwo, ..textbook },
            None,
        );
        row::<f64, f64, RadiusFastest>(&space, level, "textbook 1x1", textbook, by_r);
        row::<f64, f64, RadiusFastest>(&space, level, "arreduc 1x1", reference_config, by_r);
        for (tile, passes) in [((4, 4, 8), 1), ((4, 4, 16), 2), ((2, 2, 32), 1), ((2, 2, 32), 2), ((4, 4, 32), 4)] {
            let tile = TileShape { x: tile.0, y: tile.1, r: tile.2 };
            let shape = format!("{}x{}x{}", tile.x, tile.y, tile.r);
            if passes == 1 {
                let config = Config { variant: Variant::Shmem, tile, ..base };
                row::<f64, f64, RadiusFastest>(&space, level, &format!("shmem {shape}"), config, by_r);
            }
            for accumulator in Accumulator::ALL {
                let config = Config { variant: Variant::Tuned, tile, passes, accumulator, ..base };
                let name = format!("tuned {} {shape} {passes} passes", accumulator.name());
                row::<f64, f64, RadiusFastest>(&space, level, &name, config, by_r);
            }
        }
    }
}
