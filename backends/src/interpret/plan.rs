//! A program prepared for interpretation: unused values dropped, the others given slots that they share over time.

use super::liveness::{Liveness, acts};
use crate::trace::ir::{Binary, Block, LaneShift, MemoryId, Op, Program, Site, Special, Statement, Type, Unary, Value};
use farro_portability::{AtomicOp, LaunchError};

/// Storage of one value for all work items of a team.
pub(super) type Slot = u32;

/// What a computation does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    Unary(Unary, Type),
    /// The type is that of the operands.
    Binary(Binary, Type),
    MulAdd(Type),
    Select,
    Convert {
        from: Type,
        to: Type,
    },
}

/// Where a memory access goes.
#[derive(Debug)]
pub(super) struct Address {
    pub memory: MemoryId,
    pub offset: Slot,
    pub index: Box<[Slot]>,
    pub site: Option<Site>,
}

/// From where a lane takes a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exchange {
    Down(usize),
    Up(usize),
    From(Slot),
}

/// A state that a loop carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub initial: Slot,
    pub state: Slot,
    pub next: Slot,
}

/// One step of the interpreter.
#[derive(Debug)]
pub(super) enum Step {
    Compute { code: Code, to: Slot, operands: [Slot; 3], before: Option<Site> },
    Load { to: Slot, address: Address },
    Store { value: Slot, address: Address },
    Atomic { op: AtomicOp, to: Slot, value: Slot, address: Address },
    CompareExchange { to: Slot, expected: Slot, value: Slot, address: Address },
    PrivateGet { to: Slot, number: usize, site: Option<Site> },
    PrivateSet { number: usize, value: Slot },
    Shift { to: Slot, value: Slot, exchange: Exchange, site: Option<Site> },
    Barrier { site: Site },
    If { condition: Slot, body: Vec<Step> },
    Loop { index: Slot, start: Slot, end: Slot, step: i64, wide: bool, states: Vec<State>, body: Vec<Step> },
}

/// A prepared program.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) slots: usize,
    /// Slots of constants and their bits.
    pub(super) constants: Vec<(Slot, u64)>,
    /// Slots of scalar parameters and their numbers.
    pub(super) parameters: Vec<(Slot, usize)>,
    pub(super) specials: Vec<(Slot, Special)>,
    pub(super) body: Vec<Step>,
}

impl Plan {
    /// Prepares a program. With `all_accesses`, loads whose result is unused are executed too.
    ///
    /// # Errors
    /// When the program refers to values or memory that it does not have.
    pub fn new(program: &Program, all_accesses: bool) -> Result<Self, LaunchError> {
        check_references(program)?;
        let liveness = Liveness::of(program, all_accesses);
        let plan = Plan { slots: 0, constants: vec![], parameters: vec![], specials: vec![], body: vec![] };
        let mut planner = Planner {
            program,
            all_accesses,
            place: vec![None; program.ops.len()],
            expiring: vec![Vec::new(); liveness.positions as usize + 1],
            liveness,
            plan,
            free: Vec::new(),
            position: 0,
            pending: Vec::new(),
        };
        let body = planner.block(&program.body);
        Ok(Plan { body, ..planner.plan })
    }
}

/// Refuses programs that a faulty transformation left inconsistent.
fn check_references(program: &Program) -> Result<(), LaunchError> {
    let (values, memories) = (program.ops.len(), program.memories.len());
    let mut sound = program.types.len() == values;
    let value_ok = |value: &Value| (*value as usize) < values;
    for op in &program.ops {
        sound &= op.operands().iter().all(value_ok);
        sound &= match op {
            Op::Load(memory, _) | Op::Atomic(_, memory, ..) | Op::CompareExchange(memory, ..) => *memory < memories,
            Op::Parameter(number) => *number < program.parameters.len(),
            Op::PrivateGet(slot) => *slot < program.private_slots,
            _ => true,
        };
    }
    program.body.visit(&mut |statement| {
        sound &= match statement {
            Statement::Let { value, index, .. } => value_ok(value) && index.iter().all(value_ok),
            Statement::Store { memory, offset, index, value, .. } => {
                *memory < memories && value_ok(offset) && value_ok(value) && index.iter().all(value_ok)
            }
            Statement::PrivateSet { slot, value } => *slot < program.private_slots && value_ok(value),
            Statement::If { condition, .. } => value_ok(condition),
            Statement::Loop { index, start, end, step, carried, .. } => {
                let states = |c: &crate::trace::ir::Carried| [c.initial, c.inside, c.next, c.after];
                *step > 0
                    && [index, start, end].into_iter().all(value_ok)
                    && carried.iter().flat_map(states).all(|value| value_ok(&value))
            }
            Statement::Barrier { .. } | Statement::Remark { .. } => true,
        };
    });
    if sound {
        return Ok(());
    }
    let message = "the program refers to values or memory that it does not have".into();
    Err(LaunchError::Kernel { kernel: program.name.clone(), site: None, message })
}

