//! What can be wrong with a request for a mesh.

use thiserror::Error;

/// A mesh that cannot be built, and what would be possible instead.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The refinement level is outside the supported range.
    #[error(
        "mesh level {asked} asked for; levels 1 to {limit} are possible (a level quadruples the lateral memory, and \
         level {limit} already holds 4 GB of lateral coordinates)"
    )]
    Level {
        /// Level asked for.
        asked: u32,
        /// Highest level possible.
        limit: u32,
    },
    /// The number of radial cells is zero or beyond the supported range.
    #[error("{asked} radial cells asked for; 1 to {limit} are possible")]
    RadialCells {
        /// Radial cells asked for.
        asked: usize,
        /// Most radial cells possible.
        limit: usize,
    },
    /// A number of radial cells was given beside explicit radii of another count.
    #[error(
        "{cells} radial cells asked for but {radii} explicit radii given; {cells} cells need one radius more than \
         cells, or leave the number of cells out"
    )]
    RadiiCount {
        /// Radial cells asked for.
        cells: usize,
        /// Explicit radii given.
        radii: usize,
    },
    /// Fewer than two explicit radii.
    #[error("{found} radii given; a shell needs at least two, the inner and the outer one")]
    TooFewRadii {
        /// Radii given.
        found: usize,
    },
    /// A radius that is zero, negative or not finite.
    #[error("radius number {index} is {value}; radii must be positive and finite")]
    BadRadius {
        /// Position in the list of radii, from 0.
        index: usize,
        /// The radius.
        value: f64,
    },
    /// Radii that do not increase strictly.
    #[error("radius number {index} is {above}, not above the one before it, {below}; radii must increase strictly")]
    RadiiNotIncreasing {
        /// Position of the upper of the two radii, from 0.
        index: usize,
        /// The radius before it.
        below: f64,
        /// The radius at `index`.
        above: f64,
    },
    /// A split that does not divide the cells evenly.
    #[error(
        "{asked} {direction} splits asked for, which do not divide {cells} {direction} cells; use a divisor of {cells}"
    )]
    Splits {
        /// `"lateral"` or `"radial"`.
        direction: &'static str,
        /// Splits asked for.
        asked: usize,
        /// Cells to divide.
        cells: usize,
    },
    /// No lateral cells, or more than can be numbered.
    #[error("{asked} lateral cells a diamond asked for; 1 to {limit} are possible")]
    LateralCells {
        /// Lateral cells asked for.
        asked: usize,
        /// Most lateral cells possible.
        limit: usize,
    },
    /// A coordinate list of the wrong length.
    #[error(
        "unit-sphere component {component} has {found} values; ten diamonds of {lateral_cells} by {lateral_cells} \
         cells need {expected}"
    )]
    CoordinateCount {
        /// Component 0, 1 or 2.
        component: usize,
        /// Lateral cells a diamond.
        lateral_cells: usize,
        /// Values needed.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A coordinate that is not finite.
    #[error("unit-sphere component {component} of diamond {diamond}, node ({x}, {y}) is {value}; it must be finite")]
    BadCoordinate {
        /// Component 0, 1 or 2.
        component: usize,
        /// Diamond 0..10.
        diamond: usize,
        /// Lateral node along x.
        x: usize,
        /// Lateral node along y.
        y: usize,
        /// The coordinate.
        value: f64,
    },
    /// The mesh would need more memory than is sensible.
    #[error(
        "the mesh would hold {bytes} bytes of coordinates; at most {limit} are possible: use fewer splits or \
         a lower level"
    )]
    TooLarge {
        /// Bytes the coordinates would take.
        bytes: u128,
        /// Most bytes possible.
        limit: u128,
    },
}
