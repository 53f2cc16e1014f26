//! The observer that counts.

use super::counts::{Accesses, Compulsory, Counts, MemoryCounts, Operations, ViewCounts};
use crate::interpret::{AccessMode, Code, Lanes, MemoryAccess, Object, Objection, Observer, Room, Shape};
use crate::trace::ir::{Binary, Type, Unary};
use farro_portability::LaunchError;

const SECTOR: usize = 32;
const LINE: usize = 128;
const BANKS: usize = 32;

/// An element was loaded before any plain store to it.
const READ: u8 = 1;
/// An element was stored or updated.
const WRITTEN: u8 = 2;

/// Counts of one memory object.
struct Tally {
    name: String,
    room: Room,
    bytes: usize,
    first_byte: usize,
    counts: MemoryCounts,
    /// How each element of a view was touched.
    touched: Vec<u8>,
}

/// Counts what one launch does.
pub(super) struct Counter {
    warp: usize,
    tallies: Vec<Tally>,
    counts: Counts,
    real_bytes: usize,
}

impl Counter {
    pub fn new(warp: usize) -> Self {
        Counter { warp, tallies: Vec::new(), counts: Counts::default(), real_bytes: 8 }
    }
    pub fn into_counts(self) -> Counts {
        self.counts
    }
}

/// Distinct numbers among those of one warp.
#[derive(Default)]
struct Distinct {
    list: Vec<usize>,
}

impl Distinct {
    /// Adds a number; whether it is new.
    #[inline(always)]
    fn insert(&mut self, number: usize) -> bool {
        // Neighbouring work items mostly meet in the same or the next sector.
        let new = !self.list.iter().rev().any(|&known| known == number);
        if new {
            self.list.push(number);
        }
        new
    }
}

/// The requests of one access.
struct Requests<'a> {
    accesses: &'a mut Accesses,
    banked: bool,
    element_bytes: usize,
    sectors: Distinct,
    lines: Distinct,
    words: Distinct,
    banks: [u32; BANKS],
}

impl Requests<'_> {
    fn add(&mut self, address: usize) {
        if self.sectors.insert(address / SECTOR) {
            self.accesses.sectors += 1;
            self.accesses.lines += u64::from(self.lines.insert(address / LINE));
        }
        if self.banked && self.words.insert(address) {
            for word in 0..self.element_bytes / 4 {
                self.banks[(address / 4 + word) % BANKS] += 1;
            }
        }
    }
    /// Ends a group of work items whose words are fetched together.
    fn end_group(&mut self) {
        self.accesses.bank_passes += u64::from(self.banks.iter().copied().max().unwrap_or(0));
        self.words.list.clear();
        self.banks = [0; BANKS];
    }
    fn end_warp(&mut self) {
        self.accesses.requests += 1;
        self.sectors.list.clear();
        self.lines.list.clear();
    }
}

fn count_access(tally: &mut Tally, access: &MemoryAccess<'_>, warp: usize) {
    let accesses = match access.mode {
        AccessMode::Load => &mut tally.counts.loads,
        AccessMode::Store => &mut tally.counts.stores,
        AccessMode::Atomic => &mut tally.counts.atomics,
    };
    accesses.elements += access.lanes.len() as u64;
    accesses.bytes += (access.lanes.len() * tally.bytes) as u64;
    let banked = tally.room == Room::Scratch(0);
    // 32 banks serve 32 words of 4 bytes at a time.
    let group = (BANKS * 4 / tally.bytes).min(warp);
    let mut requests = Requests {
        accesses,
        banked,
        element_bytes: tally.bytes,
        sectors: Distinct::default(),
        lines: Distinct::default(),
        words: Distinct::default(),
        banks: [0; BANKS],
    };
    let (mut current_warp, mut current_group) = (usize::MAX, usize::MAX);
    access.lanes.for_each(|t| {
        if t / group != current_group {
            if current_group != usize::MAX {
                requests.end_group();
            }
            current_group = t / group;
        }
        if t / warp != current_warp {
            if current_warp != usize::MAX {
                requests.end_warp();
            }
            current_warp = t / warp;
        }
        requests.add(tally.first_byte + access.offsets[t].get() as usize * tally.bytes);
    });
    if current_warp != usize::MAX {
        requests.end_group();
        requests.end_warp();
    }
}

