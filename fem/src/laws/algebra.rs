//! Laws of a single operator.

use super::operator::{ElementMatrix, NullSpace, Operator, OperatorError};
use super::sample::{Sample, SplitMix};
use crate::viscous::Condition;
use farro_portability::conformance::Outcome;

/// Why a law ended early.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// It does not hold; with numbers.
    Failed(String),
    /// It does not apply or cannot run; with the reason.
    Skipped(String),
}

/// How a law ended.
pub type Verdict = Result<(), Stop>;

/// The verdict as an entry of a report.
pub fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Ok(()) => Outcome::Passed,
        Err(Stop::Failed(message)) => Outcome::Failed(message),
        Err(Stop::Skipped(reason)) => Outcome::Skipped(reason),
    }
}

impl From<OperatorError> for Stop {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::CannotRun(reason) => Stop::Skipped(reason),
            OperatorError::Failed(message) => Stop::Failed(format!("error: {message}")),
        }
    }
}

/// Rounding errors that a law allows, in units of [`Operator::epsilon`] relative to the size of what is compared.
pub const ROUNDINGS: f64 = 400.0;

/// The relative difference that a law allows for this operator.
pub fn tolerance(op: &dyn Operator) -> f64 {
    ROUNDINGS * op.epsilon()
}

fn skip<T>(reason: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Skipped(reason.into()))
}
fn norm(op: &dyn Operator, a: &[f64]) -> f64 {
    op.nodes().norm(op.components(), a)
}
fn dot(op: &dyn Operator, a: &[f64], b: &[f64]) -> f64 {
    op.nodes().dot(op.components(), a, b)
}
fn combine(a: f64, x: &[f64], b: f64, y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| a * x + b * y).collect()
}
/// A u, refused if its length is wrong or it has values that are not finite.
fn apply(op: &dyn Operator, u: &[f64]) -> Result<Vec<f64>, Stop> {
    let y = op.apply(u)?;
    if y.len() != u.len() {
        return Err(Stop::Failed(format!("A u has {} values for {} of u", y.len(), u.len())));
    }
    match y.iter().position(|value| !value.is_finite()) {
        Some(place) => {
            let (node, c) = (place / op.components(), place % op.components());
            let (at, value) = (op.nodes().positions[node], y[place]);
            Err(Stop::Failed(format!(
                "component {c} of node {node} at {at:?} is {value}: not every result was written"
            )))
        }
        None => Ok(y),
    }
}

/// Fails unless `found` and `expected` differ by at most `allowed · scale` in the norm of unique nodes; the message names
/// the place of the largest difference.
pub(super) fn near(
    op: &dyn Operator,
    what: &str,
    found: &[f64],
    expected: &[f64],
    scale: f64,
    allowed: f64,
) -> Verdict {
    let difference = combine(1.0, found, -1.0, expected);
    let error = norm(op, &difference);
    // Written so that a difference that is not a number fails.
    if error <= allowed * scale {
        return Ok(());
    }
    let mut worst = 0;
    for (place, value) in difference.iter().enumerate() {
        if !(value.abs() <= difference[worst].abs()) {
            worst = place;
        }
    }
    let (node, c) = (worst / op.components(), worst % op.components());
    Err(Stop::Failed(format!(
        "{what}: relative difference {:e}, allowed {allowed:e}; largest at component {c} of node {node} at {:?}: {:e} \
         instead of {:e}",
        error / scale,
        op.nodes().positions[node],
        found[worst],
        expected[worst]
    )))
}

/// A (a u + b v) = a A u + b A v.
///
/// # Errors
/// As all laws: [`Stop::Failed`] if it does not hold, [`Stop::Skipped`] if it does not apply.
pub fn linearity(op: &dyn Operator, u: &Sample, v: &Sample, [a, b]: [f64; 2]) -> Verdict {
    let (u, v) = (u.field(op.nodes()), v.field(op.nodes()));
    let (au, av) = (apply(op, &u)?, apply(op, &v)?);
    let found = apply(op, &combine(a, &u, b, &v))?;
    let scale = a.abs() * norm(op, &au) + b.abs() * norm(op, &av);
    near(op, "A (a u + b v) against a A u + b A v", &found, &combine(a, &au, b, &av), scale, tolerance(op))
}

