//! Values as expressions.

use super::literal::literal;
use super::statement::Printer;
use super::{Dialect, helpers};
use crate::trace::ir::{Binary, LaneShift, Op, Special, Type, Unary, Value};
use farro_portability::ElementKind;

/// How tightly an expression holds together; a larger number holds more tightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Choice,
    Or,
    And,
    Equal,
    Less,
    Sum,
    Product,
    Sign,
    Name,
}

/// An expression's text and how tightly it holds together.
pub(super) struct Expression {
    pub text: String,
    binding: Binding,
}

impl Expression {
    fn new(text: impl Into<String>, binding: Binding) -> Self {
        Expression { text: text.into(), binding }
    }
    /// In parentheses, if it holds less tightly than asked.
    fn at(self, binding: Binding) -> String {
        if self.binding < binding { format!("({})", self.text) } else { self.text }
    }
}

pub(super) fn element_of(kind: Type) -> ElementKind {
    match kind {
        Type::F64 => ElementKind::F64,
        Type::F32 => ElementKind::F32,
        Type::I64 => ElementKind::I64,
        Type::I32 | Type::Bool => ElementKind::I32,
    }
}

impl Printer<'_> {
    fn kind(&self, value: Value) -> Type {
        self.program.types[value as usize]
    }
    fn op(&self, value: Value) -> &Op {
        &self.program.ops[value as usize]
    }
    /// The text of a value as a whole expression.
    pub fn text(&mut self, value: Value) -> String {
        self.expression(value).text
    }
    /// The same where C converts to 64 bits by itself, so that constants need no ending.
    pub fn plain(&mut self, value: Value) -> String {
        match self.program.constant(value) {
            Some(small) if self.kind(value) == Type::I64 && i32::try_from(small).is_ok() => small.to_string(),
            _ => self.text(value),
        }
    }
    /// A value: its name, or its definition if it is part of its user.
    pub fn expression(&mut self, value: Value) -> Expression {
        if let Some(name) = self.name_of(value) {
            return Expression::new(name, Binding::Name);
        }
        self.definition(value)
    }
    /// The operation that defines a value.
    pub fn definition(&mut self, value: Value) -> Expression {
        let kind = self.kind(value);
        match *self.op(value) {
            Op::Constant(bits) => {
                let (text, signed) = literal(self.words, kind, bits);
                Expression::new(text, if signed { Binding::Sign } else { Binding::Name })
            }
            Op::Parameter(number) => Expression::new(self.parameter_name(number), Binding::Name),
            Op::Special(special) => Expression::new(
                match special {
                    Special::LeagueRank => "league_rank",
                    Special::LeagueSize => "league_size",
                    Special::WorkItem => "item",
                },
                Binding::Name,
            ),
            Op::Unary(op, a) => self.unary(op, kind, a),
            Op::Binary(op, a, b) => self.binary(op, a, b),
            Op::MulAdd(a, b, c) => {
                let arguments = [self.text(a), self.text(b), self.text(c)].join(", ");
                Expression::new(format!("{}({arguments})", self.by_width(self.words.fma, kind)), Binding::Name)
            }
            Op::Select(p, a, b) => {
                let [a, b] = self.pair(a, b, Binding::Or, Binding::Or);
                let p = self.expression(p).at(Binding::Or);
                Expression::new(format!("{p} ? {a} : {b}"), Binding::Choice)
            }
            Op::Convert(a) => {
                let a = self.expression(a).at(Binding::Sign);
                Expression::new(format!("({}){a}", self.type_name(kind)), Binding::Sign)
            }
            Op::Load(memory, offset) => {
                let offset = self.plain(offset);
                let name = self.memory_name(memory);
                Expression::new(format!("{name}[{offset}]"), Binding::Name)
            }
            Op::Atomic(op, memory, offset, new) => {
                let element = self.program.memories[memory].kind;
                let helper = helpers::atomic(self.words, Some(op), element, self.is_local(memory));
                let arguments = [self.address(memory, offset), self.stored(new, element)].join(", ");
                Expression::new(format!("{}({arguments})", self.help(helper)), Binding::Name)
            }
            Op::CompareExchange(memory, offset, expected, new) => {
                let element = self.program.memories[memory].kind;
                let helper = helpers::atomic(self.words, None, element, self.is_local(memory));
                let (expected, new) = (self.stored(expected, element), self.stored(new, element));
                let arguments = [self.address(memory, offset), expected, new].join(", ");
                Expression::new(format!("{}({arguments})", self.help(helper)), Binding::Name)
            }
            Op::PrivateGet(slot) => Expression::new(format!("p{slot}"), Binding::Name),
            Op::Shift(moved, shift) => self.shift(moved, shift),
            // Loops give these their names; a branch has only index 0.
            Op::LoopBound => Expression::new("0", Binding::Name),
        }
    }

    fn by_width(&self, words: [&'static str; 2], kind: Type) -> &'static str {
        words[usize::from(kind == Type::F32)]
    }
    fn address(&mut self, memory: usize, offset: Value) -> String {
        let offset = self.plain(offset);
        let name = self.memory_name(memory);
        format!("&{name}[{offset}]")
    }
    /// A value as it is written to memory.
    pub fn stored(&mut self, value: Value, element: ElementKind) -> String {
        if Type::from(element) == self.kind(value) {
            return self.plain(value);
        }
        let text = self.expression(value).at(Binding::Sign);
        format!("({}){text}", self.words.element(element))
    }

    fn unary(&mut self, op: Unary, kind: Type, a: Value) -> Expression {
        match op {
            Unary::Neg => {
                // Two signs in a row would be another operator.
                let a = self.expression(a).at(Binding::Name);
                Expression::new(format!("-{a}"), Binding::Sign)
            }
            Unary::Not => {
                let a = self.expression(a).at(Binding::Sign);
                Expression::new(format!("!{a}"), Binding::Sign)
            }
            Unary::Sqrt => {
                let a = self.text(a);
                Expression::new(format!("{}({a})", self.by_width(self.words.sqrt, kind)), Binding::Name)
            }
            Unary::Abs if kind.is_real() => {
                let a = self.text(a);
                Expression::new(format!("{}({a})", self.by_width(self.words.abs, kind)), Binding::Name)
            }
            Unary::Abs => {
                let a = self.expression(a).at(Binding::Less);
                Expression::new(format!("{a} < 0 ? -({a}) : {a}"), Binding::Choice)
            }
        }
    }

    fn binary(&mut self, op: Binary, a: Value, b: Value) -> Expression {
        let (sign, own, right) = match op {
            Binary::Min | Binary::Max => {
                let helper = helpers::extremum(self.words, element_of(self.kind(a)), op == Binary::Max);
                let [a, b] = self.pair(a, b, Binding::Choice, Binding::Choice);
                return Expression::new(format!("{}({a}, {b})", self.help(helper)), Binding::Name);
            }
            Binary::Add => ("+", Binding::Sum, Binding::Product),
            Binary::Sub => ("-", Binding::Sum, Binding::Product),
            Binary::Mul => ("*", Binding::Product, Binding::Sign),
            Binary::Div => ("/", Binding::Product, Binding::Sign),
            Binary::Rem => ("%", Binding::Product, Binding::Sign),
            Binary::Lt => ("<", Binding::Less, Binding::Sum),
            Binary::Le => ("<=", Binding::Less, Binding::Sum),
            Binary::Eq => ("==", Binding::Equal, Binding::Less),
            // Not mixed without parentheses, though C would allow it.
            Binary::And => ("&&", Binding::And, Binding::And),
            Binary::Or => ("||", Binding::Or, Binding::Equal),
        };
        let left = if op == Binary::Or { Binding::Equal } else { own };
        let [a, b] = self.pair(a, b, left, right);
        Expression::new(format!("{a} {sign} {b}"), own)
    }

    /// Two operands of one type. Where one of them is 64-bit in C as well, a constant needs no ending and a conversion
    /// of the other no word.
    fn pair(&mut self, a: Value, b: Value, left: Binding, right: Binding) -> [String; 2] {
        let solid = [self.is_solid(a), self.is_solid(b)];
        [self.operand(a, solid[1], left), self.operand(b, solid[0], right)]
    }
    fn is_solid(&self, value: Value) -> bool {
        self.kind(value) == Type::I64
            && (self.name_of(value).is_some() || !matches!(self.op(value), Op::Constant(_) | Op::Convert(_)))
    }
    fn operand(&mut self, value: Value, beside_solid: bool, binding: Binding) -> String {
        if beside_solid && self.kind(value) == Type::I64 && self.name_of(value).is_none() {
            match *self.op(value) {
                Op::Constant(bits) if i32::try_from(bits as i64).is_ok() && bits as i64 != i64::from(i32::MIN) => {
                    return (bits as i64).to_string();
                }
                Op::Convert(inner) if self.kind(inner) == Type::I32 => return self.expression(inner).at(binding),
                _ => {}
            }
        }
        self.expression(value).at(binding)
    }

    fn shift(&mut self, moved: Value, shift: LaneShift) -> Expression {
        let length = self.program.vector_length;
        let value = self.text(moved);
        let source = match shift {
            LaneShift::From(lane) => Some(self.expression(lane).at(Binding::Sum)),
            _ => None,
        };
        let text = match self.words.dialect {
            Dialect::Cuda => {
                let mask = self.mask();
                match (shift, source) {
                    (LaneShift::Down(places), _) => format!("__shfl_down_sync({mask}, {value}, {places}, {length})"),
                    (LaneShift::Up(places), _) => format!("__shfl_up_sync({mask}, {value}, {places}, {length})"),
                    (_, source) => format!("__shfl_sync({mask}, {value}, {}, {length})", source.unwrap_or_default()),
                }
            }
            Dialect::Hip => {
                let helper = self.help(helpers::shift_from(self.words));
                let lane = source_lane(shift, source, length, "FARRO_LANE");
                format!("{helper}({value}, {lane})")
            }
            // Without sub-groups the statement printer goes through local memory instead.
            Dialect::OpenCl => {
                let lane = source_lane(shift, source, length, "(int)get_sub_group_local_id()");
                format!("sub_group_shuffle({value}, {lane})")
            }
        };
        Expression::new(text, Binding::Name)
    }
    /// The work item from which an OpenCL kernel takes a value through local memory.
    pub fn source_item(&mut self, shift: LaneShift) -> String {
        let source = match shift {
            LaneShift::From(lane) => Some(self.expression(lane).at(Binding::Sum)),
            _ => None,
        };
        source_lane(shift, source, self.program.vector_length, "item")
    }
}

/// The lane from which a value comes, counted as `own` counts.
fn source_lane(shift: LaneShift, source: Option<String>, length: usize, own: &str) -> String {
    let last = length - 1;
    match shift {
        LaneShift::Down(places) if places < length => {
            format!("({own} & {last}) < {} ? {own} + {places} : {own}", length - places)
        }
        LaneShift::Up(places) if places < length => format!("({own} & {last}) < {places} ? {own} : {own} - {places}"),
        LaneShift::From(_) => format!("({own} & ~{last}) + {}", source.unwrap_or_default()),
        _ => own.into(),
    }
}
