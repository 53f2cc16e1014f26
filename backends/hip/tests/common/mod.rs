//! A compiler, or a word to the reader of the log where there is none; the operator's kernels.
#![allow(dead_code)]

use farro_backends::device::cache::{Cache, Location};
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::{Config, FieldLayout, Mode, ViscousOperator};
use farro_hip::{CompiledKernel, Compiler, HipError, OfflineSpace, Options};
use farro_portability::RealElement;
use std::sync::Arc;

pub const ARCHITECTURES: [&str; 3] = ["gfx90a", "gfx942", "gfx1100"];

pub fn compiler(test: &str) -> Option<Compiler> {
    found(test, Compiler::new(Cache::open(Location::MemoryOnly)))
}

pub fn found(test: &str, compiler: Result<Compiler, HipError>) -> Option<Compiler> {
    match compiler {
        Ok(compiler) => Some(compiler),
        Err(reason @ (HipError::NoCompiler { .. } | HipError::NoLibrary { .. })) => {
            println!("skipped: {test}: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The kernel that visits the elements, compiled for an architecture.
pub fn element_kernel<E: RealElement, L: FieldLayout>(
    compiler: &Compiler,
    arch: &str,
    config: Config,
    options: &Options,
) -> Arc<CompiledKernel> {
    let space = OfflineSpace::<E>::new(compiler.clone(), arch, options.clone());
    let mesh = ShellMesh::new(ShellSpec::level(3)).unwrap();
    let operator = ViscousOperator::<_, E, L>::new(&space, &mesh, config, |_| 1.0).unwrap();
    let (u, mut y) = (operator.new_vector("u").unwrap(), operator.new_vector("y").unwrap());
    operator.apply(&u, &mut y, Mode::Replace).unwrap_or_else(|error| panic!("{config:?}: {error}"));
    let name = format!("viscous_{}", config.variant.name());
    let kernel = space.kernels().into_iter().find(|kernel| kernel.printed.kernel == name);
    let kernel = kernel.unwrap_or_else(|| panic!("{name} was not launched"));
    let waves = kernel.occupancy().map_or(0.0, |occupancy| occupancy.waves_per_simd);
    println!(
        "{name} {} {arch} {:?}: {:?}, {waves} waves per SIMD, {:.2} s",
        config.accumulator.name(),
        config.bounds,
        kernel.resources,
        kernel.seconds
    );
    kernel
}
