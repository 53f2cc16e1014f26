//! What constrained nodes keep of their rows: the diagonal times u for a given velocity, the normal part
//! n (nᵀ B n)(n · u) for a slipping one, B being the node's 3×3 block. The factors are computed once for each operator.

use super::args::{Fields, ViscousArgSet, ViscousArgs};
use super::boundary::{Boundary, Condition, Surfaces};
use super::node_block::{Shell, node_block, quadratic};
use super::physics::{Vector, dot, scale};
use super::wedge::Rule;
use farro_portability::{
    Access, Integer, Layout, LayoutRight, MdKernel, Predicate, ReadOnly, ReadWrite, RealElement, Target, array, each,
    inlined, kernel_args,
};

kernel_args! {
    /// Arguments of [`KeptFactors`].
    pub struct KeptArgs[E: RealElement, L: Layout] {
        /// Viscosity `[subdomain, x, y, r]`.
        k: View<E, 4, L, ReadOnly>,
        /// Points of the unit sphere `[component, subdomain, y, x]`.
        points: View<f64, 4, LayoutRight, ReadOnly>,
        /// Radii `[subdomain, r]`.
        radii: View<f64, 2, LayoutRight, ReadOnly>,
        /// The factors `[component, subdomain, side, y, x]`.
        kept: View<f64, 5, LayoutRight, ReadWrite>,
    }
}

/// Computes the factors. Runs over `[subdomain, side, y, x]`.
#[derive(Clone, Copy, Debug, Hash)]
pub struct KeptFactors<F> {
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Storage type and layout of the fields.
    pub fields: F,
}

impl<E: RealElement, L: Layout> MdKernel<4> for KeptFactors<Fields<E, L>> {
    type Args = KeptArgs<farro_portability::Declared, E, L>;
    const NAME: &'static str = "viscous_kept_factors";

    #[inline(always)]
    fn run<T: Target>(&self, t: T, [s, side, y, x]: [T::Int; 4], args: &KeptArgs<T, E, L>) {
        let last = args.radii.extent(1) - 1;
        let inner = side.equals(T::Int::from(0i32));
        let level = inner.select(T::Int::from(0i32), last);
        let shell = Shell { k: &args.k, points: &args.points, radii: &args.radii };
        let block = node_block(t, shell, self.rule, [s, x, y, level]);
        let n: Vector<T::Real> = array(
            #[inline(always)]
            |c| args.points.at([T::Int::from(c), s, y, x]),
        );
        let normal = quadratic(block, n);
        let slips = inlined(
            #[inline(always)]
            |side: usize| T::Predicate::lit(self.boundary.side(side) == Condition::FreeSlip),
        );
        let slips = (inner & slips(0)) | (!inner & slips(1));
        for c in 0..3 {
            args.kept.set([T::Int::from(c), s, side, y, x], slips.select(normal, block[c]));
        }
    }
}

/// What the node at `[subdomain, x, y]` on a constrained side keeps.
#[inline(always)]
pub fn kept_part<T: Target, E: RealElement, L: Layout, A: Access>(
    args: &ViscousArgs<T, E, L, A>,
    boundary: Boundary,
    side: usize,
    [s, x, y]: [T::Int; 3],
) -> Vector<T::Real> {
    let int = T::Int::from;
    let level = if side == 0 { int(0) } else { args.radii.extent(1) - 1 };
    let factor = inlined(
        #[inline(always)]
        |c: usize| args.kept.at([int(c), s, int(side), y, x]),
    );
    let u: Vector<T::Real> = array(
        #[inline(always)]
        |c| args.u.at([int(c), s, x, y, level]),
    );
    if boundary.side(side) == Condition::FreeSlip {
        let n: Vector<T::Real> = array(
            #[inline(always)]
            |c| args.points.at([int(c), s, y, x]),
        );
        scale(n, factor(0) * dot(n, u))
    } else {
        array(
            #[inline(always)]
            |c| factor(c) * u[c],
        )
    }
}

/// Adds what constrained nodes keep, after the element kernel. Runs over `[subdomain, side, y, x]`.
#[derive(Clone, Copy, Debug, Hash)]
pub struct AddKept<F> {
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Storage type and layout of the fields.
    pub fields: F,
}

impl<E: RealElement, L: Layout> MdKernel<4> for AddKept<Fields<E, L>> {
    type Args = ViscousArgSet<E, L, ReadWrite>;
    const NAME: &'static str = "viscous_add_kept";

    #[inline(always)]
    fn run<T: Target>(&self, t: T, [s, side, y, x]: [T::Int; 4], args: &ViscousArgs<T, E, L, ReadWrite>) {
        let surfaces = Surfaces::read(self.boundary, args, s);
        let on = inlined(
            #[inline(always)]
            |which: usize| {
                if let Some(touched) = surfaces.touches(which) {
                    t.when(
                        side.equals(T::Int::from(which)) & touched,
                        #[inline(always)]
                        || add_kept(args, self.boundary, which, [s, x, y], true),
                    );
                }
            },
        );
        on(0);
        on(1);
    }
}

/// Adds what one node keeps to its result; where the velocity is given and `adds` is not set, the result becomes that.
#[inline(always)]
pub fn add_kept<T: Target, E: RealElement, L: Layout>(
    args: &ViscousArgs<T, E, L, ReadWrite>,
    boundary: Boundary,
    side: usize,
    [s, x, y]: [T::Int; 3],
    adds: bool,
) {
    let adds = adds || boundary.side(side) == Condition::FreeSlip;
    let level = if side == 0 { T::Int::from(0i32) } else { args.radii.extent(1) - 1 };
    each(
        kept_part(args, boundary, side, [s, x, y]),
        #[inline(always)]
        |c, kept| {
            let index = [T::Int::from(c), s, x, y, level];
            args.y.set(index, if adds { args.y.at(index) + kept } else { kept });
        },
    );
}
