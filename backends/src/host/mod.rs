//! The host target: teams over rayon, lanes over SIMD packs.
//!
//! A team runs on one thread of the pool. Its work items are packed into lanes; phases run one after another, so a
//! barrier costs nothing. Effects at team and thread level happen once because only the first lane is active there.

mod access;
mod gather;
mod index;
mod pack;
mod space;

pub use index::Index;
pub use pack::{Mask, Pack, Precision, Set};
pub use space::{HostPrecision, HostSpace, InstructionSet, OneLane};

use access::{Change, HostBlock, Turn};
use farro_portability::{
    AtomicOp, Carry, Element, Integer, Leaf, Real, ScratchLevel, Select, Shift, Spread, Target, WorkItem, inlined,
};
use pack::MAX_LANES;
use std::cell::Cell;
use std::marker::PhantomData;

/// Bytes of one private slot of one pack.
const SLOT_BYTES: usize = 64;

/// What one team knows: its place in the league, the active lanes, and its memory.
pub(crate) struct TeamState {
    league_rank: usize,
    league_size: usize,
    team_size: usize,
    vector_length: usize,
    /// Whether no other team runs at the same time.
    exclusive: bool,
    active: Cell<u32>,
    private_base: *mut u8,
    private_slots: usize,
    private_used: Cell<usize>,
    private_pack: Cell<*mut u8>,
    scratch: [*mut u8; 2],
    scratch_used: [Cell<usize>; 2],
}

/// The host target: instruction set `S`, arithmetic precision `P`.
pub struct Host<'c, S: Set, P: Precision<S>> {
    state: &'c TeamState,
    marker: PhantomData<(S, P)>,
}

impl<S: Set, P: Precision<S>> Clone for Host<'_, S, P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Set, P: Precision<S>> Copy for Host<'_, S, P> {}

impl<'c, S: Set, P: Precision<S>> Host<'c, S, P> {
    #[inline(always)]
    fn lanes() -> usize {
        P::LANES
    }
    #[inline(always)]
    fn all_lanes() -> u32 {
        (1 << P::LANES) - 1
    }
    /// Runs `body(i)` for `i` in `0..n`, a pack of lanes at a time or one by one. Bodies have one call site, in this and
    /// all methods below, because only then does the compiler inline them into the vectorized function.
    #[inline(always)]
    fn packs(self, by_lanes: bool, n: i64, body: impl Fn(Index<S, P>)) {
        let before = self.state.active.get();
        let stride = if by_lanes { P::LANES as i64 } else { 1 };
        let mut base = 0;
        while base < n {
            let rest = n - base;
            let lanes = if rest >= P::LANES as i64 { Self::all_lanes() } else { (1 << rest) - 1 };
            self.state.active.set(if by_lanes { lanes } else { before });
            body(Index::along(base, by_lanes));
            base += stride;
        }
        self.state.active.set(before);
    }
    /// Keeps the active lanes of `value`; the others take `otherwise`.
    #[inline(always)]
    fn keep_active<C: Carry<Self>>(self, value: C, otherwise: C) -> C {
        let active = self.state.active.get();
        if active == Self::all_lanes() {
            return value;
        }
        select_leaves(Mask(active), value, otherwise)
    }
    /// Combines the lanes of a value in order, giving all lanes the result.
    #[inline(always)]
    fn combine_lanes<C: Carry<Self>>(self, value: C, join: &impl Fn(C, C) -> C) -> C {
        let mut total = lane_of(value, 0);
        for lane in 1..Self::lanes() {
            total = join(total, lane_of(value, lane));
        }
        total
    }
    /// Who takes part in an atomic update. By value: memory whose address is known elsewhere is read again after every
    /// call.
    #[inline(always)]
    fn turn(self) -> Turn {
        Turn { active: self.state.active.get(), exclusive: self.state.exclusive }
    }
    #[inline(always)]
    fn uniform(value: Index<S, P>) -> i64 {
        value.lane(0)
    }
}

