//! Statements, and what the printer remembers.

use super::expression::element_of;
use super::helpers::Helper;
use super::names::Names;
use super::plan::{LoopKind, Plan, loop_kind};
use super::uniform::{is_varying, varying_values};
use super::words::Words;
use super::{Dialect, literal::literal};
use crate::trace::ir::{Block, Carried, LaneShift, Op, Place, Program, Site, Statement, Type, Value};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// Loops with at most this many turns are unrolled.
const UNROLLED_TURNS: i64 = 8;
/// Private variables on one line of their declaration.
const PRIVATE_PER_LINE: usize = 8;

pub(super) struct Printer<'a> {
    pub program: &'a Program,
    pub words: &'static Words,
    plan: Plan,
    names: Names,
    value_names: Vec<Option<String>>,
    memory_names: Vec<String>,
    parameter_names: Vec<String>,
    counters: HashMap<String, usize>,
    helpers: BTreeMap<String, String>,
    varying: Vec<bool>,
    /// Lanes exchange values as a sub-group.
    pub sub_groups: bool,
    /// They cannot, but would have to.
    pub lacks_sub_groups: bool,
    /// Some exchange is one of a vector, not of its whole warp.
    pub mask_used: bool,
    /// Open branches and loops that not all work items take alike.
    divergence: usize,
    depth: usize,
    last_site: Option<(&'static str, u32)>,
}

impl<'a> Printer<'a> {
    pub fn new(program: &'a Program, words: &'static Words) -> Self {
        Printer {
            program,
            words,
            plan: Plan::new(program),
            names: Names::default(),
            value_names: vec![None; program.types.len()],
            memory_names: vec![String::new(); program.memories.len()],
            parameter_names: vec![String::new(); program.parameters.len()],
            counters: HashMap::new(),
            helpers: BTreeMap::new(),
            varying: if program.exchanges_lanes { varying_values(program) } else { Vec::new() },
            sub_groups: false,
            lacks_sub_groups: false,
            mask_used: false,
            divergence: 0,
            depth: 1,
            last_site: None,
        }
    }

