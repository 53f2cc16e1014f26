//! Sets of work items, and loops over values of a set.

use std::cell::Cell;

/// The work items that execute a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lanes<'a> {
    /// Neighbours, from the first to before the last.
    Range(usize, usize),
    /// Any, in ascending order.
    List(&'a [u32]),
}

impl<'a> Lanes<'a> {
    /// The items of an ascending list, as a range if they are neighbours.
    pub fn from_list(list: &'a [u32]) -> Self {
        match (list.first(), list.last()) {
            (Some(&first), Some(&last)) if (last - first) as usize + 1 == list.len() => {
                Lanes::Range(first as usize, last as usize + 1)
            }
            (None, _) => Lanes::Range(0, 0),
            _ => Lanes::List(list),
        }
    }
    /// How many there are.
    pub fn len(self) -> usize {
        match self {
            Lanes::Range(start, end) => end - start,
            Lanes::List(list) => list.len(),
        }
    }
    /// Whether item `t` is one of them.
    pub fn contains(self, t: usize) -> bool {
        match self {
            Lanes::Range(start, end) => (start..end).contains(&t),
            Lanes::List(list) => list.binary_search(&(t as u32)).is_ok(),
        }
    }
    /// Calls `f` for each in ascending order.
    #[inline(always)]
    pub fn for_each(self, mut f: impl FnMut(usize)) {
        match self {
            Lanes::Range(start, end) => (start..end).for_each(f),
            Lanes::List(list) => list.iter().for_each(|&t| f(t as usize)),
        }
    }
    /// As [`Lanes::for_each`], until `f` fails.
    #[inline(always)]
    pub fn try_for_each<E>(self, mut f: impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        match self {
            Lanes::Range(start, end) => (start..end).try_for_each(f),
            Lanes::List(list) => list.iter().try_for_each(|&t| f(t as usize)),
        }
    }
    /// The first for which `f` holds.
    pub fn find(self, f: impl Fn(usize) -> bool) -> Option<usize> {
        match self {
            Lanes::Range(start, end) => (start..end).find(|&t| f(t)),
            Lanes::List(list) => list.iter().map(|&t| t as usize).find(|&t| f(t)),
        }
    }
}

/// A value of all work items of a team.
pub(crate) type Row<'a> = &'a [Cell<u64>];

/// `to = f(a)` for each lane.
#[inline(always)]
pub(crate) fn map1(lanes: Lanes<'_>, to: Row<'_>, a: Row<'_>, mut f: impl FnMut(u64) -> u64) {
    match lanes {
        Lanes::Range(s, e) => {
            for (to, a) in to[s..e].iter().zip(&a[s..e]) {
                to.set(f(a.get()));
            }
        }
        Lanes::List(list) => {
            for &t in list {
                to[t as usize].set(f(a[t as usize].get()));
            }
        }
    }
}

/// `to = f(a, b)` for each lane.
#[inline(always)]
pub(crate) fn map2(lanes: Lanes<'_>, to: Row<'_>, a: Row<'_>, b: Row<'_>, mut f: impl FnMut(u64, u64) -> u64) {
    match lanes {
        Lanes::Range(s, e) => {
            for ((to, a), b) in to[s..e].iter().zip(&a[s..e]).zip(&b[s..e]) {
                to.set(f(a.get(), b.get()));
            }
        }
        Lanes::List(list) => {
            for &t in list {
                let t = t as usize;
                to[t].set(f(a[t].get(), b[t].get()));
            }
        }
    }
}

/// `to = f(a, b, c)` for each lane.
#[inline(always)]
pub(crate) fn map3(lanes: Lanes<'_>, to: Row<'_>, [a, b, c]: [Row<'_>; 3], mut f: impl FnMut(u64, u64, u64) -> u64) {
    match lanes {
        Lanes::Range(s, e) => {
            for (((to, a), b), c) in to[s..e].iter().zip(&a[s..e]).zip(&b[s..e]).zip(&c[s..e]) {
                to.set(f(a.get(), b.get(), c.get()));
            }
        }
        Lanes::List(list) => {
            for &t in list {
                let t = t as usize;
                to[t].set(f(a[t].get(), b[t].get(), c[t].get()));
            }
        }
    }
}
