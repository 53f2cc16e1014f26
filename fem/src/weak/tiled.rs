//! Multi-level tiling: several work items share a cell, and the cells of a team share the matrices, which are staged in
//! scratch tile by tile.
//!
//! For each tile of quadrature points, functions are evaluated (rows are points, columns are basis functions), the form is
//! applied at each point, its results go to scratch, and the quadrature (rows are basis functions, columns are points)
//! adds to the result, once for each tile of points. One buffer holds the matrix tiles of both stages.

use super::args::{ActionArgSet, ActionArgs, Maps};
use super::form::{Uses, WeakForm};
use super::geometry::{KeptMap, cell_map, reference_point};
use super::schedule::Tiles;
use super::single::{function_at, jet_of, uses_of};
use farro_portability::{Atomic, IntElement, Integer, Kernel, Private, Real, ScratchLevel, ScratchView, Target};

/// The tiled schedule.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Tiled<F, M, const D: usize, const C: usize, const K: usize> {
    /// The form.
    pub form: F,
    /// Quadrature points.
    pub points: usize,
    /// Nodes of a cell.
    pub nodes: usize,
    /// The tiles.
    pub tiles: Tiles,
    /// The integer type of maps, [`Maps`].
    pub maps: M,
}

/// Tiles that cover an extent.
#[derive(Clone, Copy)]
struct Cover<I> {
    extent: I,
    tile: usize,
    /// Whether all tiles are full.
    even: bool,
}

impl<I: Integer> Cover<I> {
    /// Of an extent that is known.
    #[inline(always)]
    fn of(extent: usize, tile: usize) -> Self {
        Cover { extent: I::from(extent), tile, even: extent.is_multiple_of(tile) }
    }
    /// Number of tiles.
    #[inline(always)]
    fn count(self) -> I {
        (self.extent + (self.tile as i64 - 1)) / self.tile as i64
    }
    /// Entries of the tile that begins at `first`; a constant where all tiles are full.
    #[inline(always)]
    fn entries(self, first: I) -> I {
        if self.even { I::from(self.tile) } else { (self.extent - first).min(I::from(self.tile)) }
    }
    /// Tiles of the tile that begins at `first`.
    #[inline(always)]
    fn divided(self, first: I, tile: usize) -> Self {
        Cover { extent: self.entries(first), tile, even: self.even && self.tile.is_multiple_of(tile) }
    }
}

/// A matrix tile's rows, shared among the work items of a cell.
#[derive(Clone, Copy)]
struct Rows<I> {
    cover: Cover<I>,
    items: usize,
    /// Rows that the tile has.
    entries: I,
}

impl<I: Integer> Rows<I> {
    /// Calls `body(number, row)` for the rows of a work item.
    #[inline(always)]
    fn each<T: Target<Int = I, Predicate = I::Predicate>>(self, team: T, item: I, body: impl Fn(usize, I)) {
        for number in 0..self.cover.tile.div_ceil(self.items) {
            let row = item + (number * self.items) as i64;
            if self.cover.even && (number + 1) * self.items <= self.cover.tile {
                body(number, row);
            } else {
                team.when(
                    row.lt(self.entries),
                    #[inline(always)]
                    || body(number, row),
                );
            }
        }
    }
}

/// A work item's cell in the mesh and in the team, and its number in the cell.
#[derive(Clone, Copy)]
struct Place<I> {
    cell: I,
    local: I,
    item: I,
}

/// What a team has in scratch and private memory.
#[derive(Clone, Copy)]
struct Memory<T: Target, const D: usize> {
    /// A tile of each matrix.
    matrices: ScratchView<T, f64, 1>,
    weights: ScratchView<T, f64, 1>,
    /// What the form has at points `[number, cell, point]`.
    values: ScratchView<T, f64, 3>,
    map: KeptMap<T, D>,
    sums: Private<T>,
}