#[inline(always)]
fn select_leaves<'c, S: Set, P: Precision<S>, C: Carry<Host<'c, S, P>>>(mask: Mask, a: C, b: C) -> C {
    a.zip_leaves(
        b,
        &mut inlined(
            #[inline(always)]
            |a: Leaf<Host<'c, S, P>>, b| match (a, b) {
                (Leaf::Real(a), Leaf::Real(b)) => Leaf::Real(Pack::select(mask, a, b)),
                (Leaf::Int(a), Leaf::Int(b)) => Leaf::Int(Index::select(mask, a, b)),
                _ => unreachable!("both values have the same shape"),
            },
        ),
    )
}

#[inline(always)]
fn lane_of<'c, S: Set, P: Precision<S>, C: Carry<Host<'c, S, P>>>(value: C, lane: usize) -> C {
    value.map_leaves(&mut inlined(
        #[inline(always)]
        |leaf: Leaf<Host<'c, S, P>>| match leaf {
            Leaf::Real(real) => Leaf::Real(real.lane(lane)),
            Leaf::Int(int) => Leaf::Int(Index::uniform(int.lane(lane))),
        },
    ))
}

/// From which lane of a vector a lane takes its value.
fn source<S: Set, P: Precision<S>>(lane: usize, length: usize, shift: Shift<Index<S, P>>) -> usize {
    match shift {
        _ if lane >= length => lane,
        Shift::Down(places) if lane + places < length => lane + places,
        Shift::Up(places) if lane >= places => lane - places,
        Shift::Down(_) | Shift::Up(_) => lane,
        Shift::Rotate(places) => (lane + places) % length,
        Shift::From(from) => (from.lane(lane).max(0) as usize).min(MAX_LANES - 1),
    }
}

// Shifts lane by lane, for vectors that do not fill a pack. Lanes pass as arrays of their own, so that the kernel's
// values need not be in memory.
#[cold]
#[inline(never)]
fn shift_reals<S: Set, P: Precision<S>>(
    length: usize,
    lanes: [P; MAX_LANES],
    shift: Shift<Index<S, P>>,
) -> [P; MAX_LANES] {
    std::array::from_fn(|lane| lanes[source(lane, length, shift)])
}
#[cold]
#[inline(never)]
fn shift_ints<S: Set, P: Precision<S>>(length: usize, value: Index<S, P>, shift: Shift<Index<S, P>>) -> Index<S, P> {
    Index::general(std::array::from_fn(|lane| value.lane(source(lane, length, shift))))
}

impl<'c, S: Set, P: Precision<S>> Target for Host<'c, S, P> {
    type Real = Pack<S, P>;
    type Int = Index<S, P>;
    type Predicate = Mask;
    type Memory<E: Element> = HostBlock<E>;

    #[inline(always)]
    fn league_rank(self) -> Index<S, P> {
        Index::uniform(self.state.league_rank as i64)
    }
    #[inline(always)]
    fn league_size(self) -> Index<S, P> {
        Index::uniform(self.state.league_size as i64)
    }
    #[inline(always)]
    fn team_size(self) -> usize {
        self.state.team_size
    }
    #[inline(always)]
    fn vector_length(self) -> usize {
        self.state.vector_length
    }
    #[inline(always)]
    fn to_real(self, value: Index<S, P>) -> Self::Real {
        match value {
            _ if value.as_uniform().is_some() => Pack::lit(value.lane(0) as f64),
            _ => Pack::from_lanes(std::array::from_fn(|l| <P as Precision<S>>::from_f64(value.lane(l) as f64))),
        }
    }

