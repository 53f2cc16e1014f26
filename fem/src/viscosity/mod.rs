//! Radial viscosity profiles of the mantle, read from tables.
//!
//! A table is delimited text (commas, semicolons or tabs; the header decides). Its header line names the columns: one
//! of `radius_m`, `radius_km`, `depth_m`, `depth_km`, and `viscosity_pa_s`. Other columns, blank lines and lines that
//! start with `#` are skipped, and rows may come in any order. Depths count from a surface at [`SURFACE_RADIUS_KM`].
//!
//! **Jumps.** Two rows at one radius are a jump; three are an error. Which of the two lies below follows from the
//! direction of the file: in a table that runs upwards (radius rising) the first is the lower side, in one that runs
//! downwards the first is the upper side. A table in no order is read as its column counts: radii upwards, depths
//! downwards.
//!
//! ```
//! use farro_fem::viscosity::Profile;
//!
//! let table = "depth_km;viscosity_pa_s\n0;1e22\n100;1e22\n100;1e20\n2891;1e20\n";
//! let profile = Profile::parse("two-layers.csv", table)?;
//! assert_eq!(profile.at_radius_km(6300.0), 1e22);
//! assert_eq!(profile.nondimensional(1.0, 0.5, 1.0)?, 100.0);
//! # Ok::<(), farro_fem::viscosity::ProfileError>(())
//! ```

mod error;
mod table;

pub use error::ProfileError;

use std::fmt::Write as _;
use std::path::Path;

/// Radius of the Earth's surface in kilometres.
pub const SURFACE_RADIUS_KM: f64 = 6371.0;

/// Radius of the core-mantle boundary in kilometres: a depth of 2891 km.
pub const CMB_RADIUS_KM: f64 = 3480.0;

const BUILTIN: &str = include_str!("../../data/mantle_layers.csv");

/// Viscosity as a function of the radius.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Radius in kilometres, not decreasing; equal at the two sides of a jump.
    radius_km: Vec<f64>,
    /// Viscosity in Pa s at these radii.
    viscosity: Vec<f64>,
}

impl Profile {
    /// Reads a table from a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ProfileError> {
        let file = path.as_ref().display().to_string();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(ProfileError::Read { file, source }),
        };
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(&file, text),
            Err(error) => {
                let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
                Err(ProfileError::NotText { file, line })
            }
        }
    }

    /// Reads a table from text; `file` is the name that errors quote.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let rows = table::read(file, text)?;
        Ok(Self {
            radius_km: rows.iter().map(|row| row.radius_km).collect(),
            viscosity: rows.iter().map(|row| row.viscosity).collect(),
        })
    }

    /// The profile that ships with the library: an illustrative layered mantle (`data/mantle_layers.csv`).
    pub fn builtin() -> Self {
        Self::parse("mantle_layers.csv", BUILTIN).expect("the table in the library is covered by a test")
    }

    /// The rows as (radius in kilometres, viscosity in Pa s), by increasing radius, lower side of a jump first.
    pub fn rows(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.radius_km.iter().copied().zip(self.viscosity.iter().copied())
    }

    /// The profile as a table that reads back exactly.
    pub fn to_csv(&self) -> String {
        let mut table = String::from("radius_km,viscosity_pa_s\n");
        for (radius, viscosity) in self.rows() {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{radius:?},{viscosity:?}");
        }
        table
    }

    /// Viscosity in Pa s at a radius in kilometres.
    ///
    /// Between rows the logarithm of the viscosity is linear in the radius; beyond the first and last row the viscosity
    /// is constant. At a jump the upper side counts. A radius that is not a number gives one that is not a number.
    pub fn at_radius_km(&self, radius: f64) -> f64 {
        if radius.is_nan() {
            return f64::NAN;
        }
        let above = self.radius_km.partition_point(|&row| row <= radius);
        let Some(below) = above.checked_sub(1) else { return self.viscosity[0] };
        let (a, r_a) = (self.viscosity[below], self.radius_km[below]);
        let (Some(&b), Some(&r_b)) = (self.viscosity.get(above), self.radius_km.get(above)) else { return a };
        let t = (radius - r_a) / (r_b - r_a);
        // The bounds keep rounding from leaving the range of the two rows.
        (a * (t * (b.ln() - a.ln())).exp()).clamp(a.min(b), a.max(b))
    }

    /// The reference viscosity: the least in the mantle, from [`CMB_RADIUS_KM`] to [`SURFACE_RADIUS_KM`], in Pa s.
    pub fn reference(&self) -> f64 {
        let ends = [CMB_RADIUS_KM, SURFACE_RADIUS_KM].map(|radius| self.at_radius_km(radius));
        let within = self.rows().filter(|&(radius, _)| radius > CMB_RADIUS_KM).map(|(_, viscosity)| viscosity);
        within.chain(ends).fold(f64::INFINITY, f64::min)
    }

    /// Viscosity divided by the [`reference`](Self::reference), at a radius of a mesh.
    ///
    /// The mesh's radii from `mesh_inner` to `mesh_outer` are mapped linearly to the mantle, from [`CMB_RADIUS_KM`] to
    /// [`SURFACE_RADIUS_KM`]. Within the mesh the result is at least 1.
    pub fn nondimensional(&self, r: f64, mesh_inner: f64, mesh_outer: f64) -> Result<f64, ProfileError> {
        let sound = r.is_finite() && mesh_inner.is_finite() && mesh_outer.is_finite() && mesh_inner < mesh_outer;
        if !sound {
            return Err(ProfileError::BadMeshRadius { radius: r, inner: mesh_inner, outer: mesh_outer });
        }
        let t = (r - mesh_inner) / (mesh_outer - mesh_inner);
        // This form is exact at both surfaces.
        let radius_km = (1.0 - t) * CMB_RADIUS_KM + t * SURFACE_RADIUS_KM;
        Ok(self.at_radius_km(radius_km) / self.reference())
    }
}
