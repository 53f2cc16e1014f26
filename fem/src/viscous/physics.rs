//! The physics that all variants share, generic over [`Real`].
//!
//! With E = [E_ξ, E_η, S] (two edges of the lateral triangle on the unit sphere and the point S = Σ N p), the Jacobian
//! of a wedge is J = [r E_ξ | r E_η | (Δr/2) S]. Its inverse transposed has the columns g_ξ/r, g_η/r, 2 g_ζ/Δr, where
//! g is the basis dual to E. Scaling g by √|det E| absorbs the determinant, so radii enter only through two scalars a
//! layer, and the sign of the determinant drops out because g occurs in pairs.

use super::wedge::Point;
use farro_portability::{Real, array};

/// A vector in space.
pub type Vector<R> = [R; 3];

/// The dual basis of a lateral triangle, scaled by √|det E|.
pub type Duals<R> = [Vector<R>; 3];

/// `a × b`.
#[inline(always)]
pub fn cross<R: Real>(a: Vector<R>, b: Vector<R>) -> Vector<R> {
    array(
        #[inline(always)]
        |i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            a[j].mul_add(b[k], -(a[k] * b[j]))
        },
    )
}

/// `a · b`.
#[inline(always)]
pub fn dot<R: Real>(a: Vector<R>, b: Vector<R>) -> R {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

/// `a + b`.
#[inline(always)]
pub fn add<R: Real>(a: Vector<R>, b: Vector<R>) -> Vector<R> {
    array(
        #[inline(always)]
        |i| a[i] + b[i],
    )
}

/// `a − b`.
#[inline(always)]
pub fn sub<R: Real>(a: Vector<R>, b: Vector<R>) -> Vector<R> {
    array(
        #[inline(always)]
        |i| a[i] - b[i],
    )
}

/// `a s`.
#[inline(always)]
pub fn scale<R: Real>(a: Vector<R>, s: R) -> Vector<R> {
    array(
        #[inline(always)]
        |i| a[i] * s,
    )
}

/// `a s + b`.
#[inline(always)]
pub fn add_scaled<R: Real>(a: Vector<R>, s: R, b: Vector<R>) -> Vector<R> {
    array(
        #[inline(always)]
        |i| a[i].mul_add(s, b[i]),
    )
}

/// The scaled dual basis of triangle `p` at lateral coordinates (ξ, η).
#[inline(always)]
pub fn scaled_duals<R: Real>(p: [Vector<R>; 3], lateral: [f64; 2]) -> Duals<R> {
    let (e_xi, e_eta) = (sub(p[1], p[0]), sub(p[2], p[0]));
    let s = add_scaled(e_eta, R::lit(lateral[1]), add_scaled(e_xi, R::lit(lateral[0]), p[0]));
    let normal = cross(e_xi, e_eta);
    let inverse_root = dot(normal, s).abs().sqrt().recip();
    [scale(cross(e_eta, s), inverse_root), scale(cross(s, e_xi), inverse_root), scale(normal, inverse_root)]
}

/// For the velocity gradient G = a g₁ᵀ + b g₂ᵀ + s g₃ᵀ and viscosity κ, the vectors q_j = σ g_j of the stress
/// σ = (κ/2)(G + Gᵀ) − (κ/3) tr G.
#[inline(always)]
pub fn stress_on_duals<R: Real>(kappa: R, a: Vector<R>, b: Vector<R>, s: Vector<R>, g: &Duals<R>) -> [Vector<R>; 3] {
    let gradient: [Vector<R>; 3] = array(
        #[inline(always)]
        |i| {
            array(
                #[inline(always)]
                |j| s[i].mul_add(g[2][j], b[i].mul_add(g[1][j], a[i] * g[0][j])),
            )
        },
    );
    let half = kappa.scale(0.5);
    let mean = kappa * (gradient[0][0] + gradient[1][1] + gradient[2][2]).scale(1.0 / 3.0);
    let xx = kappa.mul_add(gradient[0][0], -mean);
    let yy = kappa.mul_add(gradient[1][1], -mean);
    let zz = kappa.mul_add(gradient[2][2], -mean);
    let xy = half * (gradient[0][1] + gradient[1][0]);
    let xz = half * (gradient[0][2] + gradient[2][0]);
    let yz = half * (gradient[1][2] + gradient[2][1]);
    array(
        #[inline(always)]
        |j| {
            let g = g[j];
            [
                xz.mul_add(g[2], xy.mul_add(g[1], xx * g[0])),
                yz.mul_add(g[2], yy.mul_add(g[1], xy * g[0])),
                zz.mul_add(g[2], yz.mul_add(g[1], xz * g[0])),
            ]
        },
    )
}

/// Radii of a layer as the physics needs them at a point: r/Δr and Δr w.
#[inline(always)]
pub fn radial_factors<R: Real>(radii: [R; 2], point: &Point) -> (R, R) {
    let thickness = radii[1] - radii[0];
    let [lower, upper] = point.radial_shape();
    let r = radii[0].scale(lower) + radii[1].scale(upper);
    (r / thickness, thickness.scale(point.weight))
}

/// Adds a quadrature point's contribution to the residual `y` of a wedge.
///
/// `g` are the scaled duals at the point's lateral coordinates, `radii` those of the layer.
#[inline(always)]
pub fn add_point<R: Real>(
    point: &Point,
    g: &Duals<R>,
    radii: [R; 2],
    u: &[Vector<R>; 6],
    k: &[R; 6],
    y: &mut [Vector<R>; 6],
) {
    let (shape, [lower, upper], lateral) = (point.shape(), point.radial_shape(), point.lateral_shape());
    let (ratio, weight) = radial_factors(radii, point);
    // v_j interpolates node column j to the point's radius, s is its radial difference.
    let v: [Vector<R>; 3] = array(
        #[inline(always)]
        |j| add_scaled(u[j], R::lit(lower), scale(u[j + 3], R::lit(upper))),
    );
    let mut s = scale(sub(u[3], u[0]), R::lit(lateral[0]));
    let mut viscosity = k[0].scale(shape[0]);
    for j in 1..3 {
        s = add_scaled(sub(u[j + 3], u[j]), R::lit(lateral[j]), s);
    }
    for j in 1..6 {
        viscosity = k[j].mul_add(R::lit(shape[j]), viscosity);
    }
    // 2 k ε : ε − (2/3) k div²: with κ = 2 k the stress is the one of `stress_on_duals`; |det J| = r² (Δr/2) |det E|.
    let kappa = viscosity * weight;
    let [q_xi, q_eta, q_zeta] = stress_on_duals(kappa, sub(v[1], v[0]), sub(v[2], v[0]), scale(s, ratio), g);
    let q_zeta = scale(q_zeta, ratio);
    let lateral_part = [scale(add(q_xi, q_eta), R::lit(-1.0)), q_xi, q_eta];
    for j in 0..3 {
        y[j] = add_scaled(lateral_part[j], R::lit(lower), add_scaled(q_zeta, R::lit(-lateral[j]), y[j]));
        y[j + 3] = add_scaled(lateral_part[j], R::lit(upper), add_scaled(q_zeta, R::lit(lateral[j]), y[j + 3]));
    }
}

/// Gradients of the six shape functions at a point, and w |det J|.
#[inline(always)]
pub fn gradients<R: Real>(point: &Point, p: [Vector<R>; 3], radii: [R; 2]) -> ([Vector<R>; 6], R) {
    let thickness = radii[1] - radii[0];
    let [lower, upper] = point.radial_shape();
    let r = radii[0].scale(lower) + radii[1].scale(upper);
    let (e_xi, e_eta) = (sub(p[1], p[0]), sub(p[2], p[0]));
    let [xi, eta] = point.lateral;
    let s = add_scaled(e_eta, R::lit(eta), add_scaled(e_xi, R::lit(xi), p[0]));
    let normal = cross(e_xi, e_eta);
    let determinant = dot(normal, s);
    let lateral_inverse = (r * determinant).recip();
    let radial_inverse = (thickness * determinant).recip().scale(2.0);
    let directions = [
        scale(cross(e_eta, s), lateral_inverse),
        scale(cross(s, e_xi), lateral_inverse),
        scale(normal, radial_inverse),
    ];
    let derivatives = point.shape_derivatives();
    let gradients = array(
        #[inline(always)]
        |i| {
            let [d_xi, d_eta, d_zeta] = derivatives[i];
            let sum = scale(directions[0], R::lit(d_xi));
            add_scaled(directions[2], R::lit(d_zeta), add_scaled(directions[1], R::lit(d_eta), sum))
        },
    );
    let volume = (r * r * thickness * determinant).abs().scale(0.5 * point.weight);
    (gradients, volume)
}

/// Entry (i α, j β) of the element matrix at a point, with κ = k w |det J|:
/// κ (δ_αβ ∇φ_i·∇φ_j + ∂_β φ_i ∂_α φ_j − (2/3) ∂_α φ_i ∂_β φ_j).
#[inline(always)]
pub fn matrix_entry<R: Real>(kappa: R, gi: Vector<R>, gj: Vector<R>, alpha: usize, beta: usize) -> R {
    let mut entry = gi[beta].mul_add(gj[alpha], (gi[alpha] * gj[beta]).scale(-2.0 / 3.0));
    if alpha == beta {
        entry = entry + dot(gi, gj);
    }
    kappa * entry
}

/// The viscosity at a point.
#[inline(always)]
pub fn viscosity_at<R: Real>(point: &Point, k: &[R; 6]) -> R {
    let shape = point.shape();
    let mut sum = k[0].scale(shape[0]);
    for j in 1..6 {
        sum = k[j].mul_add(R::lit(shape[j]), sum);
    }
    sum
}
