//! The devices of this machine, for tests that run on each of them.
#![allow(dead_code)]

use farro_portability::RealElement;
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
