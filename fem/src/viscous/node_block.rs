//! The 3×3 block of a node: what the element matrices put on the diagonal.

use super::args::{Fields, ViscousArgSet, ViscousArgs};
use super::boundary::{Boundary, Surfaces};
use super::cell::corner;
use super::layout::FieldLayout;
use super::physics::{Vector, dot, gradients, viscosity_at};
use super::wedge::{Rule, WEDGE_CORNERS};
use farro_portability::{
    Integer, KernelView, Layout, LayoutRight, MdKernel, ReadOnly, ReadWrite, Real, RealElement, Target, array,
};

/// A symmetric block: xx, yy, zz, xy, xz, yz.
pub type Block<R> = [R; 6];

/// What describes the shell and its viscosity.
pub struct Shell<'a, T: Target, E: RealElement, L: Layout> {
    /// Viscosity `[subdomain, x, y, r]`.
    pub k: &'a KernelView<T, E, 4, L, ReadOnly>,
    /// Points of the unit sphere `[component, subdomain, y, x]`.
    pub points: &'a KernelView<T, f64, 4, LayoutRight, ReadOnly>,
    /// Radii `[subdomain, r]`.
    pub radii: &'a KernelView<T, f64, 2, LayoutRight, ReadOnly>,
}

/// Σ κ (|∇φ|² I + ∇φ ∇φᵀ/3) over the wedges and points around a node.
#[inline(always)]
pub fn node_block<T: Target, E: RealElement, L: Layout>(
    t: T,
    shell: Shell<'_, T, E, L>,
    rule: Rule,
    [s, x, y, r]: [T::Int; 4],
) -> Block<T::Real> {
    let int = T::Int::from;
    let Shell { k: viscosity, points: sphere, radii: levels } = shell;
    let cells = [viscosity.extent(1) - 1, viscosity.extent(2) - 1, viscosity.extent(3) - 1];
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
                                |c| sphere.at([int(c), s, first[1] + dj as i64, first[0] + di as i64]),
                            )
                        },
                    );
                    let radii = array(
                        #[inline(always)]
                        |side| levels.at([s, first[2] + side as i64]),
                    );
                    let k = array(
                        #[inline(always)]
                        |node| {
                            let [di, dj] = corners[node % 3];
                            viscosity.at([s, first[0] + di as i64, first[1] + dj as i64, first[2] + (node / 3) as i64])
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
pub fn quadratic<R: Real>(block: Block<R>, n: Vector<R>) -> R {
    let [xx, yy, zz, xy, xz, yz] = block;
    let off = xy * n[0] * n[1] + xz * n[0] * n[2] + yz * n[1] * n[2];
    xx * n[0].square() + yy * n[1].square() + zz * n[2].square() + off + off
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
        let shell = Shell { k: &args.k, points: &args.points, radii: &args.radii };
        let block = node_block(t, shell, self.rule, [s, x, y, r]);
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
