//! The viscous operator of a whole shell, with the exchange between diamonds and subdomains, as laws see it.

use super::operator::{Claims, ElementMatrix, Nodes, NullSpace, Operator, OperatorError};
use crate::exchange::{Components, Exchange};
use crate::mesh::ShellMesh;
use crate::viscous::operator::VectorField;
use crate::viscous::wedge::{WEDGE_CORNERS, wedge_nodes};
use crate::viscous::{Config, FieldLayout, Mode, Rule, ViscousOperator};
use farro_portability::{
    Declared, LayoutRight, RangeKernel, RangePolicy, ReadOnly, ReadWrite, Real, RealElement, Space, Target, View,
    deep_copy, kernel_args,
};

kernel_args! {
    struct ProbeArgs { x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}
/// `y = (1 + x) − 1`, which tells the precision of the arithmetic.
#[derive(Clone, Copy, Debug, Hash)]
struct Probe;
impl RangeKernel for Probe {
    type Args = ProbeArgs<Declared>;
    const NAME: &'static str = "probe_precision";
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &ProbeArgs<T>) {
        args.y.set([i], (T::Real::one() + args.x.at([i])) - T::Real::one());
    }
}

/// Spacing of numbers near one in the arithmetic of a space.
///
/// # Errors
/// When the launch fails.
pub fn arithmetic_epsilon<S: Space>(space: &S) -> Result<f64, OperatorError> {
    let mut host = View::<f64, 1>::from_fn("x", [1], |_| 2f64.powi(-40))?;
    let mut x = View::<f64, 1, LayoutRight, S::Memory>::new(space.memory(), "x", [1])?;
    deep_copy(&mut x, &host)?;
    let mut y = View::<f64, 1, LayoutRight, S::Memory>::new(space.memory(), "y", [1])?;
    space.parallel_for(RangePolicy::new(1), &Probe, ProbeArgs { x: x.read(), y: y.write() })?;
    space.fence()?;
    deep_copy(&mut host, &y)?;
    Ok(if host.get([0]) == 0.0 { f64::from(f32::EPSILON) } else { f64::EPSILON })
}

/// A [`ViscousOperator`] on a shell, additive exchange included.
pub struct ShellOperator<'s, S: Space, E: RealElement, L: FieldLayout> {
    operator: ViscousOperator<'s, S, E, L>,
    mesh: ShellMesh,
    exchange: Exchange,
    nodes: Nodes,
    epsilon: f64,
    constant_coefficient: bool,
}

impl<'s, S: Space, E: RealElement, L: FieldLayout> ShellOperator<'s, S, E, L> {
    /// The operator with coefficient `k(number)` at the geometric node of that number.
    ///
    /// # Errors
    /// When the operator cannot be made.
    pub fn new(
        space: &'s S,
        mesh: &ShellMesh,
        config: Config,
        k: impl Fn(usize) -> f64,
    ) -> Result<Self, OperatorError> {
        let of_node = |[s, x, y, r]: [usize; 4]| k(mesh.unique_number(s, x, y, r));
        let mut made = Self::of(ViscousOperator::new(space, mesh, config, of_node)?, mesh.clone())?;
        made.constant_coefficient = (1..mesh.unique_nodes()).all(|number| k(number) == k(0));
        Ok(made)
    }
    /// An operator that exists already, on the mesh it was made for.
    ///
    /// # Errors
    /// When the mesh has other cells, or a launch that asks for the precision of the space fails.
    pub fn of(operator: ViscousOperator<'s, S, E, L>, mesh: ShellMesh) -> Result<Self, OperatorError> {
        let [nx, ny, nr] = mesh.cells();
        let cells = [mesh.subdomains().len(), nx, ny, nr];
        if operator.cells() != cells {
            let message = format!("the operator has {:?} cells, the mesh {cells:?}", operator.cells());
            return Err(OperatorError::Failed(message));
        }
        let storage = if size_of::<E>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let epsilon = storage.max(arithmetic_epsilon(operator.space())?);
        let (exchange, nodes) = (Exchange::new(&mesh), Nodes::of_shell(&mesh, operator.config().boundary));
        Ok(ShellOperator { operator, mesh, exchange, nodes, epsilon, constant_coefficient: false })
    }
    /// The same with other tunables; fields on the space are kept.
    ///
    /// # Errors
    /// When a tunable is out of range.
    pub fn with_config(self, config: Config) -> Result<Self, OperatorError> {
        let nodes = Nodes::of_shell(&self.mesh, config.boundary);
        Ok(ShellOperator { operator: self.operator.with_config(config)?, nodes, ..self })
    }
    /// The operator without the exchange.
    pub fn operator(&self) -> &ViscousOperator<'s, S, E, L> {
        &self.operator
    }
    /// The mesh.
    pub fn mesh(&self) -> &ShellMesh {
        &self.mesh
    }
    /// The exchange of copies.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// The field `[node][component]` on the space.
    pub(super) fn upload(&self, label: &str, field: &[f64]) -> Result<VectorField<E, L, S::Memory>, OperatorError> {
        let place = |[c, s, x, y, r]: [usize; 5]| 3 * self.mesh.node_index(s, x, y, r) + c;
        Ok(self.operator.vector_from(label, |index| field[place(index)])?)
    }
    /// The field of the space as `[node][component]`, without the exchange.
    pub(super) fn download(&self, field: &VectorField<E, L, S::Memory>) -> Result<Vec<f64>, OperatorError> {
        self.operator.space().fence()?;
        let mut host = field.mirror()?;
        deep_copy(&mut host, field)?;
        let [_, subdomains, nx, ny, nr] = self.operator.vector_extents();
        let mut values = Vec::with_capacity(3 * self.nodes.len());
        for s in 0..subdomains {
            for x in 0..nx {
                for y in 0..ny {
                    for r in 0..nr {
                        values.extend((0..3).map(|c| host.get([c, s, x, y, r]).to_f64()));
                    }
                }
            }
        }
        Ok(values)
    }
    fn exchanged(&self, field: &VectorField<E, L, S::Memory>) -> Result<Vec<f64>, OperatorError> {
        let mut values = self.download(field)?;
        let mesh = &self.mesh;
        let index = |s, x, y, r| mesh.node_index(s, x, y, r);
        let added = self.exchange.add(&mut values, index, Components::interleaved(3));
        added.map_err(|error| OperatorError::Failed(error.to_string()))?;
        Ok(values)
    }
    /// Whether the quadrature integrates the gradients of shape functions exactly, up to terms that cancel between
    /// layers. The lateral integrand is linear, the radial one quadratic: one radial point serves if radii are evenly
    /// spaced.
    fn integrates_gradients(&self) -> bool {
        let radii = self.mesh.radii();
        let step = |r: usize| radii[r + 1] - radii[r];
        let is_even = |r: usize| (step(r) - step(0)).abs() <= 1e-12 * radii[r];
        let per_subdomain = self.mesh.cells()[2] + 1;
        let layers = (0..radii.len() - 1).filter(|r| (r + 1) % per_subdomain != 0);
        self.operator.config().rule != Rule::OneByOne || layers.into_iter().all(is_even)
    }
}

