//! Where the nodes of a work item are, which of them exist, which belong to its team, and the triangles between them.

use super::{March, ROW_DUALS};
use crate::viscous::layout::FieldLayout;
use crate::viscous::physics::{Duals, Vector, scale, scaled_duals};
use farro_portability::{Carry, Integer, Predicate, Real, RealElement, Target, WorkItem, array, each};

impl<T: Target, E: RealElement, L: FieldLayout> March<'_, T, E, L> {
    #[inline(always)]
    pub(super) fn x(&self, item: WorkItem<T>) -> T::Int {
        self.first[0] + item.lane
    }
    /// `body` for lanes whose nodes exist; zeros for others. Only small subdomains have such lanes.
    #[inline(always)]
    pub(super) fn where_nodes_exist<C: Carry<T>>(&self, item: WorkItem<T>, zeros: C, body: impl Fn() -> C) -> C {
        let narrow = T::Predicate::lit(self.kernel.narrow);
        self.team.update_if(
            !narrow | self.x(item).le(self.cells[0]),
            zeros,
            #[inline(always)]
            |_| body(),
        )
    }
    /// Node row `row` of a thread, before clamping.
    #[inline(always)]
    pub(super) fn y(&self, item: WorkItem<T>, row: usize) -> T::Int {
        self.first[1] + item.thread * self.kernel.rows as i64 + row as i64
    }
    #[inline(always)]
    pub(super) fn clamped_y(&self, item: WorkItem<T>, row: usize) -> T::Int {
        self.y(item, row).min(self.cells[1])
    }

    #[inline(always)]
    pub(super) fn point(&self, item: WorkItem<T>, y: T::Int) -> Vector<T::Real> {
        self.where_nodes_exist(
            item,
            [T::Real::zero(); 3],
            #[inline(always)]
            || {
                array(
                    #[inline(always)]
                    |c| self.args.points.at([T::Int::from(c), self.subdomain, y, self.x(item)]),
                )
            },
        )
    }
    /// The points of a lane and of its right neighbour.
    #[inline(always)]
    pub(super) fn points(&self, item: WorkItem<T>, row: usize) -> [Vector<T::Real>; 2] {
        let point = self.point(item, self.clamped_y(item, row));
        [point, self.team.rotate_down(point, 1)]
    }

    /// Dual bases of the thread's triangles; zero for cells that do not exist, so that arithmetic needs no masks.
    #[inline(always)]
    pub(super) fn prepare_duals(&self, item: WorkItem<T>) {
        let last_lane = T::Int::from(self.team.vector_length() - 1);
        let column_exists = self.x(item).lt(self.cells[0]) & item.lane.lt(last_lane);
        let zero = T::Real::zero();
        let third = [1.0 / 3.0; 2];
        let mut below = self.points(item, 0);
        for row in 0..self.kernel.rows {
            let above = self.points(item, row + 1);
            let exists = column_exists & self.y(item, row).lt(self.cells[1]);
            let first = scaled_duals([below[0], below[1], above[0]], third);
            // The second triangle uses the negated lateral duals, so that both use edge differences of one sign.
            let [g1, g2, g3] = scaled_duals([above[1], above[0], below[1]], third);
            let second = [scale(g1, -T::Real::one()), scale(g2, -T::Real::one()), g3];
            let all = [first[0], first[1], first[2], second[0], second[1], second[2]];
            each(
                all,
                #[inline(always)]
                |j, g: Vector<T::Real>| {
                    let g: Vector<T::Real> = array(
                        #[inline(always)]
                        |c| exists.select(g[c], zero),
                    );
                    self.duals.set_array(ROW_DUALS * row + 3 * j, g);
                },
            );
            below = above;
        }
    }

    #[inline(always)]
    pub(super) fn duals(&self, row: usize, triangle: usize) -> Duals<T::Real> {
        let g: [T::Real; 9] = self.duals.get_array(ROW_DUALS * row + 9 * triangle);
        [[g[0], g[1], g[2]], [g[3], g[4], g[5]], [g[6], g[7], g[8]]]
    }

    /// Whether a thread writes its node row `row`: the last one only if there is no thread below.
    #[inline(always)]
    pub(super) fn writes_row(&self, item: WorkItem<T>, row: usize) -> T::Predicate {
        if row < self.kernel.rows || self.handed.is_none() {
            return T::Predicate::lit(true);
        }
        item.thread.equals(T::Int::from(self.team.team_size() - 1))
    }
    /// Whether the team owns the node.
    #[inline(always)]
    pub(super) fn owns(&self, item: WorkItem<T>, row: usize) -> T::Predicate {
        let advance = [self.team.vector_length() as i64 - 2, (self.team.team_size() * self.kernel.rows) as i64 - 1];
        self.owns_along(0, self.x(item), advance[0]) & self.owns_along(1, self.y(item, row), advance[1])
    }
    #[inline(always)]
    pub(super) fn owns_along(&self, d: usize, node: T::Int, advance: i64) -> T::Predicate {
        let before = self.place[d] * advance;
        let is_first = node.equals(T::Int::from(0i32)) & self.place[d].equals(T::Int::from(0i32));
        // The last team owns everything up to the end.
        let is_last = self.place[d].equals(self.teams[d] - 1);
        let within = node.le(before + advance) | is_last;
        ((before.lt(node) & within) | is_first) & node.le(self.cells[d])
    }
}
