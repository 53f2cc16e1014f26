//! The host as an execution space.

use super::access::HostBlock;
use super::index::Index;
use super::pack::{Pack, Precision, Set};
use super::{Host, SLOT_BYTES, TeamState};
use crate::launch::{Arguments, Prepared, PreparedKernels};
use farro_portability::{
    Access, ArgSet, ArgsOf, Binder, Borrowed, Element, HostMemory, Kernel, KernelView, LaunchError, LaunchInfo, Layout,
    Limits, Real as _, Space, TeamPolicy, ViewHandle,
};
use pulp::{Scalar, Simd, WithSimd};
use rayon::prelude::*;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which instructions a [`HostSpace`] uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionSet {
    /// What every machine of this architecture has; packs of 32 bytes. On x86-64 it is compiled only with the feature
    /// `portable`, because nearly all such machines have better ones and kernels take long to compile.
    Portable,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512. Compiled only with the feature `avx512`, which is on by default.
    Avx512,
}

/// Whether kernels are compiled for [`InstructionSet::Portable`].
const HAS_PORTABLE: bool = cfg!(any(feature = "portable", not(target_arch = "x86_64")));

impl InstructionSet {
    /// All of them.
    pub const ALL: [InstructionSet; 3] = [InstructionSet::Portable, InstructionSet::Avx2, InstructionSet::Avx512];

    /// The instruction sets of this machine for which kernels are compiled, best last; none on an x86-64 processor
    /// without AVX2 unless the feature `portable` is set.
    pub fn available() -> Vec<InstructionSet> {
        let mut sets = Vec::new();
        if HAS_PORTABLE {
            sets.push(InstructionSet::Portable);
        }
        #[cfg(target_arch = "x86_64")]
        {
            if pulp::x86::V3::try_new().is_some() {
                sets.push(InstructionSet::Avx2);
            }
            if cfg!(feature = "avx512") && pulp::x86::V4::try_new().is_some() {
                sets.push(InstructionSet::Avx512);
            }
        }
        sets
    }
    /// The best one of this machine; where there is none, [`InstructionSet::Portable`], which a space then refuses.
    pub fn best() -> InstructionSet {
        Self::available().pop().unwrap_or(InstructionSet::Portable)
    }
    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::Portable => "portable",
            InstructionSet::Avx2 => "AVX2",
            InstructionSet::Avx512 => "AVX-512",
        }
    }
    fn register_bytes(self) -> usize {
        match self {
            InstructionSet::Portable | InstructionSet::Avx2 => 32,
            InstructionSet::Avx512 => 64,
        }
    }
}

/// How the host computes: in `f64` or `f32` on the best instruction set, or in [`OneLane`].
pub trait HostPrecision: Send + Sync + 'static {
    /// The type in which reals compute.
    type Storage: farro_portability::RealElement;
    /// The instruction sets that this machine has for it.
    fn sets() -> Vec<InstructionSet> {
        InstructionSet::available()
    }
    /// Lanes of a pack.
    fn lanes(set: InstructionSet) -> usize;
    /// Runs the teams `ranks` of a launch.
    #[doc(hidden)]
    fn run<K: Kernel>(set: InstructionSet, job: TeamJob<'_, '_, K>);
}

macro_rules! host_precision {
    ($($scalar:ty),*) => {$(
        impl HostPrecision for $scalar {
            type Storage = $scalar;
            fn lanes(set: InstructionSet) -> usize {
                set.register_bytes() / size_of::<$scalar>()
            }
            #[inline]
            fn run<K: Kernel>(set: InstructionSet, job: TeamJob<'_, '_, K>) {
                match set {
                    #[cfg(target_arch = "x86_64")]
                    InstructionSet::Avx2 => vectorize::<_, $scalar, K>(pulp::x86::V3::try_new(), job),
                    #[cfg(all(feature = "avx512", target_arch = "x86_64"))]
                    InstructionSet::Avx512 => vectorize::<_, $scalar, K>(pulp::x86::V4::try_new(), job),
                    #[cfg(any(feature = "portable", not(target_arch = "x86_64")))]
                    InstructionSet::Portable => vectorize::<_, $scalar, K>(Some(pulp::Scalar256b), job),
                    // Not compiled, so no space has it.
                    #[allow(unreachable_patterns)]
                    _ => {}
                }
            }
        }
    )*};
}
host_precision!(f64, f32);

#[inline]
fn vectorize<S: Set, P: Precision<S>, K: Kernel>(simd: Option<S>, job: TeamJob<'_, '_, K>) {
    // The set was found when the space was made.
    if let Some(simd) = simd {
        Simd::vectorize(simd, InTypes { job, marker: PhantomData::<(S, P)> });
    }
}

/// `f64` with one lane, whatever the machine has: the measure of what lanes gain.
#[derive(Clone, Copy, Debug)]
pub enum OneLane {}

