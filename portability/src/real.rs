//! Real numbers and predicates, as abstract as a kernel needs them.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A truth value that may differ between lanes: `bool`, a lane mask, or a traced expression.
pub trait Predicate: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// A constant.
    fn lit(value: bool) -> Self;

    /// `if_true` where the predicate holds, else `if_false`. Both are evaluated.
    #[inline(always)]
    fn select<V: Select<Self>>(self, if_true: V, if_false: V) -> V {
        V::select(self, if_true, if_false)
    }
}

/// Values that a [`Predicate`] can choose between.
pub trait Select<P>: Sized {
    /// `if_true` where `p` holds, else `if_false`.
    fn select(p: P, if_true: Self, if_false: Self) -> Self;
}

/// A real number: `f64`, `f32`, a SIMD pack, a dual number, or a traced expression.
///
/// Finite-element mathematics written over this trait serves every target, the reference code, the counter of FLOPs
/// and automatic differentiation.
pub trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Select<Self::Predicate>
{
    /// The result of comparing two numbers.
    type Predicate: Predicate;

    /// A constant, rounded to the precision of the type.
    fn lit(value: f64) -> Self;
    /// `self * factor + addend`; fused where the target does so at no cost, else rounded twice.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The smaller of two numbers.
    fn min(self, other: Self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Predicate;
    /// `self <= other`.
    fn le(self, other: Self) -> Self::Predicate;
    /// `self == other`.
    fn equals(self, other: Self) -> Self::Predicate;

    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::lit(0.0)
    }
    /// One.
    #[inline(always)]
    fn one() -> Self {
        Self::lit(1.0)
    }
    /// `1 / self`.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::one() / self
    }
    /// `self` times a constant.
    #[inline(always)]
    fn scale(self, factor: f64) -> Self {
        self * Self::lit(factor)
    }
    /// `self * self`.
    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }
}

impl Predicate for bool {
    #[inline(always)]
    fn lit(value: bool) -> Self {
        value
    }
}

macro_rules! scalar_real {
    ($($scalar:ty),*) => {$(
        impl Select<bool> for $scalar {
            #[inline(always)]
            fn select(p: bool, if_true: Self, if_false: Self) -> Self {
                if p { if_true } else { if_false }
            }
        }

        impl Real for $scalar {
            type Predicate = bool;
            #[inline(always)]
            fn lit(value: f64) -> Self {
                value as $scalar
            }
            // Two roundings: without hardware support `mul_add` would call a library function for each element.
            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                self * factor + addend
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn equals(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}
scalar_real!(f64, f32);
