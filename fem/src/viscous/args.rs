//! The arguments of all viscous kernels.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use farro_portability::{Access, Declared, Layout, LayoutRight, ReadOnly, RealElement, kernel_args};

kernel_args! {
    /// Views of the viscous operator: `E` is the storage type of fields, `L` their layout, `A` how `y` is written.
    pub struct ViscousArgs[E: RealElement, L: Layout, A: Access] {
        /// Velocity `[component, subdomain, x, y, r]`.
        u: View<E, 5, L, ReadOnly>,
        /// Viscosity `[subdomain, x, y, r]`.
        k: View<E, 4, L, ReadOnly>,
        /// Points of the unit sphere `[component, subdomain, y, x]`.
        points: View<f64, 4, LayoutRight, ReadOnly>,
        /// Radii `[subdomain, r]`.
        radii: View<f64, 2, LayoutRight, ReadOnly>,
        /// 2 r_mid / (3 Δr) and Δr / 24 of each radial layer, so that marching divides nothing: `[subdomain, r, 2]`.
        layers: View<f64, 3, LayoutRight, ReadOnly>,
        /// 1 where the inner (0) or outer (1) side of a subdomain lies on that surface of the shell: `[subdomain, side]`.
        surface: View<i32, 2, LayoutRight, ReadOnly>,
        /// What constrained nodes keep of their rows, see [`super::kept`]: `[component, subdomain, side, y, x]`.
        kept: View<f64, 5, LayoutRight, ReadOnly>,
        /// Result `[component, subdomain, x, y, r]`.
        y: View<E, 5, L, A>,
    }
}

/// The argument list of a kernel.
pub type ViscousArgSet<E, L, A> = ViscousArgs<Declared, E, L, A>;

/// Storage type `E` and layout `L` of the fields, as a constant of a kernel.
pub struct Fields<E, L>(PhantomData<fn() -> (E, L)>);

impl<E, L> Fields<E, L> {
    /// The only value.
    pub const fn new() -> Self {
        Fields(PhantomData)
    }
}
impl<E, L> Default for Fields<E, L> {
    fn default() -> Self {
        Self::new()
    }
}
impl<E, L> Clone for Fields<E, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E, L> Copy for Fields<E, L> {}
impl<E, L> fmt::Debug for Fields<E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fields")
    }
}
// The types are part of the kernel's type, which keys compiled code already.
impl<E, L> Hash for Fields<E, L> {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}
