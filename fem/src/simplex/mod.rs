//! Lagrange elements on triangles and tetrahedra: meshes, nodes, quadrature, numbering of unknowns.
//!
//! The reference simplex of dimension `d` has the vertices 0, e₁, …, e_d. A cell is the affine image of it; the vertices
//! of a cell are sorted by their number, so that cells which share an edge or a face run through its nodes in the same
//! order and need no table of orientations. Determinants may therefore be negative; measures are absolute values.

mod dofs;
mod element;
mod error;
mod gmsh;
mod mesh;
mod orthogonal;
mod quadrature;

pub use dofs::DofMap;
pub use element::{Lagrange, Table, max_degree, node_count};
pub use error::SimplexError;
pub use mesh::SimplexMesh;
pub use quadrature::{Quadrature, gauss_jacobi, tabulated_degree};
