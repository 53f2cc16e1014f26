//! The law that kernels touch nothing but their fields.

use super::algebra::{Stop, Verdict};
use super::operator::{Operator, OperatorError};
use super::sample::Sample;
use super::shell::ShellOperator;
use crate::viscous::args::{Fields, ViscousArgs};
use crate::viscous::arreduc::ArReduc;
use crate::viscous::cells::OverCells;
use crate::viscous::kept::AddKept;
use crate::viscous::node_block::Diagonal;
use crate::viscous::operator::VectorField;
use crate::viscous::textbook::Textbook;
use crate::viscous::{Config, FieldLayout, Mode, Variant};
use farro_portability::{Access, LaunchError, MdRangePolicy, RealElement, Space, View, ViewHandle, deep_copy};

/// Nodes around a field that kernels must leave alone, along subdomains, x, y and r.
const MARGIN: [usize; 5] = [0, 1, 2, 1, 3];

fn extents_with_margin(inner: [usize; 5]) -> [usize; 5] {
    std::array::from_fn(|d| inner[d] + 2 * MARGIN[d])
}
/// The index inside the field, if `index` is not in the margin.
fn inside(index: [usize; 5], inner: [usize; 5]) -> Option<[usize; 5]> {
    let within = (0..5).all(|d| index[d] >= MARGIN[d] && index[d] < MARGIN[d] + inner[d]);
    within.then(|| std::array::from_fn(|d| index[d] - MARGIN[d]))
}
fn window<E: RealElement, L: FieldLayout, M: farro_portability::MemorySpace, A: Access>(
    handle: ViewHandle<'_, E, 5, L, M, A>,
    inner: [usize; 5],
) -> Result<ViewHandle<'_, E, 5, L, M, A>, Stop> {
    let end = std::array::from_fn(|d| MARGIN[d] + inner[d]);
    handle.subview(MARGIN, end).map_err(|error| Stop::Failed(error.to_string()))
}

/// A value that no kernel computes.
const SENTINEL: f64 = -777.25;

/// Kernels read and write nothing outside their fields: with u and y inside larger blocks, poison around u does not
/// reach the result, sentinels around y stay, and the result inside is that of separate fields.
///
/// # Errors
/// As [`linearity`](super::linearity).
pub fn nothing_outside<S: Space, E: RealElement, L: FieldLayout>(
    op: &ShellOperator<'_, S, E, L>,
    u: &Sample,
) -> Verdict {
    let operator = op.operator();
    let inner = operator.vector_extents();
    let outer = extents_with_margin(inner);
    let u_field = u.field(op.nodes());
    let value = |[c, s, x, y, r]: [usize; 5]| u_field[3 * op.mesh().node_index(s, x, y, r) + c];
    let error = |error: farro_portability::MemoryError| Stop::from(OperatorError::from(error));
    let upload = |label: &str, f: &dyn Fn([usize; 5]) -> f64| -> Result<VectorField<E, L, S::Memory>, Stop> {
        let host = View::<E, 5, L>::from_fn(label, outer, |index| E::from_f64(f(index))).map_err(error)?;
        let mut view = View::new(operator.space().memory(), label, outer).map_err(error)?;
        deep_copy(&mut view, &host).map_err(error)?;
        Ok(view)
    };
    let u_block = upload("u with margin", &|index| inside(index, inner).map_or(f64::NAN, value))?;
    let mut y_block = upload("y with margin", &|index| if inside(index, inner).is_some() { 0.0 } else { SENTINEL })?;
    launch(op, &u_block, &mut y_block)?;
    operator.space().fence().map_err(OperatorError::from)?;

    let plain_u = op.upload("u", &u_field)?;
    let mut plain_y = operator.new_vector("y").map_err(OperatorError::from)?;
    plain_y.fill(E::POISON).map_err(error)?;
    operator.apply(&plain_u, &mut plain_y, Mode::Replace).map_err(OperatorError::from)?;
    let expected = op.download(&plain_y)?;
    let mut found = vec![0.0; expected.len()];
    let mut host = y_block.mirror().map_err(error)?;
    deep_copy(&mut host, &y_block).map_err(error)?;
    for flat in 0..outer.iter().product::<usize>() {
        let mut rest = flat;
        let mut index = [0; 5];
        for d in (0..5).rev() {
            index[d] = rest % outer[d];
            rest /= outer[d];
        }
        let y = host.get(index).to_f64();
        match inside(index, inner) {
            Some([c, s, x, yy, r]) => found[3 * op.mesh().node_index(s, x, yy, r) + c] = y,
            None if y.to_bits() == E::from_f64(SENTINEL).to_f64().to_bits() => {}
            None => return Err(Stop::Failed(format!("index {index:?} outside the field was set to {y:e}"))),
        }
    }
    let scale = op.nodes().norm(3, &expected);
    super::algebra::near(op, "a field inside a larger block", &found, &expected, scale, super::tolerance(op))?;

    // The kernel of the diagonal, too.
    let kernel = Diagonal::<Fields<E, L>> {
        rule: operator.config().rule,
        boundary: operator.config().boundary,
        fields: Fields::new(),
    };
    let [s, nx, ny, nr] = operator.cells();
    let args =
        ViscousArgs { u: window(u_block.read(), inner)?, ..operator.args(&plain_u, window(y_block.write(), inner)?) };
    let policy = MdRangePolicy::new([s, nr + 1, ny + 1, nx + 1]);
    operator.space().parallel_for_md(policy, &kernel, args).map_err(OperatorError::from)?;
    operator.space().fence().map_err(OperatorError::from)?;
    deep_copy(&mut host, &y_block).map_err(error)?;
    let sentinels = host.as_slice().iter().filter(|&&y| y == E::from_f64(SENTINEL)).count();
    let margin = outer.iter().product::<usize>() - inner.iter().product::<usize>();
    if sentinels != margin {
        return Err(Stop::Failed(format!("the diagonal wrote outside: {sentinels} of {margin} sentinels are left")));
    }
    Ok(())
}

