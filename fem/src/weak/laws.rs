//! What every form must obey, checked without the form's author writing a test.

use super::error::WeakError;
use super::form::{Jet, WeakForm};
use super::operator::WeakOperator;
use super::reference::dense_action;
use super::schedule::Schedule;
use crate::laws::{
    CaseReport, Claims, Nodes, Operator, OperatorError, Outcome, Report, SplitMix, Stop, Verdict, outcome, suite,
};
use crate::simplex::{DofMap, Lagrange, SimplexMesh};
use crate::viscous::Condition;
use farro_portability::{Dual, HostMemory, Space, View, deep_copy};
use std::time::Instant;

impl From<WeakError> for OperatorError {
    fn from(error: WeakError) -> Self {
        match error {
            WeakError::Launch(error) => error.into(),
            other => OperatorError::Failed(other.to_string()),
        }
    }
}

/// A form on a mesh as an operator that the laws test, with random coefficient functions.
pub struct DiscreteForm<'s, S: Space, F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize> {
    operator: WeakOperator<'s, S, F, i32, D, C, K>,
    claims: Claims,
    nodes: Nodes,
    coefficients: Vec<f64>,
}

impl<'s, S: Space, F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>
    DiscreteForm<'s, S, F, D, C, K>
{
    /// The form on a mesh; coefficient functions are between 1/2 and 3/2, from a seed.
    ///
    /// # Errors
    /// As [`WeakOperator::new`].
    pub fn new(
        space: &'s S,
        mesh: &SimplexMesh,
        degree: usize,
        form: F,
        schedule: Schedule,
        seed: u64,
    ) -> Result<Self, WeakError> {
        let operator = WeakOperator::new(space, mesh, degree, form, schedule)?;
        let element = Lagrange::new(D, degree)?;
        let map = DofMap::<i32>::new(mesh, &element)?;
        let positions = map.positions(mesh, &element);
        let boundary = map.boundary(mesh, &element)?;
        let count = map.node_count();
        let mut normals = vec![None; count];
        for node in boundary {
            // Which way a surface looks does not matter where nothing is prescribed.
            normals[node] = Some([0.0, 0.0, 1.0]);
        }
        let nodes = Nodes {
            positions: positions.chunks(D).map(|x| std::array::from_fn(|d| x.get(d).copied().unwrap_or(0.0))).collect(),
            numbers: (0..count).collect(),
            weights: vec![1.0; count],
            normals,
            conditions: vec![Condition::Neumann; count],
        };
        let mut random = SplitMix::new(seed);
        let coefficients = (0..K * count * C).map(|_| 1.0 + 0.5 * random.real()).collect();
        Ok(DiscreteForm { operator, claims: form.claims(), nodes, coefficients })
    }
    /// The operator.
    pub fn operator(&self) -> &WeakOperator<'s, S, F, i32, D, C, K> {
        &self.operator
    }
    /// The coefficient functions: `[function × node × component]`.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }
    fn run(&self, u: &[f64], y: Option<&[f64]>) -> Result<Vec<f64>, OperatorError> {
        let operator = &self.operator;
        let count = operator.node_count();
        let unknown = operator.field_from("u", |node, c| u[node * C + c])?;
        let coefficients = operator.coefficients_from("coefficients", |k, node, c| {
            self.coefficients.get((k * count + node) * C + c).copied().unwrap_or(0.0)
        })?;
        let mut result = operator.field_from("y", |node, c| y.map_or(f64::NAN, |y| y[node * C + c]))?;
        match y {
            Some(_) => operator.apply_add(&unknown, Some(&coefficients), &mut result)?,
            None => operator.apply(&unknown, Some(&coefficients), &mut result)?,
        }
        operator.space().fence()?;
        let mut host = View::<f64, 2>::new(&HostMemory, "y", result.extents())?;
        deep_copy(&mut host, &result)?;
        Ok(host.as_slice().to_vec())
    }
}

impl<S: Space, F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize> Operator
    for DiscreteForm<'_, S, F, D, C, K>
{
    fn name(&self) -> String {
        let (degree, schedule) = (self.operator.degree(), self.operator.schedule());
        format!("{} {D}D P{degree}, {schedule}, on {}", F::NAME, self.operator.space().name())
    }
    fn nodes(&self) -> &Nodes {
        &self.nodes
    }
    fn components(&self) -> usize {
        C
    }
    fn claims(&self) -> Claims {
        self.claims
    }
    fn apply(&self, u: &[f64]) -> Result<Vec<f64>, OperatorError> {
        self.run(u, None)
    }
    fn apply_add(&self, u: &[f64], y: &[f64]) -> Result<Option<Vec<f64>>, OperatorError> {
        self.run(u, Some(y)).map(Some)
    }
}

