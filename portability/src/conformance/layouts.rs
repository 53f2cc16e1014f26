//! Layouts: what a kernel writes at an index is what the host reads there, and the other way round.

use super::lab::*;
use crate::prelude::*;
use crate::{ArgSet, Binder, Family};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// Two views of layout `L`, one to write and one to read, and a copy in C order.
struct LayoutSet<const R: usize, L>(PhantomData<L>);
impl<const R: usize, L: Layout> ArgSet for LayoutSet<R, L> {
    type With<F: Family> =
        (F::View<i64, R, L, ReadWrite>, F::View<f32, R, L, ReadOnly>, F::View<f64, R, LayoutRight, ReadWrite>);
    fn rebind<F: Family, G: Family>(args: &Self::With<F>, binder: &mut impl Binder<F, G>) -> Self::With<G> {
        (binder.view("written", &args.0), binder.view("source", &args.1), binder.view("copy", &args.2))
    }
}

struct Touch<L>(PhantomData<L>);
impl<L> Clone for Touch<L> {
    fn clone(&self) -> Self {
        Touch(PhantomData)
    }
}
impl<L> Hash for Touch<L> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
impl<const R: usize, L: Layout> MdKernel<R> for Touch<L> {
    type Args = LayoutSet<R, L>;
    const NAME: &'static str = "conformance_layout";
    fn run<T: Target>(&self, _: T, index: [T::Int; R], (written, source, copy): &<LayoutSet<R, L> as ArgSet>::With<T>) {
        let code = index.iter().fold(T::Int::from(1i32), |code, &i| code * 10 + i);
        written.set(index, code);
        copy.set(index, source.at(index));
    }
}

/// The digits of an index behind a leading 1.
fn code<const R: usize>(index: [usize; R]) -> i64 {
    index.iter().fold(1, |code, &i| code * 10 + i as i64)
}

fn layout<S: Space, const R: usize, L: Layout>(lab: &Lab<'_, S>, extents: [usize; R]) -> Verdict {
    let mut written = lab.filled::<i64, R, L>("written", extents, i64::POISON)?;
    let source = lab.upload::<f32, R, L>("source", extents, |index| code(index) as f32)?;
    let mut copy = lab.poisoned::<f64, R>("copy", extents)?;
    let policy = MdRangePolicy::new(extents);
    let args = (written.write(), source.read(), copy.write());
    lab.space.parallel_for_md(policy, &Touch::<L>(PhantomData), args)?;
    lab.space.fence()?;
    let (written, copy) = (lab.download(&written)?, lab.download(&copy)?);
    let mut seen = std::collections::HashSet::new();
    let mut index = [0; R];
    let elements: usize = extents.iter().product();
    for number in 0..elements {
        let mut rest = number;
        for d in (0..R).rev() {
            index[d] = rest % extents[d];
            rest /= extents[d];
        }
        let what = format!("layout {}, extents {extents:?}, index {index:?}", L::NAME);
        let (a, b) = (written.get(index), copy.get(index));
        ensure!(a == code(index), "{what}: a kernel wrote {}, the host reads {a}", code(index));
        ensure!(b == code(index) as f64, "{what}: the host wrote {}, a kernel reads {b}", code(index));
        ensure!(seen.insert(written.offset(index)), "{what}: two indices share an offset");
    }
    // Padding is nobody's: no store may reach it.
    let untouched = written.as_slice().iter().filter(|&&element| element == i64::POISON).count();
    ensure!(untouched == written.span() - elements, "layout {}, extents {extents:?}: padding was written", L::NAME);
    Ok(())
}

fn layouts<S: Space, const R: usize>(lab: &Lab<'_, S>, boxes: &[[usize; R]]) -> Verdict {
    for &extents in boxes {
        layout::<S, R, LayoutRight>(lab, extents)?;
        layout::<S, R, LayoutLeft>(lab, extents)?;
    }
    Ok(())
}
fn tiled<S: Space, const R: usize>(lab: &Lab<'_, S>, boxes: &[[usize; R]]) -> Verdict {
    boxes.iter().try_for_each(|&extents| layout::<S, R, LayoutTiled<2, 4>>(lab, extents))
}

pub(super) fn rank_0<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    layouts(lab, &[[]])
}
pub(super) fn rank_1<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let boxes = [[0], [1], [9]];
    layouts(lab, &boxes)?;
    tiled(lab, &boxes)
}
pub(super) fn rank_2<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let boxes = [[0, 4], [1, 1], [4, 8], [5, 9], [9, 3]];
    layout::<S, 2, LayoutTiled<3, 1>>(lab, [7, 4])?;
    layouts(lab, &boxes)?;
    tiled(lab, &boxes)
}
pub(super) fn rank_3<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let boxes = [[2, 0, 3], [3, 4, 8], [4, 5, 7]];
    layouts(lab, &boxes)?;
    tiled(lab, &boxes)
}
pub(super) fn rank_4<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    layouts(lab, &[[2, 3, 3, 5]])
}
pub(super) fn rank_5<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    layouts(lab, &[[2, 3, 2, 3, 5]])
}
pub(super) fn rank_6<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let boxes = [[2, 1, 3, 2, 3, 5]];
    layouts(lab, &boxes)?;
    tiled(lab, &boxes)
}
