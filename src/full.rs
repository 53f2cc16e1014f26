//! The command line of farro with all kernels: every precision and layout, golden cases, laws.

mod cli;

/// Whether this program has all kernels.
const FULL: bool = true;

fn main() -> std::process::ExitCode {
    cli::run()
}
