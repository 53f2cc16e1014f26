//! Which folders may hold a CUDA library, in the order in which users expect them to be tried.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variables that say where libraries are, as a value, so that the order can be tested.
#[derive(Debug, Default, Clone)]
pub(super) struct Environment {
    pub(super) farro: Option<OsString>,
    pub(super) cuda_home: Option<OsString>,
    pub(super) cuda_path: Option<OsString>,
    pub(super) virtual_env: Option<OsString>,
    pub(super) conda: Option<OsString>,
    pub(super) home: Option<OsString>,
    pub(super) path: Option<OsString>,
}

/// One step of the search.
#[derive(Debug)]
pub(super) struct Place {
    /// For messages: which variable or rule led here.
    pub(super) origin: String,
    /// Folders that may hold the library itself.
    pub(super) folders: Vec<PathBuf>,
    /// Named by the user in a variable of this product.
    pub(super) is_user: bool,
    /// The loader's own path: no folders, bare names.
    pub(super) is_loader: bool,
}

impl Environment {
    pub(super) fn of_process() -> Self {
        let get = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Environment {
            farro: get("FARRO_CUDA_PATH"),
            cuda_home: get("CUDA_HOME"),
            cuda_path: get("CUDA_PATH"),
            virtual_env: get("VIRTUAL_ENV"),
            conda: get("CONDA_PREFIX"),
            home: get("HOME"),
            path: get("PATH"),
        }
    }

    pub(super) fn farro_path_is_set(&self) -> bool {
        self.farro.is_some()
    }

    /// The places that the user named: before the loader's path.
    pub(super) fn places_of_user(&self) -> Vec<Place> {
        let named = [("FARRO_CUDA_PATH", &self.farro), ("CUDA_HOME", &self.cuda_home), ("CUDA_PATH", &self.cuda_path)];
        let mut places = Vec::new();
        for (name, value) in named {
            let Some(value) = value else { continue };
            places.push(Place {
                origin: format!("{name}={}", value.to_string_lossy()),
                folders: std::env::split_paths(value).flat_map(|root| folders_below(&root)).collect(),
                is_user: name == "FARRO_CUDA_PATH",
                is_loader: false,
            });
        }
        places
    }

    /// Every place, in order.
    pub(super) fn all_places(&self) -> Vec<Place> {
        let mut places = self.places_of_user();
        let origin = "the loader's path".to_string();
        places.push(Place { origin, folders: Vec::new(), is_user: false, is_loader: true });
        for (origin, prefix) in self.python_prefixes() {
            let mut folders = python_folders(&prefix, "lib");
            folders.push(prefix.join("lib"));
            places.push(Place {
                origin: format!("{origin} {}", prefix.display()),
                folders,
                is_user: false,
                is_loader: false,
            });
        }
        places
    }

    /// The folders that may hold NVIDIA's programs, in the order of the libraries.
    pub(super) fn tool_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for value in [&self.farro, &self.cuda_home, &self.cuda_path].into_iter().flatten() {
            for root in std::env::split_paths(value) {
                // The variable may name the folder of libraries beside the one of programs.
                folders.extend([root.join("bin"), root.join("../bin")]);
                folders.extend(python_folders(&root, "bin"));
                folders.push(root);
            }
        }
        folders.extend(self.path.iter().flat_map(|path| std::env::split_paths(path)));
        folders.push("/usr/local/cuda/bin".into());
        for (_, prefix) in self.python_prefixes() {
            folders.extend(python_folders(&prefix, "bin"));
        }
        folders
    }

    /// The prefixes of Python environments, without running Python.
    fn python_prefixes(&self) -> Vec<(&'static str, PathBuf)> {
        let mut prefixes: Vec<(&'static str, PathBuf)> = Vec::new();
        let mut add = |origin, prefix: PathBuf| {
            if !prefixes.iter().any(|(_, known)| *known == prefix) {
                prefixes.push((origin, prefix));
            }
        };
        let named = [("VIRTUAL_ENV", &self.virtual_env), ("CONDA_PREFIX", &self.conda)];
        for (origin, value) in named {
            if let Some(value) = value {
                add(origin, value.into());
            }
        }
        let folders: Vec<PathBuf> = self.path.iter().flat_map(|path| std::env::split_paths(path)).collect();
        if let Some(python) = folders.iter().map(|folder| folder.join("python3")).find(|file| file.is_file()) {
            // An environment's python3 is a link: both its own prefix and the one it leads to are candidates.
            for python in [python.canonicalize().ok(), Some(python)].into_iter().flatten().rev() {
                if let Some(prefix) = python.parent().and_then(Path::parent) {
                    add("python3 of", prefix.into());
                }
            }
        }
        if let Some(home) = &self.home {
            add("packages of", Path::new(home).join(".local"));
        }
        prefixes
    }
}

/// The folders below one that the user named: a folder of libraries, a toolkit, or a Python environment.
fn folders_below(root: &Path) -> Vec<PathBuf> {
    if root.is_file() {
        return root.parent().map(Path::to_path_buf).into_iter().collect();
    }
    let mut folders = vec![root.to_path_buf()];
    for below in ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "compat", "bin"] {
        folders.push(root.join(below));
    }
    folders.extend(python_folders(root, "lib"));
    folders
}

/// `lib/python3*/{site,dist}-packages/nvidia/*/{below}` of a prefix, newest Python and newest package first.
fn python_folders(prefix: &Path, below: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for lib in ["lib", "lib64", "local/lib"] {
        for python in children_starting_with(&prefix.join(lib), "python3") {
            for packages in ["site-packages", "dist-packages"] {
                let vendor = python.join(packages).join("nvidia");
                folders.extend(children_starting_with(&vendor, "").into_iter().map(|package| package.join(below)));
            }
        }
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

fn children_starting_with(folder: &Path, start: &str) -> Vec<PathBuf> {
    let mut children: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(start)))
        .collect();
    children.sort();
    children.reverse();
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_the_documented_one() {
        let environment = Environment {
            farro: Some("/a".into()),
            cuda_home: Some("/b".into()),
            virtual_env: Some("/v".into()),
            home: Some("/h".into()),
            ..Environment::default()
        };
        let origins: Vec<String> = environment.all_places().into_iter().map(|place| place.origin).collect();
        assert_eq!(
            origins,
            ["FARRO_CUDA_PATH=/a", "CUDA_HOME=/b", "the loader's path", "VIRTUAL_ENV /v", "packages of /h/.local"]
        );
    }

    #[test]
    fn several_folders_and_a_toolkit_layout() {
        let value = std::env::join_paths(["/x", "/y"]).unwrap();
        let environment = Environment { farro: Some(value), ..Environment::default() };
        let folders = environment.places_of_user().remove(0).folders;
        for expected in ["/x", "/x/lib64", "/y", "/y/targets/x86_64-linux/lib"] {
            assert!(folders.iter().any(|folder| folder == Path::new(expected)), "{expected} in {folders:?}");
        }
    }

    #[test]
    fn wheels_of_a_python_environment_are_found() {
        let prefix = std::env::temp_dir().join(format!("farro-python-prefix-{}", std::process::id()));
        let wheel = prefix.join("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib");
        std::fs::create_dir_all(&wheel).unwrap();
        let found = folders_below(&prefix);
        std::fs::remove_dir_all(&prefix).unwrap();
        assert!(found.contains(&wheel), "{found:?}");
    }
}
