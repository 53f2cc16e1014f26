//! The flags that choose a kernel's tunables, for every command that has to do with kernels.

use super::defaults;
use super::options::{self, LayoutChoice, Precision};
use super::target::Backend;
use clap::Args;
use farro_fem::viscous::{Accumulator, Boundary, Config, Rule, TileShape, Variant};
use farro_portability::Bounds;

/// Tunables of the operator's kernels; what is left out is what the backend does best.
#[derive(Clone, Debug, Args)]
pub struct Tunables {
    /// Quadrature rule: 1x1, 1x2 or 3x2
    #[arg(long, default_value = "1x1", value_parser = options::rule, help_heading = "Problem")]
    pub rule: Rule,
    /// Boundary conditions: neumann, dirichlet (both surfaces), cmb, surface or free-slip
    #[arg(long, default_value = "dirichlet", value_parser = options::boundary, help_heading = "Problem")]
    pub boundary: Boundary,
    /// Accumulator (tuned): direct, hex-cell or tile
    #[arg(long, default_value = "direct", value_parser = options::accumulator, help_heading = "Kernel")]
    pub accumulator: Accumulator,
    /// Cells of a team (shmem, tuned) [default: 4,4,32, but no higher than a subdomain]
    #[arg(long, value_name = "X,Y,R", value_parser = options::tile, help_heading = "Kernel")]
    pub tile: Option<TileShape>,
    /// Cells above each other that a work item serves (tuned) [default: 4 if that divides R, else 1]
    #[arg(long, value_name = "N", help_heading = "Kernel")]
    pub passes: Option<usize>,
    /// Recompute the Jacobian in each pass instead of keeping it (tuned)
    #[arg(long, help_heading = "Kernel")]
    pub recompute_jacobian: bool,
    /// Launch bounds: most work items of a team, least teams at once (shmem, tuned, marching)
    #[arg(long, value_name = "T,B", value_parser = options::bounds, help_heading = "Kernel")]
    pub bounds: Option<Bounds>,
    /// Cell rows of a thread (marching) [default: 16 on the host, 2 on cuda]
    #[arg(long, value_name = "N", help_heading = "Kernel")]
    pub rows: Option<usize>,
    /// Threads of a team (marching) [default: 1 on the host, 8 on cuda]
    #[arg(long, value_name = "N", help_heading = "Kernel")]
    pub team_threads: Option<usize>,
    /// Lanes of a thread (marching) [default: what the space does best]
    #[arg(long, value_name = "N", help_heading = "Kernel")]
    pub lanes: Option<usize>,
    /// Blocks of the radial range, for more teams (marching) [default: 1]
    #[arg(long, value_name = "N", help_heading = "Kernel")]
    pub radial_blocks: Option<usize>,
    /// Fastest index of the fields
    #[arg(long, value_enum, default_value = "x", help_heading = "Kernel")]
    pub layout: LayoutChoice,
    /// Storage and arithmetic of reals
    #[arg(long, value_enum, default_value = "f64", help_heading = "Kernel")]
    pub precision: Precision,
}

impl Tunables {
    /// The configuration of a variant on a backend, for a shell with so many radial cells in a subdomain.
    pub fn config(&self, backend: Backend, variant: Variant, radial_cells: usize) -> Config {
        let mut config = defaults::config(backend, variant, self.accumulator, self.rule, self.boundary, radial_cells);
        if let Some(tile) = self.tile {
            config.tile = tile;
            config.passes = if config.passes > 1 && tile.r.is_multiple_of(4) { 4 } else { 1 };
        }
        config.passes = self.passes.unwrap_or(config.passes);
        config.keep_jacobian = !self.recompute_jacobian;
        config.bounds = self.bounds.or(config.bounds);
        config.rows = self.rows.unwrap_or(config.rows);
        config.threads = self.team_threads.unwrap_or(config.threads);
        config.lanes = self.lanes.or(config.lanes);
        config.radial_blocks = self.radial_blocks.unwrap_or(config.radial_blocks);
        config
    }
}
