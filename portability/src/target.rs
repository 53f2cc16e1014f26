//! The execution target: what a kernel is generic over.

use crate::integer::Integer;
use crate::kernel_view::ScratchView;
use crate::layout::{Layout, LayoutRight};
use crate::real::{Predicate, Real};
use crate::reduce::Reducer;
use crate::value::{Carry, Element, Leaf};

/// Which scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScratchLevel {
    /// Small and fast: shared memory of a multiprocessor, a thread's arena on the host.
    Zero,
    /// Large: device memory reserved for each team.
    One,
}

/// Atomic read-modify-write operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// `old + value`.
    Add,
    /// The smaller of both.
    Min,
    /// The larger of both.
    Max,
    /// `value`.
    Exchange,
}

/// Over what a nested range or reduction is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spread {
    /// All lanes of all threads of the team.
    Team,
    /// The threads of the team.
    Threads,
    /// The lanes of the calling thread.
    Lanes,
}

/// From where a lane takes a value.
#[derive(Clone, Copy, Debug)]
pub enum Shift<I> {
    /// From the lane that many places higher, or from itself at the end of the vector.
    Down(usize),
    /// From the lane that many places lower, or from itself at the start of the vector.
    Up(usize),
    /// From the lane that many places higher, around the end of the vector.
    Rotate(usize),
    /// From the lane of that number.
    From(I),
}

/// One work item inside [`Target::phase`].
#[derive(Clone, Copy, Debug)]
pub struct WorkItem<T: Target> {
    /// The thread's rank in the team.
    pub thread: T::Int,
    /// The lane's number in the thread.
    pub lane: T::Int,
}

/// The execution target. A value of this type is the calling team.
///
/// **Levels.** A kernel's body runs once for each team; inside [`Target::for_each_thread`] once for each thread, inside
/// [`Target::phase`], [`Target::for_each`] and [`Target::for_each_lane`] once for each lane. An effect (store or atomic)
/// at team or thread level happens *once*, not once for each lane. Work items of one phase run in no order; a
/// [`Target::barrier`] between phases orders them.
///
/// **Closures.** Bodies are `Fn`: they cannot change Rust variables outside. What a loop carries is a value of
/// [`Target::fold`]. A Rust `for` is unrolled.
///
/// The required methods are what a backend writes; kernels mostly use the provided ones and the methods of views.
pub trait Target: Copy {
    /// Reals, in the arithmetic precision of the launch.
    type Real: Real<Predicate = Self::Predicate> + Carry<Self>;
    /// Integers.
    type Int: Integer<Predicate = Self::Predicate> + Carry<Self>;
    /// Predicates.
    type Predicate: Predicate;
    /// A flat block of global or scratch memory.
    type Memory<E: Element>: Copy;

    /// The team's rank in the league.
    fn league_rank(self) -> Self::Int;
    /// Number of teams.
    fn league_size(self) -> Self::Int;
    /// Threads of a team, a constant of the compiled kernel.
    fn team_size(self) -> usize;
    /// Lanes of a thread, a constant of the compiled kernel.
    fn vector_length(self) -> usize;

    /// An integer as a real.
    fn to_real(self, value: Self::Int) -> Self::Real;

    /// Runs `body` where `p` holds.
    #[track_caller]
    fn when(self, p: Self::Predicate, body: impl Fn());
    /// Runs `body(i, state)` for `i` in `0..n` in order and returns the last state; `n` may differ between lanes.
    #[track_caller]
    fn fold<C: Carry<Self>>(self, n: impl Into<Self::Int>, initial: C, body: impl Fn(Self::Int, C) -> C) -> C;

    /// Runs `body` once for each lane of each thread: one phase.
    #[track_caller]
    fn phase(self, body: impl Fn(WorkItem<Self>));
    /// Runs `body(i)` for `i` in `0..n`, spread as `spread` says.
    #[track_caller]
    fn spread(self, spread: Spread, n: impl Into<Self::Int>, body: impl Fn(Self::Int));
    /// Runs `body(row, column)` for all rows and columns, spread over all lanes of all threads, lanes along columns.
    #[track_caller]
    fn for_each_row_column(
        self,
        rows: impl Into<Self::Int>,
        columns: impl Into<Self::Int>,
        body: impl Fn(Self::Int, Self::Int),
    );
    /// Waits until all threads of the team have come here and their stores are visible to the team.
    #[track_caller]
    fn barrier(self);