    #[inline(always)]
    fn when(self, p: Mask, body: impl Fn()) {
        let lanes = self.state.active.get() & p.0;
        if lanes != 0 {
            let before = self.state.active.replace(lanes);
            body();
            self.state.active.set(before);
        }
    }
    #[inline(always)]
    fn update_if<C: Carry<Self>>(self, p: Mask, value: C, body: impl Fn(C) -> C) -> C {
        let outside = self.state.active.get();
        let lanes = outside & p.0;
        if lanes == 0 {
            return value;
        }
        self.state.active.set(lanes);
        let next = body(value);
        self.state.active.set(outside);
        if lanes == outside { next } else { select_leaves(Mask(lanes), next, value) }
    }
    #[inline(always)]
    fn fold<C: Carry<Self>>(self, n: impl Into<Index<S, P>>, initial: C, body: impl Fn(Index<S, P>, C) -> C) -> C {
        let n = n.into();
        let outside = self.state.active.get();
        let mut state = initial;
        let mut i = 0;
        loop {
            let lanes = outside & Index::<S, P>::uniform(i).lt(n).0;
            if lanes == 0 {
                break;
            }
            self.state.active.set(lanes);
            let next = body(Index::uniform(i), state);
            state = if lanes == outside { next } else { select_leaves(Mask(lanes), next, state) };
            i += 1;
        }
        self.state.active.set(outside);
        state
    }

    #[inline(always)]
    fn phase(self, body: impl Fn(WorkItem<Self>)) {
        let state = self.state;
        let before = state.active.get();
        let mut pack = state.private_base;
        for thread in 0..state.team_size as i64 {
            let mut first = 0;
            while first < state.vector_length {
                let rest = state.vector_length - first;
                state.active.set(if rest >= Self::lanes() { Self::all_lanes() } else { (1 << rest) - 1 });
                state.private_pack.set(pack);
                // Threads are uniform and lanes of unit stride whatever the vector length is, so that the compiler knows.
                body(WorkItem { thread: Index::uniform(thread), lane: Index::along(first as i64, true) });
                first += Self::lanes();
                pack = pack.wrapping_add(state.private_slots * SLOT_BYTES);
            }
        }
        state.active.set(before);
    }
    #[inline(always)]
    fn spread(self, spread: Spread, n: impl Into<Index<S, P>>, body: impl Fn(Index<S, P>)) {
        self.packs(spread != Spread::Threads, Self::uniform(n.into()), body);
    }
    #[inline(always)]
    fn for_each_row_column(
        self,
        rows: impl Into<Index<S, P>>,
        columns: impl Into<Index<S, P>>,
        body: impl Fn(Index<S, P>, Index<S, P>),
    ) {
        let (rows, columns) = (Self::uniform(rows.into()), Self::uniform(columns.into()));
        let mut row = 0;
        while row < rows {
            self.packs(
                true,
                columns,
                #[inline(always)]
                |column| body(Index::uniform(row), column),
            );
            row += 1;
        }
    }
    #[inline(always)]
    fn barrier(self) {}

    #[inline(always)]
    fn reduce_spread<C: Carry<Self>>(
        self,
        spread: Spread,
        n: impl Into<Index<S, P>>,
        identity: C,
        join: impl Fn(C, C) -> C,
        body: impl Fn(Index<S, P>) -> C,
    ) -> C {
        let by_lanes = spread != Spread::Threads;
        let total = Cell::new(identity);
        self.packs(
            by_lanes,
            Self::uniform(n.into()),
            #[inline(always)]
            |i| {
                let value = body(i);
                let value = if by_lanes { self.keep_active(value, identity) } else { value };
                total.set(join(total.get(), value));
            },
        );
        if by_lanes { self.combine_lanes(total.get(), &join) } else { total.get() }
    }
    #[inline(always)]
    fn scan_spread<C: Carry<Self>>(
        self,
        n: impl Into<Index<S, P>>,
        identity: C,
        join: impl Fn(C, C) -> C,
        body: impl Fn(Index<S, P>) -> C,
        output: impl Fn(Index<S, P>, C),
    ) -> C {
        let running = Cell::new(identity);
        self.packs(
            true,
            Self::uniform(n.into()),
            #[inline(always)]
            |i| {
                let value = self.keep_active(body(i), identity);
                let mut prefix = running.get();
                for lane in 0..Self::lanes() {
                    prefix = select_leaves(Mask(1 << lane), running.get(), prefix);
                    running.set(join(running.get(), lane_of(value, lane)));
                }
                output(i, prefix);
            },
        );
        running.get()
    }
    #[inline(always)]
    fn shift(self, value: Leaf<Self>, shift: Shift<Index<S, P>>) -> Leaf<Self> {
        let length = self.state.vector_length;
        match value {
            // The common case, lanes that fill a pack, is one permutation and a blend at the edge.
            Leaf::Real(real) => Leaf::Real(match shift {
                Shift::Rotate(places) if length == P::LANES => Pack(<P as Precision<S>>::rotate_down(real.0, places)),
                Shift::Down(places) if length == P::LANES && places < P::LANES => {
                    let rotated = Pack(<P as Precision<S>>::rotate_down(real.0, places));
                    Pack::select(Mask(Self::all_lanes() >> places), rotated, real)
                }
                _ => Pack::from_lanes(shift_reals(length, real.lanes(), shift)),
            }),
            Leaf::Int(int) => Leaf::Int(shift_ints(length, int, shift)),
        }
    }

