//! The viscous operator's kernels by name, without a device: as traced programs and as counts. Functions that trace all
//! kernels are `#[inline]` in release builds, so that only programs that call them compile them; tests share one copy.
//!
//! ```
//! use farro::kernels::{Choice, element_kernel, record};
//! use farro_backends::print::{Dialect, print};
//!
//! let choice = Choice::default();
//! let launches = record(&choice)?;
//! let marching = launches.iter().find(|launch| launch.prepared.program.name == element_kernel(choice.config.variant));
//! let text = print(&marching.expect("it is launched").prepared.program, Dialect::OpenCl).text;
//! assert!(text.contains("farro_viscous_marching"));
//! # Ok::<(), farro_fem::viscous::ViscousError>(())
//! ```

use crate::ceilings::{Probe, Sizes, launch_probe};
use clap::ValueEnum;
use farro_backends::count::{CountSpace, Counts};
use farro_backends::record::{RecordSpace, Recorded};
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::marching::MarchingLeague;
use farro_fem::viscous::{
    Config, FieldLayout, LateralFastest, Mode, RadiusFastest, Variant, ViscousError, ViscousOperator,
};
use farro_portability::RealElement;
use std::collections::BTreeMap;

/// Storage and arithmetic of reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Precision {
    /// 64 bits stored, 64 bits computed.
    F64,
    /// 32 bits stored, 32 bits computed.
    F32,
    /// 32 bits stored, 64 bits computed.
    #[value(name = "f32-f64")]
    Mixed,
}

impl Precision {
    /// All of them.
    pub const ALL: [Precision; 3] = [Precision::F64, Precision::F32, Precision::Mixed];

    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
            Precision::Mixed => "f32-f64",
        }
    }
    /// Bytes of a stored value.
    pub fn bytes(self) -> usize {
        if self == Precision::F64 { 8 } else { 4 }
    }
    /// The relative error that rounding may cause.
    pub fn tolerance(self) -> f64 {
        match self {
            Precision::F64 => 1e-12,
            Precision::F32 => 1e-4,
            Precision::Mixed => 1e-6,
        }
    }
}

/// Which index of a field is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum LayoutChoice {
    /// r fastest: the columns of the shell are contiguous.
    R,
    /// x fastest: neighbouring columns lie side by side, as lanes want them.
    X,
}

impl LayoutChoice {
    /// Both.
    pub const ALL: [LayoutChoice; 2] = [LayoutChoice::R, LayoutChoice::X];

    /// The letter.
    pub fn name(self) -> &'static str {
        match self {
            LayoutChoice::R => "r",
            LayoutChoice::X => "x",
        }
    }
}

/// A variant with its tunables, in a precision and layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Variant and tunables.
    pub config: Config,
    /// Storage and arithmetic.
    pub precision: Precision,
    /// Layout of the fields.
    pub layout: LayoutChoice,
}

impl Default for Choice {
    fn default() -> Self {
        Choice { config: Config::default(), precision: Precision::F64, layout: LayoutChoice::X }
    }
}

/// The name of the kernel that visits the elements.
pub fn element_kernel(variant: Variant) -> &'static str {
    match variant {
        Variant::Textbook => "viscous_textbook",
        Variant::ArReduc => "viscous_arreduc",
        Variant::Shmem => "viscous_shmem",
        Variant::Tuned => "viscous_tuned",
        Variant::Marching => "viscous_marching",
    }
}

/// Work in the types of a [`Choice`]: arithmetic in `P`, fields of `E` in layout `L`.
pub trait Typed {
    /// What comes of it.
    type Output;
    /// Does the work.
    fn run<P: RealElement, E: RealElement, L: FieldLayout>(self) -> Self::Output;
}

/// Does work in the types of a precision and layout.
pub fn typed<W: Typed>(precision: Precision, layout: LayoutChoice, work: W) -> W::Output {
    match (precision, layout) {
        (Precision::F64, LayoutChoice::X) => work.run::<f64, f64, LateralFastest>(),
        (Precision::F64, LayoutChoice::R) => work.run::<f64, f64, RadiusFastest>(),
        (Precision::F32, LayoutChoice::X) => work.run::<f32, f32, LateralFastest>(),
        (Precision::F32, LayoutChoice::R) => work.run::<f32, f32, RadiusFastest>(),
        (Precision::Mixed, LayoutChoice::X) => work.run::<f64, f32, LateralFastest>(),
        (Precision::Mixed, LayoutChoice::R) => work.run::<f64, f32, RadiusFastest>(),
    }
}

