//! Golden cases: one apply of the viscous operator, with mesh, data and expected result in a JSON file.
//!
//! | key | shape | meaning |
//! |---|---|---|
//! | `lateral_level`, `lateral_cells`, `radial_cells` | | refinement (may be absent), cells of a diamond |
//! | `rule` | | `1x1`, `1x2` or `3x2` |
//! | `boundary` | | `neumann`, `dirichlet` (both surfaces), `cmb`, `surface` |
//! | `radii` | `[radial_cells + 1]` | increasing |
//! | `unit_sphere` | 3 lists of `[10][x][y]` | lateral points |
//! | `k` | `[10][x][y][r]`, r fastest | positive coefficient |
//! | `u`, `au` | 3 lists of `[10][x][y][r]` | velocity, and the operator applied to it, local to each diamond |
//!
//! Other keys are ignored.

use crate::mesh::{DIAMONDS, MeshError, ShellMesh};
use crate::replace_file::replace_file;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Quadrature rule of a golden case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum GoldenRule {
    /// One point at the centroid.
    #[serde(rename = "1x1")]
    OneByOne,
    /// The lateral centroid, two points along the radius.
    #[serde(rename = "1x2")]
    OneByTwo,
    /// Three lateral points, two along the radius.
    #[serde(rename = "3x2")]
    ThreeByTwo,
}

impl GoldenRule {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::OneByOne, Self::OneByTwo, Self::ThreeByTwo];

    /// Name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneByOne => "1x1",
            Self::OneByTwo => "1x2",
            Self::ThreeByTwo => "3x2",
        }
    }
}

impl fmt::Display for GoldenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which surfaces of the shell hold the velocity fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GoldenBoundary {
    /// Neither surface.
    Neumann,
    /// Both surfaces.
    Dirichlet,
    /// The inner surface (core-mantle boundary) only.
    Cmb,
    /// The outer surface only.
    Surface,
}

impl GoldenBoundary {
    /// All boundaries.
    pub const ALL: [Self; 4] = [Self::Neumann, Self::Dirichlet, Self::Cmb, Self::Surface];

    /// Name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Neumann => "neumann",
            Self::Dirichlet => "dirichlet",
            Self::Cmb => "cmb",
            Self::Surface => "surface",
        }
    }

    /// Whether the inner surface is a Dirichlet boundary.
    pub fn inner_is_dirichlet(self) -> bool {
        matches!(self, Self::Dirichlet | Self::Cmb)
    }

    /// Whether the outer surface is a Dirichlet boundary.
    pub fn outer_is_dirichlet(self) -> bool {
        matches!(self, Self::Dirichlet | Self::Surface)
    }
}

impl fmt::Display for GoldenBoundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A golden file that cannot be read or written. Each variant names the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// The file cannot be opened or read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// The reason.
        source: io::Error,
    },
    /// The file cannot be written; nothing partial is left.
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The text is not JSON, or a key holds a value of another kind.
    #[error("{file}: not a golden case: {source}")]
    Parse {
        /// The file.
        file: String,
        /// What the JSON reader says, with line and column.
        source: serde_json::Error,
    },
    /// A key is missing.
    #[error("{file}: key '{field}' is missing")]
    Missing {
        /// The file.
        file: String,
        /// The key.
        field: &'static str,
    },
    /// A name that is not one of the known ones.
    #[error("{file}: {field} is '{found}'; possible are {possible}")]
    Unknown {
        /// The file.
        file: String,
        /// The key.
        field: &'static str,
        /// The name found.
        found: String,
        /// All names possible.
        possible: &'static str,
    },
    /// A list of the wrong length.
    #[error("{file}: {field} has {found} entries, {expected} needed")]
    Length {
        /// The file.
        file: String,
        /// The key, with the component where there are several.
        field: String,
        /// Entries needed.
        expected: u128,
        /// Entries found.
        found: usize,
    },
    /// A number that is not possible.
    #[error("{file}: {field}[{index}] is {value}; it must be {needed}")]
    Value {
        /// The file.
        file: String,
        /// The key, with the component where there are several.
        field: String,
        /// Place in the list.
        index: usize,
        /// The number found.
        value: f64,
        /// What would be possible.
        needed: &'static str,
    },
    /// A size that is zero or contradicts another one.
    #[error("{file}: {field} is {value}: {needed}")]
    Size {
        /// The file.
        file: String,
        /// The key.
        field: &'static str,
        /// The size found.
        value: usize,
        /// What would be possible.
        needed: &'static str,
    },
    /// The mesh of the case cannot be built.
    #[error("{file}: {source}")]
    Mesh {
        /// The file.
        file: String,
        /// The reason.
        source: MeshError,
    },
}

