//! Views on the host side of a launch: owners, borrowed handles, mirrors and copies.

use crate::integer::HostIndex;
use crate::layout::{Layout, LayoutRight};
use crate::memory::{HostMemory, MemoryError, MemorySpace};
use crate::value::Element;
use std::any::TypeId;
use std::fmt::Debug;
use std::marker::PhantomData;

/// How a kernel may use a view, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Loads only.
    ReadOnly,
    /// Loads and plain stores.
    ReadWrite,
    /// Loads and atomic updates.
    Atomic,
}

/// How a kernel may use a view, as a type (the memory traits of Kokkos).
pub trait Access: Copy + Debug + Send + Sync + 'static {
    /// The access as a value.
    const KIND: AccessKind;
}
/// Loads only.
#[derive(Clone, Copy, Debug)]
pub struct ReadOnly;
/// Loads and plain stores.
#[derive(Clone, Copy, Debug)]
pub struct ReadWrite;
/// Loads and atomic updates.
#[derive(Clone, Copy, Debug)]
pub struct Atomic;
impl Access for ReadOnly {
    const KIND: AccessKind = AccessKind::ReadOnly;
}
impl Access for ReadWrite {
    const KIND: AccessKind = AccessKind::ReadWrite;
}
impl Access for Atomic {
    const KIND: AccessKind = AccessKind::Atomic;
}

/// A multi-dimensional array of rank `R` (0 to 6) that owns its memory.
///
/// Kernels receive borrowed handles: [`View::read`] for loads, [`View::write`] for plain stores, [`View::update`] for
/// atomic updates. A handle that may write borrows the view exclusively, so one view cannot be written and read under
/// two names in one launch.
#[derive(Debug)]
pub struct View<E: Element, const R: usize, L: Layout = LayoutRight, M: MemorySpace = HostMemory> {
    label: String,
    space: M,
    buffer: M::Buffer,
    extents: [usize; R],
    strides: [usize; R],
    marker: PhantomData<(E, L)>,
}

/// A borrowed view: what a launch takes. Subviews and views of foreign slices ("unmanaged" views) are handles too.
#[derive(Debug)]
pub struct ViewHandle<'a, E: Element, const R: usize, L: Layout, M: MemorySpace, A: Access> {
    pub(crate) label: &'a str,
    pub(crate) pointer: *mut u8,
    pub(crate) extents: [usize; R],
    pub(crate) strides: [usize; R],
    /// Elements from the first to the last reachable one.
    pub(crate) span: usize,
    marker: PhantomData<(&'a mut E, L, M, A)>,
}

// SAFETY: a handle is a borrow of a buffer that is Send and Sync; reads through shared handles do not write.
unsafe impl<E: Element, const R: usize, L: Layout, M: MemorySpace, A: Access> Send for ViewHandle<'_, E, R, L, M, A> {}
// SAFETY: as above.
unsafe impl<E: Element, const R: usize, L: Layout, M: MemorySpace, A: Access> Sync for ViewHandle<'_, E, R, L, M, A> {}

impl<E: Element, const R: usize, L: Layout, M: MemorySpace> Clone for ViewHandle<'_, E, R, L, M, ReadOnly> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Element, const R: usize, L: Layout, M: MemorySpace> Copy for ViewHandle<'_, E, R, L, M, ReadOnly> {}

impl<E: Element, const R: usize, L: Layout, M: MemorySpace> View<E, R, L, M> {
    const RANK_IS_SUPPORTED: () = assert!(R <= 6, "views have rank 0 to 6");

