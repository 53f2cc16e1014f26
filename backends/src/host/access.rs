//! Loads, stores and atomic updates of the host target. The only raw memory accesses of kernels on the host.

use super::Host;
use super::gather::gather;
use super::index::Index;
use super::pack::{MAX_LANES, Mask, Pack, Precision, Set};
use farro_portability::{AtomicOp, Element, ElementKind, Leaf};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A flat block of elements.
#[derive(Clone, Copy, Debug)]
pub struct HostBlock<E> {
    pointer: *mut E,
    /// Whether other teams may reach the block at the same time.
    shared: bool,
}

impl<E> HostBlock<E> {
    /// A block that other teams may reach.
    #[inline(always)]
    pub(super) fn shared(pointer: *mut E) -> Self {
        HostBlock { pointer, shared: true }
    }
    /// A block of one team.
    #[inline(always)]
    pub(super) fn team_owned(pointer: *mut E) -> Self {
        HostBlock { pointer, shared: false }
    }
}

/// Who takes part in an atomic update.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// Active lanes.
    pub active: u32,
    /// Whether no other team runs at the same time.
    pub exclusive: bool,
}

#[inline(always)]
fn all_lanes<S: Set, P: Precision<S>>() -> u32 {
    (1 << P::LANES) - 1
}

/// Facts about a kernel's types. Branches on `const { … }` of them are gone before the compiler optimizes, which
/// matters: these functions are inlined for every access of every kernel.
struct Facts<S, P, E>(PhantomData<(S, P, E)>);

impl<S: Set, P: Precision<S>, E: Element> Facts<S, P, E> {
    /// Whether elements are reals.
    const REAL: bool = matches!(E::KIND, ElementKind::F64 | ElementKind::F32);
    /// Whether elements are reals of the precision of the arithmetic.
    const SAME: bool = Self::REAL && size_of::<E>() == size_of::<P>();
    /// Whether masked accesses cost no more than others, so that a branch is not worth it.
    const FREE_MASKS: bool = cfg!(target_arch = "x86_64") && S::F64_LANES == 8;
}

#[inline(always)]
fn is_real<E: Element>() -> bool {
    const { matches!(E::KIND, ElementKind::F64 | ElementKind::F32) }
}

#[inline(always)]
fn real_of<S: Set, P: Precision<S>, E: Element>(element: E) -> P {
    <P as Precision<S>>::from_f64(element.to_f64())
}

/// 64-bit integers pass unchanged; `f64` would round them.
#[inline(always)]
fn int_of<E: Element>(element: E) -> i64 {
    match E::KIND {
        // SAFETY: the element is an `i64` by its kind.
        ElementKind::I64 => unsafe { std::mem::transmute_copy(&element) },
        _ => element.to_f64() as i64,
    }
}
#[inline(always)]
fn element_of_int<E: Element>(value: i64) -> E {
    match E::KIND {
        // SAFETY: the element is an `i64` by its kind.
        ElementKind::I64 => unsafe { std::mem::transmute_copy(&value) },
        // SAFETY: the element is an `i32` by its kind; wrapping as device code does.
        ElementKind::I32 => unsafe { std::mem::transmute_copy(&(value as i32)) },
        _ => E::from_f64(value as f64),
    }
}

/// The sum of two elements in their own type.
#[inline(always)]
fn sum<E: Element>(a: E, b: E) -> E {
    if is_real::<E>() {
        E::from_f64(a.to_f64() + b.to_f64())
    } else {
        element_of_int(int_of(a).wrapping_add(int_of(b)))
    }
}

/// Whether `a < b`, in their own type.
#[inline(always)]
fn less<E: Element>(a: E, b: E) -> bool {
    if is_real::<E>() { a.to_f64() < b.to_f64() } else { int_of(a) < int_of(b) }
}

