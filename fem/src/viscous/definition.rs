//! The operator by its definition: sums over the element matrices that touch a node, in plain `f64` and without any
//! kernel. Slow, and what everything fast is compared with.

use super::boundary::{Boundary, Condition};
use super::physics::{gradients, matrix_entry, viscosity_at};
use super::wedge::{Rule, WEDGE_CORNERS, cell_node};
use crate::mesh::ShellMesh;

/// An operator's data: viscosity `k(s, x, y, r)` and velocity `u(component, s, x, y, r)`.
pub struct Definition<'a, K, U> {
    /// The mesh.
    pub mesh: &'a ShellMesh,
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// The viscosity.
    pub k: K,
    /// The velocity.
    pub u: U,
}

impl<K: Fn([usize; 4]) -> f64, U: Fn([usize; 5]) -> f64> Definition<'_, K, U> {
    fn condition(&self, s: usize, r: usize) -> Condition {
        let subdomain = self.mesh.subdomains()[s];
        if subdomain.inner && r == 0 {
            self.boundary.inner
        } else if subdomain.outer && r == self.mesh.cells()[2] {
            self.boundary.outer
        } else {
            Condition::Neumann
        }
    }

    /// Whether [`Definition::at_node`] can say what the result of a node is.
    pub fn is_free(&self, [s, _, _, r]: [usize; 4]) -> bool {
        self.condition(s, r) == Condition::Neumann
    }

    /// The velocity of a node without its constrained part.
    fn constrained_velocity(&self, [s, x, y, r]: [usize; 4]) -> [f64; 3] {
        let u = [0, 1, 2].map(|c| (self.u)([c, s, x, y, r]));
        match self.condition(s, r) {
            Condition::Neumann => u,
            Condition::Dirichlet => [0.0; 3],
            Condition::FreeSlip => {
                let n = self.mesh.point(s, x, y);
                let normal = u[0] * n[0] + u[1] * n[1] + u[2] * n[2];
                [0, 1, 2].map(|c| u[c] - normal * n[c])
            }
        }
    }

    /// The result at a node that has no condition, from the cells of its own subdomain.
    pub fn at_node(&self, [s, x, y, r]: [usize; 4]) -> [f64; 3] {
        let mesh = self.mesh;
        let [nx, ny, nr] = mesh.cells();
        let mut result = [0.0; 3];
        for corner in 0..8 {
            // The cell that has the node as this corner.
            let (i, j, l) = (corner % 2, corner / 2 % 2, corner / 4);
            let (Some(cx), Some(cy), Some(cr)) = (x.checked_sub(i), y.checked_sub(j), r.checked_sub(l)) else {
                continue;
            };
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
                let k = nodes.map(|node| (self.k)(node));
                let u = nodes.map(|node| self.constrained_velocity(node));
                for point in self.rule.points() {
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
}
