//! Who runs a farro kernel.
#![deny(missing_docs)]

pub mod host;
pub mod launch;
pub mod trace;