/// Reads one element for each active lane.
#[inline(always)]
pub(super) fn load<'c, S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    active: u32,
) -> Leaf<Host<'c, S, P>> {
    if const { !Facts::<S, P, E>::REAL } {
        return Leaf::Int(load_ints(block, offset, active));
    }
    if let Some(base) = offset.as_uniform() {
        // SAFETY: offsets of active lanes lie inside the block; the checked target proves it for a kernel, and the
        // launch checked the extents of its views.
        let element = unsafe { block.pointer.offset(base as isize).read_unaligned() };
        return Leaf::Real(Pack(P::splat(real_of::<S, P, E>(element))));
    }
    let mask = Mask(active);
    if const { !Facts::<S, P, E>::SAME } {
        return Leaf::Real(Pack::from_lanes(gather_reals::<S, P, E>(block, offset, active)));
    }
    if let Some(base) = offset.as_unit_stride() {
        let pointer = block.pointer.wrapping_offset(base as isize);
        if const { !Facts::<S, P, E>::FREE_MASKS } && active == all_lanes::<S, P>() {
            // SAFETY: as above, for all lanes.
            return Leaf::Real(Pack(unsafe { pointer.cast::<P::Register>().read_unaligned() }));
        }
        // SAFETY: as above, for the active lanes.
        return Leaf::Real(Pack(unsafe { P::load_masked(mask, pointer.cast()) }));
    }
    // SAFETY: as above, for the active lanes.
    match unsafe { gather::<S, P, E>(block.pointer, offset, mask) } {
        Some(register) => Leaf::Real(Pack(register)),
        None => Leaf::Real(Pack::from_lanes(gather_reals::<S, P, E>(block, offset, active))),
    }
}

/// Fetches the cache lines of the first and the last lane, where lanes follow each other.
#[inline(always)]
pub(super) fn prefetch<S: Set, P: Precision<S>, E: Element>(block: HostBlock<E>, offset: Index<S, P>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(base) = offset.as_unit_stride() {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = block.pointer.wrapping_offset(base as isize);
        // SAFETY: a prefetch reads nothing that the program can see, wherever it points, and needs no more than SSE.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(first.cast());
            _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(P::LANES - 1).cast());
        }
    }
    let _ = (block, offset);
}

/// Reads one integer for each active lane.
#[inline(never)]
fn load_ints<S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    active: u32,
) -> Index<S, P> {
    match offset.as_uniform() {
        // SAFETY: as in `load`.
        Some(base) => Index::uniform(int_of(unsafe { block.pointer.offset(base as isize).read_unaligned() })),
        None => Index::general(gather_ints(block, offset, active)),
    }
}

// The general accesses below are lane after lane in any case; kept out of line, they do not swell kernels.

#[inline(never)]
fn gather_reals<S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    active: u32,
) -> [P; MAX_LANES] {
    let mut lanes = [P::zero(); MAX_LANES];
    if let (Some(base), true) = (offset.as_unit_stride(), active == all_lanes::<S, P>()) {
        let pointer = block.pointer.wrapping_offset(base as isize);
        for (lane, value) in lanes.iter_mut().enumerate().take(P::LANES) {
            // SAFETY: as in `load`.
            *value = real_of::<S, P, E>(unsafe { pointer.add(lane).read_unaligned() });
        }
        return lanes;
    }
    for (lane, value) in lanes.iter_mut().enumerate().take(P::LANES) {
        if active >> lane & 1 == 1 {
            // SAFETY: as in `load`.
            *value = real_of::<S, P, E>(unsafe { block.pointer.offset(offset.lane(lane) as isize).read_unaligned() });
        }
    }
    lanes
}

#[cold]
#[inline(never)]
fn gather_ints<S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    active: u32,
) -> [i64; MAX_LANES] {
    let mut lanes = [0; MAX_LANES];
    for (lane, value) in lanes.iter_mut().enumerate() {
        if active >> lane & 1 == 1 {
            // SAFETY: as in `load`.
            *value = int_of(unsafe { block.pointer.offset(offset.lane(lane) as isize).read_unaligned() });
        }
    }
    lanes
}

