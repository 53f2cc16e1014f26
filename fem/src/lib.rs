//! Finite elements on farro.
//!
//! Meshes of the thick spherical shell, coefficients, boundary conditions and operators as objects. All mathematics is
//! generic over [`farro_portability::Real`]; this crate names no backend.
#![deny(missing_docs)]

pub mod exchange;
pub mod golden;
pub mod laws;
pub mod mesh;
pub mod schedule;
pub mod simplex;
pub mod viscosity;
pub mod viscous;
pub mod vtu;
pub mod weak;

mod replace_file;
