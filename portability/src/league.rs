//! Reductions and scans over the league, as kernels: chunks first, then one team over the chunks' results.

use crate::args::{Borrowed, Both, WithExtents};
use crate::error::LaunchError;
use crate::kernel::{Kernel, chunk_of};
use crate::layout::LayoutRight;
use crate::memory::{HostMemory, MemorySpace};
use crate::reduce::Reducer;
use crate::space::{ReduceKernel, ScanKernel};
use crate::target::Target;
use crate::value::{Carry, Leaf};
use crate::view::{ReadWrite, View, deep_copy};
use crate::{ArgSet, Declared};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// Most reals and most integers of a value that is reduced over the league.
const MAX_LEAVES: usize = 8;

crate::kernel_args! {
    /// Rows of numbers: one for each chunk and a last one for the total. `kinds` tells which numbers a value has.
    pub struct PartialArgs {
        reals: View<f64, 2, LayoutRight, ReadWrite>,
        ints: View<i64, 2, LayoutRight, ReadWrite>,
        kinds: View<i32, 1, LayoutRight, ReadWrite>,
    }
}
type PartialSet = PartialArgs<Declared>;

/// The memory behind [`PartialArgs`].
pub(crate) struct Partials<M: MemorySpace> {
    reals: View<f64, 2, LayoutRight, M>,
    ints: View<i64, 2, LayoutRight, M>,
    kinds: View<i32, 1, LayoutRight, M>,
}

impl<M: MemorySpace> Partials<M> {
    pub fn new(space: &M, chunks: usize) -> Result<Self, LaunchError> {
        Ok(Partials {
            reals: View::new(space, "partial reals", [chunks + 1, MAX_LEAVES])?,
            ints: View::new(space, "partial integers", [chunks + 1, MAX_LEAVES])?,
            kinds: View::new(space, "partial kinds", [2 * MAX_LEAVES])?,
        })
    }
    pub fn args(&mut self) -> PartialArgs<Borrowed<'_, M>> {
        PartialArgs { reals: self.reals.write(), ints: self.ints.write(), kinds: self.kinds.write() }
    }
    /// The numbers of the last row, in the order of the value.
    pub fn total(&self) -> Result<Vec<f64>, LaunchError> {
        let mut reals = self.reals.mirror()?;
        let mut ints = self.ints.mirror()?;
        let mut kinds = View::<i32, 1>::new(&HostMemory, "kinds", self.kinds.extents())?;
        deep_copy(&mut reals, &self.reals)?;
        deep_copy(&mut ints, &self.ints)?;
        deep_copy(&mut kinds, &self.kinds)?;
        let row = reals.extents()[0] - 1;
        let (mut next_real, mut next_int) = (0..MAX_LEAVES, 0..MAX_LEAVES);
        let take = |range: &mut std::ops::Range<usize>| range.next().unwrap_or(MAX_LEAVES - 1);
        let numbers = kinds.as_slice().iter().take_while(|&&kind| kind != 0).map(
            #[inline(always)]
            |&kind| match kind {
                1 => reals.get([row, take(&mut next_real)]),
                _ => ints.get([row, take(&mut next_int)]) as f64,
            },
        );
        Ok(numbers.collect())
    }
}

/// Calls `f(leaf, place among its kind, place among all)` for each number of a value.
fn leaves<T: Target, C: Carry<T>>(value: C, mut f: impl FnMut(Leaf<T>, usize, usize) -> Leaf<T>) -> C {
    let (mut reals, mut ints) = (0, 0);
    value.map_leaves(&mut |leaf| {
        let count = if matches!(leaf, Leaf::Real(_)) { &mut reals } else { &mut ints };
        assert!(
            *count < MAX_LEAVES,
            "a value reduced over the league may have {MAX_LEAVES} reals and as many integers"
        );
        *count += 1;
        let within = *count - 1;
        f(leaf, within, reals + ints - 1)
    })
}

fn write_row<T: Target, C: Carry<T>>(team: T, args: &PartialArgs<T>, row: T::Int, value: C) {
    leaves(value, |leaf, k, _| {
        match leaf {
            Leaf::Real(real) => args.reals.set([row, team.int(k)], real),
            Leaf::Int(int) => args.ints.set([row, team.int(k)], int),
        }
        leaf
    });
}

/// Notes which numbers a value has; done once, by the team that writes the total.
fn write_kinds<T: Target, C: Carry<T>>(team: T, args: &PartialArgs<T>, value: C) {
    leaves(value, |leaf, _, number| {
        let kind = if matches!(leaf, Leaf::Real(_)) { 1i32 } else { 2 };
        args.kinds.set([team.int(number)], T::Int::from(kind));
        leaf
    });
}

