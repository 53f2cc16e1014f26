//! One piece of the shell.

/// Where one subdomain lies in the shell.
///
/// Subdomains are numbered with the diamond slowest, then the lateral piece along x, along y, and the radial piece
/// fastest: `((diamond * lateral_splits + piece[0]) * lateral_splits + piece[1]) * radial_splits + piece[2]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subdomain {
    /// Diamond 0..10; 0..5 hang from the north pole, 5..10 from the south pole.
    pub diamond: usize,
    /// Which piece of the diamond: along x, y and r.
    pub piece: [usize; 3],
    /// First node of the piece within its diamond: along x, y and r.
    pub first: [usize; 3],
    /// Whether level `r = 0` lies on the inner surface of the shell (the core-mantle boundary).
    pub inner: bool,
    /// Whether the last level lies on the outer surface of the shell.
    pub outer: bool,
}

impl Subdomain {
    /// The sign of the determinant of J in every sound wedge: +1 in northern, −1 in southern diamonds.
    pub fn expected_sign(&self) -> f64 {
        super::icosahedron::expected_sign(self.diamond)
    }
}
