//! The viscous operator on the shell: for velocity u and viscosity k > 0,
//! `y_i = Σ_e ∫_e k (2 ε(u) : ε(φ_i) − (2/3) (div u)(div φ_i))`, ε(u) = (∇u + ∇uᵀ)/2.
//!
//! Each variant is a kernel in a small file of its own; the physics, the wedge, boundary conditions and staging are
//! shared. [`ViscousOperator`] puts them together.

pub mod args;
pub mod arreduc;
pub mod boundary;
pub mod cell;
pub mod cells;
pub mod config;
pub mod definition;
pub mod kept;
pub mod layout;
pub mod marching;
pub mod node_block;
pub mod operator;
pub mod physics;
pub mod shmem;
pub mod textbook;
pub mod tile;
pub mod tuned;
pub mod wedge;

pub use boundary::{Boundary, Condition};
pub use config::{Config, Variant, ViscousError};
pub use layout::{FieldLayout, LateralFastest, RadiusFastest};
pub use operator::{Mode, ViscousOperator};
pub use tile::TileShape;
pub use tuned::Accumulator;
pub use wedge::Rule;
