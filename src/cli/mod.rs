//! The command line.

mod apply;
mod defaults;
mod error;
mod machine;
mod measure;
mod options;
mod output;
mod problem;
mod reference;
mod target;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Performance portability for finite-element kernels: one generic Rust kernel, native on every device.
#[derive(Debug, Parser)]
#[command(name = "farro", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Apply the viscous operator once and again: speed and correctness of one variant on one backend
    Apply(Box<apply::ApplyArgs>),
}

/// Runs the command that was asked for.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Some(Command::Apply(args)) => apply::run(args),
        None => Ok(()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(message) = error.message() {
                eprintln!("farro: {message}");
            }
            error.exit_code()
        }
    }
}
