//! The thick spherical shell: ten diamonds of an icosahedron, each split into subdomains of equal size.
//!
//! A node sits at `radius * point`, with `point` a lateral position on the unit sphere that belongs to a column
//! `(x, y)` and `radius` one of the radii of the shell. A hex cell `(x, y, r)` is two wedges with the lateral nodes
//! {(0,0), (1,0), (0,1)} and {(1,1), (0,1), (1,0)}. Nodes on the borders of subdomains are stored by each of them;
//! [`Exchange`](crate::exchange::Exchange) adds or identifies these copies.
//!
//! ```
//! use farro_fem::mesh::{ShellMesh, ShellSpec};
//!
//! let mesh = ShellMesh::new(ShellSpec { lateral_splits: 2, ..ShellSpec::level(3) })?;
//! assert_eq!(mesh.subdomains().len(), 10 * 2 * 2);
//! assert_eq!(mesh.unique_nodes(), (10 * 8 * 8 + 2) * 5);
//! # Ok::<(), farro_fem::mesh::MeshError>(())
//! ```

mod check;
mod error;
mod icosahedron;
mod subdomain;

pub use check::{MeshCheckError, WedgeFault, WedgeFaultKind};
pub use error::MeshError;
pub use icosahedron::{DIAMONDS, expected_sign};
pub use subdomain::Subdomain;

use icosahedron::{lateral_id, refine, unique_lateral};

/// Highest refinement level a mesh can be built at.
pub const MAX_LEVEL: u32 = 12;

const MAX_RADIAL_CELLS: usize = 1 << 20;
const MAX_LATERAL_CELLS: usize = 1 << 16;
const MAX_BYTES: u128 = 1 << 35;

/// The radii of the shell.
#[derive(Debug, Clone, PartialEq)]
pub enum RadiiSpec {
    /// Levels evenly spaced between the two surfaces.
    Uniform {
        /// Radius of the inner surface.
        inner: f64,
        /// Radius of the outer surface.
        outer: f64,
    },
    /// All radii from the inner to the outer surface, strictly increasing.
    Explicit(Vec<f64>),
}

impl Default for RadiiSpec {
    /// The shell between radius 0.5 and radius 1.
    fn default() -> Self {
        Self::Uniform { inner: 0.5, outer: 1.0 }
    }
}

/// What shell to build.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellSpec {
    /// Refinement level, 1 to [`MAX_LEVEL`]: each diamond has `2^level` by `2^level` lateral cells.
    pub level: u32,
    /// Radial cells; `None` means as many as the explicit radii give, else `2^(level−1)`.
    pub radial_cells: Option<usize>,
    /// The radii of the shell.
    pub radii: RadiiSpec,
    /// Pieces each diamond is cut into along x, and as many along y.
    pub lateral_splits: usize,
    /// Pieces each diamond is cut into along r.
    pub radial_splits: usize,
}

impl ShellSpec {
    /// The default shell of a level: radii 0.5 to 1, `2^(level−1)` radial cells, one subdomain a diamond.
    pub fn level(level: u32) -> Self {
        Self { level, radial_cells: None, radii: RadiiSpec::default(), lateral_splits: 1, radial_splits: 1 }
    }
}

/// A shell mesh: subdomains of `nx` by `ny` by `nr` cells each, their lateral points and their radii.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellMesh {
    lateral_cells: usize,
    radial_cells: usize,
    lateral_splits: usize,
    radial_splits: usize,
    subdomains: Vec<Subdomain>,
    unit_sphere: Vec<f64>,
    radii: Vec<f64>,
}

impl ShellMesh {
    /// Builds the shell that the specification asks for.
    pub fn new(spec: ShellSpec) -> Result<Self, MeshError> {
        if spec.level == 0 || spec.level > MAX_LEVEL {
            return Err(MeshError::Level { asked: spec.level, limit: MAX_LEVEL });
        }
        let n = 1usize << spec.level;
        let radii = match spec.radii {
            RadiiSpec::Explicit(radii) => {
                // Compared as cells, so that an absurd count cannot overflow.
                if let Some(cells) = spec.radial_cells.filter(|&cells| Some(cells) != radii.len().checked_sub(1)) {
                    return Err(MeshError::RadiiCount { cells, radii: radii.len() });
                }
                radii
            }
            RadiiSpec::Uniform { inner, outer } => {
                let cells = spec.radial_cells.unwrap_or(n / 2);
                check_radial_cells(cells)?;
                // The two surfaces are checked first: errors then quote what was asked, not what was derived.
                check_radii(&[inner, outer])?;
                let level = |r: usize| inner + (outer - inner) * (r as f64 / cells as f64);
                (0..=cells).map(|r| if r == cells { outer } else { level(r) }).collect()
            }
        };
        let mut mesh = Self::empty(n, &radii, spec.lateral_splits, spec.radial_splits)?;
        for diamond in 0..DIAMONDS {
            let points = refine(diamond, n);
            mesh.fill(diamond, |component, x, y| points[x * (n + 1) + y][component]);
        }
        Ok(mesh)
    }

