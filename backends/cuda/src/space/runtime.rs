//! One stream of a CUDA device, as the shared launch path of all device backends sees it.

use super::SpaceOptions;
use super::kernel::{ArchCompiler, CompiledKernel};
use crate::compile::Compiler;
use crate::error::{CudaError, Result};
use crate::launch::{Function, Param};
use crate::memory::DeviceBuffer;
use crate::module::Module;
use crate::stream::Stream;
use farro_backends::device::{DeviceRuntime, Launch};
use farro_backends::print::MAX_PARAMETERS;
use farro_portability::Limits;

/// A stream with the compiler for its device.
#[derive(Debug)]
pub struct CudaRuntime {
    pub(super) stream: Stream,
    pub(super) compiler: ArchCompiler,
    name: String,
    limits: Limits,
}

impl CudaRuntime {
    pub(super) fn new(stream: Stream, compiler: Compiler, options: &SpaceOptions) -> Self {
        let properties = stream.device().properties();
        let limits = Limits {
            max_team: properties.max_threads_per_block as usize,
            max_league: properties.max_grid[0] as usize,
            scratch_bytes: [properties.shared_bytes_per_block_optin as usize, options.team_scratch_bytes],
            vector_lengths: &[1, 2, 4, 8, 16, 32],
            best_vector_length: 32,
            range_chunk: options.range_chunk.max(1),
            range_team: options.range_team.clamp(1, properties.max_threads_per_block as usize),
            concurrency: properties.multiprocessors as usize,
        };
        let name = format!("{} (CUDA device {})", properties.name, properties.ordinal);
        let compiler = ArchCompiler { compiler, arch: properties.arch(), options: options.compile.clone() };
        CudaRuntime { stream, compiler, name, limits }
    }
}

impl DeviceRuntime for CudaRuntime {
    type Compiler = ArchCompiler;
    type Block = DeviceBuffer;
    type Function = Function;

    fn compiler(&self) -> &ArchCompiler {
        &self.compiler
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn limits(&self) -> Limits {
        self.limits.clone()
    }
    fn allocate(&self, bytes: u64) -> Result<DeviceBuffer> {
        DeviceBuffer::new(self.stream.device(), bytes)
    }
    fn exhausted(error: &CudaError) -> Option<u64> {
        match error {
            CudaError::OutOfMemory { free, .. } => Some(*free),
            _ => None,
        }
    }
    fn address(block: &DeviceBuffer) -> u64 {
        block.address()
    }
    fn len(block: &DeviceBuffer) -> u64 {
        block.len()
    }
    fn zero(&self, block: &DeviceBuffer) -> Result<()> {
        block.zero(&self.stream)
    }
    fn read(&self, block: &DeviceBuffer, offset: u64, to: &mut [u8]) -> Result<()> {
        block.copy_to_host(&self.stream, offset, to)
    }
    fn write(&self, block: &DeviceBuffer, offset: u64, from: &[u8]) -> Result<()> {
        block.copy_from_host(&self.stream, offset, from)
    }
    fn load(&self, kernel: &CompiledKernel) -> Result<Function> {
        Module::load(self.stream.device(), &kernel.cubin)?.function(&kernel.printed.entry)
    }
    unsafe fn launch(&self, function: &Function, launch: Launch<'_>) -> Result<()> {
        let mut params = [Param::from(0u64); MAX_PARAMETERS];
        for (param, value) in params.iter_mut().zip(launch.values) {
            *param = if value.bytes == 4 { Param::from(value.bits as u32) } else { Param::from(value.bits) };
        }
        // All numbers were checked against the limits.
        let (grid, block, shared) = (launch.teams as u32, launch.work_items as u32, launch.scratch_bytes as u32);
        let params = &params[..launch.values.len()];
        // SAFETY: passed on from this function's contract.
        unsafe { function.launch(&self.stream, [grid, 1, 1], block, shared, params) }
    }
    fn synchronize(&self) -> Result<()> {
        self.stream.synchronize()
    }
}
