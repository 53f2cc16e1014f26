//! A hex cell of the shell: gathering its eight nodes, working through its two wedges, scattering the result.

use super::args::ViscousArgs;
use super::boundary::{Boundary, LevelConstraint, Surfaces};
use super::physics::{Duals, Vector, add_point, scaled_duals};
use super::wedge::{Rule, WEDGE_CORNERS, wedge_nodes};
use farro_portability::{Access, Layout, Real, RealElement, Target, array, inlined};

/// Place of a cell: subdomain, x, y, r.
pub type Place<I> = [I; 4];

/// What a cell's element work needs. Nodes are numbered as in [`super::wedge::cell_node`].
#[derive(Clone, Copy)]
pub struct Cell<R: Real> {
    /// Unit-sphere points of the four lateral corners.
    pub points: [Vector<R>; 4],
    /// Radii of the lower and the upper level.
    pub radii: [R; 2],
    /// Velocities.
    pub u: [Vector<R>; 8],
    /// Viscosities.
    pub k: [R; 8],
    /// Constraints of the lower and the upper level.
    pub constraints: [LevelConstraint<R>; 2],
}

/// Lateral corner of node column `column` (0–3).
#[inline(always)]
pub fn corner(column: usize) -> [usize; 2] {
    [column % 2, column / 2]
}

/// Reads a cell from global memory.
#[inline(always)]
pub fn gather<T: Target, E: RealElement, L: Layout, A: Access>(
    boundary: Boundary,
    args: &ViscousArgs<T, E, L, A>,
    [s, x, y, r]: Place<T::Int>,
) -> Cell<T::Real> {
    let int = T::Int::from;
    let surfaces = Surfaces::read(boundary, args, s);
    let at = inlined(
        #[inline(always)]
        |node: usize| {
            let [i, j] = corner(node % 4);
            (x + i as i64, y + j as i64, r + (node / 4) as i64)
        },
    );
    Cell {
        points: array(
            #[inline(always)]
            |column| {
                let [i, j] = corner(column);
                array(
                    #[inline(always)]
                    |c| args.points.at([int(c), s, y + j as i64, x + i as i64]),
                )
            },
        ),
        radii: array(
            #[inline(always)]
            |side| args.radii.at([s, r + side as i64]),
        ),
        u: array(
            #[inline(always)]
            |node| {
                let (x, y, r) = at(node);
                array(
                    #[inline(always)]
                    |c| args.u.at([int(c), s, x, y, r]),
                )
            },
        ),
        k: array(
            #[inline(always)]
            |node| {
                let (x, y, r) = at(node);
                args.k.at([s, x, y, r])
            },
        ),
        constraints: array(
            #[inline(always)]
            |side| surfaces.constraint(r + side as i64),
        ),
    }
}

impl<R: Real> Cell<R> {
    /// The velocity at a node, without its constrained part.
    #[inline(always)]
    pub fn velocity(&self, node: usize) -> Vector<R> {
        self.constrained(node, self.u[node])
    }
    /// A vector at a node, without its constrained part.
    #[inline(always)]
    pub fn constrained(&self, node: usize, vector: Vector<R>) -> Vector<R> {
        self.constraints[node / 4].apply(
            vector,
            #[inline(always)]
            || self.points[node % 4],
        )
    }
    /// The unit-sphere corners of a wedge.
    #[inline(always)]
    pub fn wedge_points(&self, wedge: usize) -> [Vector<R>; 3] {
        array(
            #[inline(always)]
            |corner| {
                let [i, j] = WEDGE_CORNERS[wedge][corner];
                self.points[i + 2 * j]
            },
        )
    }
    /// Velocities (constrained) and viscosities of a wedge.
    #[inline(always)]
    pub fn wedge_fields(&self, wedge: usize) -> ([Vector<R>; 6], [R; 6]) {
        let nodes = wedge_nodes(wedge);
        (
            array(
                #[inline(always)]
                |i| self.velocity(nodes[i]),
            ),
            array(
                #[inline(always)]
                |i| self.k[nodes[i]],
            ),
        )
    }
    /// The result of one wedge, from strain and stress at each point, without an element matrix.
    #[inline(always)]
    pub fn wedge_result(&self, wedge: usize, rule: Rule) -> [Vector<R>; 6] {
        self.wedge_result_with(
            wedge,
            rule,
            #[inline(always)]
            |lateral| scaled_duals(self.wedge_points(wedge), lateral),
        )
    }
    /// The same with scaled dual bases that the caller provides.
    #[inline(always)]
    pub fn wedge_result_with(&self, wedge: usize, rule: Rule, duals: impl Fn([f64; 2]) -> Duals<R>) -> [Vector<R>; 6] {
        let (u, k) = self.wedge_fields(wedge);
        let mut y = [[R::zero(); 3]; 6];
        // Points of one lateral place follow each other and share its dual basis.
        for points in rule.points().chunk_by(|a, b| a.lateral == b.lateral) {
            let g = duals(points[0].lateral);
            for point in points {
                add_point(point, &g, self.radii, &u, &k, &mut y);
            }
        }
        y
    }
}
