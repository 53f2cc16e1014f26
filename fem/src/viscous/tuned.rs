//! *Tuned*: staged tiles with several radial passes a work item, the Jacobian kept or recomputed, separate paths for
//! tiles with and without constrained nodes, and a choice of where results accumulate.

use super::args::{Fields, ViscousArgSet, ViscousArgs};
use super::boundary::Boundary;
use super::cell::corner;
use super::cells::scatter;
use super::layout::FieldLayout;
use super::physics::{Duals, add, scaled_duals};
use super::tile::{StagedCell, Tile, TileShape, ordered};
use super::wedge::{Rule, WEDGE_CORNERS, wedge_nodes};
use farro_portability::{Atomic, Kernel, Predicate, Real, RealElement, ScratchView, Target, array};

/// Where the results of a cell's wedges accumulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulator {
    /// Nowhere: each wedge adds its 18 values to global memory atomically, 36 updates a cell.
    Direct,
    /// In 24 private values of the hex cell, added at its end: 24 updates a cell.
    HexCell,
    /// In team scratch; one update for each degree of freedom of the tile at its end.
    Tile,
}

/// The tuned kernel.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Tuned<F> {
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Cells of a team.
    pub tile: TileShape,
    /// Cells above each other that one work item serves; divides `tile.r`.
    pub passes: usize,
    /// Whether the dual bases of a column are kept between passes.
    pub keep_jacobian: bool,
    /// Where results accumulate.
    pub accumulator: Accumulator,
    /// Storage type and layout of the fields.
    pub fields: F,
}

impl<E: RealElement, L: FieldLayout> Kernel for Tuned<Fields<E, L>> {
    type Args = ViscousArgSet<E, L, Atomic>;
    const NAME: &'static str = "viscous_tuned";

    #[inline(always)]
    fn run<T: Target>(&self, team: T, args: &ViscousArgs<T, E, L, Atomic>) {
        let tile = Tile::stage(team, args, self.boundary, self.tile);
        let sums = (self.accumulator == Accumulator::Tile).then(
            #[inline(always)]
            || tile.accumulator(),
        );
        // One barrier for the staged fields and the zeros.
        team.barrier();
        // Both paths in one loop, so that compiled code may share them where that is better; a trace has both.
        let touches = tile.touches_constraint();
        for constrained in [false, true] {
            let chosen = match touches {
                None => T::Predicate::lit(!constrained),
                Some(touches) => {
                    if constrained {
                        touches
                    } else {
                        !touches
                    }
                }
            };
            team.when(
                chosen,
                #[inline(always)]
                || self.cells(team, args, &tile, sums.as_ref(), constrained),
            );
        }
        if let Some(sums) = sums {
            team.barrier();
            tile.for_each_node(
                #[inline(always)]
                |[a, b, c], [x, y, r]| {
                    for component in 0..3 {
                        let component = T::Int::from(component);
                        args.y.add([component, tile.place([a, b, c])[0], x, y, r], sums.at([component, a, b, c]));
                    }
                },
            );
        }
    }
}

impl<E: RealElement, L: FieldLayout> Tuned<Fields<E, L>> {
    #[inline(always)]
    fn cells<T: Target>(
        &self,
        team: T,
        args: &ViscousArgs<T, E, L, Atomic>,
        tile: &Tile<'_, T, E, L, Atomic>,
        sums: Option<&ScratchView<T, E, 4>>,
        constrained: bool,
    ) {
        // One-point lateral rules have one dual basis for each wedge of a column, worth keeping.
        let keep = self.keep_jacobian && self.rule != Rule::ThreeByTwo;
        tile.for_each_column(
            self.passes,
            #[inline(always)]
            |[i, j, first]| {
                let kept: Option<[Duals<T::Real>; 2]> = keep.then(
                    #[inline(always)]
                    || {
                        let points = tile.column_points(i, j);
                        let lateral = self.rule.points()[0].lateral;
                        array(
                            #[inline(always)]
                            |wedge| {
                                scaled_duals(
                                    array(
                                        #[inline(always)]
                                        |corner| {
                                            let [di, dj] = WEDGE_CORNERS[wedge][corner];
                                            points[di + 2 * dj]
                                        },
                                    ),
                                    lateral,
                                )
                            },
                        )
                    },
                );
                tile.for_each_pass(
                    self.passes,
                    [i, j, first],
                    #[inline(always)]
                    |index| {
                        let staged = tile.cell(index, constrained);
                        self.one_cell(team, args, tile, sums, index, &staged, kept.as_ref());
                    },
                );
            },
        );
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn one_cell<T: Target>(
        &self,
        team: T,
        args: &ViscousArgs<T, E, L, Atomic>,
        tile: &Tile<'_, T, E, L, Atomic>,
        sums: Option<&ScratchView<T, E, 4>>,
        index: [T::Int; 3],
        staged: &StagedCell<T::Real>,
        kept: Option<&[Duals<T::Real>; 2]>,
    ) {
        let mut cell_sums = [[T::Real::zero(); 3]; 8];
        for wedge in 0..2 {
            let y = match kept {
                Some(duals) => staged.cell.wedge_result_with(
                    wedge,
                    self.rule,
                    #[inline(always)]
                    |_| duals[wedge],
                ),
                None => staged.cell.wedge_result(wedge, self.rule),
            };
            for (node, y) in wedge_nodes(wedge).into_iter().zip(y) {
                match self.accumulator {
                    Accumulator::Direct => scatter(team, args, tile.place(index), node, staged.constrained(node, y)),
                    Accumulator::HexCell => cell_sums[node] = add(cell_sums[node], y),
                    Accumulator::Tile => {
                        let [di, dj] = corner(node % 4);
                        let [i, j, l] = index;
                        let [a, b, c] = ordered::<L, _>([i + di as i64, j + dj as i64, l + (node / 4) as i64]);
                        if let Some(sums) = sums {
                            for (component, value) in staged.constrained(node, y).into_iter().enumerate() {
                                sums.add([T::Int::from(component), a, b, c], value);
                            }
                        }
                    }
                }
            }
        }
        if self.accumulator == Accumulator::HexCell {
            for (node, y) in cell_sums.into_iter().enumerate() {
                scatter(team, args, tile.place(index), node, staged.constrained(node, y));
            }
        }
    }
}
