//! Finds and loads the HIP run-time and hiprtc, of ROCm 5 to 7.
//!
//! Each is looked for in this order, and the first one that loads is used: `FARRO_HIP_PATH`, `ROCM_PATH`, `HIP_PATH` (a
//! folder of libraries or an installation), the loader's own path, Python environments, `/opt/rocm/lib`. Structures whose
//! layout changed between versions are not used.

use crate::error::{HipError, Result};
use farro_backends::device::libraries::{Search, files_named};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) const SEARCH: Search = Search {
    variables: &["FARRO_HIP_PATH", "ROCM_PATH", "HIP_PATH"],
    below: &["lib", "lib64"],
    packages: &["_rocm_sdk_core/lib", "torch/lib"],
    usual: &["/opt/rocm/lib"],
};

/// Whether a library can be used, as a plain value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It is loaded.
    Found {
        /// The file, or the bare name when the loader found it on its own path.
        path: String,
        /// Its version, as `major.minor`.
        version: String,
    },
    /// It is not; the reason lists what was tried.
    Missing {
        /// The text of the error that every use of the library gives.
        reason: String,
    },
}

/// Whether the HIP run-time can be used. It says nothing about devices.
pub fn runtime() -> Availability {
    match load_runtime() {
        Ok(api) => Availability::Found { path: api.path.clone(), version: version_text(api.version) },
        Err(error) => Availability::Missing { reason: error.to_string() },
    }
}

/// Whether hiprtc can be used. It needs no device.
pub fn hiprtc() -> Availability {
    match load_hiprtc() {
        Ok(api) => {
            let (major, minor) = api.version;
            Availability::Found { path: api.path.clone(), version: format!("{major}.{minor}") }
        }
        Err(error) => Availability::Missing { reason: error.to_string() },
    }
}

/// A version number of the run-time (10 000 000 · major + 100 000 · minor + patch) as `major.minor`.
pub(crate) fn version_text(version: c_int) -> String {
    format!("{}.{}", version / 10_000_000, version / 100_000 % 100)
}

/// Loads a library for the rest of the process.
fn open(file: &Path) -> Result<&'static libloading::Library, String> {
    // SAFETY: the file is one of AMD's libraries by its name; their initialisers have no preconditions.
    let library = unsafe { libloading::Library::new(file) }.map_err(|error| error.to_string())?;
    // Never closed: its functions must stay where they are.
    Ok(Box::leak(Box::new(library)))
}

macro_rules! api {
    ($(#[$meta:meta])* $name:ident { $($extra:ident : $extra_type:ty),* } { $($field:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)* }) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub(crate) struct $name {
            pub(crate) path: String,
            /// For functions that not every version has.
            #[allow(dead_code)]
            library: &'static libloading::Library,
            $(pub(crate) $extra: $extra_type,)*
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl $name {
            fn load(file: &Path) -> Result<Self, String> {
                let library = open(file)?;
                Ok($name {
                    path: file.display().to_string(),
                    library,
                    $($extra: <$extra_type>::default(),)*
                    $(
                        // SAFETY: the type is the one that the header declares for this symbol.
                        $field: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }
                            .map_err(|error| error.to_string())?,
                    )*
                })
            }
        }
    };
}

/// An object behind a pointer.
pub(crate) type Handle = *mut c_void;

api! {
    /// The HIP run-time.
    Runtime { version: c_int } {
        runtime_version = "hipRuntimeGetVersion": fn(*mut c_int) -> c_int;
        error_string = "hipGetErrorString": fn(c_int) -> *const c_char;
        device_count = "hipGetDeviceCount": fn(*mut c_int) -> c_int;
        set_device = "hipSetDevice": fn(c_int) -> c_int;
        device_name = "hipDeviceGetName": fn(*mut c_char, c_int, c_int) -> c_int;
        device_attribute = "hipDeviceGetAttribute": fn(*mut c_int, c_int, c_int) -> c_int;
        memory_info = "hipMemGetInfo": fn(*mut usize, *mut usize) -> c_int;
        allocate = "hipMalloc": fn(*mut *mut c_void, usize) -> c_int;
        free = "hipFree": fn(*mut c_void) -> c_int;
        copy_to_device = "hipMemcpyHtoDAsync": fn(*mut c_void, *const c_void, usize, Handle) -> c_int;
        copy_to_host = "hipMemcpyDtoHAsync": fn(*mut c_void, *mut c_void, usize, Handle) -> c_int;
        fill = "hipMemsetAsync": fn(*mut c_void, c_int, usize, Handle) -> c_int;
        stream_create = "hipStreamCreateWithFlags": fn(*mut Handle, c_uint) -> c_int;
        stream_destroy = "hipStreamDestroy": fn(Handle) -> c_int;
        stream_wait = "hipStreamSynchronize": fn(Handle) -> c_int;
        event_create = "hipEventCreate": fn(*mut Handle) -> c_int;
        event_record = "hipEventRecord": fn(Handle, Handle) -> c_int;
        event_elapsed = "hipEventElapsedTime": fn(*mut f32, Handle, Handle) -> c_int;
        event_destroy = "hipEventDestroy": fn(Handle) -> c_int;
        module_load = "hipModuleLoadData": fn(*mut Handle, *const c_void) -> c_int;
        module_unload = "hipModuleUnload": fn(Handle) -> c_int;
        module_function = "hipModuleGetFunction": fn(*mut Handle, Handle, *const c_char) -> c_int;
        // Function, grid, block, bytes of local memory, stream, parameters, extra.
        launch = "hipModuleLaunchKernel": fn(
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
        ) -> c_int;
    }
}