impl HostPrecision for OneLane {
    type Storage = f64;
    fn sets() -> Vec<InstructionSet> {
        vec![InstructionSet::Portable]
    }
    fn lanes(_set: InstructionSet) -> usize {
        1
    }
    #[inline]
    fn run<K: Kernel>(_set: InstructionSet, job: TeamJob<'_, '_, K>) {
        vectorize::<_, f64, K>(Some(Scalar), job);
    }
}

/// A team with its instruction set `S` and precision `P`.
struct InTypes<'a, 'v, K: Kernel, M> {
    job: TeamJob<'a, 'v, K>,
    marker: PhantomData<M>,
}

impl<S: Set, P: Precision<S>, K: Kernel> WithSimd for InTypes<'_, '_, K, (S, P)> {
    type Output = ();
    #[inline(always)]
    fn with_simd<Same: Simd>(self, _simd: Same) {
        run_team::<S, P, K>(self.job);
    }
}

/// One team of a launch.
#[doc(hidden)]
pub struct TeamJob<'a, 'v, K: Kernel> {
    kernel: &'a K,
    args: &'a ArgsOf<'v, K, HostMemory>,
    policy: &'a TeamPolicy,
    info: &'a LaunchInfo,
    rank: usize,
    exclusive: bool,
}

/// Memory of the teams of one thread, kept between launches so that an apply allocates nothing.
#[derive(Default)]
struct Arena {
    bytes: Vec<[u64; 8]>,
}

impl Arena {
    fn reserve(&mut self, bytes: usize) -> *mut u8 {
        let lines = bytes.div_ceil(size_of::<[u64; 8]>());
        // One line more than asked, so that the start can be aligned.
        if self.bytes.len() < lines + 1 {
            self.bytes = vec![[0; 8]; lines + 1];
        }
        let start = self.bytes.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.align_offset(SLOT_BYTES))
    }
}

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::default();
}

#[inline(always)]
fn run_team<S: Set, P: Precision<S>, K: Kernel>(job: TeamJob<'_, '_, K>) {
    let (team_size, vector_length) = (job.policy.team_size(), job.policy.vector_length());
    let packs = team_size * vector_length.div_ceil(P::LANES);
    let private_bytes = packs * job.info.private_slots * SLOT_BYTES;
    let level_bytes = job.info.scratch_bytes.map(|bytes| bytes.next_multiple_of(SLOT_BYTES));
    // The kernel runs outside the closure, which would not inline into the vectorized function. The memory stays valid:
    // only the next team of this thread reserves again.
    let base = ARENA.with_borrow_mut(|arena| arena.reserve(private_bytes + level_bytes[0] + level_bytes[1]));
    let level_0 = base.wrapping_add(private_bytes);
    let state = TeamState {
        league_rank: job.rank,
        league_size: job.policy.league_size(),
        team_size,
        vector_length,
        exclusive: job.exclusive,
        active: Cell::new(1),
        private_base: base,
        private_slots: job.info.private_slots,
        private_used: Cell::new(0),
        private_pack: Cell::new(base),
        scratch: [level_0, level_0.wrapping_add(level_bytes[0])],
        scratch_used: [Cell::new(0), Cell::new(0)],
    };
    super::index::release_pool();
    let host = Host::<S, P> { state: &state, marker: PhantomData };
    let args = <K::Args as ArgSet>::rebind(job.args, &mut IntoKernel { host });
    job.kernel.run(host, &args);
}

/// Host numbers as uniform integers.
#[inline(always)]
fn indices<S: Set, P: Precision<S>, const R: usize>(values: [usize; R]) -> [Index<S, P>; R] {
    let mut indices = [Index::uniform(0); R];
    for (index, value) in indices.iter_mut().zip(values) {
        *index = Index::from(value);
    }
    indices
}

struct IntoKernel<'c, S: Set, P: Precision<S>> {
    host: Host<'c, S, P>,
}

impl<'a, 'c, S: Set, P: Precision<S>> Binder<Borrowed<'a, HostMemory>, Host<'c, S, P>> for IntoKernel<'c, S, P> {
    #[inline(always)]
    fn real(&mut self, _name: &'static str, value: &f64) -> Pack<S, P> {
        Pack::lit(*value)
    }
    #[inline(always)]
    fn int(&mut self, _name: &'static str, value: &i64) -> Index<S, P> {
        Index::uniform(*value)
    }
    #[inline(always)]
    fn view<E: Element, const R: usize, L: Layout, A: Access>(
        &mut self,
        _name: &'static str,
        view: &ViewHandle<'a, E, R, L, HostMemory, A>,
    ) -> KernelView<Host<'c, S, P>, E, R, L, A> {
        let block = HostBlock::shared(view.pointer().cast());
        KernelView::from_parts(self.host, block, indices(view.extents()), indices(view.strides()))
    }
}

/// Stack of a thread. Without optimization, the values of all inlined parts of a kernel lie there side by side.
const STACK_BYTES: usize = 64 << 20;

