//! Everything that needs a GPU, as a list of checks that the tests and the `cuda_smoke` example both run.

use farro_cuda::cache::{Cache, Location};
use farro_cuda::{
    Compiler, CudaError, Device, DeviceBuffer, Event, Function, Module, Options, Param, PinnedBuffer, Stream,
};
use std::process::Command;

mod overhead;

/// Tells a process that it is the child of `fault_is_named_once`.
pub const FAULT_VARIABLE: &str = "FARRO_CUDA_FAULT_CHILD";
/// The test that the child runs; the example looks at the variable alone.
pub const FAULT_TEST: &str = "fault_child";

const TEXT: &str = r#"
extern "C" __global__ void axpy(double a, const double* x, double* y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void mixed(unsigned char a, short b, float c, int d, double e, long long f, double* out) {
    out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = (double)f;
}
extern "C" __global__ void reverse(double* x) {
    extern __shared__ double tile[];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void fixed(double* x) {
    __shared__ double tile[2048];
    extern __shared__ double more[];
    tile[threadIdx.x] = x[threadIdx.x];
    more[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x] + more[0];
}
extern "C" __global__ void __launch_bounds__(128) bounded(double* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void empty(double a, double* x, double* y, long long n) {}
extern "C" __global__ void stray(double* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void spin(long long cycles) {
    long long begin = clock64();
    while (clock64() - begin < cycles) {}
}
"#;

pub type Outcome = Result<String, String>;

/// What every check starts from.
pub struct Setup {
    pub device: Device,
    pub stream: Stream,
    pub module: Module,
}

impl Setup {
    /// Fails with the reason where there is no GPU or no compiler.
    pub fn new() -> Result<Self, CudaError> {
        let device = Device::open(0)?;
        let stream = Stream::new(&device)?;
        let compiler = Compiler::new(Cache::open(Location::MemoryOnly))?;
        let compiled = compiler.compile("checks", TEXT, &device.arch(), &Options::default())?;
        let module = Module::load(&device, &compiled.cubin)?;
        Ok(Setup { device, stream, module })
    }

    fn function(&self, name: &str) -> Result<Function, String> {
        self.module.function(name).map_err(text)
    }
}

/// A check's name, and what it does.
pub type Check = (&'static str, fn(&Setup) -> Outcome);

/// Every check.
pub const CHECKS: &[Check] = &[
    ("properties", properties),
    ("copies_round_trip", copies_round_trip),
    ("axpy", axpy),
    ("every_parameter_size", every_parameter_size),
    ("limits_are_checked_first", limits_are_checked_first),
    ("shared_memory_up_to_the_limit", shared_memory_up_to_the_limit),
    ("occupancy", occupancy),
    ("graph_replay", graph_replay),
    ("failed_capture_leaves_nothing", failed_capture_leaves_nothing),
    ("timing", timing),
    ("out_of_memory", out_of_memory),
    ("many_threads", many_threads),
    ("launch_overhead", overhead::launch_overhead),
    ("fault_is_named_once", fault_is_named_once),
];

fn text(error: CudaError) -> String {
    error.to_string()
}

macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        if !$condition {
            return Err(format!("{}: {}", stringify!($condition), format!($($message)*)));
        }
    };
}

fn properties(setup: &Setup) -> Outcome {
    let properties = setup.device.properties();
    let (free, total) = setup.device.memory().map_err(text)?;
    ensure!(properties.multiprocessors > 0 && properties.warp_size == 32, "{properties:?}");
    ensure!(properties.shared_bytes_per_block_optin >= properties.shared_bytes_per_block, "{properties:?}");
    ensure!(free <= total && total <= properties.total_bytes, "{free} {total}");
    let again = Device::open(0).map_err(text)?;
    ensure!(again.is_same(&setup.device), "two contexts");
    let listed = Device::list().map_err(text)?;
    ensure!(listed[0] == *properties, "{listed:?}");
    Ok(format!("{properties:?}"))
}

fn copies_round_trip(setup: &Setup) -> Outcome {
    let (device, stream) = (&setup.device, &setup.stream);
    let check = || -> Result<(), CudaError> {
        let values: Vec<f64> = (0..100_000).map(f64::from).collect();
        let one = DeviceBuffer::from_slice(stream, &values)?;
        assert_eq!(one.to_vec::<f64>(stream)?, values);
        let two = DeviceBuffer::zeroed(stream, one.len())?;
        two.copy_from_device(stream, 8, &one, 0, 16)?;
        assert_eq!(two.to_vec::<f64>(stream)?[..4], [0.0, 0.0, 1.0, 0.0]);
        two.fill_bytes(stream, 0xff)?;
        assert!(two.to_vec::<u32>(stream)?.iter().all(|word| *word == u32::MAX));
        two.copy_from_host(stream, 800, &[2.5f64])?;
        let mut part = [0.0f64; 2];
        two.copy_to_host(stream, 800, &mut part)?;
        assert!(part[0] == 2.5 && part[1].is_nan());

        let mut pinned = PinnedBuffer::new(device, values.len() * 8)?;
        assert!(pinned.as_slice::<u64>().iter().all(|word| *word == 0));
        // SAFETY: the pinned memory is neither touched nor freed before the stream is synchronized.
        unsafe { one.copy_to_host_async(stream, 0, pinned.as_mut_slice::<f64>())? };
        stream.synchronize()?;
        assert_eq!(pinned.as_slice::<f64>(), values);

        let range = one.copy_to_host(stream, one.len() - 8, &mut part);
        assert!(matches!(range, Err(CudaError::OutOfRange { .. })), "{range:?}");
        let wrapped = one.copy_from_device(stream, u64::MAX, &two, 0, 8);
        assert!(matches!(wrapped, Err(CudaError::OutOfRange { .. })), "{wrapped:?}");
        let nothing = DeviceBuffer::new(device, 0)?;
        nothing.zero(stream)?;
        assert!(nothing.is_empty() && nothing.to_vec::<f64>(stream)?.is_empty());
        Ok(())
    };
    check().map(|()| "100000 values".into()).map_err(text)
}

fn axpy(setup: &Setup) -> Outcome {
    let (stream, kernel) = (&setup.stream, setup.function("axpy")?);
    let check = || -> Result<(), CudaError> {
        for n in [1usize, 255, 256, 1_000_003] {
            let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let (dx, dy) = (DeviceBuffer::from_slice(stream, &x)?, DeviceBuffer::zeroed(stream, 8 * n as u64)?);
            let params = [Param::from(2.0), Param::from(&dx), Param::from(&dy), Param::from(n as i64)];
            // SAFETY: the parameters are those of `axpy`, and the buffers outlive the copy below, which waits.
            unsafe { kernel.launch(stream, [n.div_ceil(256) as u32, 1, 1], 256, 0, &params)? };
            assert!(dy.to_vec::<f64>(stream)?.iter().enumerate().all(|(i, y)| *y == 2.0 * i as f64), "{n}");
            // SAFETY: nothing is launched.
            unsafe { kernel.launch(stream, [0, 1, 1], 256, 0, &params)? };
            assert_eq!(dy.to_vec::<f64>(stream)?[n - 1], 2.0 * (n - 1) as f64);
        }
        Ok(())
    };
    check().map(|()| format!("{:?}", kernel.attributes())).map_err(text)
}

fn every_parameter_size(setup: &Setup) -> Outcome {
    let (stream, kernel) = (&setup.stream, setup.function("mixed")?);
    let out = DeviceBuffer::zeroed(stream, 48).map_err(text)?;
    let params = [
        Param::from(200u8),
        Param::from(-3i16),
        Param::from(1.5f32),
        Param::from(-70_000i32),
        Param::from(0.1f64),
        Param::from(1i64 << 40),
        Param::from(&out),
    ];
    // SAFETY: the parameters are those of `mixed`, and `out` outlives the copy below, which waits.
    unsafe { kernel.launch(stream, [1; 3], 1, 0, &params) }.map_err(text)?;
    let values = out.to_vec::<f64>(stream).map_err(text)?;
    ensure!(values == [200.0, -3.0, 1.5, -70_000.0, 0.1, (1i64 << 40) as f64], "{values:?}");
    if kernel.parameter_sizes().is_none() {
        return Ok("the driver does not tell parameter sizes".into());
    }
    for wrong in [&params[..6], &[params[0]; 7], &[]] {
        // SAFETY: refused before anything is launched, since the driver tells the sizes.
        let refused = unsafe { kernel.launch(stream, [1; 3], 1, 0, wrong) };
        ensure!(matches!(refused, Err(CudaError::WrongParameters { .. })), "{refused:?}");
    }
    Ok(format!("{:?}", kernel.parameter_sizes()))
}

fn limits_are_checked_first(setup: &Setup) -> Outcome {
    let kernel = setup.function("bounded")?;
    let limit = |grid, block, shared| match kernel.check_launch(grid, block, shared) {
        Err(CudaError::LaunchTooLarge { kernel, asked, allowed, .. }) if kernel == "bounded" => Ok((asked, allowed)),
        other => Err(format!("{other:?}")),
    };
    ensure!(limit([1; 3], 129, 0)? == (129, 128), "launch bounds");
    ensure!(limit([1, 65_536, 1], 128, 0)? == (65_536, 65_535), "grid in y");
    ensure!(limit([u32::MAX, 1, 1], 128, 0)?.1 == (1 << 31) - 1, "grid in x");
    let most = kernel.max_shared_bytes();
    ensure!(limit([1; 3], 128, most + 1)? == (u64::from(most) + 1, u64::from(most)), "shared memory");
    let empty = kernel.check_launch([1; 3], 0, 0);
    ensure!(matches!(empty, Err(CudaError::EmptyBlock { .. })), "{empty:?}");
    ensure!(kernel.check_launch([1; 3], 128, most).is_ok(), "the limits themselves");
    let missing = setup.module.function("nowhere");
    ensure!(matches!(missing, Err(CudaError::NoSuchKernel { .. })), "{missing:?}");
    let broken = Module::load(&setup.device, b"not a binary");
    ensure!(broken.is_err(), "a broken binary was loaded");
    Ok(format!("{most} bytes of shared memory; a broken binary: {}", broken.unwrap_err()))
}

fn shared_memory_up_to_the_limit(setup: &Setup) -> Outcome {
    let stream = &setup.stream;
    let values: Vec<f64> = (0..1024).map(f64::from).collect();
    let x = DeviceBuffer::from_slice(stream, &values).map_err(text)?;
    let mut most = Vec::new();
    for (name, add) in [("reverse", 0.0), ("fixed", 1.0)] {
        let kernel = setup.function(name)?;
        most.push(kernel.max_shared_bytes());
        for shared in [8 * 1024, 40_000, 100_000, kernel.max_shared_bytes()] {
            x.copy_from_host(stream, 0, &values).map_err(text)?;
            // SAFETY: the parameter is that of the kernel, and the buffer outlives the copy below, which waits.
            unsafe { kernel.launch(stream, [1; 3], 1024, shared, &[Param::from(&x)]) }.map_err(text)?;
            let got = x.to_vec::<f64>(stream).map_err(text)?;
            ensure!(got.iter().enumerate().all(|(i, v)| *v == (1023 - i) as f64 + add), "{name}, {shared} bytes");
        }
    }
    Ok(format!("{most:?} bytes"))
}

fn occupancy(setup: &Setup) -> Outcome {
    let kernel = setup.function("reverse")?;
    let most = kernel.max_shared_bytes();
    ensure!(kernel.blocks_per_multiprocessor(256, most).map_err(text)? == 1, "one block with all shared memory");
    ensure!(kernel.blocks_per_multiprocessor(256, 0).map_err(text)? >= 2, "several without");
    let n = kernel.largest_block(1000, 700);
    ensure!(kernel.check_launch([1; 3], n, 1000 + 700 * n).is_ok(), "{n} threads launch");
    ensure!(kernel.check_launch([1; 3], n + 1, 1000 + 700 * (n + 1)).is_err(), "{n} is the largest");
    ensure!(kernel.largest_block(most + 1, 0) == 0, "nothing fits");
    kernel.set_shared_carveout(Some(100)).map_err(text)?;
    kernel.set_shared_carveout(None).map_err(text)?;
    Ok(format!("largest block {n}, occupancy {:.2}", kernel.occupancy(256, 0).map_err(text)?))
}

fn graph_replay(setup: &Setup) -> Outcome {
    let (stream, kernel) = (&setup.stream, setup.function("axpy")?);
    let check = || -> Result<Vec<f64>, CudaError> {
        let n = 1000i64;
        let dx = DeviceBuffer::from_slice(stream, &vec![1.0f64; n as usize])?;
        let dy = DeviceBuffer::zeroed(stream, 8 * n as u64)?;
        let params = [Param::from(1.0), Param::from(&dx), Param::from(&dy), Param::from(n)];
        let graph = stream.capture(|stream| {
            for _ in 0..3 {
                // SAFETY: the parameters are those of `axpy`; the buffers outlive the replays.
                unsafe { kernel.launch(stream, [4, 1, 1], 256, 0, &params)? };
            }
            Ok(())
        })?;
        assert!(dy.to_vec::<f64>(stream)?.iter().all(|y| *y == 0.0), "recording runs nothing");
        for _ in 0..5 {
            // SAFETY: the buffers are alive until the copy below has waited.
            unsafe { graph.launch(stream)? };
        }
        dy.to_vec(stream)
    };
    let values = check().map_err(text)?;
    ensure!(values.iter().all(|y| *y == 15.0), "{:?}", &values[..4]);
    Ok("3 launches, 5 replays".into())
}

fn failed_capture_leaves_nothing(setup: &Setup) -> Outcome {
    let stream = &setup.stream;
    let own = stream.capture(|_| Err(CudaError::NoSuchKernel { kernel: "mine".into() }));
    ensure!(matches!(own, Err(CudaError::NoSuchKernel { .. })), "{own:?}");
    let waits = stream.capture(Stream::synchronize);
    ensure!(waits.is_err(), "synchronizing inside a recording");
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| stream.capture(|_| panic!("on purpose"))));
    ensure!(panics.is_err(), "the panic is passed on");
    stream.synchronize().map_err(text)?;
    axpy(setup)
}

fn timing(setup: &Setup) -> Outcome {
    let (stream, kernel) = (&setup.stream, setup.function("spin")?);
    let cycles = i64::from(setup.device.properties().clock_khz) * 20;
    let queue = |stream: &Stream| {
        // SAFETY: the parameter is that of `spin`, which touches no memory.
        unsafe { kernel.launch(stream, [1; 3], 1, 0, &[Param::from(cycles)]) }
    };
    let ((), milliseconds) = stream.time(queue).map_err(text)?;
    ensure!((15.0..400.0).contains(&milliseconds), "{milliseconds} ms for about 20 ms");
    let event = Event::new(&setup.device).map_err(text)?;
    queue(stream).map_err(text)?;
    event.record(stream).map_err(text)?;
    ensure!(!event.is_done().map_err(text)?, "done at once");
    let other = Stream::new(&setup.device).map_err(text)?;
    other.wait_for(&event).map_err(text)?;
    other.synchronize().map_err(text)?;
    ensure!(event.is_done().map_err(text)?, "the other stream waited");
    Ok(format!("{milliseconds:.2} ms for about 20 ms"))
}

fn out_of_memory(setup: &Setup) -> Outcome {
    let (_, total) = setup.device.memory().map_err(text)?;
    let error = match DeviceBuffer::new(&setup.device, 2 * total) {
        Err(error) => error,
        Ok(_) => return Err("twice the memory was allocated".into()),
    };
    let typed = matches!(&error, CudaError::OutOfMemory { asked, free, .. } if *asked == 2 * total && *free > 0);
    ensure!(typed, "{error}");
    axpy(setup)?;
    Ok(error.to_string())
}

fn many_threads(setup: &Setup) -> Outcome {
    let (stream, kernel) = (&setup.stream, setup.function("axpy")?);
    let (threads, launches, n) = (4, 200, 512i64);
    let dx = DeviceBuffer::from_slice(stream, &vec![1.0f64; n as usize]).map_err(text)?;
    let dy = DeviceBuffer::zeroed(stream, 8 * n as u64).map_err(text)?;
    let params = [Param::from(1.0), Param::from(&dx), Param::from(&dy), Param::from(n)];
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..launches {
                    // SAFETY: the parameters are those of `axpy`; the buffers outlive the copy below.
                    unsafe { kernel.launch(stream, [2, 1, 1], 256, 0, &params) }.unwrap();
                }
            });
        }
    });
    let values = dy.to_vec::<f64>(stream).map_err(text)?;
    ensure!(values.iter().all(|y| *y == f64::from(threads * launches)), "{:?}", &values[..4]);
    Ok(format!("{threads} threads, {launches} launches each"))
}

