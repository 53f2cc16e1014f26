//! Boundary-value problems: conjugate gradients with given values at some nodes.

use super::error::WeakError;
use super::form::WeakForm;
use super::operator::{NodalField, WeakOperator};
use crate::simplex::{DofMap, Lagrange, Quadrature, SimplexMesh};
use farro_portability::{
    ArgSet, Borrowed, Declared, IntElement, LayoutRight, RangeKernel, RangePolicy, ReadOnly, ReadWrite, Real,
    ReduceKernel, Space, Sum, Target, ViewHandle, kernel_args,
};

kernel_args! {
    struct CombineArgs {
        a: Real,
        b: Real,
        x: View<f64, 1, LayoutRight, ReadOnly>,
        y: View<f64, 1, LayoutRight, ReadWrite>,
    }
}
/// `y = a x + b y`.
#[derive(Clone, Copy, Debug, Hash)]
struct Combine;
impl RangeKernel for Combine {
    type Args = CombineArgs<Declared>;
    const NAME: &'static str = "combine_nodes";
    #[inline(always)]
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &CombineArgs<T>) {
        args.y.set([i], args.a.mul_add(args.x.at([i]), args.b * args.y.at([i])));
    }
}

kernel_args! {
    struct PairArgs {
        x: View<f64, 1, LayoutRight, ReadOnly>,
        y: View<f64, 1, LayoutRight, ReadWrite>,
    }
}
/// `y = x y`.
#[derive(Clone, Copy, Debug, Hash)]
struct Multiply;
impl RangeKernel for Multiply {
    type Args = PairArgs<Declared>;
    const NAME: &'static str = "multiply_nodes";
    #[inline(always)]
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &PairArgs<T>) {
        args.y.set([i], args.x.at([i]) * args.y.at([i]));
    }
}

kernel_args! {
    struct DotArgs {
        x: View<f64, 1, LayoutRight, ReadOnly>,
        y: View<f64, 1, LayoutRight, ReadOnly>,
    }
}
/// `Σ x y`.
#[derive(Clone, Copy, Debug, Hash)]
struct Dot;
impl ReduceKernel for Dot {
    type Args = DotArgs<Declared>;
    type Reducer = Sum;
    const NAME: &'static str = "dot_nodes";
    #[inline(always)]
    fn value<T: Target>(&self, _t: T, i: T::Int, args: &<Self::Args as ArgSet>::With<T>) -> T::Real {
        args.x.at([i]) * args.y.at([i])
    }
}

type Flat<'a, S, A> = ViewHandle<'a, f64, 1, LayoutRight, <S as Space>::Memory, A>;

