//! Speeds of the published system on an H200 NVL, to compare with.

/// A published speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedSpeed {
    /// GFLOP/s, for the published FLOP count.
    pub gflops: f64,
    /// Share of the published roofline R_min.
    pub share: f64,
}

type Row = (&'static str, usize, &'static [(u32, u32)]);

/// GFLOP/s and per cents of R_min for degrees 1, 2, …
const SPEEDS: [Row; 10] = [
    ("mass", 2, &[(2152, 31), (2911, 34), (4148, 52), (4914, 64), (6663, 87), (7213, 95), (6603, 88), (7018, 93)]),
    ("laplace", 2, &[(1914, 30), (3596, 35), (4933, 55), (8136, 97), (7080, 87), (7185, 91), (7042, 90), (7037, 91)]),
    ("helmholtz", 2, &[(3920, 30), (9047, 97), (8155, 96), (7690, 95), (7522, 95), (7158, 92), (7067, 92), (7268, 95)]),
    (
        "elasticity",
        2,
        &[(1993, 21), (3328, 22), (4883, 25), (8333, 47), (9003, 53), (8918, 54), (10302, 64), (8369, 53)],
    ),
    (
        "hyperelasticity",
        2,
        &[(4118, 24), (11497, 38), (13346, 44), (13556, 45), (12778, 45), (9392, 35), (9520, 37), (8633, 34)],
    ),
    ("mass", 3, &[(2925, 26), (3968, 48), (5993, 78), (7336, 97), (6541, 87), (6821, 91)]),
    ("laplace", 3, &[(3615, 16), (5492, 53), (7863, 91), (7292, 90), (6930, 89), (6767, 88)]),
    ("helmholtz", 3, &[(5585, 19), (8916, 96), (7908, 95), (7441, 94), (7350, 95), (6914, 91)]),
    ("elasticity", 3, &[(2299, 8), (5690, 19), (7376, 27), (9730, 39), (6681, 28), (7023, 30)]),
    ("hyperelasticity", 3, &[(4288, 14), (8195, 27), (9120, 30), (8304, 28), (7703, 26), (7425, 25)]),
];

/// The published speed of a form, on the mesh of [`published_divisions`].
pub fn published_speed(form: &str, dimension: usize, degree: usize) -> Option<PublishedSpeed> {
    let (.., speeds) = SPEEDS.iter().find(|(name, d, _)| *name == form && *d == dimension)?;
    let &(gflops, share) = speeds.get(degree.checked_sub(1)?)?;
    Some(PublishedSpeed { gflops: gflops.into(), share: f64::from(share) / 100.0 })
}

/// Divisions a side of the unit meshes of the published runs: 1280² · 2 triangles, 56³ · 6 tetrahedra.
pub fn published_divisions(dimension: usize) -> usize {
    if dimension == 2 { 1280 } else { 56 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_seventy_speeds_of_which_about_half_reach_half_of_the_roofline() {
        let all: Vec<_> = SPEEDS
            .iter()
            .flat_map(|&(form, d, speeds)| (1..=speeds.len()).map(move |p| published_speed(form, d, p)))
            .flatten()
            .collect();
        assert_eq!(all.len(), 70);
        // 52.9 % as published.
        assert_eq!(all.iter().filter(|speed| speed.share >= 0.5).count(), 37);
        assert_eq!(published_speed("mass", 3, 7), None);
        assert_eq!(published_speed("mass", 2, 0), None);
    }
}
