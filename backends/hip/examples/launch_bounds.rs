//! What launch bounds cost on AMD devices: registers, spills and occupancy of the tuned operator for minB 1 to 8, as CSV
//! and SVG. No device is needed.
//!
//! `cargo run --release -p farro-hip --example launch_bounds -- benches/results` writes `hip-launch-bounds.csv` and `.svg`
//! to that folder.

use farro_backends::device::cache::{Cache, Location};
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::{Accumulator, Config, Mode, RadiusFastest, TileShape, Variant, ViscousOperator};
use farro_hip::{CompiledKernel, Compiler, OfflineSpace, Options};
use farro_portability::Bounds;
use plotters::prelude::*;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Work items of a team: four waves, one for each SIMD, so that minB is waves per SIMD by either meaning.
const TEAM: usize = 256;

struct Row {
    arch: &'static str,
    accumulator: Accumulator,
    /// 0: without bounds.
    min_blocks: usize,
    kernel: Arc<CompiledKernel>,
}

fn compile(
    compiler: &Compiler,
    arch: &'static str,
    accumulator: Accumulator,
    min_blocks: usize,
) -> Result<Row, Box<dyn Error>> {
    let space = OfflineSpace::<f64>::new(compiler.clone(), arch, Options::default());
    let mesh = ShellMesh::new(ShellSpec::level(3))?;
    let config = Config {
        variant: Variant::Tuned,
        accumulator,
        tile: TileShape { x: 4, y: 4, r: 16 },
        bounds: (min_blocks > 0).then_some(Bounds { max_threads: TEAM, min_blocks }),
        ..Config::default()
    };
    let operator = ViscousOperator::<_, f64, RadiusFastest>::new(&space, &mesh, config, |_| 1.0)?;
    let (u, mut y) = (operator.new_vector("u")?, operator.new_vector("y")?);
    operator.apply(&u, &mut y, Mode::Replace)?;
    let kernel = space.kernels().into_iter().find(|kernel| kernel.printed.kernel == "viscous_tuned");
    Ok(Row { arch, accumulator, min_blocks, kernel: kernel.ok_or("the kernel was not launched")? })
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "arch,accumulator,min_blocks,vgprs,agprs,sgprs,vgpr_spills,private_bytes,lds_bytes,waves_by_registers,\
         waves_per_simd,occupancy\n",
    );
    for row in rows {
        let (used, lds) = (&row.kernel.resources, row.kernel.printed.scratch_bytes[0]);
        let Some(occupancy) = row.kernel.occupancy() else { continue };
        let min_blocks = if row.min_blocks == 0 { "none".into() } else { row.min_blocks.to_string() };
        let _ = writeln!(
            text,
            "{},{},{min_blocks},{},{},{},{},{},{lds},{},{},{}",
            row.arch,
            row.accumulator.name(),
            used.vgprs,
            used.agprs,
            used.sgprs,
            used.vgpr_spills,
            used.private_bytes,
            occupancy.waves_by_registers,
            occupancy.waves_per_simd,
            occupancy.fraction,
        );
    }
    text
}

/// One panel for each architecture and quantity; without bounds at 0.
fn chart(rows: &[Row], file: &Path) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(file, (900, 720)).into_drawing_area();
    root.fill(&WHITE)?;
    type Quantity = fn(&CompiledKernel) -> f64;
    let quantities: [(&str, f64, Quantity); 3] = [
        ("vector registers", 200.0, |kernel| kernel.resources.vgprs.into()),
        ("registers spilled", 260.0, |kernel| kernel.resources.vgpr_spills.into()),
        ("waves per SIMD (registers, LDS)", 9.0, |kernel| kernel.occupancy().map_or(0.0, |o| o.waves_per_simd)),
    ];
    let panels = root.split_evenly((3, 2));
    for (row, (title, top, quantity)) in quantities.iter().enumerate() {
        for (column, arch) in ["gfx90a", "gfx942"].into_iter().enumerate() {
            let mut panel = ChartBuilder::on(&panels[2 * row + column])
                .caption(format!("{arch}: {title}"), ("sans-serif", 16))
                .margin(8)
                .x_label_area_size(28)
                .y_label_area_size(40)
                .build_cartesian_2d(0..8i32, 0.0..*top)?;
            panel.configure_mesh().x_desc("minB (0: no bounds), teams of 256").draw()?;
            for (accumulator, color) in [(Accumulator::Direct, BLUE), (Accumulator::HexCell, RED)] {
                let points: Vec<(i32, f64)> = rows
                    .iter()
                    .filter(|row| row.arch == arch && row.accumulator == accumulator)
                    .map(|row| (row.min_blocks as i32, quantity(&row.kernel)))
                    .collect();
                panel
                    .draw_series(LineSeries::new(points, color.stroke_width(2)).point_size(3))?
                    .label(accumulator.name())
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], color.stroke_width(2)));
            }
            panel.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
        }
    }
    root.present()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let compiler = match Compiler::new(Cache::open(Location::Default)) {
        Ok(compiler) => compiler,
        Err(reason) => {
            println!("skipped: launch_bounds: {reason}");
            return Ok(());
        }
    };
    let mut rows = Vec::new();
    for arch in ["gfx90a", "gfx942"] {
        for accumulator in [Accumulator::Direct, Accumulator::HexCell] {
            for min_blocks in 0..=8 {
                rows.push(compile(&compiler, arch, accumulator, min_blocks)?);
            }
        }
    }
    let text = format!("# {}\n{}", compiler.version(), table(&rows));
    print!("{text}");
    if let Some(folder) = std::env::args().nth(1) {
        let folder = Path::new(&folder);
        std::fs::write(folder.join("hip-launch-bounds.csv"), text)?;
        chart(&rows, &folder.join("hip-launch-bounds.svg"))?;
    }
    Ok(())
}
