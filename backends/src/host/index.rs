//! Integers of the host: a lane index knows whether it is uniform, of constant stride, or general.

use super::Host;
use super::pack::{MAX_LANES, Mask, Precision};
use farro_portability::{Carry, Integer, Leaf, Select};
use pulp::Simd;
use std::ops::{Add, Div, Mul, Rem, Sub};

/// An integer of the host target.
#[derive(Clone, Copy, Debug)]
pub enum Index {
    /// Lane `l` holds `base + step * l`; uniform if the step is 0, a vector access if it is 1.
    Affine {
        /// Value of lane 0.
        base: i64,
        /// Difference between neighbouring lanes.
        step: i64,
    },
    /// Any value in each lane.
    General([i64; MAX_LANES]),
}

impl Index {
    #[inline(always)]
    pub(crate) fn uniform(base: i64) -> Self {
        Index::Affine { base, step: 0 }
    }
    #[inline(always)]
    pub(crate) fn lane(self, lane: usize) -> i64 {
        match self {
            Index::Affine { base, step } => base + step * lane as i64,
            Index::General(lanes) => lanes[lane],
        }
    }
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(i64, i64) -> i64) -> Self {
        if let (Index::Affine { base: a, step: 0 }, Index::Affine { base: b, step: 0 }) = (self, other) {
            return Index::uniform(f(a, b));
        }
        Index::General(std::array::from_fn(|lane| f(self.lane(lane), other.lane(lane))))
    }
    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(i64, i64) -> bool) -> Mask {
        if let (Index::Affine { base: a, step: 0 }, Index::Affine { base: b, step: 0 }) = (self, other) {
            return Mask(if f(a, b) { u32::MAX } else { 0 });
        }
        let mut bits = 0;
        for lane in 0..MAX_LANES {
            bits |= u32::from(f(self.lane(lane), other.lane(lane))) << lane;
        }
        Mask(bits)
    }
}

impl From<i32> for Index {
    #[inline(always)]
    fn from(value: i32) -> Self {
        Index::uniform(i64::from(value))
    }
}
impl From<i64> for Index {
    #[inline(always)]
    fn from(value: i64) -> Self {
        Index::uniform(value)
    }
}
impl From<usize> for Index {
    #[inline(always)]
    fn from(value: usize) -> Self {
        Index::uniform(value as i64)
    }
}

impl Add for Index {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        match (self, other) {
            (Index::Affine { base: a, step: s }, Index::Affine { base: b, step: t }) => {
                Index::Affine { base: a.wrapping_add(b), step: s.wrapping_add(t) }
            }
            _ => self.zip(other, i64::wrapping_add),
        }
    }
}
impl Sub for Index {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        match (self, other) {
            (Index::Affine { base: a, step: s }, Index::Affine { base: b, step: t }) => {
                Index::Affine { base: a.wrapping_sub(b), step: s.wrapping_sub(t) }
            }
            _ => self.zip(other, i64::wrapping_sub),
        }
    }
}
impl Mul for Index {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        match (self, other) {
            (Index::Affine { base, step }, Index::Affine { base: factor, step: 0 })
            | (Index::Affine { base: factor, step: 0 }, Index::Affine { base, step }) => {
                Index::Affine { base: base.wrapping_mul(factor), step: step.wrapping_mul(factor) }
            }
            _ => self.zip(other, i64::wrapping_mul),
        }
    }
}
// Lanes that are switched off may hold a zero divisor.
impl Div for Index {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a.checked_div(b).unwrap_or(0))
    }
}
impl Rem for Index {
    type Output = Self;
    #[inline(always)]
    fn rem(self, other: Self) -> Self {
        self.zip(other, |a, b| a.checked_rem(b).unwrap_or(0))
    }
}

macro_rules! literal_operator {
    ($($trait:ident $method:ident;)*) => {$(
        impl $trait<i64> for Index {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: i64) -> Self {
                $trait::$method(self, Index::uniform(other))
            }
        }
    )*};
}
literal_operator! { Add add; Sub sub; Mul mul; Div div; Rem rem; }

impl Select<Mask> for Index {
    #[inline(always)]
    fn select(mask: Mask, a: Self, b: Self) -> Self {
        match mask.0 {
            u32::MAX => a,
            0 => b,
            bits => Index::General(std::array::from_fn(|l| if bits >> l & 1 == 1 { a.lane(l) } else { b.lane(l) })),
        }
    }
}

impl Integer for Index {
    type Predicate = Mask;
    #[inline(always)]
    fn widen(self) -> Self {
        self
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask {
        self.compare(other, |a, b| a < b)
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask {
        self.compare(other, |a, b| a <= b)
    }
    #[inline(always)]
    fn equals(self, other: Self) -> Mask {
        self.compare(other, |a, b| a == b)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, i64::min)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, i64::max)
    }
}

impl<'c, S: Simd, P: Precision<S>> Carry<Host<'c, S, P>> for Index {
    #[inline(always)]
    fn map_leaves(self, f: &mut impl FnMut(Leaf<Host<'c, S, P>>) -> Leaf<Host<'c, S, P>>) -> Self {
        match f(Leaf::Int(self)) {
            Leaf::Int(value) => value,
            Leaf::Real(_) => unreachable!("an integer leaf stays an integer"),
        }
    }
    #[inline(always)]
    fn zip_leaves(
        self,
        other: Self,
        f: &mut impl FnMut(Leaf<Host<'c, S, P>>, Leaf<Host<'c, S, P>>) -> Leaf<Host<'c, S, P>>,
    ) -> Self {
        match f(Leaf::Int(self), Leaf::Int(other)) {
            Leaf::Int(value) => value,
            Leaf::Real(_) => unreachable!("an integer leaf stays an integer"),
        }
    }
}
