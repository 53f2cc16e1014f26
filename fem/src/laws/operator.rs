//! What the laws ask of an operator, and what it may tell about itself.

use crate::mesh::ShellMesh;
use crate::viscous::{Boundary, Condition, ViscousError};
use farro_portability::LaunchError;
use thiserror::Error;

/// Why an operator gave no result.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OperatorError {
    /// The machine cannot run this configuration; laws are skipped for this reason.
    #[error("{0}")]
    CannotRun(String),
    /// Something is wrong; laws fail.
    #[error("{0}")]
    Failed(String),
}

impl From<ViscousError> for OperatorError {
    fn from(error: ViscousError) -> Self {
        match error {
            ViscousError::Launch(error) => error.into(),
            other => OperatorError::Failed(other.to_string()),
        }
    }
}
impl From<LaunchError> for OperatorError {
    fn from(error: LaunchError) -> Self {
        let limits = matches!(
            error,
            LaunchError::TeamTooLarge { .. }
                | LaunchError::LeagueTooLarge { .. }
                | LaunchError::ScratchTooLarge { .. }
                | LaunchError::VectorLength { .. }
        );
        if limits { OperatorError::CannotRun(error.to_string()) } else { OperatorError::Failed(error.to_string()) }
    }
}
impl From<farro_portability::MemoryError> for OperatorError {
    fn from(error: farro_portability::MemoryError) -> Self {
        OperatorError::Failed(error.to_string())
    }
}

/// The nodes on which an operator acts. Several stored nodes may be copies of one geometric node.
#[derive(Debug, Clone, PartialEq)]
pub struct Nodes {
    /// Where each node lies.
    pub positions: Vec<[f64; 3]>,
    /// The number of each node: equal for the copies of one geometric node, in every splitting of a mesh.
    pub numbers: Vec<usize>,
    /// 1 for the copy that stands for its geometric node, 0 for the others: the weights of dot products.
    pub weights: Vec<f64>,
    /// Unit normal of the surface, where a node lies on one.
    pub normals: Vec<Option<[f64; 3]>>,
    /// What is prescribed at each node; [`Condition::FreeSlip`] needs a normal and three components.
    pub conditions: Vec<Condition>,
}

impl Nodes {
    /// The nodes of a shell in the order of [`ShellMesh::node_index`].
    pub fn of_shell(mesh: &ShellMesh, boundary: Boundary) -> Self {
        let [nx, ny, nr] = mesh.cells();
        let stored = mesh.stored_nodes();
        let mut nodes = Nodes {
            positions: Vec::with_capacity(stored),
            numbers: Vec::with_capacity(stored),
            weights: Vec::with_capacity(stored),
            normals: Vec::with_capacity(stored),
            conditions: Vec::with_capacity(stored),
        };
        let mut seen = vec![false; mesh.unique_nodes()];
        for (s, subdomain) in mesh.subdomains().iter().enumerate() {
            for x in 0..=nx {
                for y in 0..=ny {
                    for r in 0..=nr {
                        let number = mesh.unique_number(s, x, y, r);
                        let side = match r {
                            0 if subdomain.inner => Some(0),
                            _ if r == nr && subdomain.outer => Some(1),
                            _ => None,
                        };
                        nodes.positions.push(mesh.position(s, x, y, r));
                        nodes.numbers.push(number);
                        nodes.weights.push(if seen[number] { 0.0 } else { 1.0 });
                        nodes.normals.push(side.map(|_| mesh.point(s, x, y)));
                        nodes.conditions.push(side.map_or(Condition::Neumann, |side| boundary.side(side)));
                        seen[number] = true;
                    }
                }
            }
        }
        nodes
    }
    /// Number of stored nodes.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
    /// Number of geometric nodes: one more than the largest number.
    pub fn unique(&self) -> usize {
        self.numbers.iter().max().map_or(0, |&largest| largest + 1)
    }
    /// Dot product of fields of `components` values a node, each geometric node counted once.
    pub fn dot(&self, components: usize, a: &[f64], b: &[f64]) -> f64 {
        let of_node = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let products = a.chunks(components).zip(b.chunks(components)).map(of_node);
        products.zip(&self.weights).map(|(product, weight)| weight * product).sum()
    }
    /// The norm of [`Nodes::dot`].
    pub fn norm(&self, components: usize, a: &[f64]) -> f64 {
        self.dot(components, a, a).sqrt()
    }
    /// Replaces the values of copies by their sum.
    pub fn add_copies(&self, components: usize, field: &mut [f64]) {
        let mut sums = vec![0.0; self.unique() * components];
        let place = |node: usize, c: usize| self.numbers[node] * components + c;
        for (i, &value) in field.iter().enumerate() {
            sums[place(i / components, i % components)] += value;
        }
        for (i, value) in field.iter_mut().enumerate() {
            *value = sums[place(i / components, i % components)];
        }
    }
    /// A vector at a node without what is prescribed there.
    pub fn free_part(&self, node: usize, vector: &[f64]) -> Vec<f64> {
        match (self.conditions[node], self.normals[node]) {
            (Condition::Neumann, _) => vector.to_vec(),
            (Condition::FreeSlip, Some(n)) if vector.len() == 3 => {
                let along: f64 = vector.iter().zip(n).map(|(v, n)| v * n).sum();
                vector.iter().zip(n).map(|(v, n)| v - along * n).collect()
            }
            _ => vec![0.0; vector.len()],
        }
    }
}