struct Planner<'a> {
    program: &'a Program,
    all_accesses: bool,
    liveness: Liveness,
    plan: Plan,
    place: Vec<Option<Slot>>,
    free: Vec<Slot>,
    /// Slots whose value is used for the last time at a position.
    expiring: Vec<Vec<Slot>>,
    position: u32,
    /// Computations that still lack a source position, as places of steps that follow.
    pending: Vec<usize>,
}

impl Planner<'_> {
    fn new_slot(&mut self) -> Slot {
        self.plan.slots += 1;
        (self.plan.slots - 1) as Slot
    }
    /// The slot of a value that was defined, or that needs no definition.
    fn slot(&mut self, value: Value) -> Slot {
        if let Some(slot) = self.place[value as usize] {
            return slot;
        }
        let slot = self.new_slot();
        self.place[value as usize] = Some(slot);
        match self.program.ops[value as usize] {
            Op::Constant(bits) => self.plan.constants.push((slot, bits)),
            Op::Parameter(number) => self.plan.parameters.push((slot, number)),
            Op::Special(special) => self.plan.specials.push((slot, special)),
            // A value that a transformation left without definition reads as zero.
            _ => self.plan.constants.push((slot, 0)),
        }
        slot
    }
    fn define(&mut self, value: Value) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| self.new_slot());
        self.place[value as usize] = Some(slot);
        let last = self.liveness.last_use[value as usize].max(self.position);
        self.expiring[last as usize].push(slot);
        slot
    }
    fn release(&mut self) {
        let expired = std::mem::take(&mut self.expiring[self.position as usize]);
        self.free.extend(expired);
    }
    fn address(&mut self, memory: MemoryId, offset: Value, index: &[Value], site: Option<Site>) -> Address {
        let offset = self.slot(offset);
        let index = if self.all_accesses { index.iter().map(|&i| self.slot(i)).collect() } else { Box::default() };
        Address { memory, offset, index, site }
    }

    fn block(&mut self, block: &Block) -> Vec<Step> {
        let mut steps = Vec::with_capacity(block.0.len());
        for statement in &block.0 {
            self.position += 1;
            if let Some(step) = self.statement(statement) {
                self.locate(&mut steps, &step);
                steps.push(step);
                if matches!(steps.last(), Some(Step::Compute { before: None, .. })) {
                    self.pending.push(steps.len() - 1);
                }
            }
            self.release();
        }
        self.pending.clear();
        steps
    }
    /// Tells the computations before `step` its source position, since they have none of their own.
    fn locate(&mut self, steps: &mut [Step], step: &Step) {
        let site = match step {
            Step::Load { address, .. }
            | Step::Store { address, .. }
            | Step::Atomic { address, .. }
            | Step::CompareExchange { address, .. } => address.site,
            Step::Barrier { site } => Some(*site),
            Step::Shift { site, .. } | Step::PrivateGet { site, .. } => *site,
            // Positions inside nested blocks belong to other steps.
            Step::If { .. } | Step::Loop { .. } => {
                self.pending.clear();
                None
            }
            Step::Compute { .. } | Step::PrivateSet { .. } => None,
        };
        if site.is_some() {
            for place in self.pending.drain(..) {
                if let Some(Step::Compute { before, .. }) = steps.get_mut(place) {
                    *before = site;
                }
            }
        }
    }

    fn statement(&mut self, statement: &Statement) -> Option<Step> {
        match statement {
            Statement::Let { value, site, index } => {
                let needed = self.liveness.needed[*value as usize];
                let op = &self.program.ops[*value as usize];
                (needed || acts(op, self.all_accesses)).then(|| self.definition(*value, *site, index)).flatten()
            }
            Statement::Store { memory, offset, index, value, site } => {
                let address = self.address(*memory, *offset, index, Some(*site));
                Some(Step::Store { value: self.slot(*value), address })
            }
            Statement::PrivateSet { slot, value } => Some(Step::PrivateSet { number: *slot, value: self.slot(*value) }),
            Statement::Barrier { site } => Some(Step::Barrier { site }),
            Statement::If { condition, body } => {
                let condition = self.slot(*condition);
                // The condition is read before the body runs.
                self.release();
                let outer = std::mem::take(&mut self.pending);
                let body = self.block(body);
                self.pending = outer;
                (!body.is_empty()).then_some(Step::If { condition, body })
            }
            Statement::Loop { index, start, end, step, carried, body } => {
                let (start_slot, end_slot) = (self.slot(*start), self.slot(*end));
                let needed: Vec<_> =
                    carried.iter().filter(|state| self.liveness.needed[state.inside as usize]).collect();
                let initials: Vec<Slot> = needed.iter().map(|state| self.slot(state.initial)).collect();
                // New slots come before old ones are released: states must not overwrite each other's initial value.
                let index_slot = self.define(*index);
                let states: Vec<Slot> =
                    needed.iter().map(|state| self.define_state(state.inside, state.after)).collect();
                self.release();
                let outer = std::mem::take(&mut self.pending);
                let body = self.block(body);
                self.pending = outer;
                self.position += 1;
                let nexts: Vec<Slot> = needed.iter().map(|state| self.slot(state.next)).collect();
                let states: Vec<State> = (0..needed.len())
                    .map(|i| State { initial: initials[i], state: states[i], next: nexts[i] })
                    .collect();
                let useful = !body.is_empty() || !states.is_empty();
                let wide = self.program.types[*index as usize] == Type::I64;
                let (start, end, step) = (start_slot, end_slot, *step as i64);
                useful.then_some(Step::Loop { index: index_slot, start, end, step, wide, states, body })
            }
            Statement::Remark { .. } => None,
        }
    }
    /// One slot for a state inside and after its loop.
    fn define_state(&mut self, inside: Value, after: Value) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| self.new_slot());
        self.place[inside as usize] = Some(slot);
        self.place[after as usize] = Some(slot);
        let last_use = &self.liveness.last_use;
        let last = last_use[inside as usize].max(last_use[after as usize]).max(self.position);
        self.expiring[last as usize].push(slot);
        slot
    }

    fn definition(&mut self, value: Value, site: Option<Site>, index: &[Value]) -> Option<Step> {
        let (program, kind) = (self.program, self.program.types[value as usize]);
        let type_of = |value: Value| program.types[value as usize];
        let (code, operands) = match program.ops[value as usize] {
            Op::Unary(op, a) => (Code::Unary(op, type_of(a)), [a, a, a]),
            Op::Binary(op, a, b) => (Code::Binary(op, type_of(a)), [a, b, b]),
            Op::MulAdd(a, b, c) => (Code::MulAdd(kind), [a, b, c]),
            Op::Select(p, a, b) => (Code::Select, [p, a, b]),
            Op::Convert(a) => (Code::Convert { from: type_of(a), to: kind }, [a, a, a]),
            Op::Load(memory, offset) => {
                let address = self.address(memory, offset, index, site);
                return Some(Step::Load { to: self.define(value), address });
            }
            Op::Atomic(op, memory, offset, operand) => {
                let address = self.address(memory, offset, index, site);
                let operand = self.slot(operand);
                return Some(Step::Atomic { op, to: self.define(value), value: operand, address });
            }
            Op::CompareExchange(memory, offset, expected, operand) => {
                let address = self.address(memory, offset, index, site);
                let (expected, operand) = (self.slot(expected), self.slot(operand));
                return Some(Step::CompareExchange { to: self.define(value), expected, value: operand, address });
            }
            Op::PrivateGet(number) => return Some(Step::PrivateGet { to: self.define(value), number, site }),
            Op::Shift(operand, shift) => {
                let operand = self.slot(operand);
                let exchange = match shift {
                    LaneShift::Down(places) => Exchange::Down(places),
                    LaneShift::Up(places) => Exchange::Up(places),
                    LaneShift::From(lane) => Exchange::From(self.slot(lane)),
                };
                return Some(Step::Shift { to: self.define(value), value: operand, exchange, site });
            }
            Op::Constant(_) | Op::Parameter(_) | Op::Special(_) | Op::LoopBound => {
                self.slot(value);
                return None;
            }
        };
        let operands = operands.map(|operand| self.slot(operand));
        // Operands keep their slots until the result is there, so that a fault can still show them.
        Some(Step::Compute { code, to: self.define(value), operands, before: site })
    }
}
