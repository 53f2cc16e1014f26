//! What the product itself costs: text, compiling, the cache, a launch; and what the device can do at most.

use super::configs;
use super::handwritten::{TRIAD, function};
use super::problem::{Problem, mesh};
use super::sheet::{Sheet, number, spread};
use super::{Context, Outcome};
use cudarc::driver::sys;
use farro::ceilings::{Ceilings, Sizes, measure, store};
use farro::kernels::{Choice, LayoutChoice, Precision, element_kernel, record};
use farro_backends::print::{Dialect, print};
use farro_cuda::cache::{Cache, Location};
use farro_cuda::{Compiler, Options};
use farro_fem::viscous::{LateralFastest, Mode};
use farro_portability::Space;
use std::time::Instant;

pub fn run(context: &Context) -> Outcome {
    ceilings(context)?;
    launches(context)?;
    texts(context)
}

fn ceilings(context: &Context) -> Outcome {
    let header = [
        "space",
        "stored",
        "fma_gflops",
        "triad_gbs",
        "copy_gbs",
        "scratch_gbs",
        "l2_gbs",
        "atomics_g",
        "l2_atomics_g",
    ];
    let mut sheet = Sheet::new(&context.options, "ceilings.csv", &header)?;
    let sizes = Sizes { elements: 1 << 27, seconds: 0.3, ..Sizes::default() };
    let measured = [
        (context.double.name(), "f64", measure::<_, f64>(&context.double, sizes)?),
        (context.single.name(), "f32", measure::<_, f32>(&context.single, sizes)?),
    ];
    for (space, stored, c) in measured {
        let device = store::Device {
            space: space.clone(),
            machine: std::env::consts::ARCH.into(),
            arch: context.double.device().arch(),
            stored: stored.into(),
        };
        // Beside the tables, so that it can be put where farro inspect looks.
        store::keep(&context.options.out, &device, &c)?;
        let Ceilings { gflops, triad, copy, scratch, cache, atomics, cached_atomics } = c;
        let mut row = vec![space, stored.to_string()];
        row.extend([gflops, triad, copy, scratch, cache, atomics, cached_atomics].map(number));
        sheet.row(&row)?;
    }
    Ok(())
}

/// Microseconds that the host needs for a launch: the driver's own function, ours around it, and a space's.
fn launches(context: &Context) -> Outcome {
    const LAUNCHES: usize = 400;
    let mut sheet = Sheet::new(&context.options, "launch.csv", &["what", "median_us", "min_us"])?;
    let space = &context.double;
    let empty = function(context, "triad", TRIAD, "empty")?;
    let raw = Raw::new(context)?;
    let mut problem = Problem::<f64, f64, LateralFastest>::new(space, &mesh(1)?, configs::marching(1))?;
    problem.apply()?;
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..25 {
        for (which, times) in times.iter_mut().enumerate() {
            let begin = Instant::now();
            for _ in 0..LAUNCHES {
                match which {
                    0 => raw.launch()?,
                    // SAFETY: the kernel takes no parameters and touches no memory.
                    1 => unsafe { empty.launch(space.stream(), [1; 3], 32, 0, &[]) }?,
                    _ => problem.operator.launch_elements(&problem.u, &mut problem.y, Mode::Replace)?,
                }
            }
            times.push(1e6 * begin.elapsed().as_secs_f64() / LAUNCHES as f64);
            // Emptied in between, so that the queue never fills up.
            space.fence()?;
            raw.wait()?;
        }
    }
    for (what, times) in ["cuLaunchKernel", "Function::launch", "the operator's marching kernel"].iter().zip(&times) {
        let [median, least, _] = spread(times);
        sheet.row(&[(*what).to_string(), number(median), number(least)])?;
    }
    Ok(())
}

/// An empty kernel through the driver's functions alone.
struct Raw {
    function: sys::CUfunction,
    stream: sys::CUstream,
}

fn checked(code: sys::CUresult) -> Outcome {
    if code == sys::CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{code:?}").into()) }
}

impl Raw {
    fn new(context: &Context) -> Outcome<Self> {
        let device = context.double.device();
        let cubin = context.double.compiler().compile("triad", TRIAD, &device.arch(), &Options::default())?.cubin;
        device.synchronize()?;
        let (mut module, mut function, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the synchronization above made the context current; the module stays loaded until the process ends.
        unsafe {
            checked(sys::cuModuleLoadData(&mut module, cubin.as_ptr().cast()))?;
            checked(sys::cuModuleGetFunction(&mut function, module, c"empty".as_ptr()))?;
            checked(sys::cuStreamCreate(&mut stream, 1))?;
        }
        Ok(Raw { function, stream })
    }
    fn launch(&self) -> Outcome {
        let none = std::ptr::null_mut();
        // SAFETY: the kernel takes no parameters and touches no memory; function and stream are live.
        checked(unsafe { sys::cuLaunchKernel(self.function, 1, 1, 1, 32, 1, 1, 0, self.stream, none, none) })
    }
    fn wait(&self) -> Outcome {
        // SAFETY: the stream is live.
        checked(unsafe { sys::cuStreamSynchronize(self.stream) })
    }
}

/// Milliseconds from a kernel to its text, to its binary, and to its binary when it is on disk.
fn texts(context: &Context) -> Outcome {
    let header = ["kernel", "trace_ms", "text_ms", "lines", "compile_ms", "disk_hit_ms", "memory_hit_ms"];
    let mut sheet = Sheet::new(&context.options, "texts.csv", &header)?;
    let folder = std::env::temp_dir().join(format!("farro-report-{}", std::process::id()));
    let open = || Compiler::new(Cache::open(Location::Folder(folder.clone())));
    let arch = context.double.device().arch();
    for named in configs::chosen(8).into_iter().chain(configs::rungs().into_iter().take(4)) {
        let choice = Choice { config: named.config, precision: Precision::F64, layout: LayoutChoice::X };
        let milliseconds = |begin: Instant| 1e3 * begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let launches = record(&choice)?;
        // All kernels of an apply, and the fields that they need.
        let traced = milliseconds(begin);
        let found = launches.iter().find(|l| l.prepared.program.name == element_kernel(named.config.variant));
        let program = &found.ok_or("the kernel was not launched")?.prepared.program;
        let text = |_| {
            let begin = Instant::now();
            let printed = print(program, Dialect::Cuda);
            (milliseconds(begin), printed)
        };
        let mut printed: Vec<_> = (0..3).map(text).collect();
        printed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (text_ms, printed) = printed.swap_remove(0);
        let compile = |compiler: &Compiler| compiler.compile(&printed.entry, &printed.text, &arch, &Options::default());
        let compiled = compile(&open()?)?;
        let fresh = open()?;
        let (disk, memory) = (compile(&fresh)?, compile(&fresh)?);
        sheet.row(&[
            named.name,
            number(traced),
            number(text_ms),
            printed.text.lines().count().to_string(),
            if compiled.from_cache { String::new() } else { number(1e3 * compiled.seconds) },
            number(1e3 * disk.seconds),
            number(1e3 * memory.seconds),
        ])?;
    }
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}
