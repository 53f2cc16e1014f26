//! Texts to code objects, and everything that can go wrong on the way.

mod common;
#[path = "../../tests/printed_kernels/mod.rs"]
mod printed_kernels;

use common::{ARCHITECTURES, compiler, found};
use farro_backends::device::cache::{Cache, Location};
use farro_backends::trace::{Program, trace};
use farro_hip::{CompiledKernel, Compiler, HipError, OfflineSpace, Options, compile_with};
use farro_portability::conformance;
use farro_portability::prelude::*;
use farro_test_suite as _;
use printed_kernels::{Everything, EverythingViews, March, MarchArgs};

fn march() -> Program {
    let u = View::<f64, 2>::new(&HostMemory, "u", [6, 256]).unwrap();
    let mut out = View::<f64, 2>::new(&HostMemory, "out", [6, 256]).unwrap();
    let policy = TeamPolicy::new(1, 8, 32).unwrap();
    trace::<_, f64, HostMemory>(&March, &policy, &MarchArgs { u: u.read(), out: out.write() }).unwrap()
}

fn everything(threads: usize, lanes: usize) -> Program {
    let mut views = EverythingViews::new(&HostMemory).unwrap();
    let policy = TeamPolicy::new(3, threads, lanes).unwrap();
    trace::<_, f64, HostMemory>(&Everything, &policy, &views.args()).unwrap()
}

fn build(compiler: &Compiler, arch: &str, program: &Program, options: &Options) -> CompiledKernel {
    let kernel = compile_with(compiler, arch, program, Default::default(), options);
    let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
    println!("{} {arch}: {:?}, {:.2} s", kernel.printed.kernel, kernel.resources, kernel.seconds);
    assert!(!kernel.log.contains("warning"), "{}\n{}", kernel.log, kernel.printed.text);
    kernel
}

#[test]
fn printed_kernels_compile() {
    let Some(compiler) = compiler("printed_kernels_compile") else { return };
    for arch in ARCHITECTURES {
        let kernel = build(&compiler, arch, &march(), &Options::default());
        assert!(!kernel.resources.spills() && kernel.resources.vgprs <= 64, "{:?}", kernel.resources);
        let wavefront = if arch == "gfx1100" { 32 } else { 64 };
        assert_eq!((kernel.resources.wavefront, kernel.resources.max_team), (wavefront, 256));
        build(&compiler, arch, &everything(8, 8), &Options::default());
        let again = build(&compiler, arch, &march(), &Options::default());
        assert!(again.from_cache);
    }
}

#[test]
fn a_build_error_has_the_log() {
    let Some(compiler) = compiler("a_build_error_has_the_log") else { return };
    let error = compiler.compile("broken", "broken", "this is not C++;", "gfx90a", &Options::default()).unwrap_err();
    let named = matches!(&error, HipError::Compile { kernel, arch, log }
        if kernel == "broken" && arch == "gfx90a" && log.contains("error"));
    assert!(named, "{error}");
}

#[test]
fn an_unknown_architecture_is_refused_with_those_that_are_known() {
    let Some(compiler) = compiler("an_unknown_architecture_is_refused_with_those_that_are_known") else { return };
    for arch in ["gfx999", "sm_90", "", "gfx90a; rm"] {
        let error = compile_with(&compiler, arch, &march(), Default::default(), &Options::default()).unwrap_err();
        let named = matches!(&error, HipError::UnknownArchitecture { asked, known, .. }
            if asked == arch && known.contains(&"gfx942".to_string()));
        assert!(named, "{error}");
    }
}

#[test]
fn a_missing_function_is_named() {
    let Some(compiler) = compiler("a_missing_function_is_named") else { return };
    let text = "extern \"C\" __attribute__((global)) void other(int* x) { *x = 1; }";
    let error = compiler.compile("mine", "farro_mine", text, "gfx90a", &Options::default()).unwrap_err();
    assert!(matches!(&error, HipError::CodeObject { reason, .. } if reason.contains("farro_mine")), "{error}");
}

/// The child of hiprtc that knows an architecture, refuses a text, and breaks off at an architecture it has never heard of.
#[test]
fn hiprtc_compiles_in_a_process_of_its_own() {
    let test = "hiprtc_compiles_in_a_process_of_its_own";
    // SAFETY: this test's process reads no other variable at this time.
    unsafe { std::env::set_var("FARRO_HIPRTC", env!("CARGO_BIN_EXE_farro-hiprtc")) };
    let Some(compiler) = found(test, Compiler::hiprtc(Cache::open(Location::MemoryOnly))) else { return };
    let kernel = build(&compiler, "gfx90a", &march(), &Options::default());
    assert!(kernel.resources.vgprs > 0 && !kernel.resources.spills());
    let error = compiler.compile("broken", "broken", "this is not C++;", "gfx90a", &Options::default()).unwrap_err();
    assert!(matches!(&error, HipError::Compile { log, .. } if log.contains("error")), "{error}");
    // gfx942 is newer than hiprtc 5.2, which ends its process: an error, and this process goes on.
    match compile_with(&compiler, "gfx942", &march(), Default::default(), &Options::default()) {
        Ok(kernel) => assert_eq!(kernel.arch, "gfx942"),
        Err(error @ (HipError::CompilerCrash { .. } | HipError::Compile { .. })) => println!("gfx942: {error}"),
        Err(error) => panic!("{error}"),
    }
}

/// The results of an offline space are meaningless; what counts is that the compiler takes every text.
#[test]
fn the_kernels_of_the_conformance_suite_compile() {
    let test = "the_kernels_of_the_conformance_suite_compile";
    let Some(compiler) = compiler(test) else { return };
    let space: OfflineSpace = OfflineSpace::new(compiler, "gfx90a", Options::default());
    // A process for each text takes its time: without FARRO_COMPILE=all, some families.
    let all = std::env::var("FARRO_COMPILE").is_ok_and(|value| value == "all");
    let usual = ["control::", "arithmetic::", "atomics::", "lanes::up", "scratch::private"];
    let heavy = ["beyond_32_bits", "thousand_back_to_back"];
    let report = conformance::suite_of(&space, |name| {
        !heavy.iter().any(|heavy| name.ends_with(heavy)) && (all || usual.iter().any(|usual| name.starts_with(usual)))
    });
    let text = report.to_string();
    assert!(!text.contains("does not compile") && !text.contains("broke off"), "{text}");
    let kernels = space.kernels();
    println!("{} kernels of the conformance suite compile for gfx90a", kernels.len());
    assert!(kernels.len() >= 20, "{}", kernels.len());
}
