//! The command line of farro, with the kernels that the main job needs: fields of `f64` with x fastest.
//!
//! Everything else (other precisions and layouts, golden cases, laws) is in `farro-full`, to which this program hands
//! over. So the first `cargo run --release` compiles a sixth of the kernels.

mod cli;

/// Whether this program has all kernels.
const FULL: bool = false;

fn main() -> std::process::ExitCode {
    cli::run()
}
