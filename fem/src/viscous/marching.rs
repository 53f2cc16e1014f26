//! *Marching*: a team owns lateral nodes, not cells, and marches along r. Each cell that touches its nodes is computed
//! once a layer from values in private memory, partial sums stay there, and every output is written once: no atomics,
//! no zero-fill, the same bits in every run. The rule is 1x1.
//!
//! Lanes are nodes along x, and each thread owns `rows` cell rows along y. Per layer with ρ = 2 r/(3 Δr), c = Δr/24 and,
//! for each node column, m = u_lo + u_hi, d = ρ (u_hi − u_lo), κ = c (k_lo + k_hi), a triangle has the velocity gradient
//! G = a g₁ᵀ + b g₂ᵀ + s g₃ᵀ of the edge differences of m and the sum s of d, and σ g₁, σ g₂, σ g₃ are its contributions.
//! Sums over a node's triangles are R (lateral) and Z (radial): the level below receives C + R − ρ Z and the level above
//! starts with C := R + ρ Z. Neighbouring tiles overlap by one cell, so no team waits for another.

mod place;

use super::args::{Fields, ViscousArgSet, ViscousArgs};
use super::boundary::{Boundary, Surfaces};
use super::kept::add_kept;
use super::layout::FieldLayout;
use super::physics::{Vector, add, scale, stress_on_duals, sub};
use farro_portability::{
    Integer, Kernel, Predicate, Private, ReadWrite, Real, RealElement, ScratchLevel, ScratchView, Target, WorkItem,
    array, each, inlined,
};

/// The marching kernel.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Marching<F> {
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Cell rows of a thread.
    pub rows: usize,
    /// Blocks into which the radial range is split, so that small problems have enough teams.
    pub radial_blocks: usize,
    /// Whether loads of a level start one layer before it is needed, to hide the latency of device memory.
    pub prefetch: bool,
    /// Whether subdomains may have fewer nodes along x than a thread has lanes.
    pub narrow: bool,
    /// Whether the result is added to `y` or replaces it.
    pub adds: bool,
    /// Storage type and layout of the fields.
    pub fields: F,
}

/// How the nodes of a subdomain are dealt to teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarchingLeague {
    /// Teams along x and y, and radial blocks.
    pub teams: [usize; 3],
}

impl MarchingLeague {
    /// The league for `[x, y, r]` cells of a subdomain, teams of `threads` threads of `lanes` lanes.
    pub fn new(cells: [usize; 3], lanes: usize, threads: usize, rows: usize, radial_blocks: usize) -> Self {
        // The first team of a row owns one node more than it advances, the last one ends at the last node.
        let along = inlined(
            #[inline(always)]
            |cells: usize, covered: usize| (cells - 1).div_ceil(covered - 1).max(1),
        );
        MarchingLeague { teams: [along(cells[0], lanes - 1), along(cells[1], threads * rows), radial_blocks] }
    }
    /// Teams of all subdomains.
    pub fn size(&self, subdomains: usize) -> usize {
        subdomains * self.teams.iter().product::<usize>()
    }
}

/// Slots of a cell row: the scaled duals of its two triangles.
const ROW_DUALS: usize = 18;
/// Slots of a node row: the lower level (4), the upper level if it is fetched early (4), carried sums (3).
const NODE_SLOTS: usize = 11;
const LOW: usize = 0;
const NEXT: usize = 4;
const CARRY: usize = 8;

/// Velocity and viscosity of a node.
type Node<R> = [R; 4];

/// Velocity, and viscosity three times.
#[inline(always)]
fn split<R: Copy>(node: Node<R>) -> [Vector<R>; 2] {
    [[node[0], node[1], node[2]], [node[3]; 3]]
}

/// The team's place and what belongs to one work item.
struct March<'a, T: Target, E: RealElement, L: FieldLayout> {
    team: T,
    args: &'a ViscousArgs<T, E, L, ReadWrite>,
    kernel: Marching<Fields<E, L>>,
    subdomain: T::Int,
    surfaces: Surfaces<T>,
    /// Cells along x, y, r.
    cells: [T::Int; 3],
    /// First node along x and y.
    first: [T::Int; 2],
    /// Teams along x and y, and how many of them come before this one.
    teams: [T::Int; 2],
    place: [T::Int; 2],
    duals: Private<T>,
    nodes: Private<T>,
    /// The sum of a thread's first row, until the thread below has handed over its part.
    pending: Option<Private<T>>,
    handed: Option<ScratchView<T, E, 4>>,
}

