//! Copies of one geometric node in several diamonds and subdomains: adding them up, and counting each node once.
//!
//! Which nodes coincide follows from the icosahedron in integers (which vertices an edge joins, how far along it a
//! node lies), never from comparing coordinates. Stored are only the columns on lateral borders of subdomains, so the
//! memory grows with the edges, not with the area: levels along r and the faces between radial pieces are implied.

use crate::mesh::ShellMesh;
use num_traits::Float;
use thiserror::Error;

/// Where the components of a nodal field lie: component `c` of node `i` is at `i * node_stride + c * component_stride`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Components {
    /// Number of components.
    pub count: usize,
    /// Distance from one node to the next.
    pub node_stride: usize,
    /// Distance from one component to the next.
    pub component_stride: usize,
}

impl Components {
    /// One value a node.
    pub const fn scalar() -> Self {
        Self { count: 1, node_stride: 1, component_stride: 1 }
    }

    /// One array of `nodes` values for each component, one array after the other.
    pub const fn separate(count: usize, nodes: usize) -> Self {
        Self { count, node_stride: 1, component_stride: nodes }
    }

    /// The components of a node next to each other.
    pub const fn interleaved(count: usize) -> Self {
        Self { count, node_stride: count, component_stride: 1 }
    }

    /// Place of a component of a node, or `None` if it cannot be represented.
    pub(crate) fn place(&self, node: usize, component: usize) -> Option<usize> {
        node.checked_mul(self.node_stride)?.checked_add(component.checked_mul(self.component_stride)?)
    }
}

/// A node of one subdomain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    /// Subdomain of the mesh.
    pub subdomain: usize,
    /// Node along x.
    pub x: usize,
    /// Node along y.
    pub y: usize,
    /// Level.
    pub r: usize,
}

/// An exchange that cannot be done; the field is then untouched.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The index function points outside the field.
    #[error(
        "component {component} of node ({}, {}, {}) of subdomain {} lies at node index {index}, outside a field of \
         {length} values: check the index function, the strides and the length of the field",
        node.x, node.y, node.r, node.subdomain
    )]
    OutsideField {
        /// The node.
        node: Node,
        /// The component.
        component: usize,
        /// What the index function gave.
        index: usize,
        /// Values in the field.
        length: usize,
    },
    /// Copies of one node have different lateral points.
    #[error(
        "node ({}, {}) of subdomain {} and its copy ({}, {}) of subdomain {} are {distance:e} apart on the unit \
         sphere, more than {tolerance:e}: give both the same point",
        first.x, first.y, first.subdomain, second.x, second.y, second.subdomain
    )]
    CopiesApart {
        /// The copy that owns the node.
        first: Node,
        /// The copy that lies elsewhere.
        second: Node,
        /// Distance of the two on the unit sphere.
        distance: f64,
        /// Largest distance allowed.
        tolerance: f64,
    },
    /// The mesh is not the one that the exchange was made for.
    #[error("the exchange was made for a mesh with other cells or splits; make a new one for this mesh")]
    OtherMesh,
}

/// Most copies a node can have: five diamonds at a pole, or four pieces at a crossing of splits, times two levels.
const MOST_COPIES: usize = 10;

/// High bit of an entry of the border table: this copy owns its node. The other bits count the copies.
const OWNER: u8 = 0x80;

#[derive(Debug, Clone, Copy)]
struct Column {
    lateral: u32,
    x: u32,
    y: u32,
}

/// The copies of all nodes of a mesh.
#[derive(Debug, Clone)]
pub struct Exchange {
    cells: [usize; 3],
    lateral_splits: usize,
    lateral_subdomains: usize,
    radial_splits: usize,
    unique_nodes: usize,
    /// Columns that coincide, group after group, each in increasing order of (lateral subdomain, x, y).
    columns: Vec<Column>,
    /// Group g is `columns[starts[g]..starts[g + 1]]`.
    starts: Vec<u32>,
    /// Owner bit and number of copies, for each lateral subdomain and place on its border.
    border: Vec<u8>,
}