fn shell(level: u32, radial_cells: usize) -> Result<ShellMesh, ViscousError> {
    let spec = ShellSpec { radial_cells: Some(radial_cells), ..ShellSpec::level(level) };
    ShellMesh::new(spec).map_err(|error| ViscousError::Tunable { variant: "mesh", message: error.to_string() })
}

struct Record {
    config: Config,
    level: u32,
    radial_cells: usize,
}

impl Typed for Record {
    type Output = Result<Vec<Recorded>, ViscousError>;
    fn run<P: RealElement, E: RealElement, L: FieldLayout>(self) -> Self::Output {
        let (mesh, space) = (shell(self.level, self.radial_cells)?, RecordSpace::<P>::new());
        let operator = ViscousOperator::<_, E, L>::new(&space, &mesh, self.config, |_| 1.0)?;
        let (u, mut y) = (operator.new_vector("u")?, operator.new_vector("y")?);
        operator.apply(&u, &mut y, Mode::Replace)?;
        operator.diagonal(&mut y)?;
        Ok(space.take())
    }
}

/// The launches of one apply, and that of the diagonal, as traced programs.
///
/// # Errors
/// When the tunables are not possible.
#[cfg_attr(not(debug_assertions), inline)]
pub fn record(choice: &Choice) -> Result<Vec<Recorded>, ViscousError> {
    // Extents are arguments of a kernel; any shell that is wide enough for a vector will do.
    record_on(choice, 6, 1)
}

/// The same on a shell of another level.
///
/// # Errors
/// When the tunables or the shell are not possible.
#[cfg_attr(not(debug_assertions), inline)]
pub fn record_on(choice: &Choice, level: u32, radial_cells: usize) -> Result<Vec<Recorded>, ViscousError> {
    choice.config.check()?;
    typed(choice.precision, choice.layout, Record { config: choice.config, level, radial_cells })
}

/// A kernel by the name that people give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// The one that visits the elements.
    Element(Variant),
    /// The one that sets results to zero before elements add to them.
    Zero,
    /// The one that adds what constrained nodes keep of their rows.
    AddKept,
    /// The one that computes the factors of that, once for each operator.
    KeptFactors,
    /// The one that writes the operator's diagonal.
    Diagonal,
    /// A microbenchmark.
    Ceiling(Probe),
}

impl Named {
    /// All of them, with their names.
    pub fn all() -> Vec<(&'static str, Named)> {
        let mut all: Vec<_> = Variant::ALL.map(|variant| (variant.name(), Named::Element(variant))).into();
        all.extend([
            ("zero", Named::Zero),
            ("add-kept", Named::AddKept),
            ("kept-factors", Named::KeptFactors),
            ("diagonal", Named::Diagonal),
            ("triad", Named::Ceiling(Probe::Triad)),
            ("copy", Named::Ceiling(Probe::Copy)),
            ("fma", Named::Ceiling(Probe::Fma)),
            ("scratch", Named::Ceiling(Probe::Scratch)),
            ("cached", Named::Ceiling(Probe::Cache)),
            ("atomics", Named::Ceiling(Probe::Atomics)),
        ]);
        all
    }
    /// The variant whose apply launches it.
    pub fn variant(self) -> Variant {
        match self {
            Named::Element(variant) => variant,
            Named::Zero | Named::AddKept => Variant::ArReduc,
            _ => Variant::Marching,
        }
    }
    /// The name that the kernel itself has.
    pub fn kernel(self) -> &'static str {
        match self {
            Named::Element(variant) => element_kernel(variant),
            Named::Zero => "zero",
            Named::AddKept => "viscous_add_kept",
            Named::KeptFactors => "viscous_kept_factors",
            Named::Diagonal => "viscous_diagonal",
            Named::Ceiling(probe) => probe.kernel(),
        }
    }
}

struct RecordProbe(Probe);

impl Typed for RecordProbe {
    type Output = Result<Vec<Recorded>, ViscousError>;
    fn run<P: RealElement, E: RealElement, L: FieldLayout>(self) -> Self::Output {
        let space = RecordSpace::<P>::new();
        let sizes = Sizes { elements: 1 << 13, ..Sizes::default() };
        launch_probe::<_, E>(&space, self.0, sizes)?;
        Ok(space.take())
    }
}

