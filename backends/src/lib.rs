//! Who runs a farro kernel.
#![deny(missing_docs)]

pub mod checked;
pub mod count;
pub mod device;
pub mod host;
mod interpret;
pub mod launch;
pub mod print;
pub mod record;
pub mod trace;