    /// Combines `body(i)` for `i` in `0..n`; every work item receives the result. `identity` is neutral in `join`.
    #[track_caller]
    fn reduce_spread<C: Carry<Self>>(
        self,
        spread: Spread,
        n: impl Into<Self::Int>,
        identity: C,
        join: impl Fn(C, C) -> C,
        body: impl Fn(Self::Int) -> C,
    ) -> C;
    /// Calls `output(i, prefix)`, prefix being the combination of `body(j)` for `j < i`; returns the combination of all.
    #[track_caller]
    fn scan_spread<C: Carry<Self>>(
        self,
        n: impl Into<Self::Int>,
        identity: C,
        join: impl Fn(C, C) -> C,
        body: impl Fn(Self::Int) -> C,
        output: impl Fn(Self::Int, C),
    ) -> C;
    /// Moves a number between lanes of a thread. All lanes must take part.
    #[track_caller]
    fn shift(self, value: Leaf<Self>, shift: Shift<Self::Int>) -> Leaf<Self>;

    /// Reserves `n` slots of private memory of each work item and returns the first slot.
    fn private_allocate(self, n: usize) -> usize;
    /// Reads a private slot.
    #[track_caller]
    fn private_get(self, slot: usize) -> Self::Real;
    /// Writes a private slot.
    #[track_caller]
    fn private_set(self, slot: usize, value: Self::Real);
    /// Reserves `n` elements of team scratch.
    fn scratch_allocate<E: Element>(self, level: ScratchLevel, name: &'static str, n: usize) -> Self::Memory<E>;

    /// Reads one element. `index` is the multi-index of `offset`, for checks.
    #[track_caller]
    fn load<E: Element>(self, memory: Self::Memory<E>, offset: Self::Int, index: &[Self::Int]) -> Leaf<Self>;
    /// Writes one element.
    #[track_caller]
    fn store<E: Element>(self, memory: Self::Memory<E>, offset: Self::Int, index: &[Self::Int], value: Leaf<Self>);
    /// Updates one element atomically and returns its old value.
    #[track_caller]
    fn atomic<E: Element>(
        self,
        op: AtomicOp,
        memory: Self::Memory<E>,
        offset: Self::Int,
        index: &[Self::Int],
        value: Leaf<Self>,
    ) -> Leaf<Self>;
    /// Replaces one element by `value` if it equals `expected`; returns its old value.
    #[track_caller]
    fn compare_exchange<E: Element>(
        self,
        memory: Self::Memory<E>,
        offset: Self::Int,
        index: &[Self::Int],
        expected: Leaf<Self>,
        value: Leaf<Self>,
    ) -> Leaf<Self>;

    /// Says that an element will be read soon, so that it is fetched in the meantime: a hint, which most targets ignore.
    /// The element need not exist.
    #[inline(always)]
    fn prefetch<E: Element>(self, _memory: Self::Memory<E>, _offset: impl FnOnce() -> Self::Int) {}
    /// A real constant.
    #[inline(always)]
    fn real(self, value: f64) -> Self::Real {
        Self::Real::lit(value)
    }
    /// An integer constant.
    #[inline(always)]
    fn int(self, value: usize) -> Self::Int {
        Self::Int::from(value)
    }
    /// Runs `body(i)` for `i` in `0..n` in order.
    #[inline(always)]
    #[track_caller]
    fn repeat(self, n: impl Into<Self::Int>, body: impl Fn(Self::Int)) {
        self.fold(
            n,
            (),
            #[inline(always)]
            |i, ()| body(i),
        );
    }
    /// `body(value)` where `p` holds, else `value`; unlike a selection, `body` is evaluated only where it is needed.
    #[inline(always)]
    #[track_caller]
    fn update_if<C: Carry<Self>>(self, p: Self::Predicate, value: C, body: impl Fn(C) -> C) -> C {
        let times = p.select(Self::Int::from(1i32), Self::Int::from(0i32));
        self.fold(
            times,
            value,
            #[inline(always)]
            |_, value| body(value),
        )
    }
    /// A range over all lanes of all threads (`TeamVectorRange`): one phase.
    #[inline(always)]
    #[track_caller]
    fn for_each(self, n: impl Into<Self::Int>, body: impl Fn(Self::Int)) {
        self.spread(Spread::Team, n, body);
    }
    /// A range over the threads of the team (`TeamThreadRange`).
    #[inline(always)]
    #[track_caller]
    fn for_each_thread(self, n: impl Into<Self::Int>, body: impl Fn(Self::Int)) {
        self.spread(Spread::Threads, n, body);
    }
    /// A range over the lanes of the calling thread (`ThreadVectorRange`).
    #[inline(always)]
    #[track_caller]
    fn for_each_lane(self, n: impl Into<Self::Int>, body: impl Fn(Self::Int)) {
        self.spread(Spread::Lanes, n, body);
    }
    /// A multi-dimensional range over all lanes of all threads (`TeamVectorMDRange`), the last dimension fastest.
    #[inline(always)]
    #[track_caller]
    fn for_each_md<const R: usize>(self, extents: [usize; R], body: impl Fn([Self::Int; R])) {
        let columns = if R == 0 { 1 } else { extents[R - 1] };
        let rows: usize = extents.iter().take(R.saturating_sub(1)).product();
        self.for_each_row_column(
            rows,
            columns,
            #[inline(always)]
            |row, column| {
                let mut index = [column; R];
                let mut rest = row;
                for d in (0..R.saturating_sub(1)).rev() {
                    // The outermost remainder needs no division.
                    index[d] = if d == 0 { rest } else { rest % extents[d] as i64 };
                    rest = rest / extents[d].max(1) as i64;
                }
                body(index);
            },
        );
    }
    /// Reduces `body(i)`, `i` in `0..n`, over all lanes of all threads; every work item receives the result.
    #[inline(always)]
    #[track_caller]
    fn reduce<R: Reducer>(
        self,
        n: impl Into<Self::Int>,
        _reducer: R,
        body: impl Fn(Self::Int) -> R::Value<Self>,
    ) -> R::Value<Self> {
        self.reduce_spread(Spread::Team, n, R::identity::<Self>(), R::join::<Self>, body)
    }
    /// Reduces over the threads of the team.
    #[inline(always)]
    #[track_caller]
    fn reduce_threads<R: Reducer>(
        self,
        n: impl Into<Self::Int>,
        _reducer: R,
        body: impl Fn(Self::Int) -> R::Value<Self>,
    ) -> R::Value<Self> {
        self.reduce_spread(Spread::Threads, n, R::identity::<Self>(), R::join::<Self>, body)
    }
    /// Reduces over the lanes of the calling thread.
    #[inline(always)]
    #[track_caller]
    fn reduce_lanes<R: Reducer>(
        self,
        n: impl Into<Self::Int>,
        _reducer: R,
        body: impl Fn(Self::Int) -> R::Value<Self>,
    ) -> R::Value<Self> {
        self.reduce_spread(Spread::Lanes, n, R::identity::<Self>(), R::join::<Self>, body)
    }
    /// Exclusive scan over all lanes of all threads: calls `output(i, join of body(j) for j < i)`, returns the total.
    #[inline(always)]
    #[track_caller]
    fn scan<R: Reducer>(
        self,
        n: impl Into<Self::Int>,
        _reducer: R,
        body: impl Fn(Self::Int) -> R::Value<Self>,
        output: impl Fn(Self::Int, R::Value<Self>),
    ) -> R::Value<Self> {
        self.scan_spread(n, R::identity::<Self>(), R::join::<Self>, body, output)
    }
    /// The value of the lane `places` higher; the last lanes keep their own.
    #[inline(always)]
    #[track_caller]
    fn shift_down<C: Carry<Self>>(self, value: C, places: usize) -> C {
        value.map_leaves(&mut crate::inlined(
            #[inline(always)]
            |leaf| self.shift(leaf, Shift::Down(places)),
        ))
    }
    /// The value of the lane `places` lower; the first lanes keep their own.
    #[inline(always)]
    #[track_caller]
    fn shift_up<C: Carry<Self>>(self, value: C, places: usize) -> C {
        value.map_leaves(&mut crate::inlined(
            #[inline(always)]
            |leaf| self.shift(leaf, Shift::Up(places)),
        ))
    }
    /// The value of the lane `places` higher, around the end of the vector.
    #[inline(always)]
    #[track_caller]
    fn rotate_down<C: Carry<Self>>(self, value: C, places: usize) -> C {
        value.map_leaves(&mut crate::inlined(
            #[inline(always)]
            |leaf| self.shift(leaf, Shift::Rotate(places)),
        ))
    }
    /// The value of lane `lane`.
    #[inline(always)]
    #[track_caller]
    #[allow(clippy::wrong_self_convention)]
    fn from_lane<C: Carry<Self>>(self, value: C, lane: Self::Int) -> C {
        value.map_leaves(&mut crate::inlined(
            #[inline(always)]
            |leaf| self.shift(leaf, Shift::From(lane)),
        ))
    }
    /// An array of `n` reals that belongs to one work item and survives phases and barriers.
    #[inline(always)]
    fn private(self, n: usize) -> Private<Self> {
        Private { target: self, first: self.private_allocate(n), len: n }
    }
    /// An array of team scratch with constant extents, the last index fastest.
    #[inline(always)]
    fn scratch<E: Element, const R: usize>(
        self,
        level: ScratchLevel,
        name: &'static str,
        extents: [usize; R],
    ) -> ScratchView<Self, E, R> {
        let memory = self.scratch_allocate::<E>(level, name, LayoutRight::span(extents));
        let strides = LayoutRight::strides(extents);
        ScratchView::from_parts(self, memory, extents.map(Self::Int::from), strides.map(Self::Int::from))
    }
}

/// An array that belongs to one work item: registers on a GPU, lanes on the host. Indices are Rust numbers.
#[derive(Clone, Copy, Debug)]
pub struct Private<T: Target> {
    target: T,
    first: usize,
    len: usize,
}

impl<T: Target> Private<T> {
    /// Number of slots.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Reads slot `k`.
    ///
    /// # Panics
    /// If `k` is outside the array.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, k: usize) -> T::Real {
        check_slots(k, 1, self.len);
        self.target.private_get(self.first + k)
    }
    /// Writes slot `k`.
    ///
    /// # Panics
    /// If `k` is outside the array.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, k: usize, value: T::Real) {
        check_slots(k, 1, self.len);
        self.target.private_set(self.first + k, value);
    }
    /// Slots `k..k + N` as an array.
    ///
    /// # Panics
    /// If a slot is outside the array.
    #[inline(always)]
    #[track_caller]
    pub fn get_array<const N: usize>(&self, k: usize) -> [T::Real; N] {
        check_slots(k, N, self.len);
        crate::array(
            #[inline(always)]
            |i| self.target.private_get(self.first + k + i),
        )
    }
    /// Writes slots `k..k + N`.
    ///
    /// # Panics
    /// If a slot is outside the array.
    #[inline(always)]
    #[track_caller]
    pub fn set_array<const N: usize>(&self, k: usize, values: [T::Real; N]) {
        check_slots(k, N, self.len);
        crate::each(
            values,
            #[inline(always)]
            |i, value| self.target.private_set(self.first + k + i, value),
        );
    }
}

/// Refuses slots outside a private array. Numbers pass by value: a message that borrowed them would keep the array's
/// description in memory, and with it all indices of the kernel.
#[inline(always)]
#[track_caller]
fn check_slots(first: usize, count: usize, len: usize) {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(first: usize, count: usize, len: usize) -> ! {
        panic!("private slots {first}..{} are outside 0..{len}", first + count)
    }
    if first + count > len {
        refuse(first, count, len);
    }
}