    /// A view of zeros in `space`.
    ///
    /// # Errors
    /// When the space has not enough memory or the size overflows.
    pub fn new(space: &M, label: &str, extents: [usize; R]) -> Result<Self, MemoryError> {
        let () = Self::RANK_IS_SUPPORTED;
        let too_large = || MemoryError::TooLarge { label: label.into(), extents: extents.to_vec() };
        // Padding of tiled layouts is bounded by a factor that the slack of 2^12 covers.
        extents
            .iter()
            .try_fold(4096usize, |product, &extent| product.checked_mul(extent.max(1)))
            .and_then(|elements| elements.checked_mul(E::KIND.bytes()))
            .filter(|&bytes| bytes <= isize::MAX as usize)
            .ok_or_else(too_large)?;
        let span = L::span(extents);
        let buffer = space.allocate(label, span * E::KIND.bytes())?;
        Ok(View {
            label: label.into(),
            space: space.clone(),
            buffer,
            extents,
            strides: L::strides(extents),
            marker: PhantomData,
        })
    }
    /// The label, for messages.
    pub fn label(&self) -> &str {
        &self.label
    }
    /// The extents.
    pub fn extents(&self) -> [usize; R] {
        self.extents
    }
    /// The strides, in elements.
    pub fn strides(&self) -> [usize; R] {
        self.strides
    }
    /// The memory space.
    pub fn space(&self) -> &M {
        &self.space
    }
    /// Elements of the underlying block, padding included.
    pub fn span(&self) -> usize {
        L::span(self.extents)
    }
    fn handle<A: Access>(&self) -> ViewHandle<'_, E, R, L, M, A> {
        ViewHandle {
            label: &self.label,
            pointer: self.space.pointer(&self.buffer),
            extents: self.extents,
            strides: self.strides,
            span: self.span(),
            marker: PhantomData,
        }
    }
    /// A handle for loads.
    pub fn read(&self) -> ViewHandle<'_, E, R, L, M, ReadOnly> {
        self.handle()
    }
    /// A handle for loads and plain stores.
    pub fn write(&mut self) -> ViewHandle<'_, E, R, L, M, ReadWrite> {
        self.handle()
    }
    /// A handle for loads and atomic updates.
    pub fn update(&mut self) -> ViewHandle<'_, E, R, L, M, Atomic> {
        self.handle()
    }
    /// A view of the same shape in host memory, filled with zeros.
    ///
    /// # Errors
    /// When host memory is exhausted.
    pub fn mirror(&self) -> Result<View<E, R, L, HostMemory>, MemoryError> {
        View::new(&HostMemory, &self.label, self.extents)
    }
    /// Sets each element, padding included.
    ///
    /// # Errors
    /// When the device fails.
    pub fn fill(&mut self, value: E) -> Result<(), MemoryError> {
        let mut staging = View::<E, 1>::new(&HostMemory, "staging", [self.span().min(1 << 16)])?;
        staging.as_mut_slice().fill(value);
        let total = self.span() * E::KIND.bytes();
        let mut done = 0;
        while done < total {
            let bytes = staging.buffer.len().min(total - done);
            self.space.write(&mut self.buffer, done, &staging.buffer.bytes()[..bytes])?;
            done += bytes;
        }
        Ok(())
    }
}

impl<E: Element, const R: usize, L: Layout> View<E, R, L, HostMemory> {
    /// A view in host memory whose elements are `f(index)`.
    ///
    /// # Errors
    /// When host memory is exhausted.
    pub fn from_fn(label: &str, extents: [usize; R], f: impl Fn([usize; R]) -> E) -> Result<Self, MemoryError> {
        let mut view = View::new(&HostMemory, label, extents)?;
        let strides = view.strides;
        let elements = view.as_mut_slice();
        for_each_index(extents, |index| elements[element_offset::<L, R>(index, extents, strides)] = f(index));
        Ok(view)
    }
    /// The elements in storage order.
    pub fn as_slice(&self) -> &[E] {
        // SAFETY: the buffer is aligned to 64 bytes, initialised and holds `span` elements; any bits are an element.
        unsafe { std::slice::from_raw_parts(self.space.pointer(&self.buffer).cast(), self.span()) }
    }
    /// The elements in storage order.
    pub fn as_mut_slice(&mut self) -> &mut [E] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.space.pointer(&self.buffer).cast(), self.span()) }
    }
    /// The offset of `index` in [`View::as_slice`].
    ///
    /// # Panics
    /// If the index is outside the extents.
    pub fn offset(&self, index: [usize; R]) -> usize {
        for (d, (&i, &extent)) in index.iter().zip(&self.extents).enumerate() {
            assert!(i < extent, "view `{}`: index {i} of dimension {d} is outside 0..{extent}", self.label);
        }
        element_offset::<L, R>(index, self.extents, self.strides)
    }
    /// The element at `index`.
    ///
    /// # Panics
    /// If the index is outside the extents.
    pub fn get(&self, index: [usize; R]) -> E {
        self.as_slice()[self.offset(index)]
    }
    /// Sets the element at `index`.
    ///
    /// # Panics
    /// If the index is outside the extents.
    pub fn set(&mut self, index: [usize; R], value: E) {
        let offset = self.offset(index);
        self.as_mut_slice()[offset] = value;
    }
}

