//! The arguments of all action kernels.

use farro_portability::{Access, Atomic, Declared, IntElement, LayoutLeft, LayoutRight, ReadOnly, kernel_args};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

kernel_args! {
    /// Views of an action: `I` is the integer type of maps, `A` how results are written. Maps have cells fastest, since
    /// neighbouring work items serve neighbouring cells.
    pub struct ActionArgs[I: IntElement, A: Access] {
        /// Coordinates `[vertex, d]`.
        coordinates: View<f64, 2, LayoutRight, ReadOnly>,
        /// Vertices of cells `[cell, d + 1]`.
        vertices: View<I, 2, LayoutLeft, ReadOnly>,
        /// Nodes of cells `[cell, node]`.
        nodes: View<I, 2, LayoutLeft, ReadOnly>,
        /// Reference positions of quadrature points `[point, d]`.
        points: View<f64, 2, LayoutRight, ReadOnly>,
        /// Weights `[point]`.
        weights: View<f64, 1, LayoutRight, ReadOnly>,
        /// Values and derivatives of basis functions `[1 + d, point, node]`.
        matrices: View<f64, 3, LayoutRight, ReadOnly>,
        /// The unknown `[node, component]`.
        unknown: View<f64, 2, LayoutRight, ReadOnly>,
        /// Coefficient functions `[function, node, component]`; one element where there are none.
        coefficients: View<f64, 3, LayoutRight, ReadOnly>,
        /// Result `[node, component]`.
        y: View<f64, 2, LayoutRight, A>,
    }
}

/// The argument list of kernels that add atomically.
pub type ActionArgSet<I> = ActionArgs<Declared, I, Atomic>;

/// The integer type of maps, as a constant of a kernel.
pub struct Maps<I>(PhantomData<fn() -> I>);

impl<I> Maps<I> {
    /// The only value.
    pub const fn new() -> Self {
        Maps(PhantomData)
    }
}
impl<I> Default for Maps<I> {
    fn default() -> Self {
        Self::new()
    }
}
impl<I> Clone for Maps<I> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<I> Copy for Maps<I> {}
impl<I> fmt::Debug for Maps<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Maps")
    }
}
// The type is part of the kernel's type, which keys compiled code already.
impl<I> Hash for Maps<I> {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}
