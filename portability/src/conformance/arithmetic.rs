//! Integer and real arithmetic.

use super::lab::*;
use crate::prelude::*;

kernel_args! {
    struct IntArgs[E: Element] {
        a: View<E, 1, LayoutRight, ReadOnly>,
        b: View<E, 1, LayoutRight, ReadOnly>,
        out: View<i64, 2, LayoutRight, ReadWrite>,
    }
}
/// Operations of two integers; the second is never zero.
#[derive(Hash, Clone)]
struct IntegersWide;
#[derive(Hash, Clone)]
struct IntegersSmall;

type IntegerOp = fn(i64, i64) -> i64;
const INTEGER_OPS: [(&str, IntegerOp); 10] = [
    ("a + b", |a, b| a + b),
    ("a - b", |a, b| a - b),
    ("a * b", |a, b| a * b),
    ("a / b", |a, b| a / b),
    ("a % b", |a, b| a % b),
    ("min(a, b)", |a, b| a.min(b)),
    ("max(a, b)", |a, b| a.max(b)),
    ("a < b", |a, b| i64::from(a < b)),
    ("a <= b", |a, b| i64::from(a <= b)),
    ("a == b", |a, b| i64::from(a == b)),
];
fn integer_ops<T: Target>(a: T::Int, b: T::Int) -> [T::Int; 10] {
    let truth = |p: T::Predicate| p.select(T::Int::from(1i32), T::Int::from(0i32));
    let (sum, product) = (a + b, a * b);
    [sum, a - b, product, a / b, a % b, a.min(b), a.max(b), truth(a.lt(b)), truth(a.le(b)), truth(a.equals(b))]
}

macro_rules! integer_kernel {
    ($kernel:ident, $element:ty, $name:literal) => {
        impl RangeKernel for $kernel {
            type Args = IntArgs<Declared, $element>;
            const NAME: &'static str = $name;
            fn run<T: Target>(&self, target: T, i: T::Int, args: &IntArgs<T, $element>) {
                for (k, value) in integer_ops::<T>(args.a.at([i]), args.b.at([i])).into_iter().enumerate() {
                    args.out.set([target.int(k), i], value);
                }
            }
        }
    };
}
integer_kernel!(IntegersWide, i64, "conformance_integers");
integer_kernel!(IntegersSmall, i32, "conformance_integers_32");

fn run_integers<S, E, K>(lab: &Lab<'_, S>, kernel: &K, pairs: &[(i64, i64)]) -> Verdict
where
    S: Space,
    E: Element + TryFrom<i64>,
    K: RangeKernel<Args = IntArgs<Declared, E>> + Clone,
{
    let element = |value: i64| E::try_from(value).unwrap_or(E::POISON);
    let n = pairs.len();
    let a = lab.upload::<E, 1, _>("a", [n], |[i]| element(pairs[i].0))?;
    let b = lab.upload::<E, 1, _>("b", [n], |[i]| element(pairs[i].1))?;
    let mut out = lab.poisoned::<i64, 2>("out", [INTEGER_OPS.len(), n])?;
    let args = IntArgs { a: a.read(), b: b.read(), out: out.write() };
    lab.space.parallel_for(RangePolicy::new(n), kernel, args)?;
    lab.space.fence()?;
    let out = lab.download(&out)?;
    for (k, (name, operation)) in INTEGER_OPS.iter().enumerate() {
        for (i, &(a, b)) in pairs.iter().enumerate() {
            let (found, wanted) = (out.get([k, i]), operation(a, b));
            ensure!(found == wanted, "{name} of a = {a}, b = {b} is {found}, expected {wanted}");
        }
    }
    Ok(())
}

fn pairs(range: i64, count: usize) -> Vec<(i64, i64)> {
    let mut generator = Generator(3);
    let small = (-9..10).flat_map(|a| (-9..10).map(move |b| (a, b)));
    let random: Vec<_> =
        (0..count).map(|_| (generator.within(-range, range), generator.within(-range, range))).collect();
    small.chain(random).filter(|&(_, b)| b != 0).collect()
}

pub(super) fn integers<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    run_integers::<S, i64, _>(lab, &IntegersWide, &pairs(1 << 30, 300))
}
pub(super) fn integers_32<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    run_integers::<S, i32, _>(lab, &IntegersSmall, &pairs(1 << 15, 300))
}
pub(super) fn wide_integers<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let mut wide: Vec<(i64, i64)> = pairs(1 << 20, 100).into_iter().map(|(a, b)| (a << 20, b)).collect();
    wide.extend(pairs(1 << 20, 100).into_iter().map(|(a, b)| (a, b << 20)));
    wide.extend([(i64::from(i32::MAX), 1), (i64::from(i32::MAX), 2), (i64::from(i32::MIN), -1), (1 << 62, 1)]);
    run_integers::<S, i64, _>(lab, &IntegersWide, &wide)
}