impl<'a, E: Element, const R: usize, L: Layout, M: MemorySpace, A: Access> ViewHandle<'a, E, R, L, M, A> {
    /// The label, for messages.
    pub fn label(&self) -> &'a str {
        self.label
    }
    /// The extents.
    pub fn extents(&self) -> [usize; R] {
        self.extents
    }
    /// The strides, in elements.
    pub fn strides(&self) -> [usize; R] {
        self.strides
    }
    /// Elements from the first to the last reachable one.
    pub fn span(&self) -> usize {
        self.span
    }
    /// The address of the first element in its memory space.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer
    }
    /// All elements in storage order, padding and gaps between rows included, as a view of rank 1.
    pub fn flatten(self) -> ViewHandle<'a, E, 1, LayoutRight, M, A> {
        ViewHandle {
            label: self.label,
            pointer: self.pointer,
            extents: [self.span],
            strides: [1],
            span: self.span,
            marker: PhantomData,
        }
    }
    pub(crate) fn duplicate(&self) -> Self {
        ViewHandle { ..*self }
    }
    /// The part of the view with `start[d] <= index[d] < end[d]`, with the same strides.
    ///
    /// # Errors
    /// When the range is empty, reversed or outside the extents, or the layout has no constant strides.
    pub fn subview(self, start: [usize; R], end: [usize; R]) -> Result<Self, MemoryError> {
        let inside = (0..R).all(|d| start[d] < end[d] && end[d] <= self.extents[d]);
        let strided = R < 2 || L::unit_dimension(R).is_some();
        if !inside || !strided {
            return Err(MemoryError::ExtentMismatch {
                from: self.label.into(),
                from_extents: self.extents.to_vec(),
                to: format!("subview {start:?}..{end:?}"),
                to_extents: (0..R).map(|d| end[d].saturating_sub(start[d])).collect(),
            });
        }
        let first = element_offset::<L, R>(start, self.extents, self.strides);
        let extents = std::array::from_fn(|d| end[d] - start[d]);
        let span = 1 + (0..R).map(|d| (extents[d] - 1) * self.strides[d]).sum::<usize>();
        Ok(ViewHandle {
            pointer: self.pointer.wrapping_add(first * E::KIND.bytes()),
            extents,
            span,
            marker: PhantomData,
            ..self
        })
    }
}

impl<'a, E: Element, L: Layout> ViewHandle<'a, E, 1, L, HostMemory, ReadOnly> {
    /// An unmanaged view of a slice, for loads.
    pub fn from_slice(label: &'a str, slice: &'a [E]) -> Self {
        ViewHandle {
            label,
            pointer: slice.as_ptr().cast_mut().cast(),
            extents: [slice.len()],
            strides: [1],
            span: slice.len(),
            marker: PhantomData,
        }
    }
}

impl<'a, E: Element, L: Layout> ViewHandle<'a, E, 1, L, HostMemory, ReadWrite> {
    /// An unmanaged view of a slice, for loads and stores.
    pub fn from_mut_slice(label: &'a str, slice: &'a mut [E]) -> Self {
        let (extents, span) = ([slice.len()], slice.len());
        ViewHandle { label, pointer: slice.as_mut_ptr().cast(), extents, strides: [1], span, marker: PhantomData }
    }
}

/// Copies all elements of `from` to `to`, which may live in another memory space and have another layout.
///
/// # Errors
/// When the extents differ or a device fails.
pub fn deep_copy<E: Element, const R: usize, LT: Layout, MT: MemorySpace, LF: Layout, MF: MemorySpace>(
    to: &mut View<E, R, LT, MT>,
    from: &View<E, R, LF, MF>,
) -> Result<(), MemoryError> {
    if to.extents != from.extents {
        return Err(MemoryError::ExtentMismatch {
            from: from.label.clone(),
            from_extents: from.extents.to_vec(),
            to: to.label.clone(),
            to_extents: to.extents.to_vec(),
        });
    }
    let mut source = View::<E, R, LF, HostMemory>::new(&HostMemory, &from.label, from.extents)?;
    from.space.read(&from.buffer, 0, source.buffer.bytes_mut())?;
    // Types, not names: tiled layouts of different tiles share a name and may share strides.
    if TypeId::of::<LT>() == TypeId::of::<LF>() && to.strides == from.strides && to.span() == from.span() {
        return to.space.write(&mut to.buffer, 0, source.buffer.bytes());
    }
    let mut target = View::<E, R, LT, HostMemory>::new(&HostMemory, &to.label, to.extents)?;
    let (extents, to_strides, from_strides) = (to.extents, to.strides, from.strides);
    let (elements, source) = (target.as_mut_slice(), source.as_slice());
    for_each_index(extents, |index| {
        elements[element_offset::<LT, R>(index, extents, to_strides)] =
            source[element_offset::<LF, R>(index, extents, from_strides)];
    });
    to.space.write(&mut to.buffer, 0, target.buffer.bytes())
}

fn element_offset<L: Layout, const R: usize>(index: [usize; R], extents: [usize; R], strides: [usize; R]) -> usize {
    let host = |values: [usize; R]| values.map(HostIndex::from);
    L::offset(host(index), host(extents), host(strides)).0 as usize
}

/// Visits each index of a box, the last dimension fastest.
fn for_each_index<const R: usize>(extents: [usize; R], mut f: impl FnMut([usize; R])) {
    let mut index = [0; R];
    for _ in 0..extents.iter().product() {
        f(index);
        for d in (0..R).rev() {
            index[d] += 1;
            if index[d] < extents[d] {
                break;
            }
            index[d] = 0;
        }
    }
}
