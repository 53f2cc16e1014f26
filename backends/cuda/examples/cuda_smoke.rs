//! Every check that needs a GPU, in one binary that can be carried to a machine that has one:
//!
//! ```text
//! cargo build --release --package farro-cuda --features carried --example cuda_smoke
//! target/release/examples/cuda_smoke [NAME..]
//! ```
//!
//! One line per check, `PASS` or `FAIL`; the exit code is 1 when one failed. Without a GPU or NVRTC it says so and
//! does nothing.

#[path = "../tests/gpu_checks/mod.rs"]
mod gpu_checks;
use gpu_checks::{CHECKS, FAULT_TEST, FAULT_VARIABLE, Setup, run_into_a_fault};
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
    println!("driver: {:?}\nNVRTC: {:?}", farro_cuda::library::driver(), farro_cuda::library::nvrtc());
    let setup = match Setup::new() {
        Ok(setup) => setup,
        Err(reason) => {
            println!("skipped: cuda_smoke: {reason}");
            return ExitCode::SUCCESS;
        }
    };
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let mut failures = 0;
    for (name, check) in CHECKS {
        if !chosen.is_empty() && !chosen.iter().any(|chosen| chosen == name) {
            continue;
        }
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&setup)));
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