impl Exchange {
    /// Finds the copies of all nodes of the mesh.
    pub fn new(mesh: &ShellMesh) -> Self {
        let cells = mesh.cells();
        let [nx, ny, _] = cells;
        let radial_splits = mesh.radial_splits();
        let lateral_subdomains = mesh.subdomains().len() / radial_splits;
        let mut keyed = Vec::with_capacity(lateral_subdomains * 2 * (nx + ny));
        for lateral in 0..lateral_subdomains {
            for x in 0..=nx {
                // Inside a subdomain only the two ends of a line of nodes lie on the border.
                let step = if x == 0 || x == nx { 1 } else { ny };
                for y in (0..=ny).step_by(step) {
                    let key = mesh.lateral_number(lateral * radial_splits, x, y);
                    keyed.push((key, Column { lateral: lateral as u32, x: x as u32, y: y as u32 }));
                }
            }
        }
        // A stable sort keeps the order in which columns were found: the order of every sum.
        keyed.sort_by_key(|&(key, _)| key);
        let mut exchange = Self {
            cells,
            lateral_splits: mesh.lateral_splits(),
            lateral_subdomains,
            radial_splits,
            unique_nodes: mesh.unique_nodes(),
            columns: keyed.iter().map(|&(_, column)| column).collect(),
            starts: vec![0],
            border: vec![0; lateral_subdomains * 2 * (nx + ny)],
        };
        for group in keyed.chunk_by(|a, b| a.0 == b.0) {
            for (place, &(_, column)) in group.iter().enumerate() {
                let slot = exchange.border_slot(column.lateral as usize, column.x as usize, column.y as usize);
                if let Some(slot) = slot {
                    exchange.border[slot] = group.len() as u8 | if place == 0 { OWNER } else { 0 };
                }
            }
            let end = exchange.starts[exchange.starts.len() - 1] + group.len() as u32;
            exchange.starts.push(end);
        }
        exchange
    }

    /// Place of a border column in the border table; `None` for columns inside a subdomain.
    fn border_slot(&self, lateral: usize, x: usize, y: usize) -> Option<usize> {
        let [nx, ny, _] = self.cells;
        let along = if y == 0 {
            x
        } else if y == ny {
            nx + 1 + x
        } else if x == 0 {
            2 * (nx + 1) + y - 1
        } else if x == nx {
            2 * (nx + 1) + ny - 1 + y - 1
        } else {
            return None;
        };
        Some(lateral * 2 * (nx + ny) + along)
    }

