//! The interpreter's loop over steps.

use super::arithmetic::compute;
use super::lanes::{Lanes, Row, map1};
use super::memory::{Object, parameter};
use super::observer::{AccessMode, Objection, Observer, Shape, name_item};
use super::plan::{Address, Exchange, Plan, Slot, State, Step};
use crate::launch::Argument;
use crate::trace::ir::{Program, Site, Special, Type};
use farro_portability::LaunchError;
use std::cell::Cell;

/// Why a launch ends early.
pub(super) type Stop = Box<LaunchError>;

/// A launch that is being interpreted.
pub(super) struct Machine<'p, 'a, O> {
    pub(super) program: &'p Program,
    plan: &'p Plan,
    pub(super) observer: &'p mut O,
    pub(super) objects: Vec<Object<'a>>,
    pub(super) shape: Shape,
    pub(super) team: usize,
    /// Values: slot after slot, one number for each work item.
    pub(super) values: Vec<Cell<u64>>,
    /// Private memory: slot after slot, one number for each work item.
    private: Vec<Cell<u64>>,
    /// One number for each work item.
    spare: Vec<Cell<u64>>,
    /// Lists of active work items that are not in use.
    lists: Vec<Vec<u32>>,
}

fn zeros(n: usize) -> Vec<Cell<u64>> {
    vec![Cell::new(0); n]
}