/// A mesh with cells of many shapes: a unit mesh whose inner vertices are moved at random, in random order.
fn rough_mesh(dimension: usize, n: usize, seed: u64) -> Result<SimplexMesh, WeakError> {
    let unit = SimplexMesh::unit(dimension, n)?;
    let mut random = SplitMix::new(seed);
    let inside = |x: f64| x > 0.0 && x < 1.0;
    let mut coordinates = Vec::new();
    for vertex in 0..unit.vertex_count() {
        let moves = unit.vertex(vertex).iter().all(|&x| inside(x));
        coordinates
            .extend(unit.vertex(vertex).iter().map(|x| x + if moves { 0.15 / n as f64 * random.real() } else { 0.0 }));
    }
    let mut cells = Vec::new();
    for cell in 0..unit.cell_count() {
        let mut corners = unit.cell(cell).to_vec();
        // Cells are stored sorted; a new mesh asks for positive volumes.
        if signed_volume(&coordinates, &corners, dimension) < 0.0 {
            corners.swap(0, 1);
        }
        cells.extend(corners);
    }
    Ok(SimplexMesh::new(dimension, coordinates, cells)?)
}

fn signed_volume(coordinates: &[f64], corners: &[u32], dimension: usize) -> f64 {
    let at = |k: usize, d: usize| coordinates[corners[k] as usize * dimension + d];
    let edge = |k: usize, d: usize| at(k, d) - at(0, d);
    let minor = |a: usize, b: usize, x: usize, y: usize| edge(a, x) * edge(b, y) - edge(a, y) * edge(b, x);
    if dimension == 2 {
        minor(1, 2, 0, 1)
    } else {
        edge(1, 0) * minor(2, 3, 1, 2) - edge(1, 1) * minor(2, 3, 0, 2) + edge(1, 2) * minor(2, 3, 0, 1)
    }
}

fn random_order(len: usize, random: &mut SplitMix) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    for i in (1..len).rev() {
        order.swap(i, random.below(i + 1));
    }
    order
}

fn near(what: &str, found: &[f64], expected: &[f64], allowed: f64) -> Verdict {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let difference = norm(&mut found.iter().zip(expected).map(|(a, b)| a - b));
    let scale = norm(&mut expected.iter().copied());
    if difference <= allowed * scale {
        return Ok(());
    }
    Err(Stop::Failed(format!("{what}: relative difference {:e}, allowed {allowed:e}", difference / scale)))
}

fn random_jet<const D: usize, const C: usize>(random: &mut SplitMix) -> Jet<f64, D, C> {
    Jet {
        value: std::array::from_fn(|_| random.real()),
        gradient: std::array::from_fn(|_| std::array::from_fn(|_| random.real())),
    }
}

fn numbers<const D: usize, const C: usize>(jet: &Jet<f64, D, C>) -> Vec<f64> {
    jet.value.iter().chain(jet.gradient.iter().flatten()).copied().collect()
}

/// Dual numbers and central differences agree about the derivative of the integrand with respect to the unknown; a form
/// that says it is linear is its own derivative.
fn derivative<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(form: &F, seed: u64) -> Verdict {
    let mut random = SplitMix::new(seed);
    let x: [f64; D] = std::array::from_fn(|_| random.real());
    let (u, du) = (random_jet::<D, C>(&mut random), random_jet::<D, C>(&mut random));
    let others: [Jet<f64, D, C>; K] = std::array::from_fn(|_| random_jet(&mut random));
    let constant = |jet: &Jet<f64, D, C>| Jet {
        value: jet.value.map(Dual::constant),
        gradient: jet.gradient.map(|row| row.map(Dual::constant)),
    };
    let dual = Jet {
        value: std::array::from_fn(|c| Dual::new(u.value[c], du.value[c])),
        gradient: std::array::from_fn(|c| std::array::from_fn(|d| Dual::new(u.gradient[c][d], du.gradient[c][d]))),
    };
    let exact = form.integrand(x.map(Dual::constant), &dual, &others.each_ref().map(constant));
    let exact = numbers(&Jet {
        value: exact.value.map(|number| number.derivative),
        gradient: exact.gradient.map(|row| row.map(|number| number.derivative)),
    });
    let step = 1e-5;
    let moved = |by: f64| {
        let at = Jet {
            value: std::array::from_fn(|c| u.value[c] + by * du.value[c]),
            gradient: std::array::from_fn(|c| std::array::from_fn(|d| u.gradient[c][d] + by * du.gradient[c][d])),
        };
        numbers(&form.integrand(x, &at, &others))
    };
    let quotient: Vec<f64> = moved(step).iter().zip(moved(-step)).map(|(a, b)| (a - b) / (2.0 * step)).collect();
    near("dual numbers against central differences", &exact, &quotient, 1e-7)?;
    if F::LINEAR {
        near(
            "the integrand at a direction against its derivative",
            &numbers(&form.integrand(x, &du, &others)),
            &exact,
            1e-12,
        )?;
    }
    Ok(())
}

