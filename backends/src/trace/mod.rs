//! The tracing target: a kernel monomorphized for [`Tracer`] writes itself down once as a [`Program`].
//!
//! The program is SPMD: one text that all work items of a team execute. The checked target interprets it, the count
//! target counts it, and device targets print it.

mod bind;
mod builder;
mod collective;
pub mod ir;
pub mod mutate;
pub mod optimize;
mod values;

pub use bind::trace;
pub use ir::Program;
pub use values::{TracedBool, TracedInt, TracedReal};

use builder::{Level, with};
use farro_portability::{
    AtomicOp, Carry, Element, ElementKind, Integer, Layout, LayoutRight, Leaf, ScratchLevel, ScratchView, Shift,
    Spread, Target, WorkItem,
};
use ir::{Carried, LaneShift, MemoryId, Op, Site, Special, Statement, Type, Value};
use std::marker::PhantomData;
use std::panic::Location;

/// The tracing target.
#[derive(Clone, Copy, Debug)]
pub struct Tracer;

/// A memory object of the program.
#[derive(Debug)]
pub struct TracedMemory<E> {
    id: MemoryId,
    marker: PhantomData<E>,
}
impl<E> Clone for TracedMemory<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for TracedMemory<E> {}

/// The type in which a loaded element computes.
fn value_type(real: Type, kind: ElementKind) -> Type {
    match Type::from(kind) {
        Type::F64 | Type::F32 => real,
        int => int,
    }
}

fn leaf(kind: Type, value: Value) -> Leaf<Tracer> {
    if kind.is_real() { Leaf::Real(TracedReal(value)) } else { Leaf::Int(TracedInt(value)) }
}
fn unwrap(leaf: Leaf<Tracer>) -> Value {
    match leaf {
        Leaf::Real(TracedReal(value)) | Leaf::Int(TracedInt(value)) => value,
    }
}

impl Tracer {
    /// A loop over `start, start + step, …` below `end` that carries `initial`.
    fn fold_from<C: Carry<Tracer>>(
        self,
        start: Value,
        end: Value,
        step: usize,
        initial: C,
        body: impl Fn(TracedInt, C) -> C,
    ) -> C {
        let bounds_vary = with(|b| b.is_varying(start) || b.is_varying(end));
        let mut varies: Vec<bool> = Vec::new();
        let mut initial = initial.map_leaves(&mut |value| {
            let value = unwrap(value);
            varies.push(with(|b| b.is_varying(value)) || bounds_vary);
            leaf(with(|b| b.kind(value)), value)
        });
        loop {
            let snapshot = with(|b| b.snapshot());
            let (index, mut carried) = with(|b| {
                let kind = b.kind(end);
                (b.loop_bound(kind, bounds_vary), Vec::new())
            });
            let mut number = 0;
            let inside = initial.map_leaves(&mut |value| {
                let initial = unwrap(value);
                let kind = with(|b| b.kind(initial));
                let inside = with(|b| b.loop_bound(kind, varies[number]));
                carried.push(Carried { initial, inside, next: initial, after: initial });
                number += 1;
                leaf(kind, inside)
            });
            with(|b| {
                b.open(bounds_vary);
                b.loops += 1;
            });
            let next = body(TracedInt(index), inside);
            let (mut number, mut mismatch) = (0, false);
            let mut widens = vec![false; carried.len()];
            next.map_leaves(&mut |value| {
                let mut next = unwrap(value);
                with(|b| {
                    let kind = b.kind(carried[number].inside);
                    if (kind, b.kind(next)) == (Type::I32, Type::I64) {
                        widens[number] = true;
                        mismatch = true;
                    } else if b.kind(next) != kind {
                        next = b.convert(next, kind);
                    }
                    if b.is_varying(next) && !varies[number] {
                        varies[number] = true;
                        mismatch = true;
                    }
                });
                carried[number].next = next;
                number += 1;
                value
            });
            let block = with(|b| {
                b.loops -= 1;
                b.close(bounds_vary)
            });
            if mismatch {
                // A state that began uniform or in 32 bits does not stay so: trace the body again with what is known.
                with(|b| b.restore(snapshot));
                let mut number = 0;
                initial = initial.map_leaves(&mut |value| {
                    let wide =
                        with(|b| if widens[number] { b.convert(unwrap(value), Type::I64) } else { unwrap(value) });
                    number += 1;
                    leaf(with(|b| b.kind(wide)), wide)
                });
                continue;
            }
            let mut number = 0;
            let after = initial.map_leaves(&mut |value| {
                let kind = with(|b| b.kind(unwrap(value)));
                let after = with(|b| b.loop_bound(kind, varies[number]));
                carried[number].after = after;
                number += 1;
                leaf(kind, after)
            });
            with(|b| b.push_loop(index, start, end, step, carried, block));
            return after;
        }
    }

