//! Integers of a kernel: indices and offsets.

use crate::real::{Predicate, Select};
use std::ops::{Add, Div, Mul, Rem, Sub};

/// An index or offset. It may be uniform, a lane index of unit stride, or differ freely between lanes.
///
/// Arithmetic with `i64` literals is allowed, and conversion from `usize` and `i32`. Division rounds towards zero;
/// dividing by zero is an error that the checked target reports.
pub trait Integer:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Add<i64, Output = Self>
    + Sub<i64, Output = Self>
    + Mul<i64, Output = Self>
    + Div<i64, Output = Self>
    + Rem<i64, Output = Self>
    + From<i32>
    + From<i64>
    + From<usize>
    + Select<Self::Predicate>
{
    /// The result of comparing two integers.
    type Predicate: Predicate;

    /// The same value as a 64-bit offset. Inside a tile 32 bits serve; offsets into a view may need more.
    fn widen(self) -> Self;
    /// The offset of an element: the sum of indices times strides, strides being uniform. A target that can do better
    /// than one operation after the other says how; the rank is at most 6.
    #[inline(always)]
    fn dot<const R: usize>(index: [Self; R], strides: [Self; R]) -> Self {
        let mut sum = Self::from(0i32);
        macro_rules! unrolled {
            ($($d:literal)*) => {$(
                if $d < R {
                    let term = index[$d].widen() * strides[$d];
                    sum = if $d == 0 { term } else { sum + term };
                }
            )*};
        }
        unrolled!(0 1 2 3 4 5);
        sum
    }
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Predicate;
    /// `self <= other`.
    fn le(self, other: Self) -> Self::Predicate;
    /// `self == other`.
    fn equals(self, other: Self) -> Self::Predicate;
    /// The smaller of two integers.
    fn min(self, other: Self) -> Self;
    /// The larger of two integers.
    fn max(self, other: Self) -> Self;
}

/// A plain host integer, so that offsets of host accessors and of kernels are one formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HostIndex(pub i64);

macro_rules! host_index_operator {
    ($($trait:ident $method:ident $op:tt;)*) => {$(
        impl $trait for HostIndex {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                HostIndex(self.0 $op other.0)
            }
        }
        impl $trait<i64> for HostIndex {
            type Output = Self;
            fn $method(self, other: i64) -> Self {
                HostIndex(self.0 $op other)
            }
        }
    )*};
}
host_index_operator! { Add add +; Sub sub -; Mul mul *; Div div /; Rem rem %; }

impl From<i32> for HostIndex {
    fn from(value: i32) -> Self {
        HostIndex(i64::from(value))
    }
}
impl From<i64> for HostIndex {
    fn from(value: i64) -> Self {
        HostIndex(value)
    }
}
impl From<usize> for HostIndex {
    fn from(value: usize) -> Self {
        HostIndex(value as i64)
    }
}
impl Select<bool> for HostIndex {
    fn select(p: bool, if_true: Self, if_false: Self) -> Self {
        if p { if_true } else { if_false }
    }
}
impl Integer for HostIndex {
    type Predicate = bool;
    fn widen(self) -> Self {
        self
    }
    fn lt(self, other: Self) -> bool {
        self.0 < other.0
    }
    fn le(self, other: Self) -> bool {
        self.0 <= other.0
    }
    fn equals(self, other: Self) -> bool {
        self == other
    }
    fn min(self, other: Self) -> Self {
        Ord::min(self, other)
    }
    fn max(self, other: Self) -> Self {
        Ord::max(self, other)
    }
}
