//! Computations over the work items of a team.
//!
//! A value is 64 bits: reals are `f64`, rounded to 32 bits after each operation where the program computes in `f32`
//! (which rounds as 32-bit hardware does); integers are `i64`, wrapped to 32 bits where their type is; truth values are
//! 0 and 1.

use super::lanes::{Lanes, Row, map1, map2, map3};
use super::plan::Code;
use crate::trace::ir::{Binary, Type, Unary};

/// What was wrong with an integer operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerFault {
    /// Division by zero.
    Division,
    /// The result does not fit.
    Overflow,
}

#[inline(always)]
fn real(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Executes `code`; false if an integer operation had a fault on some lane.
pub(super) fn compute(code: Code, lanes: Lanes<'_>, to: Row<'_>, [a, b, c]: [Row<'_>; 3]) -> bool {
    match code {
        Code::Unary(op, Type::F64) => unary_real(op, lanes, to, a, |x| x),
        Code::Unary(op, Type::F32) => unary_real(op, lanes, to, a, round),
        Code::Unary(Unary::Not, _) => map1(lanes, to, a, |a| a ^ 1),
        Code::Unary(Unary::Neg, _) => map1(lanes, to, a, |a| (a as i64).wrapping_neg() as u64),
        Code::Unary(_, _) => map1(lanes, to, a, |a| (a as i64).wrapping_abs() as u64),
        Code::Binary(op, Type::F64) => binary_real(op, lanes, to, a, b, |x| x),
        Code::Binary(op, Type::F32) => binary_real(op, lanes, to, a, b, round),
        Code::Binary(op, kind) => return binary_int(op, kind, lanes, to, a, b),
        Code::MulAdd(Type::F32) => {
            map3(lanes, to, [a, b, c], |a, b, c| round(round(real(a) * real(b)) + real(c)).to_bits());
        }
        // Two roundings, as the scalar host has them.
        Code::MulAdd(_) => map3(lanes, to, [a, b, c], |a, b, c| (real(a) * real(b) + real(c)).to_bits()),
        Code::Select => map3(lanes, to, [a, b, c], |p, a, b| if p != 0 { a } else { b }),
        Code::Convert { from, to: kind } => match (from.is_real(), kind) {
            (true, Type::F32) => map1(lanes, to, a, |a| round(real(a)).to_bits()),
            (false, Type::F64) => map1(lanes, to, a, |a| (a as i64 as f64).to_bits()),
            (false, Type::F32) => map1(lanes, to, a, |a| f64::from(a as i64 as f32).to_bits()),
            (true, Type::I32 | Type::I64) => map1(lanes, to, a, |a| real(a) as i64 as u64),
            (false, Type::I32) => {
                let mut fits = true;
                map1(lanes, to, a, |a| wrap(a as i64, &mut fits));
                return fits;
            }
            (_, Type::Bool) => map1(lanes, to, a, |a| u64::from(a != 0)),
            (true, Type::F64) | (false, Type::I64) => map1(lanes, to, a, |a| a),
        },
    }
    true
}

/// What is wrong with an integer operation on one lane, if anything.
pub(super) fn integer_fault(code: Code, a: u64, b: u64) -> Option<IntegerFault> {
    let (a, b) = (a as i64, b as i64);
    match code {
        Code::Binary(Binary::Div | Binary::Rem, _) if b == 0 => Some(IntegerFault::Division),
        Code::Binary(op, kind) => {
            let result = match op {
                Binary::Add => a.wrapping_add(b),
                Binary::Sub => a.wrapping_sub(b),
                Binary::Mul => a.wrapping_mul(b),
                Binary::Div => a.wrapping_div(b),
                _ => return None,
            };
            (kind == Type::I32 && i32::try_from(result).is_err()).then_some(IntegerFault::Overflow)
        }
        Code::Convert { .. } => i32::try_from(a).is_err().then_some(IntegerFault::Overflow),
        _ => None,
    }
}

#[inline(always)]
fn round(x: f64) -> f64 {
    f64::from(x as f32)
}

#[inline(always)]
fn wrap(wide: i64, fits: &mut bool) -> u64 {
    let narrow = i64::from(wide as i32);
    *fits &= narrow == wide;
    narrow as u64
}

#[inline(always)]
fn unary_real(op: Unary, lanes: Lanes<'_>, to: Row<'_>, a: Row<'_>, round: impl Fn(f64) -> f64) {
    match op {
        Unary::Neg => map1(lanes, to, a, |a| (-real(a)).to_bits()),
        Unary::Abs => map1(lanes, to, a, |a| real(a).abs().to_bits()),
        Unary::Sqrt => map1(lanes, to, a, |a| round(real(a).sqrt()).to_bits()),
        Unary::Not => map1(lanes, to, a, |a| u64::from(real(a) == 0.0)),
    }
}

#[inline(always)]
fn binary_real(op: Binary, lanes: Lanes<'_>, to: Row<'_>, a: Row<'_>, b: Row<'_>, round: impl Fn(f64) -> f64) {
    match op {
        Binary::Add => map2(lanes, to, a, b, |a, b| round(real(a) + real(b)).to_bits()),
        Binary::Sub => map2(lanes, to, a, b, |a, b| round(real(a) - real(b)).to_bits()),
        Binary::Mul => map2(lanes, to, a, b, |a, b| round(real(a) * real(b)).to_bits()),
        Binary::Div => map2(lanes, to, a, b, |a, b| round(real(a) / real(b)).to_bits()),
        Binary::Rem => map2(lanes, to, a, b, |a, b| round(real(a) % real(b)).to_bits()),
        Binary::Min => map2(lanes, to, a, b, |a, b| if real(a) < real(b) { a } else { b }),
        Binary::Max => map2(lanes, to, a, b, |a, b| if real(a) > real(b) { a } else { b }),
        Binary::Lt => map2(lanes, to, a, b, |a, b| u64::from(real(a) < real(b))),
        Binary::Le => map2(lanes, to, a, b, |a, b| u64::from(real(a) <= real(b))),
        Binary::Eq => map2(lanes, to, a, b, |a, b| u64::from(real(a) == real(b))),
        Binary::And => map2(lanes, to, a, b, |a, b| a & b),
        Binary::Or => map2(lanes, to, a, b, |a, b| a | b),
    }
}

fn binary_int(op: Binary, kind: Type, lanes: Lanes<'_>, to: Row<'_>, a: Row<'_>, b: Row<'_>) -> bool {
    let mut fits = true;
    let narrow = kind == Type::I32;
    /// The result of 32-bit operands is exact in 64 bits. 64 bits wrap, as hashes and the like rely on.
    macro_rules! arithmetic {
        ($wrapping:ident) => {
            if narrow {
                map2(lanes, to, a, b, |a, b| wrap((a as i64).$wrapping(b as i64), &mut fits));
            } else {
                map2(lanes, to, a, b, |a, b| (a as i64).$wrapping(b as i64) as u64);
            }
        };
    }
    /// Division by zero gives zero, as on the host.
    macro_rules! division {
        ($wrapping:ident) => {
            map2(lanes, to, a, b, |a, b| match b {
                0 => {
                    fits = false;
                    0
                }
                _ if narrow => wrap((a as i64).$wrapping(b as i64), &mut fits),
                _ => (a as i64).$wrapping(b as i64) as u64,
            })
        };
    }
    match op {
        Binary::Add => arithmetic!(wrapping_add),
        Binary::Sub => arithmetic!(wrapping_sub),
        Binary::Mul => arithmetic!(wrapping_mul),
        Binary::Div => division!(wrapping_div),
        Binary::Rem => division!(wrapping_rem),
        Binary::Min => map2(lanes, to, a, b, |a, b| (a as i64).min(b as i64) as u64),
        Binary::Max => map2(lanes, to, a, b, |a, b| (a as i64).max(b as i64) as u64),
        Binary::Lt => map2(lanes, to, a, b, |a, b| u64::from((a as i64) < (b as i64))),
        Binary::Le => map2(lanes, to, a, b, |a, b| u64::from((a as i64) <= (b as i64))),
        Binary::Eq => map2(lanes, to, a, b, |a, b| u64::from(a == b)),
        Binary::And => map2(lanes, to, a, b, |a, b| a & b),
        Binary::Or => map2(lanes, to, a, b, |a, b| a | b),
    }
    fits
}
