//! The cache on its own: no compiler and no device.

mod common;
use common::Scratch;
use farro_cuda::cache::{Cache, Key, Location, Origin};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

fn build(bytes: &[u8]) -> impl FnOnce() -> Result<Vec<u8>, String> {
    let bytes = bytes.to_vec();
    move || Ok(bytes)
}

fn never() -> Result<Vec<u8>, String> {
    Err("built although it is cached".into())
}

fn entry_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            files.extend(entry_files(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn keys_depend_on_every_part_and_on_where_parts_end() {
    let key = Key::new(&[b"ab", b"c"]);
    assert_eq!(key, Key::new(&[b"ab", b"c"]));
    for other in [&[&b"a"[..], b"bc"][..], &[b"abc"], &[b"ab", b"c", b""], &[b"ab", b"d"]] {
        assert_ne!(key, Key::new(other), "{other:?}");
    }
    assert_eq!(key.hex().len(), 64);
}

#[test]
fn second_look_up_is_from_memory_and_a_new_cache_reads_the_disk() {
    let scratch = Scratch::new();
    let key = Key::new(&[b"text"]);
    let cache = Cache::open(scratch.location());
    assert_eq!(cache.warning(), None);
    assert_eq!(cache.get_or_build(key, build(b"binary")).unwrap().1, Origin::Built);
    let (bytes, origin) = cache.get_or_build(key, never).unwrap();
    assert_eq!((&bytes[..], origin), (&b"binary"[..], Origin::Memory));

    let later = Cache::open(scratch.location());
    let (bytes, origin) = later.get_or_build(key, never).unwrap();
    assert_eq!((&bytes[..], origin), (&b"binary"[..], Origin::Disk));
    let stats = later.stats();
    assert_eq!((stats.hits(), stats.disk_hits, stats.misses, stats.entries), (1, 1, 0, 1));
    assert!(stats.bytes >= 6);
    assert_eq!(cache.stats().memory_hits, 1);
}

#[test]
fn every_kind_of_corruption_is_rebuilt() {
    type Damage = fn(Vec<u8>) -> Vec<u8>;
    let damages: [(&str, Damage); 5] = [
        ("empty", |_| Vec::new()),
        ("cut short", |file| file[..file.len() - 1].to_vec()),
        ("longer", |file| [file, vec![0]].concat()),
        ("a bit in the payload", |mut file| {
            *file.last_mut().unwrap() ^= 1;
            file
        }),
        ("another magic", |mut file| {
            file[0] ^= 1;
            file
        }),
    ];
    for (name, damage) in damages {
        let scratch = Scratch::new();
        let key = Key::new(&[b"text"]);
        Cache::open(scratch.location()).get_or_build(key, build(b"binary")).unwrap();
        let file = entry_files(&scratch.0).remove(0);
        std::fs::write(&file, damage(std::fs::read(&file).unwrap())).unwrap();

        let cache = Cache::open(scratch.location());
        let (bytes, origin) = cache.get_or_build(key, build(b"binary")).unwrap();
        assert_eq!((&bytes[..], origin), (&b"binary"[..], Origin::Built), "{name}");
        assert_eq!(cache.stats().rejected, 1, "{name}");
        let again = Cache::open(scratch.location()).get_or_build(key, never).unwrap();
        assert_eq!(again.1, Origin::Disk, "{name}: mended on disk");
    }
}

#[test]
fn an_entry_under_another_keys_name_is_not_used() {
    let scratch = Scratch::new();
    let (one, two) = (Key::new(&[b"one"]), Key::new(&[b"two"]));
    let cache = Cache::open(scratch.location());
    cache.get_or_build(one, build(b"1")).unwrap();
    let file = entry_files(&scratch.0).remove(0);
    let hex = two.hex();
    std::fs::create_dir_all(scratch.0.join(&hex[..2])).unwrap();
    std::fs::copy(file, scratch.0.join(&hex[..2]).join(&hex[2..]).with_extension("farro")).unwrap();
    let (bytes, origin) = cache.get_or_build(two, build(b"2")).unwrap();
    assert_eq!((&bytes[..], origin), (&b"2"[..], Origin::Built));
}

#[test]
fn a_folder_that_cannot_be_used_is_a_warning_and_memory_still_works() {
    let scratch = Scratch::new();
    let file = scratch.0.join("file");
    std::fs::write(&file, b"not a folder").unwrap();
    for folder in [file.clone(), file.join("below")] {
        let cache = Cache::open(Location::Folder(folder.clone()));
        let warning = cache.warning().expect("a warning").to_string();
        assert!(warning.contains(&*folder.to_string_lossy()), "{warning}");
        let key = Key::new(&[b"text"]);
        assert_eq!(cache.get_or_build(key, build(b"binary")).unwrap().1, Origin::Built);
        assert_eq!(cache.get_or_build(key, never).unwrap().1, Origin::Memory);
        assert_eq!(cache.stats().entries, 1);
        assert_eq!(cache.clean(), Ok(1));
    }
}

#[test]
fn a_folder_that_breaks_later_is_a_warning_too() {
    let scratch = Scratch::new();
    let folder = scratch.0.join("cache");
    let cache = Cache::open(Location::Folder(folder.clone()));
    assert_eq!(cache.warning(), None);
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, b"now a file").unwrap();
    let key = Key::new(&[b"text"]);
    assert_eq!(cache.get_or_build(key, build(b"binary")).unwrap().1, Origin::Built);
    assert!(cache.warning().is_some());
    assert_eq!(cache.get_or_build(key, never).unwrap().1, Origin::Memory);
}

#[test]
fn threads_that_race_on_one_key_build_it_once() {
    let scratch = Scratch::new();
    let (cache, barrier, builds) = (Cache::open(scratch.location()), Barrier::new(2), AtomicU32::new(0));
    let key = Key::new(&[b"text"]);
    let slow_build = || {
        builds.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(20));
        Ok::<_, String>(b"binary".to_vec())
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                barrier.wait();
                assert_eq!(&cache.get_or_build(key, slow_build).unwrap().0[..], b"binary");
            });
        }
    });
    assert_eq!(builds.load(Ordering::Relaxed), 1);
}

