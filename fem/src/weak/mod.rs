//! Weak forms: a function at a point, written once, and the matrix-free operator on simplices that follows from it.
//!
//! A [`WeakForm`] says what is integrated, given values and gradients of the unknown (and of other functions) at a point:
//! the coefficients of the test function's value and gradient. [`WeakOperator`] applies it on any execution space, by a
//! [`Schedule`] that says how cells, points and basis functions are shared among work items.
//!
//! ```
//! use farro_fem::weak::{Jet, Uses, WeakForm};
//! use farro_portability::Real;
//!
//! /// ∇v · ∇u + c v u.
//! #[derive(Clone, Copy, Debug, Hash)]
//! struct Reaction;
//!
//! impl<const D: usize> WeakForm<D, 1, 1> for Reaction {
//!     const NAME: &'static str = "reaction";
//!     const READS: Uses = Uses::BOTH;
//!     const COEFFICIENTS: Uses = Uses::VALUE;
//!     const TESTS: Uses = Uses::BOTH;
//!     fn quadrature_degree(&self, p: usize) -> usize {
//!         3 * p
//!     }
//!     fn integrand<R: Real>(&self, _x: [R; D], u: &Jet<R, D, 1>, [c]: &[Jet<R, D, 1>; 1]) -> Jet<R, D, 1> {
//!         Jet { value: [c.value[0] * u.value[0]], gradient: u.gradient }
//!     }
//! }
//! # assert!(farro_fem::weak::check_form::<_, 2, 1, 1>(&Reaction).is_ok());
//! ```

mod args;
mod error;
mod form;
mod forms;
mod geometry;
mod laws;
mod operator;
mod reference;
mod schedule;
mod single;
mod solve;
mod tiled;
mod uses;

pub use args::{ActionArgs, Maps};
pub use error::WeakError;
pub use form::{Derivative, Jet, Uses, WeakForm};
pub use forms::{Elasticity, Helmholtz, Hyperelasticity, Laplace, Mass, StVenantKirchhoff};
pub use laws::{DiscreteForm, form_laws};
pub use operator::{NodalField, NodalFields, WeakOperator};
pub use reference::dense_action;
pub use schedule::{Schedule, Tiles};
pub use single::Single;
pub use solve::{Solved, l2_error, solve_cg};
pub use tiled::Tiled;
pub use uses::check_form;
