//! Ceilings on disk, one small file for each device and precision, beside the cache of compiled kernels.
//!
//! A file that cannot be read, or that is another version's or another machine's, is as good as none. What cannot be
//! written is measured again.

use super::Ceilings;
use farro_cuda::cache::default_folder;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Changes whenever the microbenchmarks change.
const VERSION: u32 = 1;

/// What ceilings belong to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Device {
    /// The name of the space, with its precision of arithmetic and, on the host, instruction set and threads.
    pub space: String,
    /// The processor of the machine: the host's own name says nothing about it.
    pub machine: String,
    /// The architecture that kernels are compiled for, such as `sm_90`; empty on the host.
    pub arch: String,
    /// The type of stored values.
    pub stored: String,
}

/// A file's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    version: u32,
    /// What was measured.
    pub device: Device,
    /// The result.
    pub ceilings: Ceilings,
    /// When, in seconds since 1970.
    pub time: u64,
}

/// The folder of the files; none where `FARRO_CACHE_DIR` is empty or there is no cache folder.
pub fn folder() -> Option<PathBuf> {
    Some(default_folder().ok()??.join("ceilings"))
}

fn file(folder: &Path, device: &Device) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    device.hash(&mut hasher);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = device.space.chars().take(40).map(plain).collect();
    folder.join(format!("{name}-{:016x}.json", hasher.finish()))
}

/// The ceilings of a device, if they were measured before.
pub fn find(folder: &Path, device: &Device) -> Option<Ceilings> {
    let entry = read(&file(folder, device))?;
    (entry.device == *device).then_some(entry.ceilings)
}

/// All entries of this version, the newest first.
pub fn list(folder: &Path) -> Vec<Entry> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> = files.filter_map(|file| read(&file.path())).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.time));
    entries
}

/// The newest ceilings of any device of an architecture.
pub fn of_architecture(folder: &Path, arch: &str, stored: &str) -> Option<Entry> {
    list(folder).into_iter().find(|entry| entry.device.arch == arch && entry.device.stored == stored)
}

fn read(path: &Path) -> Option<Entry> {
    if path.extension()? != "json" {
        return None;
    }
    let entry: Entry = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    (entry.version == VERSION).then_some(entry)
}

/// Keeps ceilings, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn keep(folder: &Path, device: &Device, ceilings: &Ceilings) -> std::io::Result<()> {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let entry = Entry { version: VERSION, device: device.clone(), ceilings: *ceilings, time };
    let path = file(folder, device);
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::create_dir_all(folder)?;
    std::fs::write(&temporary, serde_json::to_vec_pretty(&entry)?)?;
    std::fs::rename(&temporary, &path).inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}

/// Removes all entries and tells how many there were. Other files are left alone.
///
/// # Errors
/// When a file cannot be removed.
pub fn clean(folder: &Path) -> std::io::Result<usize> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let ours: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "json" || e == "tmp")).collect();
    for path in &ours {
        std::fs::remove_file(path)?;
    }
    Ok(ours.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_again_and_only_by_their_device() {
        let folder = std::env::temp_dir().join(format!("farro-ceilings-{}", std::process::id()));
        let device = Device {
            space: "NVIDIA H200 (CUDA device 0, f64)".into(),
            machine: "a processor".into(),
            arch: "sm_90".into(),
            stored: "f64".into(),
        };
        let ceilings = Ceilings { gflops: 33e3, triad: 4390.0, ..Ceilings::default() };
        assert_eq!(find(&folder, &device), None);
        keep(&folder, &device, &ceilings).unwrap();
        std::fs::write(folder.join("broken.json"), b"{").unwrap();
        std::fs::write(folder.join("README"), b"").unwrap();
        assert_eq!(find(&folder, &device), Some(ceilings));
        assert_eq!(find(&folder, &Device { stored: "f32".into(), ..device.clone() }), None);
        assert_eq!(of_architecture(&folder, "sm_90", "f64").map(|entry| entry.ceilings), Some(ceilings));
        assert_eq!(of_architecture(&folder, "sm_80", "f64"), None);
        assert_eq!((list(&folder).len(), clean(&folder).unwrap()), (1, 2));
        assert!(folder.join("README").exists() && find(&folder, &device).is_none());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
