//! Text in, code object out, for an exact architecture: by clang, or by hiprtc. Neither needs a device.

use crate::arch::Architecture;
use crate::error::{HipError, Result};
use crate::resources::{self, Resources};
use crate::{hiprtc, library};
use farro_backends::device::cache::{Cache, Key, Origin};
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What `min_blocks` of launch bounds means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BoundsMeaning {
    /// Teams that fit a compute unit, as on all backends: waves = ⌈minB·⌈B/wavefront⌉/4⌉.
    #[default]
    Portable,
    /// HIP's own (and Kokkos'): waves of a SIMD.
    Native,
}

/// How to compile. Everything in here is part of the cache's key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Options {
    /// What `min_blocks` of launch bounds means.
    pub bounds: BoundsMeaning,
    /// Whether sums of floating-point numbers may be single instructions (`-munsafe-fp-atomics`); device memory of a GPU,
    /// which is all that views have, allows it.
    pub native_atomics: bool,
    /// Further options, passed on as they are.
    pub extra: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { bounds: BoundsMeaning::Portable, native_atomics: true, extra: Vec::new() }
    }
}

impl Options {
    fn arguments(&self, arch: &str) -> Vec<String> {
        let mut arguments = vec![format!("--offload-arch={arch}"), "-O3".into(), "-std=c++17".into()];
        // A product and a sum are fused where the kernel says so; this lets the compiler do it elsewhere, as in CUDA.
        arguments.push("-ffp-contract=fast".into());
        if self.native_atomics {
            arguments.push("-munsafe-fp-atomics".into());
        }
        if self.bounds == BoundsMeaning::Native {
            arguments.push("-DFARRO_NATIVE_BOUNDS".into());
        }
        arguments.extend(self.extra.iter().cloned());
        arguments
    }
}

/// A code object and what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The code object.
    pub code_object: Vec<u8>,
    /// What its kernel uses.
    pub resources: Resources,
    /// The architecture that its note names.
    pub target: String,
    /// The compiler's log.
    pub log: String,
    /// Whether it came from the cache.
    pub from_cache: bool,
    /// Seconds that this call took.
    pub seconds: f64,
}

#[derive(Debug, Clone)]
enum Tool {
    Clang(PathBuf),
    Hiprtc,
}

/// A compiler with a cache in front.
#[derive(Clone)]
pub struct Compiler {
    tool: Tool,
    version: String,
    cache: Arc<Cache>,
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compiler({})", self.version)
    }
}

impl Compiler {
    /// clang where there is one for AMD devices, else hiprtc.
    ///
    /// # Errors
    /// Where there is neither.
    pub fn new(cache: Cache) -> Result<Self> {
        let cache = Arc::new(cache);
        let without_clang = match Self::clang_with(Arc::clone(&cache)) {
            Err(HipError::NoCompiler { searched }) => searched,
            other => return other,
        };
        Self::hiprtc_with(cache).map_err(|error| {
            let mut searched = without_clang;
            searched.push(error.to_string());
            HipError::NoCompiler { searched }
        })
    }
    /// clang: `FARRO_HIP_CLANG`, that of ROCm, or one on `PATH`.
    ///
    /// # Errors
    /// Where there is none that writes for AMD devices.
    pub fn clang(cache: Cache) -> Result<Self> {
        Self::clang_with(Arc::new(cache))
    }
    fn clang_with(cache: Arc<Cache>) -> Result<Self> {
        let mut searched = Vec::new();
        for program in candidates() {
            match clang_version(&program) {
                Ok(version) => return Ok(Compiler { tool: Tool::Clang(program), version, cache }),
                Err(reason) => searched.push(format!("{} ({reason})", program.display())),
            }
        }
        Err(HipError::NoCompiler { searched })
    }
    /// hiprtc.
    ///
    /// # Errors
    /// Where there is none.
    pub fn hiprtc(cache: Cache) -> Result<Self> {
        Self::hiprtc_with(Arc::new(cache))
    }
    fn hiprtc_with(cache: Arc<Cache>) -> Result<Self> {
        let api = library::load_hiprtc()?;
        let version = format!("hiprtc {}.{} ({})", api.version.0, api.version.1, api.path);
        Ok(Compiler { tool: Tool::Hiprtc, version, cache })
    }

