//! A space that runs printed HIP text on the host: the text is compiled as C++, with work items as fibers.

use farro_backends::launch::{Arguments, PreparedKernels, check_limits, constants_key};
use farro_backends::print::{Dialect, Printed, RawValue, print};
use farro_portability::{ArgsOf, HostMemory, Kernel, LaunchError, LaunchInfo, Limits, Space, TeamPolicy};
use std::any::TypeId;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

type Run = unsafe extern "C" fn(*const u64, i32, i32);

struct Built {
    printed: Printed,
    library: libloading::Library,
}

pub struct EmulatedSpace {
    folder: PathBuf,
    prepared: PreparedKernels,
    built: Mutex<HashMap<(TypeId, u64), Arc<Built>>>,
}

impl EmulatedSpace {
    /// The reason if there is no compiler.
    pub fn new(folder: &str) -> Result<Self, String> {
        Command::new("g++").arg("--version").output().map_err(|error| format!("g++: {error}"))?;
        let folder = std::env::temp_dir().join(format!("farro-emulated-{}-{folder}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(EmulatedSpace { folder, prepared: PreparedKernels::default(), built: Mutex::default() })
    }
    fn build(&self, printed: Printed, number: usize) -> Result<Built, String> {
        let [source, library] = ["cpp", "so"].map(|end| self.folder.join(format!("{number}.{end}")));
        let words = include_str!("words.hpp");
        let entry = &printed.entry;
        let text = format!(
            "{words}\n{}\nnamespace {{ void begin() {{ call({entry}); items[current].done = true; }} }}\n\
             extern \"C\" void run(const unsigned long long* raw, int teams, int items) \
             {{ run_league(raw, teams, items); }}\n",
            printed.text
        );
        std::fs::write(&source, &text).map_err(|error| error.to_string())?;
        let output = Command::new("g++")
            .args(["-std=c++17", "-O0", "-shared", "-fPIC", "-fwrapv", "-Wno-attributes", "-o"])
            .args([&library, &source])
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("does not compile:\n{}\n{}", String::from_utf8_lossy(&output.stderr), printed.text));
        }
        // SAFETY: the library was built from the text above and has no initialisers of consequence.
        let library = unsafe { libloading::Library::new(&library) }.map_err(|error| error.to_string())?;
        Ok(Built { printed, library })
    }
}

impl Drop for EmulatedSpace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Space for EmulatedSpace {
    type Memory = HostMemory;

    fn name(&self) -> String {
        "HIP text on the host".into()
    }
    fn memory(&self) -> &HostMemory {
        &HostMemory
    }
    fn limits(&self) -> Limits {
        Limits {
            max_team: 256,
            max_league: i32::MAX as usize,
            scratch_bytes: [1 << 18, 1 << 24],
            vector_lengths: &[1, 2, 4, 8, 16, 32],
            best_vector_length: 8,
            range_chunk: 64,
            range_team: 16,
            concurrency: 1,
        }
    }
    fn launch_info<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, HostMemory>,
    ) -> Result<LaunchInfo, LaunchError> {
        Ok(self.prepared.get::<K, f64, _>(kernel, policy, args)?.info.clone())
    }
    fn launch<K: Kernel>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: ArgsOf<'_, K, HostMemory>,
    ) -> Result<(), LaunchError> {
        let prepared = self.prepared.get::<K, f64, _>(kernel, policy, &args)?;
        let arguments = Arguments::collect::<K, _>(&args)?;
        arguments.check_aliasing(K::NAME)?;
        check_limits::<K>(&self.name(), &self.limits(), policy, &prepared.info)?;
        let failed = |message| LaunchError::Device { kernel: K::NAME.into(), space: self.name(), message };
        let key = (TypeId::of::<K>(), constants_key(kernel, policy));
        let mut built = self.built.lock().unwrap();
        if !built.contains_key(&key) {
            let new = self.build(print(&prepared.program, Dialect::Hip), built.len()).map_err(failed)?;
            built.insert(key, Arc::new(new));
        }
        let kernel = &built[&key];
        let mut scratch = vec![0u64; kernel.printed.scratch_bytes[1].div_ceil(8) * policy.league_size()];
        let packed = kernel.printed.pack(&arguments, scratch.as_mut_ptr().expose_provenance() as u64)?;
        let raw: Vec<u64> = packed.as_slice().iter().map(|RawValue { bits, .. }| *bits).collect();
        // SAFETY: the symbol has this type by the text above.
        let run = unsafe { kernel.library.get::<Run>(b"run\0") }.map_err(|error| failed(error.to_string()))?;
        // SAFETY: the values are packed by the printed signature and borrowed until the call returns; the lock keeps
        // other launches out of the library's state.
        unsafe { run(raw.as_ptr(), policy.league_size() as i32, policy.work_items() as i32) };
        Ok(())
    }
    fn fence(&self) -> Result<(), LaunchError> {
        Ok(())
    }
}
