//! The program that a kernel writes down when it is traced: typed values, structured control flow, memory spaces.

use farro_portability::{AccessKind, AtomicOp, ElementKind, LaunchInfo};
use std::panic::Location;

/// A value, numbered in the order of definition.
pub type Value = u32;
/// A memory object of a program.
pub type MemoryId = usize;
/// A source position.
pub type Site = &'static Location<'static>;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// Truth value.
    Bool,
}

impl Type {
    /// Whether the type is a floating-point type.
    pub fn is_real(self) -> bool {
        matches!(self, Type::F64 | Type::F32)
    }
}

impl From<ElementKind> for Type {
    fn from(kind: ElementKind) -> Self {
        match kind {
            ElementKind::F64 => Type::F64,
            ElementKind::F32 => Type::F32,
            ElementKind::I32 => Type::I32,
            ElementKind::I64 => Type::I64,
        }
    }
}

/// Operations of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Lt,
    Le,
    Eq,
    And,
    Or,
}

/// Operations of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Sqrt,
    Abs,
    Not,
}

/// Numbers that the launch provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// The team's rank in the league.
    LeagueRank,
    /// Number of teams.
    LeagueSize,
    /// The work item's number in the team: thread times vector length plus lane.
    WorkItem,
}

/// From where a lane takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneShift {
    /// That many lanes higher.
    Down(usize),
    /// That many lanes lower.
    Up(usize),
    /// The lane of that number.
    From(Value),
}

/// How a value comes about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant, as bits of its type.
    Constant(u64),
    /// A scalar parameter, by number.
    Parameter(usize),
    /// A number that the launch provides.
    Special(Special),
    /// One operand.
    Unary(Unary, Value),
    /// Two operands.
    Binary(Binary, Value, Value),
    /// `a * b + c`.
    MulAdd(Value, Value, Value),
    /// `if p { a } else { b }`.
    Select(Value, Value, Value),
    /// Conversion to the value's type.
    Convert(Value),
    /// Bound by a loop: its index, or a carried state inside or after it.
    LoopBound,
    /// Reads memory.
    Load(MemoryId, Value),
    /// Updates memory atomically; the old element.
    Atomic(AtomicOp, MemoryId, Value, Value),
    /// Replaces an element if it equals the third operand; the old element.
    CompareExchange(MemoryId, Value, Value, Value),
    /// Reads a private slot.
    PrivateGet(usize),
    /// Exchanges a value between the lanes of a thread.
    Shift(Value, LaneShift),
}

impl Op {
    /// Whether the value depends on its operands alone.
    pub fn is_pure(&self) -> bool {
        !matches!(
            self,
            Op::LoopBound | Op::Load(..) | Op::Atomic(..) | Op::CompareExchange(..) | Op::PrivateGet(_) | Op::Shift(..)
        )
    }
    /// The operands.
    pub fn operands(&self) -> Vec<Value> {
        match *self {
            Op::Constant(_) | Op::Parameter(_) | Op::Special(_) | Op::LoopBound | Op::PrivateGet(_) => vec![],
            Op::Unary(_, a) | Op::Convert(a) | Op::Load(_, a) => vec![a],
            Op::Binary(_, a, b) | Op::Atomic(_, _, a, b) => vec![a, b],
            Op::MulAdd(a, b, c) | Op::Select(a, b, c) | Op::CompareExchange(_, a, b, c) => vec![a, b, c],
            Op::Shift(a, LaneShift::From(b)) => vec![a, b],
            Op::Shift(a, _) => vec![a],
        }
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Defines a value.
    Let {
        /// The value.
        value: Value,
        /// Where in the source.
        site: Option<Site>,
        /// The multi-index of a memory access.
        index: Vec<Value>,
    },
    /// Writes memory.
    Store {
        /// The memory.
        memory: MemoryId,
        /// The offset in elements.
        offset: Value,
        /// The multi-index.
        index: Vec<Value>,
        /// What is written.
        value: Value,
        /// Where in the source.
        site: Site,
    },
    /// Writes a private slot.
    PrivateSet {
        /// The slot.
        slot: usize,
        /// What is written.
        value: Value,
    },
    /// Waits for the team.
    Barrier {
        /// Where in the source.
        site: Site,
    },
    /// Runs a block where a condition holds.
    If {
        /// The condition.
        condition: Value,
        /// The block.
        body: Block,
    },
    /// Runs a block for `index = start, start + step, …` below `end`.
    Loop {
        /// The index.
        index: Value,
        /// First index.
        start: Value,
        /// Bound.
        end: Value,
        /// Step, positive.
        step: usize,
        /// Values carried from turn to turn.
        carried: Vec<Carried>,
        /// The block.
        body: Block,
    },
    /// A remark for readers of printed text.
    Remark {
        /// The text.
        text: &'static str,
        /// Where in the source.
        site: Site,
    },
}

/// A value that a loop carries.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The value before the loop.
    pub initial: Value,
    /// Its name inside the body.
    pub inside: Value,
    /// The value at the end of the body.
    pub next: Value,
    /// Its name after the loop.
    pub after: Value,
}

