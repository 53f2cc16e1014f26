//! What views hold and what loops carry.

use crate::target::Target;
use std::fmt::Debug;

/// The storage type of an [`Element`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementKind {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
}

impl ElementKind {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            ElementKind::F64 | ElementKind::I64 => 8,
            ElementKind::F32 | ElementKind::I32 => 4,
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// What a kernel sees when it loads an element: a real or an integer.
pub trait ValueKind: sealed::Sealed + 'static {
    /// The value in a kernel for target `T`.
    type Of<T: Target>: Carry<T>;
    /// Wraps a value.
    fn into_leaf<T: Target>(value: Self::Of<T>) -> Leaf<T>;
    /// Unwraps a value.
    ///
    /// # Panics
    /// If the leaf is of the other kind; targets return the kind that they were asked for.
    fn from_leaf<T: Target>(leaf: Leaf<T>) -> Self::Of<T>;
}

/// Elements that load as reals.
#[derive(Clone, Copy, Debug)]
pub struct Reals;
/// Elements that load as integers.
#[derive(Clone, Copy, Debug)]
pub struct Integers;

macro_rules! value_kind {
    ($kind:ident, $leaf:ident) => {
        impl sealed::Sealed for $kind {}
        impl ValueKind for $kind {
            type Of<T: Target> = T::$leaf;
            #[inline(always)]
            fn into_leaf<T: Target>(value: T::$leaf) -> Leaf<T> {
                Leaf::$leaf(value)
            }
            #[inline(always)]
            fn from_leaf<T: Target>(leaf: Leaf<T>) -> T::$leaf {
                match leaf {
                    Leaf::$leaf(value) => value,
                    _ => unreachable!("a target returned a value of the other kind"),
                }
            }
        }
    };
}
value_kind!(Reals, Real);
value_kind!(Integers, Int);

/// What a kernel for target `T` sees when it loads an element of type `E`.
pub type ValueOf<E, T> = <<E as Element>::Kind as ValueKind>::Of<T>;

/// A storage type of views: `f64`, `f32`, `i32` or `i64`. Reals load as [`Target::Real`], whatever their storage is, so
/// storage precision and arithmetic precision are chosen separately.
pub trait Element: sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// The storage type as a value.
    const KIND: ElementKind;
    /// Whether a kernel sees a real or an integer.
    type Kind: ValueKind;
    /// A pattern that no computation here produces, to poison outputs with.
    const POISON: Self;

    /// The nearest element to a number.
    fn from_f64(value: f64) -> Self;
    /// The element as a number.
    fn to_f64(self) -> f64;
}

/// An [`Element`] that loads as a real.
pub trait RealElement: Element<Kind = Reals> + num_traits::Float {}
/// An [`Element`] that loads as an integer.
pub trait IntElement: Element<Kind = Integers> + num_traits::PrimInt {}

impl RealElement for f64 {}
impl RealElement for f32 {}
impl IntElement for i32 {}
impl IntElement for i64 {}

macro_rules! element {
    ($scalar:ty, $kind:ident, $class:ident, $poison:expr) => {
        impl Element for $scalar {
            const KIND: ElementKind = ElementKind::$kind;
            type Kind = $class;
            const POISON: Self = $poison;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $scalar
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    };
}
element!(f64, F64, Reals, f64::NAN);
element!(f32, F32, Reals, f32::NAN);
element!(i32, I32, Integers, i32::MIN + 1);
element!(i64, I64, Integers, i64::MIN + 1);

/// The array `[f(0), f(1), …]`. Unlike the standard library's, it always unrolls and inlines, which kernels need to stay
/// in vector registers.
#[inline(always)]
pub fn array<V: Copy, const N: usize>(f: impl Fn(usize) -> V) -> [V; N] {
    const { assert!(N > 0) }
    let mut values = [f(0); N];
    macro_rules! unrolled {
        ($($i:literal)*) => {$(
            if $i < N {
                values[$i] = f($i);
            }
        )*};
    }
    unrolled!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17);
    for (i, value) in values.iter_mut().enumerate().skip(18) {
        *value = f(i);
    }
    values
}

