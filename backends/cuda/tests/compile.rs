//! Text to binary: needs NVRTC, but no device.

mod common;
use common::{AXPY, Scratch, compiler};
use farro_cuda::cache::Location;
use farro_cuda::{CudaError, Options};
use std::sync::Barrier;

const TEST_OF_CHILD: &str = "child_reports_whether_its_compilation_was_cached";

#[test]
fn compiles_for_three_architectures() {
    let Some(compiler) = compiler("compiles_for_three_architectures", Location::MemoryOnly) else { return };
    for arch in ["sm_80", "sm_90", "sm_100"] {
        let compiled = compiler.compile("axpy", AXPY, arch, &Options::default()).unwrap();
        assert!(compiled.cubin.starts_with(b"\x7fELF"), "{arch}");
        let resources = compiled.resources["axpy"];
        println!("{arch}: {resources:?}, {} bytes, {:.3} s", compiled.cubin.len(), compiled.seconds);
        assert!(resources.registers > 0 && !resources.spills(), "{arch}: {resources:?}");
        assert!(!compiled.from_cache);
    }
}

#[test]
fn resources_show_spills_and_shared_memory() {
    let Some(compiler) = compiler("resources_show_spills_and_shared_memory", Location::MemoryOnly) else { return };
    let text = r#"
extern "C" __global__ void many(const double* x, double* y) {
    __shared__ double tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    double v[64];
    #pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = x[threadIdx.x + 128 * i] + tile[(threadIdx.x + i) % 128];
    for (int k = 0; k < 10; ++k)
        #pragma unroll
        for (int i = 0; i < 64; ++i) v[i] = v[i] * v[(i + 7) % 64] + k;
    #pragma unroll
    for (int i = 0; i < 64; ++i) y[threadIdx.x + 128 * i] = v[i];
}"#;
    let free = compiler.compile("many", text, "sm_90", &Options::default()).unwrap().resources["many"];
    let options = Options { max_registers: Some(32), ..Options::default() };
    let bound = compiler.compile("many", text, "sm_90", &options).unwrap().resources["many"];
    println!("free {free:?}, bound {bound:?}");
    assert!(bound.registers <= 32 && bound.spill_store_bytes > 0 && bound.spill_load_bytes > 0, "{bound:?}");
    assert!(bound.stack_bytes > 0 && free.registers > 32 && !free.spills(), "{free:?}");
    assert!(free.static_shared_bytes >= 1024, "{free:?}");
}

#[test]
fn a_mistake_is_reported_with_its_line() {
    let Some(compiler) = compiler("a_mistake_is_reported_with_its_line", Location::MemoryOnly) else { return };
    let text = "extern \"C\" __global__ void wrong(double* x) {\n    x[0] = undefined_name;\n}\n";
    let error = compiler.compile("wrong", text, "sm_90", &Options::default()).unwrap_err();
    let CudaError::Compile { kernel, arch, log } = &error else { panic!("{error}") };
    assert_eq!((&kernel[..], &arch[..]), ("wrong", "sm_90"));
    assert!(log.contains("wrong(2)") && log.contains("undefined_name"), "{log}");
    let zero = compiler.compile("zero", "int a;\0", "sm_90", &Options::default()).unwrap_err();
    assert!(matches!(zero, CudaError::Compile { .. }), "{zero}");
}

#[test]
fn an_unknown_architecture_is_refused_by_name() {
    let Some(compiler) = compiler("an_unknown_architecture_is_refused_by_name", Location::MemoryOnly) else { return };
    for arch in ["sm_12", "sm_999", "gfx90a", "compute_90", "", "sm_", "sm_9a0"] {
        let error = compiler.compile("axpy", AXPY, arch, &Options::default()).unwrap_err();
        let CudaError::UnknownArchitecture { asked, known, version } = &error else { panic!("{arch}: {error}") };
        assert_eq!(asked, arch);
        assert!(known.iter().any(|known| known == "sm_90") && !version.is_empty(), "{error}");
    }
    compiler.compile("axpy", AXPY, "sm_90a", &Options::default()).unwrap();
}

#[test]
fn ptx_is_text_for_the_virtual_architecture() {
    let Some(compiler) = compiler("ptx_is_text_for_the_virtual_architecture", Location::MemoryOnly) else { return };
    let ptx = compiler.ptx("axpy", AXPY, "sm_90", &Options::default()).unwrap();
    assert!(ptx.contains(".target sm_90") && ptx.contains(".entry axpy"), "{ptx}");
    assert!(ptx.contains("fma.rn.f64"));
    let unfused = compiler.ptx("axpy", AXPY, "sm_90", &Options { fmad: false, ..Options::default() }).unwrap();
    assert!(!unfused.contains("fma.rn.f64"), "{unfused}");
}

#[test]
fn a_second_compilation_is_cached_in_memory_and_on_disk() {
    let test = "a_second_compilation_is_cached_in_memory_and_on_disk";
    let scratch = Scratch::new();
    let Some(first) = compiler(test, scratch.location()) else { return };
    let options = Options::default();
    let built = first.compile("axpy", AXPY, "sm_90", &options).unwrap();
    let again = first.compile("axpy", AXPY, "sm_90", &options).unwrap();
    let later = compiler(test, scratch.location()).unwrap();
    let read = later.compile("axpy", AXPY, "sm_90", &options).unwrap();
    println!("built {:.4} s, memory {:.6} s, disk {:.6} s", built.seconds, again.seconds, read.seconds);
    assert_eq!((built.from_cache, again.from_cache, read.from_cache), (false, true, true));
    assert_eq!((&built.cubin, &built.resources, &built.log), (&read.cubin, &read.resources, &read.log));
    assert_eq!((first.cache().stats().memory_hits, later.cache().stats().disk_hits), (1, 1));
    for other in [Options { fmad: false, ..options.clone() }, Options { line_info: true, ..options.clone() }] {
        assert!(!later.compile("axpy", AXPY, "sm_90", &other).unwrap().from_cache, "{other:?}");
    }
    assert!(!later.compile("axpy", AXPY, "sm_80", &options).unwrap().from_cache);
}

#[test]
fn another_process_finds_the_entry() {
    let test = "another_process_finds_the_entry";
    let scratch = Scratch::new();
    if compiler(test, Location::MemoryOnly).is_none() {
        return;
    }
    let mut answers = Vec::new();
    for _ in 0..2 {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST_OF_CHILD, "--nocapture"])
            .env("FARRO_CACHE_DIR", &scratch.0)
            .env("FARRO_TEST_CHILD", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        answers.push(text.contains("from_cache=true"));
    }
    assert_eq!(answers, [false, true]);
}

#[test]
fn child_reports_whether_its_compilation_was_cached() {
    if std::env::var_os("FARRO_TEST_CHILD").is_none() {
        return;
    }
    let compiler = compiler(TEST_OF_CHILD, Location::Default).unwrap();
    let compiled = compiler.compile("axpy", AXPY, "sm_90", &Options::default()).unwrap();
    println!("from_cache={}", compiled.from_cache);
}

#[test]
fn two_threads_get_the_same_binary_from_one_compilation() {
    let test = "two_threads_get_the_same_binary_from_one_compilation";
    let Some(compiler) = compiler(test, Location::MemoryOnly) else { return };
    let barrier = Barrier::new(2);
    let binaries: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let work = || {
            barrier.wait();
            compiler.compile("axpy", AXPY, "sm_90", &Options::default()).unwrap().cubin
        };
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(binaries[0], binaries[1]);
    let stats = compiler.cache().stats();
    assert_eq!((stats.misses, stats.memory_hits), (1, 1));
}
