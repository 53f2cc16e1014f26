//! Moves integers that do not change in a loop before it.

use super::super::ir::{Binary, Block, Op, Program, Statement, Value};
use super::for_each_use;
use std::collections::HashSet;
use std::mem;

pub(super) fn hoist_integers(program: &mut Program) {
    let mut body = mem::take(&mut program.body);
    // Inner blocks first, so that a value climbs out of several loops.
    body.visit_mut(&mut |statements| {
        for mut statement in mem::take(statements) {
            if let Statement::Loop { index, carried, body, .. } = &mut statement {
                let mut inside: HashSet<Value> = carried.iter().map(|carried| carried.inside).collect();
                inside.insert(*index);
                collect_definitions(body, &mut inside);
                for inner in mem::take(&mut body.0) {
                    match &inner {
                        Statement::Let { value, .. } if is_invariant(program, &inner, *value, &inside) => {
                            inside.remove(value);
                            statements.push(inner);
                        }
                        _ => body.0.push(inner),
                    }
                }
            }
            statements.push(statement);
        }
    });
    program.body = body;
}

fn is_invariant(program: &Program, statement: &Statement, value: Value, inside: &HashSet<Value>) -> bool {
    let op = &program.ops[value as usize];
    // A division may be one that a branch or an empty loop guards.
    let divides = match op {
        Op::Binary(Binary::Div | Binary::Rem, _, divisor) => program.constant(*divisor).is_none_or(|d| d == 0),
        _ => false,
    };
    let mut invariant = op.is_pure() && !program.types[value as usize].is_real() && !divides;
    for_each_use(program, statement, |operand| invariant &= !inside.contains(&operand));
    invariant
}

fn collect_definitions(block: &Block, values: &mut HashSet<Value>) {
    block.visit(&mut |statement| match statement {
        Statement::Let { value, .. } => {
            values.insert(*value);
        }
        Statement::Loop { index, carried, .. } => {
            values.insert(*index);
            values.extend(carried.iter().flat_map(|carried| [carried.inside, carried.after]));
        }
        _ => {}
    });
}
