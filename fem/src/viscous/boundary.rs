//! Boundary conditions: what happens to velocities before and to results after the element work.
//!
//! A constrained node's rows and columns drop out, while its element diagonal stays, so that the operator is
//! invertible. Element kernels do the first part; `kept.rs` has the diagonal.

use super::args::ViscousArgs;
use super::physics::{Vector, add_scaled, dot};
use farro_portability::{Access, Integer, Layout, Predicate, Real, RealElement, Target, array};

/// A boundary condition of one surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// No condition.
    Neumann,
    /// The velocity is given.
    Dirichlet,
    /// The normal component is given, the tangential ones are free.
    FreeSlip,
}

/// Boundary conditions of the inner and the outer surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Boundary {
    /// At the core-mantle boundary.
    pub inner: Condition,
    /// At the surface.
    pub outer: Condition,
}

impl Boundary {
    /// No condition on either surface.
    pub const NEUMANN: Boundary = Boundary { inner: Condition::Neumann, outer: Condition::Neumann };
    /// The velocity is given on both surfaces.
    pub const DIRICHLET: Boundary = Boundary { inner: Condition::Dirichlet, outer: Condition::Dirichlet };
    /// Both surfaces slip freely.
    pub const FREE_SLIP: Boundary = Boundary { inner: Condition::FreeSlip, outer: Condition::FreeSlip };

    /// The names of the command line and of golden files, with what they mean.
    pub const NAMED: [(&'static str, Boundary); 5] = [
        ("neumann", Self::NEUMANN),
        ("dirichlet", Self::DIRICHLET),
        ("cmb", Boundary { inner: Condition::Dirichlet, outer: Condition::Neumann }),
        ("surface", Boundary { inner: Condition::Neumann, outer: Condition::Dirichlet }),
        ("free-slip", Self::FREE_SLIP),
    ];

    /// The condition of a side, 0 inner and 1 outer.
    #[inline(always)]
    pub fn side(self, side: usize) -> Condition {
        if side == 0 { self.inner } else { self.outer }
    }
    /// Whether a surface slips.
    #[inline(always)]
    pub fn slips(self) -> bool {
        self.inner == Condition::FreeSlip || self.outer == Condition::FreeSlip
    }
    /// Whether some surface has a condition.
    #[inline(always)]
    pub fn constrains(self) -> bool {
        self.inner != Condition::Neumann || self.outer != Condition::Neumann
    }
}

/// Which conditions hold on one level of nodes.
#[derive(Clone, Copy, Debug)]
pub struct LevelConstraint<R: Real> {
    dirichlet: Option<R::Predicate>,
    /// A factor 0 or 1.
    slip: Option<R>,
}

impl<R: Real> LevelConstraint<R> {
    /// No condition.
    pub const NONE: Self = LevelConstraint { dirichlet: None, slip: None };

    /// Where the velocity of the level is given, none if it is on no level.
    #[inline(always)]
    pub fn dirichlet(&self) -> Option<R::Predicate> {
        self.dirichlet
    }
    /// 1 where the level slips, none if no level does.
    #[inline(always)]
    pub fn slip(&self) -> Option<R> {
        self.slip
    }
    /// The vector without its constrained part; `normal` is asked only if a surface slips.
    #[inline(always)]
    pub fn apply(&self, u: Vector<R>, normal: impl FnOnce() -> Vector<R>) -> Vector<R> {
        let mut u = u;
        // A selection, because multiplications would wait for the pipes that the elements need.
        if let Some(given) = self.dirichlet {
            u = array(
                #[inline(always)]
                |c| given.select(R::zero(), u[c]),
            );
        }
        if let Some(factor) = self.slip {
            let normal = normal();
            u = add_scaled(normal, -(factor * dot(normal, u)), u);
        }
        u
    }
}

/// The constrained surfaces that a subdomain touches, read once.
#[derive(Clone, Copy, Debug)]
pub struct Surfaces<T: Target> {
    boundary: Boundary,
    /// For each side: whether the subdomain touches that surface; none where there is no condition.
    touched: [Option<T::Predicate>; 2],
    last: T::Int,
}

impl<T: Target> Surfaces<T> {
    /// Reads which surfaces a subdomain touches.
    #[inline(always)]
    pub fn read<E: RealElement, L: Layout, A: Access>(
        boundary: Boundary,
        args: &ViscousArgs<T, E, L, A>,
        subdomain: T::Int,
    ) -> Self {
        let touched = array(
            #[inline(always)]
            |side| {
                let is_constrained = boundary.side(side) != Condition::Neumann;
                is_constrained.then(
                    #[inline(always)]
                    || T::Int::from(0i32).lt(args.surface.at([subdomain, T::Int::from(side)])),
                )
            },
        );
        Surfaces { boundary, touched, last: args.radii.extent(1) - 1 }
    }
    /// Whether the subdomain touches the surface of a side; none if that has no condition.
    #[inline(always)]
    pub fn touches(&self, side: usize) -> Option<T::Predicate> {
        self.touched[side]
    }
    /// Whether node level `r` is constrained on a side.
    #[inline(always)]
    fn on_side(&self, side: usize, r: T::Int) -> Option<T::Predicate> {
        let level = if side == 0 { T::Int::from(0i32) } else { self.last };
        self.touched[side].map(
            #[inline(always)]
            |touched| touched & r.equals(level),
        )
    }
    /// Whether node level `r` is constrained; none if no level is.
    #[inline(always)]
    pub fn constrains(&self, r: T::Int) -> Option<T::Predicate> {
        match (self.on_side(0, r), self.on_side(1, r)) {
            (Some(inner), Some(outer)) => Some(inner | outer),
            (inner, outer) => inner.or(outer),
        }
    }
    /// The constraint of node level `r`.
    #[inline(always)]
    pub fn constraint(&self, r: T::Int) -> LevelConstraint<T::Real> {
        // Side by side without a loop, whose index would keep this structure in memory.
        self.with_side(0, r, self.with_side(1, r, LevelConstraint::NONE))
    }
    #[inline(always)]
    fn with_side(&self, side: usize, r: T::Int, constraint: LevelConstraint<T::Real>) -> LevelConstraint<T::Real> {
        let Some(here) = self.on_side(side, r) else { return constraint };
        match self.boundary.side(side) {
            Condition::FreeSlip => {
                let here = here.select(T::Real::one(), T::Real::zero());
                let slip = match constraint.slip {
                    None => here,
                    Some(other) => other + here,
                };
                LevelConstraint { slip: Some(slip), ..constraint }
            }
            _ => {
                let given = match constraint.dirichlet {
                    None => here,
                    Some(other) => other | here,
                };
                LevelConstraint { dirichlet: Some(given), ..constraint }
            }
        }
    }
}
