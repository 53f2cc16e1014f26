//! Writes a mesh with nodal fields as a ParaView file (`.vtu`, unstructured grid of wedges).
//!
//! The data follow the XML header as raw little-endian bytes (VTK's "appended raw" form), which ParaView and VTK read
//! directly. Each subdomain writes its own copies of shared nodes, so local and exchanged fields can both be looked at.
//! VTK has changed which way the triangles of a wedge turn, and its files do not say which way they mean: see
//! [`WedgeOrder`]. Our wedges turn one way in northern and the other way in southern diamonds, so two nodes of each
//! triangle are swapped where needed.

use crate::exchange::Components;
use crate::mesh::{ShellMesh, expected_sign};
use crate::replace_file::replace_file;
use num_traits::Float;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// VTK's number of a linear wedge.
const VTK_WEDGE: u8 = 13;

/// Which way the first triangle of each wedge turns; the wrong one shows as negative volumes and dark surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WedgeOrder {
    /// The normal of the first triangle points at the second one: positive Jacobian, as VTK 9.7 wants it.
    #[default]
    Current,
    /// The normal of the first triangle points away from the second one, as VTK 9.4 and those before it want it.
    Older,
}

/// A nodal field to write, for example `u`, `k` or `au`.
#[derive(Debug, Clone, Copy)]
pub struct PointField<'a, E> {
    /// Name shown in ParaView.
    pub name: &'a str,
    /// Values of all nodes.
    pub values: &'a [E],
    /// How many components, and where they lie.
    pub components: Components,
}

/// A file that could not be written; nothing partial is left behind.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VtuError {
    /// The operating system refused.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A field is shorter than the index function needs.
    #[error(
        "field '{name}' has {length} values, but node ({x}, {y}, {r}) of subdomain {subdomain} lies outside them: \
         check the index function, the strides and the length of the field"
    )]
    OutsideField {
        /// The field.
        name: String,
        /// Its length.
        length: usize,
        /// Subdomain of the node.
        subdomain: usize,
        /// Node along x.
        x: usize,
        /// Node along y.
        y: usize,
        /// Level.
        r: usize,
    },
    /// A field name that is empty, repeated, or holds control characters.
    #[error(
        "'{name}' cannot be the name of a field: names must be distinct, not empty, and free of control characters"
    )]
    Name {
        /// The name.
        name: String,
    },
}

