//! Lagrange elements: nodes, and the values and derivatives of their basis functions.
//!
//! **Spacing.** The nodes are the recursive interpolation nodes of Isaac (2020) over the Gauss-Lobatto-Legendre points:
//! those points on each edge, and symmetric inside. They interpolate well up to the degrees here, where nodes of equal
//! spacing begin to oscillate; up to degree 2 both are the same.

use super::orthogonal::{exponents, orthonormal};
use super::{Quadrature, SimplexError};
use farro_portability::Dual;

/// Highest degree of an element: 8 on triangles, 6 on tetrahedra.
pub fn max_degree(dimension: usize) -> usize {
    if dimension == 2 { 8 } else { 6 }
}

/// Nodes of a cell: `C(degree + dimension, dimension)`.
pub fn node_count(dimension: usize, degree: usize) -> usize {
    (1..=dimension).fold(1, |count, d| count * (degree + d) / d)
}

/// The Lagrange element of a degree on triangles or tetrahedra.
#[derive(Clone, Debug, PartialEq)]
pub struct Lagrange {
    dimension: usize,
    degree: usize,
    /// Multi-indices over the vertices of the cell, `[node][dimension + 1]`, each of sum `degree`.
    lattice: Vec<Vec<usize>>,
    /// Barycentric coordinates, `[node][dimension + 1]`.
    nodes: Vec<Vec<f64>>,
    /// Coefficients of the basis functions in the orthonormal basis, `[orthonormal × node]`.
    coefficients: Vec<f64>,
}

/// Values and derivatives of basis functions at points.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Points.
    pub points: usize,
    /// Basis functions.
    pub nodes: usize,
    /// Values, then the derivative along each reference direction: `[1 + dimension][points × nodes]`.
    pub matrices: Vec<Vec<f64>>,
}

impl Lagrange {
    /// The element of `degree` in `dimension`.
    ///
    /// # Errors
    /// When the dimension is not 2 or 3, or the degree not between 1 and [`max_degree`].
    pub fn new(dimension: usize, degree: usize) -> Result<Self, SimplexError> {
        if !matches!(dimension, 2 | 3) {
            return Err(SimplexError::Dimension { asked: dimension });
        }
        let limit = max_degree(dimension);
        if !(1..=limit).contains(&degree) {
            return Err(SimplexError::Degree { asked: degree, dimension, limit });
        }
        let mut lattice: Vec<Vec<usize>> = exponents(dimension, degree)
            .into_iter()
            .map(|rest| [vec![degree - rest.iter().sum::<usize>()], rest].concat())
            .collect();
        // Vertices first, then edges, faces and the interior, so that an entity's nodes lie together; within an entity
        // in an order of its own vertices, which all cells at it share.
        lattice.sort_by_key(|index| (index.iter().filter(|&&i| i > 0).count(), support(index), index.clone()));
        let edges: Vec<_> = (0..=degree).map(lobatto).collect();
        let nodes: Vec<_> = lattice.iter().map(|index| recursive_node(index, &edges)).collect();
        let size = nodes.len();
        let mut vandermonde = vec![0.0; size * size];
        for (row, node) in vandermonde.chunks_mut(size).zip(&nodes) {
            row.copy_from_slice(&orthonormal(degree, &node[1..]));
        }
        let coefficients = inverse(vandermonde, size);
        Ok(Lagrange { dimension, degree, lattice, nodes, coefficients })
    }
    /// The dimension.
    pub fn dimension(&self) -> usize {
        self.dimension
    }
    /// The degree.
    pub fn degree(&self) -> usize {
        self.degree
    }
    /// Nodes of a cell.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Whether there are no nodes; no element is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// Barycentric coordinates of a node: `[dimension + 1]`.
    pub fn node(&self, node: usize) -> &[f64] {
        &self.nodes[node]
    }
    /// The vertices of the cell between which a node lies, as bits.
    pub(super) fn support(&self, node: usize) -> usize {
        support(&self.lattice[node])
    }
    /// The values of all basis functions at a point of the reference simplex.
    pub fn values(&self, point: &[f64]) -> Vec<f64> {
        let basis = orthonormal(self.degree, point);
        (0..self.len())
            .map(|node| (0..self.len()).map(|k| basis[k] * self.coefficients[k * self.len() + node]).sum())
            .collect()
    }
    /// Values and derivatives at the points of a rule.
    pub fn tabulate(&self, rule: &Quadrature) -> Table {
        let size = self.len();
        let mut matrices = vec![Vec::with_capacity(rule.len() * size); 1 + self.dimension];
        for (point, _) in rule.iter() {
            let values = orthonormal(self.degree, point);
            let mut all = vec![values];
            for direction in 0..self.dimension {
                let dual: Vec<_> =
                    point.iter().enumerate().map(|(d, &x)| Dual::new(x, f64::from(u8::from(d == direction)))).collect();
                all.push(orthonormal(self.degree, &dual).into_iter().map(|value| value.derivative).collect());
            }
            for (matrix, basis) in matrices.iter_mut().zip(all) {
                matrix.extend(
                    (0..size).map(|node| (0..size).map(|k| basis[k] * self.coefficients[k * size + node]).sum::<f64>()),
                );
            }
        }
        Table { points: rule.len(), nodes: size, matrices }
    }
}

