//! A binary's instructions, through NVIDIA's `nvdisasm` or `cuobjdump` where one of them is installed.

use crate::error::{CudaError, Result};
use crate::library::tool_folders;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The tools, in the order in which they are tried, with the flags that make them print code alone.
const TOOLS: [(&str, &[&str]); 2] = [("nvdisasm", &["-c"]), ("cuobjdump", &["-sass"])];

/// The instructions of a CUBIN as text.
///
/// The tools are looked for in `bin` of `FARRO_CUDA_PATH`, `CUDA_HOME` and `CUDA_PATH`, on `PATH`, and in the `nvidia`
/// packages of a Python environment.
///
/// # Errors
/// [`CudaError::NoDisassembler`] with the folders that were looked at where there is no such tool; [`CudaError::Driver`] with
/// the tool's words where it refuses the binary, as it does when it is older than the architecture.
pub fn disassemble(cubin: &[u8]) -> Result<String> {
    let folders = tool_folders();
    let mut refusal = None;
    for (tool, flags) in TOOLS {
        for program in candidates(&folders, tool) {
            match run(&program, flags, cubin) {
                Ok(text) => return Ok(text),
                Err(message) => {
                    let call = program.display().to_string();
                    refusal.get_or_insert(CudaError::Driver { call, code: 1, message });
                }
            }
        }
    }
    Err(refusal.unwrap_or_else(|| CudaError::NoDisassembler {
        searched: folders.iter().map(|folder| folder.display().to_string()).collect(),
    }))
}

fn candidates(folders: &[PathBuf], tool: &str) -> Vec<PathBuf> {
    let name = format!("{tool}{}", std::env::consts::EXE_SUFFIX);
    folders.iter().map(|folder| folder.join(&name)).filter(|program| program.is_file()).collect()
}

fn run(program: &Path, flags: &[&str], cubin: &[u8]) -> Result<String, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("farro-{}-{number}.cubin", std::process::id()));
    std::fs::write(&file, cubin).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    let output = Command::new(program).args(flags).arg(&file).output();
    let _ = std::fs::remove_file(&file);
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_string());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The name of a temporary file would make every text another one.
    Ok(text.replace(&file.display().to_string(), "kernel.cubin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_by_name_and_a_broken_one_is_a_reason() {
        let folder = std::env::temp_dir().join(format!("farro-tools-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("nvdisasm{}", std::env::consts::EXE_SUFFIX)), b"not a program").unwrap();
        let found = candidates(&[PathBuf::from("/nowhere"), folder.clone()], "nvdisasm");
        assert_eq!(found.len(), 1);
        let error = run(&found[0], &["-c"], b"").unwrap_err();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(!error.is_empty());
        assert!(candidates(&[folder], "cuobjdump").is_empty());
    }
}
