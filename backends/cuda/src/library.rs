//! Finds and loads the CUDA driver and NVRTC at run time.
//!
//! Nothing is linked: a program built on a machine without CUDA runs on one with it, and the other way round. Each
//! library is looked for in this order, and the first one that loads is used:
//!
//! 1. `FARRO_CUDA_PATH` (a folder, or several separated as in `PATH`): the folder itself, its `lib64`, `lib`,
//!    `targets/x86_64-linux/lib` (and so on), or a Python environment;
//! 2. `CUDA_HOME`, then `CUDA_PATH`, in the same way;
//! 3. the loader's own path (`LD_LIBRARY_PATH`, the system's folders);
//! 4. `nvidia/*/lib` of a Python environment: `VIRTUAL_ENV`, `CONDA_PREFIX`, that of the `python3` on `PATH`, and the
//!    user's own packages.
//!
//! ```
//! use farro_cuda::library::{self, Availability};
//! match library::nvrtc() {
//!     Availability::Found { path, version, .. } => println!("NVRTC {version} from {path}"),
//!     Availability::Missing { reason } => println!("compiling is not possible here: {reason}"),
//! }
//! ```

use crate::error::{CudaError, Result, version_text};
use cudarc::driver::sys;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

mod search;
use search::Environment;
pub(crate) mod nvrtc_api;

/// Whether a library can be used, as a plain value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It is loaded.
    Found {
        /// The file, or the bare name when the loader found it on its own path.
        path: String,
        /// Its version, as `major.minor`.
        version: String,
        /// What a user may want to know, such as a variable that names a folder without this library.
        note: Option<String>,
    },
    /// It is not; the reason lists what was tried.
    Missing {
        /// The text of the error that every use of the library gives.
        reason: String,
    },
}

impl Availability {
    /// Whether the library can be used.
    pub fn is_found(&self) -> bool {
        matches!(self, Availability::Found { .. })
    }
}

/// Whether the CUDA driver can be used. It says nothing about devices: see [`Device::list`](crate::Device::list).
pub fn driver() -> Availability {
    match load_driver() {
        Ok(driver) => Availability::Found {
            path: driver.path.clone(),
            version: version_text(driver.version),
            note: driver.note.clone(),
        },
        Err(error) => Availability::Missing { reason: error.to_string() },
    }
}

/// Whether NVRTC can be used. It needs no driver and no device.
pub fn nvrtc() -> Availability {
    match load_nvrtc() {
        Ok(api) => Availability::Found {
            path: api.path.clone(),
            version: format!("{}.{}", api.version.0, api.version.1),
            note: api.note.clone(),
        },
        Err(error) => Availability::Missing { reason: error.to_string() },
    }
}

/// The folders that may hold NVIDIA's programs, such as its disassembler.
pub(crate) fn tool_folders() -> Vec<PathBuf> {
    Environment::of_process().tool_folders()
}

/// The oldest driver that has every function which this crate calls: CUDA 12.0.
const OLDEST_DRIVER: i32 = 12000;

/// A loaded driver. That one exists is what makes calls of `cudarc::driver::sys` free of panics.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) path: String,
    /// 1000·major + 10·minor.
    pub(crate) version: i32,
    note: Option<String>,
    /// Under its first name: cudarc knows it under the one of CUDA 12.8 alone.
    pub(crate) event_elapsed: unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult,
    /// From CUDA 12.4 on.
    pub(crate) parameter_info: Option<ParameterInfo>,
}

/// `cuFuncGetParamInfo`: function, index, offset, size.
pub(crate) type ParameterInfo = unsafe extern "C" fn(sys::CUfunction, usize, *mut usize, *mut usize) -> sys::CUresult;

/// Loads the driver once per process.
pub(crate) fn load_driver() -> Result<&'static Driver> {
    static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();
    DRIVER.get_or_init(|| find_driver(&Environment::of_process())).as_ref().map_err(Clone::clone)
}

fn find_driver(environment: &Environment) -> Result<Driver> {
    // A file loaded under its path is found again by cudarc under its name.
    let mut attempts = Vec::new();
    let mut path = None;
    for place in environment.places_of_user() {
        let found = files_named(&place.folders, "libcuda.so");
        path = found.iter().find(|file| preload(file, false, &mut attempts)).map(|file| file.display().to_string());
        if path.is_some() {
            break;
        }
        attempts.push(format!("{} (no libcuda.so)", place.origin));
    }
    // SAFETY: loading the driver runs its initialisers and nothing else of consequence.
    if !unsafe { sys::is_culib_present() } {
        attempts.push("the loader's path (no libcuda.so)".into());
        return Err(CudaError::NoLibrary { which: "CUDA driver".into(), searched: attempts });
    }
    let mut version = 0;
    // SAFETY: the library is present, the function exists in every version, and it writes one integer.
    let code = unsafe { sys::cuDriverGetVersion(&mut version) };
    if code != sys::CUresult::CUDA_SUCCESS {
        return Err(CudaError::NoDevice { reason: format!("the driver does not tell its version ({code:?})") });
    }
    if version < OLDEST_DRIVER {
        return Err(CudaError::DriverTooOld {
            driver: version_text(version),
            needed: version_text(OLDEST_DRIVER),
            remedy: "install a newer driver, or set FARRO_CUDA_PATH to the folder of a CUDA compatibility package"
                .into(),
        });
    }
    let note = (path.is_none() && environment.farro_path_is_set())
        .then(|| "FARRO_CUDA_PATH holds no libcuda.so; the loader's own is used".to_string());
    // SAFETY: the library is present (above), which is all that this needs.
    let library = unsafe { sys::culib() };
    // SAFETY: the type is the one that the driver's header declares for this symbol.
    let event_elapsed = *unsafe { library.get(b"cuEventElapsedTime\0") }
        .map_err(|error| CudaError::NoDevice { reason: format!("not a usable driver: {error}") })?;
    // SAFETY: the type is the one that the driver's header declares for this symbol.
    let parameter_info = unsafe { library.get::<ParameterInfo>(b"cuFuncGetParamInfo\0") }.ok().map(|symbol| *symbol);
    let path = path.unwrap_or_else(|| "libcuda.so (loader's path)".into());
    Ok(Driver { path, version, note, event_elapsed, parameter_info })
}

