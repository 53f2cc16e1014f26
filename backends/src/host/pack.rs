//! Reals of the host: SIMD packs over `pulp`, and lane masks.

use super::Host;
use farro_portability::{Carry, Leaf, Predicate, Real, Select};
use pulp::{MemMask, Simd};
use std::any::TypeId;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// Most lanes of a pack.
pub(crate) const MAX_LANES: usize = 16;

/// A mask over lanes, one bit a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask(pub(crate) u32);

impl BitAnd for Mask {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Mask(self.0 & other.0)
    }
}
impl BitOr for Mask {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Mask(self.0 | other.0)
    }
}
impl Not for Mask {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Mask(!self.0)
    }
}
impl Predicate for Mask {
    #[inline(always)]
    fn lit(value: bool) -> Self {
        Mask(if value { u32::MAX } else { 0 })
    }
}

/// The instruction set as a value.
///
/// # Safety contract
/// Packs exist only inside kernels that the host target runs, and it runs them only on an instruction set that was
/// detected; so conjuring the (zero-sized) proof of detection again is sound there.
#[inline(always)]
pub(crate) fn token<S: Set>() -> S {
    const { assert!(size_of::<S>() == 0) }
    // SAFETY: `S` has no bytes, and by the contract above its instruction set was detected.
    unsafe { std::mem::transmute_copy(&()) }
}

/// An instruction set with its registers as the compiler knows them. The structures that `pulp` calls registers live in
/// memory until an optimizer has found out that they need not.
pub trait Set: Simd {
    /// A register of `f64`.
    type F64: Copy + Send + Sync + 'static;
    /// A register of `f32`.
    type F32: Copy + Send + Sync + 'static;
}
impl Set for pulp::Scalar {
    type F64 = f64;
    type F32 = f32;
}
impl Set for pulp::Scalar256b {
    type F64 = <Self as Simd>::f64s;
    type F32 = <Self as Simd>::f32s;
}
#[cfg(target_arch = "x86_64")]
impl Set for pulp::x86::V3 {
    type F64 = std::arch::x86_64::__m256d;
    type F32 = std::arch::x86_64::__m256;
}
#[cfg(target_arch = "x86_64")]
impl Set for pulp::x86::V4 {
    type F64 = std::arch::x86_64::__m512d;
    type F32 = std::arch::x86_64::__m512;
}

/// A register under its other name.
#[inline(always)]
pub(super) fn renamed<A: Copy, B: Copy>(register: A) -> B {
    // Not a constant: instantiated for branches that never run, too.
    assert!(size_of::<A>() == size_of::<B>(), "one register");
    // SAFETY: both are the same register of plain data.
    unsafe { std::mem::transmute_copy(&register) }
}

#[inline(always)]
fn has_fused<S: Set>() -> bool {
    let set = TypeId::of::<S>();
    set != TypeId::of::<pulp::Scalar>() && set != TypeId::of::<pulp::Scalar256b>()
}

