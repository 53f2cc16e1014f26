//! A cache of compiled binaries in memory and on disk: bytes in, bytes out.
//!
//! Nothing here is about a vendor; any backend with a slow compiler can use it. A [`Key`] is the hash of everything that
//! the result depends on. On disk an entry is one file with a checksum, written to a temporary name and renamed, so
//! that several processes may share a folder; an entry that does not verify is built again. A folder that cannot be
//! used costs nothing but speed: the cache then works in memory and [`Cache::warning`] says why.
//!
//! ```
//! use farro_backends::device::cache::{Cache, Key, Location, Origin};
//! let cache = Cache::open(Location::MemoryOnly);
//! let key = Key::new(&[b"source text", b"-O3", b"gfx90a"]);
//! let (first, origin) = cache.get_or_build(key, || Ok::<_, ()>(b"binary".to_vec())).unwrap();
//! assert_eq!((&first[..], origin), (&b"binary"[..], Origin::Built));
//! assert_eq!(cache.get_or_build(key, || Err(())).unwrap().1, Origin::Memory);
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod disk;
use disk::Disk;

/// Changes whenever the meaning of cached bytes changes; entries of another version are never read.
pub const FORMAT_VERSION: u32 = 1;

/// The hash of everything that a cached result depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key([u8; 32]);

impl Key {
    /// Hashes the parts with their lengths, so that moving bytes between parts changes the key.
    pub fn new(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&FORMAT_VERSION.to_le_bytes());
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Key(*hasher.finalize().as_bytes())
    }

    /// The key as 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        blake3::Hash::from(self.0).to_hex().to_string()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.hex())
    }
}

/// Where a cache keeps its entries between processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// The folder named by `FARRO_CACHE_DIR` (empty: memory only), else `farro` in the user's cache folder.
    Default,
    /// This folder; it is made when it does not exist.
    Folder(PathBuf),
    /// Nowhere: entries live as long as the process.
    MemoryOnly,
}

/// Where the bytes of one look-up came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Built by this call.
    Built,
    /// Found in this process.
    Memory,
    /// Read from disk.
    Disk,
}

/// A cache folder could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{action} {}: {reason}", .path.display())]
pub struct CacheError {
    /// What was attempted, as in `cannot write to`.
    pub action: String,
    /// The folder or file.
    pub path: PathBuf,
    /// The operating system's words.
    pub reason: String,
}

/// What a cache did since it was opened, and what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Look-ups answered from memory.
    pub memory_hits: u64,
    /// Look-ups answered from disk.
    pub disk_hits: u64,
    /// Look-ups that had to build.
    pub misses: u64,
    /// Entries on disk that did not verify and were built again.
    pub rejected: u64,
    /// Entries held: on disk when there is a folder, else in memory.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Stats {
    /// Look-ups that did not have to build.
    pub fn hits(&self) -> u64 {
        self.memory_hits + self.disk_hits
    }
}

/// The bytes of one key; the lock is held while they are built, so that a key is built once per process.
type Slot = Arc<Mutex<Option<Arc<[u8]>>>>;

/// See the [module's description](self).
#[derive(Debug)]
pub struct Cache {
    disk: Option<Disk>,
    slots: Mutex<HashMap<Key, Slot>>,
    warning: Mutex<Option<CacheError>>,
    memory_hits: AtomicU64,
    disk_hits: AtomicU64,
    misses: AtomicU64,
    rejected: AtomicU64,
}

impl Cache {
    /// Opens a cache. This never fails: see [`warning`](Cache::warning) for a folder that cannot be used.
    pub fn open(location: Location) -> Self {
        let folder = match location {
            Location::MemoryOnly => Ok(None),
            Location::Folder(folder) => Ok(Some(folder)),
            Location::Default => default_folder(),
        };
        let (disk, warning) = match folder {
            Ok(None) => (None, None),
            Ok(Some(folder)) => Disk::open(folder),
            Err(error) => (None, Some(error)),
        };
        Cache {
            disk,
            slots: Mutex::default(),
            warning: Mutex::new(warning),
            memory_hits: AtomicU64::new(0),
            disk_hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
        }
    }

