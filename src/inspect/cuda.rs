//! NVIDIA's architectures.

use super::{Built, Family, Resource};
use farro_backends::print::Passes;
use farro_backends::trace::Program;
use farro_cuda::cache::{Cache, Location};
use farro_cuda::{Compiler, CudaError, Options, compile_with};
use std::sync::OnceLock;

pub(super) const FAMILY: Family = Family { name: "CUDA", prefix: "sm_", build };

fn build(program: &Program, arch: &str) -> Result<Built, String> {
    static COMPILER: OnceLock<Result<Compiler, CudaError>> = OnceLock::new();
    let compiler = COMPILER.get_or_init(|| Compiler::new(Cache::open(Location::Default)));
    let compiler = compiler.as_ref().map_err(CudaError::to_string)?;
    let kernel = compile_with(compiler, arch, program, Passes::default(), &Options::default())
        .map_err(|error| error.to_string())?;
    let resource = |name, value: u32| Resource { name, value: value.into() };
    let (used, occupancy) = (kernel.resources, kernel.occupancy());
    Ok(Built {
        resources: vec![
            resource("registers", used.registers),
            resource("spill stores", used.spill_store_bytes),
            resource("spill loads", used.spill_load_bytes),
            resource("stack", used.stack_bytes),
        ],
        spill_bytes: u64::from(used.spill_store_bytes) + u64::from(used.spill_load_bytes),
        teams: occupancy.map(|occupancy| occupancy.blocks),
        occupancy: occupancy.map(|occupancy| occupancy.fraction),
        comparison_loop: kernel.printed.has_comparison_loop(),
        milliseconds: 1e3 * kernel.seconds,
        from_cache: kernel.from_cache,
    })
}
