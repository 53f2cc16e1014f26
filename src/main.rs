//! The command line of farro.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
