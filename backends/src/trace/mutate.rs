//! Faults put into programs on purpose: tests show that the checked target, or a law, finds each.

use super::ir::{Binary, Block, MemoryId, Op, Place, Program, Site, Statement, Type, Value};
use farro_portability::AtomicOp;

/// One change of a program. Numbers count places of that kind in the order of the text, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutation {
    /// Drops a barrier.
    RemoveBarrier(usize),
    /// Lets only the first work item reach a barrier.
    DivergeBarrier(usize),
    /// Turns an atomic update into a load, the operation, and a plain store.
    PlainAtomic(usize),
    /// Drops a store.
    DropStore(usize),
    /// Adds to the fastest index of a load, store or atomic update.
    ShiftIndex(usize, i64),
    /// Lets a loop make one turn more.
    EnlargeLoop(usize),
}

impl Mutation {
    /// All mutations of a program, with indices shifted up by one.
    pub fn all(program: &Program) -> Vec<Mutation> {
        let mut places = [0usize; 5];
        program.body.visit(&mut |statement| {
            let access = access_of(program, statement).is_some();
            let found = [
                matches!(statement, Statement::Barrier { .. }),
                plain_atomic(program, statement).is_some(),
                matches!(statement, Statement::Store { .. }),
                access,
                matches!(statement, Statement::Loop { .. }),
            ];
            for (count, found) in places.iter_mut().zip(found) {
                *count += usize::from(found);
            }
        });
        let [barriers, atomics, stores, accesses, loops] = places;
        let mut all = Vec::new();
        all.extend((0..barriers).flat_map(|n| [Mutation::RemoveBarrier(n), Mutation::DivergeBarrier(n)]));
        all.extend((0..atomics).map(Mutation::PlainAtomic));
        all.extend((0..stores).map(Mutation::DropStore));
        all.extend((0..accesses).map(|n| Mutation::ShiftIndex(n, 1)));
        all.extend((0..loops).map(Mutation::EnlargeLoop));
        all
    }

    /// The program with this change; none if it has no such place.
    pub fn apply(self, program: &Program) -> Option<Program> {
        let mut mutated = program.clone();
        let body = std::mem::take(&mut mutated.body);
        let mut editor = Editor { program: mutated, mutation: self, remaining: Some(self.number()) };
        let body = editor.block(body);
        if editor.remaining.is_none() { Some(Program { body, ..editor.program }) } else { None }
    }

    fn number(self) -> usize {
        match self {
            Mutation::RemoveBarrier(n)
            | Mutation::DivergeBarrier(n)
            | Mutation::PlainAtomic(n)
            | Mutation::DropStore(n)
            | Mutation::ShiftIndex(n, _)
            | Mutation::EnlargeLoop(n) => n,
        }
    }
}

/// The source positions of all barriers, in order.
pub fn barriers(program: &Program) -> Vec<Site> {
    let mut sites = Vec::new();
    program.body.visit(&mut |statement| {
        if let Statement::Barrier { site } = statement {
            sites.push(*site);
        }
    });
    sites
}

/// The memory that a statement accesses, and the offset.
fn access_of(program: &Program, statement: &Statement) -> Option<(MemoryId, Value)> {
    match statement {
        Statement::Store { memory, offset, .. } => Some((*memory, *offset)),
        Statement::Let { value, .. } => match program.ops[*value as usize] {
            Op::Load(memory, offset) | Op::Atomic(_, memory, offset, _) | Op::CompareExchange(memory, offset, ..) => {
                Some((memory, offset))
            }
            _ => None,
        },
        _ => None,
    }
}

/// What an atomic update does: operation, memory, offset, operand, and the value that receives the old element.
fn plain_atomic(program: &Program, statement: &Statement) -> Option<(AtomicOp, MemoryId, Value, Value, Value)> {
    let Statement::Let { value, .. } = statement else { return None };
    match program.ops[*value as usize] {
        Op::Atomic(op, memory, offset, operand) => Some((op, memory, offset, operand, *value)),
        _ => None,
    }
}

struct Editor {
    program: Program,
    mutation: Mutation,
    /// Places to pass before the one to change; none when it was changed.
    remaining: Option<usize>,
}

