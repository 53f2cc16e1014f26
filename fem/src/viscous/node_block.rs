//! The 3×3 block of a node: what the element matrices put on the diagonal. It gives the operator's diagonal, and what a
//! constrained node keeps of its own row.

use super::args::{Fields, ViscousArgSet, ViscousArgs};
use super::boundary::{Boundary, Condition, Surfaces};
use super::cell::corner;
use super::layout::FieldLayout;
use super::physics::{Vector, dot, gradients, viscosity_at};
use super::wedge::{Rule, WEDGE_CORNERS};
use farro_portability::{Access, Integer, Layout, MdKernel, ReadWrite, Real, RealElement, Target, array, inlined};

/// A symmetric block: xx, yy, zz, xy, xz, yz.
type Block<R> = [R; 6];

/// Σ κ (|∇φ|² I + ∇φ ∇φᵀ/3) over the wedges and points around a node.
#[inline(always)]
fn node_block<T: Target, E: RealElement, L: Layout, A: Access>(
    t: T,
    args: &ViscousArgs<T, E, L, A>,
    rule: Rule,
    [s, x, y, r]: [T::Int; 4],
) -> Block<T::Real> {
    let int = T::Int::from;
    let cells = [args.k.extent(1) - 1, args.k.extent(2) - 1, args.k.extent(3) - 1];
    let mut block = [T::Real::zero(); 6];
    for around in 0..8 {
        // The node is corner (i, j), side l of the cell at (x − i, y − j, r − l).
        let ([i, j], l) = (corner(around % 4), around / 4);
        let first = [x - i as i64, y - j as i64, r - l as i64];
        let zero = int(0);
        let exists = (0..3)
            .map(
                #[inline(always)]
                |d| zero.le(first[d]) & first[d].lt(cells[d]),
            )
            .reduce(|a, b| a & b);
        let Some(exists) = exists else { continue };
        block = t.update_if(
            exists,
            block,
            #[inline(always)]
            |mut block: Block<T::Real>| {
                for corners in WEDGE_CORNERS {
                    let Some(place) = corners.iter().position(|&c| c == [i, j]) else { continue };
                    let points: [Vector<T::Real>; 3] = corners.map(
                        #[inline(always)]
                        |[di, dj]| {
                            array(
                                #[inline(always)]
                                |c| args.points.at([int(c), s, first[1] + dj as i64, first[0] + di as i64]),
                            )
                        },
                    );
                    let radii = array(
                        #[inline(always)]
                        |side| args.radii.at([s, first[2] + side as i64]),
                    );
                    let k = array(
                        #[inline(always)]
                        |node| {
                            let [di, dj] = corners[node % 3];
                            args.k.at([s, first[0] + di as i64, first[1] + dj as i64, first[2] + (node / 3) as i64])
                        },
                    );
                    for point in rule.points() {
                        let (g, volume) = gradients(point, points, radii);
                        let g = g[place + 3 * l];
                        let kappa = viscosity_at(point, &k) * volume;
                        let (square, third) = (kappa * dot(g, g), kappa.scale(1.0 / 3.0));
                        for (entry, [a, b]) in block.iter_mut().zip([[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]]) {
                            *entry = (third * g[a]).mul_add(g[b], *entry);
                            if a == b {
                                *entry = *entry + square;
                            }
                        }
                    }
                }
                block
            },
        );
    }
    block
}

/// `nᵀ B n`.
#[inline(always)]
fn quadratic<R: Real>(block: Block<R>, n: Vector<R>) -> R {
    let [xx, yy, zz, xy, xz, yz] = block;
    let off = xy * n[0] * n[1] + xz * n[0] * n[2] + yz * n[1] * n[2];
    xx * n[0].square() + yy * n[1].square() + zz * n[2].square() + off + off
}

