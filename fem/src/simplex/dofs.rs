//! The numbering of nodes: which nodes a cell has.

use super::{Lagrange, SimplexError, SimplexMesh};
use farro_portability::{Element, IntElement};
use std::collections::HashMap;

/// Nodes of a mesh for a Lagrange element, numbered in the order in which cells reach them.
#[derive(Clone, Debug, PartialEq)]
pub struct DofMap<I> {
    nodes: usize,
    per_cell: usize,
    /// `[cells × per_cell]`
    map: Vec<I>,
}

/// The nodes that lie inside one kind of entity of a cell.
struct Entity {
    /// Vertices of the cell, as places.
    corners: Vec<usize>,
    /// Local nodes, in an order that all cells share.
    nodes: Vec<usize>,
}

/// The entities of a cell that have nodes: vertices, edges, faces, interior.
fn entities(element: &Lagrange) -> Vec<Entity> {
    let mut entities: Vec<Entity> = Vec::new();
    let mut support = None;
    for node in 0..element.len() {
        let bits = element.support(node);
        if support != Some(bits) {
            support = Some(bits);
            let corners = (0..=element.dimension()).filter(|vertex| bits >> vertex & 1 == 1).collect();
            entities.push(Entity { corners, nodes: Vec::new() });
        }
        if let Some(entity) = entities.last_mut() {
            entity.nodes.push(node);
        }
    }
    entities
}

fn index<I: IntElement>(node: I) -> usize {
    Element::to_f64(node) as usize
}

impl<I: IntElement> DofMap<I> {
    /// Numbers the nodes of `element` on `mesh`. Of degree 1, nodes are the vertices with their own numbers.
    ///
    /// # Errors
    /// When element and mesh differ in dimension, or the integers are too small for the nodes.
    pub fn new(mesh: &SimplexMesh, element: &Lagrange) -> Result<Self, SimplexError> {
        if mesh.dimension() != element.dimension() {
            return Err(SimplexError::Dimension { asked: element.dimension() });
        }
        let per_cell = element.len();
        const NONE: usize = usize::MAX;
        let mut vertices: Vec<usize> =
            if element.degree() == 1 { (0..mesh.vertex_count()).collect() } else { vec![NONE; mesh.vertex_count()] };
        let mut next = if element.degree() == 1 { mesh.vertex_count() } else { 0 };
        let mut shared: HashMap<[u32; 3], usize> = HashMap::new();
        let entities = entities(element);
        let mut map = vec![I::zero(); mesh.cell_count() * per_cell];
        for (cell, local) in map.chunks_mut(per_cell).enumerate() {
            let corners = mesh.cell(cell);
            for entity in &entities {
                let count = entity.nodes.len();
                let first = match entity.corners.len() {
                    1 => &mut vertices[corners[entity.corners[0]] as usize],
                    // The interior belongs to no other cell.
                    n if n > mesh.dimension() => &mut { NONE },
                    _ => {
                        let mut key = [u32::MAX; 3];
                        for (place, &corner) in key.iter_mut().zip(&entity.corners) {
                            *place = corners[corner];
                        }
                        shared.entry(key).or_insert(NONE)
                    }
                };
                if *first == NONE {
                    *first = next;
                    next += count;
                }
                for (offset, &node) in entity.nodes.iter().enumerate() {
                    let bits = 8 * size_of::<I>();
                    local[node] =
                        I::from(*first + offset).ok_or(SimplexError::Numbering { nodes: *first + offset + 1, bits })?;
                }
            }
        }
        Ok(DofMap { nodes: next, per_cell, map })
    }
    /// Nodes of the mesh.
    pub fn node_count(&self) -> usize {
        self.nodes
    }
    /// Nodes of a cell.
    pub fn per_cell(&self) -> usize {
        self.per_cell
    }
    /// The nodes of a cell: `[per_cell]`.
    pub fn cell(&self, cell: usize) -> &[I] {
        &self.map[cell * self.per_cell..][..self.per_cell]
    }
    /// The positions of all nodes: `[nodes × dimension]`; vertices that no cell has stay at the origin.
    pub fn positions(&self, mesh: &SimplexMesh, element: &Lagrange) -> Vec<f64> {
        let dimension = mesh.dimension();
        let mut positions = vec![0.0; self.nodes * dimension];
        for cell in 0..mesh.cell_count() {
            for (local, node) in self.cell(cell).iter().enumerate() {
                let place = &mut positions[index(*node) * dimension..][..dimension];
                for (d, x) in place.iter_mut().enumerate() {
                    let corners = mesh.cell(cell).iter().zip(element.node(local));
                    *x = corners.map(|(&vertex, share)| share * mesh.vertex(vertex as usize)[d]).sum();
                }
            }
        }
        positions
    }
    /// The nodes on the boundary of the mesh, in increasing order.
    ///
    /// # Errors
    /// When more than two cells meet at a facet.
    pub fn boundary(&self, mesh: &SimplexMesh, element: &Lagrange) -> Result<Vec<usize>, SimplexError> {
        let mut on_boundary = vec![false; self.nodes];
        for (cell, opposite) in mesh.boundary()? {
            for (local, node) in self.cell(cell).iter().enumerate() {
                if element.support(local) >> opposite & 1 == 0 {
                    on_boundary[index(*node)] = true;
                }
            }
        }
        Ok((0..self.nodes).filter(|&node| on_boundary[node]).collect())
    }
}