#[test]
fn caches_that_race_on_one_folder_agree() {
    let scratch = Scratch::new();
    let payload = vec![7u8; 1 << 16];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0u8..20 {
                    let cache = Cache::open(scratch.location());
                    let bytes = cache.get_or_build(Key::new(&[&[round]]), build(&payload)).unwrap().0;
                    assert!(bytes[..] == payload[..]);
                    assert_eq!(cache.stats().rejected, 0, "no torn file is ever seen");
                }
            });
        }
    });
    assert!(entry_files(&scratch.0).iter().all(|file| file.extension().unwrap() == "farro"), "no leftovers");
    assert_eq!(Cache::open(scratch.location()).stats().entries, 20);
}

#[test]
fn a_failed_build_is_not_remembered() {
    let cache = Cache::open(Location::MemoryOnly);
    let key = Key::new(&[b"text"]);
    assert!(cache.get_or_build(key, never).is_err());
    assert_eq!(cache.get_or_build(key, build(b"binary")).unwrap().1, Origin::Built);
    assert_eq!(cache.folder(), None);
}

#[test]
fn clean_removes_entries_and_nothing_else() {
    let scratch = Scratch::new();
    let cache = Cache::open(scratch.location());
    for part in [b"a", b"b", b"c"] {
        cache.get_or_build(Key::new(&[part]), build(b"binary")).unwrap();
    }
    std::fs::write(scratch.0.join("mine.txt"), b"keep").unwrap();
    std::fs::write(scratch.0.join("1-2-3.farrotmp"), b"left by a process that broke off").unwrap();
    assert_eq!(cache.clean(), Ok(3));
    assert_eq!(entry_files(&scratch.0), [scratch.0.join("mine.txt")]);
    assert_eq!(cache.get_or_build(Key::new(&[b"a"]), build(b"binary")).unwrap().1, Origin::Built);
}
