//! Which variant, with which tunables; and what can be wrong with the choice.

use super::boundary::Boundary;
use super::tile::TileShape;
use super::tuned::Accumulator;
use super::wedge::Rule;
use farro_portability::{Bounds, LaunchError, MemoryError};

/// The variants of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Element matrices, a work item for each cell.
    Textbook,
    /// Strain and stress at points, a work item for each cell.
    ArReduc,
    /// Staged tiles.
    Shmem,
    /// Staged tiles with passes, kept Jacobians, split paths, a choice of accumulators.
    Tuned,
    /// Node-owning, free of atomics.
    Marching,
}

impl Variant {
    /// All variants, in the order of the ladder.
    pub const ALL: [Variant; 5] =
        [Variant::Textbook, Variant::ArReduc, Variant::Shmem, Variant::Tuned, Variant::Marching];

    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Textbook => "textbook",
            Variant::ArReduc => "arreduc",
            Variant::Shmem => "shmem",
            Variant::Tuned => "tuned",
            Variant::Marching => "marching",
        }
    }
    /// Whether the variant supports a rule.
    pub fn supports(self, rule: Rule) -> bool {
        self != Variant::Marching || rule == Rule::OneByOne
    }
    /// Whether results have the same bits in every run, whatever the number of threads.
    pub fn is_deterministic(self) -> bool {
        self == Variant::Marching
    }
}

impl Accumulator {
    /// All accumulators.
    pub const ALL: [Accumulator; 3] = [Accumulator::Direct, Accumulator::HexCell, Accumulator::Tile];

    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Accumulator::Direct => "direct",
            Accumulator::HexCell => "hex-cell",
            Accumulator::Tile => "tile",
        }
    }
}

/// A variant with all its tunables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// The variant.
    pub variant: Variant,
    /// The quadrature rule.
    pub rule: Rule,
    /// The boundary conditions.
    pub boundary: Boundary,
    /// Cells of a team (shmem, tuned).
    pub tile: TileShape,
    /// Cells above each other that a work item serves (tuned); divides `tile.r`.
    pub passes: usize,
    /// Whether dual bases of a column are kept between passes (tuned).
    pub keep_jacobian: bool,
    /// Where results accumulate (tuned).
    pub accumulator: Accumulator,
    /// Launch bounds (shmem, tuned, marching).
    pub bounds: Option<Bounds>,
    /// Threads of a team (marching).
    pub threads: usize,
    /// Lanes of a thread (marching); none: what the space does best.
    pub lanes: Option<usize>,
    /// Cell rows of a thread (marching).
    pub rows: usize,
    /// Blocks of the radial range (marching).
    pub radial_blocks: usize,
    /// Whether loads start a layer early (marching); pays where memory is far away.
    pub prefetch: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            variant: Variant::Marching,
            rule: Rule::OneByOne,
            boundary: Boundary::DIRICHLET,
            tile: TileShape { x: 4, y: 4, r: 32 },
            passes: 1,
            keep_jacobian: true,
            accumulator: Accumulator::Direct,
            bounds: None,
            threads: 1,
            lanes: None,
            // Sixteen node rows of its own: a level has a power of two of them.
            rows: 17,
            radial_blocks: 1,
            prefetch: false,
        }
    }
}

impl Config {
    /// Refuses tunables that do not fit each other.
    ///
    /// # Errors
    /// When the rule is not supported or a number is out of range.
    pub fn check(&self) -> Result<(), ViscousError> {
        let TileShape { x, y, r } = self.tile;
        let refuse = |message: String| Err(ViscousError::Tunable { variant: self.variant.name(), message });
        if !self.variant.supports(self.rule) {
            return Err(ViscousError::Rule { variant: self.variant.name(), rule: self.rule.name() });
        }
        match self.variant {
            Variant::Shmem | Variant::Tuned => {
                let product = x.checked_mul(y).and_then(
                    #[inline(always)]
                    |xy| xy.checked_mul(r),
                );
                if !matches!(product, Some(1..=65536)) {
                    return refuse(format!("a tile of {x},{y},{r} cells is not possible; 1 to 65536 cells are"));
                }
                if self.variant == Variant::Tuned && (self.passes == 0 || r % self.passes != 0) {
                    return refuse(format!("{} passes do not divide the {r} radial cells of a tile", self.passes));
                }
            }
            Variant::Marching => {
                if self.rows == 0 || self.threads == 0 || self.rows * self.threads < 2 || self.rows > 1024 {
                    let (threads, rows) = (self.threads, self.rows);
                    return refuse(format!(
                        "{threads} threads of {rows} cell rows are not possible; a team needs two rows"
                    ));
                }
                if self.radial_blocks == 0 {
                    return refuse("0 radial blocks are not possible; use 1 or more".into());
                }
                if self.lanes.is_some_and(|lanes| lanes < 4) {
                    return refuse(
                        "marching needs 4 lanes or more, since the outer two repeat neighbours' cells".into(),
                    );
                }
            }
            Variant::Textbook | Variant::ArReduc => {}
        }
        Ok(())
    }
}

/// Why an operator could not be made or applied.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ViscousError {
    /// The variant does not support the rule.
    #[error("variant {variant} does not support the rule {rule}; marching supports 1x1, all others 1x1, 1x2 and 3x2")]
    Rule {
        /// The variant.
        variant: &'static str,
        /// The rule.
        rule: &'static str,
    },
    /// A tunable is out of range.
    #[error("variant {variant}: {message}")]
    Tunable {
        /// The variant.
        variant: &'static str,
        /// What was asked and what is possible.
        message: String,
    },
    /// The viscosity is not a positive number somewhere.
    #[error("viscosity {value} at subdomain {}, node ({}, {}, {}) is not a positive finite number", .node[0], .node[1], .node[2], .node[3])]
    Viscosity {
        /// The value.
        value: f64,
        /// Subdomain, x, y, r.
        node: [usize; 4],
    },
    /// A field has the wrong shape.
    #[error("field `{field}` has extents {found:?}; the mesh needs {needed:?}")]
    Extents {
        /// The field.
        field: String,
        /// What it has.
        found: Vec<usize>,
        /// What it needs.
        needed: Vec<usize>,
    },
    /// A cell that does not exist.
    #[error("there is no cell {cell:?} (subdomain, x, y, r); there are {cells:?}")]
    Cell {
        /// The cell.
        cell: [usize; 4],
        /// How many there are.
        cells: [usize; 4],
    },
    /// The launch failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Memory could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}