/// One kernel as a traced program, with the policy of its launch.
///
/// # Errors
/// When the tunables are not possible, or an apply with them does not launch the kernel.
#[cfg_attr(not(debug_assertions), inline)]
pub fn record_kernel(named: Named, choice: &Choice) -> Result<Recorded, ViscousError> {
    let variant = named.variant();
    let launches = match named {
        Named::Ceiling(probe) => typed(choice.precision, choice.layout, RecordProbe(probe))?,
        _ => record(&Choice { config: Config { variant, ..choice.config }, ..*choice })?,
    };
    let found = launches.into_iter().find(|launch| launch.prepared.program.name == named.kernel());
    found.ok_or_else(|| ViscousError::Tunable {
        variant: variant.name(),
        message: format!("with these boundary conditions no kernel `{}` is launched", named.kernel()),
    })
}

/// Counts of one apply on a shell.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Velocity DoFs of the shell.
    pub dofs: f64,
    /// The counts of each kernel, by its name.
    pub kernels: BTreeMap<&'static str, Counts>,
    /// By how much more a DoF of the shell costs than one of the shell that was asked about, in what teams do: tiles
    /// that fit one of them well may fit the other badly. 1 if they are the same.
    pub excess: f64,
}

/// Most lateral level and radial cells at which [`count_for`] counts.
const COUNTED: (u32, usize) = (5, 16);

/// Cells that the teams of the kernel compute on a shell, those included that overlap or do not exist.
fn computed_cells(config: &Config, level: u32, radial_cells: usize) -> f64 {
    let lateral = 1usize << level;
    match config.variant {
        Variant::Marching => {
            let lanes = config.lanes.unwrap_or(32);
            let cells = [lateral, lateral, radial_cells];
            let league = MarchingLeague::new(cells, lanes, config.threads, config.rows, config.radial_blocks);
            // A block that does not begin at the bottom repeats a layer.
            let layers = radial_cells + config.radial_blocks - 1;
            (league.teams[0] * league.teams[1] * lanes * config.threads * config.rows * layers) as f64
        }
        Variant::Shmem | Variant::Tuned => {
            (config.tile.league([1, lateral, lateral, radial_cells]) * config.tile.cells()) as f64
        }
        Variant::Textbook | Variant::ArReduc => (lateral * lateral * radial_cells) as f64,
    }
}

/// Counts for a shell of any level, on one that is small enough to be interpreted in a moment.
///
/// # Errors
/// When the tunables are not possible.
#[cfg_attr(not(debug_assertions), inline)]
pub fn count_for(choice: &Choice, level: u32, radial_cells: usize) -> Result<Counted, ViscousError> {
    let (small, few) = (level.min(COUNTED.0), radial_cells.min(COUNTED.1));
    let counted = count(choice, small, few)?;
    let unique = |level: u32, radial: usize| 3.0 * (10.0 * 4f64.powi(level as i32) + 2.0) * (radial + 1) as f64;
    let per_dof = |level, radial| computed_cells(&choice.config, level, radial) / unique(level, radial);
    Ok(Counted { excess: per_dof(small, few) / per_dof(level, radial_cells), ..counted })
}

struct Count {
    config: Config,
    level: u32,
    radial_cells: usize,
}

impl Typed for Count {
    type Output = Result<Counted, ViscousError>;
    fn run<P: RealElement, E: RealElement, L: FieldLayout>(self) -> Self::Output {
        let (mesh, space) = (shell(self.level, self.radial_cells)?, CountSpace::<P>::new());
        let operator = ViscousOperator::<_, E, L>::new(&space, &mesh, self.config, |_| 1.0)?;
        let u = operator.vector_from("u", |[c, s, x, y, r]| (1 + c + s + x + y + r) as f64)?;
        let mut y = operator.new_vector("y")?;
        operator.apply(&u, &mut y, Mode::Replace)?;
        Ok(Counted { dofs: 3.0 * mesh.unique_nodes() as f64, kernels: space.by_kernel(), excess: 1.0 })
    }
}

/// Counts one apply on a shell of so many radial cells, with requests of 32 work items.
///
/// # Errors
/// When the tunables are not possible.
#[cfg_attr(not(debug_assertions), inline)]
pub fn count(choice: &Choice, level: u32, radial_cells: usize) -> Result<Counted, ViscousError> {
    choice.config.check()?;
    typed(choice.precision, choice.layout, Count { config: choice.config, level, radial_cells })
}
