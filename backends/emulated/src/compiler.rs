//! From a traced program to a library of the host.

use farro_backends::device::cache::{Cache, Key, Location};
use farro_backends::device::{DeviceCompiler, DeviceKernel};
use farro_backends::print::{Dialect, Passes, Printed, print_with};
use farro_backends::trace::Program;
use farro_portability::Limits;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most work items of a team, as in `words.hpp`.
const MOST_ITEMS: usize = 256;
/// Bytes of scratch of level 0, as in `words.hpp`.
const SCRATCH_BYTES: usize = 1 << 18;

/// Why a text could not be run on the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmulatedError {
    /// There is no C++ compiler.
    #[error("no C++ compiler for {system}: {reason}; install g++ or set CXX")]
    NoCompiler {
        /// The operating system.
        system: String,
        /// What was tried.
        reason: String,
    },
    /// The compiler refused the text.
    #[error("kernel `{kernel}` does not compile as C++:\n{log}")]
    Compile {
        /// The kernel.
        kernel: String,
        /// The compiler's log.
        log: String,
    },
    /// The operating system refused something.
    #[error("{action}: {reason}")]
    System {
        /// What was attempted.
        action: String,
        /// Its words.
        reason: String,
    },
    /// Memory is exhausted.
    #[error("out of memory: asked for {asked} bytes")]
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
    },
    /// A copy reaches beyond a block.
    #[error("a copy of bytes {offset}..{} of a block of {len}", .offset.saturating_add(*.bytes))]
    OutOfRange {
        /// First byte.
        offset: u64,
        /// Bytes asked for.
        bytes: u64,
        /// Bytes of the block.
        len: u64,
    },
}

type Run = unsafe extern "C" fn(*const u64, i32, i32);

/// A library with one kernel. Its state belongs to the launch that holds the lock.
#[derive(Debug)]
pub(crate) struct Library {
    library: Mutex<libloading::Library>,
}

impl Library {
    /// # Safety
    /// The values are those of the kernel's signature, and addresses are those of live blocks.
    pub(crate) unsafe fn run(&self, values: &[u64], teams: i32, items: i32) -> Result<(), EmulatedError> {
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the symbol has this type by the text that `compile` adds.
        let run = unsafe { library.get::<Run>(b"run\0") };
        let run = run.map_err(|error| system("looking up `run`", &error))?;
        // SAFETY: passed on from this function's contract.
        unsafe { run(values.as_ptr(), teams, items) };
        Ok(())
    }
}

fn system(action: &str, error: &dyn std::fmt::Display) -> EmulatedError {
    EmulatedError::System { action: action.into(), reason: error.to_string() }
}

/// A kernel as a library of the host.
#[derive(Debug)]
pub struct HostKernel {
    /// The text, its parameters and its scratch.
    pub printed: Printed,
    pub(crate) library: Arc<Library>,
}

impl DeviceKernel for HostKernel {
    fn printed(&self) -> &Printed {
        &self.printed
    }
}

/// The host's C++ compiler: `CXX`, or `g++`.
#[derive(Debug)]
pub struct HostCompiler {
    program: String,
    version: String,
    cache: Cache,
}

impl HostCompiler {
    /// The compiler, with the usual cache.
    ///
    /// # Errors
    /// When there is none.
    pub fn new() -> Result<Self, EmulatedError> {
        let missing = |reason: String| EmulatedError::NoCompiler { system: std::env::consts::OS.into(), reason };
        if !cfg!(target_os = "linux") {
            return Err(missing("the header of this crate is written for Linux".into()));
        }
        let program = std::env::var("CXX").unwrap_or_else(|_| "g++".into());
        let output = Command::new(&program).arg("--version").output();
        let output = output.map_err(|error| missing(format!("{program}: {error}")))?;
        let version = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned();
        Ok(HostCompiler { program, version, cache: Cache::open(Location::Default) })
    }

    fn build(&self, printed: &Printed, text: &str) -> Result<Vec<u8>, EmulatedError> {
        let [source, library] = ["cpp", "so"].map(temporary);
        std::fs::write(&source, text).map_err(|error| system("writing a text", &error))?;
        let output = Command::new(&self.program)
            .args(["-std=c++17", "-O0", "-shared", "-fPIC", "-fwrapv", "-Wno-attributes", "-o"])
            .args([&library, &source])
            .output();
        let bytes = std::fs::read(&library);
        let _ = std::fs::remove_file(&source);
        let _ = std::fs::remove_file(&library);
        let output = output.map_err(|error| system("starting the compiler", &error))?;
        if !output.status.success() {
            let log = format!("{}\n{}", String::from_utf8_lossy(&output.stderr), printed.text);
            return Err(EmulatedError::Compile { kernel: printed.kernel.clone(), log });
        }
        bytes.map_err(|error| system("reading a library", &error))
    }
}

/// A file that no other thread or process uses.
fn temporary(extension: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("farro-emulated-{}-{number}.{extension}", std::process::id()))
}

impl DeviceCompiler for HostCompiler {
    type Kernel = HostKernel;
    type Error = EmulatedError;

    fn name(&self) -> String {
        "HIP text on the host".into()
    }
    fn limits(&self) -> Limits {
        Limits {
            max_team: MOST_ITEMS,
            max_league: i32::MAX as usize,
            scratch_bytes: [SCRATCH_BYTES, 1 << 24],
            vector_lengths: &[1, 2, 4, 8, 16, 32],
            best_vector_length: 8,
            range_chunk: 64,
            range_team: 16,
            concurrency: 1,
        }
    }
    fn compile(&self, program: &Program, passes: Passes) -> Result<HostKernel, EmulatedError> {
        let printed = print_with(program, Dialect::Hip, passes);
        let (words, entry) = (include_str!("words.hpp"), &printed.entry);
        let text = format!(
            "{words}\n{}\nnamespace {{ void begin() {{ call({entry}); items[current].done = true; }} }}\n\
             extern \"C\" void run(const unsigned long long* raw, int teams, int items) \
             {{ run_league(raw, teams, items); }}\n",
            printed.text
        );
        let key = Key::new(&[b"emulated", self.version.as_bytes(), text.as_bytes()]);
        let (bytes, _) = self.cache.get_or_build(key, || self.build(&printed, &text))?;
        let file = temporary("so");
        std::fs::write(&file, &bytes).map_err(|error| system("writing a library", &error))?;
        // SAFETY: the library was built from the text above and has no initialisers of consequence.
        let library = unsafe { libloading::Library::new(&file) };
        let _ = std::fs::remove_file(&file);
        let library = Mutex::new(library.map_err(|error| system("loading a library", &error))?);
        Ok(HostKernel { printed, library: Arc::new(Library { library }) })
    }
}
