//! Reducers: an identity and a join. A user's own reducer is one `impl`.

use crate::integer::Integer;
use crate::real::{Predicate, Real};
use crate::target::Target;
use crate::value::Carry;
use std::hash::Hash;

/// How values are combined. `join` must be associative and commutative up to rounding, `identity` neutral in it.
pub trait Reducer: Copy + Hash + Sync + 'static {
    /// The reduced value: a number, or an array or tuple of numbers.
    type Value<T: Target>: Carry<T>;
    /// The neutral value: the result over an empty range.
    fn identity<T: Target>() -> Self::Value<T>;
    /// The combination of two values.
    fn join<T: Target>(a: Self::Value<T>, b: Self::Value<T>) -> Self::Value<T>;
}

macro_rules! reducer {
    ($(#[$meta:meta])* $name:ident, $value:ident, $identity:expr, |$a:ident, $b:ident| $join:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Hash)]
        pub struct $name;
        impl Reducer for $name {
            type Value<T: Target> = T::$value;
            #[inline(always)]
            fn identity<T: Target>() -> T::$value {
                $identity
            }
            #[inline(always)]
            fn join<T: Target>($a: T::$value, $b: T::$value) -> T::$value {
                $join
            }
        }
    };
}
reducer!(/** The sum of reals; 0 if empty. */ Sum, Real, T::Real::lit(0.0), |a, b| a + b);
reducer!(/** The product of reals; 1 if empty. */ Product, Real, T::Real::lit(1.0), |a, b| a * b);
reducer!(/** The smallest real; +∞ if empty. */ Min, Real, T::Real::lit(f64::INFINITY), |a, b| a.min(b));
reducer!(/** The largest real; −∞ if empty. */ Max, Real, T::Real::lit(f64::NEG_INFINITY), |a, b| a.max(b));
reducer!(/** The sum of integers; 0 if empty. */ SumInt, Int, T::Int::from(0i64).widen(), |a, b| a + b);
reducer!(/** The smallest integer; the largest 64-bit integer if empty. */ MinInt, Int, T::Int::from(i64::MAX).widen(), |a, b| a.min(b));
reducer!(/** The largest integer; the smallest 64-bit integer if empty. */ MaxInt, Int, T::Int::from(i64::MIN).widen(), |a, b| a.max(b));
reducer!(/** 1 if all integers are non-zero, else 0; 1 if empty. */ All, Int, T::Int::from(1i32), |a, b| truth::<T>(a).min(truth::<T>(b)));
reducer!(/** 1 if some integer is non-zero, else 0; 0 if empty. */ Any, Int, T::Int::from(0i32), |a, b| truth::<T>(a).max(truth::<T>(b)));

#[inline(always)]
fn truth<T: Target>(value: T::Int) -> T::Int {
    value.equals(T::Int::from(0i32)).select(T::Int::from(0i32), T::Int::from(1i32))
}

/// The smallest and the largest real.
#[derive(Clone, Copy, Debug, Hash)]
pub struct MinMax;
impl Reducer for MinMax {
    type Value<T: Target> = [T::Real; 2];
    #[inline(always)]
    fn identity<T: Target>() -> [T::Real; 2] {
        [Min::identity::<T>(), Max::identity::<T>()]
    }
    #[inline(always)]
    fn join<T: Target>(a: [T::Real; 2], b: [T::Real; 2]) -> [T::Real; 2] {
        [a[0].min(b[0]), a[1].max(b[1])]
    }
}

/// The smallest real and the index given with it; of equal ones the smallest index. (+∞, −1) if empty.
#[derive(Clone, Copy, Debug, Hash)]
pub struct MinLoc;
/// The largest real and the index given with it; of equal ones the smallest index. (−∞, −1) if empty.
#[derive(Clone, Copy, Debug, Hash)]
pub struct MaxLoc;

#[inline(always)]
fn choose<T: Target>(better: T::Predicate, a: (T::Real, T::Int), b: (T::Real, T::Int)) -> (T::Real, T::Int) {
    (better.select(a.0, b.0), better.select(a.1, b.1))
}

/// Whether `a` comes first among equals: it has an index, and `b` has none or a larger one.
#[inline(always)]
fn first<T: Target>(a: (T::Real, T::Int), b: (T::Real, T::Int)) -> T::Predicate {
    let none = T::Int::from(0i32);
    a.0.equals(b.0) & !a.1.lt(none) & (b.1.lt(none) | a.1.lt(b.1))
}

impl Reducer for MinLoc {
    type Value<T: Target> = (T::Real, T::Int);
    #[inline(always)]
    fn identity<T: Target>() -> (T::Real, T::Int) {
        (Min::identity::<T>(), T::Int::from(-1i64).widen())
    }
    #[inline(always)]
    fn join<T: Target>(a: (T::Real, T::Int), b: (T::Real, T::Int)) -> (T::Real, T::Int) {
        choose::<T>(a.0.lt(b.0) | first::<T>(a, b), a, b)
    }
}
impl Reducer for MaxLoc {
    type Value<T: Target> = (T::Real, T::Int);
    #[inline(always)]
    fn identity<T: Target>() -> (T::Real, T::Int) {
        (Max::identity::<T>(), T::Int::from(-1i64).widen())
    }
    #[inline(always)]
    fn join<T: Target>(a: (T::Real, T::Int), b: (T::Real, T::Int)) -> (T::Real, T::Int) {
        choose::<T>(b.0.lt(a.0) | first::<T>(a, b), a, b)
    }
}
