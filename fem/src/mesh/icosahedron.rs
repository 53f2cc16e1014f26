//! The icosahedron behind the shell: corners, diamonds, refinement, and exact identities of shared nodes.

/// Number of diamonds the sphere is cut into.
pub const DIAMONDS: usize = 10;

const VERTICES: usize = 12;
const EDGES: usize = 20;

/// Icosahedron vertices of each diamond at lateral nodes (0,0), (n,0), (0,n), (n,n).
///
/// Vertex 0 is the north pole, 1..=5 the upper ring, 6..=10 the lower ring and 11 the south pole.
/// The first five diamonds hang from the north pole, the last five from the south pole.
const CORNERS: [[usize; 4]; DIAMONDS] = [
    [0, 5, 1, 6],
    [0, 1, 2, 7],
    [0, 2, 3, 8],
    [0, 3, 4, 9],
    [0, 4, 5, 10],
    [11, 6, 7, 1],
    [11, 7, 8, 2],
    [11, 8, 9, 3],
    [11, 9, 10, 4],
    [11, 10, 6, 5],
];

/// Sides of a diamond as pairs of corners, in the order: y = 0, x = 0, x = n, y = n.
const SIDES: [(usize, usize); 4] = [(0, 1), (0, 2), (1, 3), (2, 3)];

/// For each diamond and side: the number of the edge on the sphere, and whether the diamond walks it from its
/// lower-numbered vertex. Two diamonds meet at an edge exactly when its two vertices agree.
const EDGE_OF_SIDE: [[(usize, bool); 4]; DIAMONDS] = number_edges();

const fn number_edges() -> [[(usize, bool); 4]; DIAMONDS] {
    let mut table = [[(0, false); 4]; DIAMONDS];
    let mut known = [(0, 0); EDGES];
    let mut count = 0;
    let mut diamond = 0;
    while diamond < DIAMONDS {
        let mut side = 0;
        while side < 4 {
            let (from, to) = (CORNERS[diamond][SIDES[side].0], CORNERS[diamond][SIDES[side].1]);
            let (low, high) = if from < to { (from, to) } else { (to, from) };
            let mut edge = 0;
            while edge < count && !(known[edge].0 == low && known[edge].1 == high) {
                edge += 1;
            }
            if edge == count {
                known[count] = (low, high);
                count += 1;
            }
            table[diamond][side] = (edge, from < to);
            side += 1;
        }
        diamond += 1;
    }
    assert!(count == EDGES, "ten diamonds have twenty edges");
    table
}

/// The sign that the determinant of [`J`](crate::mesh) has in every sound wedge of a diamond.
///
/// Seen from outside, x to y turns counter-clockwise in the northern diamonds 0..5 (+1) and clockwise in the
/// southern diamonds 5..10 (−1).
pub fn expected_sign(diamond: usize) -> f64 {
    if diamond < DIAMONDS / 2 { 1.0 } else { -1.0 }
}

/// Number of distinct lateral nodes for `n` by `n` cells a diamond: `10 n² + 2`.
pub(crate) fn unique_lateral(n: usize) -> usize {
    VERTICES + EDGES * (n - 1) + DIAMONDS * (n - 1) * (n - 1)
}

/// Exact number of lateral node `(i, j)` of a diamond with `n` by `n` cells, in `0..unique_lateral(n)`.
///
/// Vertices come first, then edges, then interiors. Integers only: two copies of one geometric node have equal
/// numbers whatever their coordinates round to.
pub(crate) fn lateral_id(n: usize, diamond: usize, i: usize, j: usize) -> usize {
    let corner = match (i, j) {
        (0, 0) => Some(0),
        (i, 0) if i == n => Some(1),
        (0, j) if j == n => Some(2),
        (i, j) if i == n && j == n => Some(3),
        _ => None,
    };
    if let Some(corner) = corner {
        return CORNERS[diamond][corner];
    }
    let side = if j == 0 {
        Some((0, i))
    } else if i == 0 {
        Some((1, j))
    } else if i == n {
        Some((2, j))
    } else if j == n {
        Some((3, i))
    } else {
        None
    };
    match side {
        Some((side, along)) => {
            let (edge, forward) = EDGE_OF_SIDE[diamond][side];
            let place = if forward { along } else { n - along };
            VERTICES + edge * (n - 1) + place - 1
        }
        None => VERTICES + EDGES * (n - 1) + (diamond * (n - 1) + i - 1) * (n - 1) + j - 1,
    }
}

