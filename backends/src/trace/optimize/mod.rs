//! Passes over a traced program, before it is printed. Each leaves its meaning as it was.

mod dead;
mod hoist;
mod narrow;

use super::ir::{Op, Program, Statement, Value};

/// Which passes run. Dead code always goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Passes {
    /// Offsets into team scratch are computed with 32 bits.
    pub narrow_scratch_offsets: bool,
    /// Integers that do not change in a loop are computed before it. The compilers of all vendors do so where they can
    /// afford the registers, so this is off unless asked for.
    pub hoist_integers: bool,
}

impl Default for Passes {
    fn default() -> Self {
        Passes { narrow_scratch_offsets: true, hoist_integers: false }
    }
}

/// The program without what nobody uses, and with the passes asked for.
pub fn optimize(program: &Program, passes: Passes) -> Program {
    let mut program = program.clone();
    if passes.narrow_scratch_offsets {
        narrow::narrow_scratch_offsets(&mut program);
    }
    if passes.hoist_integers {
        hoist::hoist_integers(&mut program);
    }
    dead::eliminate(&mut program);
    program
}

/// Calls `f` with each value that a statement itself uses (not those of its blocks). Multi-indices are for checks and
/// are no uses.
pub fn for_each_use(program: &Program, statement: &Statement, mut f: impl FnMut(Value)) {
    match statement {
        Statement::Let { value, .. } => program.ops[*value as usize].operands().into_iter().for_each(f),
        Statement::Store { offset, value, .. } => {
            f(*offset);
            f(*value);
        }
        Statement::PrivateSet { value, .. } => f(*value),
        Statement::If { condition, .. } => f(*condition),
        Statement::Loop { start, end, carried, .. } => {
            f(*start);
            f(*end);
            carried.iter().for_each(|carried| f(carried.initial));
        }
        Statement::Barrier { .. } | Statement::Remark { .. } => {}
    }
}

/// Whether a value has no place of its own in the text.
pub fn is_placeless(op: &Op) -> bool {
    matches!(op, Op::Constant(_) | Op::Parameter(_) | Op::Special(_))
}