/// One golden case, complete and consistent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GoldenCase {
    /// Refinement level of the lateral cells, where the mesh is a refined icosahedron.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateral_level: Option<usize>,
    /// Lateral cells of a diamond along x, and as many along y.
    pub lateral_cells: usize,
    /// Radial cells.
    pub radial_cells: usize,
    /// Quadrature rule.
    pub rule: GoldenRule,
    /// Boundary condition of the two surfaces.
    pub boundary: GoldenBoundary,
    /// Radii, shape `[radial_cells + 1]`.
    pub radii: Vec<f64>,
    /// Lateral points, three lists of shape `[10][lateral_cells + 1][lateral_cells + 1]`.
    pub unit_sphere: [Vec<f64>; 3],
    /// Coefficient, shape `[10][lateral_cells + 1][lateral_cells + 1][radial_cells + 1]`.
    pub k: Vec<f64>,
    /// Velocity, three lists shaped as `k`.
    pub u: [Vec<f64>; 3],
    /// The operator applied to `u`, three lists shaped as `k`, without exchange between diamonds.
    pub au: [Vec<f64>; 3],
}

/// The file before anything is checked: every key may be missing.
#[derive(Deserialize)]
struct Unchecked {
    lateral_level: Option<usize>,
    lateral_cells: Option<usize>,
    radial_cells: Option<usize>,
    rule: Option<String>,
    boundary: Option<String>,
    radii: Option<Vec<f64>>,
    unit_sphere: Option<Vec<Vec<f64>>>,
    k: Option<Vec<f64>>,
    u: Option<Vec<Vec<f64>>>,
    au: Option<Vec<Vec<f64>>>,
}