/// Adds what constrained nodes keep of their rows: the diagonal times u for a given velocity, the normal part
/// n (nᵀ B n)(n · u) for a slipping one. Runs over `[subdomain, side, y, x]`, after the element kernel.
#[derive(Clone, Copy, Debug, Hash)]
pub struct SurfaceDiagonal<F> {
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Storage type and layout of the fields.
    pub fields: F,
}

impl<E: RealElement, L: FieldLayout> MdKernel<4> for SurfaceDiagonal<Fields<E, L>> {
    type Args = ViscousArgSet<E, L, ReadWrite>;
    const NAME: &'static str = "viscous_surface_diagonal";

    #[inline(always)]
    fn run<T: Target>(&self, t: T, [s, side, y, x]: [T::Int; 4], args: &ViscousArgs<T, E, L, ReadWrite>) {
        let last = args.radii.extent(1) - 1;
        let surfaces = Surfaces::read(self.boundary, args, s);
        for which in 0..2 {
            let level = if which == 0 { T::Int::from(0i32) } else { last };
            let Some(constrained) = surfaces.constrains(level) else { continue };
            t.when(side.equals(T::Int::from(which)) & constrained, || {
                let block = node_block(t, args, self.rule, [s, x, y, level]);
                let index = inlined(
                    #[inline(always)]
                    |c: usize| [T::Int::from(c), s, x, y, level],
                );
                let u: Vector<T::Real> = array(
                    #[inline(always)]
                    |c| args.u.at(index(c)),
                );
                let kept: Vector<T::Real> = if self.boundary.side(which) == Condition::Dirichlet {
                    array(
                        #[inline(always)]
                        |c| block[c] * u[c],
                    )
                } else {
                    let n: Vector<T::Real> = array(
                        #[inline(always)]
                        |c| args.points.at([T::Int::from(c), s, y, x]),
                    );
                    let along = quadratic(block, n) * dot(n, u);
                    n.map(
                        #[inline(always)]
                        |n| n * along,
                    )
                };
                for (c, kept) in kept.into_iter().enumerate() {
                    args.y.set(index(c), args.y.at(index(c)) + kept);
                }
            });
        }
    }
}

/// Writes the operator's diagonal to `y`. Runs over `[subdomain, r, y, x]`.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Diagonal<F> {
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Storage type and layout of the fields.
    pub fields: F,
}

impl<E: RealElement, L: FieldLayout> MdKernel<4> for Diagonal<Fields<E, L>> {
    type Args = ViscousArgSet<E, L, ReadWrite>;
    const NAME: &'static str = "viscous_diagonal";

    #[inline(always)]
    fn run<T: Target>(&self, t: T, [s, r, y, x]: [T::Int; 4], args: &ViscousArgs<T, E, L, ReadWrite>) {
        let surfaces = Surfaces::read(self.boundary, args, s);
        let block = node_block(t, args, self.rule, [s, x, y, r]);
        let full: Vector<T::Real> = [block[0], block[1], block[2]];
        let slip = surfaces.constraint(r).slip();
        let diagonal = match slip {
            None => full,
            Some(slips) => {
                // Row α of (I − n nᵀ) B (I − n nᵀ) + n nᵀ (nᵀ B n), where the node slips.
                let n: Vector<T::Real> = array(
                    #[inline(always)]
                    |c| args.points.at([T::Int::from(c), s, y, x]),
                );
                let normal = quadratic(block, n);
                array(
                    #[inline(always)]
                    |c| {
                        let projected: Vector<T::Real> = array(
                            #[inline(always)]
                            |d| {
                                let unit = if c == d { T::Real::one() } else { T::Real::zero() };
                                unit - n[c] * n[d]
                            },
                        );
                        let slipping = quadratic(block, projected) + n[c].square() * normal;
                        (slipping - full[c]).mul_add(slips, full[c])
                    },
                )
            }
        };
        for (c, value) in diagonal.into_iter().enumerate() {
            args.y.set([T::Int::from(c), s, x, y, r], value);
        }
    }
}
