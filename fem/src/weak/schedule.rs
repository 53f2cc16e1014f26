//! How the work of an action is shared among work items.

use super::error::WeakError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Sizes of the multi-level tiling. Rows and columns are those of the stage's matrix: points by basis functions when
/// functions are evaluated, basis functions by points in the quadrature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tiles {
    /// Quadrature points of a tile, T_Q.
    pub points: usize,
    /// Points of a row tile of the evaluation.
    pub evaluation_rows: usize,
    /// Basis functions of a column tile of the evaluation.
    pub evaluation_columns: usize,
    /// Basis functions of a row tile of the quadrature.
    pub quadrature_rows: usize,
    /// Points of a column tile of the quadrature.
    pub quadrature_columns: usize,
    /// Cells of a team, N_c.
    pub cells: usize,
    /// Work items of a cell, N_WI.
    pub items: usize,
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Q {} e {}x{} q {}x{} {} cells x {} items",
            self.points,
            self.evaluation_rows,
            self.evaluation_columns,
            self.quadrature_rows,
            self.quadrature_columns,
            self.cells,
            self.items
        )
    }
}

/// A schedule with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Schedule {
    /// One work item does all of a cell.
    Single {
        /// Cells of a team.
        cells: usize,
    },
    /// Several work items share a cell; matrices are staged tile by tile for the cells of a team.
    Tiled(Tiles),
}

impl Default for Schedule {
    /// One work item a cell, 32 cells a team.
    fn default() -> Self {
        Schedule::Single { cells: 32 }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Single { cells } => write!(f, "single, {cells} cells"),
            Schedule::Tiled(tiles) => write!(f, "tiled, {tiles}"),
        }
    }
}

/// Most work items of a team that any schedule may ask for.
const MAX_ITEMS: usize = 1024;

impl Schedule {
    /// Work items of a team.
    pub fn work_items(&self) -> usize {
        match self {
            Schedule::Single { cells } => *cells,
            Schedule::Tiled(tiles) => tiles.cells * tiles.items,
        }
    }
    /// Cells of a team.
    pub fn cells(&self) -> usize {
        match self {
            Schedule::Single { cells } => *cells,
            Schedule::Tiled(tiles) => tiles.cells,
        }
    }
    /// Refuses parameters that are out of range for `points` quadrature points and `nodes` basis functions.
    ///
    /// # Errors
    /// When a tile is empty or larger than what it divides, or a team is too large.
    pub fn check(&self, points: usize, nodes: usize) -> Result<(), WeakError> {
        let check = |parameter, value: usize, limit: usize| {
            if (1..=limit).contains(&value) {
                return Ok(());
            }
            Err(WeakError::Schedule { schedule: self.to_string(), parameter, value, limit })
        };
        match *self {
            Schedule::Single { cells } => check("cells", cells, MAX_ITEMS),
            Schedule::Tiled(tiles) => {
                check("points", tiles.points, points)?;
                check("evaluation rows", tiles.evaluation_rows, tiles.points)?;
                check("evaluation columns", tiles.evaluation_columns, nodes)?;
                check("quadrature rows", tiles.quadrature_rows, nodes)?;
                check("quadrature columns", tiles.quadrature_columns, tiles.points)?;
                check("cells", tiles.cells, MAX_ITEMS)?;
                check("items of a cell", tiles.items, MAX_ITEMS / tiles.cells)
            }
        }
    }
}
