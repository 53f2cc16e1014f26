//! A device as an execution space.

use super::cache::Location;
use super::{ByKey, DeviceCompiler, DeviceKernel, DeviceMemory, DeviceRuntime, ErrorOf, KernelOf, Launch, cache, lock};
use crate::launch::{Arguments, PreparedKernels, check_limits, constants_key};
use crate::print::Passes;
use farro_portability::{
    ArgsOf, ElementKind, Kernel, LaunchError, LaunchInfo, Limits, MemoryError, RealElement, Space, TeamPolicy,
};
use std::any::TypeId;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

/// How a space compiles and shares out ranges; `O` is how the backend's compiler is called.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceOptions<O> {
    /// Where binaries are kept.
    pub cache: cache::Location,
    /// How texts are compiled.
    pub compile: O,
    /// What happens to a program before it is printed.
    pub passes: Passes,
    /// Threads of a team in a range; best a multiple of the hardware's vector length.
    pub range_team: usize,
    /// Indices of a team in a range; best a multiple of `range_team`.
    pub range_chunk: usize,
    /// Most bytes of scratch of level 1 that a team may have.
    pub team_scratch_bytes: usize,
}

impl<O: Default> Default for DeviceOptions<O> {
    fn default() -> Self {
        DeviceOptions {
            cache: Location::Default,
            compile: O::default(),
            passes: Passes::default(),
            range_team: 256,
            range_chunk: 2048,
            team_scratch_bytes: 256 << 20,
        }
    }
}

/// A kernel on the device.
#[derive(Debug)]
pub struct LoadedKernel<R: DeviceRuntime> {
    info: LaunchInfo,
    /// The compiled kernel.
    pub kernel: KernelOf<R>,
    /// The device's handle of it.
    pub function: R::Function,
}

/// A device as an execution space, computing in precision `P`. Storage precision is that of the views.
pub struct DeviceSpace<R: DeviceRuntime, P: RealElement = f64> {
    runtime: Arc<R>,
    memory: DeviceMemory<R>,
    limits: Limits,
    name: String,
    passes: Passes,
    prepared: PreparedKernels,
    loaded: ByKey<LoadedKernel<R>>,
    /// Scratch of level 1 of all teams of a launch; launches of one queue follow each other.
    team_scratch: Mutex<Option<Arc<R::Block>>>,
    precision: PhantomData<fn() -> P>,
}

impl<R: DeviceRuntime, P: RealElement> fmt::Debug for DeviceSpace<R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceSpace").field("name", &self.name).field("limits", &self.limits).finish_non_exhaustive()
    }
}

thread_local! {
    static REHEARSAL: Cell<bool> = const { Cell::new(false) };
}

/// A rehearsal, which ends with the value.
struct Rehearsal {
    before: bool,
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        REHEARSAL.set(self.before);
    }
}

impl<R: DeviceRuntime, P: RealElement> DeviceSpace<R, P> {
    /// A space whose work is queued on this run-time's queue.
    pub fn new(runtime: Arc<R>, passes: Passes) -> Self {
        let bits = if P::KIND == ElementKind::F32 { 32 } else { 64 };
        DeviceSpace {
            memory: DeviceMemory::new(Arc::clone(&runtime)),
            limits: runtime.limits(),
            name: format!("{}, f{bits}", runtime.name()),
            passes,
            runtime,
            prepared: PreparedKernels::default(),
            loaded: Mutex::default(),
            team_scratch: Mutex::default(),
            precision: PhantomData,
        }
    }
    /// The run-time.
    pub fn runtime(&self) -> &Arc<R> {
        &self.runtime
    }
    /// An error of the device in the words of a launch.
    pub fn error(&self, kernel: &str, error: &ErrorOf<R>) -> LaunchError {
        R::Compiler::launch_error(&self.name, kernel, error)
    }
    /// Scratch of level 1, if a launch has needed some.
    pub fn team_scratch(&self) -> Option<Arc<R::Block>> {
        lock(&self.team_scratch).clone()
    }
    /// Runs the closure so that launches of this thread are compiled and their scratch reserved, but not queued.
    ///
    /// # Errors
    /// Those of the closure.
    pub fn rehearse<T>(&self, run: impl FnOnce() -> Result<T, LaunchError>) -> Result<T, LaunchError> {
        let _rehearsal = Rehearsal { before: REHEARSAL.replace(true) };
        run()
    }

