//! What `farro inspect` says: counts without a compiler, resources with one, bounds from ceilings.

use farro::ceilings::Ceilings;
use farro::inspect::{Subject, csv, family, inspect, json};
use farro::kernels::{Choice, LayoutChoice, Named, count, count_for, element_kernel};
use farro_fem::viscous::{Accumulator, Config, TileShape, Variant};
use farro_portability::Bounds;

fn marching() -> Config {
    Config { lanes: Some(32), threads: 8, rows: 2, prefetch: true, ..Config::default() }
}

fn tuned(accumulator: Accumulator) -> Config {
    Config { variant: Variant::Tuned, accumulator, tile: TileShape { x: 4, y: 4, r: 8 }, ..Config::default() }
}

fn subject(config: Config, layout: LayoutChoice) -> Subject {
    let choice = Choice { config, layout, ..Choice::default() };
    let counted = Some(count_for(&choice, 8, 128).expect("it can be counted"));
    Subject { label: config.variant.name().into(), named: Named::Element(config.variant), choice, counted }
}

#[test]
fn scaled_counts_are_those_of_the_level() {
    for config in [marching(), tuned(Accumulator::HexCell)] {
        let choice = Choice { config, ..Choice::default() };
        let kernel = element_kernel(config.variant);
        let exact = count(&choice, 6, 16).expect("level 6");
        let scaled = count_for(&choice, 6, 16).expect("level 6, from level 5");
        let flops =
            |counted: &farro::kernels::Counted| counted.kernels[kernel].flops() as f64 / counted.dofs / counted.excess;
        let ratio = flops(&scaled) / flops(&exact);
        assert!((ratio - 1.0).abs() < 0.02, "{kernel}: {ratio}");
    }
}

#[test]
fn rows_have_work_and_bounds_and_warn_of_a_slow_layout() {
    let ceilings = Ceilings {
        gflops: 33e3,
        triad: 4390.0,
        copy: 4270.0,
        scratch: 33e3,
        cache: 8e3,
        atomics: 182.0,
        cached_atomics: 269.0,
    };
    let known = ("an H200".to_string(), ceilings);
    let row = |config, layout| inspect(&subject(config, layout), "sm_90", Some(&known)).expect("a row");
    let (fast, slow) = (row(marching(), LayoutChoice::X), row(marching(), LayoutChoice::R));
    let work = fast.work.expect("it was counted");
    // 103 FLOPs for each DoF without what tiles repeat at their borders, 18.7 bytes at least.
    assert!((103.0..140.0).contains(&work.demand.flops), "{work:?}");
    assert!((18.0..23.0).contains(&work.demand.bytes) && work.demand.atomics == 0.0, "{work:?}");
    let bounds = &fast.expected.as_ref().expect("ceilings are known").bounds;
    assert!(["memory", "FLOPs"].contains(&bounds[0].0) && (150.0..260.0).contains(&bounds[0].1), "{bounds:?}");
    let uncoalesced = |warnings: &[String]| warnings.iter().any(|warning| warning.contains("fastest index"));
    assert!(!uncoalesced(&fast.warnings), "{:?}", fast.warnings);
    assert!(uncoalesced(&slow.warnings), "{:?}", slow.warnings);
    let direct = row(tuned(Accumulator::Direct), LayoutChoice::X);
    let expected = direct.expected.as_ref().expect("ceilings are known");
    assert_eq!(expected.bounds[0].0, "atomics", "{expected:?}");
    let text = csv(&[fast, slow, direct.clone()]);
    assert_eq!(text.lines().count(), 4, "{text}");
    assert_eq!(json(&[direct])[0]["bound by"], "atomics");
}

#[test]
fn without_a_compiler_the_row_says_what_is_missing() {
    let test = "without_a_compiler_the_row_says_what_is_missing";
    let bounds = Some(Bounds { max_threads: 128, min_blocks: 8 });
    let config = Config { bounds, ..tuned(Accumulator::Tile) };
    let subject = subject(config, LayoutChoice::X);
    let row = inspect(&subject, "sm_90", None).expect("a row");
    match &row.built {
        Err(reason) => {
            assert!(reason.contains("NVRTC"), "{reason}");
            println!("skipped: {test}: the part that needs a compiler: {reason}");
        }
        Ok(built) => {
            let value = |name| built.resources.iter().find(|resource| resource.name == name).map(|r| r.value);
            // Eight teams of 128 leave 64 registers for each work item, which are too few.
            assert!(value("registers").is_some_and(|registers| registers <= 64), "{built:?}");
            assert!(built.spill_bytes > 0 && row.warnings.iter().any(|w| w.contains("spills")), "{row:?}");
            assert!(built.occupancy.is_some_and(|occupancy| occupancy > 0.2), "{built:?}");
        }
    }
    assert!(inspect(&subject, "gfx0", None).expect("a row").built.is_err());
    assert!(family("sm_100").is_ok());
}

fn value(built: &farro::inspect::Built, name: &str) -> Option<u64> {
    built.resources.iter().find(|resource| resource.name == name).map(|resource| resource.value)
}

#[test]
fn code_objects_of_amd_tell_registers_and_waves() {
    let test = "code_objects_of_amd_tell_registers_and_waves";
    let bounds = Some(Bounds { max_threads: 128, min_blocks: 8 });
    let of = |bounds| subject(Config { bounds, ..tuned(Accumulator::Tile) }, LayoutChoice::X);
    let row = |bounds, arch| inspect(&of(bounds), arch, None).expect("a row").built;
    let free = match row(None, "gfx90a") {
        Ok(built) => built,
        Err(reason) => return println!("skipped: {test}: {reason}"),
    };
    let vgprs = value(&free, "VGPR").expect("a count");
    // The paper's equation: 512 registers of a SIMD, shared out in pieces of eight.
    let waves = 512 / vgprs.next_multiple_of(8);
    assert_eq!(value(&free, "waves/SIMD by registers"), Some(waves.min(8)), "{free:?}");
    assert!(free.spill_bytes == 0 && !free.comparison_loop, "{free:?}");
    let tight = row(bounds, "gfx90a").expect("the compiler is there");
    assert!(value(&tight, "VGPR") <= Some(vgprs), "{tight:?}");
    // No instruction of this one sums 64-bit numbers.
    assert!(row(None, "gfx906").expect("the compiler is there").comparison_loop);
    assert!(row(None, "gfx0000").expect_err("no such architecture").contains("gfx0000"));
}

#[test]
fn devices_of_this_machine_tell_what_they_use() {
    for arch in ["sycl:0", "opencl:0"] {
        match inspect(&subject(tuned(Accumulator::Tile), LayoutChoice::X), arch, None).expect("a row").built {
            Err(reason) => println!("skipped: devices_of_this_machine_tell_what_they_use: {arch}: {reason}"),
            Ok(built) => assert!(value(&built, "largest team").is_some_and(|items| items > 0), "{built:?}"),
        }
    }
    let error = inspect(&subject(marching(), LayoutChoice::X), "sycl:first", None).expect("a row").built;
    assert!(error.expect_err("not a number").contains("sycl:first"));
}
