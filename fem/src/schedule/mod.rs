//! Which schedules there are for a case of form, dimension and degree, and which of them a cost model expects to be fast.
//!
//! The space and the model are those of the system published as arXiv 2506.17471: tile sizes are the smallest that give a
//! number of tiles, so that a candidate uses the least local memory for its number of barriers; both stages use about the
//! same part of the buffer that they share; teams fill whole sub-groups. The model needs numbers of the device at hand,
//! which are measured, see [`Device`].
//!
//! ```
//! use farro_fem::schedule::{Case, Space};
//! use farro_fem::weak::Mass;
//!
//! let case = Case::new::<_, 3, 1, 0>(&Mass, 6)?;
//! assert_eq!(Space::of(&case).count(), 624_061);
//! # Ok::<(), farro_fem::weak::WeakError>(())
//! ```

mod case;
mod device;
mod model;
mod published;
mod rank;
mod search;
mod space;
mod work;

pub use case::Case;
pub use device::{Device, Knee};
pub use model::{Cost, Model};
pub use published::{PublishedSpeed, published_divisions, published_speed};
pub use rank::{Ranked, Ranking, rank};
pub use search::{CORRECT, Effort, Found, Timed, search};
pub use space::{Candidate, Pairs, Space, work_item_pairs};
pub use work::{Rooflines, Work};