impl Observer for Counter {
    const CHECKS: bool = false;

    fn start(&mut self, _kernel: &str, shape: Shape, objects: &[Object<'_>]) -> Result<(), LaunchError> {
        self.real_bytes = shape.real_bytes;
        self.counts.launches = 1;
        self.counts.teams = shape.teams as u64;
        self.counts.work_items = (shape.teams * shape.items) as u64;
        self.tallies = objects
            .iter()
            .map(|object| Tally {
                name: object.name.clone(),
                room: object.room,
                bytes: object.kind.bytes(),
                first_byte: object.first_byte,
                counts: MemoryCounts::default(),
                touched: vec![0; if object.room == Room::Global { object.len } else { 0 }],
            })
            .collect();
        Ok(())
    }
    fn begin_team(&mut self, _team: usize) {}
    fn compute(&mut self, code: Code, lanes: usize) {
        let lanes = lanes as u64;
        let Operations { add, mul, fma, div, sqrt } = &mut self.counts.operations;
        let counter = match code {
            Code::MulAdd(_) => fma,
            Code::Unary(Unary::Sqrt, _) => sqrt,
            Code::Binary(op, Type::F64 | Type::F32) => match op {
                Binary::Add | Binary::Sub => add,
                Binary::Mul => mul,
                Binary::Div | Binary::Rem => div,
                _ => return,
            },
            Code::Binary(op, Type::I32 | Type::I64) => match op {
                Binary::Lt | Binary::Le | Binary::Eq => return,
                _ => &mut self.counts.integer_operations,
            },
            _ => return,
        };
        *counter += lanes;
    }
    fn access(&mut self, access: MemoryAccess<'_>) -> Result<(), Objection> {
        let tally = &mut self.tallies[access.memory];
        count_access(tally, &access, self.warp);
        if tally.room == Room::Global {
            let touched = &mut tally.touched;
            access.lanes.for_each(|t| {
                if let Some(touch) = touched.get_mut(access.offsets[t].get() as usize) {
                    let first_read = if *touch & WRITTEN == 0 { READ } else { 0 };
                    *touch |= match access.mode {
                        AccessMode::Load => first_read,
                        AccessMode::Store => WRITTEN,
                        AccessMode::Atomic => first_read | WRITTEN,
                    };
                }
            });
        }
        Ok(())
    }
    fn private(&mut self, mode: AccessMode, _number: usize, lanes: Lanes<'_>) -> Result<(), Objection> {
        let private = &mut self.counts.private;
        let accesses = if mode == AccessMode::Load { &mut private.loads } else { &mut private.stores };
        accesses.elements += lanes.len() as u64;
        accesses.bytes += (lanes.len() * self.real_bytes) as u64;
        Ok(())
    }
    fn exchange(&mut self, lanes: usize) {
        self.counts.lane_exchanges += lanes as u64;
    }
    fn barrier(&mut self) {
        self.counts.barriers += 1;
    }
    fn finish(&mut self) {
        for tally in self.tallies.drain(..) {
            let with = |flag: u8| (tally.touched.iter().filter(|&&t| t & flag != 0).count() * tally.bytes) as u64;
            match tally.room {
                Room::Global => {
                    let compulsory = Compulsory { read: with(READ), written: with(WRITTEN) };
                    self.counts.global += &tally.counts;
                    self.counts.compulsory += &compulsory;
                    let view = self.counts.views.entry(tally.name).or_default();
                    *view += &ViewCounts { accesses: tally.counts, compulsory };
                }
                Room::Scratch(level) => {
                    if let Some(scratch) = self.counts.scratch.get_mut(level) {
                        *scratch += &tally.counts;
                    }
                    *self.counts.scratch_arrays.entry(tally.name).or_default() += &tally.counts;
                }
            }
        }
    }
}