/// v · A u = u · A v.
///
/// # Errors
/// As [`linearity`].
pub fn symmetry(op: &dyn Operator, u: &Sample, v: &Sample) -> Verdict {
    if !op.claims().symmetric {
        return skip("the operator does not claim to be symmetric");
    }
    let (u, v) = (u.field(op.nodes()), v.field(op.nodes()));
    let (au, av) = (apply(op, &u)?, apply(op, &v)?);
    let (left, right) = (dot(op, &v, &au), dot(op, &u, &av));
    let scale = norm(op, &v) * norm(op, &au) + norm(op, &u) * norm(op, &av);
    let allowed = tolerance(op);
    if (left - right).abs() <= allowed * scale {
        return Ok(());
    }
    let relative = (left - right).abs() / scale;
    Err(Stop::Failed(format!(
        "v·Au = {left:e}, u·Av = {right:e}: relative difference {relative:e}, allowed {allowed:e}"
    )))
}

/// u · A u ≥ 0, and > 0 unless u is close to the null space; `random` gives the size of A that tells.
///
/// # Errors
/// As [`linearity`].
pub fn positivity(op: &dyn Operator, u: &Sample, random: &Sample) -> Verdict {
    if !op.claims().positive {
        return skip("the operator does not claim to be positive");
    }
    let u = u.field(op.nodes());
    let au = apply(op, &u)?;
    let (energy, size) = (dot(op, &u, &au), unrelated_size(op, &u, random)?);
    let noise = tolerance(op) * norm(op, &u) * size;
    // A u well above the noise means that u is no null vector.
    let is_strict = norm(op, &au) > tolerance(op).sqrt() * size;
    if energy >= -noise && (energy > 0.0 || !is_strict) {
        return Ok(());
    }
    Err(Stop::Failed(format!("u·Au = {energy:e}, but at least {:e} is expected", if is_strict { 0.0 } else { -noise })))
}

/// The fields that should be mapped to zero, with names.
fn null_fields(op: &dyn Operator) -> Vec<(String, Vec<f64>)> {
    let (nodes, components) = (op.nodes(), op.components());
    let field = |f: &dyn Fn([f64; 3], usize) -> f64| -> Vec<f64> {
        nodes.positions.iter().flat_map(|&p| (0..components).map(move |c| (p, c))).map(|(p, c)| f(p, c)).collect()
    };
    let mut fields = Vec::new();
    if op.claims().null_space == NullSpace::Nothing {
        return fields;
    }
    for k in 0..components {
        fields.push((format!("translation along {k}"), field(&|_, c| f64::from(u8::from(c == k)))));
    }
    if op.claims().null_space == NullSpace::Constants || components != 3 {
        return fields;
    }
    for k in 0..3 {
        let (a, b) = ((k + 1) % 3, (k + 2) % 3);
        let rotation = move |p: [f64; 3], c: usize| match c {
            _ if c == a => -p[b],
            _ if c == b => p[a],
            _ => 0.0,
        };
        fields.push((format!("rotation about {k}"), field(&rotation)));
    }
    if op.claims().null_space == NullSpace::RigidAndDilation {
        fields.push(("dilation".into(), field(&|p, c| p[c])));
    }
    fields
}

/// The size that A t could have for a t without cancellation, measured with a random field.
fn unrelated_size(op: &dyn Operator, t: &[f64], random: &Sample) -> Result<f64, Stop> {
    let w = random.field(op.nodes());
    Ok(norm(op, &apply(op, &w)?) * norm(op, t) / norm(op, &w))
}