/// Loads NVRTC once per process.
pub(crate) fn load_nvrtc() -> Result<&'static nvrtc_api::Api> {
    static NVRTC: OnceLock<Result<nvrtc_api::Api>> = OnceLock::new();
    NVRTC.get_or_init(|| find_nvrtc(&Environment::of_process())).as_ref().map_err(Clone::clone)
}

fn find_nvrtc(environment: &Environment) -> Result<nvrtc_api::Api> {
    let mut attempts = Vec::new();
    for place in environment.all_places() {
        let candidates: Vec<PathBuf> = if place.is_loader {
            NVRTC_NAMES.iter().map(PathBuf::from).collect()
        } else {
            files_named(&place.folders, "libnvrtc.so")
        };
        for file in candidates {
            if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                // NVRTC opens this one by its bare name, and wheels do not tell the loader where it is.
                for builtins in files_named(&[folder.to_path_buf()], "libnvrtc-builtins.so") {
                    preload(&builtins, true, &mut attempts);
                }
            }
            match nvrtc_api::Api::load(&file) {
                Ok(mut api) => {
                    if !place.is_user && environment.farro_path_is_set() {
                        api.note = Some(format!("FARRO_CUDA_PATH holds no usable NVRTC; used {} instead", api.path));
                    }
                    return Ok(api);
                }
                Err(_) if place.is_loader => {}
                Err(reason) => attempts.push(format!("{} ({reason})", file.display())),
            }
        }
        attempts.push(format!("{} (no usable libnvrtc.so)", place.origin));
    }
    Err(CudaError::NoLibrary { which: "NVRTC".into(), searched: attempts })
}

/// The names under which the loader may know NVRTC.
const NVRTC_NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0", "nvrtc64_120_0"]
} else {
    &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
};

/// The files of the folders whose names start with `stem`, newest version first within a folder.
fn files_named(folders: &[PathBuf], stem: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.file_name().is_some_and(|name| has_stem(name, stem)))
            .collect();
        files.sort_by_key(|path| std::cmp::Reverse(version_of(path, stem)));
        found.append(&mut files);
    }
    found
}

/// `libx.so`, `libx.so.13`, `libx.so.13.0`, but not `libx.so.debug` or `libx.sold`.
fn has_stem(name: &OsStr, stem: &str) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(stem)) else { return false };
    rest.is_empty()
        || rest.strip_prefix('.').is_some_and(|version| version.split('.').all(|part| part.parse::<u32>().is_ok()))
}

fn version_of(path: &Path, stem: &str) -> Vec<u32> {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
    name.strip_prefix(stem).unwrap_or("").split('.').filter_map(|part| part.parse().ok()).collect()
}

/// Loads a library for the rest of the process.
fn preload(file: &Path, global: bool, attempts: &mut Vec<String>) -> bool {
    match open(file, global) {
        Ok(library) => {
            std::mem::forget(library);
            true
        }
        Err(error) => {
            attempts.push(format!("{} ({error})", file.display()));
            false
        }
    }
}

#[cfg(unix)]
fn open(file: &Path, global: bool) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
    let scope = if global { RTLD_GLOBAL } else { RTLD_LOCAL };
    // SAFETY: the file is one of NVIDIA's libraries by its name; their initialisers have no preconditions.
    unsafe { Library::open(Some(file), RTLD_NOW | scope) }.map(Into::into)
}

#[cfg(not(unix))]
fn open(file: &Path, _global: bool) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: the file is one of NVIDIA's libraries by its name; their initialisers have no preconditions.
    unsafe { libloading::Library::new(file) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_numbers_and_strangers_left_out() {
        let folder = std::env::temp_dir().join(format!("farro-library-test-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["libnvrtc.so", "libnvrtc.so.9", "libnvrtc.so.13", "libnvrtc.alt.so.13", "libnvrtc.so.13.debug"] {
            std::fs::write(folder.join(name), b"").unwrap();
        }
        let names: Vec<String> = files_named(std::slice::from_ref(&folder), "libnvrtc.so")
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(names, ["libnvrtc.so.13", "libnvrtc.so.9", "libnvrtc.so"]);
    }

    #[test]
    fn a_broken_file_is_a_reason_and_the_variable_is_named() {
        let folder = std::env::temp_dir().join(format!("farro-broken-library-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("libnvrtc.so.13"), b"not a library").unwrap();
        let environment = Environment { farro: Some(folder.clone().into()), ..Environment::default() };
        let places = environment.places_of_user();
        let file = files_named(&places[0].folders, "libnvrtc.so").remove(0);
        let error = nvrtc_api::Api::load(&file).unwrap_err();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(!error.is_empty());
        assert!(places[0].origin.starts_with("FARRO_CUDA_PATH="), "{}", places[0].origin);
    }
}