/// Operations with literals, on the index and on a loaded number.
#[derive(Hash, Clone)]
struct Literals;
const LITERAL_OPS: [fn(i64) -> i64; 11] = [
    |a| a + 5,
    |a| a - 9,
    |a| a * -3,
    |a| a / 7,
    |a| a % 7,
    |a| a / -4,
    |a| (a % 8) * 8 + a / 8,
    |a| a + (1 << 35),
    |a| a.clamp(-4, 4),
    |_| 12,
    // Comparisons with the ends of the range hold or fail for all.
    |_| 0b10110,
];
impl RangeKernel for Literals {
    type Args = IntArgs<Declared, i64>;
    const NAME: &'static str = "conformance_literals";
    fn run<T: Target>(&self, target: T, i: T::Int, args: &IntArgs<T, i64>) {
        let int = |value: i64| T::Int::from(value);
        for (row, a) in [args.a.at([i]), i].into_iter().enumerate() {
            let (least, most) = (int(i64::MIN), int(i64::MAX));
            let bit = |p: T::Predicate, weight: i64| p.select(int(weight), int(0));
            let extremes = bit(most.lt(a) | a.lt(least), 1)
                + bit(a.le(most) & least.le(a), 2)
                + bit(a.lt(most) & least.lt(a), 4)
                + bit(a.equals(most) | least.equals(a) | a.le(least) | most.le(a), 8)
                + bit(!a.equals(most) & !a.equals(least), 16);
            let values = [
                a + 5,
                a - 9,
                a * -3,
                a / 7,
                a % 7,
                a / -4,
                (a % 8) * 8 + a / 8,
                a.widen() + (1i64 << 35),
                a.min(int(4)).max(int(-4)),
                ((int(-7) / 2) * -5 + int(-7) % 2) - int(2),
                extremes,
            ];
            for (k, value) in values.into_iter().enumerate() {
                args.out.set([target.int(row * LITERAL_OPS.len() + k), i], value);
            }
        }
    }
}
pub(super) fn integer_literals<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let n = 129;
    let number = |i: usize| i as i64 * 3 - 190;
    let a = lab.upload::<i64, 1, _>("a", [n], |[i]| number(i))?;
    let b = lab.poisoned::<i64, 1>("b", [1])?;
    let mut out = lab.poisoned::<i64, 2>("out", [2 * LITERAL_OPS.len(), n])?;
    let args = IntArgs { a: a.read(), b: b.read(), out: out.write() };
    lab.space.parallel_for(RangePolicy::new(n), &Literals, args)?;
    lab.space.fence()?;
    check("operations with literals", lab.download(&out)?.as_slice(), |at| {
        let (row, i) = (at / n, at % n);
        let a = if row < LITERAL_OPS.len() { number(i) } else { i as i64 };
        LITERAL_OPS[row % LITERAL_OPS.len()](a)
    })
}