    pub fn type_name(&self, kind: Type) -> &'static str {
        if kind == Type::Bool { "bool" } else { self.words.element(element_of(kind)) }
    }
    pub fn name_memory(&mut self, id: usize, wish: &str) -> String {
        self.memory_names[id] = self.names.claim(wish);
        self.memory_names[id].clone()
    }
    pub fn name_parameter(&mut self, number: usize, wish: &str) -> String {
        self.parameter_names[number] = self.names.claim(wish);
        self.parameter_names[number].clone()
    }
    pub fn memory_name(&self, id: usize) -> &str {
        &self.memory_names[id]
    }
    pub fn parameter_name(&self, number: usize) -> &str {
        &self.parameter_names[number]
    }
    pub fn name_of(&self, value: Value) -> Option<&str> {
        self.value_names[value as usize].as_deref()
    }
    pub fn is_local(&self, memory: usize) -> bool {
        matches!(self.program.memories[memory].place, Place::Scratch { level: 0, .. })
    }
    pub fn uses_scratch(&self, used: &[bool], level: usize) -> bool {
        let is_level = |place: &Place| matches!(place, Place::Scratch { level: own, .. } if *own == level);
        self.program.memories.iter().zip(used).any(|(memory, used)| *used && is_level(&memory.place))
    }
    /// Notes that the text needs a function; its name.
    pub fn help(&mut self, helper: Helper) -> String {
        self.helpers.insert(helper.name.clone(), helper.text);
        helper.name
    }
    pub fn helpers(&self) -> impl Iterator<Item = &String> {
        self.helpers.values()
    }
    /// The lanes of a warp that take part in an exchange.
    pub fn mask(&mut self) -> &'static str {
        // Vectors of one warp may take different ways.
        let own = self.divergence > 0 && self.program.vector_length < 32;
        self.mask_used |= own;
        if own { "vector_mask" } else { "0xffffffff" }
    }
    pub fn exchange_name(&self, kind: Type) -> String {
        format!("exchange_{kind:?}").to_lowercase()
    }

    /// A new name such as `r7`.
    fn fresh(&mut self, stem: &str) -> String {
        let counter = self.counters.entry(stem.into()).or_default();
        let number = *counter;
        *counter += 1;
        self.names.claim_exactly(format!("{stem}{number}"))
    }
    fn stem(&self, value: Value) -> String {
        match self.program.ops[value as usize] {
            Op::Load(memory, _) => format!("{}_", self.memory_names[memory]),
            Op::Atomic(_, memory, ..) | Op::CompareExchange(memory, ..) => {
                format!("{}_old_", self.memory_names[memory])
            }
            _ => match self.program.types[value as usize] {
                Type::F64 | Type::F32 => "r",
                Type::I32 | Type::I64 => "k",
                Type::Bool => "b",
            }
            .into(),
        }
    }
    fn give_name(&mut self, value: Value, stem: &str) -> String {
        let name = self.fresh(stem);
        self.value_names[value as usize] = Some(name.clone());
        name
    }

    pub fn declare_private(&mut self, used: &[bool], out: &mut String) {
        let slots: Vec<String> =
            used.iter().enumerate().filter(|(_, used)| **used).map(|(slot, _)| format!("p{slot} = 0")).collect();
        // The names belong to the slots, whatever else is in the text.
        let real = self.type_name(self.program.real);
        for line in slots.chunks(PRIVATE_PER_LINE) {
            let _ = writeln!(out, "    {real} {};", line.join(", "));
        }
    }
    pub fn declare_escaping(&mut self, out: &mut String) {
        for value in self.plan.escaping.clone() {
            let name = self.give_name(value, "outer_");
            let kind = self.program.types[value as usize];
            let (zero, _) = literal(self.words, kind, 0);
            let _ = writeln!(out, "    {} {name} = {zero};", self.type_name(kind));
        }
    }

    fn indent(&self, out: &mut String) {
        out.extend(std::iter::repeat_n("    ", self.depth));
    }
    fn line(&mut self, out: &mut String, text: &str, site: Option<Site>) {
        self.indent(out);
        out.push_str(text);
        if let Some(site) = site.filter(|site| self.last_site != Some((file_name(site), site.line()))) {
            self.last_site = Some((file_name(site), site.line()));
            let _ = write!(out, "  // {}:{}", file_name(site), site.line());
        }
        out.push('\n');
    }

    pub fn block(&mut self, block: &'a Block, out: &mut String) {
        for statement in &block.0 {
            match statement {
                Statement::Let { value, site, .. } => self.define(*value, *site, out),
                Statement::Store { memory, offset, value, site, .. } => {
                    let element = self.program.memories[*memory].kind;
                    let (offset, value) = (self.plain(*offset), self.stored(*value, element));
                    let text = format!("{}[{offset}] = {value};", self.memory_name(*memory));
                    self.line(out, &text, Some(site));
                }
                Statement::PrivateSet { slot, value } => {
                    let text = format!("p{slot} = {};", self.text(*value));
                    self.line(out, &text, None);
                }
                // The work items of a team of one thread are a sub-group, which costs less to wait for.
                Statement::Barrier { site } if self.sub_groups && self.program.team_size == 1 => {
                    let fences = "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
                    self.line(out, fences, Some(site));
                }
                Statement::Barrier { site } => self.line(out, self.words.barrier, Some(site)),
                Statement::If { condition, body } => {
                    let text = format!("if ({}) {{", self.text(*condition));
                    self.line(out, &text, None);
                    let varies = self.varies(*condition);
                    self.nested(body, &[], varies, out);
                    self.line(out, "}", None);
                }
                Statement::Loop { index, start, end, step, carried, body } => {
                    self.counted(*index, [*start, *end], *step, carried, body, out);
                }
                Statement::Remark { text, site } => {
                    self.last_site = Some((file_name(site), site.line()));
                    let text = format!("// {text}: {}:{}", file_name(site), site.line());
                    self.line(out, &text, None);
                }
            }
        }
    }

    fn varies(&self, value: Value) -> bool {
        self.program.exchanges_lanes && is_varying(self.program, value, &self.varying)
    }

    fn nested(&mut self, body: &'a Block, carried: &[Carried], divergent: bool, out: &mut String) {
        self.depth += 1;
        self.divergence += usize::from(divergent);
        // Names of values, not of variables, end with their block.
        self.block(body, out);
        self.carry_on(carried, out);
        self.divergence -= usize::from(divergent);
        self.depth -= 1;
    }

    fn define(&mut self, value: Value, site: Option<Site>, out: &mut String) {
        let index = value as usize;
        if self.plan.dead[index] || self.plan.inline[index] {
            return;
        }
        let op = self.program.ops[index].clone();
        // Their places are in the library, not in the kernel.
        let site = if matches!(op, Op::Shift(..) | Op::PrivateGet(_)) { None } else { site };
        if let (Op::PrivateGet(_), true) = (&op, self.plan.alias[index]) {
            return;
        }
        if let (Op::Shift(moved, shift), Dialect::OpenCl, false) = (&op, self.words.dialect, self.sub_groups) {
            self.lacks_sub_groups |= self.divergence > 0;
            return self.exchange(value, *moved, *shift, out);
        }
        let text = self.definition(value).text;
        if let Some(name) = self.name_of(value) {
            let text = format!("{name} = {text};");
            return self.line(out, &text, site);
        }
        let unused = matches!(op, Op::Atomic(..) | Op::CompareExchange(..)) && !self.plan.used[index];
        let text = if unused {
            format!("{text};")
        } else {
            let kind = self.type_name(self.program.types[index]);
            let stem = self.stem(value);
            let name = self.give_name(value, &stem);
            format!("const {kind} {name} = {text};")
        };
        self.line(out, &text, site);
    }

    /// A lane exchange of OpenCL, through local memory: sub-groups are not everywhere.
    fn exchange(&mut self, value: Value, moved: Value, shift: LaneShift, out: &mut String) {
        let kind = self.program.types[value as usize];
        let (array, source, moved) = (self.exchange_name(kind), self.source_item(shift), self.text(moved));
        let stem = self.stem(value);
        let name = self.give_name(value, &stem);
        let barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
        self.line(out, &format!("{array}[item] = {moved}; {barrier}"), None);
        let kind = self.type_name(kind);
        self.line(out, &format!("const {kind} {name} = {array}[{source}]; {barrier}"), None);
    }

    fn counted(
        &mut self,
        index: Value,
        [start, end]: [Value; 2],
        step: usize,
        carried: &[Carried],
        body: &'a Block,
        out: &mut String,
    ) {
        for c in carried {
            let (kind, initial) = (self.type_name(self.program.types[c.inside as usize]), self.plain(c.initial));
            let name = self.give_name(c.inside, "s");
            self.value_names[c.after as usize] = Some(name.clone());
            self.line(out, &format!("{kind} {name} = {initial};"), None);
        }
        if let LoopKind::Branch(condition) = loop_kind(self.program, start, end) {
            let text = format!("if ({}) {{", self.text(condition));
            self.line(out, &text, None);
            let varies = self.varies(condition);
            self.nested(body, carried, varies, out);
            return self.line(out, "}", None);
        }
        let turns = match (self.program.constant(start), self.program.constant(end)) {
            (Some(start), Some(end)) => Some((end - start + step as i64 - 1) / step as i64),
            _ => None,
        };
        if turns.is_some_and(|turns| turns <= UNROLLED_TURNS) {
            self.line(out, "#pragma unroll", None);
        }
        let kind = self.program.types[index as usize];
        let i = self.give_name(index, "i");
        let (first, last) = (self.plain(start), self.plain(end));
        let advance = if step == 1 { format!("++{i}") } else { format!("{i} += {step}") };
        let text = format!("for ({} {i} = {first}; {i} < {last}; {advance}) {{", self.type_name(kind));
        self.line(out, &text, None);
        let varies = self.varies(start) || self.varies(end);
        self.nested(body, carried, varies, out);
        self.line(out, "}", None);
    }

    /// Gives the carried variables their next values, all at once.
    fn carry_on(&mut self, carried: &[Carried], out: &mut String) {
        let mut texts = Vec::with_capacity(carried.len());
        for (number, c) in carried.iter().enumerate() {
            let overwritten: Vec<Value> = carried[..number].iter().map(|earlier| earlier.inside).collect();
            let mut text = self.plain(c.next);
            if !overwritten.is_empty() && self.mentions(c.next, &overwritten) {
                let kind = self.type_name(self.program.types[c.inside as usize]);
                let name = self.fresh("next_");
                self.line(out, &format!("const {kind} {name} = {text};"), None);
                text = name;
            }
            texts.push(text);
        }
        for (c, text) in carried.iter().zip(texts) {
            let name = self.name_of(c.inside).unwrap_or_default().to_owned();
            if name != text {
                self.line(out, &format!("{name} = {text};"), None);
            }
        }
    }

    /// Whether the expression of a value holds one of these variables.
    fn mentions(&self, value: Value, variables: &[Value]) -> bool {
        if variables.contains(&value) {
            return true;
        }
        self.plan.inline[value as usize]
            && self.program.ops[value as usize].operands().iter().any(|&operand| self.mentions(operand, variables))
    }
}

/// The file of a position, without folders.
fn file_name(site: Site) -> &'static str {
    site.file().rsplit(['/', '\\']).next().unwrap_or_default()
}
