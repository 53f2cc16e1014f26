//! The orthonormal basis of polynomials on a simplex (Proriol, Koornwinder, Dubiner), by recurrences without division, so
//! that it is a polynomial in the code too: dual numbers give its gradient everywhere, vertices included.

use farro_portability::Real;

/// Exponents `[n₁, …, n_d]` with `n₁ + … + n_d ≤ degree`, in lexicographic order.
pub(super) fn exponents(dimension: usize, degree: usize) -> Vec<Vec<usize>> {
    if dimension == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in 0..=degree {
        for rest in exponents(dimension - 1, degree - first) {
            all.push([vec![first], rest].concat());
        }
    }
    all
}

/// `tⁿ P_n(x / t)` for n in `0..=degree`, P_n being the Jacobi polynomial with weights (a, 0).
fn scaled_jacobi<R: Real>(degree: usize, a: usize, x: R, t: R) -> Vec<R> {
    let mut values = vec![R::one()];
    let a = a as f64;
    if degree > 0 {
        values.push(x.scale(0.5 * (a + 2.0)) + t.scale(0.5 * a));
    }
    for n in 1..degree {
        let m = n as f64;
        let s = 2.0 * m + a;
        let scale = 1.0 / (2.0 * (m + 1.0) * (m + a + 1.0) * s);
        let slope = x.scale((s + 1.0) * (s + 2.0) * s * scale) + t.scale((s + 1.0) * a * a * scale);
        let back = 2.0 * (m + a) * m * (s + 2.0) * scale;
        values.push(slope * values[n] - t.square().scale(back) * values[n - 1]);
    }
    values
}

/// The values of all basis functions of [`exponents`] at a point of the reference simplex, orthonormal for the measure
/// whose total is 1.
pub(super) fn orthonormal<R: Real>(degree: usize, point: &[R]) -> Vec<R> {
    let dimension = point.len();
    // Sums of the first barycentric coordinates: s₀ = λ₀, s_j = s_{j−1} + λ_j, of which the last is 1.
    let first = point.iter().fold(R::one(), |rest, &x| rest - x);
    let mut sums = vec![first];
    for (j, &x) in point.iter().enumerate() {
        sums.push(sums[j] + x);
    }
    exponents(dimension, degree)
        .into_iter()
        .map(|n| {
            let (mut value, mut total) = (R::one(), 0);
            for j in 0..dimension {
                let jacobi = scaled_jacobi(n[j], 2 * total + j, point[j] - sums[j], sums[j + 1]);
                total += n[j];
                let norm = ((2 * total + j + 1) as f64 / (j + 1) as f64).sqrt();
                value = (value * jacobi[n[j]]).scale(norm);
            }
            value
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Quadrature;
    use super::*;

    #[test]
    fn the_basis_is_orthonormal() {
        for dimension in [2, 3] {
            let degree = 6;
            let rule = Quadrature::new(dimension, 2 * degree).unwrap();
            let size = exponents(dimension, degree).len();
            let mut gram = vec![0.0; size * size];
            for (point, weight) in rule.iter() {
                let values = orthonormal(degree, point);
                for i in 0..size {
                    for j in 0..size {
                        gram[i * size + j] += weight * values[i] * values[j];
                    }
                }
            }
            let volume: f64 = rule.iter().map(|(_, weight)| weight).sum();
            for i in 0..size {
                for j in 0..size {
                    let expected = f64::from(u8::from(i == j));
                    assert!((gram[i * size + j] / volume - expected).abs() < 1e-12, "{dimension}: {i} {j}");
                }
            }
        }
    }
}
