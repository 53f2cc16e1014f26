//! NVRTC's functions, loaded from the very file that the search chose.
//!
//! cudarc would look for NVRTC under its bare names on the loader's path first, and so could use another file than
//! the one that the user named; it also panics for a function that an older version lacks.

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

/// `nvrtcProgram`.
pub(crate) type Program = *mut std::ffi::c_void;
/// `nvrtcResult`: an integer, since newer versions have values that this crate has never heard of.
pub(crate) type Code = c_int;

macro_rules! api {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// A loaded NVRTC. It stays loaded until the process ends.
        #[derive(Debug)]
        pub(crate) struct Api {
            /// The file, or the bare name.
            pub(crate) path: String,
            /// Major and minor.
            pub(crate) version: (i32, i32),
            /// Bytes of the library's file: tells builds of one version apart.
            pub(crate) file_bytes: u64,
            pub(crate) note: Option<String>,
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Api {
            /// Loads the library and looks up its functions; the error is the loader's text.
            pub(crate) fn load(file: &Path) -> Result<Self, String> {
                let library = super::open(file, false).map_err(|error| error.to_string())?;
                // Never closed: the functions below must stay where they are.
                let library: &'static libloading::Library = Box::leak(Box::new(library));
                let mut api = Api {
                    path: file.display().to_string(),
                    version: (0, 0),
                    file_bytes: std::fs::metadata(file).map_or(0, |metadata| metadata.len()),
                    note: None,
                    $(
                        // SAFETY: the type is the one that NVRTC's header declares for this symbol.
                        $field: *unsafe { library.get($symbol) }.map_err(|error| error.to_string())?,
                    )*
                };
                let (mut major, mut minor) = (0, 0);
                // SAFETY: the function writes its two integers.
                let code = unsafe { (api.version_of)(&mut major, &mut minor) };
                if code != 0 {
                    return Err(api.message(code));
                }
                api.version = (major, minor);
                Ok(api)
            }
        }
    };
}

api! {
    version_of = b"nvrtcVersion\0": fn(*mut c_int, *mut c_int) -> Code;
    count_architectures = b"nvrtcGetNumSupportedArchs\0": fn(*mut c_int) -> Code;
    list_architectures = b"nvrtcGetSupportedArchs\0": fn(*mut c_int) -> Code;
    create = b"nvrtcCreateProgram\0": fn(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> Code;
    compile = b"nvrtcCompileProgram\0": fn(Program, c_int, *const *const c_char) -> Code;
    destroy = b"nvrtcDestroyProgram\0": fn(*mut Program) -> Code;
    cubin_size = b"nvrtcGetCUBINSize\0": fn(Program, *mut usize) -> Code;
    cubin = b"nvrtcGetCUBIN\0": fn(Program, *mut c_char) -> Code;
    ptx_size = b"nvrtcGetPTXSize\0": fn(Program, *mut usize) -> Code;
    ptx = b"nvrtcGetPTX\0": fn(Program, *mut c_char) -> Code;
    log_size = b"nvrtcGetProgramLogSize\0": fn(Program, *mut usize) -> Code;
    log = b"nvrtcGetProgramLog\0": fn(Program, *mut c_char) -> Code;
    error_string = b"nvrtcGetErrorString\0": fn(Code) -> *const c_char;
}

impl Api {
    /// NVRTC's words for a code.
    pub(crate) fn message(&self, code: Code) -> String {
        // SAFETY: any integer is accepted; the result is null or a string that lives as long as the library.
        let text = unsafe { (self.error_string)(code) };
        if text.is_null() {
            return "unknown error".into();
        }
        // SAFETY: not null, and a C string by NVRTC's contract.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
