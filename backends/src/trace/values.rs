//! Traced numbers: handles into the program that is being written.

use super::Tracer;
use super::builder::with;
use super::ir::{Binary, Op, Type, Unary, Value};
use farro_portability::{Carry, Integer, Leaf, Predicate, Real, Select};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Rem, Sub};

/// A traced real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedReal(pub(super) Value);
/// A traced integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedInt(pub(super) Value);
/// A traced truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedBool(pub(super) Value);

macro_rules! operator {
    ($type:ident: $($trait:ident $method:ident $op:ident;)*) => {$(
        impl $trait for $type {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                $type(with(|b| b.binary(Binary::$op, self.0, other.0)))
            }
        }
    )*};
}
operator! { TracedReal: Add add Add; Sub sub Sub; Mul mul Mul; Div div Div; }
operator! { TracedInt: Add add Add; Sub sub Sub; Mul mul Mul; Div div Div; Rem rem Rem; }
operator! { TracedBool: BitAnd bitand And; BitOr bitor Or; }

macro_rules! literal_operator {
    ($($trait:ident $method:ident;)*) => {$(
        impl $trait<i64> for TracedInt {
            type Output = Self;
            fn $method(self, other: i64) -> Self {
                $trait::$method(self, TracedInt::from(other))
            }
        }
    )*};
}
literal_operator! { Add add; Sub sub; Mul mul; Div div; Rem rem; }

impl Neg for TracedReal {
    type Output = Self;
    fn neg(self) -> Self {
        TracedReal(with(|b| b.unary(Unary::Neg, self.0)))
    }
}
impl Not for TracedBool {
    type Output = Self;
    fn not(self) -> Self {
        TracedBool(with(|b| b.unary(Unary::Not, self.0)))
    }
}
impl Predicate for TracedBool {
    fn lit(value: bool) -> Self {
        TracedBool(with(|b| b.bool(value)))
    }
}
impl Select<TracedBool> for TracedReal {
    fn select(p: TracedBool, if_true: Self, if_false: Self) -> Self {
        TracedReal(with(|b| b.select(p.0, if_true.0, if_false.0)))
    }
}
impl Select<TracedBool> for TracedInt {
    fn select(p: TracedBool, if_true: Self, if_false: Self) -> Self {
        TracedInt(with(|b| b.select(p.0, if_true.0, if_false.0)))
    }
}

impl Real for TracedReal {
    type Predicate = TracedBool;
    fn lit(value: f64) -> Self {
        TracedReal(with(|b| b.real(value)))
    }
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        TracedReal(with(|b| {
            let kind = b.kind(self.0);
            b.pure(kind, Op::MulAdd(self.0, factor.0, addend.0))
        }))
    }
    fn sqrt(self) -> Self {
        TracedReal(with(|b| b.unary(Unary::Sqrt, self.0)))
    }
    fn abs(self) -> Self {
        TracedReal(with(|b| b.unary(Unary::Abs, self.0)))
    }
    fn min(self, other: Self) -> Self {
        TracedReal(with(|b| b.binary(Binary::Min, self.0, other.0)))
    }
    fn max(self, other: Self) -> Self {
        TracedReal(with(|b| b.binary(Binary::Max, self.0, other.0)))
    }
    fn lt(self, other: Self) -> TracedBool {
        TracedBool(with(|b| b.binary(Binary::Lt, self.0, other.0)))
    }
    fn le(self, other: Self) -> TracedBool {
        TracedBool(with(|b| b.binary(Binary::Le, self.0, other.0)))
    }
    fn equals(self, other: Self) -> TracedBool {
        TracedBool(with(|b| b.binary(Binary::Eq, self.0, other.0)))
    }
}

impl From<i32> for TracedInt {
    fn from(value: i32) -> Self {
        TracedInt::from(i64::from(value))
    }
}
impl From<i64> for TracedInt {
    fn from(value: i64) -> Self {
        TracedInt(with(|b| b.int(value)))
    }
}
impl From<usize> for TracedInt {
    fn from(value: usize) -> Self {
        TracedInt::from(value as i64)
    }
}
impl Integer for TracedInt {
    type Predicate = TracedBool;
    fn widen(self) -> Self {
        TracedInt(with(|b| b.convert(self.0, Type::I64)))
    }
    fn lt(self, other: Self) -> TracedBool {
        TracedBool(with(|b| b.binary(Binary::Lt, self.0, other.0)))
    }
    fn le(self, other: Self) -> TracedBool {
        TracedBool(with(|b| b.binary(Binary::Le, self.0, other.0)))
    }
    fn equals(self, other: Self) -> TracedBool {
        TracedBool(with(|b| b.binary(Binary::Eq, self.0, other.0)))
    }
    fn min(self, other: Self) -> Self {
        TracedInt(with(|b| b.binary(Binary::Min, self.0, other.0)))
    }
    fn max(self, other: Self) -> Self {
        TracedInt(with(|b| b.binary(Binary::Max, self.0, other.0)))
    }
}

macro_rules! carry {
    ($type:ident, $leaf:ident) => {
        impl Carry<Tracer> for $type {
            fn map_leaves(self, f: &mut impl FnMut(Leaf<Tracer>) -> Leaf<Tracer>) -> Self {
                match f(Leaf::$leaf(self)) {
                    Leaf::$leaf(value) => value,
                    _ => unreachable!("a leaf keeps its kind"),
                }
            }
            fn zip_leaves(self, other: Self, f: &mut impl FnMut(Leaf<Tracer>, Leaf<Tracer>) -> Leaf<Tracer>) -> Self {
                match f(Leaf::$leaf(self), Leaf::$leaf(other)) {
                    Leaf::$leaf(value) => value,
                    _ => unreachable!("a leaf keeps its kind"),
                }
            }
        }
    };
}
carry!(TracedReal, Real);
carry!(TracedInt, Int);
