//! What a result is compared with.
//!
//! Small problems: all values of the textbook variant in f64. Large ones: values at some nodes, from the definition of
//! the operator (sums over the element matrices that touch the node), in plain scalar f64 and without any kernel.

use super::error::CliError;
use super::measure::{Keep, Measure};
use super::options::{LayoutChoice, Precision};
use super::problem::Problem;
use super::target::{self, Backend, Target};
use farro_fem::viscous::physics::{gradients, matrix_entry, viscosity_at};
use farro_fem::viscous::wedge::{WEDGE_CORNERS, cell_node};
use farro_fem::viscous::{Boundary, Condition, Config, Rule, Variant};

/// All values of the textbook variant in f64, on the host.
///
/// # Errors
/// When memory is exhausted.
pub fn textbook(problem: &Problem, rule: Rule, boundary: Boundary) -> Result<Vec<f64>, CliError> {
    let configs = [Config { variant: Variant::Textbook, rule, boundary, ..Config::default() }];
    let job = Measure { problem, configs: &configs, repeat: 0, budget: 0.0, keep: Keep::All, progress: &|_| () };
    let measured = target::run(&Target::new(Backend::Host), Precision::F64, LayoutChoice::X, &job)?;
    let applied = measured.applied.into_iter().next().unwrap_or_else(|| Ok(Default::default()));
    Ok(applied?.values)
}

/// The condition of a level of a subdomain.
fn condition(problem: &Problem, boundary: Boundary, s: usize, r: usize) -> Condition {
    let subdomain = problem.mesh.subdomains()[s];
    if subdomain.inner && r == 0 {
        boundary.inner
    } else if subdomain.outer && r == problem.mesh.cells()[2] {
        boundary.outer
    } else {
        Condition::Neumann
    }
}

/// Whether [`at_node`] can say what the result of a node is.
pub fn is_free(problem: &Problem, boundary: Boundary, [s, _, _, r]: [usize; 4]) -> bool {
    condition(problem, boundary, s, r) == Condition::Neumann
}

/// The velocity of a node without its constrained part.
fn constrained_velocity(problem: &Problem, boundary: Boundary, [s, x, y, r]: [usize; 4]) -> [f64; 3] {
    let u = [0, 1, 2].map(|c| problem.u([c, s, x, y, r]));
    match condition(problem, boundary, s, r) {
        Condition::Neumann => u,
        Condition::Dirichlet => [0.0; 3],
        Condition::FreeSlip => {
            let n = problem.mesh.point(s, x, y);
            let normal = u[0] * n[0] + u[1] * n[1] + u[2] * n[2];
            [0, 1, 2].map(|c| u[c] - normal * n[c])
        }
    }
}

/// The result at a node that has no condition, from the cells of its own subdomain.
pub fn at_node(problem: &Problem, rule: Rule, boundary: Boundary, [s, x, y, r]: [usize; 4]) -> [f64; 3] {
    let mesh = &problem.mesh;
    let [nx, ny, nr] = mesh.cells();
    let mut result = [0.0; 3];
    for corner in 0..8 {
        // The cell that has the node as this corner.
        let (i, j, l) = (corner % 2, corner / 2 % 2, corner / 4);
        let (Some(cx), Some(cy), Some(cr)) = (x.checked_sub(i), y.checked_sub(j), r.checked_sub(l)) else { continue };
        if cx >= nx || cy >= ny || cr >= nr {
            continue;
        }
        let radii = [mesh.radius(s, cr), mesh.radius(s, cr + 1)];
        for corners in WEDGE_CORNERS {
            let nodes: [[usize; 4]; 6] = std::array::from_fn(|n| {
                let [a, b] = corners[n % 3];
                [s, cx + a, cy + b, cr + n / 3]
            });
            let Some(row) = (0..6).find(|&n| cell_node(corners[n % 3], n / 3) == corner) else { continue };
            let points = [0, 1, 2].map(|n| mesh.point(s, nodes[n][1], nodes[n][2]));
            let k = nodes.map(|node| problem.k(node));
            let u = nodes.map(|node| constrained_velocity(problem, boundary, node));
            for point in rule.points() {
                let (g, volume) = gradients(point, points, radii);
                let kappa = viscosity_at(point, &k) * volume;
                for column in 0..6 {
                    for (alpha, sum) in result.iter_mut().enumerate() {
                        for (beta, velocity) in u[column].iter().enumerate() {
                            let entry: f64 = matrix_entry(kappa, g[row], g[column], alpha, beta);
                            *sum += entry * velocity;
                        }
                    }
                }
            }
        }
    }
    result
}
