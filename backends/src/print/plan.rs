//! Decides, before anything is printed, which values become part of their user's expression, which get a name, and
//! which private reads may stand for the private variable itself.

use crate::trace::ir::{Block, Op, Program, Statement, Value};
use crate::trace::optimize::is_placeless;

/// Most operations of one printed expression.
const MAX_OPERATIONS: u32 = 10;

/// What a loop really is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
    /// A loop.
    Counted,
    /// It runs once where a condition holds, else not at all.
    Branch(Value),
}

/// The kind of a loop with these bounds.
pub(super) fn loop_kind(program: &Program, start: Value, end: Value) -> LoopKind {
    match program.ops[end as usize] {
        Op::Select(p, one, zero)
            if program.constant(start) == Some(0)
                && program.constant(one) == Some(1)
                && program.constant(zero) == Some(0) =>
        {
            LoopKind::Branch(p)
        }
        _ => LoopKind::Counted,
    }
}

/// A statement or the end of a loop's body, in the order of the text.
struct Event<'a> {
    block: usize,
    kind: EventKind<'a>,
}

enum EventKind<'a> {
    Statement(&'a Statement),
    LoopEnd(&'a [crate::trace::ir::Carried]),
}

struct BlockInfo {
    parent: usize,
    is_loop: bool,
}

#[derive(Clone, Copy)]
struct Use {
    event: usize,
    /// The value whose definition this is.
    user: Option<Value>,
    /// In a loop's bound, which is evaluated in each turn.
    bound: bool,
}

/// What is printed how.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Part of its only user's expression.
    pub inline: Vec<bool>,
    /// Not printed: nobody uses it.
    pub dead: Vec<bool>,
    /// Somebody uses it.
    pub used: Vec<bool>,
    /// Private reads that stand for the variable itself.
    pub alias: Vec<bool>,
    /// Values that are used outside the block that defines them.
    pub escaping: Vec<Value>,
}

impl Plan {
    pub fn new(program: &Program) -> Self {
        let mut flat = Flat { program, events: Vec::new(), blocks: vec![BlockInfo { parent: 0, is_loop: false }] };
        flat.block(&program.body, 0);
        let count = program.types.len();
        let mut plan = Plan {
            inline: vec![false; count],
            dead: vec![false; count],
            used: Vec::new(),
            alias: vec![false; count],
            escaping: Vec::new(),
        };
        let mut uses: Vec<Vec<Use>> = vec![Vec::new(); count];
        flat.choose(&mut plan, &mut uses);
        flat.bound_sizes(&mut plan);
        flat.find_aliases(&mut plan, &uses);
        plan.used = uses.iter().map(|uses| !uses.is_empty()).collect();
        plan
    }
}

struct Flat<'a> {
    program: &'a Program,
    events: Vec<Event<'a>>,
    blocks: Vec<BlockInfo>,
}

impl<'a> Flat<'a> {
    fn block(&mut self, block: &'a Block, number: usize) {
        for statement in &block.0 {
            self.events.push(Event { block: number, kind: EventKind::Statement(statement) });
            let (body, is_loop, carried): (_, _, &'a [_]) = match statement {
                Statement::If { body, .. } => (body, false, &[]),
                Statement::Loop { body, start, end, carried, .. } => {
                    (body, loop_kind(self.program, *start, *end) == LoopKind::Counted, carried)
                }
                _ => continue,
            };
            let inner = self.blocks.len();
            self.blocks.push(BlockInfo { parent: number, is_loop });
            self.block(body, inner);
            if matches!(statement, Statement::Loop { .. }) {
                self.events.push(Event { block: inner, kind: EventKind::LoopEnd(carried) });
            }
        }
    }

    /// Whether `inner` is `outer` or lies in it; if so, whether no loop lies between.
    fn descends(&self, mut inner: usize, outer: usize) -> Option<bool> {
        let mut straight = true;
        while inner != outer {
            if inner == 0 {
                return None;
            }
            straight &= !self.blocks[inner].is_loop;
            inner = self.blocks[inner].parent;
        }
        Some(straight)
    }

