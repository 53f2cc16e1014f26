//! The cases by which weak forms are tested, on any space.

use farro_fem::laws::{Operator, Report, SplitMix};
use farro_fem::simplex::{Quadrature, SimplexMesh, max_degree, node_count};
use farro_fem::weak::{
    DiscreteForm, Elasticity, Helmholtz, Hyperelasticity, Laplace, Mass, Schedule, Tiles, WeakForm, dense_action,
    form_laws,
};
use farro_portability::Space;

/// Something to do with each form in each dimension.
pub trait Visit {
    /// Does it.
    fn visit<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(&mut self, form: F);
}

/// Visits the five forms in two and three dimensions.
pub fn each_form(visit: &mut impl Visit) {
    visit.visit::<_, 2, 1, 0>(Mass);
    visit.visit::<_, 3, 1, 0>(Mass);
    visit.visit::<_, 2, 1, 0>(Laplace);
    visit.visit::<_, 3, 1, 0>(Laplace);
    visit.visit::<_, 2, 1, 0>(Helmholtz);
    visit.visit::<_, 3, 1, 0>(Helmholtz);
    visit.visit::<_, 2, 2, 0>(Elasticity);
    visit.visit::<_, 3, 3, 0>(Elasticity);
    visit.visit::<_, 2, 2, 1>(Hyperelasticity::default());
    visit.visit::<_, 3, 3, 1>(Hyperelasticity::default());
}

/// Tiles that divide nothing evenly, as far as the sizes allow.
pub fn odd_tiles(points: usize, nodes: usize, random: &mut SplitMix) -> Tiles {
    let mut part = |extent: usize, least: usize| extent.div_ceil(2 + random.below(3)).max(least).min(extent);
    let tile = part(points, 1);
    let (evaluation_rows, evaluation_columns) = (part(tile, 1), part(nodes, 2));
    let (quadrature_rows, quadrature_columns) = (part(nodes, 2), part(tile, 1));
    let (cells, items) = (1 + random.below(5), 1 + random.below(4));
    Tiles { points: tile, evaluation_rows, evaluation_columns, quadrature_rows, quadrature_columns, cells, items }
}

/// The relative difference between what an operator gives and what is expected.
pub fn relative_error(operator: &dyn Operator, u: &[f64], expected: &[f64]) -> f64 {
    let found = operator.apply(u).unwrap_or_else(|error| panic!("{}: {error}", operator.name()));
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    norm(&mut found.iter().zip(expected).map(|(a, b)| a - b)) / norm(&mut expected.iter().copied())
}

/// Compares every degree, by one work item a cell and by odd tiles, with the dense evaluation on a mesh of `divisions` a
/// side, for degrees up to `most`.
pub struct AgainstDense<'s, S> {
    /// Where kernels run.
    pub space: &'s S,
    /// Divisions of the mesh a side.
    pub divisions: usize,
    /// Highest degree.
    pub most: usize,
    /// Cases that were compared.
    pub compared: usize,
}

impl<S: Space> Visit for AgainstDense<'_, S> {
    fn visit<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(&mut self, form: F) {
        let mesh = SimplexMesh::unit(D, self.divisions).expect("a small mesh");
        for degree in 1..=max_degree(D).min(self.most) {
            let points = Quadrature::new(D, form.quadrature_degree(degree)).expect("a low degree").len();
            let mut random = SplitMix::new(degree as u64);
            let tiles = odd_tiles(points, node_count(D, degree), &mut random);
            let schedules = [Schedule::default(), Schedule::Tiled(tiles)];
            let operators = schedules
                .map(|schedule| DiscreteForm::new(self.space, &mesh, degree, form, schedule, 7).expect("a valid case"));
            let u: Vec<f64> = (0..operators[0].nodes().len() * C).map(|_| random.real()).collect();
            let expected = dense_action(&form, &mesh, degree, &u, operators[0].coefficients()).expect("a valid case");
            for operator in &operators {
                let error = relative_error(operator, &u, &expected);
                assert!(error < 1e-12, "{}: {error:e}", operator.name());
            }
            self.compared += 1;
        }
    }
}

/// The laws of all forms at a degree.
pub struct Laws<'s, S> {
    /// Where kernels run.
    pub space: &'s S,
    /// The degree.
    pub degree: usize,
    /// The reports.
    pub reports: Vec<Report>,
}

impl<S: Space> Visit for Laws<'_, S> {
    fn visit<F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(&mut self, form: F) {
        self.reports.push(form_laws(self.space, form, self.degree, Schedule::default(), 17));
    }
}
