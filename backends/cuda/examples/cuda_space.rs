//! Every check of `CudaSpace`, in one binary that can be carried to a machine with a GPU:
//!
//! ```text
//! cargo build --release --package farro-cuda --features carried --example cuda_space
//! target/release/examples/cuda_space [NAME..]
//! ```
//!
//! One line per check, `PASS` or `FAIL`; the exit code is 1 when one failed. Without a GPU or NVRTC it says so and
//! does nothing.

#[path = "../tests/space_checks/mod.rs"]
mod space_checks;
use farro_portability::Space;
use space_checks::{CHECKS, FAULT_TEST, FAULT_VARIABLE, run_into_a_fault, setup};
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::var_os(FAULT_VARIABLE).is_some() {
        return match run_into_a_fault() {
            Ok(_) => ExitCode::SUCCESS,
            Err(message) => {
                eprintln!("{FAULT_TEST}: {message}");
                ExitCode::FAILURE
            }
        };
    }
    let space = match setup() {
        Ok(space) => space,
        Err(reason) => {
            println!("skipped: cuda_space: {reason}");
            return ExitCode::SUCCESS;
        }
    };
    println!("{}", space.name());
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let mut failures = 0;
    for (name, check) in CHECKS {
        if !chosen.is_empty() && !chosen.iter().any(|chosen| chosen == name) {
            continue;
        }
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&space)));
        match outcome.unwrap_or_else(|_| Err("it panicked (see above)".into())) {
            Ok(note) => println!("PASS {name}: {note}"),
            Err(message) => {
                failures += 1;
                println!("FAIL {name}: {message}");
            }
        }
    }
    println!("{failures} failed");
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
