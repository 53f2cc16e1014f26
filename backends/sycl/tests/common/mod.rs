//! The devices of this machine, for tests that run on each of them.
#![allow(dead_code)]

use farro_portability::{RealElement, Space};
use farro_sycl::{Route, SpaceOptions, SyclSpace, devices};

/// A space for each device of an interface; without any, a word to the reader of the log.
pub fn spaces<P: RealElement>(test: &str, route: Route) -> Vec<SyclSpace<P>> {
    let devices = match devices(route) {
        Ok(devices) => devices,
        Err(reason) => {
            println!("skipped: {test}: {reason}");
            return Vec::new();
        }
    };
    if devices.is_empty() {
        println!("skipped: {test}: no {route} device");
    }
    let mut spaces = Vec::new();
    for device in devices {
        match SyclSpace::with(route, device.ordinal, SpaceOptions::default()) {
            Ok(space) => spaces.push(space),
            Err(reason) => println!("skipped: {test}: {reason}"),
        }
    }
    spaces
}

/// Cases whose kernels PoCL compiles in seconds. Those with barriers in loops take it minutes each.
const QUICK_ON_POCL: [&str; 8] = [
    "policies::range",
    "policies::md",
    "layouts",
    "memory",
    "arithmetic",
    "atomics",
    "launches::zero",
    "control::select",
];

/// Why a case does not run on this device by default.
pub fn too_slow<P: RealElement>(space: &SyclSpace<P>, case: &str) -> Option<&'static str> {
    let is_pocl = space.name().contains("Portable Computing Language");
    let is_quick = QUICK_ON_POCL.iter().any(|quick| case.starts_with(quick));
    let everything = std::env::var_os("FARRO_SLOW_TESTS").is_some();
    (is_pocl && !is_quick && !everything).then_some("PoCL compiles it for minutes; FARRO_SLOW_TESTS=1 runs it")
}
