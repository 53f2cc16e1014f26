//! Which values may differ between the work items of a team.

use crate::trace::ir::{Block, Op, Program, Special, Statement, Value};

/// For each value, whether it may differ between the work items of a team.
pub(super) fn varying_values(program: &Program) -> Vec<bool> {
    let mut varying = vec![false; program.types.len()];
    // What a loop carries depends on the end of its body.
    while pass(program, &program.body, &mut varying, false) {}
    varying
}

fn pass(program: &Program, block: &Block, varying: &mut [bool], divergent: bool) -> bool {
    let mut changed = false;
    for statement in &block.0 {
        let mut set = |value: Value, varies: bool, varying: &mut [bool]| {
            changed |= varies && !varying[value as usize];
            varying[value as usize] |= varies;
        };
        match statement {
            Statement::Let { value, .. } => {
                let op = &program.ops[*value as usize];
                let own = matches!(op, Op::Atomic(..) | Op::CompareExchange(..) | Op::PrivateGet(_) | Op::Shift(..));
                let varies =
                    own || divergent || op.operands().iter().any(|&operand| is_varying(program, operand, varying));
                set(*value, varies, varying);
            }
            Statement::If { condition, body } => {
                let divergent = divergent || is_varying(program, *condition, varying);
                changed |= pass(program, body, varying, divergent);
            }
            Statement::Loop { index, start, end, carried, body, .. } => {
                let bounds = divergent || [*start, *end].iter().any(|&bound| is_varying(program, bound, varying));
                set(*index, bounds, varying);
                for carried in carried {
                    let varies =
                        bounds || [carried.initial, carried.next].iter().any(|&v| is_varying(program, v, varying));
                    set(carried.inside, varies, varying);
                    set(carried.after, varies, varying);
                }
                changed |= pass(program, body, varying, bounds);
            }
            _ => {}
        }
    }
    changed
}

/// Whether a value varies, the work item's own number included.
pub(super) fn is_varying(program: &Program, value: Value, varying: &[bool]) -> bool {
    varying[value as usize]
        || (matches!(program.ops[value as usize], Op::Special(Special::WorkItem)) && program.work_items() > 1)
}