/// A t = 0 for the null space that the operator claims; `random` gives the size that A t is compared with.
///
/// # Errors
/// As [`linearity`].
pub fn null_space(op: &dyn Operator, random: &Sample) -> Verdict {
    let fields = null_fields(op);
    if fields.is_empty() {
        return skip("the operator claims no null space (boundary conditions remove it)");
    }
    for (name, t) in fields {
        let scale = unrelated_size(op, &t, random)?;
        near(op, &name, &apply(op, &t)?, &vec![0.0; t.len()], scale, tolerance(op))?;
    }
    Ok(())
}

/// Linear fields u_c = g_c · x have no result at nodes that lie on no surface.
///
/// # Errors
/// As [`linearity`].
pub fn patch_test(op: &dyn Operator, slopes: &Sample, random: &Sample) -> Verdict {
    if !op.claims().linear_patch {
        return skip(
            "the operator claims no patch test (coefficient, quadrature or boundary conditions do not allow it)",
        );
    }
    let (nodes, components) = (op.nodes(), op.components());
    let interior: Vec<f64> = nodes.normals.iter().map(|n| f64::from(u8::from(n.is_none()))).collect();
    if interior.iter().all(|&inside| inside == 0.0) {
        return skip("no node lies inside");
    }
    let linear = |p: &[f64; 3], c: usize| (0..3).map(|d| slopes.at(3 * c + d, 0) * p[d]).sum::<f64>();
    let u: Vec<f64> = nodes.positions.iter().flat_map(|p| (0..components).map(move |c| linear(p, c))).collect();
    let y: Vec<f64> =
        apply(op, &u)?.chunks(components).zip(&interior).flat_map(|(y, i)| y.iter().map(move |y| y * i)).collect();
    near(op, "A u inside, for linear u", &y, &vec![0.0; y.len()], unrelated_size(op, &u, random)?, tolerance(op))
}

/// All copies of a geometric node have the same result.
///
/// # Errors
/// As [`linearity`].
pub fn copies_agree(op: &dyn Operator, u: &Sample) -> Verdict {
    let (nodes, components) = (op.nodes(), op.components());
    let y = apply(op, &u.field(nodes))?;
    let mut first = vec![None; nodes.unique()];
    for (node, &number) in nodes.numbers.iter().enumerate() {
        let values = &y[node * components..(node + 1) * components];
        let owner: &mut Option<&[f64]> = &mut first[number];
        if *owner.get_or_insert(values) != values {
            return Err(Stop::Failed(format!("copies of node {number} have {owner:?} and {values:?}")));
        }
    }
    Ok(())
}

/// `y + A u` differs from `y` by A u.
///
/// # Errors
/// As [`linearity`].
pub fn replace_and_add(op: &dyn Operator, u: &Sample, y: &Sample) -> Verdict {
    let (u, y) = (u.field(op.nodes()), y.field(op.nodes()));
    let Some(found) = op.apply_add(&u, &y)? else { return skip("the operator does not add") };
    let au = apply(op, &u)?;
    let scale = norm(op, &au) + norm(op, &y);
    near(op, "y + A u", &found, &combine(1.0, &y, 1.0, &au), scale, tolerance(op))
}

/// The same input gives the same bits in `runs` runs.
///
/// # Errors
/// As [`linearity`].
pub fn repeatable(op: &dyn Operator, u: &Sample, runs: usize) -> Verdict {
    if !op.claims().repeatable {
        return skip("the operator does not claim the same bits in every run (atomic sums have no order)");
    }
    let u = u.field(op.nodes());
    let first = apply(op, &u)?;
    for run in 1..runs {
        let again = apply(op, &u)?;
        if let Some(place) = (0..first.len()).find(|&i| first[i].to_bits() != again[i].to_bits()) {
            return Err(Stop::Failed(format!(
                "run {run} gives {:e} instead of {:e} at value {place}",
                again[place], first[place]
            )));
        }
    }
    Ok(())
}

