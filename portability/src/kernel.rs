//! Kernels, and the adapters that make a kernel of a body over a range.

use crate::args::{ArgSet, WithExtents};
use crate::integer::Integer;
use crate::target::Target;
use std::hash::Hash;

/// A kernel over a league of teams. Its fields are constants of the compiled kernel (tile shapes, switches); what
/// changes from launch to launch is an argument.
pub trait Kernel: Hash + Sync + 'static {
    /// The argument list: `MyArgs<Declared>`.
    type Args: ArgSet;
    /// The name, used in messages and as the name of the compiled function.
    const NAME: &'static str;
    /// The body, for one team.
    fn run<T: Target>(&self, team: T, args: &<Self::Args as ArgSet>::With<T>);
}

/// A kernel body for each index of a range.
pub trait RangeKernel: Hash + Sync + 'static {
    /// The argument list: `MyArgs<Declared>`.
    type Args: ArgSet;
    /// The name.
    const NAME: &'static str;
    /// The body, for index `i`.
    fn run<T: Target>(&self, target: T, i: T::Int, args: &<Self::Args as ArgSet>::With<T>);
}

/// A kernel body for each multi-index of a box.
pub trait MdKernel<const R: usize>: Hash + Sync + 'static {
    /// The argument list: `MyArgs<Declared>`.
    type Args: ArgSet;
    /// The name.
    const NAME: &'static str;
    /// The body, for one multi-index.
    fn run<T: Target>(&self, target: T, index: [T::Int; R], args: &<Self::Args as ArgSet>::With<T>);
}

/// A [`RangeKernel`] as a kernel: each team serves `chunk` consecutive indices.
#[derive(Clone, Copy, Debug, Hash)]
pub struct OverRange<K> {
    /// The body.
    pub body: K,
    /// Indices of a team.
    pub chunk: usize,
    /// Whether indices exceed 32 bits.
    pub wide: bool,
}

/// The first index of the team's chunk and how many of `0..len` it serves.
#[inline(always)]
pub(crate) fn chunk_of<T: Target>(team: T, len: T::Int, chunk: usize, wide: bool) -> (T::Int, T::Int) {
    let rank = if wide { team.league_rank().widen() } else { team.league_rank() };
    let first = rank * chunk as i64;
    (first, (len - first).min(T::Int::from(chunk)))
}

impl<K: RangeKernel> Kernel for OverRange<K> {
    type Args = WithExtents<K::Args, 1>;
    const NAME: &'static str = K::NAME;
    #[inline(always)]
    fn run<T: Target>(&self, team: T, (args, [len]): &<Self::Args as ArgSet>::With<T>) {
        let (first, count) = chunk_of(team, *len, self.chunk, self.wide);
        team.for_each(
            count,
            #[inline(always)]
            |i| self.body.run(team, first + i, args),
        );
    }
}

/// An [`MdKernel`] as a kernel: each team serves one tile.
#[derive(Clone, Copy, Debug, Hash)]
pub struct OverMd<K, const R: usize> {
    /// The body.
    pub body: K,
    /// The tile.
    pub tile: [usize; R],
}

impl<K: MdKernel<R>, const R: usize> Kernel for OverMd<K, R> {
    type Args = WithExtents<K::Args, R>;
    const NAME: &'static str = K::NAME;
    #[inline(always)]
    fn run<T: Target>(&self, team: T, (args, extents): &<Self::Args as ArgSet>::With<T>) {
        let mut first = *extents;
        let mut rest = team.league_rank();
        for d in (0..R).rev() {
            let tile = self.tile[d] as i64;
            let tiles = (extents[d] + (tile - 1)) / tile;
            first[d] = (rest % tiles) * tile;
            rest = rest / tiles;
        }
        team.for_each_md(
            self.tile,
            #[inline(always)]
            |local| {
                let index: [T::Int; R] = std::array::from_fn(
                    #[inline(always)]
                    |d| first[d] + local[d],
                );
                let inside = (0..R)
                    .map(
                        #[inline(always)]
                        |d| index[d].lt(extents[d]),
                    )
                    .reduce(|a, b| a & b);
                match inside {
                    Some(inside) => team.when(
                        inside,
                        #[inline(always)]
                        || self.body.run(team, index, args),
                    ),
                    None => self.body.run(team, index, args),
                }
            },
        );
    }
}