api! {
    /// The run-time compiler.
    Hiprtc { version: (c_int, c_int) } {
        version_of = "hiprtcVersion": fn(*mut c_int, *mut c_int) -> c_int;
        error_string = "hiprtcGetErrorString": fn(c_int) -> *const c_char;
        create = "hiprtcCreateProgram": fn(
            *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
        ) -> c_int;
        compile = "hiprtcCompileProgram": fn(Handle, c_int, *const *const c_char) -> c_int;
        destroy = "hiprtcDestroyProgram": fn(*mut Handle) -> c_int;
        log_size = "hiprtcGetProgramLogSize": fn(Handle, *mut usize) -> c_int;
        log = "hiprtcGetProgramLog": fn(Handle, *mut c_char) -> c_int;
        code_size = "hiprtcGetCodeSize": fn(Handle, *mut usize) -> c_int;
        code = "hiprtcGetCode": fn(Handle, *mut c_char) -> c_int;
    }
}

/// Text that lives as long as its library.
pub(crate) fn static_text(text: *const c_char) -> String {
    if text.is_null() {
        return "unknown error".into();
    }
    // SAFETY: not null, and a C string by the library's contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl Runtime {
    /// The run-time's words for a code.
    pub(crate) fn message(&self, code: c_int) -> String {
        // SAFETY: any code is accepted.
        static_text(unsafe { (self.error_string)(code) })
    }
    /// The architecture of a device, such as `gfx90a:sramecc+:xnack-`. It is in a structure whose layout and function
    /// changed with versions; but the name is the only text in it that begins with `gfx`.
    pub(crate) fn architecture(&self, ordinal: c_int) -> Option<String> {
        const BYTES: usize = 1 << 15;
        type Properties = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
        // SAFETY: the type is the one that the header declares for both symbols.
        let function = unsafe {
            let newer = self.library.get::<Properties>(b"hipGetDevicePropertiesR0600\0");
            *newer.or_else(|_| self.library.get::<Properties>(b"hipGetDeviceProperties\0")).ok()?
        };
        let mut words = vec![0u64; BYTES / 8];
        // SAFETY: the buffer is many times larger than the structure of any version.
        if unsafe { function(words.as_mut_ptr().cast(), ordinal) } != 0 {
            return None;
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let start = bytes.windows(4).position(|four| four.starts_with(b"gfx") && four[3].is_ascii_digit())?;
        let name = bytes[start..].split(|byte| *byte == 0).next().unwrap_or_default();
        Some(String::from_utf8_lossy(name).into_owned())
    }
}

/// The oldest run-time whose attributes have the numbers that this crate knows.
const OLDEST_RUNTIME: c_int = 50_000_000;

/// Loads the run-time once per process.
pub(crate) fn load_runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Result<Runtime>> = OnceLock::new();
    RUNTIME.get_or_init(find_runtime).as_ref().map_err(Clone::clone)
}

fn find_runtime() -> Result<Runtime> {
    let mut runtime = find("HIP run-time", &["libamdhip64.so"], Runtime::load)?;
    // SAFETY: the call writes one number.
    let code = unsafe { (runtime.runtime_version)(&mut runtime.version) };
    // Without a device, some versions do not tell theirs.
    if code == 0 && runtime.version < OLDEST_RUNTIME {
        let (found, needed) = (version_text(runtime.version), version_text(OLDEST_RUNTIME));
        return Err(HipError::RuntimeTooOld { found, needed });
    }
    Ok(runtime)
}

/// Loads hiprtc once per process.
pub(crate) fn load_hiprtc() -> Result<&'static Hiprtc> {
    static HIPRTC: OnceLock<Result<Hiprtc>> = OnceLock::new();
    let load = || {
        // ROCm 5 has it in the run-time.
        let mut api = find("hiprtc", &["libhiprtc.so", "libamdhip64.so"], Hiprtc::load)?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the call writes two numbers.
        unsafe { (api.version_of)(&mut major, &mut minor) };
        api.version = (major, minor);
        Ok(api)
    };
    HIPRTC.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn find<T>(which: &str, stems: &[&str], load: impl Fn(&Path) -> Result<T, String>) -> Result<T> {
    let mut searched = Vec::new();
    for place in SEARCH.places() {
        for stem in stems {
            let files: Vec<PathBuf> = if place.is_loader {
                ["7", "6", "5"].iter().map(|version| PathBuf::from(format!("{stem}.{version}"))).collect()
            } else {
                files_named(&place.folders, stem)
            };
            for file in files {
                match load(&file) {
                    Ok(api) => return Ok(api),
                    Err(_) if place.is_loader => {}
                    Err(reason) => searched.push(format!("{} ({reason})", file.display())),
                }
            }
        }
        searched.push(format!("{} (no usable {})", place.origin, stems.join(" or ")));
    }
    Err(HipError::NoLibrary { which: which.into(), searched })
}