/// The kernels of an apply on fields inside larger blocks, added to `y`.
fn launch<S: Space, E: RealElement, L: FieldLayout>(
    op: &ShellOperator<'_, S, E, L>,
    u_block: &VectorField<E, L, S::Memory>,
    y_block: &mut VectorField<E, L, S::Memory>,
) -> Verdict {
    let operator = op.operator();
    let (space, inner, fields) = (operator.space(), operator.vector_extents(), Fields::new());
    let Config { rule, boundary, variant, .. } = *operator.config();
    let unused = operator.new_vector("unused").map_err(OperatorError::from)?;
    // The macro stands for a function over the access of y.
    macro_rules! args {
        ($access:ident) => {
            ViscousArgs {
                u: window(u_block.read(), inner)?,
                ..operator.args(&unused, window(y_block.$access(), inner)?)
            }
        };
    }
    let team_policy = || operator.team_policy().map_err(OperatorError::from);
    let result: Result<(), LaunchError> = match variant {
        Variant::Textbook => {
            let kernel = OverCells { body: Textbook::<Fields<E, L>> { rule, boundary, fields }, fields };
            let extents = OverCells::<Textbook<Fields<E, L>>, Fields<E, L>>::extents(operator.cells());
            space.parallel_for_md(MdRangePolicy::new(extents), &kernel, args!(update))
        }
        Variant::ArReduc => {
            let kernel = OverCells { body: ArReduc::<Fields<E, L>> { rule, boundary, fields }, fields };
            let extents = OverCells::<ArReduc<Fields<E, L>>, Fields<E, L>>::extents(operator.cells());
            space.parallel_for_md(MdRangePolicy::new(extents), &kernel, args!(update))
        }
        Variant::Shmem => space.launch(&operator.shmem(), &team_policy()?, args!(update)),
        Variant::Tuned => space.launch(&operator.tuned(), &team_policy()?, args!(update)),
        Variant::Marching => {
            let policy = team_policy()?;
            space.launch(&operator.marching(&policy, Mode::Add), &policy, args!(write))
        }
    };
    result.map_err(OperatorError::from)?;
    if boundary.constrains() && variant != Variant::Marching {
        let kernel = AddKept::<Fields<E, L>> { boundary, fields };
        let [s, nx, ny, _] = operator.cells();
        let policy = MdRangePolicy::new([s, 2, ny + 1, nx + 1]);
        space.parallel_for_md(policy, &kernel, args!(write)).map_err(OperatorError::from)?;
    }
    Ok(())
}