    /// The folder in use, if any.
    pub fn folder(&self) -> Option<&Path> {
        self.disk.as_ref().map(Disk::folder)
    }

    /// Why entries are not kept between processes, although they were meant to be.
    pub fn warning(&self) -> Option<CacheError> {
        locked(&self.warning).clone()
    }

    /// The bytes of a key, built if they are neither in memory nor on disk.
    ///
    /// Threads that ask for one key at one time wait for a single build. A failed build is not remembered.
    pub fn get_or_build<E>(
        &self,
        key: Key,
        build: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<(Arc<[u8]>, Origin), E> {
        let slot = Arc::clone(locked(&self.slots).entry(key).or_default());
        let mut slot = locked(&slot);
        if let Some(bytes) = &*slot {
            self.memory_hits.fetch_add(1, Ordering::Relaxed);
            return Ok((Arc::clone(bytes), Origin::Memory));
        }
        if let Some(disk) = &self.disk {
            match disk.read(&key) {
                disk::Read::Found(bytes) => {
                    self.disk_hits.fetch_add(1, Ordering::Relaxed);
                    let bytes: Arc<[u8]> = bytes.into();
                    *slot = Some(Arc::clone(&bytes));
                    return Ok((bytes, Origin::Disk));
                }
                disk::Read::Corrupt => {
                    self.rejected.fetch_add(1, Ordering::Relaxed);
                }
                disk::Read::Absent => {}
            }
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let bytes: Arc<[u8]> = build()?.into();
        *slot = Some(Arc::clone(&bytes));
        if let Some(disk) = &self.disk
            && let Err(error) = disk.write(&key, &bytes)
        {
            locked(&self.warning).get_or_insert(error);
        }
        Ok((bytes, Origin::Built))
    }

    /// Forgets one key in memory and on disk, for bytes that verified but turned out to be useless.
    pub fn forget(&self, key: &Key) {
        locked(&self.slots).remove(key);
        if let Some(disk) = &self.disk {
            disk.remove(key);
        }
    }

    /// Counters, and the number and bytes of entries.
    pub fn stats(&self) -> Stats {
        let (entries, bytes) = match &self.disk {
            Some(disk) => disk.size(),
            None => {
                let slots: Vec<Slot> = locked(&self.slots).values().cloned().collect();
                let held = slots.iter().filter_map(|slot| locked(slot).as_ref().map(|bytes| bytes.len() as u64));
                held.fold((0, 0), |(entries, bytes), len| (entries + 1, bytes + len))
            }
        };
        Stats {
            memory_hits: self.memory_hits.load(Ordering::Relaxed),
            disk_hits: self.disk_hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            rejected: self.rejected.load(Ordering::Relaxed),
            entries,
            bytes,
        }
    }

    /// Removes every entry from memory and disk and tells how many there were. Only files that a cache wrote are
    /// touched, whatever else lies in the folder.
    pub fn clean(&self) -> Result<u64, CacheError> {
        let before = self.stats().entries;
        locked(&self.slots).clear();
        match &self.disk {
            Some(disk) => disk.clean(),
            None => Ok(before),
        }
    }
}

/// The folder of [`Location::Default`]; none where `FARRO_CACHE_DIR` is empty.
///
/// # Errors
/// When the user has no cache folder.
pub fn default_folder() -> Result<Option<PathBuf>, CacheError> {
    use etcetera::BaseStrategy;
    match std::env::var_os("FARRO_CACHE_DIR") {
        Some(folder) if folder.is_empty() => Ok(None),
        Some(folder) => Ok(Some(folder.into())),
        None => match etcetera::choose_base_strategy() {
            Ok(strategy) => Ok(Some(strategy.cache_dir().join("farro"))),
            Err(error) => Err(CacheError {
                action: "cannot find the user's cache folder; set".into(),
                path: "FARRO_CACHE_DIR".into(),
                reason: error.to_string(),
            }),
        },
    }
}

/// A panic elsewhere leaves every value here whole, so poisoning carries no news.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