impl<'p, 'a, O: Observer> Machine<'p, 'a, O> {
    pub fn new(
        program: &'p Program,
        plan: &'p Plan,
        teams: usize,
        arguments: &[Argument<'a>],
        observer: &'p mut O,
    ) -> Result<Self, LaunchError> {
        let objects = Object::bind(program, arguments)?;
        let items = program.work_items();
        let shape = Shape {
            teams,
            items,
            vector_length: program.vector_length,
            private_slots: program.private_slots,
            real_bytes: if program.real == Type::F32 { 4 } else { 8 },
        };
        observer.start(&program.name, shape, &objects)?;
        let machine = Machine {
            program,
            plan,
            observer,
            objects,
            shape,
            team: 0,
            values: zeros(plan.slots * items),
            private: zeros(program.private_slots * items),
            spare: zeros(items),
            lists: Vec::new(),
        };
        for &(slot, bits) in &plan.constants {
            machine.fill(slot, |_| bits);
        }
        for &(slot, number) in &plan.parameters {
            let bits = parameter(program, &program.parameters[number], arguments)?;
            machine.fill(slot, |_| bits);
        }
        for &(slot, special) in &plan.specials {
            machine.fill(slot, |item| match special {
                Special::LeagueRank => 0,
                Special::LeagueSize => teams as u64,
                Special::WorkItem => item as u64,
            });
        }
        Ok(machine)
    }

    /// Runs all teams and writes the results.
    pub fn run(mut self) -> Result<(), Stop> {
        let plan = self.plan;
        for team in 0..self.shape.teams {
            self.team = team;
            for &(slot, special) in &plan.specials {
                if special == Special::LeagueRank {
                    self.fill(slot, |_| team as u64);
                }
            }
            self.observer.begin_team(team);
            self.block(&plan.body, Lanes::Range(0, self.shape.items))?;
        }
        self.observer.finish();
        self.objects.iter().for_each(Object::commit);
        Ok(())
    }

    fn fill(&self, slot: Slot, f: impl Fn(usize) -> u64) {
        for (item, value) in self.row(slot).iter().enumerate() {
            value.set(f(item));
        }
    }
    pub(super) fn row(&self, slot: Slot) -> Row<'_> {
        &self.values[slot as usize * self.shape.items..][..self.shape.items]
    }
    fn private_row(&self, number: usize) -> Row<'_> {
        &self.private[number * self.shape.items..][..self.shape.items]
    }

    fn block(&mut self, steps: &'p [Step], lanes: Lanes<'_>) -> Result<(), Stop> {
        steps.iter().try_for_each(|step| self.step(step, lanes))
    }

    fn step(&mut self, step: &'p Step, lanes: Lanes<'_>) -> Result<(), Stop> {
        match step {
            Step::Compute { code, to, operands, before } => {
                let rows = operands.map(|slot| self.row(slot));
                let sound = compute(*code, lanes, self.row(*to), rows);
                self.observer.compute(*code, lanes.len());
                if O::CHECKS && !sound {
                    return self.integer_fault(*code, *operands, *before, lanes);
                }
                Ok(())
            }
            Step::Load { to, address } => {
                self.access(AccessMode::Load, address, lanes)?;
                let object = &self.objects[address.memory];
                map1(lanes, self.row(*to), self.row(address.offset), |offset| object.load(offset as usize));
                Ok(())
            }
            Step::Store { value, address } => {
                self.access(AccessMode::Store, address, lanes)?;
                self.change(address, [*value; 3], lanes, |object, offset, value, _| {
                    object.store(offset, value);
                    value
                });
                Ok(())
            }
            Step::Atomic { op, to, value, address } => {
                self.access(AccessMode::Atomic, address, lanes)?;
                self.change(address, [*to, *value, *value], lanes, |object, offset, value, _| {
                    object.update(*op, offset, value)
                });
                Ok(())
            }
            Step::CompareExchange { to, expected, value, address } => {
                self.access(AccessMode::Atomic, address, lanes)?;
                self.change(address, [*to, *value, *expected], lanes, |object, offset, value, expected| {
                    object.compare_exchange(offset, expected, value)
                });
                Ok(())
            }
            Step::PrivateGet { to, number, site } => {
                self.private_access(AccessMode::Load, *number, *site, lanes)?;
                map1(lanes, self.row(*to), self.private_row(*number), |value| value);
                Ok(())
            }
            Step::PrivateSet { number, value } => {
                self.private_access(AccessMode::Store, *number, None, lanes)?;
                map1(lanes, self.private_row(*number), self.row(*value), |value| value);
                Ok(())
            }
            Step::Shift { to, value, exchange, site } => self.shift(*to, *value, *exchange, *site, lanes),
            Step::Barrier { site } => {
                if lanes.len() < self.shape.items {
                    return Err(self.partial_barrier(site, lanes));
                }
                self.observer.barrier();
                Ok(())
            }
            Step::If { condition, body } => {
                let mut list = self.lists.pop().unwrap_or_default();
                let inside = self.filter(lanes, &mut list, self.row(*condition), |p| p != 0);
                let result = if inside.len() > 0 { self.block(body, inside) } else { Ok(()) };
                self.lists.push(list);
                result
            }
            Step::Loop { index, start, end, step, wide, states, body } => self.counted(
                Counted { index: *index, end: *end, step: *step, wide: *wide },
                *start,
                states,
                body,
                lanes,
            ),
        }
    }

    /// The lanes whose value of `row` satisfies `p`.
    fn filter<'l>(&self, lanes: Lanes<'_>, list: &'l mut Vec<u32>, row: Row<'_>, p: impl Fn(u64) -> bool) -> Lanes<'l> {
        list.clear();
        let mut count = 0;
        lanes.for_each(|t| count += usize::from(p(row[t].get())));
        if let Lanes::Range(start, end) = lanes
            && count == end - start
        {
            return Lanes::Range(start, end);
        }
        list.reserve(count);
        lanes.for_each(|t| {
            if p(row[t].get()) {
                list.push(t as u32);
            }
        });
        Lanes::from_list(list)
    }

    /// Changes an element for each lane, in order. The slots are those of the result, the value and the third operand.
    fn change(
        &mut self,
        address: &Address,
        slots: [Slot; 3],
        lanes: Lanes<'_>,
        f: impl Fn(&mut Object<'a>, usize, u64, u64) -> u64,
    ) {
        let items = self.shape.items;
        let row = |slot: Slot| &self.values[slot as usize * items..][..items];
        let ([to, value, third], offsets) = (slots.map(row), row(address.offset));
        let object = &mut self.objects[address.memory];
        lanes.for_each(|t| to[t].set(f(object, offsets[t].get() as usize, value[t].get(), third[t].get())));
    }

    fn counted(
        &mut self,
        counted: Counted,
        start: Slot,
        states: &'p [State],
        body: &'p [Step],
        lanes: Lanes<'_>,
    ) -> Result<(), Stop> {
        map1(lanes, self.row(counted.index), self.row(start), |start| start);
        for state in states {
            map1(lanes, self.row(state.state), self.row(state.initial), |initial| initial);
        }
        // States that take each other's place are moved through spare rows.
        let crossing = states.iter().any(|a| states.iter().any(|b| a.state != b.state && a.next == b.state));
        let copies = zeros(if crossing { states.len() * self.shape.items } else { 0 });
        let mut list = self.lists.pop().unwrap_or_default();
        // Lanes that have left a loop do not come back.
        let mut some_left = false;
        let result = loop {
            let (index, end) = (self.row(counted.index), self.row(counted.end));
            let stays = |t: usize| (index[t].get() as i64) < (end[t].get() as i64);
            if some_left {
                list.retain(|&t| stays(t as usize));
            } else if lanes.find(|t| !stays(t)).is_some() {
                some_left = true;
                list.clear();
                lanes.for_each(|t| list.extend(stays(t).then_some(t as u32)));
            }
            let inside = if some_left { Lanes::from_list(&list) } else { lanes };
            if inside.len() == 0 {
                break Ok(());
            }
            if let Err(stop) = self.block(body, inside).and_then(|()| self.advance(counted, states, &copies, inside)) {
                break Err(stop);
            }
        };
        self.lists.push(list);
        result
    }
    /// The end of a loop's turn.
    fn advance(&self, counted: Counted, states: &[State], copies: &[Cell<u64>], lanes: Lanes<'_>) -> Result<(), Stop> {
        if copies.is_empty() {
            for state in states.iter().filter(|state| state.state != state.next) {
                map1(lanes, self.row(state.state), self.row(state.next), |next| next);
            }
        } else {
            let copy = |number: usize| &copies[number * self.shape.items..][..self.shape.items];
            for (number, state) in states.iter().enumerate() {
                map1(lanes, copy(number), self.row(state.next), |next| next);
            }
            for (number, state) in states.iter().enumerate() {
                map1(lanes, self.row(state.state), copy(number), |next| next);
            }
        }
        let row = self.row(counted.index);
        map1(lanes, row, row, |index| (index as i64).wrapping_add(counted.step) as u64);
        let largest = if counted.wide { i64::MAX } else { i64::from(i32::MAX) };
        if O::CHECKS
            && let Some(item) = lanes.find(|t| row[t].get() as i64 > largest)
        {
            let kind = "integer overflow of a loop index".into();
            return Err(self.fault(Objection { kind, item, threads: None }, String::new(), None, None, None));
        }
        Ok(())
    }

    fn shift(
        &mut self,
        to: Slot,
        value: Slot,
        exchange: Exchange,
        site: Option<Site>,
        lanes: Lanes<'_>,
    ) -> Result<(), Stop> {
        let length = self.shape.vector_length;
        let source = |t: usize| -> Result<usize, i64> {
            let lane = t % length;
            match exchange {
                Exchange::Down(places) => Ok(if lane + places < length { t + places } else { t }),
                Exchange::Up(places) => Ok(if lane >= places { t - places } else { t }),
                Exchange::From(from) => {
                    let from = self.row(from)[t].get() as i64;
                    if (0..length as i64).contains(&from) { Ok(t - lane + from as usize) } else { Err(from) }
                }
            }
        };
        let values = self.row(value);
        let moved = lanes.try_for_each(|t| {
            match source(t) {
                Ok(from) if O::CHECKS && !lanes.contains(from) => {
                    let names = [t, from].map(|item| name_item(item, length));
                    let threads = format!("{} takes a value from {}, which does not take part", names[0], names[1]);
                    return Err((t, "lane exchange with an inactive lane".to_owned(), threads));
                }
                Ok(from) => self.spare[t].set(values[from].get()),
                Err(from) if O::CHECKS => {
                    let threads = format!("{} asks for lane {from}", name_item(t, length));
                    return Err((t, format!("lane exchange outside the vector of {length} lanes"), threads));
                }
                // A device gives a value of some lane; here the lane keeps its own.
                Err(_) => self.spare[t].set(values[t].get()),
            }
            Ok(())
        });
        if let Err((item, kind, threads)) = moved {
            let objection = Objection { kind, item, threads: Some(threads) };
            return Err(self.fault(objection, String::new(), None, None, site));
        }
        map1(lanes, self.row(to), &self.spare, |value| value);
        self.observer.exchange(lanes.len());
        Ok(())
    }
}

/// What steers a loop.
#[derive(Clone, Copy)]
struct Counted {
    index: Slot,
    end: Slot,
    step: i64,
    /// Whether the index has 64 bits.
    wide: bool,
}