/// Scalars that packs are made of: `f64` and `f32`.
pub trait Precision<S: Set>: Real<Predicate = bool> + Send + Sync + PartialEq + 'static {
    /// A SIMD register.
    type Register: Copy + Send + Sync + 'static;
    /// Lanes of a register.
    const LANES: usize;
    /// All lanes equal.
    fn splat(value: Self) -> Self::Register;
    /// Lane-wise sum.
    fn add(a: Self::Register, b: Self::Register) -> Self::Register;
    /// Lane-wise difference.
    fn sub(a: Self::Register, b: Self::Register) -> Self::Register;
    /// Lane-wise product.
    fn mul(a: Self::Register, b: Self::Register) -> Self::Register;
    /// Lane-wise quotient.
    fn div(a: Self::Register, b: Self::Register) -> Self::Register;
    /// `a * b + c`.
    fn mul_add(a: Self::Register, b: Self::Register, c: Self::Register) -> Self::Register;
    /// Lane-wise negation.
    fn neg(a: Self::Register) -> Self::Register;
    /// Lane-wise square root.
    fn sqrt(a: Self::Register) -> Self::Register;
    /// Lane-wise absolute value.
    fn abs(a: Self::Register) -> Self::Register;
    /// Lanes where `a < b`.
    fn lt(a: Self::Register, b: Self::Register) -> Mask;
    /// Lanes where `a <= b`.
    fn le(a: Self::Register, b: Self::Register) -> Mask;
    /// Lanes where `a == b`.
    fn equals(a: Self::Register, b: Self::Register) -> Mask;
    /// Lanes of `a` where the mask is set, else of `b`.
    fn select(mask: Mask, a: Self::Register, b: Self::Register) -> Self::Register;
    /// Lane `i` becomes lane `i + places`, around the end.
    fn rotate_down(a: Self::Register, places: usize) -> Self::Register;
    /// Writes the lanes that the mask selects.
    ///
    /// # Safety
    /// `pointer` plus each selected lane must be valid for a write.
    unsafe fn store_masked(mask: Mask, pointer: *mut Self, value: Self::Register);
    /// Reads the lanes that the mask selects; the others are zero.
    ///
    /// # Safety
    /// `pointer` plus each selected lane must be valid for a read.
    unsafe fn load_masked(mask: Mask, pointer: *const Self) -> Self::Register;
    /// Widens or narrows.
    fn from_f64(value: f64) -> Self;
    /// Widens.
    fn to_f64(self) -> f64;
}