/// One level of a node row in registers, with its right neighbour.
#[derive(Clone, Copy)]
struct Row<R> {
    m: Vector<R>,
    d: Vector<R>,
    kappa: R,
    m_right: Vector<R>,
    d_right: Vector<R>,
    kappa_right: R,
    /// m_right − m.
    along_x: Vector<R>,
}

/// Sums of a node column: own ones, and those of the right neighbour.
#[derive(Clone, Copy)]
struct Sums<R> {
    lateral: Vector<R>,
    radial: Vector<R>,
    lateral_right: Vector<R>,
    radial_right: Vector<R>,
}

impl<R: Real> Sums<R> {
    #[inline(always)]
    fn zero() -> Self {
        let zero = [R::zero(); 3];
        Sums { lateral: zero, radial: zero, lateral_right: zero, radial_right: zero }
    }
}

impl<E: RealElement, L: FieldLayout> Kernel for Marching<Fields<E, L>> {
    type Args = ViscousArgSet<E, L, ReadWrite>;
    const NAME: &'static str = "viscous_marching";

    #[inline(always)]
    fn run<T: Target>(&self, team: T, args: &ViscousArgs<T, E, L, ReadWrite>) {
        let int = T::Int::from;
        let (lanes, threads) = (team.vector_length(), team.team_size());
        let cells = [args.k.extent(1) - 1, args.k.extent(2) - 1, args.k.extent(3) - 1];
        let covered = [lanes - 1, threads * self.rows];
        let advance = [covered[0] as i64 - 1, covered[1] as i64 - 1];
        let teams = inlined(
            #[inline(always)]
            |d: usize| ((cells[d] - 1 + (advance[d] - 1)) / advance[d]).max(int(1usize)),
        );
        let rank = team.league_rank();
        let (teams_x, teams_y) = (teams(0), teams(1));
        let place = [rank % teams_x, (rank / teams_x) % teams_y];
        let rest = rank / teams_x / teams_y;
        let (block, subdomain) = (rest % self.radial_blocks as i64, rest / self.radial_blocks as i64);
        // The last team moves back so that its nodes exist; small subdomains begin at 0 and are clamped.
        let first = array(
            #[inline(always)]
            |d| (place[d] * advance[d]).min(cells[d] - covered[d] as i64).max(int(0usize)),
        );
        let march = March {
            team,
            args,
            kernel: *self,
            subdomain,
            surfaces: Surfaces::read(self.boundary, args, subdomain),
            cells,
            first,
            teams: [teams_x, teams_y],
            place,
            duals: team.private(ROW_DUALS * self.rows),
            nodes: team.private(NODE_SLOTS * (self.rows + 1)),
            pending: (threads > 1).then(
                #[inline(always)]
                || team.private(3),
            ),
            handed: (threads > 1).then(
                #[inline(always)]
                || team.scratch(ScratchLevel::Zero, "handed", [2, 3, threads, lanes]),
            ),
        };
        march.run(block);
    }
}