fn read_row<T: Target, C: Carry<T>>(team: T, args: &PartialArgs<T>, row: T::Int, like: C) -> C {
    leaves(like, |leaf, k, _| match leaf {
        Leaf::Real(_) => Leaf::Real(args.reals.at([row, team.int(k)])),
        Leaf::Int(_) => Leaf::Int(args.ints.at([row, team.int(k)])),
    })
}

/// Reduces each chunk into its row.
#[derive(Hash)]
pub(crate) struct ReduceChunks<K> {
    pub body: K,
    pub chunk: usize,
    pub wide: bool,
}

impl<K: ReduceKernel> Kernel for ReduceChunks<K> {
    type Args = Both<WithExtents<K::Args, 1>, PartialSet>;
    const NAME: &'static str = K::NAME;
    #[inline(always)]
    fn run<T: Target>(&self, team: T, ((args, [len]), partials): &<Self::Args as ArgSet>::With<T>) {
        let (first, count) = chunk_of(team, *len, self.chunk, self.wide);
        let value =
            team.reduce_spread(crate::Spread::Team, count, K::Reducer::identity::<T>(), K::Reducer::join::<T>, |i| {
                self.body.value(team, first + i, args)
            });
        write_row(team, partials, team.league_rank(), value);
    }
}

/// The values of a scan, as a body to reduce.
#[derive(Clone, Hash)]
pub(crate) struct ScanTotals<K>(pub K);

impl<K: ScanKernel> ReduceKernel for ScanTotals<K> {
    type Args = K::Args;
    type Reducer = K::Reducer;
    const NAME: &'static str = K::NAME;
    #[inline(always)]
    fn value<T: Target>(
        &self,
        target: T,
        i: T::Int,
        args: &<Self::Args as ArgSet>::With<T>,
    ) -> <Self::Reducer as Reducer>::Value<T> {
        self.0.value(target, i, args)
    }
}

/// Scans each chunk, starting from the combination of all earlier chunks.
#[derive(Hash)]
pub(crate) struct ScanOutputs<K> {
    pub body: K,
    pub chunk: usize,
    pub wide: bool,
}

impl<K: ScanKernel> Kernel for ScanOutputs<K> {
    type Args = Both<WithExtents<K::Args, 1>, PartialSet>;
    const NAME: &'static str = K::NAME;
    #[inline(always)]
    fn run<T: Target>(&self, team: T, ((args, [len]), partials): &<Self::Args as ArgSet>::With<T>) {
        let (first, count) = chunk_of(team, *len, self.chunk, self.wide);
        let before = read_row(team, partials, team.league_rank(), K::Reducer::identity::<T>());
        team.scan_spread(
            count,
            K::Reducer::identity::<T>(),
            K::Reducer::join::<T>,
            |i| self.body.value(team, first + i, args),
            |i, prefix| self.body.output(team, first + i, K::Reducer::join::<T>(before, prefix), args),
        );
    }
}

macro_rules! hash_as_unit {
    ($name:ident) => {
        impl<R> Hash for $name<R> {
            fn hash<H: Hasher>(&self, _state: &mut H) {}
        }
    };
}

/// Combines all rows into the last one.
pub(crate) struct CombinePartials<R>(pub PhantomData<R>);
hash_as_unit!(CombinePartials);

impl<R: Reducer> Kernel for CombinePartials<R> {
    type Args = WithExtents<PartialSet, 1>;
    const NAME: &'static str = "combine_partials";
    #[inline(always)]
    fn run<T: Target>(&self, team: T, (partials, [rows]): &<Self::Args as ArgSet>::With<T>) {
        let identity = R::identity::<T>();
        let total = team.reduce_spread(crate::Spread::Team, *rows, identity, R::join::<T>, |row| {
            read_row(team, partials, row, identity)
        });
        write_row(team, partials, *rows, total);
        write_kinds(team, partials, total);
    }
}

/// Replaces each row by the combination of the rows before it, and the last by that of all.
pub(crate) struct PrefixPartials<R>(pub PhantomData<R>);
hash_as_unit!(PrefixPartials);

impl<R: Reducer> Kernel for PrefixPartials<R> {
    type Args = WithExtents<PartialSet, 1>;
    const NAME: &'static str = "prefix_partials";
    #[inline(always)]
    fn run<T: Target>(&self, team: T, (partials, [rows]): &<Self::Args as ArgSet>::With<T>) {
        let identity = R::identity::<T>();
        // The body reads its row before the output of the same work item replaces it.
        let total = team.scan_spread(
            *rows,
            identity,
            R::join::<T>,
            |row| read_row(team, partials, row, identity),
            |row, prefix| write_row(team, partials, row, prefix),
        );
        write_row(team, partials, *rows, total);
        write_kinds(team, partials, total);
    }
}