/// Writes the mesh with the given fields; `index(subdomain, x, y, r)` is a node's number in every field.
///
/// The file appears under its name only once it is complete.
pub fn write_vtu<E: Float>(
    path: impl AsRef<Path>,
    mesh: &ShellMesh,
    index: impl Fn(usize, usize, usize, usize) -> usize,
    fields: &[PointField<'_, E>],
    order: WedgeOrder,
) -> Result<(), VtuError> {
    let path = path.as_ref();
    for (place, field) in fields.iter().enumerate() {
        let repeated = fields[..place].iter().any(|earlier| earlier.name == field.name);
        if repeated || field.name.is_empty() || field.name.chars().any(char::is_control) {
            return Err(VtuError::Name { name: field.name.to_owned() });
        }
        try_each_node(mesh, |subdomain, x, y, r| match last_place(field, index(subdomain, x, y, r)) {
            Some(place) if place < field.values.len() => Ok(()),
            _ if field.components.count == 0 => Ok(()),
            _ => {
                let (name, length) = (field.name.to_owned(), field.values.len());
                Err(VtuError::OutsideField { name, length, subdomain, x, y, r })
            }
        })?;
    }
    replace_file(path, |out| {
        write_header(out, mesh, fields)?;
        write_data(out, mesh, &index, fields, order)?;
        out.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
    })
    .map_err(|source| VtuError::Write { path: path.to_owned(), source })
}

// Strides are not negative, so the last component of a node lies farthest.
fn last_place<E>(field: &PointField<'_, E>, node: usize) -> Option<usize> {
    field.components.place(node, field.components.count.checked_sub(1)?)
}

fn try_each_node<F>(
    mesh: &ShellMesh,
    mut visit: impl FnMut(usize, usize, usize, usize) -> Result<(), F>,
) -> Result<(), F> {
    let [nx, ny, nr] = mesh.cells();
    for subdomain in 0..mesh.subdomains().len() {
        for x in 0..=nx {
            for y in 0..=ny {
                for r in 0..=nr {
                    visit(subdomain, x, y, r)?;
                }
            }
        }
    }
    Ok(())
}

fn wedges(mesh: &ShellMesh) -> u64 {
    let [nx, ny, nr] = mesh.cells();
    2 * (mesh.subdomains().len() * nx * ny * nr) as u64
}

fn escape(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn write_header<E>(out: &mut impl Write, mesh: &ShellMesh, fields: &[PointField<'_, E>]) -> io::Result<()> {
    let (nodes, cells) = (mesh.stored_nodes() as u64, wedges(mesh));
    let mut offset = 0;
    // Every block begins with its length in eight bytes.
    let mut array = |out: &mut dyn Write, kind: &str, name: &str, components: u64, bytes: u64| {
        writeln!(
            out,
            "        <DataArray type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\" format=\"appended\" \
             offset=\"{offset}\"/>",
            escape(name)
        )?;
        offset += 8 + bytes;
        io::Result::Ok(())
    };
    writeln!(out, "<?xml version=\"1.0\"?>")?;
    writeln!(
        out,
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">"
    )?;
    writeln!(out, "  <UnstructuredGrid>")?;
    writeln!(out, "    <Piece NumberOfPoints=\"{nodes}\" NumberOfCells=\"{cells}\">")?;
    writeln!(out, "      <Points>")?;
    array(out, "Float64", "Points", 3, 24 * nodes)?;
    writeln!(out, "      </Points>\n      <Cells>")?;
    array(out, "Int64", "connectivity", 1, 48 * cells)?;
    array(out, "Int64", "offsets", 1, 8 * cells)?;
    array(out, "UInt8", "types", 1, cells)?;
    writeln!(out, "      </Cells>\n      <PointData>")?;
    for field in fields {
        let count = field.components.count as u64;
        array(out, "Float64", field.name, count, 8 * count * nodes)?;
    }
    writeln!(out, "      </PointData>\n    </Piece>\n  </UnstructuredGrid>")?;
    write!(out, "  <AppendedData encoding=\"raw\">\n_")
}

fn write_data<E: Float>(
    out: &mut impl Write,
    mesh: &ShellMesh,
    index: &impl Fn(usize, usize, usize, usize) -> usize,
    fields: &[PointField<'_, E>],
    order: WedgeOrder,
) -> io::Result<()> {
    let (nodes, cells) = (mesh.stored_nodes() as u64, wedges(mesh));
    out.write_all(&(24 * nodes).to_le_bytes())?;
    try_each_node(mesh, |s, x, y, r| {
        mesh.position(s, x, y, r).iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
    })?;
    out.write_all(&(48 * cells).to_le_bytes())?;
    write_connectivity(out, mesh, order)?;
    out.write_all(&(8 * cells).to_le_bytes())?;
    for cell in 1..=cells {
        out.write_all(&(6 * cell).to_le_bytes())?;
    }
    out.write_all(&cells.to_le_bytes())?;
    for _ in 0..cells {
        out.write_all(&[VTK_WEDGE])?;
    }
    for field in fields {
        let count = field.components.count;
        out.write_all(&(8 * count as u64 * nodes).to_le_bytes())?;
        try_each_node(mesh, |s, x, y, r| {
            let node = index(s, x, y, r);
            (0..count).try_for_each(|component| {
                let value = field.components.place(node, component).and_then(|place| field.values.get(place));
                let value = value.and_then(|value| value.to_f64()).unwrap_or(f64::NAN);
                out.write_all(&value.to_le_bytes())
            })
        })?;
    }
    Ok(())
}

fn write_connectivity(out: &mut impl Write, mesh: &ShellMesh, order: WedgeOrder) -> io::Result<()> {
    let [nx, ny, nr] = mesh.cells();
    for (s, subdomain) in mesh.subdomains().iter().enumerate() {
        // In northern diamonds the first triangle's normal points outwards, at the second triangle.
        let at_second = expected_sign(subdomain.diamond) > 0.0;
        let swapped = at_second != (order == WedgeOrder::Current);
        for x in 0..nx {
            for y in 0..ny {
                for r in 0..nr {
                    for mut corners in [[(0, 0), (1, 0), (0, 1)], [(1, 1), (0, 1), (1, 0)]] {
                        if swapped {
                            corners.swap(1, 2);
                        }
                        for level in [r, r + 1] {
                            for (i, j) in corners {
                                let node = mesh.node_index(s, x + i, y + j, level) as u64;
                                out.write_all(&node.to_le_bytes())?;
                            }
                        }
                    }
                }
            }
        }
    }
    Ok(())
}
