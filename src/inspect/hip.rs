//! AMD's architectures.

use super::{Built, Family, Resource};
use farro_backends::device::cache::{Cache, Location};
use farro_backends::print::Passes;
use farro_backends::trace::Program;
use farro_hip::{Compiler, F64Atomics, HipError, Options, compile_with};
use std::sync::OnceLock;

pub(super) const FAMILY: Family = Family { name: "HIP", prefix: "gfx", build };

fn build(program: &Program, arch: &str) -> Result<Built, String> {
    static COMPILER: OnceLock<Result<Compiler, HipError>> = OnceLock::new();
    let compiler = COMPILER.get_or_init(|| Compiler::new(Cache::open(Location::Default)));
    let compiler = compiler.as_ref().map_err(HipError::to_string)?;
    let kernel = compile_with(compiler, arch, program, Passes::default(), &Options::default())
        .map_err(|error| error.to_string())?;
    let resource = |name, value: u32| Resource { name, value: value.into() };
    let (used, occupancy) = (kernel.resources, kernel.occupancy());
    let mut resources = vec![
        resource("VGPR", used.vgprs),
        resource("AGPR", used.agprs),
        resource("SGPR", used.sgprs),
        resource("VGPR spills", used.vgpr_spills),
        resource("SGPR spills", used.sgpr_spills),
        resource("private", used.private_bytes),
        resource("LDS", used.lds_bytes),
        resource("largest team", used.max_team),
    ];
    resources.extend(occupancy.map(|occupancy| resource("waves/SIMD by registers", occupancy.waves_by_registers)));
    Ok(Built {
        resources,
        spill_bytes: 4 * u64::from(used.vgpr_spills),
        teams: occupancy.map(|occupancy| occupancy.teams),
        occupancy: occupancy.map(|occupancy| occupancy.fraction),
        comparison_loop: kernel.f64_atomics() == Some(F64Atomics::Loop),
        milliseconds: 1e3 * kernel.seconds,
        from_cache: kernel.from_cache,
    })
}
