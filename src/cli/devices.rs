//! `farro devices`: what was found on this machine, what was not, and why.

use super::error::CliError;
use super::machine::Machine;
use super::output::{Table, line};
use super::target::{Backend, Target};
use farro_backends::checked::DeviceModel;
use farro_backends::host::{HostPrecision, HostSpace, InstructionSet};
use farro_cuda::{CudaSpace, Device};
use farro_portability::Space;
use farro_sycl::Route;

/// Runs the command.
///
/// # Errors
/// When standard output is closed.
pub fn run() -> Result<(), CliError> {
    let machine = Machine::this();
    let mut table = Table::new(&["<backend", "<state", "<what"]);
    let mut row = |backend: &str, state: &str, what: String| table.row(vec![backend.into(), state.into(), what]);
    let threads = Target::new(Backend::Host).host_threads();
    for set in InstructionSet::available().into_iter().rev() {
        let (double, single) = (<f64 as HostPrecision>::lanes(set), <f32 as HostPrecision>::lanes(set));
        let what =
            format!("{}, {threads} threads, {}: {double} lanes of f64, {single} of f32", machine.cpu, set.name());
        row("host", "found", what);
    }
    if let Err(reason) = HostSpace::<f64>::new().map(|space| space.name()) {
        row("host", "missing", reason.to_string());
    }
    let models: Vec<_> = DeviceModel::ALL.iter().map(|model| model.name).collect();
    row("checked", "found", format!("sanitizer; imitates {}", models.join(", ")));
    row("count", "found", "exact counts of operations, bytes, requests and atomics".into());
    match Device::list() {
        Ok(devices) => {
            for device in devices {
                let what = format!(
                    "device {}: {}, {}, {} multiprocessors, {:.0} GB",
                    device.ordinal,
                    device.name,
                    device.arch(),
                    device.multiprocessors,
                    device.total_bytes as f64 / 1e9
                );
                match CudaSpace::<f64>::new(device.ordinal) {
                    Ok(_) => row("cuda", "found", what),
                    Err(reason) => row("cuda", "missing", format!("{what}, but {reason}")),
                }
            }
        }
        Err(reason) => row("cuda", "missing", reason.to_string()),
    }
    match farro_hip::devices() {
        Ok(devices) => {
            devices.iter().for_each(|device| {
                row("hip", "found", format!("{}, {} compute units", device.title(), device.compute_units))
            });
        }
        Err(reason) => row("hip", "missing", reason.to_string()),
    }
    for (name, route) in [("sycl", Route::Sycl), ("opencl", Route::OpenCl)] {
        match farro_sycl::devices(route) {
            Ok(devices) if devices.is_empty() => row(name, "missing", format!("{route} sees no device")),
            Ok(devices) => devices.iter().for_each(|device| row(name, "found", device.title())),
            Err(reason) => row(name, "missing", reason.to_string()),
        }
    }
    line(table.render())?;
    Ok(())
}