macro_rules! precision {
    ($scalar:ty, $bits:ty, $own:ident, $lanes:ident, $mask:ident, $unsigned:ident,
     $splat:ident $add:ident $sub:ident $mul:ident $div:ident $mul_add:ident $neg:ident $sqrt:ident $abs:ident
     $lt:ident $le:ident $eq:ident $select:ident $and:ident $gt:ident $splat_unsigned:ident $select_unsigned:ident
     $rotate:ident $store:ident $load:ident) => {
        impl<S: Set> Precision<S> for $scalar {
            type Register = S::$own;
            const LANES: usize = S::$lanes;
            #[inline(always)]
            fn splat(value: Self) -> S::$own {
                renamed(token::<S>().$splat(value))
            }
            #[inline(always)]
            fn add(a: S::$own, b: S::$own) -> S::$own {
                renamed(token::<S>().$add(renamed(a), renamed(b)))
            }
            #[inline(always)]
            fn sub(a: S::$own, b: S::$own) -> S::$own {
                renamed(token::<S>().$sub(renamed(a), renamed(b)))
            }
            #[inline(always)]
            fn mul(a: S::$own, b: S::$own) -> S::$own {
                renamed(token::<S>().$mul(renamed(a), renamed(b)))
            }
            #[inline(always)]
            fn div(a: S::$own, b: S::$own) -> S::$own {
                renamed(token::<S>().$div(renamed(a), renamed(b)))
            }
            #[inline(always)]
            fn mul_add(a: S::$own, b: S::$own, c: S::$own) -> S::$own {
                let simd = token::<S>();
                // Without instructions for it, a fused product would be a library call for each lane.
                let (a, b, c) = (renamed(a), renamed(b), renamed(c));
                renamed(if has_fused::<S>() { simd.$mul_add(a, b, c) } else { simd.$add(simd.$mul(a, b), c) })
            }
            #[inline(always)]
            fn neg(a: S::$own) -> S::$own {
                renamed(token::<S>().$neg(renamed(a)))
            }
            #[inline(always)]
            fn sqrt(a: S::$own) -> S::$own {
                renamed(token::<S>().$sqrt(renamed(a)))
            }
            #[inline(always)]
            fn abs(a: S::$own) -> S::$own {
                renamed(token::<S>().$abs(renamed(a)))
            }
            #[inline(always)]
            fn lt(a: S::$own, b: S::$own) -> Mask {
                bits_of!($bits, S, S::$lanes, token::<S>().$lt(renamed(a), renamed(b)), $select_unsigned, $splat_unsigned)
            }
            #[inline(always)]
            fn le(a: S::$own, b: S::$own) -> Mask {
                bits_of!($bits, S, S::$lanes, token::<S>().$le(renamed(a), renamed(b)), $select_unsigned, $splat_unsigned)
            }
            #[inline(always)]
            fn equals(a: S::$own, b: S::$own) -> Mask {
                bits_of!($bits, S, S::$lanes, token::<S>().$eq(renamed(a), renamed(b)), $select_unsigned, $splat_unsigned)
            }
            #[inline(always)]
            fn select(mask: Mask, a: S::$own, b: S::$own) -> S::$own {
                let mask = register_mask!(S, $bits, $unsigned, $and $gt $splat_unsigned, mask);
                renamed(token::<S>().$select(mask, renamed(a), renamed(b)))
            }
            #[inline(always)]
            fn rotate_down(a: S::$own, places: usize) -> S::$own {
                renamed(token::<S>().$rotate(renamed(a), places))
            }
            #[inline(always)]
            unsafe fn store_masked(mask: Mask, pointer: *mut Self, value: S::$own) {
                let selected = register_mask!(S, $bits, $unsigned, $and $gt $splat_unsigned, mask);
                // SAFETY: by contract.
                unsafe { token::<S>().$store(MemMask::new(selected), pointer, renamed(value)) }
            }
            #[inline(always)]
            unsafe fn load_masked(mask: Mask, pointer: *const Self) -> S::$own {
                let selected = register_mask!(S, $bits, $unsigned, $and $gt $splat_unsigned, mask);
                // SAFETY: by contract.
                unsafe { renamed(token::<S>().$load(MemMask::new(selected), pointer)) }
            }
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

/// Bit `i` in lane `i`.
macro_rules! lane_bits {
    ($bits:ty) => {{
        let mut bits = [0 as $bits; MAX_LANES];
        let mut lane = 0;
        while lane < MAX_LANES {
            bits[lane] = 1 << lane;
            lane += 1;
        }
        bits
    }};
}

/// A mask as the instruction set wants it.
macro_rules! register_mask {
    ($simd:ident, $bits:ty, $unsigned:ident, $and:ident $gt:ident $splat:ident, $mask:expr) => {{
        let simd = token::<$simd>();
        let lane_bits: $simd::$unsigned = first_lanes(const { lane_bits!($bits) });
        simd.$gt(simd.$and(lane_bits, simd.$splat($mask.0 as $bits)), simd.$splat(0))
    }};
}

/// The bits of a register mask.
macro_rules! bits_of {
    ($bits:ty, $simd:ident, $lanes:expr, $mask:expr, $select_unsigned:ident, $splat_unsigned:ident) => {{
        let simd = token::<$simd>();
        let set = simd.$select_unsigned($mask, simd.$splat_unsigned(1), simd.$splat_unsigned(0));
        let set: [$bits; MAX_LANES] = spread_lanes(set);
        let mut bits = 0u32;
        for (lane, &value) in set.iter().enumerate().take($lanes) {
            bits |= (value as u32) << lane;
        }
        Mask(bits)
    }};
}

/// A register made of the first lanes of an array.
#[inline(always)]
pub(crate) fn first_lanes<A: Copy, R: Copy>(lanes: [A; MAX_LANES]) -> R {
    const { assert!(size_of::<R>() <= size_of::<[A; MAX_LANES]>()) }
    // SAFETY: registers are plain data, any bits are valid, and `R` is no longer than the array.
    unsafe { std::mem::transmute_copy(&lanes) }
}

/// A register as an array, whose lanes beyond the register are zero.
#[inline(always)]
pub(crate) fn spread_lanes<A: Copy + Default, R: Copy>(register: R) -> [A; MAX_LANES] {
    const { assert!(size_of::<R>() <= size_of::<[A; MAX_LANES]>()) }
    let mut lanes = [A::default(); MAX_LANES];
    // SAFETY: registers are plain data and fit the array.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const register).cast::<u8>(), lanes.as_mut_ptr().cast(), size_of::<R>())
    }
    lanes
}

precision!(f64, u64, F64, F64_LANES, m64s, u64s,
    splat_f64s add_f64s sub_f64s mul_f64s div_f64s mul_add_e_f64s neg_f64s sqrt_f64s abs_f64s
    less_than_f64s less_than_or_equal_f64s equal_f64s select_f64s and_u64s greater_than_u64s splat_u64s select_u64s
    rotate_left_f64s mask_store_ptr_f64s mask_load_ptr_f64s);
precision!(f32, u32, F32, F32_LANES, m32s, u32s,
    splat_f32s add_f32s sub_f32s mul_f32s div_f32s mul_add_e_f32s neg_f32s sqrt_f32s abs_f32s
    less_than_f32s less_than_or_equal_f32s equal_f32s select_f32s and_u32s greater_than_u32s splat_u32s select_u32s
    rotate_left_f32s mask_store_ptr_f32s mask_load_ptr_f32s);

/// A real of the host target: one register of instruction set `S`.
#[derive(Clone, Copy)]
pub struct Pack<S: Set, P: Precision<S>>(pub(crate) P::Register);

macro_rules! pack_operator {
    ($($trait:ident $method:ident;)*) => {$(
        impl<S: Set, P: Precision<S>> $trait for Pack<S, P> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Pack(<P as Precision<S>>::$method(self.0, other.0))
            }
        }
    )*};
}
pack_operator! { Add add; Sub sub; Mul mul; Div div; }