impl GoldenCase {
    /// Reads and checks a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, GoldenError> {
        let file = path.as_ref().display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::parse(&file, &bytes),
            Err(source) => Err(GoldenError::Read { file, source }),
        }
    }

    /// Reads and checks a JSON text; `file` is the name that errors quote.
    pub fn parse(file: &str, text: &[u8]) -> Result<Self, GoldenError> {
        let raw: Unchecked =
            serde_json::from_slice(text).map_err(|source| GoldenError::Parse { file: file.to_owned(), source })?;
        let missing = |field| GoldenError::Missing { file: file.to_owned(), field };
        let rule = raw.rule.ok_or_else(|| missing("rule"))?;
        let boundary = raw.boundary.ok_or_else(|| missing("boundary"))?;
        let unknown = |field, found, possible| GoldenError::Unknown { file: file.to_owned(), field, found, possible };
        let triple = |field, lists: Option<Vec<Vec<f64>>>| {
            let lists = lists.ok_or_else(|| missing(field))?;
            lists.try_into().map_err(|lists: Vec<_>| GoldenError::Length {
                file: file.to_owned(),
                field: field.to_owned(),
                expected: 3,
                found: lists.len(),
            })
        };
        let case = Self {
            lateral_level: raw.lateral_level,
            lateral_cells: raw.lateral_cells.ok_or_else(|| missing("lateral_cells"))?,
            radial_cells: raw.radial_cells.ok_or_else(|| missing("radial_cells"))?,
            rule: (GoldenRule::ALL.into_iter().find(|known| known.name() == rule))
                .ok_or_else(|| unknown("rule", rule, "1x1, 1x2, 3x2"))?,
            boundary: (GoldenBoundary::ALL.into_iter().find(|known| known.name() == boundary))
                .ok_or_else(|| unknown("boundary", boundary, "neumann, dirichlet, cmb, surface"))?,
            radii: raw.radii.ok_or_else(|| missing("radii"))?,
            unit_sphere: triple("unit_sphere", raw.unit_sphere)?,
            k: raw.k.ok_or_else(|| missing("k"))?,
            u: triple("u", raw.u)?,
            au: triple("au", raw.au)?,
        };
        case.validate(file)?;
        Ok(case)
    }

    /// Checks sizes, lengths and numbers; `file` is the name that errors quote.
    pub fn validate(&self, file: &str) -> Result<(), GoldenError> {
        let size = |field, value, needed| Err(GoldenError::Size { file: file.to_owned(), field, value, needed });
        if self.lateral_cells == 0 {
            return size("lateral_cells", 0, "at least 1 is needed");
        }
        if self.radial_cells == 0 {
            return size("radial_cells", 0, "at least 1 is needed");
        }
        if let Some(level) = self.lateral_level
            && (level >= 64 || self.lateral_cells as u64 != 1 << level)
        {
            return size("lateral_level", level, "lateral_cells must be two to this power (or leave the level out)");
        }
        // Sizes come from the file: saturation turns an absurd one into a length that no list has.
        let lateral = (self.lateral_cells as u128 + 1).saturating_pow(2).saturating_mul(DIAMONDS as u128);
        let nodes = lateral.saturating_mul(self.radial_cells as u128 + 1);
        let list = |field: &str, component: Option<usize>, values: &[f64], expected: u128, positive: bool| {
            let field = component.map_or(field.to_owned(), |component| format!("{field}[{component}]"));
            if values.len() as u128 != expected {
                return Err(GoldenError::Length { file: file.to_owned(), field, expected, found: values.len() });
            }
            let sound = |value: &f64| value.is_finite() && (!positive || *value > 0.0);
            match values.iter().position(|value| !sound(value)) {
                Some(index) => {
                    let needed = if positive { "positive and finite" } else { "finite" };
                    Err(GoldenError::Value { file: file.to_owned(), field, index, value: values[index], needed })
                }
                None => Ok(()),
            }
        };
        list("radii", None, &self.radii, self.radial_cells as u128 + 1, true)?;
        crate::mesh::check_radii(&self.radii).map_err(|source| GoldenError::Mesh { file: file.to_owned(), source })?;
        list("k", None, &self.k, nodes, true)?;
        for component in 0..3 {
            list("unit_sphere", Some(component), &self.unit_sphere[component], lateral, false)?;
            list("u", Some(component), &self.u[component], nodes, false)?;
            list("au", Some(component), &self.au[component], nodes, false)?;
        }
        Ok(())
    }

    /// Checks the case and writes it; the file appears under its name only once it is complete.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), GoldenError> {
        let path = path.as_ref();
        self.validate(&path.display().to_string())?;
        replace_file(path, |out| {
            serde_json::to_writer(&mut *out, self)?;
            out.write_all(b"\n")
        })
        .map_err(|source| GoldenError::Write { path: path.to_owned(), source })
    }

    /// The mesh of the case, one subdomain a diamond: its [`node_index`](ShellMesh::node_index) is the order of `k`.
    pub fn mesh(&self) -> Result<ShellMesh, MeshError> {
        self.split_mesh(1, 1)
    }

    /// The mesh of the case with each diamond split into subdomains.
    pub fn split_mesh(&self, lateral_splits: usize, radial_splits: usize) -> Result<ShellMesh, MeshError> {
        let [a, b, c] = &self.unit_sphere;
        ShellMesh::from_parts(self.lateral_cells, [a, b, c], &self.radii, lateral_splits, radial_splits)
    }

    /// Place in `k`, and in each list of `u` and `au`, of a node of a mesh made by this case.
    pub fn node_index(&self, mesh: &ShellMesh, subdomain: usize, x: usize, y: usize, r: usize) -> usize {
        let piece = mesh.subdomains()[subdomain];
        let pitch = self.lateral_cells + 1;
        let column = (piece.diamond * pitch + piece.first[0] + x) * pitch + piece.first[1] + y;
        column * (self.radial_cells + 1) + piece.first[2] + r
    }
}
