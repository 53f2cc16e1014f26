//! What a form really reads: its integrand is evaluated in numbers that remember where they come from.

use super::error::WeakError;
use super::form::{Jet, WeakForm};
use farro_portability::{Predicate, Real, Select};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// Bits of the inputs on which a number or truth value depends.
#[derive(Clone, Copy)]
struct Origin(u64);

const POSITION: u64 = 1;
const VALUE: u64 = 2;
const GRADIENT: u64 = 4;
const COEFFICIENT_VALUE: u64 = 8;
const COEFFICIENT_GRADIENT: u64 = 16;

macro_rules! union_operator {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Origin {
            type Output = Self;
            // Whatever the operation, its result depends on both operands.
            #[allow(clippy::suspicious_arithmetic_impl)]
            fn $method(self, other: Self) -> Self {
                Origin(self.0 | other.0)
            }
        }
    )*};
}
union_operator!(Add add, Sub sub, Mul mul, Div div, BitAnd bitand, BitOr bitor);

impl Neg for Origin {
    type Output = Self;
    fn neg(self) -> Self {
        self
    }
}
impl Not for Origin {
    type Output = Self;
    fn not(self) -> Self {
        self
    }
}
impl Predicate for Origin {
    fn lit(_value: bool) -> Self {
        Origin(0)
    }
}
impl Select<Origin> for Origin {
    fn select(p: Origin, if_true: Self, if_false: Self) -> Self {
        p | if_true | if_false
    }
}
impl Real for Origin {
    type Predicate = Origin;
    fn lit(_value: f64) -> Self {
        Origin(0)
    }
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self | factor | addend
    }
    fn sqrt(self) -> Self {
        self
    }
    fn abs(self) -> Self {
        self
    }
    fn min(self, other: Self) -> Self {
        self | other
    }
    fn max(self, other: Self) -> Self {
        self | other
    }
    fn lt(self, other: Self) -> Origin {
        self | other
    }
    fn le(self, other: Self) -> Origin {
        self | other
    }
    fn equals(self, other: Self) -> Origin {
        self | other
    }
}

fn jet<const D: usize, const C: usize>(value: u64, gradient: u64) -> Jet<Origin, D, C> {
    Jet { value: [Origin(value); C], gradient: [[Origin(gradient); D]; C] }
}

/// Refuses a form whose integrand reads what the form did not declare, or whose result depends on something where the
/// form declares no coefficient.
///
/// # Errors
/// When the declaration is too narrow, or the name could not be one of a kernel.
pub fn check_form<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(
    form: &F,
) -> Result<(), WeakError> {
    let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if F::NAME.is_empty() || !F::NAME.chars().all(valid) {
        return Err(WeakError::Name { name: F::NAME });
    }
    if F::READS.or(F::COEFFICIENTS).matrices(D) == 0 || F::TESTS.matrices(D) == 0 {
        return Err(WeakError::ReadsNothing { form: F::NAME });
    }
    let result = form.integrand(
        [Origin(POSITION); D],
        &jet(VALUE, GRADIENT),
        &[jet(COEFFICIENT_VALUE, COEFFICIENT_GRADIENT); K],
    );
    let value = result.value.iter().fold(0, |all, origin| all | origin.0);
    let gradient = result.gradient.iter().flatten().fold(0, |all, origin| all | origin.0);
    let read = if F::TESTS.value { value } else { 0 } | if F::TESTS.gradient { gradient } else { 0 };
    let declared = [
        ("the position", POSITION, F::POSITION, "POSITION"),
        ("the value of the unknown", VALUE, F::READS.value, "READS"),
        ("the gradient of the unknown", GRADIENT, F::READS.gradient, "READS"),
        ("the value of a coefficient", COEFFICIENT_VALUE, F::COEFFICIENTS.value, "COEFFICIENTS"),
        ("the gradient of a coefficient", COEFFICIENT_GRADIENT, F::COEFFICIENTS.gradient, "COEFFICIENTS"),
    ];
    for (what, bit, is_declared, constant) in declared {
        if read & bit != 0 && !is_declared {
            return Err(WeakError::Undeclared { form: F::NAME, does: "reads", what, constant });
        }
    }
    for (what, origin, is_declared) in [
        ("a coefficient of the test function's value", value, F::TESTS.value),
        ("a coefficient of the test function's gradient", gradient, F::TESTS.gradient),
    ] {
        if origin != 0 && !is_declared {
            return Err(WeakError::Undeclared { form: F::NAME, does: "returns", what, constant: "TESTS" });
        }
    }
    Ok(())
}