    fn op(&self, value: Value) -> &'a Op {
        &self.program.ops[value as usize]
    }

    /// Collects uses, last ones first, and chooses what is inlined.
    fn choose(&self, plan: &mut Plan, uses: &mut [Vec<Use>]) {
        for (number, event) in self.events.iter().enumerate().rev() {
            let mut push = |value: Value, user: Option<Value>, bound: bool| {
                uses[value as usize].push(Use { event: number, user, bound });
            };
            match event.kind {
                EventKind::LoopEnd(carried) => carried.iter().for_each(|c| push(c.next, None, false)),
                EventKind::Statement(Statement::Loop { start, end, carried, .. }) => {
                    carried.iter().for_each(|c| push(c.initial, None, false));
                    match loop_kind(self.program, *start, *end) {
                        LoopKind::Branch(condition) => push(condition, None, false),
                        LoopKind::Counted => {
                            push(*start, None, false);
                            push(*end, None, true);
                        }
                    }
                }
                EventKind::Statement(Statement::Let { value, .. }) => {
                    let (value, op) = (*value, self.op(*value));
                    let own = &uses[value as usize];
                    if own.is_empty()
                        && (op.is_pure() || matches!(op, Op::Load(..) | Op::PrivateGet(_) | Op::Shift(..)))
                    {
                        plan.dead[value as usize] = true;
                        continue;
                    }
                    let places: Vec<_> =
                        own.iter().map(|used| self.descends(self.events[used.event].block, event.block)).collect();
                    if places.contains(&None) {
                        plan.escaping.push(value);
                    }
                    plan.inline[value as usize] = op.is_pure() && places == [Some(true)] && !own[0].bound;
                    op.operands().into_iter().for_each(|operand| {
                        uses[operand as usize].push(Use { event: number, user: Some(value), bound: false });
                    });
                }
                EventKind::Statement(Statement::Store { offset, value, .. }) => {
                    push(*offset, None, false);
                    push(*value, None, false);
                }
                EventKind::Statement(Statement::PrivateSet { value, .. }) => push(*value, None, false),
                EventKind::Statement(Statement::If { condition, .. }) => push(*condition, None, false),
                EventKind::Statement(_) => {}
            }
        }
        plan.escaping.sort_unstable();
    }

    /// Gives names to parts of expressions that became too large.
    fn bound_sizes(&self, plan: &mut Plan) {
        let mut size = vec![0u32; self.program.types.len()];
        for event in &self.events {
            let EventKind::Statement(Statement::Let { value, .. }) = event.kind else { continue };
            let mut operands = self.op(*value).operands();
            operands.retain(|&operand| plan.inline[operand as usize] && !is_placeless(self.op(operand)));
            operands.sort_unstable_by_key(|&operand| size[operand as usize]);
            let mut total = 1 + operands.iter().map(|&operand| size[operand as usize]).sum::<u32>();
            while total > MAX_OPERATIONS
                && let Some(largest) = operands.pop()
            {
                plan.inline[largest as usize] = false;
                total -= size[largest as usize];
            }
            size[*value as usize] = total;
        }
    }

    /// A private read is the variable itself if nothing writes the slot before the last place where it is printed.
    fn find_aliases(&self, plan: &mut Plan, uses: &[Vec<Use>]) {
        let mut writes: Vec<Vec<usize>> = vec![Vec::new(); self.program.private_slots];
        for (number, event) in self.events.iter().enumerate() {
            if let EventKind::Statement(Statement::PrivateSet { slot, .. }) = event.kind {
                writes[*slot].push(number);
            }
        }
        // Where each value is evaluated in the text.
        let mut place = vec![0usize; self.program.types.len()];
        for (number, event) in self.events.iter().enumerate().rev() {
            let EventKind::Statement(Statement::Let { value, .. }) = event.kind else { continue };
            let at = |used: &Use, place: &[usize]| used.user.map_or(used.event, |user| place[user as usize]);
            place[*value as usize] = match uses[*value as usize].first() {
                Some(used) if plan.inline[*value as usize] => at(used, &place),
                _ => number,
            };
            if let Op::PrivateGet(slot) = self.op(*value) {
                plan.alias[*value as usize] = uses[*value as usize].iter().all(|used| {
                    let end = at(used, &place);
                    let unwritten = !writes[*slot].iter().any(|&write| number < write && write < end);
                    unwritten && !used.bound && self.descends(self.events[end].block, event.block) == Some(true)
                });
            }
        }
    }
}
