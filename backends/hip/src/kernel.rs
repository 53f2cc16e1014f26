//! From a traced program to a code object, with or without a device.

use crate::arch::{Architecture, F64Atomics, Occupancy};
use crate::compile::{Compiler, Options};
use crate::error::{HipError, Result};
use crate::resources::Resources;
use farro_backends::device::cache::{Cache, Location};
use farro_backends::device::{CompileSpace, DeviceCompiler, DeviceKernel};
use farro_backends::print::{Dialect, Passes, Printed, print_with};
use farro_backends::trace::Program;
use farro_portability::{HostMemory, LaunchError, Limits, RealElement};
use std::sync::Arc;

/// A kernel compiled for one architecture.
#[derive(Debug, Clone)]
pub struct CompiledKernel {
    /// The text, its parameters and its scratch.
    pub printed: Printed,
    /// The architecture.
    pub arch: String,
    /// The architecture that the code object itself names.
    pub target: String,
    /// The code object.
    pub code_object: Vec<u8>,
    /// Registers, spills, private and local memory.
    pub resources: Resources,
    /// The compiler's log.
    pub log: String,
    /// Whether the code object came from the cache.
    pub from_cache: bool,
    /// Seconds that printing and compiling took.
    pub seconds: f64,
    native_atomics: bool,
}

impl CompiledKernel {
    /// The calculated occupancy; `None` for an architecture of which the limits are not known.
    pub fn occupancy(&self) -> Option<Occupancy> {
        let lds = u32::try_from(self.printed.scratch_bytes[0]).unwrap_or(u32::MAX / 2);
        let items = u32::try_from(self.printed.work_items).unwrap_or(u32::MAX / 2);
        Some(Architecture::named(&self.arch)?.occupancy(&self.resources, items, lds))
    }
    /// How the kernel sums 64-bit numbers in memory; nothing if it does not.
    pub fn f64_atomics(&self) -> Option<F64Atomics> {
        if !self.printed.text.contains("atomic_add_f64(") {
            return None;
        }
        match Architecture::named(&self.arch) {
            Some(arch) if self.native_atomics => Some(arch.f64_atomics),
            _ => Some(F64Atomics::Loop),
        }
    }
}

impl DeviceKernel for CompiledKernel {
    fn printed(&self) -> &Printed {
        &self.printed
    }
}

/// Compiles a program for an architecture such as `gfx90a`, with the usual cache; no device is needed.
///
/// # Errors
/// Where there is no compiler, or it does not know the architecture or refuses the text.
pub fn compile_for(arch: &str, program: &Program) -> Result<CompiledKernel> {
    let compiler = Compiler::new(Cache::open(Location::Default))?;
    compile_with(&compiler, arch, program, Passes::default(), &Options::default())
}

/// The same with a compiler, passes and options of one's own.
///
/// # Errors
/// As [`compile_for`].
pub fn compile_with(
    compiler: &Compiler,
    arch: &str,
    program: &Program,
    passes: Passes,
    options: &Options,
) -> Result<CompiledKernel> {
    let begin = std::time::Instant::now();
    let printed = print_with(program, Dialect::Hip, passes);
    let compiled = compiler.compile(&printed.kernel, &printed.entry, &printed.text, arch, options)?;
    Ok(CompiledKernel {
        printed,
        arch: arch.into(),
        target: compiled.target,
        code_object: compiled.code_object,
        resources: compiled.resources,
        log: compiled.log,
        from_cache: compiled.from_cache,
        seconds: begin.elapsed().as_secs_f64(),
        native_atomics: options.native_atomics,
    })
}

/// A compiler for one architecture.
#[derive(Debug, Clone)]
pub struct ArchCompiler {
    pub(crate) compiler: Compiler,
    pub(crate) arch: String,
    pub(crate) options: Options,
}

impl DeviceCompiler for ArchCompiler {
    type Kernel = CompiledKernel;
    type Error = HipError;

    fn name(&self) -> String {
        format!("HIP compiler for {}", self.arch)
    }
    /// Those of current devices.
    fn limits(&self) -> Limits {
        let arch = Architecture::named(&self.arch);
        Limits {
            max_team: 1024,
            max_league: i32::MAX as usize,
            scratch_bytes: [64 << 10, 256 << 20],
            vector_lengths: arch.map_or(&[1, 2, 4, 8, 16, 32], Architecture::vector_lengths),
            best_vector_length: arch.map_or(32, |arch| arch.wavefront as usize),
            range_chunk: 2048,
            range_team: 256,
            concurrency: 1,
        }
    }
    fn compile(&self, program: &Program, passes: Passes) -> Result<CompiledKernel> {
        compile_with(&self.compiler, &self.arch, program, passes, &self.options)
    }
    fn launch_error(space: &str, kernel: &str, error: &HipError) -> LaunchError {
        let kernel = match error {
            HipError::KernelFault { kernel, .. } => kernel.clone(),
            _ => kernel.into(),
        };
        LaunchError::Device { kernel, space: space.into(), message: error.to_string() }
    }
}

/// Compiles what is launched for one architecture, in precision `P`, and runs nothing. Views live in host memory.
pub struct OfflineSpace<P: RealElement = f64> {
    shared: CompileSpace<ArchCompiler, P>,
}

farro_backends::shared_space!(OfflineSpace, HostMemory);

impl<P: RealElement> OfflineSpace<P> {
    /// A space that compiles for `arch`, such as `gfx90a`.
    pub fn new(compiler: Compiler, arch: &str, options: Options) -> Self {
        OfflineSpace { shared: CompileSpace::new(ArchCompiler { compiler, arch: arch.into(), options }) }
    }
    /// The same with other passes before printing.
    pub fn with_passes(self, passes: Passes) -> Self {
        OfflineSpace { shared: self.shared.with_passes(passes) }
    }
    /// The kernels that were launched, in the order of their first launch.
    pub fn kernels(&self) -> Vec<Arc<CompiledKernel>> {
        self.shared.kernels()
    }
}
