//! Looks for wedges that are inverted, degenerate or not finite.

use super::{ShellMesh, icosahedron::expected_sign};
use std::fmt;
use thiserror::Error;

/// How many faults an error keeps; the total is counted beyond it.
const KEPT: usize = 16;

/// Below this ratio of determinant to the product of edge lengths and radius a wedge has no usable shape.
const DEGENERATE: f64 = 1e-10;

/// What is wrong with a wedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WedgeFaultKind {
    /// The determinant has the sign opposite to the one expected in its diamond.
    Inverted,
    /// The determinant vanishes, or is below 1e-10 of the product of the lengths it is made of.
    Degenerate,
    /// The determinant is infinite or not a number.
    NotFinite,
}

impl fmt::Display for WedgeFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inverted => "inverted",
            Self::Degenerate => "degenerate",
            Self::NotFinite => "not finite",
        })
    }
}

/// One faulty wedge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WedgeFault {
    /// Subdomain of the mesh.
    pub subdomain: usize,
    /// Cell within the subdomain: along x, y and r.
    pub cell: [usize; 3],
    /// Wedge 0 (at the corner (0,0) of the cell) or 1 (at the corner (1,1)).
    pub wedge: usize,
    /// Determinant of J, with its sign as computed, at the rule point where it is worst.
    pub determinant: f64,
    /// The sign it should have: +1 in northern diamonds, −1 in southern ones.
    pub expected_sign: f64,
    /// What is wrong.
    pub kind: WedgeFaultKind,
}

impl fmt::Display for WedgeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, r] = self.cell;
        write!(
            f,
            "wedge {} of cell ({x}, {y}, {r}) in subdomain {} is {}: determinant {:e}, expected sign {:+}",
            self.wedge, self.subdomain, self.kind, self.determinant, self.expected_sign
        )
    }
}

/// A mesh with faulty wedges.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{first}; {total} faulty wedge(s) in all: correct the lateral points or the radii of these cells")]
pub struct MeshCheckError {
    /// The first faulty wedge, in the order subdomain, x, y, r, wedge.
    pub first: WedgeFault,
    /// The first faults, sixteen at most, beginning with `first`.
    pub faults: Vec<WedgeFault>,
    /// How many wedges are faulty.
    pub total: usize,
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The lateral determinant det [p1−p0, p2−p0, p0] and the product of the three lengths.
fn lateral(points: [[f64; 3]; 3]) -> (f64, f64) {
    let [origin, one, two] = points;
    let along = |end: [f64; 3]| [end[0] - origin[0], end[1] - origin[1], end[2] - origin[2]];
    let (first, second) = (along(one), along(two));
    let length = |a: [f64; 3]| dot(a, a).sqrt();
    (dot(cross(first, second), origin), length(first) * length(second) * length(origin))
}

impl ShellMesh {
    /// Checks the determinant of J in every wedge at the points of all three rules (1x1, 1x2, 3x2).
    ///
    /// J = [ r E_ξ | r E_η | (Δr/2) S ] with E_ξ = p1−p0, E_η = p2−p0 and S = p0 + ξ E_ξ + η E_η, hence
    /// det J = r² (Δr/2) det [E_ξ, E_η, p0] at every lateral point: one lateral determinant serves all points of a
    /// column, and only the radii of the points (ζ = 0 and ζ = ±1/√3) vary.
    ///
    /// The definition of the diamonds makes det J **positive in the northern diamonds 0..5 and negative in the
    /// southern diamonds 5..10**, in both wedges of a cell. Operators use the absolute value; a wedge is *inverted*
    /// here when its determinant has the other sign than its diamond expects.
    pub fn check(&self) -> Result<(), MeshCheckError> {
        let [nx, ny, nr] = self.cells();
        let mut faults = Vec::new();
        let mut total = 0;
        for (s, subdomain) in self.subdomains().iter().enumerate() {
            let sign = expected_sign(subdomain.diamond);
            let factors: Vec<[f64; 3]> =
                (0..nr).map(|r| radial_factors(self.radius(s, r), self.radius(s, r + 1))).collect();
            for x in 0..nx {
                for y in 0..ny {
                    let p = |i, j| self.point(s, x + i, y + j);
                    let wedges = [lateral([p(0, 0), p(1, 0), p(0, 1)]), lateral([p(1, 1), p(0, 1), p(1, 0)])];
                    for (r, factors) in factors.iter().enumerate() {
                        for (wedge, &(lateral, scale)) in wedges.iter().enumerate() {
                            let Some((kind, determinant)) = judge(lateral, scale, factors, sign) else { continue };
                            total += 1;
                            if faults.len() < KEPT {
                                let (subdomain, cell, expected_sign) = (s, [x, y, r], sign);
                                faults.push(WedgeFault { subdomain, cell, wedge, determinant, expected_sign, kind });
                            }
                        }
                    }
                }
            }
        }
        match faults.first() {
            Some(&first) => Err(MeshCheckError { first, faults, total }),
            None => Ok(()),
        }
    }
}

/// r² Δr/2 at ζ = −1/√3, 0 and 1/√3.
fn radial_factors(below: f64, above: f64) -> [f64; 3] {
    let (middle, half) = (0.5 * (below + above), 0.5 * (above - below));
    [-1.0 / 3.0f64.sqrt(), 0.0, 1.0 / 3.0f64.sqrt()].map(|zeta| (middle + zeta * half).powi(2) * half)
}

/// The fault of one wedge, if any, with its determinant at the worst point.
fn judge(lateral: f64, scale: f64, factors: &[f64; 3], sign: f64) -> Option<(WedgeFaultKind, f64)> {
    let mut worst = f64::INFINITY;
    for factor in factors {
        let determinant = sign * (lateral * factor);
        if !determinant.is_finite() {
            return Some((WedgeFaultKind::NotFinite, lateral * factor));
        }
        worst = worst.min(determinant);
    }
    // The comparison is written so that a scale that is not a number counts as degenerate.
    let shaped = lateral.abs() > DEGENERATE * scale;
    if !shaped || worst == 0.0 {
        Some((WedgeFaultKind::Degenerate, sign * worst))
    } else if worst < 0.0 {
        Some((WedgeFaultKind::Inverted, sign * worst))
    } else {
        None
    }
}