    #[inline(always)]
    fn private_allocate(self, n: usize) -> usize {
        let first = self.state.private_used.get();
        assert!(first + n <= self.state.private_slots, "the launch reserved fewer private slots than the kernel uses");
        self.state.private_used.set(first + n);
        first
    }
    #[inline(always)]
    fn private_get(self, slot: usize) -> Self::Real {
        let pack = self.state.private_pack.get();
        // SAFETY: `private_allocate` checked that slots lie within the reservation of each pack, 64-byte aligned.
        Pack(unsafe { pack.add(slot * SLOT_BYTES).cast::<P::Register>().read() })
    }
    #[inline(always)]
    fn private_set(self, slot: usize, value: Self::Real) {
        let pack = self.state.private_pack.get();
        let active = self.state.active.get();
        let value =
            if active == Self::all_lanes() { value } else { Pack::select(Mask(active), value, self.private_get(slot)) };
        // SAFETY: as in `private_get`; the arena belongs to this team.
        unsafe { pack.add(slot * SLOT_BYTES).cast::<P::Register>().write(value.0) }
    }
    #[inline(always)]
    fn scratch_allocate<E: Element>(self, level: ScratchLevel, _name: &'static str, n: usize) -> HostBlock<E> {
        let level = level as usize;
        let used = &self.state.scratch_used[level];
        let first = used.get();
        // The same rounding as in a trace, which told the launch how much to reserve.
        used.set((first + n * E::KIND.bytes()).next_multiple_of(16));
        HostBlock::team_owned(self.state.scratch[level].wrapping_add(first).cast())
    }

    #[inline(always)]
    fn prefetch<E: Element>(self, memory: HostBlock<E>, offset: impl FnOnce() -> Index<S, P>) {
        access::prefetch::<S, P, E>(memory, offset());
    }
    #[inline(always)]
    fn load<E: Element>(self, memory: HostBlock<E>, offset: Index<S, P>, _index: &[Index<S, P>]) -> Leaf<Self> {
        access::load::<S, P, E>(memory, offset, self.state.active.get())
    }
    #[inline(always)]
    fn store<E: Element>(self, memory: HostBlock<E>, offset: Index<S, P>, _index: &[Index<S, P>], value: Leaf<Self>) {
        access::store::<S, P, E>(memory, offset, self.state.active.get(), value);
    }
    #[inline(always)]
    fn atomic<E: Element>(
        self,
        op: AtomicOp,
        memory: HostBlock<E>,
        offset: Index<S, P>,
        _index: &[Index<S, P>],
        value: Leaf<Self>,
    ) -> Leaf<Self> {
        let turn = self.turn();
        if let (AtomicOp::Add, Leaf::Real(real)) = (op, value)
            && let Some(old) = access::add_pack(memory, offset, turn, real)
        {
            return Leaf::Real(old);
        }
        let change = Change::Operation(op);
        access::leaf(access::update::<S, P, E>(memory, offset, turn, change, access::elements(value)))
    }
    #[inline(always)]
    fn compare_exchange<E: Element>(
        self,
        memory: HostBlock<E>,
        offset: Index<S, P>,
        _index: &[Index<S, P>],
        expected: Leaf<Self>,
        value: Leaf<Self>,
    ) -> Leaf<Self> {
        let change = Change::IfEqual(access::elements(expected));
        access::leaf(access::update::<S, P, E>(memory, offset, self.turn(), change, access::elements(value)))
    }
}
