//! Performance portability for finite-element kernels.
//!
//! A kernel is an ordinary generic Rust function over an execution target. Monomorphized for the host it *is* native
//! SIMD code; for a device it traces itself once and is printed, compiled, cached and launched there. This crate ties
//! the parts together and has the command line; what a kernel may say is in [`portability`], who runs it in
//! [`backends`], [`cuda`], [`hip`] and [`sycl`], and the finite elements written on it in [`fem`].
//!
//! ```
//! use farro::backends::host::HostSpace;
//! use farro::fem::mesh::{ShellMesh, ShellSpec};
//! use farro::fem::viscous::{Boundary, Config, Mode, RadiusFastest, ViscousOperator};
//! use farro::portability::Space;
//!
//! let space = HostSpace::<f64>::new()?;
//! let mesh = ShellMesh::new(ShellSpec::level(2))?;
//! let free = Config { boundary: Boundary::NEUMANN, ..Config::default() };
//! let operator = ViscousOperator::<_, f64, RadiusFastest>::new(&space, &mesh, free, |_| 1.0)?;
//! let u = operator.vector_from("u", |[component, ..]| if component == 0 { 1.0 } else { 0.0 })?;
//! let mut y = operator.new_vector("y")?;
//! operator.apply(&u, &mut y, Mode::Replace)?;
//! space.fence()?;
//! // A translation is free of strain: nothing resists it.
//! assert!(y.get([0, 0, 2, 2, 1]).abs() < 1e-14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use farro_backends as backends;
pub use farro_cuda as cuda;
pub use farro_emulated as emulated;
pub use farro_fem as fem;
pub use farro_hip as hip;
pub use farro_portability as portability;
pub use farro_sycl as sycl;

pub mod ceilings;
pub mod emit;
pub mod inspect;
pub mod kernels;
