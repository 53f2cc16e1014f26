//! What the crate does on the host, tested without a GPU: a run-time that runs nothing stands in for AMD's.
//!
//! Each scenario runs in a process of its own, since a process has one run-time. Where no C compiler is at hand the
//! tests say so and do nothing.

#[path = "../../../tests/printed_kernels/mod.rs"]
mod printed_kernels;
#[path = "../../../tests/stand_in/mod.rs"]
mod stand_in;
use farro_hip::{Compiler, HipError, HipMemory, HipSpace, devices};
use farro_portability::prelude::*;
use farro_portability::{LaunchError, MemoryError};
use printed_kernels::{March, MarchArgs};
use std::path::Path;

/// Runs one scenario with the run-time; gives what it printed, or `None` without a compiler.
fn run(scenario: &str, variables: &[(&str, &str)]) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_runtime/hip.c");
    stand_in::run(&source, &["libamdhip64.so"], "FARRO_HIP_PATH", scenario, variables)
}

/// Runs the scenario that the environment names.
#[test]
fn child() {
    match std::env::var(stand_in::SCENARIO).as_deref() {
        Ok("old_runtime") => scenario::old_runtime(),
        Ok("no_device") => scenario::no_device(),
        Ok("unknown_architecture") => scenario::unknown_architecture(),
        Ok("memory") => scenario::memory(),
        Ok("launches") => scenario::launches(),
        Ok("fault") => scenario::fault(),
        _ => {}
    }
}

#[test]
fn old_runtime() {
    run("old_runtime", &[("FAKE_VERSION", "40500000")]);
}
#[test]
fn no_device() {
    run("no_device", &[("FAKE_DEVICES", "0")]);
}
#[test]
fn unknown_architecture() {
    run("unknown_architecture", &[("FAKE_ARCH", "gfx000")]);
}
#[test]
fn memory() {
    let text = run("memory", &[]);
    assert!(text.is_none_or(|text| !text.contains("outlive")), "a block was not freed");
}
#[test]
fn launches() {
    let Some(text) = run("launches", &[]) else { return };
    if text.contains("skipped") {
        return println!("{text}");
    }
    assert!(text.contains("launch: 3 x 1 x 1 teams of 128 x 1 x 1 work items, 1024 bytes"), "{text}");
}
#[test]
fn fault() {
    run("fault", &[("FAKE_FAULT", "1")]);
}

mod scenario {
    use super::*;
    use farro_backends::device::cache::{Cache, Location};

    fn open() -> HipSpace<f64> {
        HipSpace::new(0).expect("the stand-in has a device")
    }

    pub fn old_runtime() {
        let error = devices().unwrap_err();
        assert!(matches!(&error, HipError::RuntimeTooOld { found, .. } if found == "4.5"), "{error}");
    }
    pub fn no_device() {
        for error in [devices().unwrap_err(), HipSpace::<f64>::new(0).unwrap_err()] {
            assert!(matches!(&error, HipError::NoDevice { .. }), "{error}");
        }
    }
    pub fn unknown_architecture() {
        let error = HipSpace::<f64>::new(0).unwrap_err();
        let named = matches!(&error, HipError::UnknownArchitecture { asked, known, .. }
            if asked == "gfx000" && known.contains(&"gfx90a".into()));
        assert!(named, "{error}");
        assert_eq!(devices().unwrap()[0].arch, "gfx000");
    }
    pub fn memory() {
        let space = open();
        assert_eq!((space.properties().plain_arch(), space.properties().wavefront), ("gfx90a", 64));
        let error = HipSpace::<f64>::new(1).unwrap_err();
        assert!(error.to_string().contains("number 1 was asked for, there are 1"), "{error}");
        let values = View::<f64, 2>::from_fn("v", [7, 111], |[i, j]| (i as f64 + 0.1).sin() * j as f64).unwrap();
        let mut there = View::<f64, 2, LayoutRight, _>::new(space.memory(), "v", [7, 111]).unwrap();
        deep_copy(&mut there, &values).unwrap();
        let mut back = there.mirror().unwrap();
        deep_copy(&mut back, &there).unwrap();
        assert_eq!(back.as_slice(), values.as_slice());
        let error = View::<f64, 1, LayoutRight, _>::new(space.memory(), "large", [1 << 28]).unwrap_err();
        let told = matches!(&error, MemoryError::Exhausted { asked, available: Some(free), .. } if *asked == 1 << 31 && *free == 1 << 29);
        assert!(told && error.to_string().contains("large"), "{error:?}");
    }

    type Field = View<f64, 2, LayoutRight, HipMemory>;

    fn fields(space: &HipSpace<f64>) -> [Field; 2] {
        ["u", "out"].map(|name| View::new(space.memory(), name, [5, 384]).expect("memory"))
    }
    fn march(space: &HipSpace<f64>, [u, out]: &mut [Field; 2]) -> Result<(), LaunchError> {
        let policy = TeamPolicy::new(3, 4, 32).expect("a policy");
        space.launch(&March, &policy, MarchArgs { u: u.read(), out: out.write() })
    }
    /// Whether kernels can be compiled; if not, it says why.
    fn compiles() -> bool {
        let compiler = Compiler::new(Cache::open(Location::MemoryOnly));
        compiler.map_err(|error| println!("skipped: launches on a stand-in: {error}")).is_ok()
    }

    pub fn launches() {
        if !compiles() {
            return;
        }
        let space = open();
        let mut fields = fields(&space);
        let ((), milliseconds) = space.time(|| march(&space, &mut fields)).expect("it is launched");
        assert_eq!(milliseconds, 1.5);
        space.fence().expect("nothing failed");
        let policy = TeamPolicy::new(1, 64, 32).expect("a policy");
        let [u, out] = &mut fields;
        let error = space.launch(&March, &policy, MarchArgs { u: u.read(), out: out.write() }).unwrap_err();
        assert!(error.to_string().contains("1024") && error.to_string().contains("march"), "{error}");
    }
    /// A fault is named by its kernel, and again whenever the device is used.
    pub fn fault() {
        if !compiles() {
            return;
        }
        let space = open();
        let mut fields = fields(&space);
        let failed = march(&space, &mut fields).and_then(|()| space.fence()).unwrap_err();
        assert!(matches!(&failed, LaunchError::Device { kernel, .. } if kernel == "march"), "{failed:?}");
        assert!(failed.to_string().contains("illegal memory access"), "{failed}");
        assert!(space.fence().is_err() && march(&space, &mut fields).is_err());
    }
}
