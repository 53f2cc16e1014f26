//! Quadrature on simplices: the rules of Xiao and Gimbutas where tables have them, collapsed Gauss-Jacobi rules above.

use super::SimplexError;

const TRIANGLE: &str = include_str!("../../data/xiao_gimbutas_triangle.csv");
const TETRAHEDRON: &str = include_str!("../../data/xiao_gimbutas_tetrahedron.csv");

/// Highest degree of a rule.
const MAX_DEGREE: usize = 120;

/// The highest degree for which there are tables: 30 on triangles, 15 on tetrahedra.
pub fn tabulated_degree(dimension: usize) -> usize {
    if dimension == 2 { 30 } else { 15 }
}

/// A quadrature rule on the reference simplex.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadrature {
    dimension: usize,
    degree: usize,
    points: Vec<f64>,
    weights: Vec<f64>,
}

impl Quadrature {
    /// A rule that is exact for polynomials of `degree`.
    ///
    /// # Errors
    /// When the dimension is not 2 or 3 or the degree is above 120.
    pub fn new(dimension: usize, degree: usize) -> Result<Self, SimplexError> {
        if !matches!(dimension, 2 | 3) {
            return Err(SimplexError::Dimension { asked: dimension });
        }
        if degree > MAX_DEGREE {
            return Err(SimplexError::QuadratureDegree { asked: degree, limit: MAX_DEGREE });
        }
        if degree <= tabulated_degree(dimension) {
            Ok(tabulated(dimension, degree))
        } else {
            Ok(collapsed(dimension, degree))
        }
    }
    /// The dimension.
    pub fn dimension(&self) -> usize {
        self.dimension
    }
    /// The degree that was asked for.
    pub fn degree(&self) -> usize {
        self.degree
    }
    /// Number of points.
    pub fn len(&self) -> usize {
        self.weights.len()
    }
    /// Whether there are no points; no rule is empty.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
    /// The weights, which sum to the volume of the reference simplex: `[len]`.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
    /// The points: `[len × dimension]`.
    pub fn points(&self) -> &[f64] {
        &self.points
    }
    /// Points and weights.
    pub fn iter(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.points.chunks(self.dimension).zip(self.weights.iter().copied())
    }
}

/// All distinct permutations.
fn permutations(values: &[f64]) -> Vec<Vec<f64>> {
    if values.len() < 2 {
        return vec![values.to_vec()];
    }
    let mut all: Vec<Vec<f64>> = Vec::new();
    for (i, &first) in values.iter().enumerate() {
        if values[..i].contains(&first) {
            continue;
        }
        let rest: Vec<f64> = values.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &value)| value).collect();
        all.extend(permutations(&rest).into_iter().map(|rest| [vec![first], rest].concat()));
    }
    all
}

fn tabulated(dimension: usize, degree: usize) -> Quadrature {
    let (text, symmetric) = if dimension == 2 { (TRIANGLE, true) } else { (TETRAHEDRON, false) };
    let volume = if dimension == 2 { 0.5 } else { 1.0 / 6.0 };
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    let wanted = degree.max(1).to_string();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((found, rest)) = line.split_once(',') else { continue };
        if found != wanted {
            continue;
        }
        let numbers: Vec<f64> = rest.split(',').filter_map(|number| number.parse().ok()).collect();
        let orbit = if symmetric { permutations(&numbers[1..]) } else { vec![numbers[1..].to_vec()] };
        for barycentric in orbit {
            points.extend_from_slice(&barycentric[1..]);
            weights.push(numbers[0] * volume);
        }
    }
    Quadrature { dimension, degree, points, weights }
}

/// The Gauss-Jacobi rule of `n` points on 0..1 with the weight `(1 − x)^a`: points and weights.
pub fn gauss_jacobi(n: usize, a: usize) -> (Vec<f64>, Vec<f64>) {
    let alpha = a as f64;
    // Value and derivative of the Jacobi polynomial (α, 0) of degree n on −1..1, and the value of degree n − 1.
    let jacobi = |x: f64| {
        let (mut before, mut value) = (1.0, 0.5 * (alpha + (alpha + 2.0) * x));
        for k in 1..n {
            let m = k as f64;
            let s = 2.0 * m + alpha;
            let scale = 1.0 / (2.0 * (m + 1.0) * (m + alpha + 1.0) * s);
            let next = (s + 1.0) * ((s + 2.0) * s * x + alpha * alpha) * scale * value
                - 2.0 * (m + alpha) * m * (s + 2.0) * scale * before;
            (before, value) = (value, next);
        }
        let m = n as f64;
        let s = 2.0 * m + alpha;
        let slope = (m * (alpha - s * x) * value + 2.0 * (m + alpha) * m * before) / (s * (1.0 - x * x));
        (value, slope)
    };
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    let mut roots: Vec<f64> = Vec::new();
    for k in 0..n {
        let mut x = -((2 * k + 1) as f64 * std::f64::consts::PI / (2 * n) as f64).cos();
        if let Some(&last) = roots.last() {
            x = 0.5 * (x + last);
        }
        // Newton's method on the polynomial without the roots that are known.
        for _ in 0..100 {
            let (value, slope) = jacobi(x);
            let known: f64 = roots.iter().map(|root| 1.0 / (x - root)).sum();
            let step = value / (slope - known * value);
            x -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        roots.push(x);
    }
    for x in roots {
        let (_, slope) = jacobi(x);
        // On −1..1 the weight is 2^{α+1} / ((1 − x²) P'(x)²) for (α, 0); 2^{−α−1} maps it to 0..1.
        weights.push(1.0 / ((1.0 - x * x) * slope * slope));
        points.push(0.5 * (1.0 + x));
    }
    (points, weights)
}

/// The collapsed rule with ⌊(degree + 2) / 2⌋ points a direction.
fn collapsed(dimension: usize, degree: usize) -> Quadrature {
    let n = (degree + 2) / 2;
    let rules: Vec<_> = (0..dimension).map(|a| gauss_jacobi(n, a)).collect();
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    for place in 0..n.pow(dimension as u32) {
        let (mut rest, mut weight, mut left) = (place, 1.0, 1.0);
        let mut point = vec![0.0; dimension];
        // The direction that is collapsed most often has the largest weight function.
        for d in (0..dimension).rev() {
            let (x, w) = (rules[d].0[rest % n], rules[d].1[rest % n]);
            rest /= n;
            point[d] = left * x;
            left *= 1.0 - x;
            weight *= w;
        }
        points.extend(point);
        weights.push(weight);
    }
    Quadrature { dimension, degree, points, weights }
}
