//! What ends a command early, and with which exit status.

use farro::emit::EmitError;
use farro_fem::exchange::ExchangeError;
use farro_fem::golden::GoldenError;
use farro_fem::mesh::MeshError;
use farro_fem::viscosity::ProfileError;
use farro_fem::viscous::ViscousError;
use farro_fem::vtu::VtuError;
use farro_portability::{LaunchError, MemoryError};
use std::io;
use std::process::ExitCode;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A flag has a value that is not possible.
    #[error("{0}")]
    Usage(String),
    /// What was checked does not hold; the report is on standard output already.
    #[error("{0}")]
    Failed(String),
    /// This binary does not have the kernels; the full one has.
    #[error("this needs the program farro-full beside this one; build it with: cargo build --release")]
    Elsewhere,
    /// There is no such backend on this machine.
    #[error("backend {backend} is not available: {reason}")]
    Backend {
        /// The backend.
        backend: &'static str,
        /// What was looked for.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
    /// Standard output is closed.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    /// The mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The operator.
    #[error(transparent)]
    Viscous(#[from] ViscousError),
    /// A kernel that cannot be shown.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A launch.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The viscosity profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A golden file.
    #[error(transparent)]
    Golden(#[from] GoldenError),
    /// A ParaView file.
    #[error(transparent)]
    Vtu(#[from] VtuError),
    /// The exchange between subdomains.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
}

impl CliError {
    /// The exit status: 0 for a reader that has had enough, 1 for a check that failed, 2 for a request that cannot be
    /// served.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            CliError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            CliError::Failed(_) => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }
    /// The message in one line; none if there is nobody to tell.
    pub fn message(&self) -> Option<String> {
        match self {
            CliError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            // An error of a compiler may have its log below the first line.
            _ => Some(self.to_string()),
        }
    }
}