/// The twelve vertices on the unit sphere.
fn vertices() -> [[f64; 3]; VERTICES] {
    let fifth = 0.4 * 1.0f64.asin();
    let polar = 2.0 * (1.0 / (2.0 * fifth.sin())).acos();
    let (sine, cosine) = polar.sin_cos();
    let mut points = [[0.0; 3]; VERTICES];
    points[0] = [0.0, 0.0, 1.0];
    points[11] = [0.0, 0.0, -1.0];
    for k in 1..=5 {
        let upper = 2.0 * (k as f64 - 0.5) * fifth;
        let lower = 2.0 * (k as f64 - 1.0) * fifth;
        points[k] = [sine * upper.cos(), sine * upper.sin(), cosine];
        points[k + 5] = [sine * lower.cos(), sine * lower.sin(), -cosine];
    }
    points
}

// Addition commutes exactly, so both diamonds at an edge compute bitwise the same midpoints.
fn midpoint(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    let sum = [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    let length = (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]).sqrt();
    sum.map(|value| value / length)
}

/// Points of one diamond with `n` by `n` cells (`n` a power of two), as `[x][y]` with `n + 1` nodes each way.
pub(crate) fn refine(diamond: usize, n: usize) -> Vec<[f64; 3]> {
    let vertices = vertices();
    let pitch = n + 1;
    let at = |i: usize, j: usize| i * pitch + j;
    let mut points = vec![[0.0; 3]; pitch * pitch];
    for (corner, place) in [at(0, 0), at(n, 0), at(0, n), at(n, n)].into_iter().enumerate() {
        points[place] = vertices[CORNERS[diamond][corner]];
    }
    let mut half = n / 2;
    while half > 0 {
        let step = 2 * half;
        for i in (0..=n).step_by(step) {
            for j in (half..n).step_by(step) {
                points[at(i, j)] = midpoint(points[at(i, j - half)], points[at(i, j + half)]);
                points[at(j, i)] = midpoint(points[at(j - half, i)], points[at(j + half, i)]);
            }
        }
        for i in (half..n).step_by(step) {
            for j in (half..n).step_by(step) {
                points[at(i, j)] = midpoint(points[at(i - half, j + half)], points[at(i + half, j - half)]);
            }
        }
        half /= 2;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateral_numbers_fill_the_range_without_gaps() {
        for n in [1, 2, 3, 4, 7] {
            let mut copies = vec![0usize; unique_lateral(n)];
            for diamond in 0..DIAMONDS {
                for i in 0..=n {
                    for j in 0..=n {
                        copies[lateral_id(n, diamond, i, j)] += 1;
                    }
                }
            }
            assert_eq!(copies.len(), 10 * n * n + 2);
            // Poles close five diamonds; a ring vertex closes three, two of which bring two triangles each.
            assert!(copies[0] == 5 && copies[11] == 5 && copies[1..11].iter().all(|&count| count == 3));
            assert!(copies[12..12 + 20 * (n - 1)].iter().all(|&count| count == 2));
            assert!(copies[12 + 20 * (n - 1)..].iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn equal_numbers_have_bitwise_equal_points() {
        let n = 8;
        let mut seen: Vec<Option<[f64; 3]>> = vec![None; unique_lateral(n)];
        for diamond in 0..DIAMONDS {
            let points = refine(diamond, n);
            for i in 0..=n {
                for j in 0..=n {
                    let point = points[i * (n + 1) + j];
                    let first = seen[lateral_id(n, diamond, i, j)].get_or_insert(point);
                    assert_eq!(*first, point, "diamond {diamond}, node ({i}, {j})");
                }
            }
        }
        assert!(seen.iter().all(Option::is_some));
    }
}
