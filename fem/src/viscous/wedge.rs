//! The reference wedge, its quadrature rules and its shape functions.
//!
//! Reference wedge: ξ, η ≥ 0, ξ + η ≤ 1, ζ ∈ [−1, 1]. Nodes 0–2 lie at ζ = −1 (the lower radius), 3–5 at ζ = +1; shape
//! functions are lateral × (1 ∓ ζ)/2 with lateral functions 1 − ξ − η, ξ, η.

/// A quadrature point of the reference wedge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Lateral coordinates ξ, η.
    pub lateral: [f64; 2],
    /// Radial coordinate ζ.
    pub zeta: f64,
    /// Weight; the weights of a rule sum to 1, the volume of the reference wedge.
    pub weight: f64,
}

impl Point {
    /// The lateral shape functions at the point.
    pub fn lateral_shape(&self) -> [f64; 3] {
        [1.0 - self.lateral[0] - self.lateral[1], self.lateral[0], self.lateral[1]]
    }
    /// The radial shape functions at the point, lower and upper.
    pub fn radial_shape(&self) -> [f64; 2] {
        [0.5 * (1.0 - self.zeta), 0.5 * (1.0 + self.zeta)]
    }
    /// The six shape functions at the point.
    pub fn shape(&self) -> [f64; 6] {
        let (lateral, radial) = (self.lateral_shape(), self.radial_shape());
        std::array::from_fn(
            #[inline(always)]
            |i| lateral[i % 3] * radial[i / 3],
        )
    }
    /// Derivatives of the six shape functions by ξ, η, ζ.
    pub fn shape_derivatives(&self) -> [[f64; 3]; 6] {
        const D_XI: [f64; 3] = [-1.0, 1.0, 0.0];
        const D_ETA: [f64; 3] = [-1.0, 0.0, 1.0];
        let (lateral, radial) = (self.lateral_shape(), self.radial_shape());
        std::array::from_fn(
            #[inline(always)]
            |i| {
                let sign = if i < 3 { -0.5 } else { 0.5 };
                [D_XI[i % 3] * radial[i / 3], D_ETA[i % 3] * radial[i / 3], sign * lateral[i % 3]]
            },
        )
    }
}

/// A quadrature rule of the wedge, named lateral × radial points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The centroid.
    OneByOne,
    /// The lateral centroid at the two Gauss points of ζ.
    OneByTwo,
    /// Three lateral points at the two Gauss points of ζ.
    ThreeByTwo,
}

const GAUSS: f64 = 0.577_350_269_189_625_8; // 1/√3
const THIRD: f64 = 1.0 / 3.0;
const SIXTH: f64 = 1.0 / 6.0;

const fn point(xi: f64, eta: f64, zeta: f64, weight: f64) -> Point {
    Point { lateral: [xi, eta], zeta, weight }
}

const ONE_BY_ONE: [Point; 1] = [point(THIRD, THIRD, 0.0, 1.0)];
const ONE_BY_TWO: [Point; 2] = [point(THIRD, THIRD, -GAUSS, 0.5), point(THIRD, THIRD, GAUSS, 0.5)];
const THREE_BY_TWO: [Point; 6] = [
    point(4.0 * SIXTH, SIXTH, -GAUSS, SIXTH),
    point(4.0 * SIXTH, SIXTH, GAUSS, SIXTH),
    point(SIXTH, 4.0 * SIXTH, -GAUSS, SIXTH),
    point(SIXTH, 4.0 * SIXTH, GAUSS, SIXTH),
    point(SIXTH, SIXTH, -GAUSS, SIXTH),
    point(SIXTH, SIXTH, GAUSS, SIXTH),
];

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 3] = [Rule::OneByOne, Rule::OneByTwo, Rule::ThreeByTwo];

    /// The points, those with the same lateral coordinates next to each other.
    pub fn points(self) -> &'static [Point] {
        match self {
            Rule::OneByOne => &ONE_BY_ONE,
            Rule::OneByTwo => &ONE_BY_TWO,
            Rule::ThreeByTwo => &THREE_BY_TWO,
        }
    }
    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Rule::OneByOne => "1x1",
            Rule::OneByTwo => "1x2",
            Rule::ThreeByTwo => "3x2",
        }
    }
}

/// Corners of the two wedges of a hex cell, in lateral cell coordinates. The first corner is the one with the right
/// angle of the reference triangle.
pub const WEDGE_CORNERS: [[[usize; 2]; 3]; 2] = [[[0, 0], [1, 0], [0, 1]], [[1, 1], [0, 1], [1, 0]]];

/// The number of a cell node at lateral corner `corner` and radial side `side`: 0–3 below, 4–7 above.
pub const fn cell_node(corner: [usize; 2], side: usize) -> usize {
    corner[0] + 2 * corner[1] + 4 * side
}

/// The six nodes of a wedge among the eight of its cell.
pub const fn wedge_nodes(wedge: usize) -> [usize; 6] {
    let corners = WEDGE_CORNERS[wedge];
    [
        cell_node(corners[0], 0),
        cell_node(corners[1], 0),
        cell_node(corners[2], 0),
        cell_node(corners[0], 1),
        cell_node(corners[1], 1),
        cell_node(corners[2], 1),
    ]
}
