//! From a traced program to a binary, with or without a device.

use super::occupancy::{Occupancy, occupancy};
use crate::cache::{Cache, Location};
use crate::compile::{Compiler, Options};
use crate::error::{CudaError, Result};
use crate::resources::Resources;
use farro_backends::device::{DeviceCompiler, DeviceKernel};
use farro_backends::print::{Dialect, Passes, Printed, print_with};
use farro_backends::trace::Program;
use farro_portability::{LaunchError, Limits};

/// A kernel compiled for one architecture.
#[derive(Debug, Clone)]
pub struct CompiledKernel {
    /// The text, its parameters and its scratch.
    pub printed: Printed,
    /// The architecture.
    pub arch: String,
    /// The binary.
    pub cubin: Vec<u8>,
    /// Registers, spills, stack and shared memory.
    pub resources: Resources,
    /// The compiler's log.
    pub log: String,
    /// Whether the binary came from the cache.
    pub from_cache: bool,
    /// Seconds that printing and compiling took.
    pub seconds: f64,
}

impl CompiledKernel {
    /// The calculated occupancy; `None` for an architecture of which the limits are not known.
    pub fn occupancy(&self) -> Option<Occupancy> {
        let shared = u32::try_from(self.printed.scratch_bytes[0]).unwrap_or(u32::MAX / 2);
        let threads = u32::try_from(self.printed.work_items).unwrap_or(u32::MAX);
        occupancy(&self.arch, self.resources.registers, threads, shared)
    }
}

/// Compiles a program for an architecture such as `sm_90`, with the usual cache; no device is needed.
///
/// # Errors
/// Where there is no NVRTC, or it does not know the architecture or refuses the text.
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
    let printed = print_with(program, Dialect::Cuda, passes);
    let compiled = compiler.compile(&printed.entry, &printed.text, arch, options)?;
    let resources = compiled.resources.get(&printed.entry).copied().unwrap_or_default();
    Ok(CompiledKernel {
        printed,
        arch: arch.into(),
        cubin: compiled.cubin,
        resources,
        log: compiled.log,
        from_cache: compiled.from_cache,
        seconds: begin.elapsed().as_secs_f64(),
    })
}

impl DeviceKernel for CompiledKernel {
    fn printed(&self) -> &Printed {
        &self.printed
    }
}

/// A compiler for one architecture.
#[derive(Debug, Clone)]
pub struct ArchCompiler {
    pub(super) compiler: Compiler,
    pub(super) arch: String,
    pub(super) options: Options,
}

impl DeviceCompiler for ArchCompiler {
    type Kernel = CompiledKernel;
    type Error = CudaError;

    fn name(&self) -> String {
        format!("CUDA compiler for {}", self.arch)
    }
    /// Those of current devices.
    fn limits(&self) -> Limits {
        Limits {
            max_team: 1024,
            max_league: i32::MAX as usize,
            scratch_bytes: [227 << 10, 256 << 20],
            vector_lengths: &[1, 2, 4, 8, 16, 32],
            best_vector_length: 32,
            range_chunk: 2048,
            range_team: 256,
            concurrency: 1,
        }
    }
    fn compile(&self, program: &Program, passes: Passes) -> Result<CompiledKernel> {
        compile_with(&self.compiler, &self.arch, program, passes, &self.options)
    }
    fn launch_error(space: &str, kernel: &str, error: &CudaError) -> LaunchError {
        let (kernel, message) = match error {
            CudaError::KernelFault { kernel, code, message } => (
                // The kernel's own name in that of a printed function, or in a list of them.
                kernel.replace("farro_", ""),
                format!("it failed on the device: {message} (code {code}); run it on the checked target to see where"),
            ),
            other => (kernel.into(), other.to_string()),
        };
        LaunchError::Device { kernel, space: space.into(), message }
    }
}
