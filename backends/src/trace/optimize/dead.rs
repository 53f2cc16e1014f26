//! Removes values that nobody uses, private slots that nobody reads, and branches and loops without effect.

use super::super::ir::{Block, Op, Program, Statement, Value};
use super::for_each_use;
use std::mem;

struct Live {
    values: Vec<bool>,
    slots: Vec<bool>,
    changed: bool,
}

impl Live {
    fn value(&mut self, value: Value) {
        let live = &mut self.values[value as usize];
        self.changed |= !*live;
        *live = true;
    }
    fn is_live(&self, value: Value) -> bool {
        self.values[value as usize]
    }
}

fn has_effect(op: &Op) -> bool {
    matches!(op, Op::Atomic(..) | Op::CompareExchange(..))
}

pub(super) fn eliminate(program: &mut Program) {
    let mut body = mem::take(&mut program.body);
    let mut live =
        Live { values: vec![false; program.types.len()], slots: vec![false; program.private_slots], changed: true };
    // What a loop carries and what private slots hold is used before it is defined in the text.
    while mem::take(&mut live.changed) {
        mark(program, &body, &mut live);
    }
    sweep(program, &mut body, &live);
    program.body = body;
}

/// Marks what the block needs, last statement first; whether the block has an effect.
fn mark(program: &Program, block: &Block, live: &mut Live) -> bool {
    let mut effect = false;
    for statement in block.0.iter().rev() {
        let needed = match statement {
            Statement::Let { value, .. } => {
                let op = &program.ops[*value as usize];
                let needed = has_effect(op) || live.is_live(*value);
                if let (Op::PrivateGet(slot), true) = (op, needed) {
                    live.changed |= !live.slots[*slot];
                    live.slots[*slot] = true;
                }
                effect |= has_effect(op);
                needed
            }
            Statement::Store { .. } | Statement::Barrier { .. } => {
                effect = true;
                true
            }
            Statement::PrivateSet { slot, .. } => {
                effect |= live.slots[*slot];
                live.slots[*slot]
            }
            Statement::If { body, .. } => {
                let inner = mark(program, body, live);
                effect |= inner;
                inner || defines_live(body, live)
            }
            Statement::Loop { start, end, body, carried, .. } => {
                for carried in carried {
                    if live.is_live(carried.after) || live.is_live(carried.inside) {
                        [carried.inside, carried.next, carried.after].into_iter().for_each(|value| live.value(value));
                    }
                }
                let inner = mark(program, body, live);
                effect |= inner;
                let needed = inner || carried.iter().any(|carried| live.is_live(carried.after));
                if needed {
                    live.value(*start);
                    live.value(*end);
                    for carried in carried {
                        if live.is_live(carried.inside) {
                            live.value(carried.initial);
                        }
                    }
                }
                continue;
            }
            Statement::Remark { .. } => false,
        };
        if needed {
            for_each_use(program, statement, |value| live.value(value));
        }
    }
    effect
}

/// Whether a branch defines a value that is used after it: the old element of an update that happens once.
fn defines_live(block: &Block, live: &Live) -> bool {
    block.0.iter().any(|statement| matches!(statement, Statement::Let { value, .. } if live.is_live(*value)))
}

fn sweep(program: &Program, block: &mut Block, live: &Live) {
    let mut kept: Vec<Statement> = Vec::with_capacity(block.0.len());
    for mut statement in mem::take(&mut block.0) {
        let keep = match &mut statement {
            Statement::Let { value, .. } => live.is_live(*value) || has_effect(&program.ops[*value as usize]),
            Statement::PrivateSet { slot, .. } => live.slots[*slot],
            Statement::If { body, .. } => {
                sweep(program, body, live);
                !is_empty(body)
            }
            Statement::Loop { body, carried, .. } => {
                sweep(program, body, live);
                carried.retain(|carried| live.is_live(carried.inside));
                !is_empty(body) || carried.iter().any(|carried| live.is_live(carried.after))
            }
            Statement::Store { .. } | Statement::Barrier { .. } | Statement::Remark { .. } => true,
        };
        if keep {
            join(program, &mut kept, statement);
        }
    }
    block.0 = kept;
}

fn is_empty(block: &Block) -> bool {
    block.0.iter().all(|statement| matches!(statement, Statement::Remark { .. }))
}

/// Appends a statement. A branch with the condition of the last branch joins it, if only pure values stand between.
fn join(program: &Program, kept: &mut Vec<Statement>, statement: Statement) {
    let Statement::If { condition, body } = statement else { return kept.push(statement) };
    let is_pure = |statement: &Statement| match statement {
        Statement::Let { value, .. } => program.ops[*value as usize].is_pure(),
        _ => false,
    };
    let between = kept.iter().rev().take_while(|statement| is_pure(statement)).count();
    let place = kept.len() - between;
    let joins = place > 0 && matches!(&kept[place - 1], Statement::If { condition: other, .. } if *other == condition);
    let Some(Statement::If { body: earlier, .. }) = joins.then(|| &kept[place - 1]) else {
        return kept.push(Statement::If { condition, body });
    };
    let mut depends = false;
    for statement in &kept[place..] {
        for_each_use(program, statement, |value| {
            depends |= earlier.0.iter().any(|s| matches!(s, Statement::Let { value: own, .. } if *own == value));
        });
    }
    if depends {
        return kept.push(Statement::If { condition, body });
    }
    // The pure values move before the branch, whose second half may use them.
    let mut branch = kept.remove(place - 1);
    if let Statement::If { body: earlier, .. } = &mut branch {
        earlier.0.extend(body.0);
    }
    kept.push(branch);
}
