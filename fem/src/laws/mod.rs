//! Laws of operators, as a library that a user calls for an own operator or on an own backend.
//!
//! A law is a function that asks an operator for products and says by how much it fails. [`suite`] runs those that need
//! one operator; [`viscous_suite`] runs all laws of the viscous operator in all variants on a space:
//!
//! ```no_run
//! use farro_fem::viscous::LateralFastest;
//! # fn check<S: farro_portability::Space>(space: &S) {
//! let report = farro_fem::laws::viscous_suite::<S, f64, LateralFastest>(space, &Default::default());
//! println!("{report}");
//! report.assert();
//! # }
//! ```
//!
//! | law | what holds |
//! |---|---|
//! | [`linearity`] | A (a u + b v) = a A u + b A v |
//! | [`symmetry`] | v · A u = u · A v, each geometric node counted once |
//! | [`positivity`] | u · A u ≥ 0, and > 0 outside the null space |
//! | [`null_space`] | translations, rotations and what else is claimed have no result, after the exchange |
//! | [`patch_test`] | linear fields have no result inside, for a constant coefficient |
//! | [`copies_agree`] | copies of a node have the same bits after the exchange |
//! | [`replace_and_add`] | adding to y is replacing and then adding |
//! | [`repeatable`] | the same bits in every run, where claimed |
//! | [`assembled`] | A u is the product with the assembled element matrices |
//! | [`diagonal`] | the diagonal is e · A e and that of the assembled matrix |
//! | [`constrained_nodes`] | what is prescribed is decoupled, its rows are the element diagonal |
//! | [`nothing_outside`] | nothing but the fields is read or written |
//! | [`agreement`] | two operators give the same: variants, tiles, layouts, precisions, machines, splittings |
//! | [`same_bits`] | two operators give the same bits |
//!
//! An own operator implements [`Operator`]; [`ShellOperator`] does so for the viscous operator. Inputs are [`Sample`]s,
//! from a seed or from values (so that a property test can shrink them). Allowed differences are [`ROUNDINGS`] times the
//! spacing of numbers, relative to the norm of what is compared.

mod algebra;
mod compare;
mod guarded;
mod operator;
mod sample;
mod shell;
mod suites;

pub use algebra::{
    ROUNDINGS, Stop, Verdict, assembled, constrained_nodes, copies_agree, diagonal, linearity, null_space, outcome,
    patch_test, positivity, repeatable, replace_and_add, symmetry, tolerance,
};
pub use compare::{agreement, same_bits};
pub use farro_portability::conformance::{CaseReport, Outcome, Report};
pub use guarded::nothing_outside;
pub use operator::{Claims, ElementMatrix, Nodes, NullSpace, Operator, OperatorError};
pub use sample::{Sample, SplitMix};
pub use shell::{ShellOperator, arithmetic_epsilon};
pub use suites::{ViscousLaws, configurations, suite, viscous_suite};
