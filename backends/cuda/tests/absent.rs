//! Machines without CUDA: every missing thing is a value with a reason.

use farro_cuda::library::{self, Availability};
use farro_cuda::{CudaError, Device};
use std::process::Command;

const TEST_OF_CHILD: &str = "child_without_nvrtc";

#[test]
fn devices_are_listed_or_the_reason_is_given() {
    match Device::list() {
        Ok(devices) => assert!(devices.iter().all(|device| device.multiprocessors > 0), "{devices:?}"),
        Err(error @ (CudaError::NoLibrary { .. } | CudaError::NoDevice { .. } | CudaError::DriverTooOld { .. })) => {
            println!("{error}");
            let again = Device::open(0).unwrap_err();
            assert_eq!(error, again, "the reason stays the same");
        }
        Err(error) => panic!("{error}"),
    }
    let far = Device::open(1000).unwrap_err();
    assert!(!far.to_string().is_empty());
}

#[test]
fn availability_agrees_with_use() {
    let driver = library::driver();
    println!("driver: {driver:?}\nnvrtc: {:?}", library::nvrtc());
    if let Availability::Missing { reason } = &driver {
        assert!(reason.contains("FARRO_CUDA_PATH") && reason.contains("libcuda.so"), "{reason}");
        assert!(matches!(Device::list(), Err(CudaError::NoLibrary { .. })));
    }
}

#[test]
fn a_process_that_finds_no_nvrtc_says_where_it_looked() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST_OF_CHILD, "--nocapture"])
        .env_clear()
        .env("FARRO_TEST_CHILD", "1")
        .env("FARRO_CUDA_PATH", "/nonexistent/cuda")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    println!("{text}");
    let found = text.contains("nvrtc is on the loader's path");
    assert!(found || text.contains("FARRO_CUDA_PATH=/nonexistent/cuda"), "{text}");
}

#[test]
fn child_without_nvrtc() {
    if std::env::var_os("FARRO_TEST_CHILD").is_none() {
        return;
    }
    match library::nvrtc() {
        Availability::Found { note, .. } => {
            println!("nvrtc is on the loader's path");
            assert!(note.unwrap().contains("FARRO_CUDA_PATH"));
        }
        Availability::Missing { reason } => println!("{reason}"),
    }
}
