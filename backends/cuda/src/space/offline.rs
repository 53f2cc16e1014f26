//! An execution space that compiles and does not run: what a kernel costs on an architecture that is not there.

use super::kernel::{CompiledKernel, compile_with};
use super::{errors::device_error, lock};
use crate::compile::{Compiler, Options};
use farro_backends::launch::{Arguments, PreparedKernels, check_limits, constants_key};
use farro_backends::print::Passes;
use farro_portability::{ArgsOf, HostMemory, Kernel, LaunchError, LaunchInfo, Limits, RealElement, Space, TeamPolicy};
use std::any::TypeId;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

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
    compiler: Compiler,
    arch: String,
    options: Options,
    passes: Passes,
    prepared: PreparedKernels,
    compiled: Mutex<Vec<Arc<CompiledKernel>>>,
    by_key: Mutex<HashMap<(TypeId, u64), Arc<CompiledKernel>>>,
    precision: PhantomData<fn() -> P>,
}

impl<P: RealElement> OfflineSpace<P> {
    /// A space that compiles for `arch`, such as `sm_90`.
    pub fn new(compiler: Compiler, arch: &str, options: Options) -> Self {
        OfflineSpace {
            compiler,
            arch: arch.into(),
            options,
            passes: Passes::default(),
            prepared: PreparedKernels::default(),
            compiled: Mutex::default(),
            by_key: Mutex::default(),
            precision: PhantomData,
        }
    }
    /// The same with other passes before printing.
    pub fn with_passes(self, passes: Passes) -> Self {
        OfflineSpace { passes, ..self }
    }
    /// The kernels that were launched, in the order of their first launch.
    pub fn kernels(&self) -> Vec<Arc<CompiledKernel>> {
        lock(&self.compiled).clone()
    }
}

impl<P: RealElement> Space for OfflineSpace<P> {
    type Memory = HostMemory;

    fn name(&self) -> String {
        format!("CUDA compiler for {}", self.arch)
    }
    fn memory(&self) -> &HostMemory {
        &HostMemory
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
    fn launch_info<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, HostMemory>,
    ) -> Result<LaunchInfo, LaunchError> {
        Ok(self.prepared.get::<K, P, _>(kernel, policy, args)?.info.clone())
    }
    fn launch<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, HostMemory>,
    ) -> Result<(), LaunchError> {
        let prepared = self.prepared.get::<K, P, _>(kernel, policy, &args)?;
        let arguments = Arguments::collect::<K, _>(&args)?;
        arguments.check_aliasing(K::NAME)?;
        check_limits::<K>(&self.name(), &self.limits(), policy, &prepared.info)?;
        let key = (TypeId::of::<K>(), constants_key(kernel, policy));
        if lock(&self.by_key).contains_key(&key) {
            return Ok(());
        }
        let compiled = compile_with(&self.compiler, &self.arch, &prepared.program, self.passes, &self.options)
            .map_err(|error| device_error(&self.name(), K::NAME, &error))?;
        compiled.printed.pack(&arguments, 0)?;
        let compiled = Arc::new(compiled);
        lock(&self.by_key).insert(key, Arc::clone(&compiled));
        lock(&self.compiled).push(compiled);
        Ok(())
    }
    fn fence(&self) -> Result<(), LaunchError> {
        Ok(())
    }
}
