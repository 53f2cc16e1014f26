//! Devices behind SYCL and OpenCL, which have to be there: `sycl`, `sycl:1`, `opencl:0`.

use super::{Built, Family, Resource};
use farro_backends::trace::Program;
use farro_sycl::{CompileOptions, Route, compile_on};

pub(super) const SYCL: Family =
    Family { name: "SYCL device", prefix: "sycl", build: |program, arch| build(Route::Sycl, program, arch) };
pub(super) const OPENCL: Family =
    Family { name: "OpenCL device", prefix: "opencl", build: |program, arch| build(Route::OpenCl, program, arch) };

fn build(route: Route, program: &Program, arch: &str) -> Result<Built, String> {
    let number = arch.split_once(':').map_or(Ok(0), |(_, number)| number.parse());
    let ordinal = number.map_err(|_| format!("`{arch}`: a device's number follows the colon, as in `sycl:0`"))?;
    let kernel = compile_on(route, ordinal, program, &CompileOptions::default()).map_err(|error| error.to_string())?;
    let used = kernel.resources;
    let resource = |name, value: u64| Resource { name, value };
    let mut resources =
        vec![resource("private", used.private_bytes), resource("largest team", used.max_work_group as u64)];
    resources.extend(used.spill_bytes.map(|bytes| resource("spills", bytes)));
    resources.extend(used.local_bytes.map(|bytes| resource("local", bytes)));
    resources.extend(used.sub_group.map(|lanes| resource("sub-group", lanes as u64)));
    Ok(Built {
        resources,
        spill_bytes: used.spill_bytes.unwrap_or(0),
        comparison_loop: kernel.printed.has_comparison_loop(),
        milliseconds: 1e3 * kernel.seconds,
        from_cache: kernel.from_cache,
        ..Built::default()
    })
}