#[inline(never)]
fn scatter_reals<S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    active: u32,
    lanes: [P; MAX_LANES],
) {
    if let (Some(base), true) = (offset.as_unit_stride(), active == all_lanes::<S, P>()) {
        let pointer = block.pointer.wrapping_offset(base as isize);
        for (lane, &value) in lanes.iter().enumerate().take(P::LANES) {
            // SAFETY: as below.
            unsafe { pointer.add(lane).write_unaligned(E::from_f64(<P as Precision<S>>::to_f64(value))) };
        }
        return;
    }
    for (lane, &value) in lanes.iter().enumerate().take(P::LANES) {
        if active >> lane & 1 == 1 {
            let element = E::from_f64(<P as Precision<S>>::to_f64(value));
            // SAFETY: as in `load`; the launch holds an exclusive borrow of a written view.
            unsafe { block.pointer.offset(offset.lane(lane) as isize).write_unaligned(element) };
        }
    }
}

#[cold]
#[inline(never)]
fn scatter_ints<S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    active: u32,
    value: Index<S, P>,
) {
    for lane in 0..P::LANES {
        if active >> lane & 1 == 1 {
            let element = element_of_int(value.lane(lane));
            // SAFETY: as in `scatter_reals`.
            unsafe { block.pointer.offset(offset.lane(lane) as isize).write_unaligned(element) };
        }
    }
}

/// Writes one element for each active lane; the highest lane wins where lanes meet.
#[inline(always)]
pub(super) fn store<S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    active: u32,
    value: Leaf<Host<'_, S, P>>,
) {
    let real = match value {
        Leaf::Real(real) => real,
        Leaf::Int(int) => return scatter_ints(block, offset, active, int),
    };
    if const { Facts::<S, P, E>::SAME }
        && let Some(base) = offset.as_unit_stride()
    {
        let pointer = block.pointer.wrapping_offset(base as isize);
        // SAFETY: as in `scatter_reals`, for the active lanes.
        unsafe {
            if const { !Facts::<S, P, E>::FREE_MASKS } && active == all_lanes::<S, P>() {
                pointer.cast::<P::Register>().write_unaligned(real.0);
            } else {
                P::store_masked(Mask(active), pointer.cast(), real.0);
            }
        }
        return;
    }
    scatter_reals(block, offset, active, real.lanes());
}

/// Replaces the bits at `pointer` by `f(old)` atomically and returns the old element.
///
/// # Safety
/// `pointer` must be valid and aligned for `E`, and other threads may access it only atomically.
#[inline(always)]
unsafe fn replace_atomically<E: Element>(pointer: *mut E, f: impl Fn(E) -> E) -> E {
    macro_rules! replace {
        ($atomic:ty, $bits:ty) => {{
            // SAFETY: by contract; the atomic type has the size and alignment of `E`.
            let cell = unsafe { <$atomic>::from_ptr(pointer.cast()) };
            let mut old = cell.load(Ordering::Relaxed);
            loop {
                // SAFETY: `E` is plain data of this size.
                let element: E = unsafe { std::mem::transmute_copy(&old) };
                let new = f(element);
                // SAFETY: as above.
                let new: $bits = unsafe { std::mem::transmute_copy(&new) };
                match cell.compare_exchange_weak(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                    Ok(_) => break element,
                    Err(now) => old = now,
                }
            }
        }};
    }
    match E::KIND.bytes() {
        8 => replace!(AtomicU64, u64),
        _ => replace!(AtomicU32, u32),
    }
}

/// What an atomic update puts in the place of an element.
#[derive(Clone, Copy)]
pub(super) enum Change<E> {
    /// The outcome of an operation.
    Operation(AtomicOp),
    /// The new value where the element equals the lane's expected one.
    IfEqual([E; MAX_LANES]),
}