/// Runs all laws on a form: what it reads, its derivative, linearity, symmetry, positivity, null space and patch test
/// where claimed, agreement of the kernel with the dense evaluation, and invariance under renumbering of cells and
/// vertices. `degree` is that of the elements.
pub fn form_laws<S: Space, F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(
    space: &S,
    form: F,
    degree: usize,
    schedule: Schedule,
    seed: u64,
) -> Report {
    let mut cases = Vec::new();
    let mut law = |name: &'static str, check: &dyn Fn() -> Verdict| {
        let start = Instant::now();
        let outcome = outcome(check());
        cases.push(CaseReport { name, outcome, left_out: Vec::new(), seconds: start.elapsed().as_secs_f64() });
    };
    let stop = |error: WeakError| -> Stop { OperatorError::from(error).into() };
    law("declarations", &|| super::uses::check_form::<F, D, C, K>(&form).map_err(stop));
    law("derivative", &|| derivative(&form, seed));
    law("dense_evaluation", &|| {
        let mesh = rough_mesh(D, 2, seed).map_err(stop)?;
        let discrete = DiscreteForm::new(space, &mesh, degree, form, schedule, seed).map_err(stop)?;
        let mut random = SplitMix::new(seed + 1);
        let u: Vec<f64> = (0..discrete.nodes.len() * C).map(|_| random.real()).collect();
        let expected = dense_action(&form, &mesh, degree, &u, &discrete.coefficients).map_err(stop)?;
        near("the kernel against the dense evaluation", &discrete.apply(&u)?, &expected, 1e-12)
    });
    law("renumbering", &|| {
        let mesh = rough_mesh(D, 2, seed).map_err(stop)?;
        let mut random = SplitMix::new(seed + 2);
        let vertices: Vec<u32> =
            random_order(mesh.vertex_count(), &mut random).into_iter().map(|vertex| vertex as u32).collect();
        let other =
            mesh.renumbered(&random_order(mesh.cell_count(), &mut random), &vertices).map_err(|e| stop(e.into()))?;
        let mut a = DiscreteForm::new(space, &mesh, degree, form, schedule, seed).map_err(stop)?;
        let mut b = DiscreteForm::new(space, &other, degree, form, schedule, seed).map_err(stop)?;
        // Fields by position, so that both meshes see the same functions.
        let field = |nodes: &Nodes, shift: f64, scale: f64| -> Vec<f64> {
            let wave = |x: &[f64; 3], c: usize| (3.0 * x[0] + 5.0 * x[1] - 2.0 * x[2] + c as f64 + shift).sin();
            nodes.positions.iter().flat_map(|x| (0..C).map(move |c| shift + scale * wave(x, c))).collect()
        };
        for discrete in [&mut a, &mut b] {
            discrete.coefficients = (0..K).flat_map(|k| field(&discrete.nodes, 1.0 + k as f64, 0.5)).collect();
        }
        let (ya, yb) = (a.apply(&field(&a.nodes, 0.0, 1.0))?, b.apply(&field(&b.nodes, 0.0, 1.0))?);
        let sorted = |nodes: &Nodes, y: &[f64]| -> Vec<f64> {
            let mut order: Vec<usize> = (0..nodes.len()).collect();
            let key = |node: usize| nodes.positions[node].map(|x| (x * 1e9).round() as i64);
            order.sort_by_key(|&node| key(node));
            order.iter().flat_map(|&node| y[node * C..(node + 1) * C].to_vec()).collect()
        };
        near("results by position after renumbering", &sorted(&b.nodes, &yb), &sorted(&a.nodes, &ya), 1e-12)
    });
    let mut name = format!("form {} in {D}D", F::NAME);
    if F::LINEAR {
        let built =
            rough_mesh(D, 2, seed).and_then(|mesh| DiscreteForm::new(space, &mesh, degree, form, schedule, seed));
        match built {
            Ok(discrete) => {
                let report = suite(&discrete, seed);
                name = report.space;
                cases.extend(report.cases);
            }
            Err(error) => cases.push(CaseReport {
                name: "operator",
                outcome: Outcome::Failed(error.to_string()),
                left_out: Vec::new(),
                seconds: 0.0,
            }),
        }
    }
    Report { space: name, cases }
}
