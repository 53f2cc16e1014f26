//! Tiles of hex cells: a team stages the fields of its tile in scratch, then works on its cells from there.

use super::args::ViscousArgs;
use super::boundary::{Boundary, LevelConstraint, Surfaces};
use super::cell::{Cell, Place, corner};
use super::layout::FieldLayout;
use super::physics::Vector;
use farro_portability::{Access, Integer, Real, RealElement, ScratchLevel, ScratchView, Target, array, inlined};

/// The cells of a team: `x × y × r`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileShape {
    /// Cells along x.
    pub x: usize,
    /// Cells along y.
    pub y: usize,
    /// Cells along r.
    pub r: usize,
}

impl TileShape {
    /// Cells of a tile.
    pub fn cells(self) -> usize {
        self.x * self.y * self.r
    }
    /// Node extents.
    pub fn nodes(self) -> [usize; 3] {
        [self.x + 1, self.y + 1, self.r + 1]
    }
    /// Tiles that cover `[subdomains, x, y, r]` cells.
    pub fn league(self, [s, x, y, r]: [usize; 4]) -> usize {
        s * x.div_ceil(self.x) * y.div_ceil(self.y) * r.div_ceil(self.r)
    }
}

/// An index `[x, y, r]` in the order of layout `L` (fastest last), and back: the map is its own inverse.
#[inline(always)]
pub fn ordered<L: FieldLayout, I: Copy>([x, y, r]: [I; 3]) -> [I; 3] {
    if L::LATERAL_FASTEST { [r, y, x] } else { [x, y, r] }
}

/// A tile of a team with its staged fields. `E` is the storage type of scratch, the one of the fields.
pub struct Tile<'a, T: Target, E: RealElement, L: FieldLayout, A: Access> {
    team: T,
    args: &'a ViscousArgs<T, E, L, A>,
    surfaces: Surfaces<T>,
    /// First cell.
    first: Place<T::Int>,
    /// Cells of the subdomain along x, y, r.
    cells: [T::Int; 3],
    shape: TileShape,
    u: ScratchView<T, E, 4>,
    k: ScratchView<T, E, 3>,
    points: ScratchView<T, f64, 3>,
    radii: ScratchView<T, f64, 1>,
}

impl<'a, T: Target, E: RealElement, L: FieldLayout, A: Access> Tile<'a, T, E, L, A> {
    /// Finds the team's tile and stages it. A barrier must follow before cells are read.
    #[inline(always)]
    pub fn stage(team: T, args: &'a ViscousArgs<T, E, L, A>, boundary: Boundary, shape: TileShape) -> Self {
        let cells = [args.k.extent(1) - 1, args.k.extent(2) - 1, args.k.extent(3) - 1];
        let extents = [shape.x, shape.y, shape.r];
        let mut rest = team.league_rank();
        let mut first = [rest; 4];
        for d in [2, 1, 0] {
            let tile = extents[d] as i64;
            let tiles = (cells[d] + (tile - 1)) / tile;
            first[d + 1] = (rest % tiles) * tile;
            rest = rest / tiles;
        }
        first[0] = rest;
        let nodes = shape.nodes();
        let [a, b, c] = ordered::<L, _>(nodes);
        let scratch = ScratchLevel::Zero;
        let tile = Tile {
            team,
            args,
            surfaces: Surfaces::read(boundary, args, rest),
            first,
            cells,
            shape,
            u: team.scratch(scratch, "tile_u", [3, a, b, c]),
            k: team.scratch(scratch, "tile_k", [a, b, c]),
            points: team.scratch(scratch, "tile_points", [3, nodes[1], nodes[0]]),
            radii: team.scratch(scratch, "tile_radii", [nodes[2]]),
        };
        tile.fill();
        tile
    }

    #[inline(always)]
    fn fill(&self) {
        let (args, team) = (self.args, self.team);
        let int = T::Int::from;
        let [s, x0, y0, r0] = self.first;
        let nodes = self.shape.nodes();
        self.for_each_node(
            #[inline(always)]
            |local, [x, y, r]| {
                let constraint = self.surfaces.constraint(r);
                let u = array(
                    #[inline(always)]
                    |c| args.u.at([int(c), s, x, y, r]),
                );
                let u = constraint.apply(
                    u,
                    #[inline(always)]
                    || {
                        array(
                            #[inline(always)]
                            |c| args.points.at([int(c), s, y, x]),
                        )
                    },
                );
                for (c, value) in u.into_iter().enumerate() {
                    self.u.set([int(c), local[0], local[1], local[2]], value);
                }
                self.k.set(local, args.k.at([s, x, y, r]));
            },
        );
        team.for_each_md(
            [nodes[1], nodes[0]],
            #[inline(always)]
            |[j, i]| {
                let (x, y) = (x0 + i, y0 + j);
                team.when(
                    x.le(self.cells[0]) & y.le(self.cells[1]),
                    #[inline(always)]
                    || {
                        for c in 0..3 {
                            self.points.set([int(c), j, i], args.points.at([int(c), s, y, x]));
                        }
                    },
                );
            },
        );
        team.for_each(
            nodes[2],
            #[inline(always)]
            |l| {
                let r = r0 + l;
                team.when(
                    r.le(self.cells[2]),
                    #[inline(always)]
                    || self.radii.set([l], args.radii.at([s, r])),
                );
            },
        );
    }

