//! What a weak form is.

use crate::laws::{Claims, NullSpace};
use farro_portability::{Dual, Real, array};
use std::fmt::Debug;
use std::hash::Hash;

/// Value and gradient of a function of `C` components in `D` dimensions at a point. As a result of a form, the
/// coefficients of the test function's value and gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<R, const D: usize, const C: usize> {
    /// The value of each component.
    pub value: [R; C],
    /// The gradient of each component: `gradient[c][d]` is the derivative of component c along d.
    pub gradient: [[R; D]; C],
}

impl<R: Real, const D: usize, const C: usize> Jet<R, D, C> {
    /// Zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Jet { value: [R::zero(); C], gradient: [[R::zero(); D]; C] }
    }
}

/// Which parts of a function a form uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uses {
    /// The value.
    pub value: bool,
    /// The gradient.
    pub gradient: bool,
}

impl Uses {
    /// The value alone.
    pub const VALUE: Uses = Uses { value: true, gradient: false };
    /// The gradient alone.
    pub const GRADIENT: Uses = Uses { value: false, gradient: true };
    /// Both.
    pub const BOTH: Uses = Uses { value: true, gradient: true };
    /// Neither.
    pub const NOTHING: Uses = Uses { value: false, gradient: false };

    /// What either uses.
    pub const fn or(self, other: Uses) -> Uses {
        Uses { value: self.value || other.value, gradient: self.gradient || other.gradient }
    }
    /// Reference matrices that this needs: one for values, one for each derivative.
    pub const fn matrices(self, dimension: usize) -> usize {
        self.value as usize + if self.gradient { dimension } else { 0 }
    }
    /// The number of matrix `place` of these among all (values first, then derivatives).
    #[inline(always)]
    pub(super) const fn matrix(self, place: usize) -> usize {
        if self.value { place } else { place + 1 }
    }
}

/// A weak form on functions of `C` components in `D` dimensions, with `K` coefficient functions beside the unknown:
/// the integral of `Σ_c value[c] v_c + Σ_cd gradient[c][d] ∂_d v_c` over the mesh, for all test functions v.
///
/// The fields of the implementing type are constants of the compiled kernels.
pub trait WeakForm<const D: usize, const C: usize, const K: usize>:
    Copy + Debug + Hash + Send + Sync + 'static
{
    /// The name, used for kernels and messages: letters, digits and underscores.
    const NAME: &'static str;
    /// What is read of the unknown.
    const READS: Uses;
    /// What is read of each coefficient function.
    const COEFFICIENTS: Uses = Uses::NOTHING;
    /// Whether the integrand is linear in the unknown. One that is not makes a residual; its [`Derivative`] is linear.
    const LINEAR: bool = true;
    /// Whether the position is read.
    const POSITION: bool = false;
    /// What of the test function has coefficients.
    const TESTS: Uses;

    /// The degree of quadrature for elements of degree `p`: the sum of the degrees of all factors of the integrand.
    fn quadrature_degree(&self, p: usize) -> usize;

    /// The coefficients of the test function's value and gradient at position `x`, for the unknown and the coefficient
    /// functions there. What was not declared in the constants must not be read; what [`WeakForm::TESTS`] leaves out is
    /// ignored.
    fn integrand<R: Real>(&self, x: [R; D], unknown: &Jet<R, D, C>, coefficients: &[Jet<R, D, C>; K]) -> Jet<R, D, C>;

    /// What holds of the operator (of its derivative, if the form is not linear), so that the laws test it. Nothing but
    /// linearity by default.
    fn claims(&self) -> Claims {
        Claims {
            symmetric: false,
            positive: false,
            null_space: NullSpace::Nothing,
            linear_patch: false,
            repeatable: false,
        }
    }
}

/// The Gateaux derivative of a form with respect to its unknown: linear in the direction, which becomes the unknown; the
/// place where the derivative is taken becomes the coefficient function. Dual numbers do the work.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Derivative<F>(pub F);

impl<F: WeakForm<D, C, 0>, const D: usize, const C: usize> WeakForm<D, C, 1> for Derivative<F> {
    const NAME: &'static str = F::NAME;
    const READS: Uses = F::READS;
    const COEFFICIENTS: Uses = F::READS;
    const POSITION: bool = F::POSITION;
    const TESTS: Uses = F::TESTS;

    fn quadrature_degree(&self, p: usize) -> usize {
        self.0.quadrature_degree(p)
    }
    #[inline(always)]
    fn integrand<R: Real>(&self, x: [R; D], direction: &Jet<R, D, C>, [at]: &[Jet<R, D, C>; 1]) -> Jet<R, D, C> {
        let dual = Jet {
            value: array(
                #[inline(always)]
                |c| Dual::new(at.value[c], direction.value[c]),
            ),
            gradient: array(
                #[inline(always)]
                |c| {
                    array(
                        #[inline(always)]
                        |d| Dual::new(at.gradient[c][d], direction.gradient[c][d]),
                    )
                },
            ),
        };
        let x = array(
            #[inline(always)]
            |d| Dual::constant(x[d]),
        );
        let result = self.0.integrand(x, &dual, &[]);
        Jet {
            value: array(
                #[inline(always)]
                |c| result.value[c].derivative,
            ),
            gradient: array(
                #[inline(always)]
                |c| {
                    array(
                        #[inline(always)]
                        |d| result.gradient[c][d].derivative,
                    )
                },
            ),
        }
    }
    fn claims(&self) -> Claims {
        self.0.claims()
    }
}