impl<F: WeakForm<D, C, K>, I: IntElement, const D: usize, const C: usize, const K: usize> Kernel
    for Tiled<F, Maps<I>, D, C, K>
{
    type Args = ActionArgSet<I>;
    const NAME: &'static str = F::NAME;
    #[inline(always)]
    fn run<T: Target>(&self, team: T, args: &ActionArgs<T, I, Atomic>) {
        let Tiles { points, evaluation_rows, evaluation_columns, quadrature_rows, quadrature_columns, cells, items } =
            self.tiles;
        let (reads, tests) = (Self::reads().matrices(D), F::TESTS.matrices(D));
        let largest = (reads * evaluation_rows * evaluation_columns).max(tests * quadrature_rows * quadrature_columns);
        let evaluated = evaluation_rows.div_ceil(items) * (1 + K) * C * reads;
        let level = ScratchLevel::Zero;
        let memory = Memory {
            matrices: team.scratch(level, "tile_matrices", [largest]),
            weights: team.scratch(level, "tile_weights", [points]),
            values: team.scratch(level, "tile_values", [C * tests, cells, points]),
            map: KeptMap::new(team, Self::reads().gradient || F::TESTS.gradient, F::POSITION),
            sums: team.private(evaluated.max(quadrature_rows.div_ceil(items) * C)),
        };
        self.each(
            team,
            args,
            #[inline(always)]
            |place| memory.map.set(&cell_map::<T, I, Atomic, D>(args, place.cell)),
        );
        let cover = Cover::of(self.points, points);
        team.repeat(
            cover.count(),
            #[inline(always)]
            |tile| self.tile(team, args, &memory, cover, tile * points as i64),
        );
    }
}

impl<F: WeakForm<D, C, K>, I: IntElement, const D: usize, const C: usize, const K: usize> Tiled<F, Maps<I>, D, C, K> {
    /// What is read of any function.
    #[inline(always)]
    const fn reads() -> Uses {
        F::READS.or(F::COEFFICIENTS)
    }

    /// One phase over the work items that serve a cell.
    #[inline(always)]
    fn each<T: Target>(&self, team: T, args: &ActionArgs<T, I, Atomic>, body: impl Fn(Place<T::Int>)) {
        let Tiles { cells, items, .. } = self.tiles;
        let lanes = team.vector_length();
        let padded = team.team_size() * lanes != cells * items;
        team.phase(
            #[inline(always)]
            |work| {
                let id = work.thread * lanes as i64 + work.lane;
                let local = id / items as i64;
                let cell = team.league_rank() * cells as i64 + local;
                let exists = cell.lt(args.nodes.extent(0));
                let serves = if padded { exists & id.lt(T::Int::from(cells * items)) } else { exists };
                team.when(
                    serves,
                    #[inline(always)]
                    || body(Place { cell, local, item: id % items as i64 }),
                );
            },
        );
    }

    /// The tile of quadrature points that begins at `first`.
    #[inline(always)]
    fn tile<T: Target>(
        &self,
        team: T,
        args: &ActionArgs<T, I, Atomic>,
        memory: &Memory<T, D>,
        points: Cover<T::Int>,
        first: T::Int,
    ) {
        team.for_each(
            points.entries(first),
            #[inline(always)]
            |q| memory.weights.set([q], args.weights.at([first + q])),
        );
        let rows = points.divided(first, self.tiles.evaluation_rows);
        team.repeat(
            rows.count(),
            #[inline(always)]
            |tile| self.evaluate(team, args, memory, first, rows, tile * rows.tile as i64),
        );
        let columns = points.divided(first, self.tiles.quadrature_columns);
        let rows = Cover::of(self.nodes, self.tiles.quadrature_rows);
        team.repeat(
            rows.count(),
            #[inline(always)]
            |tile| self.integrate(team, args, memory, [first, tile * rows.tile as i64], columns, rows),
        );
    }

