//! Views: subviews, mirrors, copies, storage types, access.

use super::lab::*;
use crate::memory::MemoryError;
use crate::prelude::*;
use crate::{ArgSet, Binder, Family};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// A view that is read and a view that is written, of any types and layouts.
struct CopySet<E, const R: usize, LF, LT>(PhantomData<(E, LF, LT)>);
impl<E: Element, const R: usize, LF: Layout, LT: Layout> ArgSet for CopySet<E, R, LF, LT> {
    type With<F: Family> = (F::View<E, R, LF, ReadOnly>, F::View<E, R, LT, ReadWrite>);
    fn rebind<F: Family, G: Family>(args: &Self::With<F>, binder: &mut impl Binder<F, G>) -> Self::With<G> {
        (binder.view("from", &args.0), binder.view("to", &args.1))
    }
}
struct CopyKernel<E, LF, LT>(PhantomData<(E, LF, LT)>);
impl<E, LF, LT> Clone for CopyKernel<E, LF, LT> {
    fn clone(&self) -> Self {
        CopyKernel(PhantomData)
    }
}
impl<E, LF, LT> Hash for CopyKernel<E, LF, LT> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
impl<E: Element, const R: usize, LF: Layout, LT: Layout> MdKernel<R> for CopyKernel<E, LF, LT> {
    type Args = CopySet<E, R, LF, LT>;
    const NAME: &'static str = "conformance_copy";
    fn run<T: Target>(&self, _: T, index: [T::Int; R], (from, to): &<CopySet<E, R, LF, LT> as ArgSet>::With<T>) {
        to.set(index, from.at(index));
    }
}

/// Part of a view copied to part of another: nothing outside changes.
fn subview_of<S: Space, LF: Layout, LT: Layout>(lab: &Lab<'_, S>) -> Verdict {
    let extents = [9, 21];
    let from = lab.upload::<i32, 2, LF>("from", extents, |[i, j]| (100 * i + j) as i32)?;
    for (start, end) in [([2, 3], [7, 20]), ([0, 0], [1, 1]), ([8, 0], [9, 21]), ([0, 0], [9, 21])] {
        let mut to = lab.filled::<i32, 2, LT>("to", extents, i32::POISON)?;
        let shape: [usize; 2] = std::array::from_fn(|d| end[d] - start[d]);
        let args = (from.read().subview(start, end)?, to.write().subview(start, end)?);
        lab.space.parallel_for_md(MdRangePolicy::new(shape), &CopyKernel::<i32, LF, LT>(PhantomData), args)?;
        lab.space.fence()?;
        let to = lab.download(&to)?;
        for i in 0..extents[0] {
            for j in 0..extents[1] {
                let inside = (start[0]..end[0]).contains(&i) && (start[1]..end[1]).contains(&j);
                let (found, wanted) = (to.get([i, j]), if inside { (100 * i + j) as i32 } else { i32::POISON });
                let what = format!("subview {start:?}..{end:?} from {} to {}", LF::NAME, LT::NAME);
                ensure!(found == wanted, "{what}: element [{i}, {j}] is {found}, expected {wanted}");
            }
        }
    }
    Ok(())
}
pub(super) fn subview<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    subview_of::<S, LayoutRight, LayoutRight>(lab)?;
    subview_of::<S, LayoutLeft, LayoutRight>(lab)?;
    subview_of::<S, LayoutRight, LayoutLeft>(lab)?;
    let view = lab.poisoned::<i32, 2>("view", [4, 5])?;
    for (start, end) in [([1, 1], [1, 2]), ([2, 2], [1, 3]), ([0, 0], [5, 5]), ([0, 0], [4, usize::MAX])] {
        let refused = matches!(view.read().subview(start, end), Err(MemoryError::ExtentMismatch { .. }));
        ensure!(refused, "subview {start:?}..{end:?} of [4, 5] was not refused");
    }
    let tiled = lab.filled::<i32, 2, LayoutTiled<2, 2>>("tiled", [4, 5], 0)?;
    let refused = tiled.read().subview([0, 0], [2, 2]).is_err();
    ensure!(refused, "a subview of a tiled view has no constant strides and was not refused");
    Ok(())
}

