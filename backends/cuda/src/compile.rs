//! Text in, CUBIN out: NVRTC for an exact architecture, with what the assembler says about each kernel.
//!
//! Compiling needs neither a device nor a driver. Binaries are for one architecture (`sm_90`), because that is what
//! the assembler reports on, and because an older driver may refuse the PTX of a newer NVRTC.
//!
//! ```
//! use farro_cuda::{Compiler, Options, cache::{Cache, Location}};
//! let compiler = match Compiler::new(Cache::open(Location::MemoryOnly)) {
//!     Ok(compiler) => compiler,
//!     Err(reason) => return println!("skipped: {reason}"),
//! };
//! let text = r#"extern "C" __global__ void zero(double* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 0; }"#;
//! let compiled = compiler.compile("zero", text, "sm_90", &Options::default()).unwrap();
//! assert!(compiled.resources["zero"].registers > 0);
//! ```

use crate::cache::{Cache, Key, Origin};
use crate::error::{CudaError, Result};
use crate::library::nvrtc_api::{Api, Program};
use crate::resources::{self, Resources};
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// How to compile. Everything in here is part of the cache's key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Options {
    /// Whether a product and a sum may become one fused operation (`--fmad`).
    pub fmad: bool,
    /// Source lines in the binary, for profilers (`-lineinfo`).
    pub line_info: bool,
    /// A bound on registers per thread for every kernel in the text (`--maxrregcount`).
    pub max_registers: Option<u32>,
    /// Further options, passed on as they are.
    pub extra: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { fmad: true, line_info: false, max_registers: None, extra: Vec::new() }
    }
}

impl Options {
    fn arguments(&self, arch: &str) -> Vec<String> {
        let mut arguments =
            vec![format!("--gpu-architecture={arch}"), "--std=c++17".into(), format!("--fmad={}", self.fmad)];
        if arch.starts_with("sm_") {
            arguments.push("--ptxas-options=-v".into());
        }
        if self.line_info {
            arguments.push("-lineinfo".into());
        }
        if let Some(registers) = self.max_registers {
            arguments.push(format!("--maxrregcount={registers}"));
        }
        arguments.extend(self.extra.iter().cloned());
        arguments
    }
}

/// A binary and what the compiler said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The binary, for [`Module::load`](crate::Module::load).
    pub cubin: Vec<u8>,
    /// What each `extern "C" __global__` function uses, by name.
    pub resources: BTreeMap<String, Resources>,
    /// The compiler's log: warnings and the assembler's report.
    pub log: String,
    /// The architecture it was compiled for.
    pub arch: String,
    /// Whether it came from the cache.
    pub from_cache: bool,
    /// Seconds that this call took.
    pub seconds: f64,
}

/// NVRTC with a cache in front.
#[derive(Debug, Clone)]
pub struct Compiler {
    api: &'static Api,
    cache: Arc<Cache>,
    architectures: Arc<[u32]>,
}

impl Compiler {
    /// A compiler with a cache of its own; fails with [`CudaError::NoLibrary`] where there is no NVRTC.
    pub fn new(cache: Cache) -> Result<Self> {
        Self::with_cache(Arc::new(cache))
    }

    /// A compiler that shares a cache with others.
    pub fn with_cache(cache: Arc<Cache>) -> Result<Self> {
        static ARCHITECTURES: OnceLock<Result<Arc<[u32]>>> = OnceLock::new();
        let api = crate::library::load_nvrtc()?;
        let architectures = ARCHITECTURES.get_or_init(|| list_architectures(api)).clone()?;
        Ok(Compiler { api, cache, architectures })
    }

    /// The cache in use.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    /// NVRTC's version, as `(major, minor)`.
    pub fn version(&self) -> (i32, i32) {
        self.api.version
    }

    /// The architectures that this NVRTC can write for, as `sm_90`, oldest first.
    pub fn architectures(&self) -> Vec<String> {
        self.architectures.iter().map(|number| format!("sm_{number}")).collect()
    }

