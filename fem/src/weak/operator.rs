//! The operator of a form as an object on an execution space.

use super::args::{ActionArgs, Maps};
use super::error::WeakError;
use super::form::WeakForm;
use super::schedule::Schedule;
use super::single::Single;
use super::tiled::Tiled;
use super::uses::check_form;
use crate::simplex::{DofMap, Lagrange, Quadrature, SimplexMesh};
use farro_portability::{
    Access, Borrowed, Declared, Element, HostMemory, IntElement, Layout, LayoutLeft, LayoutRight, RangeKernel,
    RangePolicy, ReadWrite, Real, Space, Target, TeamPolicy, View, ViewHandle, deep_copy, kernel_args,
};

/// A function on the nodes, `[node, component]`.
pub type NodalField<M> = View<f64, 2, LayoutRight, M>;
/// Coefficient functions on the nodes, `[function, node, component]`.
pub type NodalFields<M> = View<f64, 3, LayoutRight, M>;

kernel_args! {
    struct ZeroArgs { y: View<f64, 1, LayoutRight, ReadWrite> }
}
/// Sets all elements to zero.
#[derive(Clone, Copy, Debug, Hash)]
struct Zero;
impl RangeKernel for Zero {
    type Args = ZeroArgs<Declared>;
    const NAME: &'static str = "zero_nodes";
    #[inline(always)]
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &ZeroArgs<T>) {
        args.y.set([i], T::Real::zero());
    }
}

/// Copies host data to a space.
fn upload<E: Element, const R: usize, L: Layout, S: Space>(
    space: &S,
    label: &str,
    extents: [usize; R],
    value: impl Fn([usize; R]) -> E,
) -> Result<View<E, R, L, S::Memory>, WeakError> {
    let host = View::<E, R, L, HostMemory>::from_fn(label, extents, value)?;
    let mut view = View::new(space.memory(), label, extents)?;
    deep_copy(&mut view, &host)?;
    Ok(view)
}

/// The operator of form `F` on space `S`, with maps of integers `I`: dimension `D`, `C` components, `K` coefficient
/// functions.
pub struct WeakOperator<'s, S: Space, F, I: IntElement, const D: usize, const C: usize, const K: usize> {
    space: &'s S,
    form: F,
    degree: usize,
    schedule: Schedule,
    cells: usize,
    node_count: usize,
    per_cell: usize,
    quadrature_points: usize,
    coordinates: View<f64, 2, LayoutRight, S::Memory>,
    vertices: View<I, 2, LayoutLeft, S::Memory>,
    /// None for degree 1, whose nodes are the vertices.
    nodes: Option<View<I, 2, LayoutLeft, S::Memory>>,
    points: View<f64, 2, LayoutRight, S::Memory>,
    weights: View<f64, 1, LayoutRight, S::Memory>,
    matrices: View<f64, 3, LayoutRight, S::Memory>,
    no_coefficients: NodalFields<S::Memory>,
}