    fn with_level(self, level: Level, body: impl FnOnce()) {
        let before = with(|b| std::mem::replace(&mut b.level, level));
        body();
        with(|b| b.level = before);
    }

    /// First index, stride and level of a spread range.
    fn spread_bounds(self, spread: Spread, site: Site) -> (Value, usize, Level) {
        with(|b| {
            let level = b.level;
            let (team, vector) = (b.program.team_size, b.program.vector_length);
            let allowed = match spread {
                Spread::Team => level == Level::Team,
                Spread::Threads => level == Level::Team,
                Spread::Lanes => level == Level::Thread || (level == Level::Team && team == 1),
            };
            if !allowed {
                b.refuse(Some(site), format!("a range over {spread:?} cannot start inside a range at {level:?} level"));
            }
            match spread {
                Spread::Team => (b.special(Special::WorkItem), team * vector, Level::Lane),
                Spread::Threads => (b.thread(), team, Level::Thread),
                Spread::Lanes => (b.lane(), vector, Level::Lane),
            }
        })
    }

    fn memory_effect<E: Element>(self, op: Op, index: &[TracedInt], site: Site) -> Leaf<Tracer> {
        with(|b| {
            let kind = value_type(b.program.real, E::KIND);
            let index = index.iter().map(|i| i.0).collect();
            let varying = match &op {
                Op::Load(_, offset) => b.is_varying(*offset),
                _ => true,
            };
            let pushes_once = !matches!(op, Op::Load(..));
            match if pushes_once { b.once() } else { None } {
                None => leaf(kind, b.effect(kind, op, varying, index, Some(site))),
                Some(condition) => {
                    b.open(false);
                    let value = b.effect(kind, op, varying, index, Some(site));
                    let body = b.close(false);
                    b.push_if(condition, body);
                    leaf(kind, value)
                }
            }
        })
    }

    fn shift_at(self, value: Leaf<Self>, shift: Shift<TracedInt>, site: Site) -> Leaf<Self> {
        let shift = match shift {
            Shift::Down(places) => LaneShift::Down(places),
            Shift::Up(places) => LaneShift::Up(places),
            Shift::Rotate(places) => {
                let lane = TracedInt(with(|b| b.lane()));
                let length = with(|b| b.program.vector_length) as i64;
                LaneShift::From(((lane + places as i64) % length).0)
            }
            Shift::From(lane) => LaneShift::From(lane.0),
        };
        let value = unwrap(value);
        with(|b| leaf(b.kind(value), b.shift(value, shift, site)))
    }

    fn element_value<E: Element>(self, value: Leaf<Tracer>) -> Value {
        with(|b| {
            let kind = value_type(b.program.real, E::KIND);
            b.convert(unwrap(value), kind)
        })
    }
}

impl Target for Tracer {
    type Real = TracedReal;
    type Int = TracedInt;
    type Predicate = TracedBool;
    type Memory<E: Element> = TracedMemory<E>;

    fn league_rank(self) -> TracedInt {
        TracedInt(with(|b| b.special(Special::LeagueRank)))
    }
    fn league_size(self) -> TracedInt {
        TracedInt(with(|b| b.special(Special::LeagueSize)))
    }
    fn team_size(self) -> usize {
        with(|b| b.program.team_size)
    }
    fn vector_length(self) -> usize {
        with(|b| b.program.vector_length)
    }
    fn to_real(self, value: TracedInt) -> TracedReal {
        TracedReal(with(|b| {
            let kind = b.program.real;
            b.convert(value.0, kind)
        }))
    }

