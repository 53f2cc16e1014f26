//! Laws of two operators that should be the same.

use super::algebra::{ROUNDINGS, Stop, Verdict, near};
use super::operator::Operator;
use super::sample::Sample;

/// The results of `op` on the stored nodes of `like`, matched by number.
fn result_on(op: &dyn Operator, like: &dyn Operator, u: &Sample) -> Result<Vec<f64>, Stop> {
    let (nodes, n) = (op.nodes(), op.components());
    if n != like.components() || nodes.unique() != like.nodes().unique() {
        return Err(Stop::Failed(format!(
            "{} has {} nodes of {n} components, {} has {} of {}",
            op.name(),
            nodes.unique(),
            like.name(),
            like.nodes().unique(),
            like.components()
        )));
    }
    let y = op.apply(&u.field(nodes))?;
    let mut owner = vec![0; nodes.unique()];
    for (node, &number) in nodes.numbers.iter().enumerate() {
        if nodes.weights[node] != 0.0 {
            owner[number] = node;
        }
    }
    let values = like.nodes().numbers.iter().flat_map(|&number| y[owner[number] * n..][..n].iter().copied());
    Ok(values.collect())
}

/// Two operators give the same result up to rounding, whatever their layouts, variants, machines and splittings.
///
/// # Errors
/// As [`linearity`](super::linearity).
pub fn agreement(op: &dyn Operator, reference: &dyn Operator, u: &Sample) -> Verdict {
    let found = result_on(op, reference, u)?;
    let expected = reference.apply(&u.field(reference.nodes()))?;
    let scale = reference.nodes().norm(reference.components(), &expected);
    let allowed = ROUNDINGS * op.epsilon().max(reference.epsilon());
    near(reference, &format!("{} against {}", op.name(), reference.name()), &found, &expected, scale, allowed)
}

/// Two operators give the same bits, all of them finite.
///
/// # Errors
/// As [`linearity`](super::linearity).
pub fn same_bits(op: &dyn Operator, reference: &dyn Operator, u: &Sample) -> Verdict {
    let found = result_on(op, reference, u)?;
    let expected = reference.apply(&u.field(reference.nodes()))?;
    match (0..found.len()).find(|&i| found[i].to_bits() != expected[i].to_bits() || !found[i].is_finite()) {
        None => Ok(()),
        Some(i) => Err(Stop::Failed(format!(
            "{} gives {:e} at value {i}, {} gives {:e}",
            op.name(),
            found[i],
            reference.name(),
            expected[i]
        ))),
    }
}
