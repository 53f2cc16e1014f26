//! Dual numbers: a value with its derivative in one direction.

use crate::real::{Real, Select};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `value + ε derivative` with `ε² = 0`: evaluating a formula yields its directional derivative as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<R> {
    /// The value.
    pub value: R,
    /// The derivative in the seeded direction.
    pub derivative: R,
}

impl<R: Real> Dual<R> {
    /// A value that moves with speed `derivative`.
    pub fn new(value: R, derivative: R) -> Self {
        Dual { value, derivative }
    }
    /// A value that does not move.
    pub fn constant(value: R) -> Self {
        Dual { value, derivative: R::zero() }
    }
}

impl<R: Real> Add for Dual<R> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Dual::new(self.value + o.value, self.derivative + o.derivative)
    }
}
impl<R: Real> Sub for Dual<R> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Dual::new(self.value - o.value, self.derivative - o.derivative)
    }
}
impl<R: Real> Mul for Dual<R> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Dual::new(self.value * o.value, self.value.mul_add(o.derivative, self.derivative * o.value))
    }
}
impl<R: Real> Div for Dual<R> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let quotient = self.value / o.value;
        Dual::new(quotient, (self.derivative - quotient * o.derivative) / o.value)
    }
}
impl<R: Real> Neg for Dual<R> {
    type Output = Self;
    fn neg(self) -> Self {
        Dual::new(-self.value, -self.derivative)
    }
}
impl<R: Real> Select<R::Predicate> for Dual<R> {
    fn select(p: R::Predicate, a: Self, b: Self) -> Self {
        Dual::new(R::select(p, a.value, b.value), R::select(p, a.derivative, b.derivative))
    }
}
impl<R: Real> Real for Dual<R> {
    type Predicate = R::Predicate;
    fn lit(value: f64) -> Self {
        Dual::constant(R::lit(value))
    }
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self * factor + addend
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        Dual::new(root, self.derivative / (root + root))
    }
    fn abs(self) -> Self {
        Self::select(self.value.lt(R::zero()), -self, self)
    }
    fn min(self, other: Self) -> Self {
        Self::select(self.value.lt(other.value), self, other)
    }
    fn max(self, other: Self) -> Self {
        Self::select(other.value.lt(self.value), self, other)
    }
    fn lt(self, other: Self) -> Self::Predicate {
        self.value.lt(other.value)
    }
    fn le(self, other: Self) -> Self::Predicate {
        self.value.le(other.value)
    }
    fn equals(self, other: Self) -> Self::Predicate {
        self.value.equals(other.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivative_of_a_rational_function() {
        // f(x) = sqrt(x) / (1 + x²): f' = (1/(2 sqrt x)) / (1+x²) − sqrt(x) 2x / (1+x²)².
        let x = 1.7_f64;
        let d = Dual::new(x, 1.0);
        let f = d.sqrt() / (Dual::lit(1.0) + d * d);
        let expected = 0.5 / x.sqrt() / (1.0 + x * x) - x.sqrt() * 2.0 * x / (1.0 + x * x).powi(2);
        assert!((f.derivative - expected).abs() < 1e-15);
    }
}