    /// Sets the sums of a work item to zero.
    #[inline(always)]
    fn clear<T: Target>(&self, team: T, args: &ActionArgs<T, I, Atomic>, sums: Private<T>, count: usize) {
        self.each(
            team,
            args,
            #[inline(always)]
            |_| {
                for slot in 0..count {
                    sums.set(slot, T::Real::zero());
                }
            },
        );
    }

    /// Stages the tile of each matrix that `uses` names: points `point..point + points` and basis functions
    /// `node..node + nodes`, of which those below the second numbers exist. The one along which rows run has stride 1.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn stage<T: Target>(
        &self,
        team: T,
        args: &ActionArgs<T, I, Atomic>,
        buffer: ScratchView<T, f64, 1>,
        uses: Uses,
        [point, node]: [T::Int; 2],
        [points, nodes]: [(Cover<T::Int>, T::Int); 2],
        rows_are_points: bool,
    ) {
        team.barrier();
        let skipped = usize::from(!uses.value) as i64;
        let (rows, columns) = (points.0.tile as i64, nodes.0.tile as i64);
        team.for_each_md(
            [uses.matrices(D), points.0.tile, nodes.0.tile],
            #[inline(always)]
            |[m, q, n]| {
                let offset = if rows_are_points { (m * rows + q) * columns + n } else { (m * columns + n) * rows + q };
                let copy = farro_portability::inlined(
                    #[inline(always)]
                    || buffer.set([offset], args.matrices.at([m + skipped, point + q, node + n])),
                );
                if points.0.even && nodes.0.even {
                    copy();
                } else {
                    team.when(q.lt(points.1) & n.lt(nodes.1), copy);
                }
            },
        );
        team.barrier();
    }

    /// Evaluates all functions at a row tile of points and applies the form there.
    #[inline(always)]
    fn evaluate<T: Target>(
        &self,
        team: T,
        args: &ActionArgs<T, I, Atomic>,
        memory: &Memory<T, D>,
        first: T::Int,
        rows: Cover<T::Int>,
        row: T::Int,
    ) {
        let uses = Self::reads();
        let count = uses.matrices(D);
        let columns = Cover::of(self.nodes, self.tiles.evaluation_columns);
        let share = Rows { cover: rows, items: self.tiles.items, entries: rows.entries(row) };
        let slot = farro_portability::inlined(
            #[inline(always)]
            |number: usize, f: usize, c: usize, place: usize| ((number * (1 + K) + f) * C + c) * count + place,
        );
        self.clear(team, args, memory.sums, rows.tile.div_ceil(self.tiles.items) * (1 + K) * C * count);
        team.repeat(
            columns.count(),
            #[inline(always)]
            |tile| {
                let column = tile * columns.tile as i64;
                let extents = [(rows, share.entries), (columns, columns.entries(column))];
                self.stage(team, args, memory.matrices, uses, [first + row, column], extents, true);
                self.each(
                    team,
                    args,
                    #[inline(always)]
                    |place| {
                        team.repeat(
                            extents[1].1,
                            #[inline(always)]
                            |j| {
                                let node = args.nodes.at([place.cell, column + j]);
                                let mut unknown = [T::Real::zero(); C];
                                let mut coefficients = [[T::Real::zero(); C]; K];
                                for c in 0..C {
                                    unknown[c] = function_at(args, 0, node, c);
                                    for f in 0..K {
                                        coefficients[f][c] = function_at(args, f + 1, node, c);
                                    }
                                }
                                share.each(
                                    team,
                                    place.item,
                                    #[inline(always)]
                                    |number, r| {
                                        for m in 0..count {
                                            let offset = (r + (m * rows.tile) as i64) * columns.tile as i64 + j;
                                            let phi = memory.matrices.at([offset]);
                                            let is_value = uses.matrix(m) == 0;
                                            for f in 0..=K {
                                                let used = uses_of::<F, D, C, K>(f);
                                                if (is_value && !used.value) || (!is_value && !used.gradient) {
                                                    continue;
                                                }
                                                for c in 0..C {
                                                    let u = if f == 0 { unknown[c] } else { coefficients[f - 1][c] };
                                                    let k = slot(number, f, c, m);
                                                    memory.sums.set(k, phi.mul_add(u, memory.sums.get(k)));
                                                }
                                            }
                                        }
                                    },
                                );
                            },
                        );
                    },
                );
            },
        );
        self.each(
            team,
            args,
            #[inline(always)]
            |place| {
                let map = memory.map.get();
                share.each(
                    team,
                    place.item,
                    #[inline(always)]
                    |number, r| {
                        let q = row + r;
                        let jet = farro_portability::inlined(
                            #[inline(always)]
                            |f: usize| {
                                jet_of(
                                    uses,
                                    #[inline(always)]
                                    |part, c| memory.sums.get(slot(number, f, c, part)),
                                )
                            },
                        );
                        let unknown = jet(0);
                        let mut coefficients = [unknown; K];
                        for f in 0..K {
                            coefficients[f] = jet(f + 1);
                        }
                        let point = reference_point(args, first + q, F::POSITION);
                        let weight = memory.weights.at([q]);
                        let test = map.at_point(&self.form, point, weight, &unknown, &coefficients);
                        for m in 0..F::TESTS.matrices(D) {
                            for c in 0..C {
                                let matrix = F::TESTS.matrix(m);
                                let value = if matrix == 0 { test.value[c] } else { test.gradient[c][matrix - 1] };
                                let number = T::Int::from(m * C + c);
                                memory.values.set([number, place.local, q], value);
                            }
                        }
                    },
                );
            },
        );
    }

    /// Adds what a tile of points gives to a row tile of basis functions. `first` are the first point and basis function.
    #[inline(always)]
    fn integrate<T: Target>(
        &self,
        team: T,
        args: &ActionArgs<T, I, Atomic>,
        memory: &Memory<T, D>,
        [first, row]: [T::Int; 2],
        columns: Cover<T::Int>,
        rows: Cover<T::Int>,
    ) {
        let count = F::TESTS.matrices(D);
        let share = Rows { cover: rows, items: self.tiles.items, entries: rows.entries(row) };
        self.clear(team, args, memory.sums, rows.tile.div_ceil(self.tiles.items) * C);
        team.repeat(
            columns.count(),
            #[inline(always)]
            |tile| {
                let column = tile * columns.tile as i64;
                let extents = [(columns, columns.entries(column)), (rows, share.entries)];
                self.stage(team, args, memory.matrices, F::TESTS, [first + column, row], extents, false);
                self.each(
                    team,
                    args,
                    #[inline(always)]
                    |place| {
                        team.repeat(
                            extents[0].1,
                            #[inline(always)]
                            |j| {
                                for m in 0..count {
                                    let mut values = [T::Real::zero(); C];
                                    for c in 0..C {
                                        let number = T::Int::from(m * C + c);
                                        values[c] = memory.values.at([number, place.local, column + j]);
                                    }
                                    share.each(
                                        team,
                                        place.item,
                                        #[inline(always)]
                                        |number, r| {
                                            let offset = (r + (m * rows.tile) as i64) * columns.tile as i64 + j;
                                            let psi = memory.matrices.at([offset]);
                                            for c in 0..C {
                                                let k = number * C + c;
                                                memory.sums.set(k, psi.mul_add(values[c], memory.sums.get(k)));
                                            }
                                        },
                                    );
                                }
                            },
                        );
                    },
                );
            },
        );
        self.each(
            team,
            args,
            #[inline(always)]
            |place| {
                share.each(
                    team,
                    place.item,
                    #[inline(always)]
                    |number, r| {
                        let node = args.nodes.at([place.cell, row + r]);
                        for c in 0..C {
                            args.y.add([node, T::Int::from(c)], memory.sums.get(number * C + c));
                        }
                    },
                );
            },
        );
    }
}
