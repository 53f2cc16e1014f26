//! Offsets beyond 32 bits, without allocating such views.

use super::lab::*;
use crate::integer::HostIndex;
use crate::memory::MemoryError;
use crate::prelude::*;

/// Shapes with more than 2^31 elements.
const SHAPES: [[usize; 3]; 4] =
    [[3, 1 << 20, 1 << 11], [1 << 16, 1 << 14, 5], [2, 3, (1 << 31) - 1], [1290, 1290, 1293]];

/// The offset by the definition of each layout, in numbers that cannot wrap.
trait Defined: Layout {
    fn defined(index: [u128; 3], extents: [u128; 3]) -> u128;
}
impl Defined for LayoutRight {
    fn defined([i, j, k]: [u128; 3], [_, b, c]: [u128; 3]) -> u128 {
        (i * b + j) * c + k
    }
}
impl Defined for LayoutLeft {
    fn defined([i, j, k]: [u128; 3], [a, b, _]: [u128; 3]) -> u128 {
        (k * b + j) * a + i
    }
}
impl<const ROWS: usize, const COLUMNS: usize> Defined for LayoutTiled<ROWS, COLUMNS> {
    fn defined([i, j, k]: [u128; 3], [_, b, c]: [u128; 3]) -> u128 {
        let (rows, columns) = (ROWS as u128, COLUMNS as u128);
        let (down, across) = (b.div_ceil(rows), c.div_ceil(columns));
        let tile = (i * down + j / rows) * across + k / columns;
        tile * rows * columns + (j % rows) * columns + k % columns
    }
}

fn indices(extents: [usize; 3]) -> Vec<[usize; 3]> {
    let mut generator = Generator(6);
    let mut indices = vec![[0; 3], extents.map(|e| e - 1)];
    indices.extend((0..60).map(|_| extents.map(|e| generator.within(0, e as i64) as usize)));
    indices
}

fn on_host<L: Defined>() -> Verdict {
    for extents in SHAPES {
        let (strides, wide) = (L::strides(extents), extents.map(|e| e as u128));
        let span = L::span(extents) as u128;
        for index in indices(extents) {
            let host = |values: [usize; 3]| values.map(HostIndex::from);
            let found = L::offset(host(index), host(extents), host(strides)).0;
            let wanted = L::defined(index.map(|i| i as u128), wide);
            let right = u128::try_from(found) == Ok(wanted) && wanted < span;
            ensure!(right, "layout {}, extents {extents:?}, index {index:?}: {found}, expected {wanted}", L::NAME);
        }
    }
    Ok(())
}
pub(super) fn beyond_32_bits<S: Space>(_: &Lab<'_, S>) -> Verdict {
    on_host::<LayoutRight>()?;
    on_host::<LayoutLeft>()?;
    on_host::<LayoutTiled<4, 8>>()?;
    on_host::<LayoutTiled<7, 3>>()
}

kernel_args! {
    struct OffsetArgs {
        shape: View<i64, 1, LayoutRight, ReadOnly>,
        index: View<i32, 2, LayoutRight, ReadOnly>,
        out: View<i64, 2, LayoutRight, ReadWrite>,
    }
}
/// Layout arithmetic in a kernel: 32-bit indices, 64-bit strides.
#[derive(Hash, Clone)]
struct Offsets;
impl RangeKernel for Offsets {
    type Args = OffsetArgs<Declared>;
    const NAME: &'static str = "conformance_offsets";
    fn run<T: Target>(&self, target: T, i: T::Int, args: &OffsetArgs<T>) {
        let index: [T::Int; 3] = std::array::from_fn(|d| args.index.at([i, target.int(d)]));
        let numbers = |from: usize| -> [T::Int; 3] { std::array::from_fn(|d| args.shape.at([target.int(from + d)])) };
        let extents = numbers(0);
        args.out.set([target.int(0), i], LayoutRight::offset(index, extents, numbers(3)));
        args.out.set([target.int(1), i], LayoutLeft::offset(index, extents, numbers(6)));
        args.out.set([target.int(2), i], LayoutTiled::<4, 8>::offset(index, extents, numbers(9)));
    }
}
pub(super) fn in_kernels<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for extents in SHAPES {
        let indices = indices(extents);
        let n = indices.len();
        let strides = [
            extents,
            LayoutRight::strides(extents),
            LayoutLeft::strides(extents),
            LayoutTiled::<4, 8>::strides(extents),
        ];
        let shape = lab.upload::<i64, 1, _>("shape", [12], |[k]| strides[k / 3][k % 3] as i64)?;
        let index = lab.upload::<i32, 2, _>("index", [n, 3], |[i, d]| indices[i][d] as i32)?;
        let mut out = lab.poisoned::<i64, 2>("out", [3, n])?;
        let args = OffsetArgs { shape: shape.read(), index: index.read(), out: out.write() };
        lab.space.parallel_for(RangePolicy::new(n), &Offsets, args)?;
        lab.space.fence()?;
        let wide = extents.map(|e| e as u128);
        check(&format!("offsets in a view of {extents:?}"), lab.download(&out)?.as_slice(), |at| {
            let index = indices[at % n].map(|i| i as u128);
            let defined = match at / n {
                0 => LayoutRight::defined(index, wide),
                1 => LayoutLeft::defined(index, wide),
                _ => LayoutTiled::<4, 8>::defined(index, wide),
            };
            defined as i64
        })?;
    }
    Ok(())
}

pub(super) fn view_too_large<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for extents in [[1 << 40, 1 << 40], [usize::MAX, 2], [1 << 62, 1], [0, usize::MAX]] {
        let view = View::<f64, 2, LayoutRight, S::Memory>::new(lab.space.memory(), "huge", extents);
        let refused = matches!(&view, Err(MemoryError::TooLarge { extents: named, .. }) if named[..] == extents);
        let what = view.err().map_or("accepted".into(), |e| e.to_string());
        ensure!(refused, "a view of {extents:?} was not refused by its extents: {what}");
    }
    Ok(())
}
