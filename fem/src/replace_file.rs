//! Writes files whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes to a temporary file beside `path` and renames it into place once complete: readers see the old file or the
/// whole new one. On an error the temporary file is removed and `path` is as before.
pub(crate) fn replace_file<F>(path: &Path, write: F) -> io::Result<()>
where
    F: FnOnce(&mut BufWriter<File>) -> io::Result<()>,
{
    let temporary = temporary_name(path)?;
    let result = write_whole(&temporary, write).and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // The first error is the one to report; a file that was never created cannot be removed.
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn write_whole<F>(path: &Path, write: F) -> io::Result<()>
where
    F: FnOnce(&mut BufWriter<File>) -> io::Result<()>,
{
    let mut out = BufWriter::new(File::create_new(path)?);
    write(&mut out)?;
    out.flush()?;
    out.get_ref().sync_all()
}

// The process and a counter keep writers of the same file apart; the same folder keeps the rename atomic.
fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let file = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut name = std::ffi::OsString::from(".");
    name.push(file);
    name.push(format!(".{}.{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    Ok(path.with_file_name(name))
}