    /// Visits the nodes of the tile that exist: index in scratch, and x, y, r in the subdomain.
    #[inline(always)]
    pub fn for_each_node(&self, body: impl Fn([T::Int; 3], [T::Int; 3])) {
        let [_, x0, y0, r0] = self.first;
        self.team.for_each_md(
            ordered::<L, _>(self.shape.nodes()),
            #[inline(always)]
            |local| {
                let [i, j, l] = ordered::<L, _>(local);
                let node = [x0 + i, y0 + j, r0 + l];
                let inside = node[0].le(self.cells[0]) & node[1].le(self.cells[1]) & node[2].le(self.cells[2]);
                self.team.when(
                    inside,
                    #[inline(always)]
                    || body(local, node),
                );
            },
        );
    }

    /// Visits the columns of the tile: one work item for `passes` cells above each other, `shape.r / passes` apart.
    /// `body` receives the lowest cell; columns without cells are left out, since their points are not staged.
    #[inline(always)]
    pub fn for_each_column(&self, passes: usize, body: impl Fn([T::Int; 3])) {
        let shape = [self.shape.x, self.shape.y, self.shape.r / passes];
        self.team.for_each_md(
            ordered::<L, _>(shape),
            #[inline(always)]
            |local| {
                let lowest = ordered::<L, _>(local);
                self.team.when(
                    self.exists(lowest),
                    #[inline(always)]
                    || body(lowest),
                );
            },
        );
    }
    /// Visits the cells of a column that exist.
    #[inline(always)]
    pub fn for_each_pass(&self, passes: usize, [i, j, first]: [T::Int; 3], body: impl Fn([T::Int; 3])) {
        let per_pass = self.shape.r / passes;
        for pass in 0..passes {
            let cell = [i, j, first + (pass * per_pass) as i64];
            self.team.when(
                self.exists(cell),
                #[inline(always)]
                || body(cell),
            );
        }
    }
    /// Whether a cell of the tile lies in the subdomain.
    #[inline(always)]
    pub fn exists(&self, [i, j, l]: [T::Int; 3]) -> T::Predicate {
        let [_, x0, y0, r0] = self.first;
        (x0 + i).lt(self.cells[0]) & (y0 + j).lt(self.cells[1]) & (r0 + l).lt(self.cells[2])
    }
    /// Whether the tile touches a constrained surface; none if no surface is constrained.
    #[inline(always)]
    pub fn touches_constraint(&self) -> Option<T::Predicate> {
        let r0 = self.first[3];
        let bottom = self.surfaces.constrains(r0)?;
        let top = self.surfaces.constrains((r0 + self.shape.r as i64).min(self.cells[2]))?;
        Some(bottom | top)
    }

    /// Unit-sphere points of the corners of a cell column.
    #[inline(always)]
    pub fn column_points(&self, i: T::Int, j: T::Int) -> [Vector<T::Real>; 4] {
        array(
            #[inline(always)]
            |column| {
                let [di, dj] = corner(column);
                array(
                    #[inline(always)]
                    |c| self.points.at([T::Int::from(c), j + dj as i64, i + di as i64]),
                )
            },
        )
    }
    /// Reads a cell from scratch. Velocities are constrained already; `constrained` says whether results must be.
    #[inline(always)]
    pub fn cell(&self, [i, j, l]: [T::Int; 3], constrained: bool) -> StagedCell<T::Real> {
        let r0 = self.first[3];
        let local = inlined(
            #[inline(always)]
            |node: usize| {
                let [di, dj] = corner(node % 4);
                ordered::<L, _>([i + di as i64, j + dj as i64, l + (node / 4) as i64])
            },
        );
        let none = [LevelConstraint::NONE; 2];
        let constraint = inlined(
            #[inline(always)]
            |side: usize| self.surfaces.constraint(r0 + l + side as i64),
        );
        let results = if constrained { array(constraint) } else { none };
        StagedCell {
            cell: Cell {
                points: self.column_points(i, j),
                radii: array(
                    #[inline(always)]
                    |side| self.radii.at([l + side as i64]),
                ),
                u: array(
                    #[inline(always)]
                    |node| {
                        let [a, b, c] = local(node);
                        array(
                            #[inline(always)]
                            |component| self.u.at([T::Int::from(component), a, b, c]),
                        )
                    },
                ),
                k: array(
                    #[inline(always)]
                    |node| self.k.at(local(node)),
                ),
                constraints: none,
            },
            results,
        }
    }
    /// The place of a cell of the tile in the subdomain.
    #[inline(always)]
    pub fn place(&self, [i, j, l]: [T::Int; 3]) -> Place<T::Int> {
        let [s, x0, y0, r0] = self.first;
        [s, x0 + i, y0 + j, r0 + l]
    }
    /// Scratch for one value a node and component, in the tile's order, zeroed by the team. A barrier must follow.
    #[inline(always)]
    pub fn accumulator(&self) -> ScratchView<T, E, 4> {
        let [a, b, c] = ordered::<L, _>(self.shape.nodes());
        let sums = self.team.scratch(ScratchLevel::Zero, "tile_sums", [3, a, b, c]);
        self.team.for_each_md(
            [3, a, b, c],
            #[inline(always)]
            |index| sums.set(index, T::Real::zero()),
        );
        sums
    }
}

/// A cell read from scratch, with the constraints of its results.
#[derive(Clone, Copy)]
pub struct StagedCell<R: Real> {
    /// The cell.
    pub cell: Cell<R>,
    results: [LevelConstraint<R>; 2],
}

impl<R: Real> StagedCell<R> {
    /// A node's result without its constrained part.
    #[inline(always)]
    pub fn constrained(&self, node: usize, y: Vector<R>) -> Vector<R> {
        self.results[node / 4].apply(
            y,
            #[inline(always)]
            || self.cell.points[node % 4],
        )
    }
}