impl<S: Set, P: Precision<S>> Neg for Pack<S, P> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Pack(<P as Precision<S>>::neg(self.0))
    }
}
impl<S: Set, P: Precision<S>> Select<Mask> for Pack<S, P> {
    #[inline(always)]
    fn select(mask: Mask, a: Self, b: Self) -> Self {
        Pack(<P as Precision<S>>::select(mask, a.0, b.0))
    }
}
impl<S: Set, P: Precision<S>> Real for Pack<S, P> {
    type Predicate = Mask;
    #[inline(always)]
    fn lit(value: f64) -> Self {
        Pack(P::splat(<P as Precision<S>>::from_f64(value)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        Pack(<P as Precision<S>>::mul_add(self.0, factor.0, addend.0))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Pack(<P as Precision<S>>::sqrt(self.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Pack(<P as Precision<S>>::abs(self.0))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask {
        <P as Precision<S>>::lt(self.0, other.0)
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask {
        <P as Precision<S>>::le(self.0, other.0)
    }
    #[inline(always)]
    fn equals(self, other: Self) -> Mask {
        <P as Precision<S>>::equals(self.0, other.0)
    }
}

impl<'c, S: Set, P: Precision<S>> Carry<Host<'c, S, P>> for Pack<S, P> {
    #[inline(always)]
    fn map_leaves(self, f: &mut impl FnMut(Leaf<Host<'c, S, P>>) -> Leaf<Host<'c, S, P>>) -> Self {
        match f(Leaf::Real(self)) {
            Leaf::Real(value) => value,
            Leaf::Int(_) => unreachable!("a real leaf stays real"),
        }
    }
    #[inline(always)]
    fn zip_leaves(
        self,
        other: Self,
        f: &mut impl FnMut(Leaf<Host<'c, S, P>>, Leaf<Host<'c, S, P>>) -> Leaf<Host<'c, S, P>>,
    ) -> Self {
        match f(Leaf::Real(self), Leaf::Real(other)) {
            Leaf::Real(value) => value,
            Leaf::Int(_) => unreachable!("a real leaf stays real"),
        }
    }
}

impl<S: Set, P: Precision<S>> Pack<S, P> {
    /// One lane, in all lanes.
    #[inline(always)]
    pub(crate) fn lane(self, lane: usize) -> Self {
        Pack(P::splat(self.lanes()[lane]))
    }
    #[inline(always)]
    pub(crate) fn lanes(self) -> [P; MAX_LANES] {
        let mut lanes = [P::zero(); MAX_LANES];
        // SAFETY: a register is `LANES` scalars of plain data.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const self.0).cast::<P>(), lanes.as_mut_ptr(), P::LANES);
        }
        lanes
    }
    #[inline(always)]
    pub(crate) fn from_lanes(lanes: [P; MAX_LANES]) -> Self {
        Pack(first_lanes(lanes))
    }
}