kernel_args! {
    struct PairArgs { first: View<i32, 1, LayoutRight, ReadWrite>, second: View<i32, 1, LayoutRight, ReadWrite> }
}
#[derive(Hash, Clone)]
struct Pair;
impl RangeKernel for Pair {
    type Args = PairArgs<Declared>;
    const NAME: &'static str = "conformance_pair";
    fn run<T: Target>(&self, _: T, i: T::Int, args: &PairArgs<T>) {
        args.first.set([i], i);
        args.second.set([i], i + 100);
    }
}
/// Two parts of one view that do not meet may both be written.
pub(super) fn disjoint_subviews<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let mut view = lab.poisoned::<i32, 1>("view", [60])?;
    let whole = view.write();
    let second = whole.duplicate().subview([30], [55])?;
    let args = PairArgs { first: whole.subview([5], [30])?, second };
    lab.space.parallel_for(RangePolicy::new(25), &Pair, args)?;
    lab.space.fence()?;
    check("two halves", lab.download(&view)?.as_slice(), |i| match i {
        5..30 => i as i32 - 5,
        30..55 => i as i32 + 70,
        _ => i32::POISON,
    })
}

pub(super) fn mirrors<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let view = lab.upload::<f64, 3, LayoutLeft>("view", [3, 4, 5], |[i, j, k]| (i + 10 * j + 100 * k) as f64)?;
    let mut mirror = view.mirror()?;
    ensure!(mirror.extents() == view.extents(), "a mirror has extents {:?}", mirror.extents());
    ensure!(mirror.as_slice().iter().all(|&element| element == 0.0), "a mirror is not zero");
    deep_copy(&mut mirror, &view)?;
    let mut twin = View::<f64, 3, LayoutLeft, S::Memory>::new(lab.space.memory(), "twin", [3, 4, 5])?;
    check("a new view", lab.download(&twin)?.as_slice(), |_| 0.0)?;
    deep_copy(&mut twin, &view)?;
    let twin = lab.download(&twin)?;
    for k in 0..5 {
        let wanted = (2 + 10 * 3 + 100 * k) as f64;
        ensure!(mirror.get([2, 3, k]) == wanted && twin.get([2, 3, k]) == wanted, "copies differ at [2, 3, {k}]");
    }
    Ok(())
}

fn copy_between<S: Space, LF: Layout, LT: Layout>(lab: &Lab<'_, S>) -> Verdict {
    for extents in [[0, 3, 2], [1, 1, 1], [3, 5, 7], [2, 4, 8]] {
        let value = |[i, j, k]: [usize; 3]| (i * 100 + j * 10 + k) as i64;
        let from = lab.upload::<i64, 3, LF>("from", extents, value)?;
        let mut to = lab.filled::<i64, 3, LT>("to", extents, i64::POISON)?;
        deep_copy(&mut to, &from)?;
        let to = lab.download(&to)?;
        for i in 0..extents[0] {
            for j in 0..extents[1] {
                for k in 0..extents[2] {
                    let (found, wanted) = (to.get([i, j, k]), value([i, j, k]));
                    let what = format!("deep_copy from {} to {}, {extents:?}", LF::NAME, LT::NAME);
                    ensure!(found == wanted, "{what}: [{i}, {j}, {k}] is {found}, expected {wanted}");
                }
            }
        }
    }
    Ok(())
}
pub(super) fn copies_between_layouts<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    copy_between::<S, LayoutRight, LayoutRight>(lab)?;
    copy_between::<S, LayoutRight, LayoutLeft>(lab)?;
    copy_between::<S, LayoutLeft, LayoutRight>(lab)?;
    copy_between::<S, LayoutRight, LayoutTiled<2, 4>>(lab)?;
    copy_between::<S, LayoutTiled<2, 4>, LayoutLeft>(lab)?;
    copy_between::<S, LayoutTiled<2, 4>, LayoutTiled<3, 2>>(lab)?;
    let from = lab.poisoned::<i64, 2>("from", [3, 4])?;
    let mut to = lab.filled::<i64, 2, LayoutRight>("to", [4, 3], 5)?;
    let refused = matches!(deep_copy(&mut to, &from), Err(MemoryError::ExtentMismatch { .. }));
    ensure!(refused, "deep_copy between extents [3, 4] and [4, 3] was not refused");
    check("the target of a refused copy", lab.download(&to)?.as_slice(), |_| 5)
}

