//! Weak forms at a point: derivatives against formulas written by hand, and declarations.

use farro_fem::laws::SplitMix;
use farro_fem::simplex::{DofMap, Lagrange, SimplexMesh};
use farro_fem::weak::{
    Elasticity, Helmholtz, Hyperelasticity, Jet, Laplace, Mass, StVenantKirchhoff, Uses, WeakError, WeakForm,
    check_form, dense_action, l2_error,
};
use farro_portability::{Predicate, Real};

fn random<const D: usize, const C: usize>(random: &mut SplitMix) -> Jet<f64, D, C> {
    Jet {
        value: std::array::from_fn(|_| random.real()),
        gradient: std::array::from_fn(|_| std::array::from_fn(|_| random.real())),
    }
}

type Matrix<const D: usize> = [[f64; D]; D];

fn product<const D: usize>(a: Matrix<D>, b: Matrix<D>) -> Matrix<D> {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..D).map(|k| a[i][k] * b[k][j]).sum()))
}
fn transpose<const D: usize>(a: Matrix<D>) -> Matrix<D> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}
fn sum<const D: usize>(x: f64, a: Matrix<D>, y: f64, b: Matrix<D>) -> Matrix<D> {
    std::array::from_fn(|i| std::array::from_fn(|j| x * a[i][j] + y * b[i][j]))
}
fn identity<const D: usize>() -> Matrix<D> {
    std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))))
}
fn trace<const D: usize>(a: Matrix<D>) -> f64 {
    (0..D).map(|i| a[i][i]).sum()
}

/// δ(F S) = δF S + F (λ tr(δE) I + 2 μ δE), δE = (δFᵀ F + Fᵀ δF) / 2.
fn hyperelasticity_by_hand<const D: usize>(lambda: f64, mu: f64, u: Matrix<D>, du: Matrix<D>) -> Matrix<D> {
    let f = sum(1.0, identity(), 1.0, u);
    let strain = sum(0.5, product(transpose(f), f), -0.5, identity());
    let stress = sum(lambda * trace(strain), identity(), 2.0 * mu, strain);
    let moved = sum(0.5, product(transpose(du), f), 0.5, product(transpose(f), du));
    let moved_stress = sum(lambda * trace(moved), identity(), 2.0 * mu, moved);
    sum(1.0, product(du, stress), 1.0, product(f, moved_stress))
}

fn hyperelasticity<const D: usize>(seed: u64) {
    let mut numbers = SplitMix::new(seed);
    let form = Hyperelasticity::default();
    let StVenantKirchhoff { lambda, mu } = form.0;
    for _ in 0..50 {
        let (u, du): (Jet<f64, D, D>, Jet<f64, D, D>) = (random(&mut numbers), random(&mut numbers));
        let found = form.integrand([0.0; D], &du, &[u]);
        let expected = hyperelasticity_by_hand(lambda, mu, u.gradient, du.gradient);
        for (found, expected) in found.gradient.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-13 * (1.0 + expected.abs()), "{found} {expected}");
        }
    }
}

#[test]
fn the_derivative_of_the_virtual_work_is_the_one_by_hand() {
    hyperelasticity::<2>(1);
    hyperelasticity::<3>(2);
}

#[test]
fn elasticity_is_a_quarter_of_the_double_contraction() {
    let mut numbers = SplitMix::new(3);
    let (u, v): (Jet<f64, 3, 3>, Jet<f64, 3, 3>) = (random(&mut numbers), random(&mut numbers));
    let found = Elasticity.integrand([0.0; 3], &u, &[]);
    let left: f64 = found.gradient.iter().flatten().zip(v.gradient.iter().flatten()).map(|(a, b)| a * b).sum();
    let symmetric = |g: Matrix<3>| sum(1.0, g, 1.0, transpose(g));
    let right: f64 = symmetric(u.gradient)
        .iter()
        .flatten()
        .zip(symmetric(v.gradient).iter().flatten())
        .map(|(a, b)| 0.25 * a * b)
        .sum();
    assert!((left - right).abs() < 1e-14);
}

/// The value, which it does not declare, may hide behind any operation.
#[derive(Clone, Copy, Debug, Hash)]
enum Careless {
    Adds,
    Selects,
    Multiplies,
    Position,
    Coefficient,
    Returns,
}