    /// Bytes that the exchange holds.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.columns[..]) + size_of_val(&self.starts[..]) + size_of_val(&self.border[..])
    }

    /// Nodes of the shell, each counted once.
    pub fn unique_nodes(&self) -> usize {
        self.unique_nodes
    }

    /// How many copies of a node are stored.
    pub fn copies(&self, node: Node) -> usize {
        let lateral = match self.border_slot(node.subdomain / self.radial_splits, node.x, node.y) {
            Some(slot) => (self.border[slot] & !OWNER) as usize,
            None => 1,
        };
        let piece = node.subdomain % self.radial_splits;
        let below = node.r == 0 && piece > 0;
        let above = node.r == self.cells[2] && piece + 1 < self.radial_splits;
        lateral * (1 + usize::from(below) + usize::from(above))
    }

    /// Whether this copy stands for its node: exactly one copy of each node does, the first in order of subdomain.
    pub fn owns(&self, node: Node) -> bool {
        self.owns_column(node.subdomain, node.x, node.y) && self.owns_level(node.subdomain, node.r)
    }

    fn owns_column(&self, subdomain: usize, x: usize, y: usize) -> bool {
        self.border_slot(subdomain / self.radial_splits, x, y).is_none_or(|slot| self.border[slot] & OWNER != 0)
    }

    // A level between two radial pieces belongs to the lower piece.
    fn owns_level(&self, subdomain: usize, r: usize) -> bool {
        r > 0 || subdomain.is_multiple_of(self.radial_splits)
    }

    /// Calls `visit` with each node of the shell once: with the copy that owns it, in order of subdomain, x, y, r.
    pub fn for_each_unique(&self, mut visit: impl FnMut(Node)) {
        let [nx, ny, nr] = self.cells;
        for subdomain in 0..self.lateral_subdomains * self.radial_splits {
            for x in 0..=nx {
                for y in 0..=ny {
                    if self.owns_column(subdomain, x, y) {
                        for r in (0..=nr).filter(|&r| self.owns_level(subdomain, r)) {
                            visit(Node { subdomain, x, y, r });
                        }
                    }
                }
            }
        }
    }

    /// Calls `visit` with all copies of each node that has several, the owner first, always in the same order.
    pub fn for_each_shared(&self, mut visit: impl FnMut(&[Node])) {
        let result: Result<(), ()> = self.try_for_each_shared(|copies| {
            visit(copies);
            Ok(())
        });
        debug_assert!(result.is_ok());
    }

    fn try_for_each_shared<F>(&self, mut visit: impl FnMut(&[Node]) -> Result<(), F>) -> Result<(), F> {
        let [nx, ny, nr] = self.cells;
        let levels = self.radial_splits * nr + 1;
        for ends in self.starts.windows(2) {
            let group = &self.columns[ends[0] as usize..ends[1] as usize];
            for level in 0..levels {
                self.visit_level(group, level, &mut visit)?;
            }
        }
        // Inside a subdomain copies arise only where two radial pieces meet.
        for level in (1..self.radial_splits).map(|piece| piece * nr) {
            for lateral in 0..self.lateral_subdomains as u32 {
                for x in 1..nx as u32 {
                    for y in 1..ny as u32 {
                        self.visit_level(&[Column { lateral, x, y }], level, &mut visit)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Visits the copies that a group of columns has at one level of the whole shell.
    fn visit_level<F>(
        &self,
        group: &[Column],
        level: usize,
        visit: &mut impl FnMut(&[Node]) -> Result<(), F>,
    ) -> Result<(), F> {
        let nr = self.cells[2];
        let (piece, r) = (level / nr, level % nr);
        // The level as the top of the piece below it, then as a level of the piece above.
        let below = (r == 0 && piece > 0).then(|| (piece - 1, nr));
        let above = (piece < self.radial_splits).then_some((piece, r));
        let mut copies = [Node { subdomain: 0, x: 0, y: 0, r: 0 }; MOST_COPIES];
        let mut count = 0;
        for column in group {
            for (piece, r) in below.into_iter().chain(above) {
                let subdomain = column.lateral as usize * self.radial_splits + piece;
                copies[count] = Node { subdomain, x: column.x as usize, y: column.y as usize, r };
                count += 1;
            }
        }
        visit(&copies[..count])
    }

    /// Gives every copy of a node the sum over its copies.
    ///
    /// `index(subdomain, x, y, r)` is the node's number in the field, and `components` says where its values lie. The
    /// copies are added in a fixed order, so the result is bitwise the same in every run, and all copies are bitwise
    /// equal afterwards. Nothing is written if any copy lies outside the field.
    pub fn add<E: Float>(
        &self,
        field: &mut [E],
        index: impl Fn(usize, usize, usize, usize) -> usize + Sync,
        components: Components,
    ) -> Result<(), ExchangeError> {
        let length = field.len();
        self.try_for_each_shared(|copies| {
            for &node in copies {
                for component in 0..components.count {
                    locate(node, &index, components, component, length)?;
                }
            }
            Ok(())
        })?;
        self.try_for_each_shared(|copies| {
            for component in 0..components.count {
                let mut sum = E::zero();
                for &node in copies {
                    sum = sum + field[locate(node, &index, components, component, length)?];
                }
                for &node in copies {
                    field[locate(node, &index, components, component, length)?] = sum;
                }
            }
            Ok(())
        })
    }

    /// Dot product over all components, each node of the shell counted once (by the copy that owns it).
    ///
    /// Accumulated in double precision and in a fixed order: columns first, then subdomains.
    pub fn dot<E: Float>(
        &self,
        a: &[E],
        b: &[E],
        index: impl Fn(usize, usize, usize, usize) -> usize + Sync,
        components: Components,
    ) -> Result<f64, ExchangeError> {
        let [nx, ny, nr] = self.cells;
        let length = a.len().min(b.len());
        let wide = |value: E| value.to_f64().unwrap_or(f64::NAN);
        let mut total = 0.0;
        for subdomain in 0..self.lateral_subdomains * self.radial_splits {
            let mut of_subdomain = 0.0;
            for x in 0..=nx {
                for y in (0..=ny).filter(|&y| self.owns_column(subdomain, x, y)) {
                    let mut of_column = 0.0;
                    for r in (0..=nr).filter(|&r| self.owns_level(subdomain, r)) {
                        for component in 0..components.count {
                            let place = locate(Node { subdomain, x, y, r }, &index, components, component, length)?;
                            of_column += wide(a[place]) * wide(b[place]);
                        }
                    }
                    of_subdomain += of_column;
                }
            }
            total += of_subdomain;
        }
        Ok(total)
    }

    /// Checks that all copies of a lateral node have the same point, within a distance on the unit sphere.
    ///
    /// Meshes built by refinement agree exactly; points that came from elsewhere may not.
    pub fn check_points(&self, mesh: &ShellMesh, tolerance: f64) -> Result<(), ExchangeError> {
        let same = mesh.cells() == self.cells
            && mesh.lateral_splits() == self.lateral_splits
            && mesh.radial_splits() == self.radial_splits;
        if !same {
            return Err(ExchangeError::OtherMesh);
        }
        let node = |column: Column| {
            let subdomain = column.lateral as usize * self.radial_splits;
            Node { subdomain, x: column.x as usize, y: column.y as usize, r: 0 }
        };
        for ends in self.starts.windows(2) {
            let group = &self.columns[ends[0] as usize..ends[1] as usize];
            let first = node(group[0]);
            let p = mesh.point(first.subdomain, first.x, first.y);
            for second in group[1..].iter().map(|&column| node(column)) {
                let q = mesh.point(second.subdomain, second.x, second.y);
                let distance = p.iter().zip(q).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                if distance > tolerance {
                    return Err(ExchangeError::CopiesApart { first, second, distance, tolerance });
                }
            }
        }
        Ok(())
    }
}

fn locate(
    node: Node,
    index: &impl Fn(usize, usize, usize, usize) -> usize,
    components: Components,
    component: usize,
    length: usize,
) -> Result<usize, ExchangeError> {
    let index = index(node.subdomain, node.x, node.y, node.r);
    let place = components.place(index, component).filter(|&place| place < length);
    place.ok_or(ExchangeError::OutsideField { node, component, index, length })
}
