//! The machine, in words.

use farro_backends::host::InstructionSet;
use serde::Serialize;

/// What a result should be read with.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor.
    pub cpu: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// Instruction sets that kernels may use, best last.
    pub instruction_sets: Vec<&'static str>,
    /// Architecture and operating system.
    pub platform: String,
    /// Version of farro.
    pub farro: &'static str,
    /// Seconds since 1970.
    pub time: u64,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Machine {
            cpu: model.map_or_else(|| "unknown".into(), |(_, name)| name.trim().into()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            instruction_sets: InstructionSet::available().into_iter().map(InstructionSet::name).collect(),
            platform: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            farro: env!("CARGO_PKG_VERSION"),
            time: time.map_or(0, |time| time.as_secs()),
        }
    }
}