    /// Compiles for one architecture, such as `sm_90` (or `sm_90a`). The kernel's name is for messages.
    pub fn compile(&self, kernel: &str, source: &str, arch: &str, options: &Options) -> Result<Compiled> {
        let begin = Instant::now();
        self.check_architecture(arch, "sm_")?;
        let key = self.key("cubin", kernel, source, &options.arguments(arch));
        let mut from_cache = true;
        let mut entry = self.entry(key, kernel, source, arch, options, &mut from_cache)?;
        if unpack(&entry).is_none() {
            // The bytes verify, but they are not ours: another program's entry, or a bug of an earlier version.
            self.cache.forget(&key);
            entry = self.entry(key, kernel, source, arch, options, &mut from_cache)?;
        }
        let (log, cubin) = unpack(&entry).unwrap_or_default();
        Ok(Compiled {
            cubin: cubin.to_vec(),
            resources: resources::from_log(log),
            log: log.to_string(),
            arch: arch.to_string(),
            from_cache,
            seconds: begin.elapsed().as_secs_f64(),
        })
    }

    /// The PTX text for a virtual architecture, such as `compute_90` (`sm_90` is taken to mean the same).
    pub fn ptx(&self, kernel: &str, source: &str, arch: &str, options: &Options) -> Result<String> {
        let arch = arch.replacen("sm_", "compute_", 1);
        self.check_architecture(&arch, "compute_")?;
        let key = self.key("ptx", kernel, source, &options.arguments(&arch));
        let (bytes, _) = self.cache.get_or_build(key, || {
            let program = self.build(kernel, source, &arch, options)?;
            let mut ptx = program.read("nvrtcGetPTX", self.api.ptx_size, self.api.ptx)?;
            ptx.pop_if(|byte| *byte == 0);
            Ok::<_, CudaError>(ptx)
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn entry(
        &self,
        key: Key,
        kernel: &str,
        source: &str,
        arch: &str,
        options: &Options,
        from_cache: &mut bool,
    ) -> Result<Arc<[u8]>> {
        let (bytes, origin) = self.cache.get_or_build(key, || {
            let program = self.build(kernel, source, arch, options)?;
            let cubin = program.read("nvrtcGetCUBIN", self.api.cubin_size, self.api.cubin)?;
            Ok::<_, CudaError>(pack(&program.log(), &cubin))
        })?;
        *from_cache = origin != Origin::Built;
        Ok(bytes)
    }

    /// Everything that the result depends on. The kernel's name is in it because the log holds it.
    fn key(&self, kind: &str, kernel: &str, source: &str, arguments: &[String]) -> Key {
        let (major, minor) = self.api.version;
        let compiler = format!("nvrtc {major}.{minor} {}", self.api.file_bytes);
        let mut parts = vec![kind.as_bytes(), compiler.as_bytes(), kernel.as_bytes(), source.as_bytes()];
        parts.extend(arguments.iter().map(String::as_bytes));
        Key::new(&parts)
    }

    fn check_architecture(&self, arch: &str, prefix: &str) -> Result<()> {
        let number = arch.strip_prefix(prefix).map(|rest| rest.trim_end_matches(['a', 'f']));
        let number = number.and_then(|digits| digits.parse::<u32>().ok());
        if number.is_some_and(|number| self.architectures.contains(&number)) {
            return Ok(());
        }
        Err(CudaError::UnknownArchitecture {
            asked: arch.to_string(),
            known: self.architectures(),
            version: format!("{}.{}", self.api.version.0, self.api.version.1),
        })
    }

    fn build(&self, kernel: &str, source: &str, arch: &str, options: &Options) -> Result<ProgramHandle> {
        let bad = |what: &str| CudaError::Compile {
            kernel: kernel.to_string(),
            arch: arch.to_string(),
            log: format!("{what} holds a zero byte"),
        };
        let text = CString::new(source).map_err(|_| bad("the source text"))?;
        let name = CString::new(kernel).map_err(|_| bad("the kernel's name"))?;
        let arguments: Vec<CString> = options.arguments(arch).into_iter().flat_map(CString::new).collect();
        if arguments.len() != options.arguments(arch).len() {
            return Err(bad("an option"));
        }
        let pointers: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let api = self.api;
        let mut raw: Program = std::ptr::null_mut();
        // SAFETY: both strings end in zero; no headers are given, so the two arrays may be null.
        let code =
            unsafe { (api.create)(&mut raw, text.as_ptr(), name.as_ptr(), 0, std::ptr::null(), std::ptr::null()) };
        nvrtc_result(api, "nvrtcCreateProgram", code)?;
        let program = ProgramHandle { api, raw };
        // SAFETY: the program is live, and the pointers are to as many strings that outlive the call.
        let code = unsafe { (api.compile)(program.raw, pointers.len() as c_int, pointers.as_ptr()) };
        if code != 0 {
            let mut log = program.log();
            if log.trim().is_empty() {
                log = api.message(code);
            }
            return Err(CudaError::Compile { kernel: kernel.to_string(), arch: arch.to_string(), log });
        }
        Ok(program)
    }
}

/// A program of NVRTC, destroyed with the value.
struct ProgramHandle {
    api: &'static Api,
    raw: Program,
}

impl ProgramHandle {
    /// Reads one of the program's outputs by the pair of functions that give its size and its bytes.
    fn read(
        &self,
        call: &str,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        bytes: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>> {
        let mut len = 0;
        // SAFETY: the program is live, and the function writes one size.
        nvrtc_result(self.api, call, unsafe { size(self.raw, &mut len) })?;
        let mut out = vec![0u8; len];
        // SAFETY: the buffer has as many bytes as the function said it would write.
        nvrtc_result(self.api, call, unsafe { bytes(self.raw, out.as_mut_ptr().cast()) })?;
        Ok(out)
    }

    fn log(&self) -> String {
        let bytes = self.read("nvrtcGetProgramLog", self.api.log_size, self.api.log).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_string()
    }
}

impl Drop for ProgramHandle {
    fn drop(&mut self) {
        // SAFETY: the program is live and is not used afterwards.
        unsafe { (self.api.destroy)(&mut self.raw) };
    }
}

fn list_architectures(api: &'static Api) -> Result<Arc<[u32]>> {
    let mut count = 0;
    // SAFETY: the function writes one integer.
    nvrtc_result(api, "nvrtcGetNumSupportedArchs", unsafe { (api.count_architectures)(&mut count) })?;
    let mut numbers = vec![0 as c_int; count.max(0) as usize];
    // SAFETY: the buffer has as many integers as the function said it would write.
    nvrtc_result(api, "nvrtcGetSupportedArchs", unsafe { (api.list_architectures)(numbers.as_mut_ptr()) })?;
    Ok(numbers.into_iter().filter_map(|number| u32::try_from(number).ok()).collect())
}

fn nvrtc_result(api: &Api, call: &str, code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    Err(CudaError::Driver { call: call.to_string(), code: code as u32, message: api.message(code) })
}

/// Log and binary as one entry of the cache.
fn pack(log: &str, cubin: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(8 + log.len() + cubin.len());
    entry.extend_from_slice(&(log.len() as u64).to_le_bytes());
    entry.extend_from_slice(log.as_bytes());
    entry.extend_from_slice(cubin);
    entry
}

fn unpack(entry: &[u8]) -> Option<(&str, &[u8])> {
    let (len, rest) = entry.split_first_chunk::<8>()?;
    let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
    let (log, cubin) = rest.split_at_checked(len)?;
    Some((std::str::from_utf8(log).ok()?, cubin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_survive_packing_and_strangers_are_refused() {
        let entry = pack("a log", b"\x7fELF");
        assert_eq!(unpack(&entry), Some(("a log", &b"\x7fELF"[..])));
        assert_eq!(unpack(b"short"), None);
        assert_eq!(unpack(&u64::MAX.to_le_bytes()), None);
    }

    #[test]
    fn arguments_say_what_the_options_ask_for() {
        let options = Options { fmad: false, max_registers: Some(64), ..Options::default() };
        let arguments = options.arguments("sm_90");
        for expected in ["--gpu-architecture=sm_90", "--fmad=false", "--maxrregcount=64", "--ptxas-options=-v"] {
            assert!(arguments.iter().any(|argument| argument == expected), "{expected} in {arguments:?}");
        }
        assert!(!options.arguments("compute_90").iter().any(|argument| argument.contains("ptxas")));
    }
}