impl<E: Element> Change<E> {
    fn apply(&self, lane: usize, old: E, new: E) -> E {
        match self {
            Change::Operation(AtomicOp::Add) => sum(old, new),
            Change::Operation(AtomicOp::Min) => {
                if less(new, old) {
                    new
                } else {
                    old
                }
            }
            Change::Operation(AtomicOp::Max) => {
                if less(old, new) {
                    new
                } else {
                    old
                }
            }
            Change::Operation(AtomicOp::Exchange) => new,
            // Compared as numbers: a NaN equals nothing.
            Change::IfEqual(expected) => {
                if old == expected[lane] {
                    new
                } else {
                    old
                }
            }
        }
    }
}

/// Updates one element for each active lane, lane after lane, and returns the old elements.
#[inline(never)]
pub(super) fn update<S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    turn: Turn,
    change: Change<E>,
    values: [E; MAX_LANES],
) -> [E; MAX_LANES] {
    let plain = !block.shared || turn.exclusive;
    let mut before = [E::from_f64(0.0); MAX_LANES];
    for lane in 0..P::LANES {
        if turn.active >> lane & 1 == 0 {
            continue;
        }
        let pointer = block.pointer.wrapping_offset(offset.lane(lane) as isize);
        let next = |old: E| change.apply(lane, old, values[lane]);
        before[lane] = if plain {
            // SAFETY: as in `store`, and no other team reaches the block now.
            unsafe {
                let old = pointer.read_unaligned();
                pointer.write_unaligned(next(old));
                old
            }
        } else {
            // SAFETY: views are aligned to their elements; other teams use atomic updates (the checked target reports
            // plain ones).
            unsafe { replace_atomically(pointer, next) }
        };
    }
    before
}

/// The elements that a leaf's lanes are stored as.
#[inline(always)]
pub(super) fn elements<S: Set, P: Precision<S>, E: Element>(value: Leaf<Host<'_, S, P>>) -> [E; MAX_LANES] {
    match value {
        Leaf::Real(real) => real.lanes().map(
            #[inline(always)]
            |lane| E::from_f64(<P as Precision<S>>::to_f64(lane)),
        ),
        Leaf::Int(int) => elements_of_ints(int),
    }
}
#[inline(never)]
fn elements_of_ints<S: Set, P: Precision<S>, E: Element>(value: Index<S, P>) -> [E; MAX_LANES] {
    std::array::from_fn(|lane| element_of_int(value.lane(lane)))
}
/// The leaf whose lanes are these elements.
#[inline(always)]
pub(super) fn leaf<'c, S: Set, P: Precision<S>, E: Element>(elements: [E; MAX_LANES]) -> Leaf<Host<'c, S, P>> {
    if is_real::<E>() {
        Leaf::Real(Pack::from_lanes(elements.map(
            #[inline(always)]
            |element| real_of::<S, P, E>(element),
        )))
    } else {
        Leaf::Int(ints_of_elements(elements))
    }
}
#[inline(never)]
fn ints_of_elements<S: Set, P: Precision<S>, E: Element>(elements: [E; MAX_LANES]) -> Index<S, P> {
    Index::general(elements.map(int_of))
}

/// Adds a pack to elements that follow each other and that no other team reaches now, and returns the old ones; none
/// where that is not so.
#[inline(always)]
pub(super) fn add_pack<S: Set, P: Precision<S>, E: Element>(
    block: HostBlock<E>,
    offset: Index<S, P>,
    turn: Turn,
    value: Pack<S, P>,
) -> Option<Pack<S, P>> {
    if const { !Facts::<S, P, E>::SAME } {
        return None;
    }
    let base = offset.as_unit_stride()?;
    if block.shared && !turn.exclusive {
        return None;
    }
    let pointer = block.pointer.wrapping_offset(base as isize).cast::<P>();
    let mask = Mask(turn.active);
    // SAFETY: as in `load` and `scatter_reals`, for the active lanes.
    unsafe {
        let old = Pack(P::load_masked(mask, pointer));
        P::store_masked(mask, pointer, (old + value).0);
        Some(old)
    }
}
