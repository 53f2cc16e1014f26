//! Kernel arguments: declared once, seen as handles by a launch and as in-kernel views by a kernel.

use crate::kernel_view::KernelView;
use crate::layout::Layout;
use crate::memory::MemorySpace;
use crate::target::Target;
use crate::value::Element;
use crate::view::{Access, ViewHandle};
use std::marker::PhantomData;

/// A side from which arguments are seen: a [`Target`] (inside the kernel) or [`Borrowed`] (at the launch).
pub trait Family {
    /// A real argument.
    type Real: Copy;
    /// An integer argument.
    type Int: Copy;
    /// A view argument.
    type View<E: Element, const R: usize, L: Layout, A: Access>;
}

impl<T: Target> Family for T {
    type Real = <T as Target>::Real;
    type Int = <T as Target>::Int;
    type View<E: Element, const R: usize, L: Layout, A: Access> = KernelView<T, E, R, L, A>;
}

/// Arguments as a launch takes them: numbers, and handles that borrow views of memory space `M`.
#[derive(Clone, Copy, Debug)]
pub struct Borrowed<'a, M>(PhantomData<&'a M>);

impl<'a, M: MemorySpace> Family for Borrowed<'a, M> {
    type Real = f64;
    type Int = i64;
    type View<E: Element, const R: usize, L: Layout, A: Access> = ViewHandle<'a, E, R, L, M, A>;
}

/// Arguments as a declaration: used to name an argument list where no side is meant.
#[derive(Clone, Copy, Debug)]
pub struct Declared;

impl Family for Declared {
    type Real = ();
    type Int = ();
    type View<E: Element, const R: usize, L: Layout, A: Access> = ();
}

/// An argument list. [`kernel_args!`](crate::kernel_args) writes the implementation.
pub trait ArgSet {
    /// The same list seen from side `F`.
    type With<F: Family>;
    /// Translates the list from side `F` to side `G`, argument by argument in the order of declaration.
    fn rebind<F: Family, G: Family>(args: &Self::With<F>, binder: &mut impl Binder<F, G>) -> Self::With<G>;
}

/// Translates single arguments; each backend has one.
pub trait Binder<F: Family, G: Family> {
    /// Translates a real.
    fn real(&mut self, name: &'static str, value: &F::Real) -> G::Real;
    /// Translates an integer.
    fn int(&mut self, name: &'static str, value: &F::Int) -> G::Int;
    /// Translates a view.
    fn view<E: Element, const R: usize, L: Layout, A: Access>(
        &mut self,
        name: &'static str,
        view: &F::View<E, R, L, A>,
    ) -> G::View<E, R, L, A>;
}

impl ArgSet for () {
    type With<F: Family> = ();
    fn rebind<F: Family, G: Family>(_args: &(), _binder: &mut impl Binder<F, G>) {}
}

/// Arguments `A` and `R` more integers, named `extent_0` and so on: what the range adapters pass on.
#[derive(Debug)]
pub struct WithExtents<A, const R: usize>(PhantomData<A>);

const EXTENT_NAMES: [&str; 6] = ["extent_0", "extent_1", "extent_2", "extent_3", "extent_4", "extent_5"];

impl<A: ArgSet, const R: usize> ArgSet for WithExtents<A, R> {
    type With<F: Family> = (A::With<F>, [F::Int; R]);
    #[inline(always)]
    fn rebind<F: Family, G: Family>(args: &Self::With<F>, binder: &mut impl Binder<F, G>) -> Self::With<G> {
        (A::rebind(&args.0, binder), std::array::from_fn(|d| binder.int(EXTENT_NAMES[d], &args.1[d])))
    }
}

/// Two argument lists in a row.
pub(crate) struct Both<A, B>(PhantomData<(A, B)>);

impl<A: ArgSet, B: ArgSet> ArgSet for Both<A, B> {
    type With<F: Family> = (A::With<F>, B::With<F>);
    #[inline(always)]
    fn rebind<F: Family, G: Family>(args: &Self::With<F>, binder: &mut impl Binder<F, G>) -> Self::With<G> {
        (A::rebind(&args.0, binder), B::rebind(&args.1, binder))
    }
}

/// A second, shorter use of the same arguments, for launches that follow each other.
pub(crate) fn reborrow<'a: 'b, 'b, A: ArgSet, M: MemorySpace>(
    args: &A::With<Borrowed<'a, M>>,
) -> A::With<Borrowed<'b, M>> {
    struct Reborrow;
    impl<'a: 'b, 'b, M: MemorySpace> Binder<Borrowed<'a, M>, Borrowed<'b, M>> for Reborrow {
        fn real(&mut self, _name: &'static str, value: &f64) -> f64 {
            *value
        }
        fn int(&mut self, _name: &'static str, value: &i64) -> i64 {
            *value
        }
        fn view<E: Element, const R: usize, L: Layout, A: Access>(
            &mut self,
            _name: &'static str,
            view: &ViewHandle<'a, E, R, L, M, A>,
        ) -> ViewHandle<'b, E, R, L, M, A> {
            view.duplicate()
        }
    }
    A::rebind(args, &mut Reborrow)
}

/// Declares an argument list: a structure whose fields are `Real`, `Int` or `View<Element, RANK, Layout, Access>`.
///
/// Type parameters go in square brackets: `pub struct Args[E: RealElement, L: Layout] { … }`. The structure is generic
/// over the [`Family`](crate::Family) first; name the list itself as `Args<Declared, E, L>`.
#[macro_export]
macro_rules! kernel_args {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident $([$($parameter:ident : $bound:path),*])? {
        $($(#[$field_meta:meta])* $field:ident : $kind:ident $(< $($argument:tt),* >)?),* $(,)?
    }) => {
        $(#[$meta])*
        $visibility struct $name<F: $crate::Family $(, $($parameter: $bound),*)?> {
            $(
                $(#[$field_meta])*
                #[doc = concat!("`", stringify!($field), "`")]
                pub $field: F::$kind $(< $($argument),* >)?,
            )*
        }

        impl<$($($parameter: $bound),*)?> $crate::ArgSet for $name<$crate::Declared $(, $($parameter),*)?> {
            type With<F: $crate::Family> = $name<F $(, $($parameter),*)?>;
            #[inline(always)]
            fn rebind<F: $crate::Family, G: $crate::Family>(
                args: &Self::With<F>,
                binder: &mut impl $crate::Binder<F, G>,
            ) -> Self::With<G> {
                $name { $($field: $crate::kernel_args!(@bind binder, args, $field, $kind),)* }
            }
        }
    };
    (@bind $binder:ident, $args:ident, $field:ident, Real) => { $binder.real(stringify!($field), &$args.$field) };
    (@bind $binder:ident, $args:ident, $field:ident, Int) => { $binder.int(stringify!($field), &$args.$field) };
    (@bind $binder:ident, $args:ident, $field:ident, View) => { $binder.view(stringify!($field), &$args.$field) };
}
