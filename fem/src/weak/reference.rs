//! The action without schedules, tables or maps of a kernel: what kernels are compared with.

use super::error::WeakError;
use super::form::{Jet, WeakForm};
use crate::simplex::{DofMap, Lagrange, Quadrature, SimplexMesh, tabulated_degree};

/// The inverse of a small matrix and its determinant, by elimination with pivots.
fn inverse<const D: usize>(mut matrix: [[f64; D]; D]) -> ([[f64; D]; D], f64) {
    let mut result = [[0.0; D]; D];
    for d in 0..D {
        result[d][d] = 1.0;
    }
    let mut determinant = 1.0;
    for column in 0..D {
        let largest = |a: &usize, b: &usize| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs());
        let pivot = (column..D).max_by(largest).unwrap_or(column);
        if pivot != column {
            matrix.swap(column, pivot);
            result.swap(column, pivot);
            determinant = -determinant;
        }
        determinant *= matrix[column][column];
        let scale = 1.0 / matrix[column][column];
        for d in 0..D {
            matrix[column][d] *= scale;
            result[column][d] *= scale;
        }
        for row in (0..D).filter(|&row| row != column) {
            let factor = matrix[row][column];
            for d in 0..D {
                matrix[row][d] -= factor * matrix[column][d];
                result[row][d] -= factor * result[column][d];
            }
        }
    }
    (result, determinant)
}

/// The action of `form` for elements of `degree` on `mesh`, on the host, cell by cell and point by point with a collapsed
/// Gauss rule of a higher degree than the kernels use: the same number for every form whose integrand is a polynomial of
/// the degree that it states. `unknown` is `[node × component]`, `coefficients` `[function × node × component]`.
///
/// # Errors
/// When degree or mesh are not possible or a field has the wrong length.
pub fn dense_action<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(
    form: &F,
    mesh: &SimplexMesh,
    degree: usize,
    unknown: &[f64],
    coefficients: &[f64],
) -> Result<Vec<f64>, WeakError> {
    if mesh.dimension() != D {
        return Err(WeakError::MeshDimension { form: F::NAME, form_dimension: D, mesh_dimension: mesh.dimension() });
    }
    let element = Lagrange::new(D, degree)?;
    let rule = Quadrature::new(D, (form.quadrature_degree(degree) + 2).max(tabulated_degree(D) + 1))?;
    let map = DofMap::<i64>::new(mesh, &element)?;
    let size = map.node_count() * C;
    for (field, found, needed) in [("unknown", unknown.len(), size), ("coefficients", coefficients.len(), K * size)] {
        if found != needed {
            return Err(WeakError::Extents { field: field.into(), found: vec![found], needed: vec![needed] });
        }
    }
    let table = element.tabulate(&rule);
    let mut y = vec![0.0; size];
    for cell in 0..mesh.cell_count() {
        let vertex = |corner: usize| mesh.vertex(mesh.cell(cell)[corner] as usize);
        let mut jacobian = [[0.0; D]; D];
        for a in 0..D {
            for d in 0..D {
                jacobian[d][a] = vertex(a + 1)[d] - vertex(0)[d];
            }
        }
        let (inverse, determinant) = inverse(jacobian);
        for (q, (point, weight)) in rule.iter().enumerate() {
            let basis = |m: usize, n: usize| table.matrices[m][q * element.len() + n];
            // Gradients of basis functions in space.
            let gradient = |n: usize, d: usize| (0..D).map(|a| inverse[a][d] * basis(1 + a, n)).sum::<f64>();
            let jet = |values: &[f64]| {
                let mut jet = Jet::<f64, D, C>::zero();
                for (n, &node) in map.cell(cell).iter().enumerate() {
                    for c in 0..C {
                        let u = values[node as usize * C + c];
                        jet.value[c] += basis(0, n) * u;
                        for d in 0..D {
                            jet.gradient[c][d] += gradient(n, d) * u;
                        }
                    }
                }
                jet
            };
            let mut x = [0.0; D];
            for d in 0..D {
                x[d] = vertex(0)[d] + (0..D).map(|a| jacobian[d][a] * point[a]).sum::<f64>();
            }
            let others = std::array::from_fn(|k| jet(&coefficients[k * size..(k + 1) * size]));
            let test = form.integrand(x, &jet(unknown), &others);
            for (n, &node) in map.cell(cell).iter().enumerate() {
                for c in 0..C {
                    let value = if F::TESTS.value { test.value[c] * basis(0, n) } else { 0.0 };
                    let slope = |d: usize| test.gradient[c][d] * gradient(n, d);
                    let gradient = if F::TESTS.gradient { (0..D).map(slope).sum() } else { 0.0 };
                    y[node as usize * C + c] += weight * determinant.abs() * (value + gradient);
                }
            }
        }
    }
    Ok(y)
}