/// The host: a pool of threads and an instruction set, computing in precision `P`.
///
/// Storage precision is that of the views, so `HostSpace<f64>` with views of `f32` loads 32 bits and computes with 64.
pub struct HostSpace<P: HostPrecision = f64> {
    pool: rayon::ThreadPool,
    /// The name, made once: launches have it at hand without allocating.
    name: String,
    threads: usize,
    set: InstructionSet,
    prepared: PreparedKernels,
    marker: PhantomData<P>,
}

impl<P: HostPrecision> HostSpace<P> {
    /// All processors and the best instruction set.
    ///
    /// # Errors
    /// When the pool of threads cannot be started.
    pub fn new() -> Result<Self, LaunchError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with(threads, P::sets().pop().unwrap_or(InstructionSet::Portable))
    }
    /// The given number of threads and instruction set.
    ///
    /// # Errors
    /// When the machine lacks the instruction set, `threads` is 0 or above 4096, or the pool cannot be started.
    pub fn with(threads: usize, set: InstructionSet) -> Result<Self, LaunchError> {
        let refuse = |message: String| LaunchError::Device { kernel: "none".into(), space: "host".into(), message };
        let available = P::sets();
        if available.is_empty() {
            return Err(refuse("this processor has no AVX2; build with `--features farro-backends/portable`".into()));
        }
        if !available.contains(&set) {
            let names: Vec<_> = available.iter().map(|set| set.name()).collect();
            return Err(refuse(format!("kernels cannot run on {}, but on {}", set.name(), names.join(", "))));
        }
        if !(1..=4096).contains(&threads) {
            return Err(refuse(format!("{threads} threads were asked for; 1 to 4096 are possible")));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
        let pool = pool.map_err(|e| refuse(e.to_string()))?;
        let (bits, lanes) = (8 * size_of::<P::Storage>(), P::lanes(set));
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let (s, lane_s) = (plural(threads), plural(lanes));
        let name = format!("host ({threads} thread{s}, {}, {lanes} lane{lane_s} of f{bits})", set.name());
        Ok(HostSpace { pool, name, threads, set, prepared: PreparedKernels::default(), marker: PhantomData })
    }
    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }
    /// The instruction set.
    pub fn instruction_set(&self) -> InstructionSet {
        self.set
    }
    /// Lanes of a pack.
    pub fn lanes(&self) -> usize {
        P::lanes(self.set)
    }
    /// Runs `f` on a thread of the pool, so that launches inside it need no hand-over.
    pub fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.pool.install(f)
    }
}

/// Shares the arguments of one launch between the threads of the pool.
struct Shared<'a, A>(&'a A);
// SAFETY: arguments are numbers and view handles, which are Sync.
unsafe impl<A> Sync for Shared<'_, A> {}

impl<'a, A> Shared<'a, A> {
    fn get(&self) -> &'a A {
        self.0
    }
}

impl<P: HostPrecision> Space for HostSpace<P> {
    type Memory = HostMemory;

    fn name(&self) -> String {
        self.name.clone()
    }
    fn memory(&self) -> &HostMemory {
        &HostMemory
    }
    fn limits(&self) -> Limits {
        let lanes = self.lanes();
        Limits {
            max_team: 1 << 16,
            max_league: i64::MAX as usize,
            scratch_bytes: [64 << 20, 1 << 30],
            vector_lengths: Limits::powers_of_two(lanes),
            best_vector_length: lanes,
            range_chunk: 4096,
            range_team: 1,
            concurrency: self.threads,
        }
    }
    fn launch_info<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, HostMemory>,
    ) -> Result<LaunchInfo, LaunchError> {
        Ok(self.prepared.get::<K, P::Storage, _>(kernel, policy, args)?.info.clone())
    }
    fn launch<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, HostMemory>,
    ) -> Result<(), LaunchError> {
        let prepared = self.prepared.get::<K, P::Storage, _>(kernel, policy, &args)?;
        let Prepared { info, .. } = &*prepared;
        Arguments::collect::<K, _>(&args)?.check_aliasing(K::NAME)?;
        crate::launch::check_limits::<K>(&self.name, &self.limits(), policy, info)?;
        let exclusive = self.threads == 1;
        let shared = Shared(&args);
        let team = |rank: usize| {
            P::run(self.set, TeamJob { kernel, args: shared.get(), policy, info, rank, exclusive });
        };
        let run = || {
            if exclusive {
                (0..policy.league_size()).for_each(team);
            } else {
                self.pool.install(|| (0..policy.league_size()).into_par_iter().for_each(team));
            }
        };
        catch_unwind(AssertUnwindSafe(run)).map_err(|payload| LaunchError::Kernel {
            kernel: K::NAME.into(),
            site: None,
            message: crate::launch::panic_message(&*payload),
        })
    }
    fn check<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, HostMemory>,
    ) -> Result<(), LaunchError> {
        let prepared = self.prepared.get::<K, P::Storage, _>(kernel, policy, args)?;
        crate::launch::check_limits::<K>(&self.name, &self.limits(), policy, &prepared.info)
    }
    fn fence(&self) -> Result<(), LaunchError> {
        Ok(())
    }
}