kernel_args! {
    struct StorageArgs {
        single: View<f32, 1, LayoutRight, ReadOnly>,
        double: View<f64, 1, LayoutRight, ReadOnly>,
        single_out: View<f32, 1, LayoutRight, ReadWrite>,
        double_out: View<f64, 1, LayoutRight, ReadWrite>,
    }
}
/// Sums of one number in each storage type, in the arithmetic of the space.
#[derive(Hash, Clone)]
struct Storage;
impl RangeKernel for Storage {
    type Args = StorageArgs<Declared>;
    const NAME: &'static str = "conformance_storage";
    fn run<T: Target>(&self, _: T, i: T::Int, args: &StorageArgs<T>) {
        let sum = args.single.at([i]) + args.double.at([i]);
        args.single_out.set([i], sum);
        args.double_out.set([i], sum);
    }
}
pub(super) fn storage_precision<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let n = 101;
    // The sum needs 30 bits: exact in 64-bit arithmetic, rounded in 32-bit arithmetic.
    let (single, double) = (|i: usize| (1 << 23) as f32 + i as f32, |i: usize| 1.0 / 64.0 * (i % 64) as f64);
    let a = lab.upload::<f32, 1, _>("single", [n], |[i]| single(i))?;
    let b = lab.upload::<f64, 1, _>("double", [n], |[i]| double(i))?;
    let mut single_out = lab.poisoned::<f32, 1>("single_out", [n])?;
    let mut double_out = lab.poisoned::<f64, 1>("double_out", [n])?;
    let args = StorageArgs {
        single: a.read(),
        double: b.read(),
        single_out: single_out.write(),
        double_out: double_out.write(),
    };
    lab.space.parallel_for(RangePolicy::new(n), &Storage, args)?;
    lab.space.fence()?;
    let sum = |i: usize| {
        if lab.is_64_bit() { f64::from(single(i)) + double(i) } else { f64::from(single(i) + double(i) as f32) }
    };
    check("sums stored in 32 bits", lab.download(&single_out)?.as_slice(), |i| sum(i) as f32)?;
    check("sums stored in 64 bits", lab.download(&double_out)?.as_slice(), sum)
}

kernel_args! {
    struct ReadArgs {
        atomic: View<f64, 1, LayoutRight, Atomic>,
        plain: View<f64, 1, LayoutRight, ReadOnly>,
        out: View<f64, 1, LayoutRight, ReadWrite>,
    }
}
/// All three kinds of access load the same.
#[derive(Hash, Clone)]
struct Reads;
impl RangeKernel for Reads {
    type Args = ReadArgs<Declared>;
    const NAME: &'static str = "conformance_reads";
    fn run<T: Target>(&self, _: T, i: T::Int, args: &ReadArgs<T>) {
        args.out.set([i], args.out.at([i]) + args.atomic.at([i]).scale(10.0) + args.plain.at([i]).scale(100.0));
    }
}
pub(super) fn atomic_reads<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let n = 75;
    let mut atomic = lab.upload::<f64, 1, _>("atomic", [n], |[i]| i as f64)?;
    let plain = lab.upload::<f64, 1, _>("plain", [n], |[i]| 2.0 * i as f64)?;
    let mut out = lab.upload::<f64, 1, _>("out", [n], |[i]| 3.0 * i as f64)?;
    let args = ReadArgs { atomic: atomic.update(), plain: plain.read(), out: out.write() };
    lab.space.parallel_for(RangePolicy::new(n), &Reads, args)?;
    lab.space.fence()?;
    check("loads of each access", lab.download(&out)?.as_slice(), |i| 213.0 * i as f64)?;
    check("loads leave a view alone", lab.download(&atomic)?.as_slice(), |i| i as f64)
}

pub(super) fn fill<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    // Longer than the staging block of `fill`.
    let n = (1 << 16) + 13;
    let mut view = View::<f32, 1, LayoutRight, S::Memory>::new(lab.space.memory(), "view", [n])?;
    view.fill(-2.5)?;
    check("a filled view", lab.download(&view)?.as_slice(), |_| -2.5)?;
    let empty = lab.filled::<f32, 2, LayoutRight>("empty", [0, 5], 1.0)?;
    ensure!(lab.download(&empty)?.as_slice().is_empty(), "an empty view has elements");
    Ok(())
}

kernel_args! {
    struct ExtentArgs { view: View<f64, 3, LayoutLeft, ReadOnly>, out: View<i64, 1, LayoutRight, ReadWrite> }
}
#[derive(Hash)]
struct Extents;
impl Kernel for Extents {
    type Args = ExtentArgs<Declared>;
    const NAME: &'static str = "conformance_extents";
    fn run<T: Target>(&self, team: T, args: &ExtentArgs<T>) {
        let [a, b, c] = args.view.extents();
        args.out.set([team.int(0)], a);
        args.out.set([team.int(1)], b);
        args.out.set([team.int(2)], c * args.view.extent(1));
    }
}
/// Extents are numbers of the launch: one kernel serves views of all sizes.
pub(super) fn extents<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for extents in [[2, 3, 4], [7, 1, 5], [0, 9, 1]] {
        let view = lab.filled::<f64, 3, LayoutLeft>("view", extents, 0.0)?;
        let mut out = lab.poisoned::<i64, 1>("out", [3])?;
        lab.run(&Extents, &lab.policy(1, 1, 1)?, ExtentArgs { view: view.read(), out: out.write() })?;
        let wanted = [extents[0], extents[1], extents[2] * extents[1]];
        check("extents", lab.download(&out)?.as_slice(), |k| wanted[k] as i64)?;
    }
    Ok(())
}