    /// The kernel on the device; traced, printed, compiled and loaded at the first call only.
    ///
    /// # Errors
    /// When the kernel uses the language wrongly, exceeds limits, or does not compile.
    pub fn load<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, DeviceMemory<R>>,
    ) -> Result<Arc<LoadedKernel<R>>, LaunchError> {
        let key = (TypeId::of::<K>(), constants_key(kernel, policy));
        if let Some(loaded) = lock(&self.loaded).get(&key) {
            return Ok(Arc::clone(loaded));
        }
        let prepared = self.prepared.get::<K, P, _>(kernel, policy, args)?;
        // Before the compiler fails for a reason that is harder to understand.
        check_limits::<K>(&self.name, &self.limits, policy, &prepared.info)?;
        let load = || -> Result<LoadedKernel<R>, ErrorOf<R>> {
            let kernel = self.runtime.compiler().compile(&prepared.program, self.passes)?;
            let function = self.runtime.load(&kernel)?;
            Ok(LoadedKernel { info: prepared.info.clone(), kernel, function })
        };
        let loaded = Arc::new(load().map_err(|error| self.error(K::NAME, &error))?);
        Ok(Arc::clone(lock(&self.loaded).entry(key).or_insert(loaded)))
    }

    /// The scratch of level 1 for all teams. It must be held until the launch is queued: freeing it waits for the
    /// device, but another thread may ask for more and let go of it.
    fn reserve_team_scratch(
        &self,
        kernel: &str,
        teams: usize,
        bytes: usize,
    ) -> Result<Option<Arc<R::Block>>, LaunchError> {
        if bytes == 0 {
            return Ok(None);
        }
        let label = format!("team scratch of kernel `{kernel}`");
        let too_large = || MemoryError::TooLarge { label: label.clone(), extents: vec![teams, bytes] };
        let total = teams.checked_mul(bytes).ok_or_else(too_large)? as u64;
        let mut scratch = lock(&self.team_scratch);
        if let Some(block) = scratch.as_ref().filter(|block| R::len(block) >= total) {
            return Ok(Some(Arc::clone(block)));
        }
        // The old block first: both might not fit.
        *scratch = None;
        let block = self.runtime.allocate(total).map_err(|error| match R::exhausted(&error) {
            Some(free) => LaunchError::Memory(MemoryError::Exhausted {
                label: label.clone(),
                space: self.name.clone(),
                asked: total as usize,
                available: usize::try_from(free).ok(),
            }),
            None => self.error(kernel, &error),
        })?;
        Ok(Some(Arc::clone(scratch.insert(Arc::new(block)))))
    }
}

impl<R: DeviceRuntime, P: RealElement> Space for DeviceSpace<R, P> {
    type Memory = DeviceMemory<R>;

    fn name(&self) -> String {
        self.name.clone()
    }
    fn memory(&self) -> &DeviceMemory<R> {
        &self.memory
    }
    fn limits(&self) -> Limits {
        self.limits.clone()
    }
    fn launch_info<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, DeviceMemory<R>>,
    ) -> Result<LaunchInfo, LaunchError> {
        Ok(self.prepared.get::<K, P, _>(kernel, policy, args)?.info.clone())
    }
    fn launch<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, DeviceMemory<R>>,
    ) -> Result<(), LaunchError> {
        let loaded = self.load(kernel, policy, &args)?;
        let arguments = Arguments::collect::<K, _>(&args)?;
        arguments.check_aliasing(K::NAME)?;
        check_limits::<K>(&self.name, &self.limits, policy, &loaded.info)?;
        let printed = loaded.kernel.printed();
        let scratch = self.reserve_team_scratch(K::NAME, policy.league_size(), printed.scratch_bytes[1])?;
        let packed = printed.pack(&arguments, scratch.as_ref().map_or(0, |block| R::address(block)))?;
        if policy.league_size() == 0 || REHEARSAL.get() {
            return Ok(());
        }
        let launch = Launch {
            teams: policy.league_size(),
            work_items: policy.work_items(),
            scratch_bytes: printed.scratch_bytes[0],
            values: packed.as_slice(),
        };
        // SAFETY: the values are packed by the printed signature; views are borrowed from blocks of this memory, which
        // are freed in queue order or after the device has finished. What the kernel does inside them is the kernel's
        // responsibility; the checked target proves it.
        unsafe { self.runtime.launch(&loaded.function, launch) }.map_err(|error| self.error(K::NAME, &error))
    }
    fn fence(&self) -> Result<(), LaunchError> {
        self.runtime.synchronize().map_err(|error| self.error("earlier launches", &error))
    }
}