/// Statements in order.
#[derive(Clone, Debug, Default)]
pub struct Block(pub Vec<Statement>);

/// A scalar parameter of the compiled function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// Where its value comes from.
    pub source: Source,
}

/// Where the value of a scalar parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Argument of that number.
    Scalar(usize),
    /// An extent of a view argument.
    Extent(usize, usize),
    /// A stride of a view argument.
    Stride(usize, usize),
}

/// Where a memory object lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A view: argument number, extents as values, access.
    View {
        /// Number of the argument.
        argument: usize,
        /// Extents, as values of the program.
        extents: Vec<Value>,
        /// Strides, as values of the program.
        strides: Vec<Value>,
        /// The dimension whose stride is the constant 1.
        unit_dimension: Option<usize>,
        /// What the kernel may do with it.
        access: AccessKind,
    },
    /// Team scratch: level, first byte, number of elements.
    Scratch {
        /// Scratch level.
        level: usize,
        /// First byte within the level.
        first_byte: usize,
        /// Number of elements.
        len: usize,
        /// Extents, the last index fastest.
        extents: Vec<usize>,
    },
}

/// A memory object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub kind: ElementKind,
    /// Where it lives.
    pub place: Place,
}

/// A traced kernel.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel's name.
    pub name: String,
    /// Arithmetic type of reals.
    pub real: Type,
    /// Threads of a team.
    pub team_size: usize,
    /// Lanes of a thread.
    pub vector_length: usize,
    /// Launch bounds.
    pub bounds: Option<farro_portability::Bounds>,
    /// Scalar parameters.
    pub parameters: Vec<Parameter>,
    /// Memory objects.
    pub memories: Vec<Memory>,
    /// Type of each value.
    pub types: Vec<Type>,
    /// Definition of each value.
    pub ops: Vec<Op>,
    /// The body.
    pub body: Block,
    /// Bytes of scratch, levels 0 and 1.
    pub scratch_bytes: [usize; 2],
    /// Private slots of a work item.
    pub private_slots: usize,
    /// Whether lanes exchange values.
    pub exchanges_lanes: bool,
}

impl Program {
    /// What the program needs of a space.
    pub fn launch_info(&self) -> LaunchInfo {
        LaunchInfo {
            scratch_bytes: self.scratch_bytes,
            private_slots: self.private_slots,
            exchanges_lanes: self.exchanges_lanes,
        }
    }
    /// Work items of a team.
    pub fn work_items(&self) -> usize {
        self.team_size * self.vector_length
    }
    /// The constant that a value is, as an integer.
    pub fn constant(&self, value: Value) -> Option<i64> {
        match self.ops[value as usize] {
            Op::Constant(bits) if !self.types[value as usize].is_real() => Some(bits as i64),
            _ => None,
        }
    }
}

impl Block {
    /// Visits all statements, outer ones first.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&'a Statement)) {
        for statement in &self.0 {
            f(statement);
            if let Statement::If { body, .. } | Statement::Loop { body, .. } = statement {
                body.visit(f);
            }
        }
    }
    /// Visits all blocks and lets `f` change them, inner ones first.
    pub fn visit_mut(&mut self, f: &mut impl FnMut(&mut Vec<Statement>)) {
        for statement in &mut self.0 {
            if let Statement::If { body, .. } | Statement::Loop { body, .. } = statement {
                body.visit_mut(f);
            }
        }
        f(&mut self.0);
    }
}
