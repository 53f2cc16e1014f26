//! What a schedule must know of a form.

use crate::simplex::{Lagrange, Quadrature};
use crate::weak::{WeakError, WeakForm, check_form};

/// Sizes of the action of a form for elements of a degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// The name of the form.
    pub form: &'static str,
    /// Dimension d.
    pub dimension: usize,
    /// Degree p of the elements.
    pub degree: usize,
    /// Components c of a function.
    pub components: usize,
    /// Functions that are read, the unknown among them.
    pub functions: usize,
    /// Reference matrices by which functions are evaluated.
    pub evaluation_matrices: usize,
    /// Reference matrices of the quadrature.
    pub quadrature_matrices: usize,
    /// Nodes N of a cell.
    pub nodes: usize,
    /// Quadrature points Q.
    pub points: usize,
}

impl Case {
    /// The case of a form for elements of `degree`.
    ///
    /// # Errors
    /// When the form does what it did not declare, or the degree is not possible.
    pub fn new<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(
        form: &F,
        degree: usize,
    ) -> Result<Self, WeakError> {
        check_form(form)?;
        let nodes = Lagrange::new(D, degree)?.len();
        let points = Quadrature::new(D, form.quadrature_degree(degree))?.len();
        Ok(Case {
            form: F::NAME,
            dimension: D,
            degree,
            components: C,
            functions: 1 + K,
            evaluation_matrices: F::READS.or(F::COEFFICIENTS).matrices(D),
            quadrature_matrices: F::TESTS.matrices(D),
            nodes,
            points,
        })
    }
    /// Values E that are stored for a point between the stages.
    pub fn values_per_point(&self) -> usize {
        self.components * self.quadrature_matrices
    }
}
