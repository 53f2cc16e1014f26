//! Execution policies: how much work, in which shape.

use crate::error::LaunchError;

/// Launch bounds as a value: the form for sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Most work items a team may have.
    pub max_threads: usize,
    /// Least number of teams that should fit a multiprocessor at once; the compiler saves registers for it. On AMD
    /// devices the backend turns it into waves per SIMD.
    pub min_blocks: usize,
}

/// Launch bounds as a type: `LaunchBounds<128, 5>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchBounds<const MAX_THREADS: usize, const MIN_BLOCKS: usize>;

impl<const MAX_THREADS: usize, const MIN_BLOCKS: usize> From<LaunchBounds<MAX_THREADS, MIN_BLOCKS>> for Bounds {
    fn from(_: LaunchBounds<MAX_THREADS, MIN_BLOCKS>) -> Self {
        Bounds { max_threads: MAX_THREADS, min_blocks: MIN_BLOCKS }
    }
}

/// A league of teams; a team has `team_size` threads of `vector_length` lanes each.
///
/// Team size and vector length are constants of the compiled kernel; the league size is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TeamPolicy {
    league_size: usize,
    team_size: usize,
    vector_length: usize,
    bounds: Option<Bounds>,
}

impl TeamPolicy {
    /// A policy without launch bounds.
    ///
    /// # Errors
    /// When the team has no threads, or the vector length is not a power of two between 1 and 64.
    pub fn new(league_size: usize, team_size: usize, vector_length: usize) -> Result<Self, LaunchError> {
        if team_size == 0 {
            return Err(LaunchError::NoTeam { asked: "a team of 0 threads".into() });
        }
        if !vector_length.is_power_of_two() || vector_length > 64 {
            return Err(LaunchError::VectorLength {
                asked: vector_length,
                allowed: "a power of two from 1 to 64".into(),
            });
        }
        Ok(TeamPolicy { league_size, team_size, vector_length, bounds: None })
    }
    /// The same policy with launch bounds, given as a type or as [`Bounds`].
    ///
    /// # Errors
    /// When the team is larger than the bound, or the bound is zero.
    pub fn with_bounds(mut self, bounds: impl Into<Bounds>) -> Result<Self, LaunchError> {
        let bounds = bounds.into();
        if self.work_items() > bounds.max_threads {
            return Err(LaunchError::BoundsTooSmall { work_items: self.work_items(), max_threads: bounds.max_threads });
        }
        self.bounds = Some(bounds);
        Ok(self)
    }
    /// Number of teams.
    pub fn league_size(&self) -> usize {
        self.league_size
    }
    /// Threads of a team.
    pub fn team_size(&self) -> usize {
        self.team_size
    }
    /// Lanes of a thread.
    pub fn vector_length(&self) -> usize {
        self.vector_length
    }
    /// Work items of a team: threads times lanes.
    pub fn work_items(&self) -> usize {
        self.team_size * self.vector_length
    }
    /// The launch bounds, if any.
    pub fn bounds(&self) -> Option<Bounds> {
        self.bounds
    }
}

/// The indices `0..len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RangePolicy {
    /// Number of indices.
    pub len: usize,
}

impl RangePolicy {
    /// The indices `0..len`.
    pub fn new(len: usize) -> Self {
        RangePolicy { len }
    }
}

/// All multi-indices below `extents`, visited tile by tile; the last dimension is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MdRangePolicy<const R: usize> {
    extents: [usize; R],
    tile: [usize; R],
}

impl<const R: usize> MdRangePolicy<R> {
    /// Largest product of a tile's extents.
    pub const MAX_TILE: usize = 1 << 20;

    /// A policy with a tile of 128 indices along the last dimension.
    pub fn new(extents: [usize; R]) -> Self {
        let mut tile = [1; R];
        if let Some(last) = tile.last_mut() {
            *last = 128;
        }
        MdRangePolicy { extents, tile }
    }
    /// The same range with another tile.
    ///
    /// # Errors
    /// When a tile extent is zero or the tile has more than [`MdRangePolicy::MAX_TILE`] indices.
    pub fn with_tile(mut self, tile: [usize; R]) -> Result<Self, LaunchError> {
        let product = tile.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
        match product {
            Some(1..=Self::MAX_TILE) => {
                self.tile = tile;
                Ok(self)
            }
            _ => Err(LaunchError::TileTooLarge { tile: tile.to_vec(), allowed: Self::MAX_TILE }),
        }
    }
    /// The extents.
    pub fn extents(&self) -> [usize; R] {
        self.extents
    }
    /// The tile.
    pub fn tile(&self) -> [usize; R] {
        self.tile
    }
}
