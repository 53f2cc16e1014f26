//! The viscous operator's kernels to binaries: needs NVRTC, but no device.

mod common;
use common::compiler;
use farro_cuda::cache::Location;
use farro_cuda::{CompiledKernel, Compiler, OfflineSpace, Options, Resources};
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::{
    Accumulator, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, TileShape, Variant, ViscousOperator,
};
use farro_portability::{Bounds, RealElement};
use std::sync::Arc;

/// The kernels of one application of the operator.
fn kernels<E: RealElement, L: FieldLayout>(
    compiler: &Compiler,
    arch: &str,
    config: Config,
) -> Vec<Arc<CompiledKernel>> {
    let space = OfflineSpace::<E>::new(compiler.clone(), arch, Options::default());
    let mesh = ShellMesh::new(ShellSpec::level(3)).unwrap();
    let operator = ViscousOperator::<_, E, L>::new(&space, &mesh, config, |_| 1.0).unwrap();
    let (u, mut y) = (operator.new_vector("u").unwrap(), operator.new_vector("y").unwrap());
    operator.apply(&u, &mut y, Mode::Replace).unwrap_or_else(|error| panic!("{config:?}: {error}"));
    space.kernels()
}

fn report(kernel: &CompiledKernel) {
    let lines = kernel.printed.text.lines().count();
    let occupancy = kernel.occupancy().map_or("unknown".into(), |occupancy| format!("{:.3}", occupancy.fraction));
    let Resources { registers, spill_store_bytes, spill_load_bytes, .. } = kernel.resources;
    println!(
        "{:25} {:7} registers {registers:3}, spills {spill_store_bytes}/{spill_load_bytes}, scratch {:5}, \
         occupancy {occupancy}, {lines} lines, {:.2} s",
        kernel.printed.kernel, kernel.arch, kernel.printed.scratch_bytes[0], kernel.seconds,
    );
}

/// The kernel that visits the elements, compiled for an architecture.
fn element_kernel<E: RealElement, L: FieldLayout>(
    compiler: &Compiler,
    arch: &str,
    config: Config,
) -> Arc<CompiledKernel> {
    let kernels = kernels::<E, L>(compiler, arch, config);
    let name = format!("viscous_{}", config.variant.name());
    let found = kernels.into_iter().find(|kernel| kernel.printed.kernel == name);
    let kernel = found.unwrap_or_else(|| panic!("{name} was not launched"));
    report(&kernel);
    kernel
}

fn marching() -> Config {
    Config {
        variant: Variant::Marching,
        threads: 8,
        rows: 2,
        lanes: Some(32),
        bounds: Some(Bounds { max_threads: 256, min_blocks: 1 }),
        ..Config::default()
    }
}

#[test]
fn marching_fits_the_registers_of_one_team() {
    let Some(compiler) = compiler("marching_fits_the_registers_of_one_team", Location::MemoryOnly) else { return };
    for arch in ["sm_80", "sm_90", "sm_100"] {
        let double = element_kernel::<f64, LateralFastest>(&compiler, arch, marching());
        assert!(!double.resources.spills() && double.resources.registers > 200, "{arch}: {:?}", double.resources);
    }
    let single = element_kernel::<f32, LateralFastest>(&compiler, "sm_90", marching());
    assert!(!single.resources.spills() && single.resources.registers <= 168, "{:?}", single.resources);
    let radial = element_kernel::<f64, RadiusFastest>(&compiler, "sm_90", marching());
    assert!(!radial.resources.spills(), "{:?}", radial.resources);
}

#[test]
fn all_variants_compile_without_spills() {
    let Some(compiler) = compiler("all_variants_compile_without_spills", Location::MemoryOnly) else { return };
    let tile = TileShape { x: 4, y: 4, r: 8 };
    for variant in [Variant::Textbook, Variant::ArReduc, Variant::Shmem, Variant::Tuned] {
        for accumulator in Accumulator::ALL {
            if variant != Variant::Tuned && accumulator != Accumulator::Direct {
                continue;
            }
            let config = Config { variant, accumulator, tile, ..Config::default() };
            let kernel = element_kernel::<f64, LateralFastest>(&compiler, "sm_90", config);
            assert!(!kernel.resources.spills(), "{config:?}: {:?}", kernel.resources);
            let text = &kernel.printed.text;
            assert!(text.contains("atomicAdd(&y["), "sums of elements use native atomics:\n{text}");
        }
    }
}
