//! *Shmem*: a team for each tile; u, k, lateral coordinates and radii are staged in team scratch once and read from
//! there by all cells that touch them. Results are added to global memory atomically.

use super::args::{Fields, ViscousArgSet, ViscousArgs};
use super::boundary::Boundary;
use super::cells::scatter;
use super::layout::FieldLayout;
use super::tile::{Tile, TileShape};
use super::wedge::{Rule, wedge_nodes};
use farro_portability::{Atomic, Kernel, RealElement, Target};

/// The kernel with staged tiles.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Shmem<F> {
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Cells of a team.
    pub tile: TileShape,
    /// Storage type and layout of the fields.
    pub fields: F,
}

impl<E: RealElement, L: FieldLayout> Kernel for Shmem<Fields<E, L>> {
    type Args = ViscousArgSet<E, L, Atomic>;
    const NAME: &'static str = "viscous_shmem";

    #[inline(always)]
    fn run<T: Target>(&self, team: T, args: &ViscousArgs<T, E, L, Atomic>) {
        let tile = Tile::stage(team, args, self.boundary, self.tile);
        team.barrier();
        tile.for_each_column(
            1,
            #[inline(always)]
            |column| {
                tile.for_each_pass(
                    1,
                    column,
                    #[inline(always)]
                    |index| {
                        let staged = tile.cell(index, true);
                        for wedge in 0..2 {
                            let y = staged.cell.wedge_result(wedge, self.rule);
                            for (node, y) in wedge_nodes(wedge).into_iter().zip(y) {
                                scatter(team, args, tile.place(index), node, staged.constrained(node, y));
                            }
                        }
                    },
                );
            },
        );
    }
}