impl<'s, S: Space, F: WeakForm<D, C, K>, I: IntElement, const D: usize, const C: usize, const K: usize>
    WeakOperator<'s, S, F, I, D, C, K>
{
    /// The operator on `mesh` with Lagrange elements of `degree` and the quadrature that the form asks for.
    ///
    /// # Errors
    /// When the form does what it did not declare, the degree or the schedule is not possible, or memory is exhausted.
    pub fn new(
        space: &'s S,
        mesh: &SimplexMesh,
        degree: usize,
        form: F,
        schedule: Schedule,
    ) -> Result<Self, WeakError> {
        check_form(&form)?;
        if mesh.dimension() != D {
            return Err(WeakError::MeshDimension {
                form: F::NAME,
                form_dimension: D,
                mesh_dimension: mesh.dimension(),
            });
        }
        let element = Lagrange::new(D, degree)?;
        let rule = Quadrature::new(D, form.quadrature_degree(degree))?;
        schedule.check(rule.len(), element.len())?;
        let map = DofMap::<I>::new(mesh, &element)?;
        let table = element.tabulate(&rule);
        let cells = mesh.cell_count();
        let nodes = if degree == 1 {
            None
        } else {
            Some(upload(space, "nodes", [cells, element.len()], |[cell, node]| map.cell(cell)[node])?)
        };
        let integer = |vertex: u32| <I as num_traits::NumCast>::from(vertex).unwrap_or(I::zero());
        Ok(WeakOperator {
            space,
            form,
            degree,
            schedule,
            cells,
            node_count: map.node_count(),
            per_cell: element.len(),
            quadrature_points: rule.len(),
            coordinates: upload(space, "coordinates", [mesh.vertex_count(), D], |[vertex, d]| mesh.vertex(vertex)[d])?,
            vertices: upload(space, "vertices", [cells, D + 1], |[cell, corner]| integer(mesh.cell(cell)[corner]))?,
            nodes,
            points: upload(space, "points", [rule.len(), D], |[q, d]| rule.points()[q * D + d])?,
            weights: upload(space, "weights", [rule.len()], |[q]| rule.weights()[q])?,
            matrices: upload(space, "matrices", [1 + D, rule.len(), element.len()], |[m, q, n]| {
                table.matrices[m][q * element.len() + n]
            })?,
            no_coefficients: View::new(space.memory(), "no coefficients", [1; 3])?,
        })
    }
    /// The same operator with another schedule; the data on the space are kept.
    ///
    /// # Errors
    /// When the schedule is not possible.
    pub fn with_schedule(self, schedule: Schedule) -> Result<Self, WeakError> {
        schedule.check(self.quadrature_points, self.per_cell)?;
        Ok(WeakOperator { schedule, ..self })
    }
    /// The space.
    pub fn space(&self) -> &'s S {
        self.space
    }
    /// The schedule.
    pub fn schedule(&self) -> Schedule {
        self.schedule
    }
    /// The degree of the elements.
    pub fn degree(&self) -> usize {
        self.degree
    }
    /// Cells of the mesh.
    pub fn cells(&self) -> usize {
        self.cells
    }
    /// Nodes of the mesh.
    pub fn node_count(&self) -> usize {
        self.node_count
    }
    /// A function of zeros on the space.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub fn new_field(&self, label: &str) -> Result<NodalField<S::Memory>, WeakError> {
        Ok(View::new(self.space.memory(), label, [self.node_count, C])?)
    }
    /// A function with values `f(node, component)` on the space.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub fn field_from(&self, label: &str, f: impl Fn(usize, usize) -> f64) -> Result<NodalField<S::Memory>, WeakError> {
        upload(self.space, label, [self.node_count, C], |[node, c]| f(node, c))
    }
    /// Coefficient functions with values `f(function, node, component)` on the space.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub fn coefficients_from(
        &self,
        label: &str,
        f: impl Fn(usize, usize, usize) -> f64,
    ) -> Result<NodalFields<S::Memory>, WeakError> {
        upload(self.space, label, [K.max(1), self.node_count, C], |[k, node, c]| f(k, node, c))
    }

    fn check_extents(&self, field: &str, found: &[usize], needed: &[usize]) -> Result<(), WeakError> {
        if found == needed {
            return Ok(());
        }
        Err(WeakError::Extents { field: field.into(), found: found.to_vec(), needed: needed.to_vec() })
    }
    /// The arguments of the operator's kernels, to launch or trace one by hand.
    pub fn args<'a, A: Access>(
        &'a self,
        unknown: &'a NodalField<S::Memory>,
        coefficients: Option<&'a NodalFields<S::Memory>>,
        y: ViewHandle<'a, f64, 2, LayoutRight, S::Memory, A>,
    ) -> ActionArgs<Borrowed<'a, S::Memory>, I, A> {
        ActionArgs {
            coordinates: self.coordinates.read(),
            vertices: self.vertices.read(),
            nodes: self.nodes.as_ref().unwrap_or(&self.vertices).read(),
            points: self.points.read(),
            weights: self.weights.read(),
            matrices: self.matrices.read(),
            unknown: unknown.read(),
            coefficients: coefficients.unwrap_or(&self.no_coefficients).read(),
            y,
        }
    }
    /// The policy of the operator's kernel.
    ///
    /// # Errors
    /// When a team is not possible.
    pub fn team_policy(&self) -> Result<TeamPolicy, WeakError> {
        let items = self.schedule.work_items();
        let lanes = self.space.limits().best_vector_length.min(items.next_power_of_two());
        Ok(TeamPolicy::new(self.cells.div_ceil(self.schedule.cells()), items.div_ceil(lanes), lanes)?)
    }
    /// Sets a function to zero.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn clear(&self, y: &mut NodalField<S::Memory>) -> Result<(), WeakError> {
        Ok(self.space.parallel_for(RangePolicy::new(y.span()), &Zero, ZeroArgs { y: y.write().flatten() })?)
    }
    /// Adds the action to `y`: for a linear form the operator applied to `unknown`, else the residual there.
    /// `coefficients` are needed by forms that have some. Returns when the work is launched.
    ///
    /// # Errors
    /// When a field has the wrong extents or the launch is refused; then `y` is as before.
    pub fn apply_add(
        &self,
        unknown: &NodalField<S::Memory>,
        coefficients: Option<&NodalFields<S::Memory>>,
        y: &mut NodalField<S::Memory>,
    ) -> Result<(), WeakError> {
        self.check_extents(unknown.label(), &unknown.extents(), &[self.node_count, C])?;
        self.check_extents(y.label(), &y.extents(), &[self.node_count, C])?;
        if K > 0 {
            let found = coefficients.map_or(vec![], |coefficients| coefficients.extents().to_vec());
            self.check_extents("coefficients", &found, &[K, self.node_count, C])?;
        }
        let (policy, maps) = (self.team_policy()?, Maps::new());
        let (form, points, nodes) = (self.form, self.quadrature_points, self.per_cell);
        match self.schedule {
            Schedule::Single { cells } => {
                let kernel = Single::<F, Maps<I>, D, C, K> { form, points, nodes, cells, maps };
                self.space.launch(&kernel, &policy, self.args(unknown, coefficients, y.update()))?;
            }
            Schedule::Tiled(tiles) => {
                let kernel = Tiled::<F, Maps<I>, D, C, K> { form, points, nodes, tiles, maps };
                self.space.launch(&kernel, &policy, self.args(unknown, coefficients, y.update()))?;
            }
        }
        Ok(())
    }
    /// Replaces `y` by the action, see [`WeakOperator::apply_add`].
    ///
    /// # Errors
    /// As there; `y` may be zero if the second of the two launches failed.
    pub fn apply(
        &self,
        unknown: &NodalField<S::Memory>,
        coefficients: Option<&NodalFields<S::Memory>>,
        y: &mut NodalField<S::Memory>,
    ) -> Result<(), WeakError> {
        self.check_extents(y.label(), &y.extents(), &[self.node_count, C])?;
        self.clear(y)?;
        self.apply_add(unknown, coefficients, y)
    }
}
