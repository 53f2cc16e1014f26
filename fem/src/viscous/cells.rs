//! A work item for each hex cell, without staging: how its kernels run over all cells, along the fastest index.

use super::args::{Fields, ViscousArgs};
use super::cell::{Place, corner};
use super::layout::FieldLayout;
use super::physics::Vector;
use farro_portability::{ArgSet, Layout, MdKernel, RealElement, Target, Updates};
use std::hash::Hash;

/// The body for one cell.
pub trait CellKernel: Clone + Hash + Sync + 'static {
    /// The argument list.
    type Args: ArgSet;
    /// The name.
    const NAME: &'static str;
    /// The body for the cell at `place`.
    fn run<T: Target>(&self, t: T, place: Place<T::Int>, args: &<Self::Args as ArgSet>::With<T>);
}

/// A [`CellKernel`] over the cells `[subdomain, …]` in the order of the layout of its fields.
#[derive(Clone, Debug, Hash)]
pub struct OverCells<K, F> {
    /// The body.
    pub body: K,
    /// The fields, whose fastest index comes last.
    pub fields: F,
}

impl<K: CellKernel, E: RealElement, L: FieldLayout> OverCells<K, Fields<E, L>> {
    /// Extents `[subdomains, x, y, r]` of cells in the order of the range.
    pub fn extents([s, x, y, r]: [usize; 4]) -> [usize; 4] {
        if L::LATERAL_FASTEST { [s, r, y, x] } else { [s, x, y, r] }
    }
}

impl<K: CellKernel, E: RealElement, L: FieldLayout> MdKernel<4> for OverCells<K, Fields<E, L>> {
    type Args = K::Args;
    const NAME: &'static str = K::NAME;
    #[inline(always)]
    fn run<T: Target>(&self, t: T, index: [T::Int; 4], args: &<Self::Args as ArgSet>::With<T>) {
        let [s, a, y, b] = if L::LATERAL_FASTEST { index } else { [index[0], index[3], index[2], index[1]] };
        self.body.run(t, [s, b, y, a], args);
    }
}

/// Adds a node's result atomically.
#[inline(always)]
pub fn scatter<T: Target, E: RealElement, L: Layout, A: Updates>(
    _t: T,
    args: &ViscousArgs<T, E, L, A>,
    [s, x, y, r]: Place<T::Int>,
    node: usize,
    result: Vector<T::Real>,
) {
    let [i, j] = corner(node % 4);
    for (c, value) in result.into_iter().enumerate() {
        args.y.add([T::Int::from(c), s, x + i as i64, y + j as i64, r + (node / 4) as i64], value);
    }
}
