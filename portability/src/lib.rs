//! What a farro kernel may say.
//!
//! A kernel is an ordinary generic function over a [`Target`]. Everything it touches is an associated type of the
//! target: reals, integers, predicates, views, scratch, private arrays. Monomorphized for the host a kernel *is* native
//! SIMD code; monomorphized for a tracer it writes itself down once, and the result is checked, counted or printed as
//! device code. This crate has the traits and types only: no device, no foreign interface, no input or output.
//!
//! The words are those of Kokkos where it has them:
//!
//! | word | here |
//! |---|---|
//! | view, layout, mirror, deep copy | [`View`], [`Layout`], [`View::mirror`], [`deep_copy`] |
//! | memory traits | [`ReadOnly`], [`ReadWrite`], [`Atomic`] as access types; unmanaged: [`ViewHandle::from_slice`] |
//! | range, multi-dimensional range, team policies | [`RangePolicy`], [`MdRangePolicy`], [`TeamPolicy`] |
//! | launch bounds | [`LaunchBounds`], or [`Bounds`] at run time |
//! | nested ranges | [`Target::for_each_thread`], [`Target::for_each_lane`], [`Target::for_each`], [`Target::for_each_md`] |
//! | reductions, scans | [`Target::reduce`], [`Target::scan`], [`Space::parallel_reduce`], [`Space::parallel_scan`] |
//! | team scratch | [`Target::scratch`] at [`ScratchLevel::Zero`] or [`ScratchLevel::One`] |
//! | team barrier | [`Target::barrier`] |
//!
//! Beyond Kokkos: [`Target::private`] arrays belong to one work item and survive barriers, and lanes of a vector
//! exchange values with the same meaning on every target ([`Target::shift_down`], [`Target::from_lane`]).
//!
//! ```
//! use farro_portability::prelude::*;
//!
//! kernel_args! {
//!     /// `y := a x + y`.
//!     pub struct AxpyArgs { a: Real, x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
//! }
//!
//! #[derive(Debug, Hash)]
//! struct Axpy;
//!
//! impl RangeKernel for Axpy {
//!     type Args = AxpyArgs<Declared>;
//!     const NAME: &'static str = "axpy";
//!     fn run<T: Target>(&self, _t: T, i: T::Int, args: &AxpyArgs<T>) {
//!         args.y.set([i], args.a.mul_add(args.x.at([i]), args.y.at([i])));
//!     }
//! }
//! ```
#![deny(missing_docs)]

mod args;
pub mod conformance;
mod dual;
mod error;
mod integer;
mod kernel;
mod kernel_view;
mod layout;
mod league;
mod memory;
mod policy;
mod real;
mod reduce;
mod space;
mod target;
mod value;
mod view;

pub use args::{ArgSet, Binder, Borrowed, Declared, Family, WithExtents};
pub use dual::Dual;
pub use error::LaunchError;
pub use generic_array;
pub use integer::Integer;
pub use kernel::{Kernel, MdKernel, OverMd, OverRange, RangeKernel};
pub use kernel_view::{KernelView, Scratch, ScratchView, Stores, Updates};
pub use layout::{Layout, LayoutLeft, LayoutRight, LayoutTiled};
pub use memory::{HostBuffer, HostMemory, MemoryError, MemorySpace};
pub use policy::{Bounds, LaunchBounds, MdRangePolicy, RangePolicy, TeamPolicy};
pub use real::{Predicate, Real, Select};
pub use reduce::{All, Any, Max, MaxInt, MaxLoc, Min, MinInt, MinLoc, MinMax, Product, Reducer, Sum, SumInt};
pub use space::{ArgsOf, LaunchInfo, Limits, ReduceKernel, ScanKernel, Space, check_limits, check_scratch};
pub use target::{AtomicOp, Private, ScratchLevel, Shift, Spread, Target, WorkItem};
pub use value::{
    Carry, Element, ElementKind, IntElement, Integers, Leaf, RealElement, Reals, ValueKind, ValueOf, array, each,
    inlined,
};
pub use view::{Access, AccessKind, Atomic, ReadOnly, ReadWrite, View, ViewHandle, deep_copy};

/// Everything a kernel or a launch needs, in one `use`.
pub mod prelude {
    pub use crate::{
        All, Any, Atomic, AtomicOp, Bounds, Carry, Declared, Element, Family, HostMemory, IntElement, Integer, Kernel,
        KernelView, LaunchBounds, LaunchError, Layout, LayoutLeft, LayoutRight, LayoutTiled, Max, MaxInt, MaxLoc,
        MdKernel, MdRangePolicy, MemorySpace, Min, MinInt, MinLoc, MinMax, Predicate, Private, Product, RangeKernel,
        RangePolicy, ReadOnly, ReadWrite, Real, RealElement, ReduceKernel, Reducer, ScanKernel, ScratchLevel,
        ScratchView, Select, Space, Sum, SumInt, Target, TeamPolicy, View, WorkItem, deep_copy, kernel_args,
    };
}
