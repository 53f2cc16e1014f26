//! Views inside a kernel.

use crate::integer::Integer;
use crate::layout::{Layout, LayoutRight};
use crate::target::{AtomicOp, Target};
use crate::value::{Element, Leaf, ValueKind, ValueOf};
use crate::view::{Access, AccessKind, Atomic, ReadWrite};
use std::marker::PhantomData;

/// A view as a kernel sees it: a block of memory with extents and strides.
#[derive(Clone, Copy, Debug)]
pub struct KernelView<T: Target, E: Element, const R: usize, L: Layout, A: Access> {
    target: T,
    memory: T::Memory<E>,
    extents: [T::Int; R],
    strides: [T::Int; R],
    marker: PhantomData<(L, A)>,
}

/// Access of team scratch: plain stores and atomic updates, kept apart by barriers.
#[derive(Clone, Copy, Debug)]
pub struct Scratch;
impl Access for Scratch {
    const KIND: AccessKind = AccessKind::ReadWrite;
}

/// An array in team scratch.
pub type ScratchView<T, E, const R: usize> = KernelView<T, E, R, LayoutRight, Scratch>;

/// Access that allows plain stores.
pub trait Stores: Access {}
impl Stores for ReadWrite {}
impl Stores for Scratch {}
/// Access that allows atomic updates.
pub trait Updates: Access {}
impl Updates for Atomic {}
impl Updates for Scratch {}

impl<T: Target, E: Element, const R: usize, L: Layout, A: Access> KernelView<T, E, R, L, A> {
    /// Puts a view together; backends call this.
    #[inline(always)]
    pub fn from_parts(target: T, memory: T::Memory<E>, extents: [T::Int; R], strides: [T::Int; R]) -> Self {
        KernelView { target, memory, extents, strides, marker: PhantomData }
    }
    /// The extent of dimension `d`.
    #[inline(always)]
    pub fn extent(&self, d: usize) -> T::Int {
        self.extents[d]
    }
    #[inline(always)]
    fn offset(&self, index: [T::Int; R]) -> T::Int {
        L::offset(index, self.extents, self.strides)
    }
    /// The element at `index`.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, index: [T::Int; R]) -> ValueOf<E, T> {
        E::Kind::from_leaf(self.target.load(self.memory, self.offset(index), &index))
    }
    /// Says that the element at `index()` will be read soon, see [`Target::prefetch`].
    #[inline(always)]
    pub fn prefetch(&self, index: impl FnOnce() -> [T::Int; R]) {
        self.target.prefetch(
            self.memory,
            #[inline(always)]
            || self.offset(index()),
        );
    }
}

impl<T: Target, E: Element, const R: usize, L: Layout, A: Stores> KernelView<T, E, R, L, A> {
    /// Sets the element at `index`.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, index: [T::Int; R], value: ValueOf<E, T>) {
        self.target.store(self.memory, self.offset(index), &index, E::Kind::into_leaf(value));
    }
}

impl<T: Target, E: Element, const R: usize, L: Layout, A: Updates> KernelView<T, E, R, L, A> {
    #[inline(always)]
    #[track_caller]
    fn update(&self, op: AtomicOp, index: [T::Int; R], value: ValueOf<E, T>) -> ValueOf<E, T> {
        let value: Leaf<T> = E::Kind::into_leaf(value);
        E::Kind::from_leaf(self.target.atomic(op, self.memory, self.offset(index), &index, value))
    }
    /// Adds to the element at `index`; returns its old value.
    #[inline(always)]
    #[track_caller]
    pub fn add(&self, index: [T::Int; R], value: ValueOf<E, T>) -> ValueOf<E, T> {
        self.update(AtomicOp::Add, index, value)
    }
    /// Lowers the element at `index` to `value` if that is smaller; returns its old value.
    #[inline(always)]
    #[track_caller]
    pub fn min(&self, index: [T::Int; R], value: ValueOf<E, T>) -> ValueOf<E, T> {
        self.update(AtomicOp::Min, index, value)
    }
    /// Raises the element at `index` to `value` if that is larger; returns its old value.
    #[inline(always)]
    #[track_caller]
    pub fn max(&self, index: [T::Int; R], value: ValueOf<E, T>) -> ValueOf<E, T> {
        self.update(AtomicOp::Max, index, value)
    }
    /// Replaces the element at `index`; returns its old value.
    #[inline(always)]
    #[track_caller]
    pub fn exchange(&self, index: [T::Int; R], value: ValueOf<E, T>) -> ValueOf<E, T> {
        self.update(AtomicOp::Exchange, index, value)
    }
    /// Replaces the element at `index` if it equals `expected`; returns its old value.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(&self, index: [T::Int; R], expected: ValueOf<E, T>, value: ValueOf<E, T>) -> ValueOf<E, T> {
        let (expected, value): (Leaf<T>, Leaf<T>) = (E::Kind::into_leaf(expected), E::Kind::into_leaf(value));
        E::Kind::from_leaf(self.target.compare_exchange(self.memory, self.offset(index), &index, expected, value))
    }
}

impl<T: Target, E: Element, const R: usize, L: Layout, A: Access> KernelView<T, E, R, L, A>
where
    T::Int: Integer,
{
    /// The extents.
    #[inline(always)]
    pub fn extents(&self) -> [T::Int; R] {
        self.extents
    }
}