fn support(index: &[usize]) -> usize {
    index.iter().enumerate().map(|(vertex, &i)| usize::from(i > 0) << vertex).sum()
}

/// The Gauss-Lobatto-Legendre points of degree `n` on 0..1; one half for degree 0.
fn lobatto(n: usize) -> Vec<f64> {
    if n == 0 {
        return vec![0.5];
    }
    let legendre = |x: f64| {
        let (mut before, mut value) = (1.0, x);
        for k in 1..n {
            let m = k as f64;
            (before, value) = (value, ((2.0 * m + 1.0) * x * value - m * before) / (m + 1.0));
        }
        (before, value)
    };
    let mut points: Vec<f64> = (0..=n)
        .map(|k| {
            let mut x = -(std::f64::consts::PI * k as f64 / n as f64).cos();
            for _ in 0..100 {
                let (before, value) = legendre(x);
                let step = (x * value - before) / ((n + 1) as f64 * value);
                x -= step;
                if step.abs() < 1e-16 {
                    break;
                }
            }
            0.5 * (1.0 + x)
        })
        .collect();
    // Exactly symmetric, so that both cells at an edge see the same nodes.
    for k in 0..=n / 2 {
        let mean = 0.5 * (points[k] + 1.0 - points[n - k]);
        (points[k], points[n - k]) = (mean, 1.0 - mean);
    }
    (points[0], points[n]) = (0.0, 1.0);
    points
}

/// The node of a multi-index: the mean of the nodes that it has on the facets, weighted by its distance from them.
fn recursive_node(index: &[usize], edges: &[Vec<f64>]) -> Vec<f64> {
    let degree: usize = index.iter().sum();
    if index.len() == 1 {
        return vec![1.0];
    }
    if index.len() == 2 {
        return vec![edges[degree][index[0]], edges[degree][index[1]]];
    }
    let (mut node, mut total) = (vec![0.0; index.len()], 0.0);
    for left_out in 0..index.len() {
        let weight = edges[degree][degree - index[left_out]];
        if weight == 0.0 {
            continue;
        }
        let mut facet = index.to_vec();
        facet.remove(left_out);
        let inner = recursive_node(&facet, edges);
        for (place, value) in (0..index.len()).filter(|&i| i != left_out).zip(inner) {
            node[place] += weight * value;
        }
        total += weight;
    }
    node.iter().map(|value| value / total).collect()
}

/// The inverse of a matrix of full rank, by elimination with pivots.
fn inverse(mut matrix: Vec<f64>, size: usize) -> Vec<f64> {
    let mut result = vec![0.0; size * size];
    for i in 0..size {
        result[i * size + i] = 1.0;
    }
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| matrix[a * size + column].abs().total_cmp(&matrix[b * size + column].abs()))
            .unwrap_or(column);
        for j in 0..size {
            matrix.swap(column * size + j, pivot * size + j);
            result.swap(column * size + j, pivot * size + j);
        }
        let scale = 1.0 / matrix[column * size + column];
        for j in 0..size {
            matrix[column * size + j] *= scale;
            result[column * size + j] *= scale;
        }
        for row in (0..size).filter(|&row| row != column) {
            let factor = matrix[row * size + column];
            for j in 0..size {
                matrix[row * size + j] -= factor * matrix[column * size + j];
                result[row * size + j] -= factor * result[column * size + j];
            }
        }
    }
    result
}