kernel_args! {
    struct RealArgs {
        factor: Real,
        a: View<f64, 1, LayoutRight, ReadOnly>,
        b: View<f64, 1, LayoutRight, ReadOnly>,
        out: View<f64, 2, LayoutRight, ReadWrite>,
    }
}
#[derive(Hash, Clone)]
struct Reals;
const FACTOR: f64 = 0.625;
/// A result and the size that rounding errors are measured by.
type RealOp = fn(f64, f64) -> (f64, f64);
const REAL_OPS: [(&str, RealOp); 13] = [
    ("a + b", |a, b| (a + b, a.abs() + b.abs())),
    ("a - b", |a, b| (a - b, a.abs() + b.abs())),
    ("a * b", |a, b| (a * b, (a * b).abs())),
    ("a / b", |a, b| (a / b, (a / b).abs())),
    ("a * b + factor", |a, b| (a.mul_add(b, FACTOR), (a * b).abs() + FACTOR)),
    ("sqrt(a * a)", |a, _| (a.abs(), a.abs())),
    ("sqrt(abs(a))", |a, _| (a.abs().sqrt(), a.abs().sqrt())),
    ("-a", |a, _| (-a, 0.0)),
    ("abs(a)", |a, _| (a.abs(), 0.0)),
    ("min(a, b)", |a, b| (a.min(b), 0.0)),
    ("max(a, b)", |a, b| (a.max(b), 0.0)),
    ("1 / b", |_, b| (1.0 / b, 1.0 / b.abs())),
    ("a * factor - zero + one", |a, _| (a * FACTOR + 1.0, (a * FACTOR).abs() + 1.0)),
];
impl RangeKernel for Reals {
    type Args = RealArgs<Declared>;
    const NAME: &'static str = "conformance_reals";
    fn run<T: Target>(&self, target: T, i: T::Int, args: &RealArgs<T>) {
        let (a, b) = (args.a.at([i]), args.b.at([i]));
        let values = [
            a + b,
            a - b,
            a * b,
            a / b,
            a.mul_add(b, args.factor),
            a.square().sqrt(),
            a.abs().sqrt(),
            -a,
            a.abs(),
            a.min(b),
            a.max(b),
            b.recip(),
            a.scale(FACTOR) - T::Real::zero() + T::Real::one(),
        ];
        for (k, value) in values.into_iter().enumerate() {
            args.out.set([target.int(k), i], value);
        }
    }
}

/// Numbers that are the same in 32 bits.
fn real_pairs(n: usize) -> Vec<(f64, f64)> {
    let mut generator = Generator(4);
    let mut number = || {
        let wide = (generator.within(1, 1 << 20) as f64) * 2f64.powi(generator.within(-30, 10) as i32);
        if generator.within(0, 2) == 0 { wide } else { -wide }
    };
    (0..n).map(|_| (number(), number())).collect()
}

pub(super) fn reals<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let pairs = real_pairs(403);
    let n = pairs.len();
    let a = lab.upload::<f64, 1, _>("a", [n], |[i]| pairs[i].0)?;
    let b = lab.upload::<f64, 1, _>("b", [n], |[i]| pairs[i].1)?;
    let mut out = lab.poisoned::<f64, 2>("out", [REAL_OPS.len(), n])?;
    let args = RealArgs { factor: FACTOR, a: a.read(), b: b.read(), out: out.write() };
    lab.space.parallel_for(RangePolicy::new(n), &Reals, args)?;
    lab.space.fence()?;
    let out = lab.download(&out)?;
    for (k, (name, operation)) in REAL_OPS.iter().enumerate() {
        for (i, &(a, b)) in pairs.iter().enumerate() {
            let (found, (wanted, size)) = (out.get([k, i]), operation(a, b));
            let near = (found - wanted).abs() <= 2.0 * lab.epsilon * size;
            ensure!(near, "{name} of a = {a:e}, b = {b:e} is {found:e}, expected {wanted:e}");
        }
    }
    Ok(())
}

#[derive(Hash, Clone)]
struct Order;
impl RangeKernel for Order {
    type Args = RealArgs<Declared>;
    const NAME: &'static str = "conformance_real_order";
    fn run<T: Target>(&self, target: T, i: T::Int, args: &RealArgs<T>) {
        let (a, b) = (args.a.at([i]), args.b.at([i]));
        let values = [a.lt(b), a.le(b), a.equals(b), !a.lt(b), a.lt(b) | b.lt(a), a.le(b) & b.le(a)];
        for (k, value) in values.into_iter().enumerate() {
            args.out.set([target.int(k), i], value.select(target.real(1.0), target.real(0.0)));
        }
    }
}
/// Comparisons, also of infinities and signed zeros, and of every lane.
pub(super) fn real_order<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let numbers = [f64::NEG_INFINITY, -2.5, -1.0, -0.0, 0.0, 1.0, 1.5, 3e30, f64::INFINITY];
    let pairs: Vec<(f64, f64)> = numbers.iter().flat_map(|&a| numbers.iter().map(move |&b| (a, b))).collect();
    let n = pairs.len();
    let a = lab.upload::<f64, 1, _>("a", [n], |[i]| pairs[i].0)?;
    let b = lab.upload::<f64, 1, _>("b", [n], |[i]| pairs[i].1)?;
    let mut out = lab.poisoned::<f64, 2>("out", [6, n])?;
    let args = RealArgs { factor: 1.0, a: a.read(), b: b.read(), out: out.write() };
    lab.space.parallel_for(RangePolicy::new(n), &Order, args)?;
    lab.space.fence()?;
    check("comparisons of reals", lab.download(&out)?.as_slice(), |at| {
        let (a, b) = pairs[at % n];
        let truth = [a < b, a <= b, a == b, a >= b, a != b, a == b][at / n];
        f64::from(u8::from(truth))
    })
}

