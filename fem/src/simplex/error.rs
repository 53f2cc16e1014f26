//! What can be wrong with an element, a mesh or a mesh file.

use std::path::PathBuf;

/// Why an element or a mesh cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimplexError {
    /// The dimension is not one that has simplices here.
    #[error("dimension {asked} is not possible; 2 (triangles) and 3 (tetrahedra) are")]
    Dimension {
        /// What was asked.
        asked: usize,
    },
    /// The degree is outside the supported range.
    #[error("degree {asked} is not possible in dimension {dimension}; 1 to {limit} are")]
    Degree {
        /// What was asked.
        asked: usize,
        /// The dimension.
        dimension: usize,
        /// Highest degree.
        limit: usize,
    },
    /// A quadrature rule of a very high degree.
    #[error("quadrature of degree {asked} is not possible; degrees up to {limit} are")]
    QuadratureDegree {
        /// What was asked.
        asked: usize,
        /// Highest degree.
        limit: usize,
    },
    /// A unit mesh with no cells, or more than can be numbered.
    #[error("a unit mesh of {asked} divisions a side is not possible in dimension {dimension}; 1 to {limit} are")]
    Divisions {
        /// What was asked.
        asked: usize,
        /// The dimension.
        dimension: usize,
        /// Most divisions.
        limit: usize,
    },
    /// A list whose length is no multiple of what one entry needs.
    #[error("{what}: {found} numbers given, which is no multiple of {each}")]
    Length {
        /// Coordinates or cells.
        what: &'static str,
        /// Numbers given.
        found: usize,
        /// Numbers of one entry.
        each: usize,
    },
    /// The mesh has no cells.
    #[error("the mesh has no {0}")]
    Empty(&'static str),
    /// A cell names a vertex that does not exist.
    #[error("cell {cell} names vertex {vertex}; there are {vertices} vertices, numbered from 0")]
    Vertex {
        /// The cell.
        cell: usize,
        /// The vertex.
        vertex: u64,
        /// Number of vertices.
        vertices: usize,
    },
    /// A cell names a vertex twice.
    #[error("cell {cell} names vertex {vertex} twice")]
    RepeatedVertex {
        /// The cell.
        cell: usize,
        /// The vertex.
        vertex: u32,
    },
    /// A coordinate is not a finite number.
    #[error("vertex {vertex}: coordinate {value} is not a finite number")]
    Coordinate {
        /// The vertex.
        vertex: usize,
        /// The value.
        value: f64,
    },
    /// A cell without a volume.
    #[error("cell {cell} is degenerate: its vertices span a volume of {volume:e} only")]
    Degenerate {
        /// The cell.
        cell: usize,
        /// Its signed volume.
        volume: f64,
    },
    /// A cell whose vertices are in the wrong order.
    #[error(
        "cell {cell} is inverted: its signed volume is {volume:e}; swap two of its vertices (in gmsh, reverse the surface or volume)"
    )]
    Inverted {
        /// The cell.
        cell: usize,
        /// Its signed volume.
        volume: f64,
    },
    /// Three cells meet at one facet.
    #[error("cell {cell} shares a facet with two other cells; at most two may meet there")]
    Facet {
        /// The third cell.
        cell: usize,
    },
    /// More unknowns than the integers of the map can number.
    #[error("{nodes} nodes cannot be numbered with {bits}-bit integers; use 64-bit maps or a smaller mesh")]
    Numbering {
        /// Nodes.
        nodes: usize,
        /// Bits of the integer type.
        bits: usize,
    },
    /// An order that is no permutation.
    #[error("the order of {what} is no permutation of 0..{len}")]
    Permutation {
        /// Cells or vertices.
        what: &'static str,
        /// Entries needed.
        len: usize,
    },
    /// A mesh file that cannot be read from disk.
    #[error("cannot read {}: {reason}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A mesh file whose text is not what the format asks for.
    #[error("{file}, line {line}: {message}")]
    Gmsh {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What was found and what is needed.
        message: String,
    },
}