/// Calls `f(i, values[i])` for each element in order, like a loop over an array. An iterator would keep the array in
/// memory, and a compiled kernel would read its registers from there.
#[inline(always)]
pub fn each<V: Copy, const N: usize>(values: [V; N], mut f: impl FnMut(usize, V)) {
    macro_rules! unrolled {
        ($($i:literal)*) => {$(
            if $i < N {
                f($i, values[$i]);
            }
        )*};
    }
    unrolled!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17);
    for (i, &value) in values.iter().enumerate().skip(18) {
        f(i, value);
    }
}

/// The closure itself; a place to attach `#[inline(always)]` where a reference to a closure is passed.
#[inline(always)]
pub fn inlined<F>(closure: F) -> F {
    closure
}

/// One number of a carried value.
#[derive(Clone, Copy, Debug)]
pub enum Leaf<T: Target> {
    /// A real.
    Real(T::Real),
    /// An integer.
    Int(T::Int),
}

/// A value that loops, reductions and scans carry: a number, or an array or tuple of such values.
pub trait Carry<T: Target>: Copy {
    /// Replaces each number.
    fn map_leaves(self, f: &mut impl FnMut(Leaf<T>) -> Leaf<T>) -> Self;
    /// Combines two values number by number.
    fn zip_leaves(self, other: Self, f: &mut impl FnMut(Leaf<T>, Leaf<T>) -> Leaf<T>) -> Self;
}

impl<T: Target> Carry<T> for () {
    #[inline(always)]
    fn map_leaves(self, _f: &mut impl FnMut(Leaf<T>) -> Leaf<T>) -> Self {}
    #[inline(always)]
    fn zip_leaves(self, _other: Self, _f: &mut impl FnMut(Leaf<T>, Leaf<T>) -> Leaf<T>) -> Self {}
}

impl<T: Target, C: Carry<T>, const N: usize> Carry<T> for [C; N] {
    #[inline(always)]
    fn map_leaves(mut self, f: &mut impl FnMut(Leaf<T>) -> Leaf<T>) -> Self {
        macro_rules! unrolled {
            ($($i:literal)*) => {$(
                if $i < N {
                    self[$i] = self[$i].map_leaves(f);
                }
            )*};
        }
        unrolled!(0 1 2 3 4 5 6 7);
        for value in self.iter_mut().skip(8) {
            *value = value.map_leaves(f);
        }
        self
    }
    #[inline(always)]
    fn zip_leaves(mut self, other: Self, f: &mut impl FnMut(Leaf<T>, Leaf<T>) -> Leaf<T>) -> Self {
        macro_rules! unrolled {
            ($($i:literal)*) => {$(
                if $i < N {
                    self[$i] = self[$i].zip_leaves(other[$i], f);
                }
            )*};
        }
        unrolled!(0 1 2 3 4 5 6 7);
        for (value, other) in self.iter_mut().zip(other).skip(8) {
            *value = value.zip_leaves(other, f);
        }
        self
    }
}

macro_rules! carry_tuple {
    ($($name:ident $index:tt),*) => {
        impl<T: Target, $($name: Carry<T>),*> Carry<T> for ($($name,)*) {
            #[inline(always)]
            fn map_leaves(self, f: &mut impl FnMut(Leaf<T>) -> Leaf<T>) -> Self {
                ($(self.$index.map_leaves(f),)*)
            }
            #[inline(always)]
            fn zip_leaves(self, other: Self, f: &mut impl FnMut(Leaf<T>, Leaf<T>) -> Leaf<T>) -> Self {
                ($(self.$index.zip_leaves(other.$index, f),)*)
            }
        }
    };
}
carry_tuple!(A 0);
carry_tuple!(A 0, B 1);
carry_tuple!(A 0, B 1, C 2);
carry_tuple!(A 0, B 1, C 2, D 3);
