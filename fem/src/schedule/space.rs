//! The space of candidates.

use super::case::Case;
use crate::weak::{Schedule, Tiles};

/// Largest number of tiles into which the quadrature points are divided.
const MOST_POINT_TILES: usize = 13;
/// Most cells of a team, work items of a cell, and work items of a team.
const MOST_CELLS: usize = 69;
const MOST_ITEMS: usize = 19;
const MOST_WORK_ITEMS: usize = 256;
/// Work items of a sub-group.
const SUBGROUP: usize = 32;
/// The share of a sub-group's work items that must have work.
const LEAST_FILLED: f64 = 0.97;
/// The part of the larger stage's buffer that the smaller one must use.
const LEAST_ALIASING: f64 = 0.8;

/// `[cells, items]` of a team.
pub type Pairs = Vec<[usize; 2]>;

/// Cells of a team and work items of a cell that fill whole sub-groups: 90 pairs.
pub fn work_item_pairs() -> Pairs {
    let mut pairs = Vec::new();
    for cells in 1..=MOST_CELLS {
        for items in 1..=MOST_ITEMS {
            let all = cells * items;
            if all <= MOST_WORK_ITEMS && all as f64 / all.next_multiple_of(SUBGROUP) as f64 > LEAST_FILLED {
                pairs.push([cells, items]);
            }
        }
    }
    pairs
}

/// The distinct sizes of tiles that divide `extent` into 1 to `most` tiles.
fn sizes(extent: usize, most: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (1..=most).map(|tiles| extent.div_ceil(tiles)).collect();
    sizes.dedup();
    sizes
}

/// ⌈√n⌉
fn root(n: usize) -> usize {
    let floor = n.isqrt();
    floor + usize::from(floor * floor < n)
}

/// One tiled candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// Its parameters.
    pub tiles: Tiles,
}

impl Candidate {
    /// The schedule.
    pub fn schedule(&self) -> Schedule {
        Schedule::Tiled(self.tiles)
    }
    /// Bytes of local memory of a team: the larger of both stages' matrix tiles, weights, and values at points.
    pub fn local_bytes(&self, case: &Case) -> usize {
        let Tiles { points, evaluation_rows, evaluation_columns, quadrature_rows, quadrature_columns, cells, .. } =
            self.tiles;
        let evaluation = case.evaluation_matrices * evaluation_rows * evaluation_columns;
        let quadrature = case.quadrature_matrices * quadrature_rows * quadrature_columns;
        8 * (evaluation.max(quadrature) + points + cells * points * case.values_per_point())
    }
    /// Times that a team synchronises around a matrix tile.
    pub fn synchronisations(&self, case: &Case) -> usize {
        let tiles = self.tiles;
        let of = |points: usize| {
            case.nodes.div_ceil(tiles.quadrature_rows) * points.div_ceil(tiles.quadrature_columns)
                + points.div_ceil(tiles.evaluation_rows) * case.nodes.div_ceil(tiles.evaluation_columns)
        };
        case.points / tiles.points * of(tiles.points) + of(case.points % tiles.points)
    }
}

/// All candidates of a case. Apart from the tiled ones there is the one with one work item a cell.
#[derive(Clone, Debug)]
pub struct Space {
    /// Tiles with `cells` and `items` still open.
    tiles: Vec<Tiles>,
    pairs: Pairs,
    unbalanced: usize,
}

impl Space {
    /// The candidates of a case.
    pub fn of(case: &Case) -> Self {
        let (mut tiles, mut unbalanced) = (Vec::new(), 0);
        let node_sizes = sizes(case.nodes, root(case.nodes));
        for points in sizes(case.points, MOST_POINT_TILES) {
            // ⌈√T + 1⌉ − 1 tiles of rows and ⌈√T⌉ tiles of columns: the same number.
            let point_sizes = sizes(points, root(points));
            for &evaluation_rows in &point_sizes {
                for &evaluation_columns in &node_sizes {
                    for &quadrature_rows in &node_sizes {
                        for &quadrature_columns in &point_sizes {
                            let evaluation = case.evaluation_matrices * evaluation_rows * evaluation_columns;
                            let quadrature = case.quadrature_matrices * quadrature_rows * quadrature_columns;
                            let (least, most) = (evaluation.min(quadrature), evaluation.max(quadrature));
                            if (least as f64) < LEAST_ALIASING * most as f64 {
                                unbalanced += 1;
                                continue;
                            }
                            let (cells, items) = (1, 1);
                            tiles.push(Tiles {
                                points,
                                evaluation_rows,
                                evaluation_columns,
                                quadrature_rows,
                                quadrature_columns,
                                cells,
                                items,
                            });
                        }
                    }
                }
            }
        }
        Space { tiles, pairs: work_item_pairs(), unbalanced }
    }
    /// Number of candidates, the one with one work item a cell included.
    pub fn count(&self) -> usize {
        self.tiles.len() * self.pairs.len() + 1
    }
    /// Candidates that were left out because the stages would share their buffer badly.
    pub fn unbalanced(&self) -> usize {
        self.unbalanced * self.pairs.len()
    }
    /// The tiled candidates, in groups that differ in cells and work items only.
    pub fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = Candidate> + '_> + '_ {
        self.tiles.iter().map(|&tiles| {
            self.pairs.iter().map(move |&[cells, items]| Candidate { tiles: Tiles { cells, items, ..tiles } })
        })
    }
}