fn combine<S: Space>(
    space: &S,
    a: f64,
    x: &NodalField<S::Memory>,
    b: f64,
    y: &mut NodalField<S::Memory>,
) -> Result<(), WeakError> {
    let (x, len): (Flat<'_, S, ReadOnly>, _) = (x.read().flatten(), y.span());
    let args = CombineArgs::<Borrowed<'_, S::Memory>> { a, b, x, y: y.write().flatten() };
    Ok(space.parallel_for(RangePolicy::new(len), &Combine, args)?)
}
fn multiply<S: Space>(space: &S, x: &NodalField<S::Memory>, y: &mut NodalField<S::Memory>) -> Result<(), WeakError> {
    let len = y.span();
    let args = PairArgs::<Borrowed<'_, S::Memory>> { x: x.read().flatten(), y: y.write().flatten() };
    Ok(space.parallel_for(RangePolicy::new(len), &Multiply, args)?)
}
fn dot<S: Space>(space: &S, x: &NodalField<S::Memory>, y: &NodalField<S::Memory>) -> Result<f64, WeakError> {
    let args = DotArgs::<Borrowed<'_, S::Memory>> { x: x.read().flatten(), y: y.read().flatten() };
    let total = space.parallel_reduce(RangePolicy::new(y.span()), &Dot, args)?;
    Ok(total.first().copied().unwrap_or(0.0))
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// Steps.
    pub steps: usize,
    /// The norm of the residual relative to that of the first one.
    pub residual: f64,
}

/// Solves `A u = f` by conjugate gradients, where A is symmetric and positive definite once the values at the nodes of
/// which `fixed` is true are given. `u` holds these values and the first guess, `f` the right-hand side (already
/// integrated against test functions). Ends when the residual is `tolerance` times the first one, or after `most` steps.
///
/// # Errors
/// When a field has the wrong extents, `fixed` the wrong length, or a launch fails.
pub fn solve_cg<S: Space, F: WeakForm<D, C, 0>, I: IntElement, const D: usize, const C: usize>(
    operator: &WeakOperator<'_, S, F, I, D, C, 0>,
    f: &NodalField<S::Memory>,
    u: &mut NodalField<S::Memory>,
    fixed: &[bool],
    tolerance: f64,
    most: usize,
) -> Result<Solved, WeakError> {
    let (space, needed) = (operator.space(), [operator.node_count(), C]);
    for (field, found) in [("f", f.extents()), ("u", u.extents()), ("fixed", [fixed.len(), C])] {
        if found != needed {
            return Err(WeakError::Extents { field: field.into(), found: found.to_vec(), needed: needed.to_vec() });
        }
    }
    let free = operator.field_from("free", |node, _| f64::from(u8::from(!fixed[node])))?;
    let (mut residual, mut direction) = (operator.new_field("residual")?, operator.new_field("direction")?);
    let mut product = operator.new_field("product")?;
    operator.apply(u, None, &mut residual)?;
    combine(space, 1.0, f, -1.0, &mut residual)?;
    multiply(space, &free, &mut residual)?;
    let first = dot(space, &residual, &residual)?;
    let (mut square, mut steps) = (first, 0);
    combine(space, 1.0, &residual, 0.0, &mut direction)?;
    while steps < most && square > tolerance * tolerance * first {
        operator.apply(&direction, None, &mut product)?;
        multiply(space, &free, &mut product)?;
        let length = square / dot(space, &direction, &product)?;
        combine(space, length, &direction, 1.0, u)?;
        combine(space, -length, &product, 1.0, &mut residual)?;
        let next = dot(space, &residual, &residual)?;
        combine(space, 1.0, &residual, next / square, &mut direction)?;
        square = next;
        steps += 1;
    }
    space.fence()?;
    Ok(Solved { steps, residual: if first > 0.0 { (square / first).sqrt() } else { 0.0 } })
}

/// The L2 norm of the difference between a function on the nodes, `[node × component]`, and `exact(x, component)`, with
/// quadrature of a degree at which the element's own error dominates.
///
/// # Errors
/// When the degree is not possible or the function has the wrong length.
pub fn l2_error(
    mesh: &SimplexMesh,
    degree: usize,
    components: usize,
    function: &[f64],
    exact: impl Fn(&[f64], usize) -> f64,
) -> Result<f64, WeakError> {
    let d = mesh.dimension();
    let element = Lagrange::new(d, degree)?;
    let map = DofMap::<i64>::new(mesh, &element)?;
    if function.len() != map.node_count() * components {
        let (found, needed) = (vec![function.len()], vec![map.node_count() * components]);
        return Err(WeakError::Extents { field: "function".into(), found, needed });
    }
    let rule = Quadrature::new(d, 2 * degree + 4)?;
    let table = element.tabulate(&rule);
    let reference: f64 = rule.weights().iter().sum();
    let mut sum = 0.0;
    for cell in 0..mesh.cell_count() {
        let scale = mesh.volume(cell) / reference;
        for (q, (point, weight)) in rule.iter().enumerate() {
            let first = 1.0 - point.iter().sum::<f64>();
            let share = |corner: usize| if corner == 0 { first } else { point[corner - 1] };
            let coordinate = |axis: usize| -> f64 {
                mesh.cell(cell).iter().enumerate().map(|(k, &v)| share(k) * mesh.vertex(v as usize)[axis]).sum()
            };
            let x: Vec<f64> = (0..d).map(coordinate).collect();
            for c in 0..components {
                let row = &table.matrices[0][q * element.len()..][..element.len()];
                let found: f64 =
                    row.iter().zip(map.cell(cell)).map(|(phi, &n)| phi * function[n as usize * components + c]).sum();
                sum += scale * weight * (found - exact(&x, c)).powi(2);
            }
        }
    }
    Ok(sum.sqrt())
}
