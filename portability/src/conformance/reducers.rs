//! Reducers under test: how a sample becomes a value, and what the host says the result is.

use super::lab::Generator;
use crate::prelude::*;
use crate::{KernelView, Leaf};

/// Samples that ask for it hold this key at one place.
pub(super) const MARK: i64 = 7;

/// What a value is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample<R, I> {
    /// A small integer, as a real.
    pub real: R,
    /// A power of two or its negative, mostly one.
    pub factor: R,
    /// An integer, mostly beyond 32 bits, or [`MARK`].
    pub key: I,
    /// Its index.
    pub index: I,
}

/// One number of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Real(f64),
    Int(i64),
}
use Number::{Int, Real as Re};

impl Number {
    pub fn as_f64(self) -> f64 {
        match self {
            Re(real) => real,
            Int(int) => int as f64,
        }
    }
}

pub(super) type HostSample = Sample<f64, i64>;

/// A reducer under test.
pub(super) trait Tested: Reducer {
    fn sample<T: Target>(target: T, sample: Sample<T::Real, T::Int>) -> Self::Value<T>;
    /// The result over samples, number by number.
    fn expected(samples: &[HostSample]) -> Vec<Number>;
}

macro_rules! tested {
    ($reducer:ident, |$target:ident, $sample:ident| $value:expr, |$samples:ident| $expected:expr) => {
        impl Tested for $reducer {
            fn sample<T: Target>($target: T, $sample: Sample<T::Real, T::Int>) -> Self::Value<T> {
                let _ = $target;
                $value
            }
            fn expected($samples: &[HostSample]) -> Vec<Number> {
                $expected.to_vec()
            }
        }
    };
}

fn reals(samples: &[HostSample]) -> impl Iterator<Item = f64> {
    samples.iter().map(|s| s.real)
}
fn keys(samples: &[HostSample]) -> impl Iterator<Item = i64> {
    samples.iter().map(|s| s.key)
}
fn least(samples: &[HostSample]) -> f64 {
    reals(samples).fold(f64::INFINITY, f64::min)
}
fn greatest(samples: &[HostSample]) -> f64 {
    reals(samples).fold(f64::NEG_INFINITY, f64::max)
}
fn place(samples: &[HostSample], value: f64) -> i64 {
    samples.iter().find(|s| s.real == value).map_or(-1, |s| s.index)
}

tested!(Sum, |t, s| s.real, |samples| [Re(reals(samples).sum::<f64>() + 0.0)]);
tested!(Product, |t, s| s.factor, |samples| [Re(samples.iter().map(|s| s.factor).product())]);
tested!(Min, |t, s| s.real, |samples| [Re(least(samples))]);
tested!(Max, |t, s| s.real, |samples| [Re(greatest(samples))]);
tested!(MinMax, |t, s| [s.real, s.real], |samples| [Re(least(samples)), Re(greatest(samples))]);
tested!(MinLoc, |t, s| (s.real, s.index), |samples| {
    let value = least(samples);
    [Re(value), Int(place(samples, value))]
});
tested!(MaxLoc, |t, s| (s.real, s.index), |samples| {
    let value = greatest(samples);
    [Re(value), Int(place(samples, value))]
});
tested!(SumInt, |t, s| s.key, |samples| [Int(keys(samples).sum())]);
tested!(MinInt, |t, s| s.key, |samples| [Int(keys(samples).min().unwrap_or(i64::MAX))]);
tested!(MaxInt, |t, s| s.key, |samples| [Int(keys(samples).max().unwrap_or(i64::MIN))]);
// Any non-zero number counts as true, also a negative one.
tested!(All, |t, s| s.key.equals(T::Int::from(MARK)).select(T::Int::from(0i32), T::Int::from(-3i32)), |samples| [Int(
    i64::from(keys(samples).all(|key| key != MARK))
)]);
tested!(Any, |t, s| s.key.equals(T::Int::from(MARK)).select(T::Int::from(-3i32), T::Int::from(0i32)), |samples| [Int(
    i64::from(keys(samples).any(|key| key == MARK))
)]);

/// A user's own reducer: sums, a count and an extreme at once, in a nested value.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Moments;
impl Reducer for Moments {
    type Value<T: Target> = ([T::Real; 2], T::Int, (T::Real, [T::Int; 1]));
    fn identity<T: Target>() -> Self::Value<T> {
        let zero = T::Real::lit(0.0);
        let least = T::Real::lit(f64::NEG_INFINITY);
        ([zero; 2], T::Int::from(0i32), (least, [T::Int::from(0i32)]))
    }
    fn join<T: Target>(a: Self::Value<T>, b: Self::Value<T>) -> Self::Value<T> {
        let sums = [a.0[0] + b.0[0], a.0[1] + b.0[1]];
        (sums, a.1 + b.1, (a.2.0.max(b.2.0), [a.2.1[0] + b.2.1[0]]))
    }
}
tested!(Moments, |t, s| ([s.real, s.real.abs()], T::Int::from(1i32), (s.real.abs(), [s.key])), |samples| [
    Re(reals(samples).sum::<f64>() + 0.0),
    Re(reals(samples).map(f64::abs).sum::<f64>() + 0.0),
    Int(samples.len() as i64),
    Re(reals(samples).map(f64::abs).fold(f64::NEG_INFINITY, f64::max)),
    Int(keys(samples).sum()),
]);

/// Deterministic samples; every sum of them is exact also in 32 bits.
pub(super) fn samples(n: usize, marked: Option<usize>) -> Vec<HostSample> {
    let mut generator = Generator(n as u64);
    let sample = |i: usize| {
        let factor = [1.0, 1.0, 1.0, 1.0, 2.0, 0.5, -1.0][generator.within(0, 7) as usize];
        let wide = generator.within(-(1 << 36), 1 << 36);
        let key = if marked == Some(i) { MARK } else { wide + i64::from(wide == MARK) };
        Sample { real: generator.within(-50, 50) as f64, factor, key, index: i as i64 }
    };
    (0..n).map(sample).collect()
}

kernel_args! {
    /// Samples on the space.
    pub(super) struct Data {
        reals: View<f64, 1, LayoutRight, ReadOnly>,
        factors: View<f64, 1, LayoutRight, ReadOnly>,
        keys: View<i64, 1, LayoutRight, ReadOnly>,
    }
}

/// The value of sample `i`.
pub(super) fn value_at<T: Target, R: Tested>(target: T, data: &Data<T>, i: T::Int) -> R::Value<T> {
    let (real, factor, key) = (data.reals.at([i]), data.factors.at([i]), data.keys.at([i]));
    R::sample(target, Sample { real, factor, key, index: i })
}

/// Writes the numbers of a value to a row, each to the view of its kind.
pub(super) fn write_row<T: Target, C: Carry<T>>(
    target: T,
    reals: &KernelView<T, f64, 2, LayoutRight, ReadWrite>,
    ints: &KernelView<T, i64, 2, LayoutRight, ReadWrite>,
    row: T::Int,
    value: C,
) {
    let mut number = 0;
    value.map_leaves(&mut |leaf| {
        match leaf {
            Leaf::Real(real) => reals.set([row, target.int(number)], real),
            Leaf::Int(int) => ints.set([row, target.int(number)], int),
        }
        number += 1;
        leaf
    });
}
