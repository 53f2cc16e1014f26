//! Meshes of triangles or tetrahedra.

use super::SimplexError;
use std::collections::HashMap;

/// A cell is degenerate if its volume is below this share of what its longest edge would allow.
const FLAT: f64 = 1e-13;

/// A mesh of triangles in the plane or of tetrahedra in space, checked when made.
#[derive(Clone, Debug, PartialEq)]
pub struct SimplexMesh {
    dimension: usize,
    /// `[vertices × dimension]`
    coordinates: Vec<f64>,
    /// `[cells × (dimension + 1)]`, each cell's vertices in increasing order.
    cells: Vec<u32>,
}

impl SimplexMesh {
    /// A mesh of the coordinates `[vertices × dimension]` and the cells `[cells × (dimension + 1)]`, whose vertices are
    /// numbered from 0 and ordered so that each signed volume is positive.
    ///
    /// # Errors
    /// When a list has the wrong length, a number does not exist or is not finite, or a cell is degenerate or inverted.
    pub fn new(dimension: usize, coordinates: Vec<f64>, cells: Vec<u32>) -> Result<Self, SimplexError> {
        if !matches!(dimension, 2 | 3) {
            return Err(SimplexError::Dimension { asked: dimension });
        }
        for (what, found, each) in
            [("coordinates", coordinates.len(), dimension), ("cells", cells.len(), dimension + 1)]
        {
            if found % each != 0 {
                return Err(SimplexError::Length { what, found, each });
            }
        }
        if cells.is_empty() {
            return Err(SimplexError::Empty("cells"));
        }
        if let Some((place, &value)) = coordinates.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(SimplexError::Coordinate { vertex: place / dimension, value });
        }
        let vertices = coordinates.len() / dimension;
        let mut mesh = SimplexMesh { dimension, coordinates, cells };
        for (cell, corners) in mesh.cells.chunks(dimension + 1).enumerate() {
            for (i, &vertex) in corners.iter().enumerate() {
                if vertex as usize >= vertices {
                    return Err(SimplexError::Vertex { cell, vertex: vertex.into(), vertices });
                }
                if corners[..i].contains(&vertex) {
                    return Err(SimplexError::RepeatedVertex { cell, vertex });
                }
            }
            let (volume, longest) = mesh.measure(corners);
            // The negation catches NaN, which an overflow may leave.
            if !(volume.abs() > FLAT * longest.powi(dimension as i32)) {
                return Err(SimplexError::Degenerate { cell, volume });
            }
            if volume < 0.0 {
                return Err(SimplexError::Inverted { cell, volume });
            }
        }
        mesh.sort_cells();
        Ok(mesh)
    }
    fn sort_cells(&mut self) {
        for corners in self.cells.chunks_mut(self.dimension + 1) {
            corners.sort_unstable();
        }
    }
    /// The unit square or cube with `n` divisions a side: 2 n² triangles or 6 n³ tetrahedra, in an order of good locality.
    ///
    /// # Errors
    /// When the dimension is not 2 or 3, or `n` is 0 or so large that vertices cannot be numbered with 32 bits.
    pub fn unit(dimension: usize, n: usize) -> Result<Self, SimplexError> {
        if !matches!(dimension, 2 | 3) {
            return Err(SimplexError::Dimension { asked: dimension });
        }
        let limit = if dimension == 2 { 46_000 } else { 1_200 };
        if !(1..=limit).contains(&n) {
            return Err(SimplexError::Divisions { asked: n, dimension, limit });
        }
        let side = n + 1;
        let mut coordinates = Vec::with_capacity(side.pow(dimension as u32) * dimension);
        for vertex in 0..side.pow(dimension as u32) {
            coordinates.extend((0..dimension).map(|d| (vertex / side.pow(d as u32) % side) as f64 / n as f64));
        }
        // A simplex for each order of the axes: from the lowest corner one step along each axis in turn.
        let orders: &[&[usize]] = if dimension == 2 {
            &[&[0, 1], &[1, 0]]
        } else {
            &[&[0, 1, 2], &[1, 2, 0], &[2, 0, 1], &[0, 2, 1], &[2, 1, 0], &[1, 0, 2]]
        };
        let mut cells = Vec::with_capacity(n.pow(dimension as u32) * orders.len() * (dimension + 1));
        for cube in 0..n.pow(dimension as u32) {
            let lowest: usize = (0..dimension).map(|d| (cube / n.pow(d as u32) % n) * side.pow(d as u32)).sum();
            for (number, order) in orders.iter().enumerate() {
                let mut vertex = lowest;
                let first = cells.len();
                cells.push(vertex as u32);
                for &axis in *order {
                    vertex += side.pow(axis as u32);
                    cells.push(vertex as u32);
                }
                // Odd permutations of the axes turn the simplex around.
                if number >= orders.len() / 2 {
                    cells.swap(first, first + 1);
                }
            }
        }
        Ok(SimplexMesh::new(dimension, coordinates, cells)?.localized())
    }
    /// The dimension.
    pub fn dimension(&self) -> usize {
        self.dimension
    }
    /// Number of cells.
    pub fn cell_count(&self) -> usize {
        self.cells.len() / (self.dimension + 1)
    }
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.coordinates.len() / self.dimension
    }
    /// The coordinates of a vertex: `[dimension]`.
    pub fn vertex(&self, vertex: usize) -> &[f64] {
        &self.coordinates[vertex * self.dimension..][..self.dimension]
    }
    /// The vertices of a cell, in increasing order: `[dimension + 1]`.
    pub fn cell(&self, cell: usize) -> &[u32] {
        &self.cells[cell * (self.dimension + 1)..][..self.dimension + 1]
    }
    /// The volume (area) of a cell.
    pub fn volume(&self, cell: usize) -> f64 {
        self.measure(self.cell(cell)).0.abs()
    }
    /// The signed volume of a simplex and its longest edge at the first vertex.
    fn measure(&self, corners: &[u32]) -> (f64, f64) {
        let origin = self.vertex(corners[0] as usize);
        let edge = |k: usize, d: usize| self.vertex(corners[k] as usize)[d] - origin[d];
        let longest = (1..corners.len())
            .map(|k| (0..self.dimension).map(|d| edge(k, d).powi(2)).sum::<f64>().sqrt())
            .fold(0.0, f64::max);
        let minor = |a: usize, b: usize, x: usize, y: usize| edge(a, x) * edge(b, y) - edge(a, y) * edge(b, x);
        let volume = if self.dimension == 2 {
            minor(1, 2, 0, 1) / 2.0
        } else {
            (edge(1, 0) * minor(2, 3, 1, 2) - edge(1, 1) * minor(2, 3, 0, 2) + edge(1, 2) * minor(2, 3, 0, 1)) / 6.0
        };
        (volume, longest)
    }

    /// The same mesh with cells in the order `cells` (new to old) and vertices numbered by `vertices` (old to new).
    ///
    /// # Errors
    /// When an order is no permutation.
    pub fn renumbered(&self, cells: &[usize], vertices: &[u32]) -> Result<Self, SimplexError> {
        check_permutation("cells", self.cell_count(), cells.iter().copied())?;
        check_permutation("vertices", self.vertex_count(), vertices.iter().map(|&vertex| vertex as usize))?;
        Ok(self.permuted(cells, vertices))
    }
    fn permuted(&self, cells: &[usize], vertices: &[u32]) -> Self {
        let mut coordinates = vec![0.0; self.coordinates.len()];
        for (old, &new) in vertices.iter().enumerate() {
            coordinates[new as usize * self.dimension..][..self.dimension].copy_from_slice(self.vertex(old));
        }
        let cells =
            cells.iter().flat_map(|&old| self.cell(old).iter().map(|&vertex| vertices[vertex as usize])).collect();
        let mut mesh = SimplexMesh { dimension: self.dimension, coordinates, cells };
        mesh.sort_cells();
        mesh
    }
    /// The same mesh with cells along a space-filling curve (Morton's) and vertices in the order in which cells reach
    /// them, so that cells near each other in memory share vertices.
    pub fn localized(&self) -> Self {
        let mut bounds = vec![[f64::INFINITY, f64::NEG_INFINITY]; self.dimension];
        for vertex in 0..self.vertex_count() {
            for (bound, &x) in bounds.iter_mut().zip(self.vertex(vertex)) {
                *bound = [bound[0].min(x), bound[1].max(x)];
            }
        }
        let bits = 63 / self.dimension;
        let key = |cell: usize| {
            let mut key = 0u64;
            for (d, [low, high]) in bounds.iter().enumerate() {
                let sum: f64 = self.cell(cell).iter().map(|&vertex| self.vertex(vertex as usize)[d]).sum();
                let place = (sum / (self.dimension + 1) as f64 - low) / (high - low);
                let place = (place * (1u64 << bits) as f64) as u64;
                for bit in 0..bits {
                    key |= ((place >> bit) & 1) << (bit * self.dimension + d);
                }
            }
            key
        };
        let mut cells: Vec<usize> = (0..self.cell_count()).collect();
        cells.sort_by_cached_key(|&cell| key(cell));
        const NONE: u32 = u32::MAX;
        let (mut vertices, mut next) = (vec![NONE; self.vertex_count()], 0);
        for &cell in &cells {
            for &vertex in self.cell(cell) {
                if vertices[vertex as usize] == NONE {
                    vertices[vertex as usize] = next;
                    next += 1;
                }
            }
        }
        // Vertices that no cell has come last.
        for vertex in vertices.iter_mut().filter(|vertex| **vertex == NONE) {
            *vertex = next;
            next += 1;
        }
        self.permuted(&cells, &vertices)
    }

    /// The facets that one cell has alone, as pairs of a cell and the place of the vertex opposite to the facet.
    ///
    /// # Errors
    /// When more than two cells meet at a facet.
    pub fn boundary(&self) -> Result<Vec<(usize, usize)>, SimplexError> {
        let mut facets: HashMap<[u32; 3], (usize, usize, u8)> = HashMap::new();
        for cell in 0..self.cell_count() {
            for opposite in 0..=self.dimension {
                let mut key = [u32::MAX; 3];
                let others = self.cell(cell).iter().enumerate().filter(|&(i, _)| i != opposite);
                for (place, (_, &vertex)) in key.iter_mut().zip(others) {
                    *place = vertex;
                }
                let seen = facets.entry(key).or_insert((cell, opposite, 0));
                seen.2 += 1;
                if seen.2 > 2 {
                    return Err(SimplexError::Facet { cell });
                }
            }
        }
        let mut boundary: Vec<_> =
            facets.into_values().filter(|facet| facet.2 == 1).map(|(cell, opposite, _)| (cell, opposite)).collect();
        boundary.sort_unstable();
        Ok(boundary)
    }
}

fn check_permutation(
    what: &'static str,
    len: usize,
    order: impl ExactSizeIterator<Item = usize>,
) -> Result<(), SimplexError> {
    let mut seen = vec![false; len];
    let mut valid = order.len() == len;
    for place in order {
        valid = valid && place < len && !std::mem::replace(&mut seen[place], true);
    }
    if valid { Ok(()) } else { Err(SimplexError::Permutation { what, len }) }
}
