//! Reductions and scans of a team, in terms of lane shifts, scratch and barriers. They hold for any team size.

use super::builder::{Level, with};
use super::ir::{Memory, Op, Place, Site, Statement, Value};
use super::{TracedInt, Tracer, leaf, unwrap};
use farro_portability::{Carry, Integer, Leaf, Shift, Spread, Target};

fn shift<C: Carry<Tracer>>(value: C, by: Shift<TracedInt>) -> C {
    value.map_leaves(&mut |value| Tracer.shift(value, by))
}

/// Writes the numbers of a value to row `row` of the reduction scratch of `rows` rows.
fn put<C: Carry<Tracer>>(value: C, row: Value, rows: usize, site: Site) {
    let mut number = 0;
    value.map_leaves(&mut |value| {
        let value = unwrap(value);
        with(|b| {
            let memory = b.reduction_scratch(b.kind(value), number, rows);
            b.push_effect(Statement::Store { memory, offset: row, index: vec![row], value, site });
        });
        number += 1;
        leaf(with(|b| b.kind(value)), value)
    });
}

fn get<C: Carry<Tracer>>(like: C, row: Value, rows: usize, site: Site) -> C {
    let mut number = 0;
    like.map_leaves(&mut |value| {
        let kind = with(|b| b.kind(unwrap(value)));
        let loaded = with(|b| {
            let memory = b.reduction_scratch(kind, number, rows);
            debug_assert!(matches!(b.program.memories[memory], Memory { place: Place::Scratch { .. }, .. }));
            let varying = b.is_varying(row);
            b.effect(kind, Op::Load(memory, row), varying, vec![row], Some(site))
        });
        number += 1;
        leaf(kind, loaded)
    })
}

/// Widens integers, so that all stages of a collective agree on their types.
fn widen<C: Carry<Tracer>>(value: C) -> C {
    value.map_leaves(&mut |value| match value {
        Leaf::Int(int) => Leaf::Int(int.widen()),
        real => real,
    })
}

/// Combines over the lanes of each thread; lane 0 has the result.
fn combine_lanes<C: Carry<Tracer>>(mut value: C, join: &impl Fn(C, C) -> C) -> C {
    let mut places = with(|b| b.program.vector_length) / 2;
    while places > 0 {
        value = widen(join(value, shift(value, Shift::Down(places))));
        places /= 2;
    }
    value
}

pub(super) fn reduce<C: Carry<Tracer>>(
    tracer: Tracer,
    spread: Spread,
    n: TracedInt,
    identity: C,
    join: impl Fn(C, C) -> C,
    body: impl Fn(TracedInt) -> C,
    site: Site,
) -> C {
    let (start, step, level) = tracer.spread_bounds(spread, site);
    let start = with(|b| {
        let kind = b.kind(n.0);
        b.convert(start, kind)
    });
    let identity = widen(identity);
    let accumulate = || {
        let before = with(|b| std::mem::replace(&mut b.level, level));
        let sum = tracer.fold_from(start, n.0, step, identity, |i, sum| widen(join(sum, body(i))));
        with(|b| b.level = before);
        sum
    };
    let mut value = accumulate();
    let (threads, lanes) = with(|b| (b.program.team_size, b.program.vector_length));
    if spread != Spread::Threads && lanes > 1 {
        let before = with(|b| std::mem::replace(&mut b.level, Level::WorkItem));
        value = combine_lanes(value, &join);
        if spread == Spread::Lanes || threads == 1 {
            value = shift(value, Shift::From(TracedInt::from(0i64)));
        }
        with(|b| b.level = before);
    }
    if spread == Spread::Lanes || threads == 1 {
        return value;
    }
    let thread = TracedInt(with(|b| b.thread()));
    let write = |value: C, level: Level| {
        let before = with(|b| std::mem::replace(&mut b.level, level));
        put(value, thread.0, threads, site);
        with(|b| b.level = before);
    };
    write(value, Level::Thread);
    let mut half = threads.next_power_of_two() / 2;
    while half > 0 {
        with(|b| b.barrier(site));
        let partner = thread + half as i64;
        let mut active = thread.lt(TracedInt::from(half)) & partner.lt(TracedInt::from(threads));
        if lanes > 1 {
            // Only the lane that stores may load: the row changes while others would still read it.
            active = active & TracedInt(with(|b| b.lane())).equals(TracedInt::from(0i64));
        }
        tracer.when(active, || {
            let own = get(identity, thread.0, threads, site);
            write(widen(join(own, get(identity, partner.0, threads, site))), Level::Lane);
        });
        half /= 2;
    }
    with(|b| b.barrier(site));
    let zero = with(|b| b.int(0));
    let total = get(identity, zero, threads, site);
    // The next collective writes the same scratch.
    with(|b| b.barrier(site));
    total
}

pub(super) fn scan<C: Carry<Tracer>>(
    tracer: Tracer,
    n: TracedInt,
    identity: C,
    join: impl Fn(C, C) -> C,
    body: impl Fn(TracedInt) -> C,
    output: impl Fn(TracedInt, C),
    site: Site,
) -> C {
    let (item, items, level) = tracer.spread_bounds(Spread::Team, site);
    let (item, n) = (TracedInt(item), n.widen());
    let identity = widen(identity);
    let blocks = (n + (items as i64 - 1)) / items as i64;
    let at_lane_level = |f: &dyn Fn()| {
        let before = with(|b| std::mem::replace(&mut b.level, level));
        f();
        with(|b| b.level = before);
    };
    tracer.fold(blocks, identity, |block, running| {
        let i = block * items as i64 + item;
        let inside = i.lt(n);
        let count = farro_portability::Predicate::select(inside, TracedInt::from(1i64), TracedInt::from(0i64));
        let before = with(|b| std::mem::replace(&mut b.level, level));
        let value = tracer.fold_from(with(|b| b.int(0)), count.0, 1, identity, |_, _| widen(body(i)));
        with(|b| b.level = before);
        if items == 1 {
            tracer.when(inside, || at_lane_level(&|| output(i, running)));
            return widen(join(running, value));
        }
        at_lane_level(&|| put(value, item.0, items, site));
        let mut distance = 1;
        while distance < items {
            with(|b| b.barrier(site));
            // Values move into registers before any is overwritten.
            let own = get(identity, item.0, items, site);
            let reaches = TracedInt::from(distance).le(item);
            let partner = farro_portability::Predicate::select(reaches, item - distance as i64, item);
            let other = get(identity, partner.0, items, site);
            with(|b| b.barrier(site));
            tracer.when(reaches, || at_lane_level(&|| put(widen(join(other, own)), item.0, items, site)));
            distance *= 2;
        }
        with(|b| b.barrier(site));
        let last = with(|b| b.int(items as i64 - 1));
        let total = get(identity, last, items, site);
        let first = item.equals(TracedInt::from(0i64));
        let before_item = farro_portability::Predicate::select(first, item, item - 1);
        let earlier = get(identity, before_item.0, items, site);
        let earlier = identity.zip_leaves(earlier, &mut |neutral, earlier| {
            let (neutral, earlier) = (unwrap(neutral), unwrap(earlier));
            with(|b| leaf(b.kind(earlier), b.select(first.0, neutral, earlier)))
        });
        tracer.when(inside, || at_lane_level(&|| output(i, widen(join(running, earlier)))));
        with(|b| b.barrier(site));
        widen(join(running, total))
    })
}
