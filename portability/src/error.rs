//! Why a launch was refused or failed.

use crate::memory::MemoryError;

/// Why a launch was refused or failed. No output is written when a launch is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaunchError {
    /// A policy describes no team.
    #[error("a policy asks for {asked}; at least one thread is needed")]
    NoTeam {
        /// What was asked.
        asked: String,
    },
    /// The vector length is not one that works.
    #[error("vector length {asked} is not possible; allowed: {allowed}")]
    VectorLength {
        /// What was asked.
        asked: usize,
        /// What is possible.
        allowed: String,
    },
    /// The launch bounds promise smaller teams than the policy has.
    #[error(
        "LaunchBounds allow {max_threads} work items, but the team has {work_items}; raise the bound or shrink the team"
    )]
    BoundsTooSmall {
        /// Work items of the team.
        work_items: usize,
        /// The bound.
        max_threads: usize,
    },
    /// A tile is empty or too large.
    #[error("a tile of {tile:?} is not possible; its extents must be positive and their product at most {allowed}")]
    TileTooLarge {
        /// The tile.
        tile: Vec<usize>,
        /// Largest product.
        allowed: usize,
    },
    /// The team has more work items than the space runs.
    #[error(
        "kernel `{kernel}`: a team of {asked} work items is too large for {space}, which allows {allowed}; use a smaller team or tile"
    )]
    TeamTooLarge {
        /// The kernel.
        kernel: String,
        /// The execution space.
        space: String,
        /// Work items asked for.
        asked: usize,
        /// Work items possible.
        allowed: usize,
    },
    /// The league has more teams than the space runs.
    #[error("kernel `{kernel}`: a league of {asked} teams is too large for {space}, which allows {allowed}")]
    LeagueTooLarge {
        /// The kernel.
        kernel: String,
        /// The execution space.
        space: String,
        /// Teams asked for.
        asked: usize,
        /// Teams possible.
        allowed: usize,
    },
    /// The team needs more scratch than the space has.
    #[error(
        "kernel `{kernel}`: {asked} bytes of scratch at level {level} do not fit the {available} that {space} has for a team; {hint}"
    )]
    ScratchTooLarge {
        /// The kernel.
        kernel: String,
        /// The execution space.
        space: String,
        /// Scratch level.
        level: usize,
        /// Bytes asked for.
        asked: usize,
        /// Bytes available.
        available: usize,
        /// What to do.
        hint: String,
    },
    /// Arguments do not fit each other or the kernel.
    #[error("kernel `{kernel}`: {message}")]
    Arguments {
        /// The kernel.
        kernel: String,
        /// What is wrong and what is needed.
        message: String,
    },
    /// A view that the kernel writes shares memory with another argument.
    #[error("kernel `{kernel}` writes view `{written}`, which overlaps view `{other}`; pass disjoint views")]
    Aliasing {
        /// The kernel.
        kernel: String,
        /// The written view.
        written: String,
        /// The other view.
        other: String,
    },
    /// The kernel uses the language wrongly (for example a barrier in divergent flow).
    #[error("kernel `{kernel}`{}: {message}", .site.as_ref().map(|s| format!(" at {s}")).unwrap_or_default())]
    Kernel {
        /// The kernel.
        kernel: String,
        /// Source position.
        site: Option<String>,
        /// What is wrong.
        message: String,
    },
    /// The checked target saw a fault while the kernel ran.
    #[error("kernel `{kernel}`: {kind}{}{}{}, team {team}, {threads}{}",
        if .view.is_empty() { String::new() } else { format!(" of `{view}`") },
        .index.as_ref().map(|i| format!(" at index {i:?}")).unwrap_or_default(),
        .extents.as_ref().map(|e| format!(" (extents {e:?})")).unwrap_or_default(),
        .site.as_ref().map(|s| format!(", at {s}")).unwrap_or_default())]
    Fault {
        /// The kernel.
        kernel: String,
        /// What kind of fault.
        kind: String,
        /// The view, scratch or private array; empty if the fault concerns none.
        view: String,
        /// The index.
        index: Option<Vec<i64>>,
        /// The extents of the view.
        extents: Option<Vec<i64>>,
        /// The team.
        team: usize,
        /// The thread or the two threads.
        threads: String,
        /// Source position.
        site: Option<String>,
    },
    /// Memory could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The device or its compiler failed.
    #[error("kernel `{kernel}` on {space}: {message}")]
    Device {
        /// The kernel.
        kernel: String,
        /// The execution space.
        space: String,
        /// What the device said.
        message: String,
    },
}
