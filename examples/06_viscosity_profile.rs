//! A radial viscosity profile, from a table to a coefficient. Builds on 05.
//!
//! A table names its columns: one of radius_m, radius_km, depth_m, depth_km, and viscosity_pa_s. Two rows at one depth are
//! a jump. Errors name the line.

use farro::backends::host::HostSpace;
use farro::fem::mesh::{ShellMesh, ShellSpec};
use farro::fem::viscosity::Profile;
use farro::fem::viscous::{Config, LateralFastest, Mode, ViscousOperator};
use farro::portability::Space;

const TABLE: &str = "\
# A stiff lid on a weak mantle.
depth_km;viscosity_pa_s;layer
0;1e23;lid
100;1e23;lid
100;1e20;mantle
2891;1e21;mantle
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profile = Profile::parse("lid.csv", TABLE)?;
    let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(16), ..ShellSpec::level(3) })?;
    let (inner, outer) = (mesh.inner_radius(), mesh.outer_radius());
    for r in [0, 8, 15, 16] {
        let radius = mesh.radius(0, r);
        println!("radius {radius:.3}: k = {:.3}", profile.nondimensional(radius, inner, outer)?);
    }
    // The coefficient depends on the level only, so it is looked up once a level.
    let levels: Vec<f64> =
        (0..=16).map(|r| profile.nondimensional(mesh.radius(0, r), inner, outer)).collect::<Result<_, _>>()?;
    assert!(levels[16] / levels[8] > 100.0, "the lid is stiff");

    let space = HostSpace::<f64>::new()?;
    let k = |[_, _, _, r]: [usize; 4]| levels[r];
    let operator = ViscousOperator::<_, f64, LateralFastest>::new(&space, &mesh, Config::default(), k)?;
    let u = operator.vector_from("u", |[c, _, x, y, r]| ((c + x + 2 * y + 3 * r) % 5) as f64)?;
    let mut y = operator.new_vector("y")?;
    operator.apply(&u, &mut y, Mode::Replace)?;
    space.fence()?;
    println!(
        "A u at a node in the mantle and at one below the lid: {:.2e}, {:.2e}",
        y.get([0, 0, 4, 4, 4]),
        y.get([0, 0, 4, 4, 15])
    );

    let hole = TABLE.replace("100;1e20;mantle", "100;;mantle");
    println!("a table with a hole: {}", Profile::parse("hole.csv", &hole).expect_err("a missing value"));
    Ok(())
}
