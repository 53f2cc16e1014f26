//! The five forms by which schedules are measured.

use super::form::{Derivative, Jet, Uses, WeakForm};
use crate::laws::{Claims, NullSpace};
use farro_portability::{Real, array};
use std::hash::{Hash, Hasher};

/// Mass: v · u.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Mass;

impl<const D: usize> WeakForm<D, 1, 0> for Mass {
    const NAME: &'static str = "mass";
    const READS: Uses = Uses::VALUE;
    const TESTS: Uses = Uses::VALUE;
    fn quadrature_degree(&self, p: usize) -> usize {
        2 * p
    }
    #[inline(always)]
    fn integrand<R: Real>(&self, _x: [R; D], u: &Jet<R, D, 1>, _: &[Jet<R, D, 1>; 0]) -> Jet<R, D, 1> {
        Jet { value: u.value, ..Jet::zero() }
    }
    fn claims(&self) -> Claims {
        Claims::default()
    }
}

/// Laplace: ∇v · ∇u.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Laplace;

impl<const D: usize> WeakForm<D, 1, 0> for Laplace {
    const NAME: &'static str = "laplace";
    const READS: Uses = Uses::GRADIENT;
    const TESTS: Uses = Uses::GRADIENT;
    fn quadrature_degree(&self, p: usize) -> usize {
        2 * (p - 1)
    }
    #[inline(always)]
    fn integrand<R: Real>(&self, _x: [R; D], u: &Jet<R, D, 1>, _: &[Jet<R, D, 1>; 0]) -> Jet<R, D, 1> {
        Jet { gradient: u.gradient, ..Jet::zero() }
    }
    fn claims(&self) -> Claims {
        Claims { null_space: NullSpace::Constants, linear_patch: true, ..Claims::default() }
    }
}

/// Helmholtz: ∇v · ∇u − v · u.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Helmholtz;

impl<const D: usize> WeakForm<D, 1, 0> for Helmholtz {
    const NAME: &'static str = "helmholtz";
    const READS: Uses = Uses::BOTH;
    const TESTS: Uses = Uses::BOTH;
    fn quadrature_degree(&self, p: usize) -> usize {
        2 * p
    }
    #[inline(always)]
    fn integrand<R: Real>(&self, _x: [R; D], u: &Jet<R, D, 1>, _: &[Jet<R, D, 1>; 0]) -> Jet<R, D, 1> {
        Jet { value: [-u.value[0]], gradient: u.gradient }
    }
    fn claims(&self) -> Claims {
        Claims { positive: false, ..Claims::default() }
    }
}

/// Elasticity: ¼ (∇v + ∇vᵀ) : (∇u + ∇uᵀ).
#[derive(Clone, Copy, Debug, Hash)]
pub struct Elasticity;

impl<const D: usize> WeakForm<D, D, 0> for Elasticity {
    const NAME: &'static str = "elasticity";
    const READS: Uses = Uses::GRADIENT;
    const TESTS: Uses = Uses::GRADIENT;
    fn quadrature_degree(&self, p: usize) -> usize {
        2 * (p - 1)
    }
    #[inline(always)]
    fn integrand<R: Real>(&self, _x: [R; D], u: &Jet<R, D, D>, _: &[Jet<R, D, D>; 0]) -> Jet<R, D, D> {
        let g = &u.gradient;
        // (∇u + ∇uᵀ) / 2, which is symmetric: contracted with ∇v it is the form.
        let gradient = array(
            #[inline(always)]
            |c| {
                array(
                    #[inline(always)]
                    |d| if c == d { g[c][c] } else { (g[c.min(d)][c.max(d)] + g[c.max(d)][c.min(d)]).scale(0.5) },
                )
            },
        );
        Jet { gradient, ..Jet::zero() }
    }
    fn claims(&self) -> Claims {
        Claims { null_space: NullSpace::Rigid, linear_patch: true, ..Claims::default() }
    }
}

/// The virtual work of a St Venant-Kirchhoff solid: (F S) : ∇v with the energy λ/2 tr(E)² + μ tr(E²), E = (Fᵀ F − I) / 2,
/// F = I + ∇u.
#[derive(Clone, Copy, Debug)]
pub struct StVenantKirchhoff {
    /// First Lamé parameter λ.
    pub lambda: f64,
    /// Shear modulus μ.
    pub mu: f64,
}

impl Default for StVenantKirchhoff {
    /// λ = 0.001 and μ = 1, as published.
    fn default() -> Self {
        StVenantKirchhoff { lambda: 0.001, mu: 1.0 }
    }
}

impl Hash for StVenantKirchhoff {
    fn hash<H: Hasher>(&self, state: &mut H) {
        [self.lambda.to_bits(), self.mu.to_bits()].hash(state);
    }
}

/// Hyperelasticity: the derivative of the virtual work of a St Venant-Kirchhoff solid.
pub type Hyperelasticity = Derivative<StVenantKirchhoff>;

impl Default for Hyperelasticity {
    fn default() -> Self {
        Derivative(StVenantKirchhoff::default())
    }
}

impl<const D: usize> WeakForm<D, D, 0> for StVenantKirchhoff {
    const NAME: &'static str = "hyperelasticity";
    const LINEAR: bool = false;
    const READS: Uses = Uses::GRADIENT;
    const TESTS: Uses = Uses::GRADIENT;
    fn quadrature_degree(&self, p: usize) -> usize {
        4 * (p - 1)
    }
    #[inline(always)]
    fn integrand<R: Real>(&self, _x: [R; D], u: &Jet<R, D, D>, _: &[Jet<R, D, D>; 0]) -> Jet<R, D, D> {
        let deformation: [[R; D]; D] = array(
            #[inline(always)]
            |i| {
                array(
                    #[inline(always)]
                    |j| if i == j { u.gradient[i][j] + R::one() } else { u.gradient[i][j] },
                )
            },
        );
        // E is symmetric: the upper half is computed.
        let mut strain = [[R::zero(); D]; D];
        for i in 0..D {
            for j in i..D {
                let mut sum = deformation[0][i] * deformation[0][j];
                for k in 1..D {
                    sum = deformation[k][i].mul_add(deformation[k][j], sum);
                }
                let sum = if i == j { sum - R::one() } else { sum };
                strain[i][j] = sum.scale(0.5);
                strain[j][i] = strain[i][j];
            }
        }
        let mut trace = strain[0][0];
        for i in 1..D {
            trace = trace + strain[i][i];
        }
        let pressure = trace.scale(self.lambda);
        let mut stress = [[R::zero(); D]; D];
        for i in 0..D {
            for j in i..D {
                let shear = strain[i][j].scale(2.0 * self.mu);
                stress[i][j] = if i == j { shear + pressure } else { shear };
                stress[j][i] = stress[i][j];
            }
        }
        let gradient = array(
            #[inline(always)]
            |i| {
                array(
                    #[inline(always)]
                    |j| {
                        let mut sum = deformation[i][0] * stress[0][j];
                        for k in 1..D {
                            sum = deformation[i][k].mul_add(stress[k][j], sum);
                        }
                        sum
                    },
                )
            },
        );
        Jet { gradient, ..Jet::zero() }
    }
    // The Hessian of an energy is symmetric, and translations change nothing.
    fn claims(&self) -> Claims {
        Claims { positive: false, null_space: NullSpace::Constants, ..Claims::default() }
    }
}
