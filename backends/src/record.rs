//! The recording space: kernels are traced and kept, nothing runs. What a kernel would be on a device is then a matter of
//! printing and compiling, which needs no device.

use crate::launch::{Arguments, Prepared, PreparedKernels, check_limits};
use farro_portability::{ArgsOf, HostMemory, Kernel, LaunchError, LaunchInfo, Limits, RealElement, Space, TeamPolicy};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A launch that was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The traced kernel.
    pub prepared: Arc<Prepared>,
    /// The policy of the launch.
    pub policy: TeamPolicy,
}

/// Traces what is launched, with arithmetic in precision `P`, and runs nothing. Views live in host memory.
///
/// ```
/// use farro_backends::print::{Dialect, print};
/// use farro_backends::record::RecordSpace;
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
/// let space: RecordSpace = RecordSpace::new();
/// let mut y = View::<f64, 1>::new(&HostMemory, "y", [1000])?;
/// space.parallel_for(RangePolicy::new(1000), &Fill, FillArgs { y: y.write() })?;
/// let recorded = space.take();
/// assert_eq!(print(&recorded[0].prepared.program, Dialect::Hip).entry, "farro_fill");
/// assert_eq!(y.get([0]), 0.0);
/// # Ok::<(), LaunchError>(())
/// ```
pub struct RecordSpace<P: RealElement = f64> {
    limits: Limits,
    prepared: PreparedKernels,
    recorded: Mutex<Vec<Recorded>>,
    precision: PhantomData<fn() -> P>,
}

impl<P: RealElement> RecordSpace<P> {
    /// A space with the limits and habits of current devices: 32 lanes, ranges in chunks of 2048 for 256 threads.
    pub fn new() -> Self {
        Self::with(Limits {
            max_team: 1024,
            max_league: i32::MAX as usize,
            scratch_bytes: [227 << 10, 256 << 20],
            vector_lengths: &[1, 2, 4, 8, 16, 32],
            best_vector_length: 32,
            range_chunk: 2048,
            range_team: 256,
            concurrency: 1,
        })
    }
    /// A space with limits of one's own.
    pub fn with(limits: Limits) -> Self {
        RecordSpace { limits, prepared: PreparedKernels::default(), recorded: Mutex::default(), precision: PhantomData }
    }
    fn recorded(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// What was launched since the last call, in order.
    pub fn take(&self) -> Vec<Recorded> {
        std::mem::take(&mut *self.recorded())
    }
}

impl<P: RealElement> Default for RecordSpace<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: RealElement> Space for RecordSpace<P> {
    type Memory = HostMemory;

    fn name(&self) -> String {
        "recorder".into()
    }
    fn memory(&self) -> &HostMemory {
        &HostMemory
    }
    fn limits(&self) -> Limits {
        self.limits.clone()
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
        Arguments::collect::<K, _>(&args)?.check_aliasing(K::NAME)?;
        check_limits::<K>(&self.name(), &self.limits, policy, &prepared.info)?;
        self.recorded().push(Recorded { prepared, policy: *policy });
        Ok(())
    }
    fn fence(&self) -> Result<(), LaunchError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use farro_portability::prelude::*;

    kernel_args! { struct OnesArgs { y: View<f64, 1, LayoutRight, ReadWrite> } }
    #[derive(Clone, Hash)]
    struct Ones;
    impl RangeKernel for Ones {
        type Args = OnesArgs<Declared>;
        const NAME: &'static str = "ones";
        fn run<T: Target>(&self, t: T, i: T::Int, args: &OnesArgs<T>) {
            args.y.set([i], t.real(1.0));
        }
    }

    #[test]
    fn launches_are_kept_in_order_and_refused_like_elsewhere() {
        let space: RecordSpace<f32> = RecordSpace::new();
        let mut y = View::<f64, 1>::new(&HostMemory, "y", [10]).unwrap();
        for n in [10, 5000] {
            space.parallel_for(RangePolicy::new(n), &Ones, OnesArgs { y: y.write() }).unwrap();
        }
        let recorded = space.take();
        assert_eq!(recorded.iter().map(|r| r.policy.league_size()).collect::<Vec<_>>(), [1, 3]);
        assert!(Arc::ptr_eq(&recorded[0].prepared, &recorded[1].prepared), "one kernel, traced once");
        assert_eq!(recorded[0].prepared.program.real, crate::trace::ir::Type::F32);
        assert!(space.take().is_empty() && y.as_slice().iter().all(|value| *value == 0.0));
        let small = RecordSpace::<f64>::with(Limits { max_team: 8, ..space.limits() });
        let refused = small.parallel_for(RangePolicy::new(10), &Ones, OnesArgs { y: y.write() });
        assert!(matches!(refused, Err(LaunchError::TeamTooLarge { asked: 256, allowed: 8, .. })), "{refused:?}");
    }
}
