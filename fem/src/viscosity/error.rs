//! What can be wrong with a table of viscosities.

use std::io;
use thiserror::Error;

/// A table of viscosities that cannot be used. Each variant names the file and, where there is one, the line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// The reason.
        source: io::Error,
    },
    /// The file is not UTF-8 text.
    #[error("{file}:{line}: not UTF-8 text; save the table as UTF-8")]
    NotText {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// No header line, or no row below it.
    #[error("{file}:{line}: no {what} found; a table needs a header line and at least one row")]
    Empty {
        /// The file.
        file: String,
        /// The last line.
        line: usize,
        /// `"header"` or `"row"`.
        what: &'static str,
    },
    /// The header lacks a column.
    #[error("{file}:{line}: the header lacks a column {needed}; found: {found}")]
    MissingColumn {
        /// The file.
        file: String,
        /// The line of the header.
        line: usize,
        /// The column, or the columns of which one is needed.
        needed: &'static str,
        /// The header's columns.
        found: String,
    },
    /// The header has two columns for one quantity.
    #[error("{file}:{line}: columns '{first}' and '{second}' both give the {quantity}; keep one")]
    TwoColumns {
        /// The file.
        file: String,
        /// The line of the header.
        line: usize,
        /// `"radius"` or `"viscosity"`.
        quantity: &'static str,
        /// The first of the two columns.
        first: String,
        /// The second one.
        second: String,
    },
    /// An empty or missing cell in a needed column.
    #[error("{file}:{line}: column '{column}' is empty; every row needs a radius and a viscosity")]
    Hole {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The column.
        column: String,
    },
    /// A row with more cells than the header has columns.
    #[error(
        "{file}:{line}: {found} cells under a header of {expected} columns; is a cell holding the delimiter unquoted?"
    )]
    TooManyCells {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// Columns of the header.
        expected: usize,
        /// Cells of the row.
        found: usize,
    },
    /// A cell that is not a number.
    #[error(
        "{file}:{line}: column '{column}' holds '{found}', which is not a finite number (write decimals with a point)"
    )]
    BadNumber {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The column.
        column: String,
        /// The cell.
        found: String,
    },
    /// A viscosity that is not positive and finite.
    #[error("{file}:{line}: viscosity {value} Pa s; it must be positive and finite")]
    BadViscosity {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The viscosity.
        value: f64,
    },
    /// A radius outside the Earth.
    #[error(
        "{file}:{line}: column '{column}' holds {value}, a radius of {radius_km} km; possible are 0 to {surface_km} km \
         (is the unit right?)"
    )]
    OutsideEarth {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The column.
        column: String,
        /// The number in the cell.
        value: f64,
        /// The radius it means.
        radius_km: f64,
        /// Radius of the surface.
        surface_km: f64,
    },
    /// Three or more rows at one radius.
    #[error("{file}:{line}: a third row at radius {radius_km} km; one row gives a value, two give a jump")]
    ThirdAtRadius {
        /// The file.
        file: String,
        /// The line of the third row.
        line: usize,
        /// The radius.
        radius_km: f64,
    },
    /// A mesh radius that cannot be mapped to the mantle.
    #[error(
        "radius {radius} in a shell from {inner} to {outer} cannot be mapped: all must be finite, and the \
         shell not empty"
    )]
    BadMeshRadius {
        /// The mesh radius.
        radius: f64,
        /// Inner radius of the mesh.
        inner: f64,
        /// Outer radius of the mesh.
        outer: f64,
    },
}
