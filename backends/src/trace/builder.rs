//! Builds a program while a kernel is traced: folding, common subexpressions, uniformity.

use super::ir::{
    Binary, Block, Carried, LaneShift, Memory, MemoryId, Op, Parameter, Place, Program, Site, Special, Statement, Type,
    Unary, Value,
};
use farro_portability::{ElementKind, LaunchError};
use std::cell::RefCell;
use std::collections::HashMap;

/// Who executes the code that is being traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Team,
    Thread,
    /// An index of a range: which work item runs it is the target's choice.
    Lane,
    /// A work item of a phase: it has private memory, and neighbours in its vector.
    WorkItem,
}

/// State of a trace.
pub(super) struct Builder {
    pub program: Program,
    /// Whether a value may differ between work items of a team.
    varying: Vec<bool>,
    /// Open blocks, innermost last.
    blocks: Vec<Vec<Statement>>,
    /// Values that open blocks computed, for reuse.
    known: Vec<HashMap<(Type, Op), Value>>,
    pub level: Level,
    /// Open branches and loops whose condition varies.
    divergence: usize,
    /// Open loops.
    pub loops: usize,
    error: Option<LaunchError>,
    reductions: HashMap<(Type, usize, usize), MemoryId>,
}

thread_local! {
    static BUILDER: RefCell<Option<Builder>> = const { RefCell::new(None) };
}

/// Access to the builder of the trace that runs on this thread.
///
/// # Panics
/// Outside a trace: traced values exist only inside the kernel that is traced.
pub(super) fn with<R>(f: impl FnOnce(&mut Builder) -> R) -> R {
    BUILDER.with_borrow_mut(|builder| f(builder.as_mut().expect("a traced value was used outside its kernel")))
}

/// Removes the builder when a trace ends, also by a panic.
pub(super) struct TraceGuard;

impl TraceGuard {
    pub fn start(program: Program) -> Result<Self, LaunchError> {
        BUILDER.with_borrow_mut(|slot| {
            if slot.is_some() {
                return Err(LaunchError::Kernel {
                    kernel: program.name,
                    site: None,
                    message: "a kernel was launched inside a kernel".into(),
                });
            }
            *slot = Some(Builder {
                program,
                varying: Vec::new(),
                blocks: vec![Vec::new()],
                known: vec![HashMap::new()],
                level: Level::Team,
                divergence: 0,
                loops: 0,
                error: None,
                reductions: HashMap::new(),
            });
            Ok(TraceGuard)
        })
    }
    pub fn finish(self) -> Result<Program, LaunchError> {
        let builder = BUILDER.with_borrow_mut(Option::take).expect("the guard owns the trace");
        if let Some(error) = builder.error {
            return Err(error);
        }
        let mut program = builder.program;
        program.body = Block(builder.blocks.into_iter().next().unwrap_or_default());
        Ok(program)
    }
}

impl Drop for TraceGuard {
    fn drop(&mut self) {
        BUILDER.with_borrow_mut(|slot| *slot = None);
    }
}

/// What a loop must restore when its body is traced again.
pub(super) struct Snapshot {
    scratch_bytes: [usize; 2],
    private_slots: usize,
    memories: usize,
    values: usize,
    reductions: HashMap<(Type, usize, usize), MemoryId>,
}

