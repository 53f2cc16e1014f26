//! *Arreduc* (arithmetic reduced): a work item for each hex cell; strain of u at the point, then the test gradients.
//! No element matrix, symmetric stress, common factors hoisted.

use super::args::{Fields, ViscousArgSet, ViscousArgs};
use super::boundary::Boundary;
use super::cell::{Place, gather};
use super::cells::{CellKernel, scatter};
use super::wedge::{Rule, wedge_nodes};
use farro_portability::{Atomic, Layout, RealElement, Target};

/// The arithmetic-reduced kernel.
#[derive(Clone, Copy, Debug, Hash)]
pub struct ArReduc<F> {
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Storage type and layout of the fields.
    pub fields: F,
}

impl<E: RealElement, L: Layout> CellKernel for ArReduc<Fields<E, L>> {
    type Args = ViscousArgSet<E, L, Atomic>;
    const NAME: &'static str = "viscous_arreduc";

    #[inline(always)]
    fn run<T: Target>(&self, t: T, place: Place<T::Int>, args: &ViscousArgs<T, E, L, Atomic>) {
        let cell = gather(self.boundary, args, place);
        for wedge in 0..2 {
            let y = cell.wedge_result(wedge, self.rule);
            for (node, y) in wedge_nodes(wedge).into_iter().zip(y) {
                scatter(t, args, place, node, cell.constrained(node, y));
            }
        }
    }
}
