//! Integers of the host: a lane index knows whether it is uniform, of constant stride, or general.

use super::Host;
use super::gather::Steps;
use super::pack::{MAX_LANES, Mask, Precision, Set};
use farro_portability::{Carry, Integer, Leaf, Select};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Rem, Sub};

/// An integer of the host target: lane `l` holds `base + step * l`, uniform if the step is 0 and a vector access if it
/// is 1. General integers, which differ freely between lanes, are rarer; their lanes live in a pool and lane `l` holds
/// `base` plus its entry there, so that shifts by a uniform integer are free. An index stays two words, and branches
/// for general integers are few, so that they cost nothing in compiled kernels.
pub struct Index<S, P> {
    base: i64,
    step: i64,
    marker: PhantomData<(S, P)>,
}

impl<S, P> Clone for Index<S, P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S, P> Copy for Index<S, P> {}
impl<S, P> fmt::Debug for Index<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("base", &self.base).field("step", &self.step).finish()
    }
}

/// The step of a general integer is this plus the address of its lanes in the pool.
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

/// Keeps the lanes of a general integer and returns its step.
fn keep(lanes: Lanes) -> i64 {
    POOL.with_borrow_mut(|pool| {
        let (block, place) = (pool.used / 256, pool.used % 256);
        if block == pool.blocks.len() {
            pool.blocks.push(Box::new([[0; MAX_LANES]; 256]));
        }
        pool.used += 1;
        pool.blocks[block][place] = lanes;
        GENERAL + (&raw const pool.blocks[block][place]).expose_provenance() as i64
    })
}

impl<S: Set, P: Precision<S>> Index<S, P> {
    #[inline(always)]
    fn new(base: i64, step: i64) -> Self {
        Index { base, step, marker: PhantomData }
    }
    #[inline(always)]
    pub(super) fn uniform(base: i64) -> Self {
        Index::new(base, 0)
    }
    /// `base, base + 1, …` if `by_lanes`, else `base` in all lanes.
    #[inline(always)]
    pub(super) fn along(base: i64, by_lanes: bool) -> Self {
        Index::new(base, i64::from(by_lanes))
    }
    #[cold]
    #[inline(never)]
    pub(super) fn general(lanes: Lanes) -> Self {
        Index::new(0, keep(lanes))
    }
    #[inline(always)]
    fn is_general(self) -> bool {
        self.step < GENERAL / 2
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
    pub(super) fn base(self) -> i64 {
        self.base
    }
    /// What lanes add to the base.
    #[inline(always)]
    pub(super) fn steps(self) -> Steps {
        if self.is_general() { Steps::Table(self.pooled_at()) } else { Steps::Line(self.step) }
    }
    #[inline(always)]
    fn pooled_at(self) -> *const i64 {
        std::ptr::with_exposed_provenance((self.step - GENERAL) as usize)
    }
    #[inline(always)]
    pub(super) fn lane(self, lane: usize) -> i64 {
        let rest = if self.is_general() { self.pooled()[lane] } else { self.step.wrapping_mul(lane as i64) };
        self.base.wrapping_add(rest)
    }
    #[cold]
    #[inline(never)]
    fn pooled(self) -> Lanes {
        // SAFETY: the step of a general index holds the address of its lanes, and blocks of the pool neither move nor die
        // while the thread runs. They are released between teams, which share no index.
        unsafe { *self.pooled_at().cast::<Lanes>() }
    }
    fn lanes(self) -> Lanes {
        std::array::from_fn(|lane| self.lane(lane))
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
    /// The last lane of an integer that is not general.
    #[inline(always)]
    fn last(self) -> i64 {
        self.base.wrapping_add(self.step.wrapping_mul(P::LANES as i64 - 1))
    }
    /// Division by a positive uniform integer, where lanes stay in one row or jump whole rows: quotient and remainder.
    #[inline]
    fn divided(self, other: Self) -> Option<[Self; 2]> {
        let divisor = other.as_uniform().filter(|&d| d > 0)?;
        if self.is_general() || self.base < 0 || self.last() < 0 {
            return None;
        }
        let quotient = self.base / divisor;
        if self.last() / divisor == quotient {
            return Some([Index::uniform(quotient), Index::new(self.base - quotient * divisor, self.step)]);
        }
        let along = self.step / divisor;
        (along * divisor == self.step)
            .then(|| [Index::new(quotient, along), Index::uniform(self.base - quotient * divisor)])
    }
    #[inline(never)]
    fn quotient(self, other: Self) -> Self {
        match self.divided(other) {
            Some([quotient, _]) => quotient,
            None => self.zip_general(other, quotient),
        }
    }
    #[inline(never)]
    fn remainder(self, other: Self) -> Self {
        match self.divided(other) {
            Some([_, remainder]) => remainder,
            None => self.zip_general(other, remainder),
        }
    }
    /// Whether `self <= other` in all lanes or in none, where the lanes of both lie on lines.
    #[inline(always)]
    fn wholly_at_most(self, other: Self) -> Option<bool> {
        if self.is_general() || other.is_general() {
            return None;
        }
        let (first, last) = (self.base <= other.base, self.last() <= other.last());
        (first == last).then_some(first)
    }
    #[cold]
    #[inline(never)]
    fn dot_general<const R: usize>(index: &[Self; R], strides: &[Self; R]) -> Self {
        let mut lanes = [0i64; MAX_LANES];
        for (index, stride) in index.iter().zip(strides) {
            let (a, b) = (index.lanes(), stride.lanes());
            for (lane, sum) in lanes.iter_mut().enumerate() {
                *sum = sum.wrapping_add(a[lane].wrapping_mul(b[lane]));
            }
        }
        Index::general(lanes)
    }
}

impl<S: Set, P: Precision<S>> From<i32> for Index<S, P> {
    #[inline(always)]
    fn from(value: i32) -> Self {
        Index::uniform(i64::from(value))
    }
}
impl<S: Set, P: Precision<S>> From<i64> for Index<S, P> {
    #[inline(always)]
    fn from(value: i64) -> Self {
        Index::uniform(value)
    }
}
impl<S: Set, P: Precision<S>> From<usize> for Index<S, P> {
    #[inline(always)]
    fn from(value: usize) -> Self {
        Index::uniform(value as i64)
    }
}

// A general integer and a uniform one add up like others; whatever is general with anything else is rare.
impl<S: Set, P: Precision<S>> Add for Index<S, P> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        if (self.is_general() && other.step != 0) || (other.is_general() && self.step != 0) {
            return self.zip_general(other, i64::wrapping_add);
        }
        Index::new(self.base.wrapping_add(other.base), self.step.wrapping_add(other.step))
    }
}
impl<S: Set, P: Precision<S>> Sub for Index<S, P> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        if (self.is_general() && other.step != 0) || other.is_general() {
            return self.zip_general(other, i64::wrapping_sub);
        }
        Index::new(self.base.wrapping_sub(other.base), self.step.wrapping_sub(other.step))
    }
}
impl<S: Set, P: Precision<S>> Mul for Index<S, P> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        if other.step == 0 && !self.is_general() {
            Index::new(self.base.wrapping_mul(other.base), self.step.wrapping_mul(other.base))
        } else if self.step == 0 && !other.is_general() {
            Index::new(self.base.wrapping_mul(other.base), self.base.wrapping_mul(other.step))
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
impl<S: Set, P: Precision<S>> Div for Index<S, P> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        if self.both_uniform(other) { Index::uniform(quotient(self.base, other.base)) } else { self.quotient(other) }
    }
}
impl<S: Set, P: Precision<S>> Rem for Index<S, P> {
    type Output = Self;
    #[inline(always)]
    fn rem(self, other: Self) -> Self {
        if self.both_uniform(other) { Index::uniform(remainder(self.base, other.base)) } else { self.remainder(other) }
    }
}