/// The product of element matrices with u, summed over elements and copies, with constrained rows as documented: what is
/// prescribed drops out, and the diagonal of the elements stays.
fn assembled_product(op: &dyn Operator, elements: &[ElementMatrix], u: &[f64]) -> Vec<f64> {
    let (nodes, n) = (op.nodes(), op.components());
    let mut y = vec![0.0; u.len()];
    for element in elements {
        let size = element.nodes.len() * n;
        let at = |node: usize| &u[node * n..(node + 1) * n];
        let free: Vec<f64> = element.nodes.iter().flat_map(|&node| nodes.free_part(node, at(node))).collect();
        for (i, &node) in element.nodes.iter().enumerate() {
            let row = |c: usize| &element.entries[(n * i + c) * size..][..size];
            let product: Vec<f64> = (0..n).map(|c| row(c).iter().zip(&free).map(|(a, u)| a * u).sum()).collect();
            let kept = kept_part(op, node, |c, d| row(c)[n * i + d], at(node));
            for (c, value) in nodes.free_part(node, &product).into_iter().enumerate() {
                y[node * n + c] += value + kept[c];
            }
        }
    }
    nodes.add_copies(n, &mut y);
    y
}

/// What a constrained node keeps of its row, for the block of an element and the velocity there.
fn kept_part(op: &dyn Operator, node: usize, block: impl Fn(usize, usize) -> f64, u: &[f64]) -> Vec<f64> {
    match (op.nodes().conditions[node], op.nodes().normals[node]) {
        (Condition::Neumann, _) => vec![0.0; u.len()],
        (Condition::FreeSlip, Some(normal)) if u.len() == 3 => {
            let mut stiffness = 0.0;
            for c in 0..3 {
                for d in 0..3 {
                    stiffness += normal[c] * block(c, d) * normal[d];
                }
            }
            let along: f64 = normal.iter().zip(u).map(|(n, u)| n * u).sum();
            normal.iter().map(|n| n * stiffness * along).collect()
        }
        _ => u.iter().enumerate().map(|(c, u)| block(c, c) * u).collect(),
    }
}

fn elements(op: &dyn Operator) -> Result<Vec<ElementMatrix>, Stop> {
    op.elements()?.map_or_else(|| skip("the operator gives no element matrices"), Ok)
}

/// A u is the product of the assembled element matrices with u, under every condition.
///
/// # Errors
/// As [`linearity`].
pub fn assembled(op: &dyn Operator, u: &Sample) -> Verdict {
    let elements = elements(op)?;
    let u = u.field(op.nodes());
    let expected = assembled_product(op, &elements, &u);
    let found = apply(op, &u)?;
    near(op, "A u against assembled matrices", &found, &expected, norm(op, &expected), tolerance(op))
}

/// The diagonal has the entries e · A e; those of `probes` degrees of freedom are asked for, and all of them compared with
/// the assembled matrices if the operator gives these.
///
/// # Errors
/// As [`linearity`].
pub fn diagonal(op: &dyn Operator, probes: usize, seed: u64) -> Verdict {
    let Some(found) = op.diagonal()? else { return skip("the operator gives no diagonal") };
    let (nodes, n) = (op.nodes(), op.components());
    let mut random = SplitMix::new(seed);
    let allowed = tolerance(op);
    // Surfaces have formulas of their own, so half of the probes go there.
    let surface: Vec<usize> = (0..nodes.len()).filter(|&node| nodes.normals[node].is_some()).collect();
    for probe in 0..probes {
        let on_surface = probe % 2 == 0 && !surface.is_empty();
        let node = if on_surface { surface[random.below(surface.len())] } else { random.below(nodes.len()) };
        let c = random.below(n);
        let mut unit = vec![0.0; nodes.len() * n];
        for (other, &number) in nodes.numbers.iter().enumerate() {
            if number == nodes.numbers[node] {
                unit[other * n + c] = 1.0;
            }
        }
        let (expected, found) = (apply(op, &unit)?[node * n + c], found[node * n + c]);
        let relative = (found - expected).abs() / expected.abs();
        if !(relative <= allowed) {
            let (at, condition) = (nodes.positions[node], nodes.conditions[node]);
            return Err(Stop::Failed(format!(
                "component {c} of node {node} at {at:?} ({condition:?}) is {found:e}, but e·Ae = {expected:e}: relative \
                 difference {relative:e}, allowed {allowed:e}"
            )));
        }
    }
    let Some(elements) = op.elements()? else { return Ok(()) };
    let mut blocks = vec![0.0; nodes.len() * n * n];
    for element in &elements {
        let size = element.nodes.len() * n;
        for (i, &node) in element.nodes.iter().enumerate() {
            for (place, sum) in blocks[node * n * n..(node + 1) * n * n].iter_mut().enumerate() {
                *sum += element.entries[(n * i + place / n) * size + n * i + place % n];
            }
        }
    }
    nodes.add_copies(n * n, &mut blocks);
    let mut expected = Vec::with_capacity(found.len());
    for (node, block) in blocks.chunks(n * n).enumerate() {
        for c in 0..n {
            let unit: Vec<f64> = (0..n).map(|d| f64::from(u8::from(c == d))).collect();
            let free = nodes.free_part(node, &unit);
            let within: f64 = (0..n * n).map(|place| free[place / n] * block[place] * free[place % n]).sum();
            expected.push(within + kept_part(op, node, |a, b| block[n * a + b], &unit)[c]);
        }
    }
    near(op, "the diagonal against assembled matrices", &found, &expected, norm(op, &expected), allowed)
}

