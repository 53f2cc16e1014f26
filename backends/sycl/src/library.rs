//! Finds and loads the SYCL run-time and the OpenCL loader.
//!
//! Each is looked for in this order, and the first one that loads is used: `FARRO_SYCL_PATH` and `ONEAPI_ROOT` (a folder
//! of libraries, an installation, or a Python environment), the loader's own path, Python environments. SYCL is reached
//! through the C interface of dpctl (`libDPCTLSyclInterface`), a Python package: `pip install dpctl intel-opencl-rt` gets
//! all that a CPU device needs.

use crate::error::{Result, SyclError};
use farro_backends::device::libraries::{Place, Search, files_named};
use farro_sycl_sys::opencl::{OpenCl, Svm};
use farro_sycl_sys::{preload, sycl::Sycl};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const SEARCH: Search = Search {
    variables: &["FARRO_SYCL_PATH", "ONEAPI_ROOT"],
    below: &["lib", "lib64", "compiler/latest/lib", "compiler/latest/opt/compiler/lib", "lib/x86_64-linux-gnu"],
    packages: &["dpctl"],
    usual: &["/opt/intel/oneapi/compiler/latest/lib"],
};

/// Libraries that those of the wheels need, but do not find by themselves.
const NEEDED: &[&str] = &["libintlc.so", "libirng.so", "libimf.so", "libsvml.so"];
/// The driver of Intel's CPU device.
const CPU_DRIVER: &str = "libintelocl.so";
/// The OpenCL loader.
const LOADER: &str = "libOpenCL.so.1";

/// Whether a library can be used, as a plain value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It is loaded, from this file.
    Found {
        /// The file, or the bare name when the loader found it on its own path.
        path: String,
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
    fn of(path: Result<&str>) -> Self {
        match path {
            Ok(path) => Availability::Found { path: path.into() },
            Err(error) => Availability::Missing { reason: error.to_string() },
        }
    }
}

/// Whether the SYCL run-time can be used. It says nothing about devices.
pub fn sycl() -> Availability {
    Availability::of(load_sycl().map(|sycl| sycl.path.as_str()))
}

/// Whether OpenCL can be used. It says nothing about devices.
pub fn opencl() -> Availability {
    Availability::of(load_opencl().map(|library| library.api.path.as_str()))
}

/// OpenCL, with shared virtual memory where the loader knows it.
#[derive(Debug)]
pub(crate) struct OpenClLibrary {
    pub api: OpenCl,
    pub svm: Option<Svm>,
}

pub(crate) fn load_sycl() -> Result<&'static Sycl> {
    static SYCL: OnceLock<Result<Sycl>> = OnceLock::new();
    SYCL.get_or_init(find_sycl).as_ref().map_err(Clone::clone)
}

pub(crate) fn load_opencl() -> Result<&'static OpenClLibrary> {
    static OPENCL: OnceLock<Result<OpenClLibrary>> = OnceLock::new();
    OPENCL.get_or_init(find_opencl).as_ref().map_err(Clone::clone)
}

fn find_sycl() -> Result<Sycl> {
    prepare();
    let mut searched = Vec::new();
    for place in SEARCH.places() {
        match first(&place, "libDPCTLSyclInterface.so", &mut searched, |file| {
            for needed in NEEDED.iter().chain(&[LOADER]) {
                if let Some(library) = files_named(&place.folders, needed).first() {
                    preload(library)?;
                }
            }
            Sycl::load(file)
        }) {
            Some(sycl) => return Ok(sycl),
            None => searched.push(format!("{} (no usable libDPCTLSyclInterface.so)", place.origin)),
        }
    }
    let remedy = "`pip install dpctl intel-opencl-rt`".into();
    Err(SyclError::NoLibrary { which: "SYCL run-time".into(), searched, remedy })
}

fn find_opencl() -> Result<OpenClLibrary> {
    prepare();
    let mut searched = Vec::new();
    for place in SEARCH.places() {
        match first(&place, "libOpenCL.so", &mut searched, |file| {
            Ok(OpenClLibrary { api: OpenCl::load(file)?, svm: Svm::load(file).ok() })
        }) {
            Some(library) => return Ok(library),
            None => searched.push(format!("{} (no usable libOpenCL.so)", place.origin)),
        }
    }
    let remedy = "install an OpenCL loader and a driver (`apt-get install pocl-opencl-icd`, or as above)".into();
    Err(SyclError::NoLibrary { which: "OpenCL loader".into(), searched, remedy })
}

/// The first file of that name in a place that `load` accepts.
fn first<T>(
    place: &Place,
    stem: &str,
    searched: &mut Vec<String>,
    load: impl Fn(&Path) -> Result<T, String>,
) -> Option<T> {
    let files: Vec<PathBuf> = if place.is_loader {
        [format!("{stem}.1"), stem.into()].iter().map(PathBuf::from).collect()
    } else {
        files_named(&place.folders, stem)
    };
    for file in files {
        match load(&file) {
            Ok(value) => return Some(value),
            Err(_) if place.is_loader => {}
            Err(reason) => searched.push(format!("{} ({reason})", file.display())),
        }
    }
    None
}

/// Tells the OpenCL loader of a CPU driver that came in a wheel and is registered nowhere.
fn prepare() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        // Somebody has said already which drivers to load.
        if ["OCL_ICD_FILENAMES", "OCL_ICD_VENDORS"].iter().any(|name| std::env::var_os(name).is_some()) {
            return;
        }
        for place in SEARCH.places() {
            let Some(driver) = files_named(&place.folders, CPU_DRIVER).into_iter().next() else { continue };
            let loaded = NEEDED.iter().all(|needed| {
                files_named(&place.folders, needed).first().is_none_or(|library| preload(library).is_ok())
            });
            if loaded {
                // SAFETY: once per process, before the loader that reads the variable is loaded; Rust's own readers are
                // locked out, and C libraries that read the environment at this very moment are none of ours.
                unsafe { std::env::set_var("OCL_ICD_FILENAMES", &driver) };
                // The system's own loader may not read it, and the first loader of a process serves all of it.
                if let Some(loader) = files_named(&place.folders, LOADER).first() {
                    let _ = preload(loader);
                }
                return;
            }
        }
    });
}
