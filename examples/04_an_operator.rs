//! A new operator: the variable-coefficient Laplacian `y_i = Σ_e ∫_e k ∇u · ∇φ_i` on the shell, and its laws.
//! Builds on 03.
//!
//! The operator itself, from its arguments to its body, is the part between the two lines; everything geometric comes
//! from `farro::fem`. A work item takes one hex cell, works through its two wedges, and adds to y atomically, because
//! neighbouring cells share nodes.

use farro::backends::checked::CheckedSpace;
use farro::backends::host::HostSpace;
use farro::fem::mesh::{ShellMesh, ShellSpec};
use farro::fem::viscous::Rule;
use farro::fem::viscous::physics::{dot, gradients, viscosity_at};
use farro::fem::viscous::wedge::WEDGE_CORNERS;
use farro::portability::{array, prelude::*};

// ---------------------------------------------------------------------------------------------------------------------
kernel_args! {
    struct LaplaceArgs {
        u: View<f64, 4, LayoutRight, ReadOnly>,
        k: View<f64, 4, LayoutRight, ReadOnly>,
        points: View<f64, 4, LayoutRight, ReadOnly>,
        radii: View<f64, 2, LayoutRight, ReadOnly>,
        y: View<f64, 4, LayoutRight, Atomic>,
    }
}
#[derive(Clone, Hash)]
struct Laplace(Rule);
impl MdKernel<4> for Laplace {
    type Args = LaplaceArgs<Declared>;
    const NAME: &'static str = "laplace";
    fn run<T: Target>(&self, _t: T, [s, x, y, r]: [T::Int; 4], args: &LaplaceArgs<T>) {
        let radii = array(|side| args.radii.at([s, r + side as i64]));
        for corners in WEDGE_CORNERS {
            let node = |i: usize| {
                let [a, b] = corners[i % 3];
                [s, x + a as i64, y + b as i64, r + (i / 3) as i64]
            };
            let p = array(|i| array(|c| args.points.at([T::Int::from(c), s, node(i)[1], node(i)[2]])));
            let (u, k): ([T::Real; 6], [T::Real; 6]) = (array(|i| args.u.at(node(i))), array(|i| args.k.at(node(i))));
            for point in self.0.points() {
                let (g, volume) = gradients(point, p, radii);
                let slope: [T::Real; 3] = array(|c| (1..6).fold(g[0][c] * u[0], |sum, j| g[j][c].mul_add(u[j], sum)));
                let flux = viscosity_at(point, &k) * volume;
                for (i, gradient) in g.into_iter().enumerate() {
                    args.y.add(node(i), flux * dot(gradient, slope));
                }
            }
        }
    }
}
// ---------------------------------------------------------------------------------------------------------------------

/// Applies the operator to u, subdomain by subdomain.
fn apply<S: Space<Memory = HostMemory>>(
    space: &S,
    mesh: &ShellMesh,
    u: impl Fn([usize; 4]) -> f64,
) -> Result<View<f64, 4>, LaunchError> {
    let [nx, ny, nr] = mesh.cells();
    let subdomains = mesh.subdomains().len();
    let nodes = [subdomains, nx + 1, ny + 1, nr + 1];
    let u = View::<f64, 4>::from_fn("u", nodes, u)?;
    let k = View::<f64, 4>::from_fn("k", nodes, |[_, x, y, r]| 1.0 + ((x * 3 + y * 5 + r * 7) % 11) as f64)?;
    let points =
        View::<f64, 4>::from_fn("points", [3, subdomains, nx + 1, ny + 1], |[c, s, x, y]| mesh.point(s, x, y)[c])?;
    let radii = View::<f64, 2>::from_fn("radii", [subdomains, nr + 1], |[s, r]| mesh.radius(s, r))?;
    let mut y = View::<f64, 4>::new(&HostMemory, "y", nodes)?;
    let args = LaplaceArgs { u: u.read(), k: k.read(), points: points.read(), radii: radii.read(), y: y.update() };
    space.parallel_for_md(MdRangePolicy::new([subdomains, nx, ny, nr]), &Laplace(Rule::ThreeByTwo), args)?;
    space.fence()?;
    Ok(y)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mesh = ShellMesh::new(ShellSpec::level(2))?;
    let host = HostSpace::<f64>::new()?;
    let (f, g) = (
        |[s, x, y, r]: [usize; 4]| ((7 * s + 5 * x + 3 * y + 2 * r) % 13) as f64 - 6.0,
        |[s, x, y, r]: [usize; 4]| ((3 * s + 2 * x + 7 * y + 5 * r) % 17) as f64 - 8.0,
    );
    let product = |a: &View<f64, 4>, b: &dyn Fn([usize; 4]) -> f64| {
        let [ns, nx, ny, nr] = a.extents();
        let mut sum = 0.0;
        for place in 0..ns * nx * ny * nr {
            let node = [place / (nx * ny * nr), place / (ny * nr) % nx, place / nr % ny, place % nr];
            sum += a.get(node) * b(node);
        }
        sum
    };
    let (af, ag) = (apply(&host, &mesh, f)?, apply(&host, &mesh, g)?);
    let (left, right) = (product(&af, &g), product(&ag, &f));
    println!("symmetric: g.Af = {left:.12e}, f.Ag = {right:.12e}");
    assert!((left - right).abs() < 1e-12 * left.abs().max(1.0));
    println!("positive: f.Af = {:.3e}", product(&af, &f));
    assert!(product(&af, &f) > 0.0);
    let constant = apply(&host, &mesh, |_| 1.0)?;
    let largest = constant.as_slice().iter().fold(0.0f64, |most, value| most.max(value.abs()));
    println!("constants have no slope: |A 1| = {largest:.1e}");
    assert!(largest < 1e-12);
    let checked = apply(&CheckedSpace::<f64>::new(), &mesh, f)?;
    let difference = checked.as_slice().iter().zip(af.as_slice()).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    println!("free of races and bounds errors; differs from the host by {difference:.1e}");
    assert!(difference < 1e-11);
    Ok(())
}