/// What is prescribed is decoupled: rows of given velocities are the diagonal times u, and the normal velocity of a
/// slipping node meets the normal result of that node alone.
///
/// # Errors
/// As [`linearity`].
pub fn constrained_nodes(op: &dyn Operator, u: &Sample, v: &Sample) -> Verdict {
    let (nodes, n) = (op.nodes(), op.components());
    if nodes.conditions.iter().all(|&condition| condition == Condition::Neumann) {
        return skip("no node is constrained");
    }
    let (u, v) = (u.field(nodes), v.field(nodes));
    let part = |field: &[f64], free: bool| -> Vec<f64> {
        let mut parts = Vec::with_capacity(field.len());
        for (node, vector) in field.chunks(n).enumerate() {
            let kept = nodes.free_part(node, vector);
            parts.extend(kept.iter().zip(vector).map(|(kept, all)| if free { *kept } else { all - kept }));
        }
        parts
    };
    // What is free at u gives nothing where v is prescribed, and the other way round.
    let (of_free, of_given) = (apply(op, &part(&u, true))?, apply(op, &part(&v, false))?);
    let scale = norm(op, &of_free) + norm(op, &of_given);
    let zero = vec![0.0; u.len()];
    let allowed = tolerance(op);
    near(op, "given rows, for free velocities", &part(&of_free, false), &zero, scale, allowed)?;
    near(op, "free rows, for given velocities", &part(&of_given, true), &zero, scale, allowed)?;
    // Each given component stands alone: with half of the nodes only, results are those of these nodes.
    let chosen = |node: usize| nodes.numbers[node] % 2 == 0;
    let half = |field: &[f64]| -> Vec<f64> {
        field.iter().enumerate().map(|(i, &value)| if chosen(i / n) { value } else { 0.0 }).collect()
    };
    let of_half = apply(op, &half(&part(&v, false)))?;
    near(op, "given rows of half of the nodes", &of_half, &half(&of_given), scale, allowed)?;
    let Some(diagonal) = op.diagonal()? else { return Ok(()) };
    let fixed = |node: usize| nodes.conditions[node] == Condition::Dirichlet;
    let of_fixed = |field: &[f64]| -> Vec<f64> {
        field.iter().enumerate().map(|(i, &value)| if fixed(i / n) { value } else { 0.0 }).collect()
    };
    let expected: Vec<f64> = of_fixed(&v).iter().zip(&diagonal).map(|(v, d)| v * d).collect();
    near(op, "rows of given velocities against the diagonal", &of_fixed(&of_given), &expected, scale, allowed)
}
