//! Atomic updates: all work items of all teams contend for one element.

use super::lab::*;
use crate::prelude::*;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

const LEAGUE: usize = 8;
const N: usize = 100;
const ITEMS: usize = LEAGUE * N;

kernel_args! {
    struct AtomicArgs[E: Element] {
        base: Int,
        cells: View<E, 1, LayoutRight, Atomic>,
        old: View<E, 2, LayoutRight, ReadWrite>,
    }
}
/// Cell 0: add; 1: min; 2: max; 3: exchange; 4: compare and exchange.
struct Contend<E>(PhantomData<E>);
impl<E> Hash for Contend<E> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
impl<E: Element> Kernel for Contend<E> {
    type Args = AtomicArgs<Declared, E>;
    const NAME: &'static str = "conformance_contend";
    fn run<T: Target>(&self, team: T, args: &AtomicArgs<T, E>) {
        team.for_each(N, |i| {
            let id = team.league_rank() * N as i64 + i;
            let cell = |k: usize| [team.int(k)];
            let value = |int: T::Int| value_of::<T, E>(team, int);
            // A permutation of -N/2.. by a factor that shares no divisor with N.
            let signed = value((id * 7919) % ITEMS as i64 - (ITEMS / 2) as i64);
            let old = [
                args.cells.add(cell(0), value(T::Int::from(1i32))),
                args.cells.min(cell(1), signed),
                args.cells.max(cell(2), signed),
                args.cells.exchange(cell(3), value(id + 1)),
                args.cells.compare_exchange(cell(4), value(args.base), value(id + 1)),
            ];
            for (k, old) in old.into_iter().enumerate() {
                args.old.set([team.int(k), id], old);
            }
        });
    }
}

fn contend<S: Space, E: Element>(lab: &Lab<'_, S>, base: i64) -> Verdict {
    let mut shapes = lab.shapes_of(&[1, 7, 32, 127], 1);
    for &vector in lab.limits.vector_lengths.iter().filter(|&&vector| vector > 1) {
        shapes.extend(lab.shapes_of(&[7], vector));
    }
    for (team, vector) in shapes {
        let mut cells = lab.filled::<E, 1, _>("cells", [5], E::from_f64(base as f64))?;
        let mut old = lab.poisoned::<E, 2>("old", [5, ITEMS])?;
        let args = AtomicArgs { base, cells: cells.update(), old: old.write() };
        lab.run(&Contend(PhantomData::<E>), &lab.policy(LEAGUE, team, vector)?, args)?;
        let (cells, old) = (lab.download(&cells)?, lab.download(&old)?);
        let cell = |k: usize| cells.get([k]).to_f64() as i64;
        let sorted = |k: usize, last: Option<i64>| {
            let mut all: Vec<i64> = (0..ITEMS).map(|i| old.get([k, i]).to_f64() as i64).chain(last).collect();
            all.sort_unstable();
            all
        };
        let what = format!("{:?}, team {team} x vector {vector}", E::KIND);
        let items = ITEMS as i64;
        ensure!(cell(0) == base + items, "{what}: {items} ones added to {base} give {}", cell(0));
        ensure!(sorted(0, None).into_iter().eq(base..base + items), "{what}: old values of add are no permutation");
        let (low, high) = ((-items / 2).min(base), (items / 2 - 1).max(base));
        ensure!(cell(1) == low, "{what}: the smallest is {}, expected {low}", cell(1));
        ensure!(cell(2) == high, "{what}: the largest is {}, expected {high}", cell(2));
        let inside = |k: usize, from: i64, to: i64| sorted(k, None).iter().all(|old| (from..=to).contains(old));
        ensure!(inside(1, low, base) && inside(2, base, high), "{what}: old values of min or max lie outside");
        let mut chain: Vec<i64> = (1..=items).chain([base]).collect();
        chain.sort_unstable();
        ensure!(sorted(3, Some(cell(3))) == chain, "{what}: exchanged values were lost or doubled");
        let winner = cell(4);
        ensure!((1..=items).contains(&winner), "{what}: compare_exchange left {winner}");
        for i in 0..ITEMS {
            let seen = old.get([4, i]).to_f64() as i64;
            let wanted = if i as i64 + 1 == winner { base } else { winner };
            ensure!(seen == wanted, "{what}: compare_exchange of item {i} saw {seen}, expected {wanted}");
        }
    }
    Ok(())
}

pub(super) fn f64<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    contend::<S, f64>(lab, 0)
}
pub(super) fn f32<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    contend::<S, f32>(lab, 0)
}
pub(super) fn i32<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    contend::<S, i32>(lab, -5)
}
pub(super) fn i64<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    contend::<S, i64>(lab, 0)?;
    contend::<S, i64>(lab, 1 << 40)
}

kernel_args! {
    struct BinArgs { keys: View<i32, 1, LayoutRight, ReadOnly>, bins: View<i64, 1, LayoutRight, Atomic> }
}
/// A histogram: lanes of one vector meet in a bin.
#[derive(Hash, Clone)]
struct Histogram;
impl RangeKernel for Histogram {
    type Args = BinArgs<Declared>;
    const NAME: &'static str = "conformance_histogram";
    fn run<T: Target>(&self, _: T, i: T::Int, args: &BinArgs<T>) {
        args.bins.add([args.keys.at([i])], i + (1i64 << 33));
    }
}
pub(super) fn spread_integers<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    let n = 2 * lab.limits.range_chunk + 31;
    let mut generator = Generator(9);
    for bins in [1usize, 3, 64] {
        let keys: Vec<i32> = (0..n).map(|_| generator.within(0, bins as i64) as i32).collect();
        let mut sums = vec![0i64; bins];
        keys.iter().enumerate().for_each(|(i, &key)| sums[key as usize] += i as i64 + (1 << 33));
        let on_space = lab.upload::<i32, 1, _>("keys", [n], |[i]| keys[i])?;
        let mut counts = lab.filled::<i64, 1, _>("bins", [bins], 0)?;
        let args = BinArgs { keys: on_space.read(), bins: counts.update() };
        lab.space.parallel_for(RangePolicy::new(n), &Histogram, args)?;
        lab.space.fence()?;
        check(&format!("{bins} bins"), lab.download(&counts)?.as_slice(), |k| sums[k])?;
    }
    Ok(())
}