impl<S: Space, E: RealElement, L: FieldLayout> Operator for ShellOperator<'_, S, E, L> {
    fn name(&self) -> String {
        let config = self.operator.config();
        let accumulator = if config.variant == crate::viscous::Variant::Tuned {
            format!(" {}", config.accumulator.name())
        } else {
            String::new()
        };
        format!(
            "{}{accumulator} {} on {}, f{} {}",
            config.variant.name(),
            config.rule.name(),
            self.operator.space().name(),
            8 * size_of::<E>(),
            L::NAME
        )
    }
    fn nodes(&self) -> &Nodes {
        &self.nodes
    }
    fn claims(&self) -> Claims {
        let config = self.operator.config();
        let is_free = !config.boundary.constrains();
        Claims {
            symmetric: true,
            positive: true,
            null_space: if is_free { NullSpace::RigidAndDilation } else { NullSpace::Nothing },
            linear_patch: is_free && self.constant_coefficient && self.integrates_gradients(),
            repeatable: config.variant.is_deterministic(),
        }
    }
    fn epsilon(&self) -> f64 {
        self.epsilon
    }
    fn apply(&self, u: &[f64]) -> Result<Vec<f64>, OperatorError> {
        let u = self.upload("u", u)?;
        let mut y = self.operator.new_vector("y")?;
        y.fill(E::POISON)?;
        self.operator.apply(&u, &mut y, Mode::Replace)?;
        self.exchanged(&y)
    }
    fn apply_add(&self, u: &[f64], y: &[f64]) -> Result<Option<Vec<f64>>, OperatorError> {
        // One copy of each node holds y, so that the exchange counts it once.
        let owned: Vec<f64> = y.iter().enumerate().map(|(i, y)| y * self.nodes.weights[i / 3]).collect();
        let (u, mut y) = (self.upload("u", u)?, self.upload("y", &owned)?);
        self.operator.apply(&u, &mut y, Mode::Add)?;
        self.exchanged(&y).map(Some)
    }
    fn diagonal(&self) -> Result<Option<Vec<f64>>, OperatorError> {
        let mut y = self.operator.new_vector("diagonal")?;
        y.fill(E::POISON)?;
        self.operator.diagonal(&mut y)?;
        self.exchanged(&y).map(Some)
    }
    fn elements(&self) -> Result<Option<Vec<ElementMatrix>>, OperatorError> {
        let [subdomains, nx, ny, nr] = self.operator.cells();
        let mut elements = Vec::with_capacity(2 * subdomains * nx * ny * nr);
        for s in 0..subdomains {
            for x in 0..nx {
                for y in 0..ny {
                    for r in 0..nr {
                        let matrices = self.operator.element_matrices([s, x, y, r])?;
                        debug_assert_eq!(matrices.len(), WEDGE_CORNERS.len());
                        for (wedge, matrix) in matrices.iter().enumerate() {
                            let node = |n: usize| self.mesh.node_index(s, x + n % 2, y + n / 2 % 2, r + n / 4);
                            elements.push(ElementMatrix {
                                nodes: wedge_nodes(wedge).map(node).to_vec(),
                                entries: matrix.iter().flatten().copied().collect(),
                            });
                        }
                    }
                }
            }
        }
        Ok(Some(elements))
    }
}