/// The matrix of one element, without what is prescribed at nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementMatrix {
    /// Its nodes, by place in [`Nodes`].
    pub nodes: Vec<usize>,
    /// Rows and columns `components · i + c` for local node `i` and component `c`, row after row.
    pub entries: Vec<f64>,
}

/// Fields that an operator maps to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NullSpace {
    /// None.
    Nothing,
    /// Constants in each component.
    Constants,
    /// Translations and rotations.
    Rigid,
    /// Translations, rotations and the dilation u = x, whose strain has no deviatoric part.
    RigidAndDilation,
}

/// What an operator claims, and the laws therefore test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Claims {
    /// v · A u = u · A v.
    pub symmetric: bool,
    /// u · A u ≥ 0, and > 0 outside the null space.
    pub positive: bool,
    /// What it maps to zero.
    pub null_space: NullSpace,
    /// Linear fields have no result inside: the coefficient is constant and the quadrature exact enough.
    pub linear_patch: bool,
    /// The same bits in every run.
    pub repeatable: bool,
}

impl Default for Claims {
    /// Symmetric and positive definite.
    fn default() -> Self {
        Claims {
            symmetric: true,
            positive: true,
            null_space: NullSpace::Nothing,
            linear_patch: false,
            repeatable: false,
        }
    }
}

/// An operator that laws can test. Fields have shape `[node][component]`, and all copies of a node the same value.
pub trait Operator {
    /// The name, for reports.
    fn name(&self) -> String;
    /// The nodes.
    fn nodes(&self) -> &Nodes;
    /// Values of a node.
    fn components(&self) -> usize {
        3
    }
    /// What to test.
    fn claims(&self) -> Claims;
    /// Spacing of numbers near one in the coarsest of storage and arithmetic.
    fn epsilon(&self) -> f64 {
        f64::EPSILON
    }
    /// `A u`; the copies of a node receive the whole result.
    ///
    /// # Errors
    /// When there is no result.
    fn apply(&self, u: &[f64]) -> Result<Vec<f64>, OperatorError>;
    /// `y + A u`; none if the operator does not add.
    ///
    /// # Errors
    /// When there is no result.
    fn apply_add(&self, _u: &[f64], _y: &[f64]) -> Result<Option<Vec<f64>>, OperatorError> {
        Ok(None)
    }
    /// The diagonal; none if the operator does not give it.
    ///
    /// # Errors
    /// When there is no result.
    fn diagonal(&self) -> Result<Option<Vec<f64>>, OperatorError> {
        Ok(None)
    }
    /// The element matrices; none if the operator does not give them.
    ///
    /// # Errors
    /// When there is no result.
    fn elements(&self) -> Result<Option<Vec<ElementMatrix>>, OperatorError> {
        Ok(None)
    }
}