    fn when(self, p: TracedBool, body: impl Fn()) {
        match with(|b| b.program.constant(p.0)) {
            Some(0) => {}
            Some(_) => body(),
            None => {
                let varying = with(|b| {
                    let varying = b.is_varying(p.0);
                    b.open(varying);
                    varying
                });
                body();
                with(|b| {
                    let block = b.close(varying);
                    b.push_if(p.0, block);
                });
            }
        }
    }
    fn fold<C: Carry<Self>>(self, n: impl Into<TracedInt>, initial: C, body: impl Fn(TracedInt, C) -> C) -> C {
        let end = n.into().0;
        match with(|b| b.constant_int(end)) {
            Some(..=0) => initial,
            Some(1) => body(TracedInt::from(0i64), initial),
            _ => {
                let start = with(|b| {
                    let (zero, kind) = (b.int(0), b.kind(end));
                    b.convert(zero, kind)
                });
                self.fold_from(start, end, 1, initial, body)
            }
        }
    }

    #[track_caller]
    fn phase(self, body: impl Fn(WorkItem<Self>)) {
        let site = Location::caller();
        let item = with(|b| {
            if b.level != Level::Team {
                b.refuse(Some(site), "a phase cannot start inside a range or another phase");
            }
            b.remark("phase", site);
            WorkItem { thread: TracedInt(b.thread()), lane: TracedInt(b.lane()) }
        });
        self.with_level(Level::WorkItem, || body(item));
    }
    #[track_caller]
    fn spread(self, spread: Spread, n: impl Into<TracedInt>, body: impl Fn(TracedInt)) {
        let site = Location::caller();
        let end = n.into().0;
        let (start, step, level) = self.spread_bounds(spread, site);
        if spread != Spread::Lanes {
            with(|b| b.remark("range", site));
        }
        let run = |i: TracedInt| self.with_level(level, || body(i));
        match with(|b| b.constant_int(end)) {
            Some(..=0) => {}
            Some(n) if n == step as i64 => run(TracedInt(start)),
            Some(n) if n < step as i64 => {
                self.when(TracedInt(start).lt(TracedInt(end)), || run(TracedInt(start)));
            }
            _ => {
                let start = with(|b| {
                    let kind = b.kind(end);
                    b.convert(start, kind)
                });
                self.fold_from(start, end, step, (), |i, ()| run(i));
            }
        }
    }
    #[track_caller]
    fn for_each_row_column(
        self,
        rows: impl Into<TracedInt>,
        columns: impl Into<TracedInt>,
        body: impl Fn(TracedInt, TracedInt),
    ) {
        let (rows, columns) = (rows.into(), columns.into());
        self.spread(Spread::Team, rows * columns, |i| match with(|b| b.constant_int(rows.0)) {
            Some(1) => body(TracedInt::from(0i64), i),
            _ => body(i / columns, i % columns),
        });
    }
    #[track_caller]
    fn barrier(self) {
        let site = Location::caller();
        with(|b| b.barrier(site));
    }

    #[track_caller]
    fn reduce_spread<C: Carry<Self>>(
        self,
        spread: Spread,
        n: impl Into<TracedInt>,
        identity: C,
        join: impl Fn(C, C) -> C,
        body: impl Fn(TracedInt) -> C,
    ) -> C {
        collective::reduce(self, spread, n.into(), identity, join, body, Location::caller())
    }
    #[track_caller]
    fn scan_spread<C: Carry<Self>>(
        self,
        n: impl Into<TracedInt>,
        identity: C,
        join: impl Fn(C, C) -> C,
        body: impl Fn(TracedInt) -> C,
        output: impl Fn(TracedInt, C),
    ) -> C {
        collective::scan(self, n.into(), identity, join, body, output, Location::caller())
    }
    #[track_caller]
    fn shift(self, value: Leaf<Self>, shift: Shift<TracedInt>) -> Leaf<Self> {
        self.shift_at(value, shift, Location::caller())
    }
    // The provided methods call `shift` from a closure, which has lost the place in the kernel.
    #[track_caller]
    fn shift_down<C: Carry<Self>>(self, value: C, places: usize) -> C {
        let site = Location::caller();
        value.map_leaves(&mut |leaf| self.shift_at(leaf, Shift::Down(places), site))
    }
    #[track_caller]
    fn shift_up<C: Carry<Self>>(self, value: C, places: usize) -> C {
        let site = Location::caller();
        value.map_leaves(&mut |leaf| self.shift_at(leaf, Shift::Up(places), site))
    }
    #[track_caller]
    fn rotate_down<C: Carry<Self>>(self, value: C, places: usize) -> C {
        let site = Location::caller();
        value.map_leaves(&mut |leaf| self.shift_at(leaf, Shift::Rotate(places), site))
    }
    #[track_caller]
    fn from_lane<C: Carry<Self>>(self, value: C, lane: TracedInt) -> C {
        let site = Location::caller();
        value.map_leaves(&mut |leaf| self.shift_at(leaf, Shift::From(lane), site))
    }

