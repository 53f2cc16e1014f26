//! *Textbook*: a work item for each hex cell forms the element matrix of each wedge, entry by entry, and adds its
//! product with u to the result, one atomic update for each node and component of each wedge.

use super::args::{Fields, ViscousArgSet, ViscousArgs};
use super::boundary::Boundary;
use super::cell::{Place, gather};
use super::cells::CellKernel;
use super::physics::{gradients, matrix_entry, viscosity_at};
use super::wedge::{Rule, wedge_nodes};
use farro_portability::{Atomic, Layout, Real, RealElement, Target};

/// The textbook kernel.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Textbook<F> {
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Storage type and layout of the fields.
    pub fields: F,
}

impl<E: RealElement, L: Layout> CellKernel for Textbook<Fields<E, L>> {
    type Args = ViscousArgSet<E, L, Atomic>;
    const NAME: &'static str = "viscous_textbook";

    #[inline(always)]
    fn run<T: Target>(&self, t: T, place: Place<T::Int>, args: &ViscousArgs<T, E, L, Atomic>) {
        let cell = gather(self.boundary, args, place);
        for wedge in 0..2 {
            let (u, k) = cell.wedge_fields(wedge);
            let mut y = [[T::Real::zero(); 3]; 6];
            for point in self.rule.points() {
                let (g, volume) = gradients(point, cell.wedge_points(wedge), cell.radii);
                let kappa = viscosity_at(point, &k) * volume;
                for i in 0..6 {
                    for alpha in 0..3 {
                        for j in 0..6 {
                            for beta in 0..3 {
                                let entry = matrix_entry(kappa, g[i], g[j], alpha, beta);
                                y[i][alpha] = entry.mul_add(u[j][beta], y[i][alpha]);
                            }
                        }
                    }
                }
            }
            for (node, y) in wedge_nodes(wedge).into_iter().zip(y) {
                super::cells::scatter(t, args, place, node, cell.constrained(node, y));
            }
        }
    }
}
