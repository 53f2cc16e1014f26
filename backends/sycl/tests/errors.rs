//! What goes wrong is a value that says what, and what to do.

mod common;
use farro_backends::device::cache::Location;
use farro_portability::prelude::*;
use farro_sycl::{CompileOptions, Route, SpaceOptions, SyclError, SyclSpace, library};
use std::process::Command;

#[test]
fn a_device_that_is_not_there_is_named() {
    for route in [Route::Sycl, Route::OpenCl] {
        let error = SyclSpace::<f64>::with(route, 1000, SpaceOptions::default()).unwrap_err();
        let named = match &error {
            SyclError::NoDevice { asked: 1000, route: named, .. } => *named == route.to_string(),
            SyclError::NoLibrary { searched, .. } => !searched.is_empty(),
            _ => false,
        };
        assert!(named, "{error}");
    }
}

kernel_args! { struct OneArgs { y: View<f64, 1, LayoutRight, ReadWrite> } }
#[derive(Clone, Hash)]
struct One;
impl RangeKernel for One {
    type Args = OneArgs<Declared>;
    const NAME: &'static str = "one";
    fn run<T: Target>(&self, t: T, i: T::Int, args: &OneArgs<T>) {
        args.y.set([i], t.real(1.0));
    }
}

/// An option that no compiler knows is a build error with the log, by either interface.
#[test]
fn a_build_error_has_the_log() {
    for route in [Route::Sycl, Route::OpenCl] {
        for space in common::spaces::<f64>("a_build_error_has_the_log", route) {
            let compile = CompileOptions { extra: vec!["-Dconst=nonsense!".into()], ..CompileOptions::default() };
            let options = SpaceOptions { compile, cache: Location::MemoryOnly, ..SpaceOptions::default() };
            let broken = SyclSpace::<f64>::with(route, space.properties().ordinal, options).unwrap();
            let mut y = View::<f64, 1, LayoutRight, _>::new(broken.memory(), "y", [100]).unwrap();
            y.fill(f64::NAN).unwrap();
            let error = broken.parallel_for(RangePolicy::new(100), &One, OneArgs { y: y.write() }).unwrap_err();
            let text = error.to_string();
            assert!(matches!(&error, LaunchError::Device { kernel, .. } if kernel == "one"), "{text}");
            assert!(text.contains("does not compile") && text.contains("error"), "{text}");
            let mut host = y.mirror().unwrap();
            deep_copy(&mut host, &y).unwrap();
            assert!(host.as_slice().iter().all(|value| value.is_nan()), "nothing is written on an error");
        }
    }
}

#[test]
fn too_much_memory_is_refused_with_both_numbers() {
    for space in common::spaces::<f64>("too_much_memory_is_refused_with_both_numbers", Route::Sycl) {
        let huge = View::<f64, 1, LayoutRight, _>::new(space.memory(), "huge", [1 << 40]);
        let error = huge.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("huge") && error.contains(&(8u64 << 40).to_string()), "{error}");
    }
}

#[test]
fn launches_are_timed_and_inspected() {
    for space in common::spaces::<f64>("launches_are_timed_and_inspected", Route::Sycl) {
        let n = 1 << 20;
        let mut y = View::<f64, 1, LayoutRight, _>::new(space.memory(), "y", [n]).unwrap();
        let launch = || space.parallel_for(RangePolicy::new(n), &One, OneArgs { y: y.write() });
        let ((), milliseconds) = space.time(launch).unwrap();
        println!("{milliseconds} ms for {n} elements");
        assert!(milliseconds > 0.0 && milliseconds < 10_000.0);
        let kernel = farro_portability::OverRange { body: One, chunk: 64, wide: false };
        let policy = TeamPolicy::new(1, 32, 1).unwrap();
        let report = space.inspect(&kernel, &policy, &(OneArgs { y: y.write() }, [64])).unwrap();
        println!("{:?}", report.resources);
        assert!(report.resources.max_work_group >= 32 && report.text.contains("__kernel"));
    }
}

/// A process that finds no run-time says where it looked and what to install.
#[test]
fn a_machine_without_sycl_says_what_is_missing() {
    if std::env::var_os("FARRO_TEST_CHILD").is_some() {
        return println!("{:?}", library::sycl());
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_machine_without_sycl_says_what_is_missing", "--nocapture"])
        .env_clear()
        .env("FARRO_TEST_CHILD", "1")
        .env("FARRO_SYCL_PATH", "/nonexistent/sycl")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    if !text.contains("Found") {
        assert!(text.contains("FARRO_SYCL_PATH=/nonexistent/sycl") && text.contains("pip install dpctl"), "{text}");
    }
}
