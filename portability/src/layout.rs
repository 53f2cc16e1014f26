//! Layouts: how a multi-index becomes an offset. Layouts are types.

use crate::integer::Integer;
use std::fmt::Debug;

/// Maps a multi-index of a view to an offset, counted in elements.
///
/// A strided layout gives [`Layout::strides`] and, where one index always has stride 1, [`Layout::unit_dimension`],
/// so that this stride is a constant of compiled code and unit-stride accesses become vector accesses. Other layouts
/// override [`Layout::offset`] and [`Layout::span`].
pub trait Layout: Copy + Debug + Send + Sync + 'static {
    /// The name, as reports and caches print it.
    const NAME: &'static str;

    /// Strides, in elements, of a dense view with these extents.
    fn strides<const R: usize>(extents: [usize; R]) -> [usize; R];

    /// The dimension whose stride is always 1, if there is one.
    fn unit_dimension(rank: usize) -> Option<usize>;

    /// Elements that a dense view with these extents occupies.
    fn span<const R: usize>(extents: [usize; R]) -> usize {
        extents.iter().product()
    }

    /// The offset of `index`, in elements; 64-bit safe.
    #[inline(always)]
    fn offset<I: Integer, const R: usize>(index: [I; R], _extents: [I; R], strides: [I; R]) -> I {
        let mut strides = strides;
        if let Some(unit) = Self::unit_dimension(R) {
            strides[unit] = I::from(1i32);
        }
        I::dot(index, strides)
    }
}

/// The last index is the fastest (C order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutRight;

impl Layout for LayoutRight {
    const NAME: &'static str = "right";
    fn strides<const R: usize>(extents: [usize; R]) -> [usize; R] {
        let mut strides = [1; R];
        for d in (0..R.saturating_sub(1)).rev() {
            strides[d] = strides[d + 1] * extents[d + 1];
        }
        strides
    }
    #[inline(always)]
    fn unit_dimension(rank: usize) -> Option<usize> {
        rank.checked_sub(1)
    }
}

/// The first index is the fastest (Fortran order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutLeft;

impl Layout for LayoutLeft {
    const NAME: &'static str = "left";
    fn strides<const R: usize>(extents: [usize; R]) -> [usize; R] {
        let mut strides = [1; R];
        for d in 1..R {
            strides[d] = strides[d - 1] * extents[d - 1];
        }
        strides
    }
    #[inline(always)]
    fn unit_dimension(rank: usize) -> Option<usize> {
        if rank == 0 { None } else { Some(0) }
    }
}

/// The last two indices are grouped in tiles of `ROWS × COLUMNS` that are contiguous; within and between tiles the
/// last index is the fastest. Partial tiles at the ends are padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutTiled<const ROWS: usize, const COLUMNS: usize>;

impl<const ROWS: usize, const COLUMNS: usize> LayoutTiled<ROWS, COLUMNS> {
    fn padded<const R: usize>(extents: [usize; R]) -> [usize; R] {
        let mut padded = extents;
        if R >= 2 {
            padded[R - 2] = extents[R - 2].next_multiple_of(ROWS);
            padded[R - 1] = extents[R - 1].next_multiple_of(COLUMNS);
        }
        padded
    }
}

impl<const ROWS: usize, const COLUMNS: usize> Layout for LayoutTiled<ROWS, COLUMNS> {
    const NAME: &'static str = "tiled";
    fn strides<const R: usize>(extents: [usize; R]) -> [usize; R] {
        LayoutRight::strides(Self::padded(extents))
    }
    fn unit_dimension(_rank: usize) -> Option<usize> {
        None
    }
    fn span<const R: usize>(extents: [usize; R]) -> usize {
        Self::padded(extents).iter().product()
    }
    #[inline(always)]
    fn offset<I: Integer, const R: usize>(index: [I; R], _extents: [I; R], strides: [I; R]) -> I {
        if R < 2 {
            return index.first().map_or_else(|| I::from(0i32), |i| i.widen());
        }
        let (rows, columns) = (ROWS as i64, COLUMNS as i64);
        let (row, column) = (index[R - 2], index[R - 1]);
        // A row of tiles holds ROWS rows of the padded extent, whose length is the stride of a row.
        let tile_row = (row / rows).widen() * strides[R - 2] * rows;
        let tile = (column / columns).widen() * (rows * columns);
        let mut offset = tile_row + tile + ((row % rows) * columns + column % columns).widen();
        for d in 0..R - 2 {
            offset = offset + index[d].widen() * strides[d];
        }
        offset
    }
}
