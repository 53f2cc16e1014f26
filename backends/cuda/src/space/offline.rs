//! An execution space that compiles and does not run: what a kernel costs on an architecture that is not there.

use super::kernel::{ArchCompiler, CompiledKernel};
use crate::compile::{Compiler, Options};
use farro_backends::device::CompileSpace;
use farro_backends::print::Passes;
use farro_portability::{HostMemory, RealElement};
use std::sync::Arc;

/// Compiles what is launched for one architecture, in precision `P`, and runs nothing. Views live in host memory.
///
/// ```
/// use farro_cuda::{Compiler, CudaError, OfflineSpace, Options};
/// use farro_cuda::cache::{Cache, Location};
/// use farro_portability::prelude::*;
///
/// kernel_args! { struct FillArgs { y: View<f64, 1, LayoutRight, ReadWrite> } }
/// #[derive(Clone, Hash)]
/// struct Fill;
/// impl RangeKernel for Fill {
///     type Args = FillArgs<Declared>;
///     const NAME: &'static str = "fill";
///     fn run<T: Target>(&self, t: T, i: T::Int, args: &FillArgs<T>) {
///         args.y.set([i], t.real(1.0));
///     }
/// }
///
/// let compiler = match Compiler::new(Cache::open(Location::MemoryOnly)) {
///     Ok(compiler) => compiler,
///     Err(reason) => return Ok(println!("skipped: {reason}")),
/// };
/// let space: OfflineSpace = OfflineSpace::new(compiler, "sm_90", Options::default());
/// let mut y = View::<f64, 1>::new(&HostMemory, "y", [1000])?;
/// space.parallel_for(RangePolicy::new(1000), &Fill, FillArgs { y: y.write() })?;
/// assert!(space.kernels()[0].resources.registers > 0);
/// # Ok::<(), LaunchError>(())
/// ```
pub struct OfflineSpace<P: RealElement = f64> {
    shared: CompileSpace<ArchCompiler, P>,
}

impl<P: RealElement> OfflineSpace<P> {
    /// A space that compiles for `arch`, such as `sm_90`.
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

farro_backends::shared_space!(OfflineSpace, HostMemory);