impl Builder {
    /// Records the first misuse of the language; the trace goes on.
    pub fn refuse(&mut self, site: Option<Site>, message: impl Into<String>) {
        if self.error.is_none() {
            self.error = Some(LaunchError::Kernel {
                kernel: self.program.name.clone(),
                site: site.map(ToString::to_string),
                message: message.into(),
            });
        }
    }
    pub fn kind(&self, value: Value) -> Type {
        self.program.types[value as usize]
    }
    pub fn is_varying(&self, value: Value) -> bool {
        self.varying[value as usize]
    }
    fn push(&mut self, statement: Statement) {
        self.blocks.last_mut().expect("a block is open").push(statement);
    }
    fn define(&mut self, kind: Type, op: Op, varying: bool) -> Value {
        let value = self.program.types.len() as Value;
        self.program.types.push(kind);
        self.program.ops.push(op);
        self.varying.push(varying);
        value
    }
    /// A pure value: folded, found again, or new.
    pub fn pure(&mut self, kind: Type, op: Op) -> Value {
        if let Some(folded) = self.fold(kind, &op) {
            return folded;
        }
        let key = (kind, op);
        if let Some(&value) = self.known.iter().rev().find_map(|known| known.get(&key)) {
            return value;
        }
        let (kind, op) = key.clone();
        let varying = match op {
            Op::Special(Special::WorkItem) => self.program.work_items() > 1,
            _ => op.operands().iter().any(|&operand| self.is_varying(operand)),
        };
        let outermost = matches!(op, Op::Constant(_) | Op::Parameter(_) | Op::Special(_));
        let value = self.define(kind, op, varying);
        // Constants and parameters have no place of their own in the text.
        if outermost {
            self.known[0].insert(key, value);
        } else {
            self.push(Statement::Let { value, site: None, index: Vec::new() });
            self.known.last_mut().expect("a block is open").insert(key, value);
        }
        value
    }
    /// A value with a place in the order of effects.
    pub fn effect(&mut self, kind: Type, op: Op, varying: bool, index: Vec<Value>, site: Option<Site>) -> Value {
        let value = self.define(kind, op, varying);
        self.push(Statement::Let { value, site, index });
        value
    }
    pub fn real(&mut self, value: f64) -> Value {
        let bits = if self.program.real == Type::F32 { f64::from(value as f32).to_bits() } else { value.to_bits() };
        self.pure(self.program.real, Op::Constant(bits))
    }
    pub fn int(&mut self, value: i64) -> Value {
        let kind = if i32::try_from(value).is_ok() { Type::I32 } else { Type::I64 };
        self.pure(kind, Op::Constant(value as u64))
    }
    pub fn bool(&mut self, value: bool) -> Value {
        self.pure(Type::Bool, Op::Constant(u64::from(value)))
    }
    pub fn convert(&mut self, value: Value, kind: Type) -> Value {
        if self.kind(value) == kind {
            return value;
        }
        match (self.program.ops[value as usize].clone(), self.kind(value).is_real(), kind.is_real()) {
            (Op::Constant(bits), false, false) => self.pure(kind, Op::Constant(bits)),
            (Op::Constant(bits), false, true) => self.real(bits as i64 as f64),
            _ => self.pure(kind, Op::Convert(value)),
        }
    }
    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        let (a, b) = match (self.kind(a), self.kind(b)) {
            (Type::I32, Type::I64) => (self.convert(a, Type::I64), b),
            (Type::I64, Type::I32) => (a, self.convert(b, Type::I64)),
            _ => (a, b),
        };
        let kind = match op {
            Binary::Lt | Binary::Le | Binary::Eq => Type::Bool,
            _ => self.kind(a),
        };
        self.pure(kind, Op::Binary(op, a, b))
    }
    pub fn unary(&mut self, op: Unary, a: Value) -> Value {
        let kind = self.kind(a);
        self.pure(kind, Op::Unary(op, a))
    }
    pub fn select(&mut self, p: Value, a: Value, b: Value) -> Value {
        let (a, b) = match (self.kind(a), self.kind(b)) {
            (Type::I32, Type::I64) => (self.convert(a, Type::I64), b),
            (Type::I64, Type::I32) => (a, self.convert(b, Type::I64)),
            _ => (a, b),
        };
        let kind = self.kind(a);
        self.pure(kind, Op::Select(p, a, b))
    }
    pub fn special(&mut self, special: Special) -> Value {
        if special == Special::WorkItem && self.program.work_items() == 1 {
            return self.int(0);
        }
        self.pure(Type::I32, Op::Special(special))
    }

    fn constant_bits(&self, value: Value) -> Option<u64> {
        match self.program.ops[value as usize] {
            Op::Constant(bits) => Some(bits),
            _ => None,
        }
    }
    pub fn constant_int(&self, value: Value) -> Option<i64> {
        self.program.constant(value)
    }

    /// Folds constants and neutral operands. Only the sign of zero may differ from the unfolded operation.
    fn fold(&mut self, kind: Type, op: &Op) -> Option<Value> {
        match *op {
            Op::Binary(binary, a, b) => {
                let operand = self.kind(a);
                let (x, y) = (self.constant_bits(a), self.constant_bits(b));
                if operand.is_real() {
                    let (x, y) = (x.map(f64::from_bits), y.map(f64::from_bits));
                    match (binary, x, y) {
                        (Binary::Add, Some(0.0), _) | (Binary::Mul, Some(1.0), _) => return Some(b),
                        (Binary::Add | Binary::Sub, _, Some(0.0)) | (Binary::Mul | Binary::Div, _, Some(1.0)) => {
                            return Some(a);
                        }
                        _ => {}
                    }
                    let (x, y) = (x?, y?);
                    let real = match binary {
                        Binary::Add => x + y,
                        Binary::Sub => x - y,
                        Binary::Mul => x * y,
                        Binary::Div => x / y,
                        Binary::Lt => return Some(self.bool(x < y)),
                        Binary::Le => return Some(self.bool(x <= y)),
                        Binary::Eq => return Some(self.bool(x == y)),
                        _ => return None,
                    };
                    return Some(self.real(real));
                }
                let (x, y) = (x.map(|bits| bits as i64), y.map(|bits| bits as i64));
                match (binary, x, y) {
                    (Binary::Add, Some(0), _) | (Binary::Mul, Some(1), _) => return Some(b),
                    (Binary::Add | Binary::Sub, _, Some(0)) | (Binary::Mul | Binary::Div, _, Some(1)) => {
                        return Some(a);
                    }
                    (Binary::Mul, Some(0), _) => return Some(a),
                    (Binary::Mul, _, Some(0)) => return Some(b),
                    (Binary::Rem, _, Some(1)) => return Some(self.typed_int(kind, 0)),
                    (Binary::And, Some(1), _) | (Binary::Or, Some(0), _) => return Some(b),
                    (Binary::And, _, Some(1)) | (Binary::Or, _, Some(0)) => return Some(a),
                    (Binary::And, Some(0), _) | (Binary::Or, Some(1), _) => return Some(a),
                    (Binary::And, _, Some(0)) | (Binary::Or, _, Some(1)) => return Some(b),
                    (Binary::Le | Binary::Eq, _, _) if a == b => return Some(self.bool(true)),
                    (Binary::Lt, _, _) if a == b => return Some(self.bool(false)),
                    _ => {}
                }
                let (x, y) = (x?, y?);
                let int = match binary {
                    Binary::Add => x.checked_add(y)?,
                    Binary::Sub => x.checked_sub(y)?,
                    Binary::Mul => x.checked_mul(y)?,
                    Binary::Div => x.checked_div(y)?,
                    Binary::Rem => x.checked_rem(y)?,
                    Binary::Min => x.min(y),
                    Binary::Max => x.max(y),
                    Binary::Lt => return Some(self.bool(x < y)),
                    Binary::Le => return Some(self.bool(x <= y)),
                    Binary::Eq => return Some(self.bool(x == y)),
                    Binary::And => x & y,
                    Binary::Or => x | y,
                };
                if kind == Type::I32 && i32::try_from(int).is_err() {
                    return None;
                }
                Some(self.typed_int(kind, int))
            }
            Op::Unary(unary, a) => {
                let bits = self.constant_bits(a)?;
                match unary {
                    Unary::Neg if kind.is_real() => Some(self.real(-f64::from_bits(bits))),
                    Unary::Sqrt => Some(self.real(f64::from_bits(bits).sqrt())),
                    Unary::Abs if kind.is_real() => Some(self.real(f64::from_bits(bits).abs())),
                    Unary::Not => Some(self.bool(bits == 0)),
                    _ => None,
                }
            }
            Op::MulAdd(a, b, c) => {
                let one = |bits: Option<u64>| bits.map(f64::from_bits) == Some(1.0);
                if one(self.constant_bits(a)) {
                    return Some(self.binary(Binary::Add, b, c));
                }
                if one(self.constant_bits(b)) {
                    return Some(self.binary(Binary::Add, a, c));
                }
                if self.constant_bits(c).map(f64::from_bits) == Some(0.0)
                    || (self.constant_bits(a).is_some() && self.constant_bits(b).is_some())
                {
                    let product = self.binary(Binary::Mul, a, b);
                    return Some(self.binary(Binary::Add, product, c));
                }
                None
            }
            Op::Select(p, a, b) => match self.constant_bits(p) {
                Some(0) => Some(b),
                Some(_) => Some(a),
                None if a == b => Some(a),
                None => None,
            },
            _ => None,
        }
    }
    fn typed_int(&mut self, kind: Type, value: i64) -> Value {
        self.pure(kind, Op::Constant(value as u64))
    }

    /// Adds a scalar parameter.
    pub fn parameter(&mut self, parameter: Parameter) -> Value {
        let number = self.program.parameters.len();
        let kind = parameter.kind;
        self.program.parameters.push(parameter);
        self.pure(kind, Op::Parameter(number))
    }
    pub fn memory(&mut self, memory: Memory) -> MemoryId {
        self.program.memories.push(memory);
        self.program.memories.len() - 1
    }
    pub fn scratch(&mut self, level: usize, name: &str, kind: ElementKind, extents: &[usize]) -> MemoryId {
        self.refuse_allocation("scratch");
        self.reserve_scratch(level, name, kind, extents)
    }
    fn reserve_scratch(&mut self, level: usize, name: &str, kind: ElementKind, extents: &[usize]) -> MemoryId {
        let len: usize = extents.iter().product();
        let first_byte = self.program.scratch_bytes[level].next_multiple_of(kind.bytes());
        // Blocks start at multiples of 16 bytes, so that vector and asynchronous copies are possible.
        self.program.scratch_bytes[level] = (first_byte + len * kind.bytes()).next_multiple_of(16);
        self.memory(Memory {
            name: name.into(),
            kind,
            place: Place::Scratch { level, first_byte, len, extents: extents.to_vec() },
        })
    }
    /// Refuses an allocation that would happen a different number of times on different targets.
    pub fn refuse_allocation(&mut self, what: &str) {
        if self.level != Level::Team || self.loops > 0 {
            let place = if self.loops > 0 { "a loop" } else { "a range or phase" };
            self.refuse(None, format!("{what} memory is reserved inside {place}; reserve it once, at team level"));
        }
    }
    /// Scratch of `len` numbers for reductions and scans, shared by those of equal length.
    pub fn reduction_scratch(&mut self, kind: Type, number: usize, len: usize) -> MemoryId {
        if let Some(&memory) = self.reductions.get(&(kind, number, len)) {
            return memory;
        }
        let element = match kind {
            Type::F64 => ElementKind::F64,
            Type::F32 => ElementKind::F32,
            Type::I32 => ElementKind::I32,
            Type::I64 | Type::Bool => ElementKind::I64,
        };
        let name = format!("reduction_{number}_{kind:?}").to_lowercase();
        let memory = self.reserve_scratch(0, &name, element, &[len]);
        self.reductions.insert((kind, number, len), memory);
        memory
    }

    pub fn remark(&mut self, text: &'static str, site: Site) {
        self.push(Statement::Remark { text, site });
    }
    pub fn barrier(&mut self, site: Site) {
        if self.level != Level::Team || self.divergence > 0 {
            let place = if self.level == Level::Team { "a branch or loop whose condition varies" } else { "a phase" };
            self.refuse(
                Some(site),
                format!("a team barrier inside {place} would not be reached by all threads; move it to team level"),
            );
        }
        self.push(Statement::Barrier { site });
    }
    /// Pushes an effect so that it happens as often as the level says.
    pub fn push_effect(&mut self, statement: Statement) {
        match self.once() {
            None => self.push(statement),
            Some(condition) => self.push(Statement::If { condition, body: Block(vec![statement]) }),
        }
    }
    /// The condition under which one work item acts for its team or thread; none if all act.
    pub fn once(&mut self) -> Option<Value> {
        let zero = self.int(0);
        match self.level {
            Level::Lane | Level::WorkItem => None,
            Level::Team if self.program.work_items() == 1 => None,
            Level::Team => {
                let item = self.special(Special::WorkItem);
                Some(self.binary(Binary::Eq, item, zero))
            }
            Level::Thread if self.program.vector_length == 1 => None,
            Level::Thread => {
                let lane = self.lane();
                Some(self.binary(Binary::Eq, lane, zero))
            }
        }
    }
    pub fn lane(&mut self) -> Value {
        let item = self.special(Special::WorkItem);
        let length = self.int(self.program.vector_length as i64);
        if self.program.team_size == 1 { item } else { self.binary(Binary::Rem, item, length) }
    }
    pub fn thread(&mut self) -> Value {
        let item = self.special(Special::WorkItem);
        let length = self.int(self.program.vector_length as i64);
        if self.program.team_size == 1 { self.int(0) } else { self.binary(Binary::Div, item, length) }
    }

    pub fn open(&mut self, varying: bool) {
        self.blocks.push(Vec::new());
        self.known.push(HashMap::new());
        self.divergence += usize::from(varying);
    }
    pub fn close(&mut self, varying: bool) -> Block {
        self.divergence -= usize::from(varying);
        self.known.pop();
        Block(self.blocks.pop().expect("a block is open"))
    }
    pub fn push_if(&mut self, condition: Value, body: Block) {
        if !body.0.is_empty() {
            self.push(Statement::If { condition, body });
        }
    }
    pub fn loop_bound(&mut self, kind: Type, varying: bool) -> Value {
        self.define(kind, Op::LoopBound, varying)
    }
    #[allow(clippy::too_many_arguments)]
    pub fn push_loop(
        &mut self,
        index: Value,
        start: Value,
        end: Value,
        step: usize,
        carried: Vec<Carried>,
        body: Block,
    ) {
        self.push(Statement::Loop { index, start, end, step, carried, body });
    }
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            scratch_bytes: self.program.scratch_bytes,
            private_slots: self.program.private_slots,
            memories: self.program.memories.len(),
            values: self.program.types.len(),
            reductions: self.reductions.clone(),
        }
    }
    /// Forgets everything that was traced since the snapshot; open blocks must be those of the snapshot.
    pub fn restore(&mut self, snapshot: Snapshot) {
        self.program.scratch_bytes = snapshot.scratch_bytes;
        self.program.private_slots = snapshot.private_slots;
        self.program.memories.truncate(snapshot.memories);
        self.program.types.truncate(snapshot.values);
        self.program.ops.truncate(snapshot.values);
        self.varying.truncate(snapshot.values);
        for known in &mut self.known {
            known.retain(|_, value| (*value as usize) < snapshot.values);
        }
        self.reductions = snapshot.reductions;
    }
    pub fn shift(&mut self, value: Value, shift: LaneShift, site: Site) -> Value {
        if self.program.vector_length == 1 {
            return value;
        }
        if self.level != Level::WorkItem {
            self.refuse(Some(site), "lanes exchange values outside a phase; use it inside `phase`");
        }
        self.program.exchanges_lanes = true;
        let kind = self.kind(value);
        // One lane's value is the same for all lanes, and so for a team of one thread.
        let uniform = matches!(shift, LaneShift::From(lane) if self.program.team_size == 1 && !self.is_varying(lane));
        self.effect(kind, Op::Shift(value, shift), !uniform, Vec::new(), Some(site))
    }
}
