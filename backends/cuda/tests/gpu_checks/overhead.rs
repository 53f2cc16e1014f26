//! What a launch costs on the host, next to the driver's own function.

use super::{Outcome, Setup, TEXT, text};
use cudarc::driver::sys;
use farro_cuda::cache::{Cache, Location};
use farro_cuda::{Compiler, Options, Param};
use std::time::Instant;

const LAUNCHES: u32 = 400;
const ROUNDS: u32 = 25;

/// Microseconds per launch on the host, the best of some rounds; the queue is emptied in between, so that it never
/// fills up.
fn microseconds(
    mut launch: impl FnMut() -> Result<(), String>,
    mut wait: impl FnMut() -> Result<(), String>,
) -> Result<f64, String> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..LAUNCHES {
            launch()?;
        }
        best = best.min(begin.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES));
        wait()?;
    }
    Ok(best)
}

pub fn launch_overhead(setup: &Setup) -> Outcome {
    let (stream, kernel) = (&setup.stream, setup.function("empty")?);
    let params = [Param::from(1.0), Param::pointer(0), Param::pointer(0), Param::from(0i64)];
    let ours = || {
        // SAFETY: the parameters are those of `empty`, which touches no memory.
        unsafe { kernel.launch(stream, [1; 3], 32, 0, &params) }.map_err(text)
    };
    let wait = || stream.synchronize().map_err(text);
    let raw = Raw::new(setup)?;
    microseconds(&ours, wait)?;
    let driver = microseconds(|| raw.launch(), || raw.wait())?;
    let ours = microseconds(&ours, wait)?;
    let driver = driver.min(microseconds(|| raw.launch(), || raw.wait())?);
    if ours - driver > 3.0 {
        return Err(format!("{ours:.2} µs per launch, {driver:.2} µs of them in the driver"));
    }
    Ok(format!("{ours:.2} µs per launch; the driver's own function takes {driver:.2} µs"))
}

/// The same kernel through the driver's functions alone.
struct Raw {
    function: sys::CUfunction,
    stream: sys::CUstream,
}

fn result(code: sys::CUresult) -> Result<(), String> {
    if code == sys::CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{code:?}")) }
}

impl Raw {
    fn new(setup: &Setup) -> Result<Self, String> {
        let compiler = Compiler::new(Cache::open(Location::MemoryOnly)).map_err(text)?;
        let arch = setup.device.arch();
        let cubin = compiler.compile("checks", TEXT, &arch, &Options::default()).map_err(text)?.cubin;
        setup.device.synchronize().map_err(text)?;
        let (mut module, mut function, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the synchronization above made the context current; the module stays loaded until the process ends.
        unsafe {
            result(sys::cuModuleLoadData(&mut module, cubin.as_ptr().cast()))?;
            result(sys::cuModuleGetFunction(&mut function, module, c"empty".as_ptr()))?;
            result(sys::cuStreamCreate(&mut stream, 1))?;
        }
        Ok(Raw { function, stream })
    }

    fn launch(&self) -> Result<(), String> {
        let (a, x, y, n) = (1.0f64, 0u64, 0u64, 0i64);
        let mut params = [(&raw const a).cast(), (&raw const x).cast(), (&raw const y).cast(), (&raw const n).cast()]
            .map(|pointer: *const std::ffi::c_void| pointer.cast_mut());
        // SAFETY: the parameters are those of `empty`, which touches no memory.
        result(unsafe {
            sys::cuLaunchKernel(
                self.function,
                1,
                1,
                1,
                32,
                1,
                1,
                0,
                self.stream,
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })
    }

    fn wait(&self) -> Result<(), String> {
        // SAFETY: the stream is live.
        result(unsafe { sys::cuStreamSynchronize(self.stream) })
    }
}