/// A fault takes the context of its whole process, so a child process runs into it.
fn fault_is_named_once(_: &Setup) -> Outcome {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["--exact", FAULT_TEST, "--nocapture"])
        .env(FAULT_VARIABLE, "1")
        .output()
        .map_err(|error| error.to_string())?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success() && out.contains("the fault was named once"), "{out}\n{err}");
    let line = out.lines().find(|line| line.contains("KernelFault")).unwrap_or_default();
    Ok(line.to_string())
}

/// What the child does.
pub fn run_into_a_fault() -> Outcome {
    let setup = Setup::new().map_err(text)?;
    let (stream, kernel) = (&setup.stream, setup.function("stray")?);
    let buffer = DeviceBuffer::zeroed(stream, 64).map_err(text)?;
    let pinned = PinnedBuffer::new(&setup.device, 64).map_err(text)?;
    stream.synchronize().map_err(text)?;
    // SAFETY: it is not: the address is nobody's. The fault is the point, and the process ends after it.
    let queued = unsafe { kernel.launch(stream, [1; 3], 32, 0, &[Param::pointer(64)]) };
    let first = queued.and_then(|()| stream.synchronize());
    println!("{first:?}");
    let named = matches!(&first, Err(CudaError::KernelFault { kernel, .. }) if kernel == "stray");
    ensure!(named, "{first:?}");
    let later = [
        stream.synchronize(),
        setup.device.synchronize(),
        DeviceBuffer::new(&setup.device, 8).map(drop),
        buffer.to_vec::<f64>(stream).map(drop),
        // SAFETY: refused before anything is launched.
        unsafe { kernel.launch(stream, [1; 3], 32, 0, &[Param::pointer(64)]) },
    ];
    for result in later {
        let names_first = matches!(&result, Err(CudaError::ContextLost { first }) if first.contains("stray"));
        ensure!(names_first, "{result:?}");
    }
    drop((buffer, pinned, kernel, setup));
    let reopened = Device::open(0).and_then(|device| device.synchronize());
    ensure!(matches!(reopened, Err(CudaError::ContextLost { .. })), "{reopened:?}");
    println!("the fault was named once");
    Ok(String::new())
}
