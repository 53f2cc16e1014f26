//! One work item does all of a cell: unknowns and results are private, matrices are read from global memory.

use super::args::{ActionArgSet, ActionArgs, Maps};
use super::form::{Jet, Uses, WeakForm};
use super::geometry::{cell_map, reference_point};
use farro_portability::{Atomic, IntElement, Integer, Kernel, Private, Real, Target, array};

/// The schedule with one work item for each cell.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Single<F, M, const D: usize, const C: usize, const K: usize> {
    /// The form.
    pub form: F,
    /// Quadrature points.
    pub points: usize,
    /// Nodes of a cell.
    pub nodes: usize,
    /// Cells of a team.
    pub cells: usize,
    /// The integer type of maps, [`Maps`].
    pub maps: M,
}

/// What is read of function `f`: the unknown first, then the coefficients.
#[inline(always)]
pub(super) const fn uses_of<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(f: usize) -> Uses {
    if f == 0 { F::READS } else { F::COEFFICIENTS }
}

/// A component of function `f` at a node.
#[inline(always)]
pub(super) fn function_at<T: Target, I: IntElement>(
    args: &ActionArgs<T, I, Atomic>,
    f: usize,
    node: T::Int,
    c: usize,
) -> T::Real {
    let c = T::Int::from(c);
    if f == 0 { args.unknown.at([node, c]) } else { args.coefficients.at([T::Int::from(f - 1), node, c]) }
}

impl<F: WeakForm<D, C, K>, I: IntElement, const D: usize, const C: usize, const K: usize> Kernel
    for Single<F, Maps<I>, D, C, K>
{
    type Args = ActionArgSet<I>;
    const NAME: &'static str = F::NAME;
    #[inline(always)]
    fn run<T: Target>(&self, team: T, args: &ActionArgs<T, I, Atomic>) {
        let functions = team.private((1 + K) * C * self.nodes);
        let results = team.private(C * self.nodes);
        let items = team.team_size() * team.vector_length();
        let lanes = team.vector_length() as i64;
        let first = team.league_rank() * self.cells as i64;
        team.phase(
            #[inline(always)]
            |item| {
                let local = item.thread * lanes + item.lane;
                let cell = first + local;
                let exists = cell.lt(args.nodes.extent(0));
                let serves = if items == self.cells { exists } else { exists & local.lt(T::Int::from(self.cells)) };
                team.when(
                    serves,
                    #[inline(always)]
                    || self.cell(team, args, cell, functions, results),
                );
            },
        );
    }
}

impl<F: WeakForm<D, C, K>, I: IntElement, const D: usize, const C: usize, const K: usize> Single<F, Maps<I>, D, C, K> {
    #[inline(always)]
    fn cell<T: Target>(
        &self,
        team: T,
        args: &ActionArgs<T, I, Atomic>,
        cell: T::Int,
        functions: Private<T>,
        results: Private<T>,
    ) {
        let map = cell_map::<T, I, Atomic, D>(args, cell);
        for n in 0..self.nodes {
            let node = args.nodes.at([cell, T::Int::from(n)]);
            for f in 0..=K {
                for c in 0..C {
                    functions.set((n * (1 + K) + f) * C + c, function_at(args, f, node, c));
                }
            }
            for c in 0..C {
                results.set(n * C + c, T::Real::zero());
            }
        }
        team.repeat(
            self.points,
            #[inline(always)]
            |q| {
                let (unknown, coefficients) = self.evaluate(args, q, functions);
                let point = reference_point(args, q, F::POSITION);
                let test = map.at_point(&self.form, point, args.weights.at([q]), &unknown, &coefficients);
                for n in 0..self.nodes {
                    for place in 0..F::TESTS.matrices(D) {
                        let m = F::TESTS.matrix(place);
                        let psi = args.matrices.at([T::Int::from(m), q, T::Int::from(n)]);
                        for c in 0..C {
                            let factor = if m == 0 { test.value[c] } else { test.gradient[c][m - 1] };
                            results.set(n * C + c, psi.mul_add(factor, results.get(n * C + c)));
                        }
                    }
                }
            },
        );
        for n in 0..self.nodes {
            let node = args.nodes.at([cell, T::Int::from(n)]);
            for c in 0..C {
                args.y.add([node, T::Int::from(c)], results.get(n * C + c));
            }
        }
    }

    /// Values and reference derivatives of all functions at a point.
    #[inline(always)]
    #[allow(clippy::type_complexity)]
    fn evaluate<T: Target>(
        &self,
        args: &ActionArgs<T, I, Atomic>,
        q: T::Int,
        functions: Private<T>,
    ) -> (Jet<T::Real, D, C>, [Jet<T::Real, D, C>; K]) {
        let mut unknown = Jet::zero();
        let mut coefficients = [Jet::zero(); K];
        let reads = F::READS.or(F::COEFFICIENTS);
        for n in 0..self.nodes {
            for place in 0..reads.matrices(D) {
                let m = reads.matrix(place);
                let phi = args.matrices.at([T::Int::from(m), q, T::Int::from(n)]);
                for f in 0..=K {
                    let uses = uses_of::<F, D, C, K>(f);
                    if (m == 0 && !uses.value) || (m > 0 && !uses.gradient) {
                        continue;
                    }
                    let jet: &mut Jet<T::Real, D, C> = if f == 0 { &mut unknown } else { &mut coefficients[f - 1] };
                    for c in 0..C {
                        let sum = if m == 0 { &mut jet.value[c] } else { &mut jet.gradient[c][m - 1] };
                        *sum = phi.mul_add(functions.get((n * (1 + K) + f) * C + c), *sum);
                    }
                }
            }
        }
        (unknown, coefficients)
    }
}

/// The jet of which `number(place, c)` are the parts that `uses` names.
#[inline(always)]
pub(super) fn jet_of<R: Real, const D: usize, const C: usize>(
    uses: Uses,
    number: impl Fn(usize, usize) -> R,
) -> Jet<R, D, C> {
    let offset = usize::from(uses.value);
    Jet {
        value: array(
            #[inline(always)]
            |c| if uses.value { number(0, c) } else { R::zero() },
        ),
        gradient: array(
            #[inline(always)]
            |c| {
                array(
                    #[inline(always)]
                    |d| if uses.gradient { number(offset + d, c) } else { R::zero() },
                )
            },
        ),
    }
}
