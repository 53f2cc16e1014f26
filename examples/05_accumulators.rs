//! Where results accumulate: counting what each choice costs, before any device is there. Builds on 04.
//!
//! Cells share nodes, so somebody must add up. The tuned variant can add each wedge's values to global memory atomically,
//! collect the 24 values of a hex cell first, or collect a whole tile in team scratch. The count target runs the kernels
//! and says exactly how many atomic updates remain; which choice is fastest is for the device to decide.

use farro::backends::count::CountSpace;
use farro::fem::mesh::{ShellMesh, ShellSpec};
use farro::fem::viscous::{Accumulator, Boundary, Config, Mode, RadiusFastest, TileShape, Variant, ViscousOperator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let space = CountSpace::<f64>::new();
    // One tile of 4 by 4 by 32 cells in each of the ten diamonds.
    let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(32), ..ShellSpec::level(2) })?;
    let base = Config {
        variant: Variant::Tuned,
        boundary: Boundary::NEUMANN,
        tile: TileShape { x: 4, y: 4, r: 32 },
        ..Config::default()
    };
    let mut operator = ViscousOperator::<_, f64, RadiusFastest>::new(&space, &mesh, base, |_| 1.0)?;
    let u = operator.vector_from("u", |[c, s, x, y, r]| ((c + s + 2 * x + 3 * y + 5 * r) % 7) as f64)?;
    let mut y = operator.new_vector("y")?;
    println!("accumulator  atomic updates of a tile  updates of scratch");
    for (accumulator, expected) in Accumulator::ALL.into_iter().zip([18_432, 12_288, 2_475]) {
        operator = operator.with_config(Config { accumulator, ..base })?;
        space.reset();
        operator.apply(&u, &mut y, Mode::Replace)?;
        let counts = space.reset();
        let (global, scratch) = (counts.global.atomics.elements / 10, counts.scratch[0].atomics.elements / 10);
        println!("{:11}  {global:24}  {scratch:18}", accumulator.name());
        assert_eq!(global, expected);
    }
    Ok(())
}
