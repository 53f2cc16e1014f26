//! An execution space that compiles and does not run: what a kernel costs on an architecture that is not there.

use super::{ByKey, DeviceCompiler, DeviceKernel, lock};
use crate::launch::{Arguments, PreparedKernels, check_limits, constants_key};
use crate::print::Passes;
use farro_portability::{ArgsOf, HostMemory, Kernel, LaunchError, LaunchInfo, Limits, RealElement, Space, TeamPolicy};
use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

/// Compiles what is launched, in precision `P`, and runs nothing. Views live in host memory.
pub struct CompileSpace<C: DeviceCompiler, P: RealElement = f64> {
    compiler: C,
    passes: Passes,
    prepared: PreparedKernels,
    compiled: Mutex<Vec<Arc<C::Kernel>>>,
    by_key: ByKey<C::Kernel>,
    precision: PhantomData<fn() -> P>,
}

impl<C: DeviceCompiler, P: RealElement> CompileSpace<C, P> {
    /// A space that compiles with this compiler.
    pub fn new(compiler: C) -> Self {
        CompileSpace {
            compiler,
            passes: Passes::default(),
            prepared: PreparedKernels::default(),
            compiled: Mutex::default(),
            by_key: Mutex::default(),
            precision: PhantomData,
        }
    }
    /// The same with other passes before printing.
    pub fn with_passes(self, passes: Passes) -> Self {
        CompileSpace { passes, ..self }
    }
    /// The compiler.
    pub fn compiler(&self) -> &C {
        &self.compiler
    }
    /// The kernels that were launched, in the order of their first launch.
    pub fn kernels(&self) -> Vec<Arc<C::Kernel>> {
        lock(&self.compiled).clone()
    }
}

impl<C: DeviceCompiler, P: RealElement> Space for CompileSpace<C, P> {
    type Memory = HostMemory;

    fn name(&self) -> String {
        self.compiler.name()
    }
    fn memory(&self) -> &HostMemory {
        &HostMemory
    }
    fn limits(&self) -> Limits {
        self.compiler.limits()
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
        let compiled = self.compiler.compile(&prepared.program, self.passes);
        let compiled = compiled.map_err(|error| C::launch_error(&self.name(), K::NAME, &error))?;
        compiled.printed().pack(&arguments, 0)?;
        let compiled = Arc::new(compiled);
        lock(&self.by_key).insert(key, Arc::clone(&compiled));
        lock(&self.compiled).push(compiled);
        Ok(())
    }
    fn fence(&self) -> Result<(), LaunchError> {
        Ok(())
    }
}
