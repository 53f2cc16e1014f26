//! The viscous operator's kernels to code objects: needs a compiler for AMD devices, but no device.

mod common;
use common::{ARCHITECTURES, compiler, element_kernel};
use farro_fem::viscous::{Accumulator, Config, LateralFastest, RadiusFastest, TileShape, Variant};
use farro_hip::{BoundsMeaning, F64Atomics, Options};
use farro_portability::Bounds;
use farro_test_kernels as _;

/// A tile of 256 cells, one work item each.
fn tuned(accumulator: Accumulator, bounds: Option<Bounds>) -> Config {
    let tile = TileShape { x: 4, y: 4, r: 16 };
    Config { variant: Variant::Tuned, accumulator, tile, bounds, ..Config::default() }
}

#[test]
fn every_variant_compiles_for_every_architecture() {
    let Some(compiler) = compiler("every_variant_compiles_for_every_architecture") else { return };
    let options = Options::default();
    for arch in ARCHITECTURES {
        for variant in Variant::ALL {
            let config = match variant {
                Variant::Marching => Config { variant, threads: 4, rows: 2, lanes: Some(32), ..Config::default() },
                _ => Config { variant, tile: TileShape { x: 4, y: 4, r: 16 }, ..Config::default() },
            };
            let kernel = element_kernel::<f64, RadiusFastest>(&compiler, arch, config, &options);
            assert_eq!(kernel.target.split(':').next(), Some(arch));
            let sums = kernel.f64_atomics();
            match (variant, arch) {
                (Variant::Marching, _) => assert_eq!(sums, None, "marching has no atomics"),
                (_, "gfx1100") => assert_eq!(sums, Some(F64Atomics::Loop)),
                _ => assert_eq!(sums, Some(F64Atomics::Native)),
            }
        }
        element_kernel::<f32, LateralFastest>(&compiler, arch, tuned(Accumulator::Tile, None), &options);
    }
}

#[test]
fn tuned_does_not_spill_without_bounds() {
    let Some(compiler) = compiler("tuned_does_not_spill_without_bounds") else { return };
    for arch in ["gfx90a", "gfx942"] {
        for accumulator in Accumulator::ALL {
            let kernel =
                element_kernel::<f64, RadiusFastest>(&compiler, arch, tuned(accumulator, None), &Options::default());
            assert!(!kernel.resources.spills(), "{arch} {accumulator:?}: {:?}", kernel.resources);
            assert_eq!(kernel.resources.wavefront, 64);
        }
    }
}

/// Registers of a SIMD, 512 for each lane, are shared out to `min_blocks` waves; what does not fit spills.
#[test]
fn bounds_share_out_the_registers() {
    let Some(compiler) = compiler("bounds_share_out_the_registers") else { return };
    for arch in ["gfx90a", "gfx942"] {
        for accumulator in [Accumulator::Direct, Accumulator::HexCell] {
            let mut spills = Vec::new();
            for min_blocks in [1, 4, 8] {
                let config = tuned(accumulator, Some(Bounds { max_threads: 256, min_blocks }));
                let kernel = element_kernel::<f64, RadiusFastest>(&compiler, arch, config, &Options::default());
                let most = (512 / min_blocks as u32) / 8 * 8;
                assert!(kernel.resources.vgprs <= most, "{arch} {min_blocks}: {:?}", kernel.resources);
                let by_registers = kernel.occupancy().unwrap().waves_by_registers;
                assert!(by_registers >= min_blocks as u32, "{arch} {min_blocks}: {by_registers}");
                spills.push(kernel.resources.vgpr_spills);
            }
            assert!(spills[0] == 0 && spills.is_sorted() && spills[2] > 0, "{arch} {accumulator:?}: {spills:?}");
        }
    }
}

/// Eight teams of one wave are two waves of each SIMD, by the meaning that all backends share, and 256 registers; by the
/// compiler's own meaning they are eight waves, and 64 registers.
#[test]
fn bounds_have_two_meanings() {
    let Some(compiler) = compiler("bounds_have_two_meanings") else { return };
    let config = Config {
        tile: TileShape { x: 4, y: 4, r: 4 },
        ..tuned(Accumulator::Direct, Some(Bounds { max_threads: 64, min_blocks: 8 }))
    };
    let native = Options { bounds: BoundsMeaning::Native, ..Options::default() };
    let portable = element_kernel::<f64, RadiusFastest>(&compiler, "gfx90a", config, &Options::default());
    let own = element_kernel::<f64, RadiusFastest>(&compiler, "gfx90a", config, &native);
    assert_eq!(portable.printed.text, own.printed.text);
    assert!(!portable.resources.spills() && portable.resources.vgprs > 64, "{:?}", portable.resources);
    assert!(own.resources.spills() && own.resources.vgprs <= 64, "{:?}", own.resources);
}
