//! Offsets into team scratch with 32 bits: scratch is small, and 64-bit multiplications are not free on a device.

use super::super::ir::{Binary, Op, Place, Program, Statement, Type, Value};
use std::collections::HashMap;
use std::mem;

pub(super) fn narrow_scratch_offsets(program: &mut Program) {
    let mut narrowed = Narrowed { program, twins: HashMap::new() };
    let mut body = mem::take(&mut narrowed.program.body);
    // The offsets first, so that twins exist before their places are looked for.
    let mut offsets = Vec::new();
    body.visit(&mut |statement| offsets.extend(narrowed.scratch_offset(statement)));
    for offset in offsets {
        narrowed.twin(offset);
    }
    body.visit_mut(&mut |statements| narrowed.place(statements));
    narrowed.program.body = body;
}

struct Narrowed<'a> {
    program: &'a mut Program,
    /// The 32-bit twin of a 64-bit value, or that it has none.
    twins: HashMap<Value, Option<Value>>,
}

impl Narrowed<'_> {
    fn is_small_scratch(&self, memory: usize) -> bool {
        match self.program.memories[memory].place {
            Place::Scratch { len, .. } => i32::try_from(len).is_ok(),
            Place::View { .. } => false,
        }
    }
    fn scratch_offset(&self, statement: &Statement) -> Option<Value> {
        let (memory, offset) = match statement {
            Statement::Store { memory, offset, .. } => (*memory, *offset),
            Statement::Let { value, .. } => match self.program.ops[*value as usize] {
                Op::Load(memory, offset) | Op::Atomic(_, memory, offset, _) => (memory, offset),
                Op::CompareExchange(memory, offset, ..) => (memory, offset),
                _ => return None,
            },
            _ => return None,
        };
        let wide = self.program.types[offset as usize] == Type::I64;
        (wide && self.is_small_scratch(memory)).then_some(offset)
    }
    fn twin(&mut self, value: Value) -> Option<Value> {
        if self.program.types[value as usize] == Type::I32 {
            return Some(value);
        }
        if let Some(known) = self.twins.get(&value) {
            return *known;
        }
        let op = match self.program.ops[value as usize] {
            Op::Convert(inner) if self.program.types[inner as usize] == Type::I32 => {
                self.twins.insert(value, Some(inner));
                return Some(inner);
            }
            Op::Constant(bits) => i32::try_from(bits as i64).ok().map(|_| Op::Constant(bits)),
            Op::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul), a, b) => {
                self.twin(a).zip(self.twin(b)).map(|(a, b)| Op::Binary(op, a, b))
            }
            Op::Select(p, a, b) => self.twin(a).zip(self.twin(b)).map(|(a, b)| Op::Select(p, a, b)),
            _ => None,
        };
        let twin = op.map(|op| {
            self.program.types.push(Type::I32);
            self.program.ops.push(op);
            (self.program.types.len() - 1) as Value
        });
        self.twins.insert(value, twin);
        twin
    }
    /// Puts each twin behind its 64-bit value and uses it.
    fn place(&mut self, statements: &mut Vec<Statement>) {
        for mut statement in mem::take(statements) {
            let twin = self.scratch_offset(&statement).and_then(|offset| self.twins.get(&offset).copied().flatten());
            if let Some(twin) = twin {
                self.replace_offset(&mut statement, twin);
            }
            let defined = match &statement {
                Statement::Let { value, .. } => Some(*value),
                _ => None,
            };
            statements.push(statement);
            let Some(wide) = defined else { continue };
            let Some(Some(twin)) = self.twins.get(&wide).copied() else { continue };
            // The twin of a conversion is its operand, which has a place.
            if !matches!(self.program.ops[wide as usize], Op::Convert(_)) {
                statements.push(Statement::Let { value: twin, site: None, index: Vec::new() });
            }
        }
    }
    fn replace_offset(&mut self, statement: &mut Statement, twin: Value) {
        match statement {
            Statement::Store { offset, .. } => *offset = twin,
            Statement::Let { value, .. } => match &mut self.program.ops[*value as usize] {
                Op::Load(_, offset) | Op::Atomic(_, _, offset, _) | Op::CompareExchange(_, offset, ..) => {
                    *offset = twin
                }
                _ => {}
            },
            _ => {}
        }
    }
}