    fn private_allocate(self, n: usize) -> usize {
        with(|b| {
            b.refuse_allocation("private");
            let first = b.program.private_slots;
            b.program.private_slots += n;
            first
        })
    }
    #[track_caller]
    fn private_get(self, slot: usize) -> TracedReal {
        let site = Location::caller();
        TracedReal(with(|b| {
            if b.level != Level::WorkItem {
                b.refuse(Some(site), "a private array is read outside a phase");
            }
            let kind = b.program.real;
            b.effect(kind, Op::PrivateGet(slot), true, Vec::new(), Some(site))
        }))
    }
    #[track_caller]
    fn private_set(self, slot: usize, value: TracedReal) {
        let site = Location::caller();
        with(|b| {
            if b.level != Level::WorkItem {
                b.refuse(Some(site), "a private array is written outside a phase");
            }
            b.push_effect(Statement::PrivateSet { slot, value: value.0 });
        });
    }
    fn scratch_allocate<E: Element>(self, level: ScratchLevel, name: &'static str, n: usize) -> TracedMemory<E> {
        let id = with(|b| b.scratch(level as usize, name, E::KIND, &[n]));
        TracedMemory { id, marker: PhantomData }
    }
    // Instead of the provided method, so that the program knows the extents.
    fn scratch<E: Element, const R: usize>(
        self,
        level: ScratchLevel,
        name: &'static str,
        extents: [usize; R],
    ) -> ScratchView<Self, E, R> {
        let id = with(|b| b.scratch(level as usize, name, E::KIND, &extents));
        let memory = TracedMemory { id, marker: PhantomData };
        let strides = LayoutRight::strides(extents);
        ScratchView::from_parts(self, memory, extents.map(TracedInt::from), strides.map(TracedInt::from))
    }

    #[track_caller]
    fn load<E: Element>(self, memory: TracedMemory<E>, offset: TracedInt, index: &[TracedInt]) -> Leaf<Self> {
        self.memory_effect::<E>(Op::Load(memory.id, offset.0), index, Location::caller())
    }
    #[track_caller]
    fn store<E: Element>(self, memory: TracedMemory<E>, offset: TracedInt, index: &[TracedInt], value: Leaf<Self>) {
        let site = Location::caller();
        let value = self.element_value::<E>(value);
        let index = index.iter().map(|i| i.0).collect();
        with(|b| b.push_effect(Statement::Store { memory: memory.id, offset: offset.0, index, value, site }));
    }
    #[track_caller]
    fn atomic<E: Element>(
        self,
        op: AtomicOp,
        memory: TracedMemory<E>,
        offset: TracedInt,
        index: &[TracedInt],
        value: Leaf<Self>,
    ) -> Leaf<Self> {
        let value = self.element_value::<E>(value);
        self.memory_effect::<E>(Op::Atomic(op, memory.id, offset.0, value), index, Location::caller())
    }
    #[track_caller]
    fn compare_exchange<E: Element>(
        self,
        memory: TracedMemory<E>,
        offset: TracedInt,
        index: &[TracedInt],
        expected: Leaf<Self>,
        value: Leaf<Self>,
    ) -> Leaf<Self> {
        let (expected, value) = (self.element_value::<E>(expected), self.element_value::<E>(value));
        let op = Op::CompareExchange(memory.id, offset.0, expected, value);
        self.memory_effect::<E>(op, index, Location::caller())
    }
}