    /// Builds a shell from given lateral points and radii, for example those of a file.
    ///
    /// `unit_sphere` holds three component lists, each of shape `[10 diamonds][lateral_cells + 1][lateral_cells + 1]`
    /// (x, then y fastest); `radii` runs from the inner to the outer surface. The lateral cells need not be a power of
    /// two. Points must be finite; whether they make sound wedges is for [`check`](Self::check) to say.
    pub fn from_parts(
        lateral_cells: usize,
        unit_sphere: [&[f64]; 3],
        radii: &[f64],
        lateral_splits: usize,
        radial_splits: usize,
    ) -> Result<Self, MeshError> {
        if lateral_cells == 0 || lateral_cells > MAX_LATERAL_CELLS {
            return Err(MeshError::LateralCells { asked: lateral_cells, limit: MAX_LATERAL_CELLS });
        }
        let pitch = lateral_cells + 1;
        let expected = DIAMONDS * pitch * pitch;
        for (component, values) in unit_sphere.iter().enumerate() {
            if values.len() != expected {
                return Err(MeshError::CoordinateCount { component, lateral_cells, expected, found: values.len() });
            }
            if let Some(place) = values.iter().position(|value| !value.is_finite()) {
                let (diamond, within) = (place / (pitch * pitch), place % (pitch * pitch));
                let (x, y) = (within / pitch, within % pitch);
                return Err(MeshError::BadCoordinate { component, diamond, x, y, value: values[place] });
            }
        }
        let mut mesh = Self::empty(lateral_cells, radii, lateral_splits, radial_splits)?;
        for diamond in 0..DIAMONDS {
            mesh.fill(diamond, |component, x, y| unit_sphere[component][(diamond * pitch + x) * pitch + y]);
        }
        Ok(mesh)
    }

    /// Checks everything but the lateral points, and lays the mesh out with these still zero.
    fn empty(n: usize, radii: &[f64], lateral_splits: usize, radial_splits: usize) -> Result<Self, MeshError> {
        check_radii(radii)?;
        let radial_cells = radii.len() - 1;
        check_radial_cells(radial_cells)?;
        for (direction, asked, cells) in [("lateral", lateral_splits, n), ("radial", radial_splits, radial_cells)] {
            if asked == 0 || cells % asked != 0 {
                return Err(MeshError::Splits { direction, asked, cells });
            }
        }
        let (nx, nr) = (n / lateral_splits, radial_cells / radial_splits);
        let count = DIAMONDS as u128 * (lateral_splits as u128).pow(2) * radial_splits as u128;
        let each = 3 * (nx as u128 + 1).pow(2) + (nr as u128 + 1);
        let bytes = count * (8 * each + size_of::<Subdomain>() as u128);
        if bytes > MAX_BYTES {
            return Err(MeshError::TooLarge { bytes, limit: MAX_BYTES });
        }
        let mut subdomains = Vec::with_capacity(count as usize);
        let mut own_radii = Vec::with_capacity(count as usize * (nr + 1));
        for diamond in 0..DIAMONDS {
            for px in 0..lateral_splits {
                for py in 0..lateral_splits {
                    for pr in 0..radial_splits {
                        subdomains.push(Subdomain {
                            diamond,
                            piece: [px, py, pr],
                            first: [px * nx, py * nx, pr * nr],
                            inner: pr == 0,
                            outer: pr + 1 == radial_splits,
                        });
                        own_radii.extend_from_slice(&radii[pr * nr..=(pr + 1) * nr]);
                    }
                }
            }
        }
        let unit_sphere = vec![0.0; 3 * subdomains.len() * (nx + 1) * (nx + 1)];
        Ok(Self {
            lateral_cells: n,
            radial_cells,
            lateral_splits,
            radial_splits,
            subdomains,
            unit_sphere,
            radii: own_radii,
        })
    }

    /// Copies the points of one diamond, given by component, x and y, into its subdomains.
    fn fill(&mut self, diamond: usize, point: impl Fn(usize, usize, usize) -> f64) {
        let [nx, ny, _] = self.cells();
        let a_diamond = self.lateral_splits * self.lateral_splits * self.radial_splits;
        for s in diamond * a_diamond..(diamond + 1) * a_diamond {
            let [x0, y0, _] = self.subdomains[s].first;
            for component in 0..3 {
                for x in 0..=nx {
                    let start = self.point_index(component, s, x, 0);
                    for (y, value) in self.unit_sphere[start..=start + ny].iter_mut().enumerate() {
                        *value = point(component, x0 + x, y0 + y);
                    }
                }
            }
        }
    }

    fn point_index(&self, component: usize, s: usize, x: usize, y: usize) -> usize {
        let [nx, ny, _] = self.cells();
        ((component * self.subdomains.len() + s) * (nx + 1) + x) * (ny + 1) + y
    }

