//! Where a command runs: the one place that names backends.
//!
//! A [`Job`] is generic over space, storage and layout; [`run`] opens the space that a [`Target`] names and hands it
//! over. A new backend is one more arm here.

use super::error::CliError;
use super::options::{LayoutChoice, Precision};
use clap::ValueEnum;
use farro_backends::checked::{CheckedSpace, DeviceModel};
use farro_backends::count::{CountSpace, Counts};
use farro_backends::host::{HostPrecision, HostSpace, InstructionSet, OneLane};
use farro_cuda::{CudaSpace, Device};
use farro_fem::viscous::{FieldLayout, LateralFastest, RadiusFastest};
use farro_portability::{Element, RealElement, Space};

/// The names of backends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Backend {
    /// All threads and the best instruction set of this machine.
    Host,
    /// The host with one lane: what SIMD gains (f64 only).
    OneLane,
    /// The sanitizer: slow, finds races, bounds, uninitialised reads.
    Checked,
    /// Exact counts of operations, bytes and atomics: slow.
    Count,
    /// An NVIDIA GPU, through the driver and NVRTC.
    Cuda,
}

impl Backend {
    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Host => "host",
            Backend::OneLane => "one-lane",
            Backend::Checked => "checked",
            Backend::Count => "count",
            Backend::Cuda => "cuda",
        }
    }
    /// Whether kernels are interpreted, which is thousands of times slower than running them.
    pub fn interprets(self) -> bool {
        matches!(self, Backend::Checked | Backend::Count)
    }
}

/// A backend with what there is to choose about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The backend.
    pub backend: Backend,
    /// Threads of the host; none: all processors.
    pub threads: Option<usize>,
    /// Instruction set of the host; none: the best.
    pub instructions: Option<InstructionSet>,
    /// The device whose limits the checked backend imitates.
    pub imitate: Option<DeviceModel>,
    /// Number of the device.
    pub device: usize,
}

impl Target {
    /// A backend with all defaults.
    pub fn new(backend: Backend) -> Self {
        Target { backend, threads: None, instructions: None, imitate: None, device: 0 }
    }
    /// Threads of the host.
    pub fn host_threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
    fn set(&self) -> InstructionSet {
        let best = || InstructionSet::available().pop().unwrap_or(InstructionSet::Portable);
        self.instructions.unwrap_or_else(best)
    }
}

/// The targets that this machine can run at full speed.
pub fn fast_targets() -> Vec<Target> {
    let mut targets = vec![Target::new(Backend::Host)];
    for device in 0..Device::list().map_or(0, |devices| devices.len()) {
        let cuda = Target { device, ..Target::new(Backend::Cuda) };
        if CudaSpace::<f64>::new(device).is_ok() {
            targets.push(cuda);
        }
    }
    targets
}

/// What a space has counted.
pub trait Counted {
    /// The counts since the last call, where the space counts.
    fn take_counts(&self) -> Option<Counts> {
        None
    }
}
impl<P: HostPrecision> Counted for HostSpace<P> {}
impl<P: RealElement> Counted for CheckedSpace<P> {}
impl<P: RealElement> Counted for CudaSpace<P> {}
impl<P: RealElement> Counted for CountSpace<P> {
    fn take_counts(&self) -> Option<Counts> {
        Some(self.reset())
    }
}

/// Work on a space with fields stored as `E` in layout `L`.
pub trait Job {
    /// What comes of it.
    type Output;
    /// Does the work.
    ///
    /// # Errors
    /// When the work cannot be done.
    fn run<S: Space + Counted, E: RealElement, L: FieldLayout>(&self, space: &S) -> Result<Self::Output, CliError>;
}

/// Opens the space of a target and runs a job on it.
///
/// # Errors
/// When the space cannot be opened, and what the job reports.
pub fn run<J: Job>(
    target: &Target,
    precision: Precision,
    layout: LayoutChoice,
    job: &J,
) -> Result<J::Output, CliError> {
    match precision {
        Precision::F64 => open::<f64, f64, J>(target, layout, job),
        Precision::F32 => open::<f32, f32, J>(target, layout, job),
        Precision::Mixed => open::<f64, f32, J>(target, layout, job),
    }
}

/// `P` computes, `E` is stored.
fn open<P, E, J>(target: &Target, layout: LayoutChoice, job: &J) -> Result<J::Output, CliError>
where
    P: RealElement + HostPrecision,
    E: RealElement,
    J: Job,
{
    match target.backend {
        Backend::Host => in_layout::<_, E, J>(&HostSpace::<P>::with(target.host_threads(), target.set())?, layout, job),
        Backend::OneLane => {
            // Only a measure of what lanes gain, so it is not made for every precision.
            if P::KIND != f64::KIND || E::KIND != f64::KIND {
                return Err(CliError::Usage("backend one-lane computes in f64 only; use --precision f64".into()));
            }
            let space = HostSpace::<OneLane>::with(target.host_threads(), InstructionSet::Portable)?;
            in_layout::<_, f64, J>(&space, layout, job)
        }
        Backend::Checked => {
            let space = target.imitate.map_or_else(CheckedSpace::<P>::new, CheckedSpace::imitating);
            in_layout::<_, E, J>(&space, layout, job)
        }
        Backend::Count => in_layout::<_, E, J>(&CountSpace::<P>::new(), layout, job),
        Backend::Cuda => {
            let missing =
                |error: farro_cuda::CudaError| CliError::Backend { backend: "cuda", reason: error.to_string() };
            in_layout::<_, E, J>(&CudaSpace::<P>::new(target.device).map_err(missing)?, layout, job)
        }
    }
}

fn in_layout<S, E, J>(space: &S, layout: LayoutChoice, job: &J) -> Result<J::Output, CliError>
where
    S: Space + Counted,
    E: RealElement,
    J: Job,
{
    match layout {
        LayoutChoice::R => job.run::<S, E, RadiusFastest>(space),
        LayoutChoice::X => job.run::<S, E, LateralFastest>(space),
    }
}
