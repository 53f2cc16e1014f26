//! Layouts of fields on the shell: which of the node indices x, y, r is the fastest.

use farro_portability::Layout;

/// Fields `[…, x, y, r]` with r fastest, then y, then x: the order of the golden files.
pub use farro_portability::LayoutRight as RadiusFastest;

/// Fields `[…, x, y, r]` with x fastest, then y, then r: neighbouring columns lie side by side, as lanes want them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LateralFastest;

impl Layout for LateralFastest {
    const NAME: &'static str = "x fastest";
    fn strides<const R: usize>(extents: [usize; R]) -> [usize; R] {
        assert!(R >= 3, "fields of the shell have indices x, y and r");
        let mut strides = [1; R];
        strides[R - 2] = extents[R - 3];
        strides[R - 1] = extents[R - 3] * extents[R - 2];
        let mut volume = strides[R - 1] * extents[R - 1];
        for d in (0..R - 3).rev() {
            strides[d] = volume;
            volume *= extents[d];
        }
        strides
    }
    #[inline(always)]
    fn unit_dimension(rank: usize) -> Option<usize> {
        rank.checked_sub(3)
    }
}

/// A layout of fields on the shell.
pub trait FieldLayout: Layout {
    /// Whether x is the fastest index; else r is.
    const LATERAL_FASTEST: bool;
    /// The letter by which the command line names the layout.
    const LETTER: char;
}
impl FieldLayout for RadiusFastest {
    const LATERAL_FASTEST: bool = false;
    const LETTER: char = 'r';
}
impl FieldLayout for LateralFastest {
    const LATERAL_FASTEST: bool = true;
    const LETTER: char = 'x';
}
