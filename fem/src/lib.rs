//! fem

pub mod exchange;
pub mod golden;
pub mod mesh;
pub mod viscosity;
pub mod vtu;

mod replace_file;
