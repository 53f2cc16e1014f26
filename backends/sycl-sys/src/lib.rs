//! Bindings to SYCL through the C interface of dpctl (`libDPCTLSyclInterface`), and to OpenCL.
//!
//! Nothing is linked: a library is a file that is loaded when it is asked for, and its absence is a text. The bindings
//! are those functions that farro calls, with the names, types and constants of the C headers.
#![deny(missing_docs)]

pub mod opencl;
pub mod sycl;

use std::path::Path;

/// Declares a structure of functions that are looked up in a library.
macro_rules! functions {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name {
            /// The file, or the bare name.
            pub path: String,
            $(
                #[doc = concat!("`", $symbol, "`")]
                $(#[$doc])*
                pub $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
        }

        impl $name {
            /// Loads the library for the rest of the process and looks up its functions.
            ///
            /// # Errors
            /// The loader's text.
            pub fn load(file: &std::path::Path) -> Result<Self, String> {
                let library = $crate::open(file)?;
                // Never closed: the functions must stay where they are.
                let library: &'static libloading::Library = Box::leak(Box::new(library));
                Ok($name {
                    path: file.display().to_string(),
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
use functions;

/// Loads a library so that those loaded later find its symbols.
#[cfg(unix)]
fn open(file: &Path) -> Result<libloading::Library, String> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: the file is one of the run-time's libraries by its name; their initialisers have no preconditions.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }.map(Into::into).map_err(|error| error.to_string())
}

#[cfg(not(unix))]
fn open(file: &Path) -> Result<libloading::Library, String> {
    // SAFETY: the file is one of the run-time's libraries by its name; their initialisers have no preconditions.
    unsafe { libloading::Library::new(file) }.map_err(|error| error.to_string())
}

/// Loads a library for the rest of the process, for its symbols alone.
///
/// # Errors
/// The loader's text.
pub fn preload(file: &Path) -> Result<(), String> {
    open(file).map(std::mem::forget)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_missing_library_is_a_text() {
        let file = std::path::Path::new("/no/such/libOpenCL.so.1");
        assert!(!super::opencl::OpenCl::load(file).unwrap_err().is_empty());
        assert!(!super::sycl::Sycl::load(file).unwrap_err().is_empty());
        assert!(super::preload(file).is_err());
    }
}