impl<T: Target, E: RealElement, L: FieldLayout> March<'_, T, E, L> {
    #[inline(always)]
    fn run(&self, block: T::Int) {
        let team = self.team;
        let blocks = self.kernel.radial_blocks as i64;
        // Levels [lower, upper) of this block; the last block owns the last level too.
        let lower = self.cells[2] * block / blocks;
        let upper = self.cells[2] * (block + 1) / blocks;
        // A block that does not begin at the bottom repeats the layer below, for the sums it carries.
        let start = (lower - 1).max(T::Int::from(0i32));
        team.phase(
            #[inline(always)]
            |item| {
                self.prepare_duals(item);
                self.load_first(item, start);
            },
        );
        team.repeat(
            upper - start,
            #[inline(always)]
            |l| self.layer(start + l, lower),
        );
        team.when(
            upper.equals(self.cells[2]),
            #[inline(always)]
            || self.finish(),
        );
        // A block without layers owns no level.
        self.keep_constrained(0, lower.equals(T::Int::from(0i32)) & lower.lt(upper));
        self.keep_constrained(1, upper.equals(self.cells[2]));
    }

    /// Adds what constrained nodes of a side keep of their rows; each work item goes over the nodes that it has written.
    #[inline(always)]
    fn keep_constrained(&self, side: usize, here: T::Predicate) {
        let team = self.team;
        let Some(touched) = self.surfaces.touches(side) else { return };
        team.when(
            touched & here,
            #[inline(always)]
            || {
                team.phase(
                    #[inline(always)]
                    |item| {
                        for row in 0..=self.kernel.rows {
                            team.when(
                                self.writes_row(item, row) & self.owns(item, row),
                                #[inline(always)]
                                || {
                                    let node = [self.subdomain, self.x(item), self.y(item, row)];
                                    add_kept(self.args, self.kernel.boundary, side, node, self.kernel.adds);
                                },
                            );
                        }
                    },
                );
            },
        );
    }

    /// Velocity and viscosity of a node.
    #[inline(always)]
    fn load(&self, item: WorkItem<T>, row: usize, level: T::Int) -> Node<T::Real> {
        let (x, y, s) = (self.x(item), self.clamped_y(item, row), self.subdomain);
        self.where_nodes_exist(
            item,
            [T::Real::zero(); 4],
            #[inline(always)]
            || {
                let u: Vector<T::Real> = array(
                    #[inline(always)]
                    |c| self.args.u.at([T::Int::from(c), s, x, y, level]),
                );
                [u[0], u[1], u[2], self.args.k.at([s, x, y, level])]
            },
        )
    }
    /// Fetches what the next layer reads.
    #[inline(always)]
    fn prefetch(&self, item: WorkItem<T>, row: usize, level: T::Int) {
        for c in 0..3 {
            self.args.u.prefetch(
                #[inline(always)]
                || [T::Int::from(c), self.subdomain, self.x(item), self.clamped_y(item, row), level + 2],
            );
        }
        self.args.k.prefetch(
            #[inline(always)]
            || [self.subdomain, self.x(item), self.clamped_y(item, row), level + 2],
        );
    }
    /// The same without the constrained part of the velocity.
    #[inline(always)]
    fn constrained(&self, node: Node<T::Real>, item: WorkItem<T>, row: usize, level: T::Int) -> Node<T::Real> {
        let u = self.constrain([node[0], node[1], node[2]], item, row, level);
        [u[0], u[1], u[2], node[3]]
    }
    #[inline(always)]
    fn constrain(&self, u: Vector<T::Real>, item: WorkItem<T>, row: usize, level: T::Int) -> Vector<T::Real> {
        let constraint = self.surfaces.constraint(level);
        let apply = inlined(
            #[inline(always)]
            |u| {
                constraint.apply(
                    u,
                    #[inline(always)]
                    || self.point(item, self.clamped_y(item, row)),
                )
            },
        );
        // Selections are cheaper than a branch; a projection is not.
        match self.surfaces.constrains(level) {
            Some(constrained) if self.kernel.boundary.slips() => self.team.update_if(constrained, u, apply),
            _ => apply(u),
        }
    }

    #[inline(always)]
    fn load_first(&self, item: WorkItem<T>, level: T::Int) {
        for row in 0..=self.kernel.rows {
            let slot = NODE_SLOTS * row;
            self.nodes.set_array(slot + LOW, self.constrained(self.load(item, row, level), item, row, level));
            if self.kernel.prefetch {
                self.nodes.set_array(slot + NEXT, self.load(item, row, level + 1));
            }
            self.nodes.set_array(slot + CARRY, [T::Real::zero(); 3]);
        }
    }

    /// The layer from `level` to `level + 1`; writes `level` if this block owns it.
    #[inline(always)]
    fn layer(&self, level: T::Int, lowest: T::Int) {
        let team = self.team;
        let owned = lowest.le(level);
        let parity = level % 2;
        team.phase(
            #[inline(always)]
            |item| {
                let [ratio, factor]: [T::Real; 2] = array(
                    #[inline(always)]
                    |which| self.args.layers.at([self.subdomain, level, T::Int::from(which)]),
                );
                let mut below = self.advance_row(item, 0, level, ratio, factor);
                let mut sums = Sums::zero();
                for row in 0..self.kernel.rows {
                    let above = self.advance_row(item, row + 1, level, ratio, factor);
                    let mut next = Sums::zero();
                    self.cell(row, &below, &above, &mut sums, &mut next);
                    let result = self.combine(row, sums, ratio);
                    match &self.pending {
                        Some(pending) if row == 0 => pending.set_array(0, result),
                        _ => self.write(item, row, level, owned, result),
                    }
                    below = above;
                    sums = next;
                }
                let last = self.kernel.rows;
                let result = self.combine(last, sums, ratio);
                if let Some(handed) = &self.handed {
                    self.hand_over(handed, parity, item, result);
                }
                team.when(
                    self.writes_row(item, last),
                    #[inline(always)]
                    || self.write(item, last, level, owned, result),
                );
            },
        );
        if let (Some(pending), Some(handed)) = (&self.pending, &self.handed) {
            // Two slots in turn: the next layer writes the other one, so one barrier a layer is enough.
            team.barrier();
            team.phase(
                #[inline(always)]
                |item| {
                    let has_neighbour = T::Int::from(0i32).lt(item.thread);
                    let result = team.update_if(
                        has_neighbour,
                        pending.get_array(0),
                        #[inline(always)]
                        |own: Vector<T::Real>| add(own, self.received(handed, parity, item)),
                    );
                    self.write(item, 0, level, owned, result);
                },
            );
        }
    }

    /// Moves a node row one level up and returns the layer's values.
    #[inline(always)]
    fn advance_row(
        &self,
        item: WorkItem<T>,
        row: usize,
        level: T::Int,
        ratio: T::Real,
        factor: T::Real,
    ) -> Row<T::Real> {
        let slot = NODE_SLOTS * row;
        let low: Node<T::Real> = self.nodes.get_array(slot + LOW);
        let raw = if self.kernel.prefetch {
            let raw = self.nodes.get_array(slot + NEXT);
            // Loads of the level after next start here and are needed one layer later; nothing may touch them before.
            self.nodes.set_array(slot + NEXT, self.load(item, row, (level + 2).min(self.cells[2])));
            raw
        } else {
            self.prefetch(item, row, level);
            self.load(item, row, level + 1)
        };
        let high = self.constrained(raw, item, row, level + 1);
        self.nodes.set_array(slot + LOW, high);
        let ([low, k_low], [high, k_high]) = (split(low), split(high));
        let m = add(low, high);
        let d = scale(sub(high, low), ratio);
        let kappa = factor * (k_low[0] + k_high[0]);
        // What comes around the end meets a cell that does not exist.
        let (m_right, d_right, kappa_right) = self.team.rotate_down((m, d, kappa), 1);
        Row { m, d, kappa, m_right, d_right, kappa_right, along_x: sub(m_right, m) }
    }

    /// The two triangles of a cell row.
    #[inline(always)]
    fn cell(
        &self,
        row: usize,
        below: &Row<T::Real>,
        above: &Row<T::Real>,
        low: &mut Sums<T::Real>,
        high: &mut Sums<T::Real>,
    ) {
        let g = self.duals(row, 0);
        let s = add(add(below.d, below.d_right), above.d);
        let kappa = below.kappa + below.kappa_right + above.kappa;
        let [q1, q2, q3] = stress_on_duals(kappa, below.along_x, sub(above.m, below.m), s, &g);
        low.lateral = sub(low.lateral, add(q1, q2));
        low.lateral_right = add(low.lateral_right, q1);
        high.lateral = add(high.lateral, q2);
        low.radial = add(low.radial, q3);
        low.radial_right = add(low.radial_right, q3);
        high.radial = add(high.radial, q3);

        let g = self.duals(row, 1);
        let s = add(add(above.d_right, above.d), below.d_right);
        let kappa = above.kappa_right + above.kappa + below.kappa_right;
        let [q1, q2, q3] = stress_on_duals(kappa, above.along_x, sub(above.m_right, below.m_right), s, &g);
        high.lateral_right = add(high.lateral_right, add(q1, q2));
        high.lateral = sub(high.lateral, q1);
        low.lateral_right = sub(low.lateral_right, q2);
        high.radial_right = add(high.radial_right, q3);
        high.radial = add(high.radial, q3);
        low.radial_right = add(low.radial_right, q3);
    }

    /// Joins the sums of a node row with those from the left, returns the result of the lower level and carries on.
    #[inline(always)]
    fn combine(&self, row: usize, sums: Sums<T::Real>, ratio: T::Real) -> Vector<T::Real> {
        // The last lane's cell does not exist, so what comes around the end is zero.
        let last = self.team.vector_length() - 1;
        let [from_left, radial_from_left] = self.team.rotate_down([sums.lateral_right, sums.radial_right], last);
        let lateral = add(sums.lateral, from_left);
        let radial = scale(add(sums.radial, radial_from_left), ratio);
        let slot = NODE_SLOTS * row + CARRY;
        let carried = self.nodes.get_array(slot);
        self.nodes.set_array(slot, add(lateral, radial));
        sub(add(carried, lateral), radial)
    }

    #[inline(always)]
    fn write(&self, item: WorkItem<T>, row: usize, level: T::Int, owned: T::Predicate, result: Vector<T::Real>) {
        let (x, y) = (self.x(item), self.y(item, row));
        // Where the velocity is given, only what the node keeps is written, later.
        let given = self.surfaces.constraint(level).dirichlet();
        let result = if self.kernel.boundary.slips() { self.constrain(result, item, row, level) } else { result };
        let mut writes = owned & self.owns(item, row);
        if let Some(given) = given {
            writes = writes & !given;
        }
        self.team.when(
            writes,
            #[inline(always)]
            || {
                each(
                    result,
                    #[inline(always)]
                    |c, value| {
                        let index = [T::Int::from(c), self.subdomain, x, y, level];
                        let value = if self.kernel.adds { self.args.y.at(index) + value } else { value };
                        self.args.y.set(index, value);
                    },
                );
            },
        );
    }

    #[inline(always)]
    fn carried(&self, row: usize) -> Vector<T::Real> {
        self.nodes.get_array(NODE_SLOTS * row + CARRY)
    }

    /// Leaves the part of a row that belongs to the next thread's first row.
    #[inline(always)]
    fn hand_over(&self, handed: &ScratchView<T, E, 4>, parity: T::Int, item: WorkItem<T>, part: Vector<T::Real>) {
        each(
            part,
            #[inline(always)]
            |c, value| handed.set([parity, T::Int::from(c), item.thread, item.lane], value),
        );
    }
    /// The part of a thread's first row that the thread before it has computed.
    #[inline(always)]
    fn received(&self, handed: &ScratchView<T, E, 4>, parity: T::Int, item: WorkItem<T>) -> Vector<T::Real> {
        array(
            #[inline(always)]
            |c| handed.at([parity, T::Int::from(c), item.thread - 1, item.lane]),
        )
    }

    /// Writes the last level, which only the layer below it contributes to.
    #[inline(always)]
    fn finish(&self) {
        let (team, level) = (self.team, self.cells[2]);
        let always = T::Predicate::lit(true);
        if let Some(handed) = &self.handed {
            let parity = level % 2;
            team.phase(
                #[inline(always)]
                |item| {
                    self.hand_over(handed, parity, item, self.carried(self.kernel.rows));
                },
            );
            team.barrier();
            team.phase(
                #[inline(always)]
                |item| {
                    let has_neighbour = T::Int::from(0i32).lt(item.thread);
                    let result = team.update_if(
                        has_neighbour,
                        self.carried(0),
                        #[inline(always)]
                        |own: Vector<T::Real>| add(own, self.received(handed, parity, item)),
                    );
                    self.write(item, 0, level, always, result);
                },
            );
        }
        team.phase(
            #[inline(always)]
            |item| {
                let first = usize::from(self.handed.is_some());
                for row in first..=self.kernel.rows {
                    team.when(
                        self.writes_row(item, row),
                        #[inline(always)]
                        || self.write(item, row, level, always, self.carried(row)),
                    );
                }
            },
        );
    }
}