/// Literals, and what folds to a literal when traced, without a load.
#[derive(Hash, Clone)]
struct Constants;
impl RangeKernel for Constants {
    type Args = RealArgs<Declared>;
    const NAME: &'static str = "conformance_constants";
    fn run<T: Target>(&self, target: T, i: T::Int, args: &RealArgs<T>) {
        let real = |value: f64| target.real(value);
        let values = [
            real(0.1),
            real(f64::INFINITY),
            real(2.0).mul_add(real(3.0), real(0.5)),
            real(2.0).sqrt().square(),
            (-real(3.0)).abs() - real(1.0) / real(4.0),
            real(1.0).mul_add(args.factor, real(0.0)),
            args.factor * real(0.0) + real(0.0),
            real(2.0).min(real(-1.0)) * real(5.0).max(real(7.0)),
            real(1.0).lt(real(2.0)).select(real(4.0), real(8.0)),
            real(-0.0) + args.factor - args.factor,
        ];
        for (k, value) in values.into_iter().enumerate() {
            args.out.set([target.int(k), i], value);
        }
    }
}
pub(super) fn constants<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let n = 21;
    let unused = lab.poisoned::<f64, 1>("unused", [1])?;
    let mut out = lab.poisoned::<f64, 2>("out", [10, n])?;
    let args = RealArgs { factor: FACTOR, a: unused.read(), b: unused.read(), out: out.write() };
    lab.space.parallel_for(RangePolicy::new(n), &Constants, args)?;
    lab.space.fence()?;
    let wanted = [0.1, f64::INFINITY, 6.5, 2.0, 2.75, FACTOR, 0.0, -7.0, 4.0, 0.0];
    for (at, &found) in lab.download(&out)?.as_slice().iter().enumerate() {
        let wanted: f64 = wanted[at / n];
        let near = found == wanted || (found - wanted).abs() <= 4.0 * lab.epsilon * wanted.abs();
        ensure!(near, "constant {} is {found:e}, expected {wanted:e}", at / n);
    }
    Ok(())
}

/// Integers become reals.
#[derive(Hash, Clone)]
struct Conversions;
impl RangeKernel for Conversions {
    type Args = RealArgs<Declared>;
    const NAME: &'static str = "conformance_conversions";
    fn run<T: Target>(&self, target: T, i: T::Int, args: &RealArgs<T>) {
        let signed = (i - 30) * 3;
        let values = [i, signed, signed * signed, T::Int::from(-17i32), signed.widen() * (1i64 << 33)];
        for (k, value) in values.into_iter().enumerate() {
            args.out.set([target.int(k), i], target.to_real(value));
        }
    }
}
pub(super) fn conversions<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let n = 77;
    let unused = lab.poisoned::<f64, 1>("unused", [1])?;
    let mut out = lab.poisoned::<f64, 2>("out", [5, n])?;
    let args = RealArgs { factor: 0.0, a: unused.read(), b: unused.read(), out: out.write() };
    lab.space.parallel_for(RangePolicy::new(n), &Conversions, args)?;
    lab.space.fence()?;
    check("integers as reals", lab.download(&out)?.as_slice(), |at| {
        let i = (at % n) as i64;
        let signed = (i - 30) * 3;
        [i, signed, signed * signed, -17, signed << 33][at / n] as f64
    })
}