macro_rules! literal_operator {
    ($($trait:ident $method:ident;)*) => {$(
        impl<S: Set, P: Precision<S>> $trait<i64> for Index<S, P> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: i64) -> Self {
                $trait::$method(self, Index::uniform(other))
            }
        }
    )*};
}
literal_operator! { Add add; Sub sub; Mul mul; Div div; Rem rem; }

impl<S: Set, P: Precision<S>> Select<Mask> for Index<S, P> {
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
fn select_general<S: Set, P: Precision<S>>(bits: u32, a: Index<S, P>, b: Index<S, P>) -> Index<S, P> {
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

impl<S: Set, P: Precision<S>> Integer for Index<S, P> {
    type Predicate = Mask;
    #[inline(always)]
    fn widen(self) -> Self {
        self
    }
    /// One test for all indices instead of one for each operation.
    #[inline(always)]
    fn dot<const R: usize>(index: [Self; R], strides: [Self; R]) -> Self {
        let mut sum = Index::uniform(0);
        let mut general = false;
        macro_rules! unrolled {
            ($($d:literal)*) => {$(
                if $d < R {
                    let (index, stride) = (index[$d], strides[$d]);
                    sum.base = sum.base.wrapping_add(index.base.wrapping_mul(stride.base));
                    sum.step = sum.step.wrapping_add(index.step.wrapping_mul(stride.base));
                    general |= index.is_general() || stride.step != 0;
                }
            )*};
        }
        unrolled!(0 1 2 3 4 5);
        if general { Index::dot_general(&index, &strides) } else { sum }
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
        match self.wholly_at_most(other) {
            Some(true) => self,
            Some(false) => other,
            None => self.zip_general(other, i64::min),
        }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        match self.wholly_at_most(other) {
            Some(true) => other,
            Some(false) => self,
            None => self.zip_general(other, i64::max),
        }
    }
}

impl<'c, S: Set, P: Precision<S>> Carry<Host<'c, S, P>> for Index<S, P> {
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
