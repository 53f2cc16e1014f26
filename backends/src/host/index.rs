//! Integers of the host: a lane index knows whether it is uniform, of constant stride, or general.

use super::Host;
use super::pack::{MAX_LANES, Mask, Precision};
use farro_portability::{Carry, Integer, Leaf, Select};
use pulp::Simd;
use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Rem, Sub};

/// An integer of the host target: lane `l` holds `base + step * l`, uniform if the step is 0 and a vector access if it
/// is 1. General integers, which differ freely between lanes, are rare and live in a pool; an index stays two words, so
/// that it costs nothing in compiled kernels.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    base: i64,
    step: i64,
}

/// The step of a general integer; its base is the address of its lanes in the pool.
const GENERAL: i64 = i64::MIN;

/// Lanes of a general integer.
type Lanes = [i64; MAX_LANES];

/// Lanes of the general integers of the team that runs on this thread, in blocks that do not move.
#[derive(Default)]
struct Pool {
    blocks: Vec<Box<[Lanes; 256]>>,
    used: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
}

/// Releases all general integers of the thread, before a team begins.
pub(super) fn release_pool() {
    POOL.with_borrow_mut(|pool| pool.used = 0);
}

impl Index {
    #[inline(always)]
    pub(super) fn uniform(base: i64) -> Self {
        Index { base, step: 0 }
    }
    /// `base, base + 1, …` if `by_lanes`, else `base` in all lanes.
    #[inline(always)]
    pub(super) fn along(base: i64, by_lanes: bool) -> Self {
        Index { base, step: i64::from(by_lanes) }
    }
    #[cold]
    #[inline(never)]
    pub(super) fn general(lanes: Lanes) -> Self {
        POOL.with_borrow_mut(|pool| {
            let (block, place) = (pool.used / 256, pool.used % 256);
            if block == pool.blocks.len() {
                pool.blocks.push(Box::new([[0; MAX_LANES]; 256]));
            }
            pool.used += 1;
            pool.blocks[block][place] = lanes;
            Index { base: (&raw const pool.blocks[block][place]).expose_provenance() as i64, step: GENERAL }
        })
    }
    #[inline(always)]
    pub(super) fn is_general(self) -> bool {
        self.step == GENERAL
    }
    /// The value if it is the same in all lanes.
    #[inline(always)]
    pub(super) fn as_uniform(self) -> Option<i64> {
        (self.step == 0).then_some(self.base)
    }
    /// The first value if lanes follow each other.
    #[inline(always)]
    pub(super) fn as_unit_stride(self) -> Option<i64> {
        (self.step == 1).then_some(self.base)
    }
    #[inline(always)]
    pub(super) fn lane(self, lane: usize) -> i64 {
        if self.is_general() { self.lanes()[lane] } else { self.base.wrapping_add(self.step.wrapping_mul(lane as i64)) }
    }
    #[cold]
    #[inline(never)]
    fn lanes(self) -> Lanes {
        if !self.is_general() {
            return std::array::from_fn(|lane| self.lane(lane));
        }
        // SAFETY: the base of a general index is the address of its lanes, and blocks of the pool neither move nor die
        // while the thread runs. They are released between teams, which share no index.
        unsafe { *std::ptr::with_exposed_provenance::<Lanes>(self.base as usize) }
    }
    #[cold]
    #[inline(never)]
    fn zip_general(self, other: Self, f: fn(i64, i64) -> i64) -> Self {
        let (a, b) = (self.lanes(), other.lanes());
        Index::general(std::array::from_fn(|lane| f(a[lane], b[lane])))
    }
    #[cold]
    #[inline(never)]
    fn compare_general(self, other: Self, f: fn(i64, i64) -> bool) -> Mask {
        let (a, b) = (self.lanes(), other.lanes());
        Mask((0..MAX_LANES).fold(0, |bits, lane| bits | u32::from(f(a[lane], b[lane])) << lane))
    }
    #[inline(always)]
    fn both_uniform(self, other: Self) -> bool {
        self.step == 0 && other.step == 0
    }
    #[inline(always)]
    fn zip(self, other: Self, f: fn(i64, i64) -> i64) -> Self {
        if self.both_uniform(other) { Index::uniform(f(self.base, other.base)) } else { self.zip_general(other, f) }
    }
    #[inline(always)]
    fn any_general(self, other: Self) -> bool {
        self.is_general() || other.is_general()
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
        if self.any_general(other) {
            return self.zip_general(other, i64::wrapping_add);
        }
        Index { base: self.base.wrapping_add(other.base), step: self.step.wrapping_add(other.step) }
    }
}
impl Sub for Index {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        if self.any_general(other) {
            return self.zip_general(other, i64::wrapping_sub);
        }
        Index { base: self.base.wrapping_sub(other.base), step: self.step.wrapping_sub(other.step) }
    }
}
impl Mul for Index {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        if other.step == 0 && !self.is_general() {
            Index { base: self.base.wrapping_mul(other.base), step: self.step.wrapping_mul(other.base) }
        } else if self.step == 0 && !other.is_general() {
            Index { base: self.base.wrapping_mul(other.base), step: self.base.wrapping_mul(other.step) }
        } else {
            self.zip_general(other, i64::wrapping_mul)
        }
    }
}
// Lanes that are switched off may hold a zero divisor.
#[inline(always)]
fn quotient(a: i64, b: i64) -> i64 {
    a.checked_div(b).unwrap_or(0)
}
#[inline(always)]
fn remainder(a: i64, b: i64) -> i64 {
    a.checked_rem(b).unwrap_or(0)
}
impl Div for Index {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, quotient)
    }
}
impl Rem for Index {
    type Output = Self;
    #[inline(always)]
    fn rem(self, other: Self) -> Self {
        self.zip(other, remainder)
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
            bits => select_general(bits, a, b),
        }
    }
}
#[cold]
#[inline(never)]
fn select_general(bits: u32, a: Index, b: Index) -> Index {
    let (a, b) = (a.lanes(), b.lanes());
    Index::general(std::array::from_fn(|lane| if bits >> lane & 1 == 1 { a[lane] } else { b[lane] }))
}

/// The first `n` lanes.
#[inline(always)]
fn first(n: i64) -> Mask {
    Mask(((1u64 << n.clamp(0, 32)) - 1) as u32)
}
#[inline(always)]
fn whole(value: bool) -> Mask {
    Mask(if value { u32::MAX } else { 0 })
}

impl Integer for Index {
    type Predicate = Mask;
    #[inline(always)]
    fn widen(self) -> Self {
        self
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask {
        match (self.step, other.step) {
            (0, 0) => whole(self.base < other.base),
            (1, 0) => first(other.base.saturating_sub(self.base)),
            (0, 1) => !first(self.base.saturating_sub(other.base).saturating_add(1)),
            _ => self.compare_general(other, |a, b| a < b),
        }
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask {
        match (self.step, other.step) {
            (0, 0) => whole(self.base <= other.base),
            (1, 0) => first(other.base.saturating_sub(self.base).saturating_add(1)),
            (0, 1) => !first(self.base.saturating_sub(other.base)),
            _ => self.compare_general(other, |a, b| a <= b),
        }
    }
    #[inline(always)]
    fn equals(self, other: Self) -> Mask {
        match (self.step, other.step) {
            (0, 0) => whole(self.base == other.base),
            (1, 0) | (0, 1) => {
                let (along, value) = if self.step == 1 { (self, other) } else { (other, self) };
                let lane = value.base.saturating_sub(along.base);
                first(lane.saturating_add(1)) & !first(lane)
            }
            _ => self.compare_general(other, |a, b| a == b),
        }
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