impl Editor {
    fn block(&mut self, block: Block) -> Block {
        let mut edited = Vec::with_capacity(block.0.len());
        for statement in block.0 {
            let here = self.applies(&statement) && self.reached();
            let mut statements = if here { self.change(statement) } else { vec![statement] };
            // Places inside a loop follow the loop itself.
            if let Some(Statement::If { body, .. } | Statement::Loop { body, .. }) = statements.last_mut()
                && self.remaining.is_some()
            {
                *body = self.block(std::mem::take(body));
            }
            edited.append(&mut statements);
        }
        Block(edited)
    }
    fn applies(&self, statement: &Statement) -> bool {
        match self.mutation {
            Mutation::RemoveBarrier(_) | Mutation::DivergeBarrier(_) => matches!(statement, Statement::Barrier { .. }),
            Mutation::PlainAtomic(_) => plain_atomic(&self.program, statement).is_some(),
            Mutation::DropStore(_) => matches!(statement, Statement::Store { .. }),
            Mutation::ShiftIndex(..) => access_of(&self.program, statement).is_some(),
            Mutation::EnlargeLoop(_) => matches!(statement, Statement::Loop { .. }),
        }
    }
    /// Whether the place to change is reached; counts down otherwise.
    fn reached(&mut self) -> bool {
        match self.remaining {
            Some(0) => {
                self.remaining = None;
                true
            }
            Some(n) => {
                self.remaining = Some(n - 1);
                false
            }
            None => false,
        }
    }
    fn define(&mut self, kind: Type, op: Op) -> Value {
        self.program.types.push(kind);
        self.program.ops.push(op);
        (self.program.ops.len() - 1) as Value
    }
    /// `value + by`, and the statement that computes it.
    fn plus(&mut self, value: Value, by: i64) -> (Value, Statement) {
        let kind = self.program.types[value as usize];
        let by = self.define(kind, Op::Constant(by as u64));
        let sum = self.define(kind, Op::Binary(Binary::Add, value, by));
        (sum, Statement::Let { value: sum, site: None, index: Vec::new() })
    }

    fn change(&mut self, statement: Statement) -> Vec<Statement> {
        match (self.mutation, statement) {
            (Mutation::DivergeBarrier(_), barrier) => {
                let item = self.define(Type::I32, Op::Special(super::ir::Special::WorkItem));
                let zero = self.define(Type::I32, Op::Constant(0));
                let condition = self.define(Type::Bool, Op::Binary(Binary::Eq, item, zero));
                let first = Statement::Let { value: condition, site: None, index: Vec::new() };
                vec![first, Statement::If { condition, body: Block(vec![barrier]) }]
            }
            (Mutation::PlainAtomic(_), statement) => self.plain(statement),
            (Mutation::ShiftIndex(_, by), statement) => self.shifted(statement, by),
            (Mutation::EnlargeLoop(_), Statement::Loop { index, start, end, step, carried, body }) => {
                let (end, sum) = self.plus(end, step as i64);
                vec![sum, Statement::Loop { index, start, end, step, carried, body }]
            }
            // What is left are the mutations that drop a statement.
            _ => Vec::new(),
        }
    }
    fn plain(&mut self, statement: Statement) -> Vec<Statement> {
        let parts = plain_atomic(&self.program, &statement);
        let (Some((op, memory, offset, operand, old)), Statement::Let { site: Some(site), index, .. }) =
            (parts, &statement)
        else {
            return vec![statement];
        };
        self.program.ops[old as usize] = Op::Load(memory, offset);
        let binary = match op {
            AtomicOp::Add => Some(Binary::Add),
            AtomicOp::Min => Some(Binary::Min),
            AtomicOp::Max => Some(Binary::Max),
            AtomicOp::Exchange => None,
        };
        let (index, site) = (index.clone(), *site);
        let mut statements = vec![statement];
        let value = match binary {
            Some(binary) => {
                let kind = self.program.types[old as usize];
                let value = self.define(kind, Op::Binary(binary, old, operand));
                statements.push(Statement::Let { value, site: None, index: Vec::new() });
                value
            }
            None => operand,
        };
        statements.push(Statement::Store { memory, offset, index, value, site });
        statements
    }
    fn shifted(&mut self, statement: Statement, by: i64) -> Vec<Statement> {
        let Some((memory, offset)) = access_of(&self.program, &statement) else { return vec![statement] };
        let fastest = match &self.program.memories[memory].place {
            Place::View { unit_dimension: Some(dimension), .. } => Some(*dimension),
            Place::View { .. } | Place::Scratch { .. } => None,
        };
        let (moved, sum) = self.plus(offset, by);
        let mut statements = vec![sum];
        let mut shift_index = |editor: &mut Self, index: &mut Vec<Value>| {
            let dimension = fastest.unwrap_or(index.len().saturating_sub(1));
            if let Some(value) = index.get_mut(dimension) {
                let (sum, definition) = editor.plus(*value, by);
                *value = sum;
                statements.push(definition);
            }
        };
        let statement = match statement {
            Statement::Store { memory, mut index, value, site, .. } => {
                shift_index(self, &mut index);
                Statement::Store { memory, offset: moved, index, value, site }
            }
            Statement::Let { value, site, mut index } => {
                shift_index(self, &mut index);
                let op = &mut self.program.ops[value as usize];
                if let Op::Load(_, place) | Op::Atomic(_, _, place, _) | Op::CompareExchange(_, place, ..) = op {
                    *place = moved;
                }
                Statement::Let { value, site, index }
            }
            other => other,
        };
        statements.push(statement);
        statements
    }
}
