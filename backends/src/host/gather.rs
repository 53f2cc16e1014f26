//! Loads of lanes that do not follow each other, where the machine has an instruction for them.

use super::index::Index;
use super::pack::{Mask, Precision, Set, first_lanes, renamed};
use farro_portability::Element;

/// Reads `f64` elements at the offsets of the selected lanes, the others being zero; none where elements, precision or
/// instruction set have no such instruction. Inline: a call would save all registers of the kernel around it.
///
/// # Safety
/// The offsets of selected lanes must lie inside the block.
#[inline(always)]
pub(super) unsafe fn gather<S: Set, P: Precision<S>, E: Element>(
    pointer: *const E,
    offset: Index<S, P>,
    mask: Mask,
) -> Option<P::Register> {
    #[cfg(target_arch = "x86_64")]
    if const { size_of::<P>() == 8 && matches!(E::KIND, farro_portability::ElementKind::F64) } {
        use std::any::TypeId;
        if TypeId::of::<S>() == TypeId::of::<pulp::x86::V4>() {
            // SAFETY: the instruction set is there, because `S` is, and the offsets are inside by contract.
            let lanes = unsafe { x86::gather_8(pointer.cast(), offset.base(), offset.steps(), mask) };
            return Some(renamed(lanes));
        }
        if TypeId::of::<S>() == TypeId::of::<pulp::x86::V3>() {
            // SAFETY: as above.
            let lanes = unsafe { x86::gather_4(pointer.cast(), offset.base(), offset.steps(), mask) };
            return Some(renamed(lanes));
        }
    }
    let _ = (pointer, offset, mask);
    None
}

/// What a lane adds to the base of an index.
#[derive(Clone, Copy)]
pub(super) enum Steps {
    /// So much times the lane's number.
    Line(i64),
    /// The lane's entry there.
    Table(*const i64),
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Mask, Steps, first_lanes};
    use std::arch::x86_64::*;

    const NUMBERS: [i64; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    /// # Safety
    /// Tables have 8 entries, and offsets of selected lanes are valid for reads.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) unsafe fn gather_8(pointer: *const f64, base: i64, steps: Steps, mask: Mask) -> __m512d {
        let steps = match steps {
            Steps::Line(step) => _mm512_mullo_epi64(first_lanes(NUMBERS), _mm512_set1_epi64(step)),
            // SAFETY: by contract.
            Steps::Table(table) => unsafe { _mm512_loadu_si512(table.cast()) },
        };
        let offsets = _mm512_add_epi64(_mm512_set1_epi64(base), steps);
        // SAFETY: by contract; lanes that are not selected are not read.
        unsafe { _mm512_mask_i64gather_pd::<8>(_mm512_setzero_pd(), mask.0 as u8, offsets, pointer) }
    }

    /// # Safety
    /// Tables have 4 entries, and offsets of selected lanes are valid for reads.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn gather_4(pointer: *const f64, base: i64, steps: Steps, mask: Mask) -> __m256d {
        let steps = match steps {
            Steps::Line(step) => _mm256_setr_epi64x(0, step, step.wrapping_mul(2), step.wrapping_mul(3)),
            // SAFETY: by contract.
            Steps::Table(table) => unsafe { _mm256_loadu_si256(table.cast()) },
        };
        let offsets = _mm256_add_epi64(_mm256_set1_epi64x(base), steps);
        let bits = _mm256_setr_epi64x(1, 2, 4, 8);
        let selected = _mm256_cmpeq_epi64(_mm256_and_si256(bits, _mm256_set1_epi64x(i64::from(mask.0))), bits);
        // SAFETY: by contract; lanes that are not selected are not read.
        unsafe { _mm256_mask_i64gather_pd::<8>(_mm256_setzero_pd(), pointer, offsets, _mm256_castsi256_pd(selected)) }
    }
}