    /// Lateral cells of a diamond along x, and as many along y.
    pub fn lateral_cells(&self) -> usize {
        self.lateral_cells
    }

    /// Radial cells of the whole shell.
    pub fn radial_cells(&self) -> usize {
        self.radial_cells
    }

    /// Pieces each diamond is cut into along x, and as many along y.
    pub fn lateral_splits(&self) -> usize {
        self.lateral_splits
    }

    /// Pieces each diamond is cut into along r.
    pub fn radial_splits(&self) -> usize {
        self.radial_splits
    }

    /// Cells of each subdomain: `[nx, ny, nr]`. Its nodes are `0..=nx`, `0..=ny`, `0..=nr`.
    pub fn cells(&self) -> [usize; 3] {
        let lateral = self.lateral_cells / self.lateral_splits;
        [lateral, lateral, self.radial_cells / self.radial_splits]
    }

    /// All subdomains: `10 * lateral_splits² * radial_splits` of them.
    pub fn subdomains(&self) -> &[Subdomain] {
        &self.subdomains
    }

    /// Lateral points on the unit sphere, shape `[3 components][subdomains][nx + 1][ny + 1]`, y fastest.
    pub fn unit_sphere(&self) -> &[f64] {
        &self.unit_sphere
    }

    /// Radii, shape `[subdomains][nr + 1]`.
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Radius of the inner surface of the shell.
    pub fn inner_radius(&self) -> f64 {
        self.radii[0]
    }

    /// Radius of the outer surface of the shell.
    pub fn outer_radius(&self) -> f64 {
        self.radii[self.radii.len() - 1]
    }

    /// Lateral point of column `(x, y)` of a subdomain.
    pub fn point(&self, subdomain: usize, x: usize, y: usize) -> [f64; 3] {
        [0, 1, 2].map(|component| self.unit_sphere[self.point_index(component, subdomain, x, y)])
    }

    /// Radius of level `r` of a subdomain.
    pub fn radius(&self, subdomain: usize, r: usize) -> f64 {
        self.radii[subdomain * (self.cells()[2] + 1) + r]
    }

    /// Position of a node: its radius times its lateral point.
    pub fn position(&self, subdomain: usize, x: usize, y: usize, r: usize) -> [f64; 3] {
        let radius = self.radius(subdomain, r);
        self.point(subdomain, x, y).map(|value| radius * value)
    }

    /// Nodes of the shell, each counted once however many subdomains store it.
    pub fn unique_nodes(&self) -> usize {
        unique_lateral(self.lateral_cells) * (self.radial_cells + 1)
    }

    /// Nodes stored by all subdomains, copies counted.
    pub fn stored_nodes(&self) -> usize {
        let [nx, ny, nr] = self.cells();
        self.subdomains.len() * (nx + 1) * (ny + 1) * (nr + 1)
    }

    /// Place of a node in a field of shape `[subdomains][nx + 1][ny + 1][nr + 1]`, r fastest.
    pub fn node_index(&self, subdomain: usize, x: usize, y: usize, r: usize) -> usize {
        let [nx, ny, nr] = self.cells();
        ((subdomain * (nx + 1) + x) * (ny + 1) + y) * (nr + 1) + r
    }

    /// Number of the lateral node `(x, y)` of a subdomain among the `10 n² + 2` distinct ones of the sphere.
    pub fn lateral_number(&self, subdomain: usize, x: usize, y: usize) -> usize {
        let Subdomain { diamond, first, .. } = self.subdomains[subdomain];
        lateral_id(self.lateral_cells, diamond, first[0] + x, first[1] + y)
    }

    /// Number of a node in `0..unique_nodes()`: equal for all copies of one geometric node, and for no others.
    pub fn unique_number(&self, subdomain: usize, x: usize, y: usize, r: usize) -> usize {
        let level = self.subdomains[subdomain].first[2] + r;
        self.lateral_number(subdomain, x, y) * (self.radial_cells + 1) + level
    }
}

fn check_radial_cells(cells: usize) -> Result<(), MeshError> {
    if cells == 0 || cells > MAX_RADIAL_CELLS {
        return Err(MeshError::RadialCells { asked: cells, limit: MAX_RADIAL_CELLS });
    }
    Ok(())
}

/// Radii of a shell are at least two, positive, finite and strictly increasing.
pub(crate) fn check_radii(radii: &[f64]) -> Result<(), MeshError> {
    if radii.len() < 2 {
        return Err(MeshError::TooFewRadii { found: radii.len() });
    }
    if let Some(index) = radii.iter().position(|&radius| !(radius.is_finite() && radius > 0.0)) {
        return Err(MeshError::BadRadius { index, value: radii[index] });
    }
    match radii.windows(2).position(|pair| pair[1] <= pair[0]) {
        Some(at) => Err(MeshError::RadiiNotIncreasing { index: at + 1, below: radii[at], above: radii[at + 1] }),
        None => Ok(()),
    }
}
