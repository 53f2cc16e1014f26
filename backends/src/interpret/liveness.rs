//! Which values a program needs, and until when, so that they share storage.

use crate::trace::ir::{Block, Carried, Op, Program, Statement, Value};

/// Whether a value is needed, and the last position that uses it.
pub(super) struct Liveness {
    pub needed: Vec<bool>,
    /// Position of the last use; positions number statements, and the ends of loops, in order.
    pub last_use: Vec<u32>,
    /// Positions used.
    pub positions: u32,
}

impl Liveness {
    /// Analyses `program`. With `all_accesses`, loads whose result is unused and the multi-indices of accesses count
    /// as needed.
    pub fn of(program: &Program, all_accesses: bool) -> Self {
        let needed = needed_values(program, all_accesses);
        let count = program.ops.len();
        let mut uses = Uses {
            program,
            needed: &needed,
            all_accesses,
            last_use: vec![0; count],
            defined: vec![0; count],
            loops: Vec::new(),
            position: 0,
        };
        uses.block(&program.body);
        let (last_use, positions) = (uses.last_use, uses.position + 1);
        Liveness { needed, last_use, positions }
    }
}

/// Whether a definition must be executed although nothing may use its value.
pub(super) fn acts(op: &Op, all_accesses: bool) -> bool {
    match op {
        Op::Atomic(..) | Op::CompareExchange(..) => true,
        Op::Load(..) | Op::PrivateGet(_) | Op::Shift(..) => all_accesses,
        _ => false,
    }
}

fn needed_values(program: &Program, all_accesses: bool) -> Vec<bool> {
    let mut needed = vec![false; program.ops.len()];
    let mut work: Vec<Value> = Vec::new();
    let mut carried: Vec<Option<Carried>> = vec![None; program.ops.len()];
    let mut indices: Vec<&[Value]> = vec![&[]; program.ops.len()];
    program.body.visit(&mut |statement| match statement {
        Statement::Let { value, index, .. } => {
            if all_accesses {
                indices[*value as usize] = index;
            }
            if acts(&program.ops[*value as usize], all_accesses) {
                work.push(*value);
            }
        }
        Statement::Store { offset, index, value, .. } => {
            work.extend([offset, value]);
            if all_accesses {
                work.extend(index);
            }
        }
        Statement::PrivateSet { value, .. } => work.push(*value),
        Statement::If { condition, .. } => work.push(*condition),
        Statement::Loop { start, end, carried: states, .. } => {
            work.extend([start, end]);
            for state in states {
                carried[state.inside as usize] = Some(*state);
                carried[state.after as usize] = Some(*state);
            }
        }
        Statement::Barrier { .. } | Statement::Remark { .. } => {}
    });
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut needed[value as usize], true) {
            continue;
        }
        work.extend(program.ops[value as usize].operands());
        work.extend(indices[value as usize]);
        if let Some(state) = carried[value as usize] {
            work.extend([state.initial, state.inside, state.next]);
        }
    }
    needed
}

struct OpenLoop {
    start: u32,
    /// Values from outside that the body uses in each turn.
    outer: Vec<Value>,
}

struct Uses<'a> {
    program: &'a Program,
    needed: &'a [bool],
    all_accesses: bool,
    last_use: Vec<u32>,
    defined: Vec<u32>,
    loops: Vec<OpenLoop>,
    position: u32,
}

impl Uses<'_> {
    fn define(&mut self, value: Value) {
        self.defined[value as usize] = self.position;
        self.last_use[value as usize] = self.last_use[value as usize].max(self.position);
    }
    fn use_value(&mut self, value: Value) {
        let (defined, position) = (self.defined[value as usize], self.position);
        self.last_use[value as usize] = position;
        if let Some(outermost) = self.loops.iter_mut().find(|open| defined < open.start) {
            outermost.outer.push(value);
        }
    }
    fn block(&mut self, block: &Block) {
        for statement in &block.0 {
            self.position += 1;
            self.statement(statement);
        }
    }
    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let { value, index, .. } => {
                let op = &self.program.ops[*value as usize];
                if self.needed[*value as usize] {
                    op.operands().into_iter().for_each(|operand| self.use_value(operand));
                    if self.all_accesses {
                        index.iter().for_each(|&i| self.use_value(i));
                    }
                    self.define(*value);
                }
            }
            Statement::Store { offset, index, value, .. } => {
                self.use_value(*offset);
                self.use_value(*value);
                if self.all_accesses {
                    index.iter().for_each(|&i| self.use_value(i));
                }
            }
            Statement::PrivateSet { value, .. } => self.use_value(*value),
            Statement::If { condition, body } => {
                self.use_value(*condition);
                self.block(body);
            }
            Statement::Loop { index, start, end, carried, body, .. } => {
                self.use_value(*start);
                let states = || carried.iter().filter(|state| self.needed[state.inside as usize]);
                let states: Vec<Carried> = states().copied().collect();
                states.iter().for_each(|state| self.use_value(state.initial));
                self.define(*index);
                states.iter().for_each(|state| self.define(state.inside));
                self.loops.push(OpenLoop { start: self.position, outer: Vec::new() });
                self.block(body);
                self.position += 1;
                self.use_value(*end);
                self.use_value(*index);
                for state in &states {
                    self.use_value(state.next);
                    self.use_value(state.inside);
                    self.define(state.after);
                }
                let position = self.position;
                if let Some(open) = self.loops.pop() {
                    // The loop itself defines its index and states at its start, so these are not outer values.
                    for value in open.outer {
                        self.last_use[value as usize] = self.last_use[value as usize].max(position);
                    }
                }
            }
            Statement::Barrier { .. } | Statement::Remark { .. } => {}
        }
    }
}