    /// The compiler's name and version.
    pub fn version(&self) -> &str {
        &self.version
    }
    /// The cache in use.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    /// Compiles for one architecture, such as `gfx90a`. The kernel's name is for messages, `entry` that of the function.
    ///
    /// # Errors
    /// When the compiler does not know the architecture, or refuses the text.
    pub fn compile(&self, kernel: &str, entry: &str, source: &str, arch: &str, options: &Options) -> Result<Compiled> {
        let begin = Instant::now();
        // Before some hiprtc ends the process for it.
        if Architecture::named(arch).is_none() {
            return Err(self.unknown(arch));
        }
        let arguments = options.arguments(arch);
        let mut parts = vec!["code object", &self.version, kernel, source];
        parts.extend(arguments.iter().map(String::as_str));
        let parts: Vec<&[u8]> = parts.into_iter().map(str::as_bytes).collect();
        let key = Key::new(&parts);
        let build = || -> Result<Vec<u8>> {
            let (log, code_object) = self.build(kernel, source, arch, &arguments)?;
            let mut entry = (log.len() as u64).to_le_bytes().to_vec();
            entry.extend_from_slice(log.as_bytes());
            entry.extend_from_slice(&code_object);
            Ok(entry)
        };
        let (mut bytes, mut origin) = self.cache.get_or_build(key, build)?;
        if unpack(&bytes).is_none() {
            // The bytes verify, but they are not ours.
            self.cache.forget(&key);
            (bytes, origin) = self.cache.get_or_build(key, build)?;
        }
        let (log, code_object) = unpack(&bytes).unwrap_or_default();
        let (resources, target) = resources::read(kernel, entry, code_object)?;
        Ok(Compiled {
            code_object: code_object.to_vec(),
            resources,
            target,
            log: log.into(),
            from_cache: origin != Origin::Built,
            seconds: begin.elapsed().as_secs_f64(),
        })
    }

    fn unknown(&self, arch: &str) -> HipError {
        let known = Architecture::names();
        HipError::UnknownArchitecture { asked: arch.into(), known, compiler: self.version.clone() }
    }

    fn build(&self, kernel: &str, source: &str, arch: &str, arguments: &[String]) -> Result<(String, Vec<u8>)> {
        match &self.tool {
            Tool::Hiprtc => hiprtc::compile(kernel, source, arch, arguments),
            Tool::Clang(program) => self.build_by_clang(program, kernel, source, arch, arguments),
        }
    }
    fn build_by_clang(
        &self,
        program: &PathBuf,
        kernel: &str,
        source: &str,
        arch: &str,
        arguments: &[String],
    ) -> Result<(String, Vec<u8>)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = std::env::temp_dir().join(format!("farro-hip-{}-{number}.co", std::process::id()));
        let system = |action: &str, error: std::io::Error| HipError::System {
            action: format!("{action} {}", program.display()),
            reason: error.to_string(),
        };
        let mut child = Command::new(program)
            .args(["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib"])
            .args(arguments)
            .arg("-o")
            .arg(&place)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| system("starting", error))?;
        if let Some(mut input) = child.stdin.take() {
            // A compiler that ended early says why below.
            let _ = input.write_all(source.as_bytes());
        }
        let output = child.wait_with_output().map_err(|error| system("waiting for", error))?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        let binary = std::fs::read(&place);
        let _ = std::fs::remove_file(&place);
        match output.status.code() {
            Some(0) => Ok((log, binary.map_err(|error| system("reading the output of", error))?)),
            Some(_) if log.contains("unsupported HIP gpu architecture") => Err(self.unknown(arch)),
            Some(1) => Err(HipError::Compile { kernel: kernel.into(), arch: arch.into(), log }),
            _ => Err(HipError::CompilerCrash {
                kernel: kernel.into(),
                arch: arch.into(),
                status: output.status.to_string(),
                log,
            }),
        }
    }
}

/// The programs that may be a clang for AMD devices, in order.
fn candidates() -> Vec<PathBuf> {
    if let Some(program) = std::env::var_os("FARRO_HIP_CLANG").filter(|value| !value.is_empty()) {
        return vec![program.into()];
    }
    let roots = ["FARRO_HIP_PATH", "ROCM_PATH", "HIP_PATH"].iter().filter_map(std::env::var_os).map(PathBuf::from);
    let mut programs: Vec<PathBuf> = roots
        .chain([PathBuf::from("/opt/rocm")])
        .flat_map(|root| [root.join("llvm/bin/clang++"), root.join("bin/amdclang++")])
        .filter(|program| program.is_file())
        .collect();
    programs.extend((17..=23).rev().map(|version| PathBuf::from(format!("clang-{version}"))));
    programs.push("clang".into());
    programs
}

/// The version of a clang that writes for AMD devices, or why this is none.
fn clang_version(program: &PathBuf) -> std::result::Result<String, String> {
    let ask = |argument: &str| {
        let output = Command::new(program).arg(argument).output().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "not there".to_string(),
            _ => error.to_string(),
        })?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    if !ask("--print-targets")?.contains("amdgcn") {
        return Err("it does not write for AMD devices".into());
    }
    let version = ask("--version")?.lines().next().unwrap_or_default().to_owned();
    // Without a linker it fails at the first kernel, with a message that few understand.
    let linker = ask("--print-prog-name=ld.lld")?;
    if !PathBuf::from(linker.trim()).is_absolute() {
        return Err(format!("{version} has no lld; install the lld of its version"));
    }
    Ok(format!("{version} ({})", program.display()))
}

fn unpack(entry: &[u8]) -> Option<(&str, &[u8])> {
    let (len, rest) = entry.split_first_chunk::<8>()?;
    let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
    let (log, binary) = rest.split_at_checked(len)?;
    Some((std::str::from_utf8(log).ok()?, binary))
}
