//! What the crate does on the host, tested without a GPU: a driver that runs nothing stands in for the real one.
//!
//! Each scenario runs in a process of its own, since a process has one driver. Where no C compiler is at hand the
//! tests say so and do nothing.

#[path = "../../../tests/stand_in/mod.rs"]
mod stand_in;
use farro_cuda::{CudaError, Device, DeviceBuffer, Event, Module, Param, PinnedBuffer, Stream};
use std::path::Path;

/// Runs one scenario with the driver; gives what it printed, or `None` without a compiler.
fn run(scenario: &str, variables: &[(&str, &str)]) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_driver/cuda.c");
    stand_in::run(&source, &["libcuda.so.1", "libcuda.so"], "LD_LIBRARY_PATH", scenario, variables)
}

macro_rules! scenarios {
    ($($name:ident $variables:expr;)*) => {
        $(#[test] fn $name() { run(stringify!($name), $variables); })*

        /// Runs the scenario that the environment names.
        #[test]
        fn child() {
            match std::env::var(stand_in::SCENARIO).as_deref() {
                $(Ok(stringify!($name)) => scenario::$name().unwrap(),)*
                _ => {}
            }
        }
    };
}

scenarios! {
    old_driver &[("FAKE_VERSION", "11040")];
    no_device_by_code &[("FAKE_INIT", "100")];
    no_device_by_count &[("FAKE_DEVICES", "0")];
    stub_library &[("FAKE_INIT", "34")];
    unusual_failure &[("FAKE_INIT", "803")];
    whole_way &[];
    limits &[];
    out_of_memory &[];
    fault &[];
    fault_among_several &[];
    fault_in_a_graph &[("FAKE_GRAPH_FAULTS", "1")];
    captures &[];
    launch_cost &[];
    binary_newer_than_the_driver &[("FAKE_VERSION", "12000")];
}

mod scenario {
    use super::*;
    type Outcome = Result<(), CudaError>;

    fn open() -> Result<(Device, Stream, Module), CudaError> {
        let device = Device::open(0)?;
        let stream = Stream::new(&device)?;
        let module = Module::load(&device, b"any")?;
        Ok((device, stream, module))
    }

    fn no_device(part: &str) -> Outcome {
        for error in [Device::list().unwrap_err(), Device::open(0).unwrap_err()] {
            assert!(matches!(&error, CudaError::NoDevice { reason } if reason.contains(part)), "{error}");
        }
        Ok(())
    }

    pub fn old_driver() -> Outcome {
        let error = Device::list().unwrap_err();
        let named = matches!(&error, CudaError::DriverTooOld { driver, needed, remedy }
            if driver == "11.4" && needed == "12.0" && remedy.contains("FARRO_CUDA_PATH"));
        assert!(named, "{error}");
        assert!(!farro_cuda::library::driver().is_found());
        Ok(())
    }

    pub fn no_device_by_code() -> Outcome {
        no_device("the driver sees none")
    }

    pub fn no_device_by_count() -> Outcome {
        no_device("the driver sees none")
    }

    pub fn stub_library() -> Outcome {
        no_device("stub")
    }

    pub fn unusual_failure() -> Outcome {
        no_device("cuInit")
    }

    pub fn whole_way() -> Outcome {
        let (device, stream, module) = open()?;
        assert_eq!((device.arch(), Device::list()?.len()), ("sm_90".into(), 1));
        let far = Device::open(1).unwrap_err();
        assert!(matches!(&far, CudaError::NoDevice { reason } if reason.contains("there are 1")), "{far}");
        let (out, kernel) = (DeviceBuffer::zeroed(&stream, 64)?, module.function("store")?);
        drop(module);
        let params = [Param::from(&out), Param::from(2.5f64), Param::from(3i32)];
        // SAFETY: the parameters are those of `store`, and the buffer is alive.
        unsafe { kernel.launch(&stream, [1; 3], 64, 0, &params)? };
        assert_eq!(out.to_vec::<f64>(&stream)?, [2.5, 2.5, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
        out.zero(&stream)?;
        // SAFETY: nothing is launched.
        unsafe { kernel.launch(&stream, [1, 0, 1], 64, 0, &params)? };
        assert_eq!(out.to_vec::<f64>(&stream)?, [0.0; 8]);
        assert_eq!(kernel.parameter_sizes(), Some(&[8, 8, 4][..]));
        // SAFETY: refused before anything is launched.
        let wrong = unsafe { kernel.launch(&stream, [1; 3], 64, 0, &[params[0], params[1], Param::from(3i64)]) };
        let sizes =
            CudaError::WrongParameters { kernel: "store".into(), expected: vec![8, 8, 4], given: vec![8, 8, 8] };
        assert_eq!(wrong, Err(sizes));
        assert_eq!(stream.time(|_| Ok(7))?, (7, 1.5));
        let event = Event::new(&device)?;
        event.record(&stream)?;
        stream.wait_for(&event)?;
        assert!(!event.is_done()?);
        let mut pinned = PinnedBuffer::new(&device, 20)?;
        pinned.as_mut_slice::<f64>()[1] = 4.0;
        assert_eq!((pinned.as_slice::<f64>(), pinned.as_slice::<u8>().len()), (&[0.0, 4.0][..], 20));
        assert!(out.to_vec::<[f64; 3]>(&stream).is_err(), "64 bytes are no whole number of 24");
        Ok(())
    }

    pub fn limits() -> Outcome {
        let (_, _, module) = open()?;
        let kernel = module.function("store")?;
        let refused = |grid, block, shared| match kernel.check_launch(grid, block, shared) {
            Err(CudaError::LaunchTooLarge { kernel, asked, allowed, .. }) if kernel == "store" => (asked, allowed),
            other => panic!("{other:?}"),
        };
        assert_eq!(refused([1; 3], 513, 0), (513, 512));
        assert_eq!(refused([1, 1, 65_536], 512, 0), (65_536, 65_535));
        assert_eq!(refused([1 << 31, 1, 1], 512, 0), (1 << 31, (1 << 31) - 1));
        // 1024 bytes are taken by the kernel's own.
        assert_eq!(refused([1; 3], 512, 231_425), (231_425, 231_424));
        for shared in [0, 48_128, 48_129, 231_424] {
            kernel.check_launch([1; 3], 512, shared)?;
        }
        assert_eq!(kernel.check_launch([1; 3], 0, 0), Err(CudaError::EmptyBlock { kernel: "store".into() }));
        let n = kernel.largest_block(24, 1000);
        assert_eq!(n, 231);
        kernel.check_launch([1; 3], n, 24 + 1000 * n)?;
        assert!(kernel.check_launch([1; 3], n + 1, 24 + 1000 * (n + 1)).is_err());
        assert_eq!((kernel.largest_block(0, 0), kernel.largest_block(231_425, 0)), (512, 0));
        assert_eq!((kernel.blocks_per_multiprocessor(256, 0)?, kernel.occupancy(256, 0)?), (8, 1.0));
        let missing = module.function("nowhere").unwrap_err();
        assert_eq!(missing, CudaError::NoSuchKernel { kernel: "nowhere".into() });
        Ok(())
    }

    pub fn out_of_memory() -> Outcome {
        let (device, ..) = open()?;
        let error = DeviceBuffer::new(&device, 1 << 40).unwrap_err();
        assert_eq!(error, CudaError::OutOfMemory { asked: 1 << 40, free: 1 << 29, total: 1 << 30 });
        DeviceBuffer::new(&device, 8).map(drop)
    }

    fn launch(stream: &Stream, module: &Module, name: &str, out: &DeviceBuffer) -> Outcome {
        let params = [Param::from(out), Param::from(0.0f64), Param::from(0i32)];
        // SAFETY: the parameters are those of the kernel, and the buffer is alive.
        unsafe { module.function(name)?.launch(stream, [1; 3], 32, 0, &params) }
    }

    fn named(result: Outcome, names: &str) {
        let hit = matches!(&result, Err(CudaError::KernelFault { kernel, code: 700, .. }) if kernel == names);
        assert!(hit, "{names}: {result:?}");
    }

    pub fn fault() -> Outcome {
        let (device, stream, module) = open()?;
        let out = DeviceBuffer::zeroed(&stream, 64)?;
        launch(&stream, &module, "other", &out)?;
        stream.synchronize()?;
        launch(&stream, &module, "stray", &out)?;
        named(stream.synchronize(), "stray");
        for later in [stream.synchronize(), device.synchronize(), DeviceBuffer::new(&device, 8).map(drop)] {
            assert!(matches!(&later, Err(CudaError::ContextLost { first }) if first.contains("stray")), "{later:?}");
        }
        drop((out, stream, module, device));
        assert!(matches!(Device::open(0), Err(CudaError::ContextLost { .. })));
        Ok(())
    }

    pub fn fault_among_several() -> Outcome {
        let (device, stream, module) = open()?;
        let out = DeviceBuffer::zeroed(&stream, 64)?;
        let other = Stream::new(&device)?;
        launch(&other, &module, "other", &out)?;
        launch(&stream, &module, "store", &out)?;
        stream.synchronize()?;
        launch(&stream, &module, "stray", &out)?;
        named(DeviceBuffer::new(&device, 8).map(drop), "stray` or `other");
        Ok(())
    }

    pub fn fault_in_a_graph() -> Outcome {
        let (_, stream, module) = open()?;
        let out = DeviceBuffer::zeroed(&stream, 64)?;
        let graph = stream.capture(|stream| launch(stream, &module, "other", &out))?;
        stream.synchronize()?;
        // SAFETY: the buffer is alive.
        unsafe { graph.launch(&stream)? };
        named(stream.synchronize(), "other");
        Ok(())
    }

    pub fn captures() -> Outcome {
        let (_, stream, module) = open()?;
        let out = DeviceBuffer::zeroed(&stream, 64)?;
        let own = stream.capture(|_| Err(CudaError::EmptyBlock { kernel: "mine".into() })).unwrap_err();
        assert_eq!(own, CudaError::EmptyBlock { kernel: "mine".into() });
        assert!(stream.capture(Stream::synchronize).is_err());
        stream.synchronize()?;
        let capture = || stream.capture(|_| panic!("on purpose"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(capture)).is_err());
        stream.synchronize()?;
        let graph = stream.capture(|stream| launch(stream, &module, "store", &out))?;
        drop(module);
        // SAFETY: the buffer is alive.
        unsafe { graph.launch(&stream)? };
        stream.synchronize()
    }

    /// What a launch costs on top of the driver's own work, which is nothing here.
    pub fn launch_cost() -> Outcome {
        let (_, stream, module) = open()?;
        let (out, kernel) = (DeviceBuffer::zeroed(&stream, 64)?, module.function("other")?);
        let params = [Param::from(&out), Param::from(0.0f64), Param::from(0i32)];
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let begin = std::time::Instant::now();
            for _ in 0..10_000 {
                // SAFETY: the parameters are those of the kernel, and the buffer is alive.
                unsafe { kernel.launch(&stream, [1; 3], 32, 0, &params)? };
            }
            best = best.min(begin.elapsed().as_secs_f64() * 1e6 / 10_000.0);
        }
        println!("{best:.3} µs per launch");
        assert!(best < 3.0, "{best} µs per launch");
        Ok(())
    }

    pub fn binary_newer_than_the_driver() -> Outcome {
        let (device, ..) = open()?;
        let error = Module::load(&device, b"new").unwrap_err();
        println!("{error}");
        let explained = match &error {
            CudaError::DriverTooOld { driver, remedy, .. } => driver == "12.0" && remedy.contains("FARRO_CUDA_PATH"),
            CudaError::Driver { message, .. } => message.contains("sm_90"),
            _ => false,
        };
        assert!(explained, "{error}");
        Ok(())
    }
}
