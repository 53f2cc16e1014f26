//! Printed kernels to binaries: needs NVRTC, but no device.

mod common;
#[path = "../../tests/printed_kernels/mod.rs"]
mod printed_kernels;

use common::compiler;
use farro_backends::trace::{Program, trace};
use farro_cuda::cache::Location;
use farro_cuda::{CompiledKernel, Compiler, OfflineSpace, Options, compile_with};
use farro_portability::prelude::*;
use farro_portability::{OverRange, conformance};
use farro_test_suite as _;
use printed_kernels::{Axpy, AxpyArgs, Everything, EverythingViews, March, MarchArgs};

const ARCHITECTURES: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

fn axpy<P: RealElement>() -> Program {
    let x = View::<f64, 1>::new(&HostMemory, "x", [100]).unwrap();
    let mut y = View::<f64, 1>::new(&HostMemory, "y", [100]).unwrap();
    let kernel = OverRange { body: Axpy, chunk: 2048, wide: false };
    let args = (AxpyArgs { a: 2.0, x: x.read(), y: y.write() }, [100]);
    trace::<_, P, HostMemory>(&kernel, &TeamPolicy::new(1, 256, 1).unwrap(), &args).unwrap()
}

fn march(policy: TeamPolicy) -> Program {
    let u = View::<f64, 2>::new(&HostMemory, "u", [6, 64]).unwrap();
    let mut out = View::<f64, 2>::new(&HostMemory, "out", [6, 64]).unwrap();
    trace::<_, f64, HostMemory>(&March, &policy, &MarchArgs { u: u.read(), out: out.write() }).unwrap()
}

fn everything<P: RealElement>(threads: usize, lanes: usize) -> Program {
    let mut views = EverythingViews::new(&HostMemory).unwrap();
    let policy = TeamPolicy::new(3, threads, lanes).unwrap();
    trace::<_, P, HostMemory>(&Everything, &policy, &views.args()).unwrap()
}

fn build(compiler: &Compiler, arch: &str, program: &Program) -> CompiledKernel {
    let kernel = compile_with(compiler, arch, program, Default::default(), &Options::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let occupancy = kernel.occupancy().map_or("unknown".into(), |o| format!("{:.2}", o.fraction));
    println!(
        "{} {arch}: {:?}, occupancy {occupancy}, {:.3} s",
        kernel.printed.kernel, kernel.resources, kernel.seconds
    );
    assert!(kernel.cubin.starts_with(b"\x7fELF"));
    assert!(!kernel.log.contains("warning"), "{}\n{}", kernel.log, kernel.printed.text);
    kernel
}

#[test]
fn printed_kernels_compile_within_their_bands() {
    let Some(compiler) = compiler("printed_kernels_compile_within_their_bands", Location::MemoryOnly) else { return };
    for arch in ARCHITECTURES {
        let axpy = build(&compiler, arch, &axpy::<f64>()).resources;
        assert!((10..=40).contains(&axpy.registers) && !axpy.spills() && axpy.stack_bytes == 0, "{axpy:?}");
        let march = build(&compiler, arch, &march(TeamPolicy::new(1, 8, 32).unwrap())).resources;
        assert!((16..=64).contains(&march.registers) && !march.spills() && march.stack_bytes == 0, "{march:?}");
    }
}

#[test]
fn every_operation_compiles() {
    let Some(compiler) = compiler("every_operation_compiles", Location::MemoryOnly) else { return };
    for arch in ARCHITECTURES {
        for (threads, lanes) in [(8, 8), (1, 32), (64, 1), (3, 4)] {
            let kernel = build(&compiler, arch, &everything::<f64>(threads, lanes));
            // The assembler for sm_100 prefers a few spills to lower occupancy; an array would be larger.
            assert!(kernel.resources.stack_bytes <= 16, "private slots stay in registers: {:?}", kernel.resources);
        }
        build(&compiler, arch, &everything::<f32>(4, 16));
    }
}

#[test]
fn launch_bounds_reach_the_compiler() {
    let Some(compiler) = compiler("launch_bounds_reach_the_compiler", Location::MemoryOnly) else { return };
    let policy = TeamPolicy::new(1, 8, 32).unwrap();
    let bounded = policy.with_bounds(Bounds { max_threads: 256, min_blocks: 8 }).unwrap();
    let kernel = build(&compiler, "sm_90", &march(bounded));
    assert!(kernel.printed.text.contains("__launch_bounds__(256, 8)"), "{}", kernel.printed.text);
    assert!(kernel.resources.registers <= 32, "{:?}", kernel.resources);
    assert_eq!(kernel.occupancy().map(|o| o.blocks), Some(8));
}

#[test]
fn the_text_is_quick_and_the_second_binary_cached() {
    let Some(compiler) = compiler("the_text_is_quick_and_the_second_binary_cached", Location::MemoryOnly) else {
        return;
    };
    let program = everything::<f64>(8, 8);
    assert!(!build(&compiler, "sm_90", &program).from_cache);
    let again = build(&compiler, "sm_90", &program);
    assert!(again.from_cache);
    println!("printing and the cache: {:.1} ms", 1e3 * again.seconds);
}

/// The results of an offline space are meaningless; what counts is that the compiler takes every text.
#[test]
fn the_kernels_of_the_conformance_suite_compile() {
    let Some(compiler) = compiler("the_kernels_of_the_conformance_suite_compile", Location::MemoryOnly) else { return };
    let space: OfflineSpace = OfflineSpace::new(compiler, "sm_90", Options::default());
    let heavy = ["beyond_32_bits", "thousand_back_to_back"];
    let report = conformance::suite_of(&space, |name| !heavy.iter().any(|heavy| name.ends_with(heavy)));
    let text = report.to_string();
    assert!(!text.contains("does not compile"), "{text}");
    println!("{} kernels", space.kernels().len());
    for kernel in space.kernels() {
        assert!(!kernel.log.contains("warning"), "{}\n{}", kernel.log, kernel.printed.text);
    }
}