impl WeakForm<2, 1, 1> for Careless {
    const NAME: &'static str = "careless";
    const READS: Uses = Uses::GRADIENT;
    const COEFFICIENTS: Uses = Uses::GRADIENT;
    const TESTS: Uses = Uses::GRADIENT;
    fn quadrature_degree(&self, p: usize) -> usize {
        2 * p
    }
    fn integrand<R: Real>(&self, x: [R; 2], u: &Jet<R, 2, 1>, [k]: &[Jet<R, 2, 1>; 1]) -> Jet<R, 2, 1> {
        let mut result = Jet { gradient: u.gradient, ..Jet::zero() };
        let slope = &mut result.gradient[0][0];
        match self {
            Careless::Adds => *slope = *slope + u.value[0],
            Careless::Selects => *slope = u.value[0].lt(R::zero()).select(*slope, R::zero()),
            Careless::Multiplies => *slope = *slope * u.value[0].abs().sqrt().max(R::one()),
            Careless::Position => *slope = *slope * x[1],
            Careless::Coefficient => *slope = slope.mul_add(k.value[0], R::one()),
            Careless::Returns => result.value[0] = k.gradient[0][0],
        }
        result
    }
}

#[test]
fn forms_that_do_what_they_did_not_declare_are_refused() {
    let constant = |form: Careless| match check_form::<_, 2, 1, 1>(&form) {
        Err(WeakError::Undeclared { constant, .. }) => constant,
        other => panic!("{form:?}: {other:?}"),
    };
    assert_eq!(constant(Careless::Adds), "READS");
    assert_eq!(constant(Careless::Selects), "READS");
    assert_eq!(constant(Careless::Multiplies), "READS");
    assert_eq!(constant(Careless::Position), "POSITION");
    assert_eq!(constant(Careless::Coefficient), "COEFFICIENTS");
    assert_eq!(constant(Careless::Returns), "TESTS");
    check_form::<_, 2, 1, 0>(&Mass).unwrap();
    check_form::<_, 3, 1, 0>(&Helmholtz).unwrap();
    check_form::<_, 3, 3, 1>(&Hyperelasticity::default()).unwrap();
}

#[test]
fn masses_and_energies_of_the_unit_domain() {
    for (dimension, n) in [(2, 3), (3, 2)] {
        let mesh = SimplexMesh::unit(dimension, n).unwrap();
        for degree in 1..=4 {
            let element = Lagrange::new(dimension, degree).unwrap();
            let map = DofMap::<i64>::new(&mesh, &element).unwrap();
            let positions = map.positions(&mesh, &element);
            let ones = vec![1.0; map.node_count()];
            // u = x: ∫ 1 = 1, ∫ x² = 1/3 (from P1 on, products of linear functions are exact), ∫ |∇x|² = 1.
            let x: Vec<f64> = positions.chunks(dimension).map(|x| x[0]).collect();
            let (mass, stiffness) = if dimension == 2 {
                let of = |u: &[f64]| dense_action::<_, 2, 1, 0>(&Mass, &mesh, degree, u, &[]).unwrap();
                ([of(&ones), of(&x)], dense_action::<_, 2, 1, 0>(&Laplace, &mesh, degree, &x, &[]).unwrap())
            } else {
                let of = |u: &[f64]| dense_action::<_, 3, 1, 0>(&Mass, &mesh, degree, u, &[]).unwrap();
                ([of(&ones), of(&x)], dense_action::<_, 3, 1, 0>(&Laplace, &mesh, degree, &x, &[]).unwrap())
            };
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            assert!((dot(&mass[0], &ones) - 1.0).abs() < 1e-13);
            assert!((dot(&mass[1], &x) - 1.0 / 3.0).abs() < 1e-13);
            assert!((dot(&stiffness, &x) - 1.0).abs() < 1e-12);
            assert!(l2_error(&mesh, degree, 1, &x, |x, _| x[0]).unwrap() < 1e-14);
            assert!((l2_error(&mesh, degree, 1, &ones, |_, _| 0.0).unwrap() - 1.0).abs() < 1e-14);
        }
    }
}

#[test]
fn fields_and_meshes_that_do_not_fit_are_refused() {
    let mesh = SimplexMesh::unit(2, 2).unwrap();
    let short = dense_action::<_, 2, 1, 0>(&Mass, &mesh, 1, &[0.0; 8], &[]);
    assert!(matches!(short, Err(WeakError::Extents { .. })));
    let other = dense_action::<_, 3, 1, 0>(&Mass, &mesh, 1, &[0.0; 9], &[]);
    assert!(matches!(other, Err(WeakError::MeshDimension { form_dimension: 3, mesh_dimension: 2, .. })));
    assert!(dense_action::<_, 2, 1, 0>(&Mass, &mesh, 9, &[0.0; 9], &[]).is_err());
    assert!(l2_error(&mesh, 1, 1, &[0.0; 8], |_, _| 0.0).is_err());
}
