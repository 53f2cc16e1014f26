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
use farro_emulated::EmulatedSpace;
use farro_fem::viscous::{FieldLayout, LateralFastest, RadiusFastest};
use farro_hip::HipSpace;
use farro_portability::{RealElement, Space};
use farro_sycl::SyclSpace;
use std::marker::PhantomData;

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
    /// An AMD GPU, through ROCm.
    Hip,
    /// A device of the SYCL run-time.
    Sycl,
    /// A device of OpenCL, without SYCL.
    Opencl,
    /// Printed HIP text as C++ of the host: slow, checks the text.
    HipText,
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
            Backend::Hip => "hip",
            Backend::Sycl => "sycl",
            Backend::Opencl => "opencl",
            Backend::HipText => "hip-text",
        }
    }
    /// Whether kernels are interpreted, which is thousands of times slower than running them.
    pub fn interprets(self) -> bool {
        matches!(self, Backend::Checked | Backend::Count | Backend::HipText)
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
        self.instructions.unwrap_or_else(InstructionSet::best)
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
impl<P: RealElement> Counted for HipSpace<P> {}
impl<P: RealElement> Counted for SyclSpace<P> {}
impl<P: RealElement> Counted for EmulatedSpace<P> {}
impl<P: RealElement> Counted for CountSpace<P> {
    fn take_counts(&self) -> Option<Counts> {
        Some(self.reset())
    }
}

/// Work on a space.
pub trait SpaceJob {
    /// What comes of it.
    type Output;
    /// Whether the work is worth doing with one lane; compiled for it only then.
    const ONE_LANE: bool = false;
    /// Does the work.
    ///
    /// # Errors
    /// When the work cannot be done.
    fn run<S: Space + Counted>(&self, space: &S) -> Result<Self::Output, CliError>;
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

/// A [`Job`] with its layout and storage type chosen.
struct WithFields<'a, J, E> {
    job: &'a J,
    layout: LayoutChoice,
    stored: PhantomData<E>,
}

impl<J: Job, E: RealElement> SpaceJob for WithFields<'_, J, E> {
    type Output = J::Output;
    // A measure of what lanes gain, not made for every precision.
    const ONE_LANE: bool = size_of::<E>() == 8;

    fn run<S: Space + Counted>(&self, space: &S) -> Result<J::Output, CliError> {
        match self.layout {
            LayoutChoice::X => self.job.run::<S, E, LateralFastest>(space),
            // A constant: what this binary leaves to the other one is not compiled for it.
            LayoutChoice::R if crate::FULL => self.job.run::<S, E, RadiusFastest>(space),
            LayoutChoice::R => Err(CliError::Elsewhere),
        }
    }
}

/// Opens the space of a target and runs a job on it, with fields of a precision and layout.
///
/// # Errors
/// When the space cannot be opened, and what the job reports.
pub fn run<J: Job>(
    target: &Target,
    precision: Precision,
    layout: LayoutChoice,
    job: &J,
) -> Result<J::Output, CliError> {
    let stored = PhantomData::<f32>;
    match precision {
        Precision::F64 => run_on::<f64, _>(target, &WithFields { job, layout, stored: PhantomData::<f64> }),
        Precision::F32 if crate::FULL => run_on::<f32, _>(target, &WithFields { job, layout, stored }),
        Precision::Mixed if crate::FULL => run_on::<f64, _>(target, &WithFields { job, layout, stored }),
        _ => Err(CliError::Elsewhere),
    }
}

/// Opens the space of a target, computing in `P`, and runs a job on it.
///
/// # Errors
/// When the space cannot be opened, and what the job reports.
pub fn run_on<P, J>(target: &Target, job: &J) -> Result<J::Output, CliError>
where
    P: RealElement + HostPrecision,
    J: SpaceJob,
{
    match target.backend {
        // What the main job needs; the rest is compiled into the full program only.
        Backend::Host => job.run(&HostSpace::<P>::with(target.host_threads(), target.set())?),
        Backend::Checked => job.run(&target.imitate.map_or_else(CheckedSpace::<P>::new, CheckedSpace::imitating)),
        Backend::Count => job.run(&CountSpace::<P>::new()),
        Backend::Cuda => job.run(&CudaSpace::<P>::new(target.device).map_err(missing("cuda"))?),
        _ => elsewhere::<P, J>(target, job),
    }
}

/// The backends of the full program.
fn elsewhere<P, J>(target: &Target, job: &J) -> Result<J::Output, CliError>
where
    P: RealElement + HostPrecision,
    J: SpaceJob,
{
    if !crate::FULL {
        return Err(CliError::Elsewhere);
    }
    match target.backend {
        Backend::OneLane if J::ONE_LANE => {
            job.run(&HostSpace::<OneLane>::with(target.host_threads(), InstructionSet::Portable)?)
        }
        Backend::OneLane => {
            Err(CliError::Usage("backend one-lane is there for applies in f64 only; use --backend host".into()))
        }
        Backend::Hip => job.run(&HipSpace::<P>::new(target.device).map_err(missing("hip"))?),
        Backend::Sycl => job.run(&SyclSpace::<P>::new(target.device).map_err(missing("sycl"))?),
        Backend::Opencl => job.run(&SyclSpace::<P>::opencl(target.device).map_err(missing("opencl"))?),
        Backend::HipText => job.run(&EmulatedSpace::<P>::new().map_err(missing("hip-text"))?),
        Backend::Host | Backend::Checked | Backend::Count | Backend::Cuda => run_on::<P, J>(target, job),
    }
}

/// The error of a backend that this machine lacks.
fn missing<E: std::fmt::Display>(backend: &'static str) -> impl Fn(E) -> CliError {
    move |error| CliError::Backend { backend, reason: error.to_string() }
}
