//! The CUDA that was written by hand for comparison compiles wherever NVRTC is, without spills; it is run and compared by
//! the example `h200_report`.

mod common;
use common::compiler;
use farro_cuda::Options;
use farro_cuda::cache::Location;

const FILES: [(&str, &str, &[&str]); 2] = [
    ("triad", include_str!("../../../benches/handwritten/triad.cu"), &["triad", "triad_chunks", "empty"]),
    ("marching", include_str!("../../../benches/handwritten/marching.cu"), &["marching"]),
];

#[test]
fn handwritten_kernels_compile_without_spills() {
    let Some(compiler) = compiler("handwritten_kernels_compile_without_spills", Location::MemoryOnly) else { return };
    for (file, text, kernels) in FILES {
        for arch in ["sm_80", "sm_90", "sm_100"] {
            let compiled = compiler.compile(file, text, arch, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
            for kernel in kernels {
                let resources = compiled.resources[*kernel];
                println!("{kernel} {arch}: {resources:?}, {:.2} s", compiled.seconds);
                assert!(!resources.spills(), "{kernel} {arch}: {resources:?}");
            }
        }
    }
}
