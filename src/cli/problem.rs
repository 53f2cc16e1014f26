//! The data of a run: mesh, viscosity, and a velocity that is random but always the same.

use super::error::CliError;
use super::options::{Precision, splits};
use farro_fem::mesh::{MAX_LEVEL, MeshError, RadiiSpec, ShellMesh, ShellSpec};
use farro_fem::viscosity::Profile;

/// What to build.
#[derive(Clone, Debug)]
pub struct ProblemSpec {
    /// Refinement level.
    pub level: u32,
    /// Radial cells; none: half as many as lateral ones.
    pub radial_cells: Option<usize>,
    /// Radius of the inner surface.
    pub inner: f64,
    /// Radius of the outer surface.
    pub outer: f64,
    /// Number of subdomains.
    pub subdomains: usize,
    /// Seed of the velocity.
    pub seed: u64,
}

impl ProblemSpec {
    /// The default shell of a level.
    pub fn level(level: u32) -> Self {
        ProblemSpec { level, radial_cells: None, inner: 0.5, outer: 1.0, subdomains: 10, seed: 1 }
    }
    fn cells(&self) -> Result<(usize, usize), CliError> {
        if self.level == 0 || self.level > MAX_LEVEL {
            return Err(MeshError::Level { asked: self.level, limit: MAX_LEVEL }.into());
        }
        let lateral = 1usize << self.level;
        Ok((lateral, self.radial_cells.unwrap_or(lateral / 2)))
    }
    /// Refuses what would not fit the memory of this machine, before anything large is made.
    ///
    /// # Errors
    /// When the level is out of range or the fields need more than there is.
    pub fn check_memory(&self, precision: Precision, keeps_results: bool) -> Result<(), CliError> {
        let (lateral, radial) = self.cells()?;
        let nodes = 10 * (lateral as u128 + 1).pow(2) * (radial as u128 + 1);
        // Two vectors and a scalar, one more vector while a field is copied; results and the reference in f64.
        let values = nodes * (10 * precision.bytes() as u128 + if keeps_results { 3 * 24 } else { 0 });
        match available_memory() {
            Some(available) if values > u128::from(available) => Err(CliError::Usage(format!(
                "level {} with {radial} radial cells needs about {:.1} GB of memory, {:.1} GB are free; use a lower \
                 --level, fewer --radial-cells or --precision f32",
                self.level,
                values as f64 / 1e9,
                available as f64 / 1e9
            ))),
            _ => Ok(()),
        }
    }
}

/// Bytes of free memory, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Mesh, viscosity and velocity.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The mesh.
    pub mesh: ShellMesh,
    /// Viscosity of each level of each subdomain.
    viscosity: Vec<f64>,
    seed: u64,
}

impl Problem {
    /// Builds the mesh and looks up the viscosity.
    ///
    /// # Errors
    /// When the mesh is not possible.
    pub fn new(spec: &ProblemSpec, profile: &Profile) -> Result<Self, CliError> {
        let (lateral, radial) = spec.cells()?;
        let (lateral_splits, radial_splits) =
            if radial == 0 { (1, 1) } else { splits(spec.subdomains, lateral, radial)? };
        let mesh = ShellMesh::new(ShellSpec {
            level: spec.level,
            radial_cells: Some(radial),
            radii: RadiiSpec::Uniform { inner: spec.inner, outer: spec.outer },
            lateral_splits,
            radial_splits,
        })?;
        let (inner, outer) = (mesh.inner_radius(), mesh.outer_radius());
        let at = |&radius: &f64| profile.nondimensional(radius, inner, outer);
        let viscosity = mesh.radii().iter().map(at).collect::<Result<_, _>>()?;
        Ok(Problem { mesh, viscosity, seed: spec.seed })
    }
    /// Viscosity at a node, divided by the least one.
    pub fn k(&self, [s, _, _, r]: [usize; 4]) -> f64 {
        self.viscosity[s * (self.mesh.cells()[2] + 1) + r]
    }
    /// The largest viscosity, divided by the least one.
    pub fn contrast(&self) -> f64 {
        self.viscosity.iter().copied().fold(0.0, f64::max)
    }
    /// Velocity component at a node, between −1 and 1: equal at all copies of a node, however the shell is split.
    pub fn u(&self, [c, s, x, y, r]: [usize; 5]) -> f64 {
        let number = 3 * self.mesh.unique_number(s, x, y, r) + c;
        random(self.seed, number as u64)
    }
    /// Velocity degrees of freedom, three for each node of the shell.
    pub fn dofs(&self) -> f64 {
        3.0 * self.mesh.unique_nodes() as f64
    }
    /// Place of a value in the lists of results: component, subdomain, x, y, r, the last the fastest.
    pub fn place(&self, [c, s, x, y, r]: [usize; 5]) -> usize {
        c * self.mesh.stored_nodes() + self.mesh.node_index(s, x, y, r)
    }
    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = [usize; 4]> + '_ {
        let [nx, ny, nr] = self.mesh.cells();
        (0..self.mesh.subdomains().len()).flat_map(move |s| {
            (0..=nx).flat_map(move |x| (0..=ny).flat_map(move |y| (0..=nr).map(move |r| [s, x, y, r])))
        })
    }
    /// `count` nodes, spread over the shell.
    pub fn sample(&self, count: usize) -> Vec<[usize; 4]> {
        let [nx, ny, nr] = self.mesh.cells();
        let extents = [self.mesh.subdomains().len(), nx + 1, ny + 1, nr + 1];
        let pick = |i: usize, d: usize| {
            let fraction = 0.5 * (random(!self.seed, (4 * i + d) as u64) + 1.0);
            ((fraction * extents[d] as f64) as usize).min(extents[d] - 1)
        };
        (0..count).map(|i| [pick(i, 0), pick(i, 1), pick(i, 2), pick(i, 3)]).collect()
    }
}

/// A number between −1 and 1 that depends on the seed and the index only (SplitMix64).
pub fn random(seed: u64, index: u64) -> f64 {
    let mut z = seed.wrapping_mul(0xD1B5_4A32_D192_ED03) ^ index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
