//! The cache's folder: one file per entry, two hexadecimal digits of the key as its subfolder.

use super::{CacheError, Key};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const MAGIC: &[u8; 8] = b"farroC01";
const EXTENSION: &str = "farro";
const TEMPORARY: &str = "farrotmp";
/// Magic, key, checksum of the payload.
const HEADER: usize = 8 + 32 + 32;

/// What a look-up on disk found.
pub(super) enum Read {
    Found(Vec<u8>),
    Absent,
    Corrupt,
}

#[derive(Debug)]
pub(super) struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Opens a folder. One that can be read but not written is used, with a warning; one that is no folder is not.
    pub(super) fn open(folder: PathBuf) -> (Option<Self>, Option<CacheError>) {
        if let Err(error) = fs::create_dir_all(&folder) {
            let warning = fault("cannot make the folder", &folder, &error);
            return (folder.is_dir().then_some(Disk { folder }), Some(warning));
        }
        let disk = Disk { folder };
        let probe = disk.temporary_name();
        let warning = fs::write(&probe, b"").err().map(|error| fault("cannot write to", &disk.folder, &error));
        let _ = fs::remove_file(&probe);
        (Some(disk), warning)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn read(&self, key: &Key) -> Read {
        let file = match fs::read(self.file(key)) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Read::Absent,
            Err(_) => return Read::Corrupt,
        };
        let Some((header, payload)) = file.split_at_checked(HEADER) else { return Read::Corrupt };
        let whole = header[..8] == MAGIC[..]
            && header[8..40] == key.0
            && header[40..HEADER] == blake3::hash(payload).as_bytes()[..];
        if whole { Read::Found(payload.to_vec()) } else { Read::Corrupt }
    }

    /// Writes a whole file under a name of its own, then gives it its name in one step.
    pub(super) fn write(&self, key: &Key, payload: &[u8]) -> Result<(), CacheError> {
        let file = self.file(key);
        let temporary = self.temporary_name();
        let write = || {
            fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
            let mut out = fs::File::create(&temporary)?;
            out.write_all(MAGIC)?;
            out.write_all(&key.0)?;
            out.write_all(blake3::hash(payload).as_bytes())?;
            out.write_all(payload)?;
            drop(out);
            fs::rename(&temporary, &file)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&temporary);
            fault("cannot write to", &file, &error)
        })
    }

    pub(super) fn remove(&self, key: &Key) {
        let _ = fs::remove_file(self.file(key));
    }

    /// Number of entries and their bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        let files = self.files();
        let entries = files.iter().filter(|file| has_extension(file, EXTENSION));
        entries.fold((0, 0), |(entries, bytes), file| {
            (entries + 1, bytes + fs::metadata(file).map_or(0, |metadata| metadata.len()))
        })
    }

    /// Removes every entry, and the temporary files of processes that broke off.
    pub(super) fn clean(&self) -> Result<u64, CacheError> {
        let mut removed = 0;
        for file in self.files() {
            match fs::remove_file(&file) {
                Ok(()) => removed += u64::from(has_extension(&file, EXTENSION)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(fault("cannot remove", &file, &error)),
            }
            if let Some(parent) = file.parent().filter(|parent| *parent != self.folder) {
                // Fails while the subfolder holds anything else, which is as it should be.
                let _ = fs::remove_dir(parent);
            }
        }
        Ok(removed)
    }

    fn file(&self, key: &Key) -> PathBuf {
        let hex = key.hex();
        self.folder.join(&hex[..2]).join(&hex[2..]).with_extension(EXTENSION)
    }

    /// A name that no other thread or process uses.
    fn temporary_name(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        self.folder.join(format!("{}-{number}-{time}.{TEMPORARY}", std::process::id()))
    }

    /// The files that a cache wrote: temporary ones in the folder, entries in its two-digit subfolders.
    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            children(&self.folder).into_iter().filter(|path| has_extension(path, TEMPORARY)).collect();
        for subfolder in children(&self.folder) {
            let name = subfolder.file_name().and_then(|name| name.to_str()).unwrap_or("");
            if name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                files.extend(children(&subfolder).into_iter().filter(|path| has_extension(path, EXTENSION)));
            }
        }
        files
    }
}

fn children(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map_or_else(|_| Vec::new(), |entries| entries.flatten().map(|entry| entry.path()).collect())
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn fault(action: &str, path: &Path, error: &std::io::Error) -> CacheError {
    CacheError { action: action.into(), path: path.into(), reason: error.to_string() }
}
