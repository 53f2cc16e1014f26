//! The affine map of a cell, and what a form does at one point of it.

use super::args::ActionArgs;
use super::form::{Jet, WeakForm};
use farro_portability::{Access, IntElement, Private, Real, Target, array};

/// The inverse of a cell's Jacobian, the absolute value of its determinant, and the position of its first vertex.
#[derive(Clone, Copy)]
pub(super) struct Affine<R, const D: usize> {
    /// `inverse[a][d]`: derivative of reference coordinate a along d.
    inverse: [[R; D]; D],
    /// Columns of the Jacobian, for positions: `jacobian[d][a]`.
    jacobian: [[R; D]; D],
    origin: [R; D],
    measure: R,
}

impl<R: Real, const D: usize> Affine<R, D> {
    /// Of the vertices `[D + 1][D]`.
    #[inline(always)]
    pub fn new(vertex: impl Fn(usize) -> [R; D]) -> Self {
        let origin = vertex(0);
        let mut j = [[R::zero(); D]; D];
        for a in 0..D {
            let corner = vertex(a + 1);
            for d in 0..D {
                j[d][a] = corner[d] - origin[d];
            }
        }
        let mut adjugate = [[R::zero(); D]; D];
        let determinant = if D == 2 {
            adjugate[0][0] = j[1][1];
            adjugate[0][1] = -j[0][1];
            adjugate[1][0] = -j[1][0];
            adjugate[1][1] = j[0][0];
            j[0][0] * j[1][1] - j[0][1] * j[1][0]
        } else {
            for a in 0..3 {
                for d in 0..3 {
                    let (r, s) = ((d + 1) % 3, (d + 2) % 3);
                    let (k, l) = ((a + 1) % 3, (a + 2) % 3);
                    adjugate[a][d] = j[r][k] * j[s][l] - j[r][l] * j[s][k];
                }
            }
            j[0][2].mul_add(adjugate[2][0], j[0][1].mul_add(adjugate[1][0], j[0][0] * adjugate[0][0]))
        };
        let scale = determinant.recip();
        let inverse = array(
            #[inline(always)]
            |a| {
                array(
                    #[inline(always)]
                    |d| adjugate[a][d] * scale,
                )
            },
        );
        Affine { inverse, jacobian: j, origin, measure: determinant.abs() }
    }
    /// The position of a reference point.
    #[inline(always)]
    fn position(&self, point: [R; D]) -> [R; D] {
        array(
            #[inline(always)]
            |d| {
                let mut x = self.origin[d];
                for a in 0..D {
                    x = self.jacobian[d][a].mul_add(point[a], x);
                }
                x
            },
        )
    }
    /// A function whose gradient is along reference coordinates, with the gradient in space.
    #[inline(always)]
    fn in_space<const C: usize>(&self, jet: &Jet<R, D, C>) -> Jet<R, D, C> {
        let gradient = array(
            #[inline(always)]
            |c| {
                array(
                    #[inline(always)]
                    |d| {
                        let mut sum = self.inverse[0][d] * jet.gradient[c][0];
                        for a in 1..D {
                            sum = self.inverse[a][d].mul_add(jet.gradient[c][a], sum);
                        }
                        sum
                    },
                )
            },
        );
        Jet { value: jet.value, gradient }
    }
    /// What the form has at a point of the cell, times the weight: coefficients of the test function's value and its
    /// derivatives along reference coordinates, given values and reference derivatives of all functions.
    #[inline(always)]
    pub fn at_point<F: WeakForm<D, C, K>, const C: usize, const K: usize>(
        &self,
        form: &F,
        point: [R; D],
        weight: R,
        unknown: &Jet<R, D, C>,
        coefficients: &[Jet<R, D, C>; K],
    ) -> Jet<R, D, C> {
        let mut others = [Jet::zero(); K];
        for k in 0..K {
            others[k] = self.in_space(&coefficients[k]);
        }
        let result = form.integrand(self.position(point), &self.in_space(unknown), &others);
        let weight = weight * self.measure;
        Jet {
            value: array(
                #[inline(always)]
                |c| result.value[c] * weight,
            ),
            gradient: array(
                #[inline(always)]
                |c| {
                    array(
                        #[inline(always)]
                        |a| {
                            let mut sum = self.inverse[a][0] * result.gradient[c][0];
                            for d in 1..D {
                                sum = self.inverse[a][d].mul_add(result.gradient[c][d], sum);
                            }
                            sum * weight
                        },
                    )
                },
            ),
        }
    }
}

/// The map of a cell, read from the mesh.
#[inline(always)]
pub(super) fn cell_map<T: Target, I: IntElement, A: Access, const D: usize>(
    args: &ActionArgs<T, I, A>,
    cell: T::Int,
) -> Affine<T::Real, D> {
    Affine::new(
        #[inline(always)]
        |corner| {
            let vertex = args.vertices.at([cell, T::Int::from(corner)]);
            array(
                #[inline(always)]
                |d| args.coordinates.at([vertex, T::Int::from(d)]),
            )
        },
    )
}

/// The reference position of a point; zero for forms that do not ask, so that nothing is loaded.
#[inline(always)]
pub(super) fn reference_point<T: Target, I: IntElement, A: Access, const D: usize>(
    args: &ActionArgs<T, I, A>,
    point: T::Int,
    wanted: bool,
) -> [T::Real; D] {
    array(
        #[inline(always)]
        |d| if wanted { args.points.at([point, T::Int::from(d)]) } else { T::Real::zero() },
    )
}

/// A cell's map in private memory, where it survives barriers. Only what a form needs is kept.
#[derive(Clone, Copy)]
pub(super) struct KeptMap<T: Target, const D: usize> {
    slots: Private<T>,
    gradients: bool,
    position: bool,
}

impl<T: Target, const D: usize> KeptMap<T, D> {
    pub fn new(team: T, gradients: bool, position: bool) -> Self {
        let matrix = D * D;
        let slots = team.private(1 + if gradients { matrix } else { 0 } + if position { matrix + D } else { 0 });
        KeptMap { slots, gradients, position }
    }
    #[inline(always)]
    pub fn set(&self, map: &Affine<T::Real, D>) {
        self.slots.set(0, map.measure);
        let mut slot = 1;
        for a in 0..D {
            for d in 0..D {
                if self.gradients {
                    self.slots.set(slot, map.inverse[a][d]);
                    slot += 1;
                }
            }
        }
        for d in 0..D {
            if self.position {
                self.slots.set(slot, map.origin[d]);
                slot += 1;
                for a in 0..D {
                    self.slots.set(slot, map.jacobian[d][a]);
                    slot += 1;
                }
            }
        }
    }
    #[inline(always)]
    pub fn get(&self) -> Affine<T::Real, D> {
        let zero = T::Real::zero();
        let mut map =
            Affine { inverse: [[zero; D]; D], jacobian: [[zero; D]; D], origin: [zero; D], measure: self.slots.get(0) };
        let mut slot = 1;
        for a in 0..D {
            for d in 0..D {
                if self.gradients {
                    map.inverse[a][d] = self.slots.get(slot);
                    slot += 1;
                }
            }
        }
        for d in 0..D {
            if self.position {
                map.origin[d] = self.slots.get(slot);
                slot += 1;
                for a in 0..D {
                    map.jacobian[d][a] = self.slots.get(slot);
                    slot += 1;
                }
            }
        }
        map
    }
}
