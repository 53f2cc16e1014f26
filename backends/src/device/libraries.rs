//! Where a vendor's libraries may be, in the order in which users expect them to be looked for.
//!
//! Variables that the user set come first, then the loader's own path, then Python environments (`VIRTUAL_ENV`,
//! `CONDA_PREFIX`, that of the `python3` on `PATH`, the user's own packages), since wheels bring run-times along.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// Variables that name folders, the product's own first.
    pub variables: &'static [&'static str],
    /// Folders below those that a variable names.
    pub below: &'static [&'static str],
    /// Folders below a Python environment's packages.
    pub packages: &'static [&'static str],
    /// Folders that the vendor installs to, tried last.
    pub usual: &'static [&'static str],
}

/// One step of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// For messages: which variable or rule led here.
    pub origin: String,
    /// Folders that may hold the library; none for the loader's own path.
    pub folders: Vec<PathBuf>,
    /// The loader's own path: bare names.
    pub is_loader: bool,
}

impl Search {
    /// All places, in order, by the variables of this process.
    pub fn places(&self) -> Vec<Place> {
        self.places_with(&|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    /// All places, in order, by the variables that `get` gives.
    pub fn places_with(&self, get: &dyn Fn(&str) -> Option<OsString>) -> Vec<Place> {
        let mut places = Vec::new();
        for name in self.variables {
            let Some(value) = get(name) else { continue };
            let roots = std::env::split_paths(&value);
            let origin = format!("{name}={}", value.to_string_lossy());
            places.push(Place {
                origin,
                folders: roots.flat_map(|root| self.below(&root)).collect(),
                is_loader: false,
            });
        }
        places.push(Place { origin: "the loader's path".into(), folders: Vec::new(), is_loader: true });
        for (origin, prefix) in python_prefixes(get) {
            let folders = self.below(&prefix);
            places.push(Place { origin: format!("{origin} {}", prefix.display()), folders, is_loader: false });
        }
        for folder in self.usual {
            places.push(Place { origin: (*folder).into(), folders: vec![folder.into()], is_loader: false });
        }
        places
    }

    fn below(&self, root: &Path) -> Vec<PathBuf> {
        if root.is_file() {
            return root.parent().map(Path::to_path_buf).into_iter().collect();
        }
        let mut folders = vec![root.to_path_buf()];
        folders.extend(self.below.iter().map(|below| root.join(below)));
        for lib in ["lib", "lib64", "local/lib"] {
            for python in children_starting_with(&root.join(lib), "python3") {
                for packages in ["site-packages", "dist-packages"] {
                    folders.extend(self.packages.iter().map(|package| python.join(packages).join(package)));
                }
            }
        }
        folders.retain(|folder| folder.is_dir());
        folders
    }
}

/// The prefixes of Python environments, without running Python.
fn python_prefixes(get: &dyn Fn(&str) -> Option<OsString>) -> Vec<(&'static str, PathBuf)> {
    let mut prefixes: Vec<(&'static str, PathBuf)> = Vec::new();
    let mut add = |origin, prefix: PathBuf| {
        if !prefixes.iter().any(|(_, known)| *known == prefix) {
            prefixes.push((origin, prefix));
        }
    };
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        if let Some(value) = get(name) {
            add(name, value.into());
        }
    }
    let path = get("PATH").unwrap_or_default();
    if let Some(python) = std::env::split_paths(&path).map(|folder| folder.join("python3")).find(|file| file.is_file())
    {
        // An environment's python3 is a link: both its own prefix and the one it leads to are candidates.
        for python in [Some(python.clone()), python.canonicalize().ok()].into_iter().flatten() {
            if let Some(prefix) = python.parent().and_then(Path::parent) {
                add("python3 of", prefix.into());
            }
        }
    }
    if let Some(home) = get("HOME") {
        add("packages of", Path::new(&home).join(".local"));
    }
    prefixes
}

fn children_starting_with(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut children: Vec<PathBuf> = entries
        .filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(start)))
        .collect();
    children.sort();
    children.reverse();
    children
}

/// The files `stem`, `stem.7`, `stem.7.1` (but not `stem.debug`) in the folders, newest version first within a folder.
pub fn files_named(folders: &[PathBuf], stem: &str) -> Vec<PathBuf> {
    let version = |path: &Path| -> Option<Vec<u32>> {
        let rest = path.file_name()?.to_str()?.strip_prefix(stem)?;
        if rest.is_empty() {
            return Some(Vec::new());
        }
        rest.strip_prefix('.')?.split('.').map(|part| part.parse().ok()).collect()
    };
    let mut found = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<(Vec<u32>, PathBuf)> =
            entries.filter_map(|entry| Some((version(&entry.path())?, entry.path()))).collect();
        files.sort_by(|a, b| b.cmp(a));
        found.extend(files.into_iter().map(|(_, path)| path));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search =
        Search { variables: &["FARRO_X_PATH", "X_HOME"], below: &["lib"], packages: &["x"], usual: &["/opt/x/lib"] };

    #[test]
    fn the_order_is_the_documented_one() {
        let get = |name: &str| match name {
            "FARRO_X_PATH" => Some("/a".into()),
            "X_HOME" => Some("/b".into()),
            "VIRTUAL_ENV" => Some("/v".into()),
            "HOME" => Some("/h".into()),
            _ => None,
        };
        let origins: Vec<String> = SEARCH.places_with(&get).into_iter().map(|place| place.origin).collect();
        let expected = [
            "FARRO_X_PATH=/a",
            "X_HOME=/b",
            "the loader's path",
            "VIRTUAL_ENV /v",
            "packages of /h/.local",
            "/opt/x/lib",
        ];
        assert_eq!(origins, expected);
    }

    #[test]
    fn packages_of_an_environment_and_versions_are_found() {
        let prefix = std::env::temp_dir().join(format!("farro-libraries-{}", std::process::id()));
        let package = prefix.join("lib/python3.12/site-packages/x");
        std::fs::create_dir_all(&package).unwrap();
        for name in ["libx.so", "libx.so.9", "libx.so.13", "libx.so.13.debug", "libx.sold"] {
            std::fs::write(package.join(name), b"").unwrap();
        }
        let root = prefix.clone().into_os_string();
        let places = SEARCH.places_with(&|name| (name == "X_HOME").then(|| root.clone()));
        let files = files_named(&places[0].folders, "libx.so");
        std::fs::remove_dir_all(&prefix).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["libx.so.13", "libx.so.9", "libx.so"]);
    }
}
