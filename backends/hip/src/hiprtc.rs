//! hiprtc: text in, code object out. Some versions end the process at an architecture that they do not know, so this
//! runs in a process of its own, the program `farro-hiprtc`, where that is found.

use crate::error::{HipError, Result};
use crate::library::{Handle, Hiprtc, load_hiprtc, static_text};
use std::ffi::{CString, c_char, c_int};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Compiles in this process. Gives the log and the code object.
fn compile_here(kernel: &str, source: &str, arch: &str, arguments: &[String]) -> Result<(String, Vec<u8>)> {
    let api = load_hiprtc()?;
    let bad = |log: String| HipError::Compile { kernel: kernel.into(), arch: arch.into(), log };
    let text = CString::new(source).map_err(|_| bad("the text holds a zero byte".into()))?;
    let name = CString::new(kernel).map_err(|_| bad("its name holds a zero byte".into()))?;
    let arguments: Vec<CString> = arguments.iter().flat_map(|argument| CString::new(argument.as_str())).collect();
    let pointers: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    let mut raw: Handle = std::ptr::null_mut();
    // SAFETY: both strings end in zero; no headers are given, so the two arrays may be null.
    let code = unsafe { (api.create)(&mut raw, text.as_ptr(), name.as_ptr(), 0, std::ptr::null(), std::ptr::null()) };
    check(api, "hiprtcCreateProgram", code)?;
    let program = Program { api, raw };
    // SAFETY: the program is live, and the pointers are to as many strings that outlive the call.
    let code = unsafe { (api.compile)(program.raw, pointers.len() as c_int, pointers.as_ptr()) };
    let log = String::from_utf8_lossy(&program.read(api.log_size, api.log).unwrap_or_default()).into_owned();
    let log = log.trim_end_matches('\0').to_owned();
    if code != 0 {
        // SAFETY: any code is accepted.
        let message = static_text(unsafe { (api.error_string)(code) });
        return Err(bad(if log.trim().is_empty() { message } else { log }));
    }
    Ok((log, program.read(api.code_size, api.code)?))
}

struct Program {
    api: &'static Hiprtc,
    raw: Handle,
}

impl Program {
    fn read(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
        bytes: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>> {
        let mut len = 0;
        // SAFETY: the program is live, and the call writes one size.
        check(self.api, "reading hiprtc's output", unsafe { size(self.raw, &mut len) })?;
        let mut out = vec![0u8; len];
        // SAFETY: the buffer has as many bytes as the call said it would write.
        check(self.api, "reading hiprtc's output", unsafe { bytes(self.raw, out.as_mut_ptr().cast()) })?;
        Ok(out)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is live and not used afterwards.
        unsafe { (self.api.destroy)(&mut self.raw) };
    }
}

fn check(api: &Hiprtc, call: &str, code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: any code is accepted.
    let message = static_text(unsafe { (api.error_string)(code) });
    Err(HipError::Call { call: call.into(), code, message })
}

/// The program that compiles in a process of its own: `FARRO_HIPRTC`, or next to the running program.
fn helper() -> Option<PathBuf> {
    if let Some(file) = std::env::var_os("FARRO_HIPRTC").map(PathBuf::from) {
        return Some(file);
    }
    let running = std::env::current_exe().ok()?;
    let name = format!("farro-hiprtc{}", std::env::consts::EXE_SUFFIX);
    running.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// Compiles, in a child process where the program for it is found. Gives the log and the code object.
pub(crate) fn compile(kernel: &str, source: &str, arch: &str, arguments: &[String]) -> Result<(String, Vec<u8>)> {
    let Some(program) = helper() else { return compile_here(kernel, source, arch, arguments) };
    let system = |action: &str, error: std::io::Error| HipError::System {
        action: format!("{action} {}", program.display()),
        reason: error.to_string(),
    };
    let mut child = Command::new(&program)
        .arg(kernel)
        .arg(arch)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| system("starting", error))?;
    if let Some(mut input) = child.stdin.take() {
        // A child that ended early says why below.
        let _ = input.write_all(source.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| system("waiting for", error))?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => Ok((log, output.stdout)),
        Some(REFUSED) => Err(HipError::Compile { kernel: kernel.into(), arch: arch.into(), log }),
        Some(MISSING) => {
            Err(load_hiprtc().err().unwrap_or(HipError::System { action: "loading hiprtc".into(), reason: log }))
        }
        _ => Err(HipError::CompilerCrash {
            kernel: kernel.into(),
            arch: arch.into(),
            status: output.status.to_string(),
            log,
        }),
    }
}

/// The child's exit code when the text does not compile.
const REFUSED: i32 = 3;
/// The child's exit code when there is no hiprtc.
const MISSING: i32 = 4;

/// What the program `farro-hiprtc` does: reads a text from standard input, writes the code object to standard output and
/// the log to standard error. Its arguments are the kernel's name, the architecture and the compiler's options.
pub fn run_child() -> i32 {
    let mut arguments = std::env::args().skip(1);
    let (Some(kernel), Some(arch)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: farro-hiprtc KERNEL ARCHITECTURE OPTION... < text > code-object");
        return 2;
    };
    let mut source = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut source) {
        eprintln!("{error}");
        return 2;
    }
    let arguments: Vec<String> = arguments.collect();
    match compile_here(&kernel, &source, &arch, &arguments) {
        Ok((log, binary)) => {
            eprint!("{log}");
            i32::from(std::io::stdout().write_all(&binary).is_err())
        }
        Err(HipError::Compile { log, .. }) => {
            eprint!("{log}");
            REFUSED
        }
        Err(HipError::NoLibrary { .. }) => MISSING,
        Err(error) => {
            eprint!("{error}");
            REFUSED
        }
    }
}
