//! What devices allow, so that a launch can be tried without owning one.

use farro_portability::Limits;

/// A device as far as launches are concerned: what a team may have there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceModel {
    /// The name.
    pub name: &'static str,
    /// Most work items of a team.
    pub max_team: usize,
    /// Bytes of level-0 scratch that a team may have (shared memory, local data share).
    pub scratch_bytes: usize,
    /// Lanes of a warp, wavefront or sub-group: the longest vector on which lanes can exchange values.
    pub vector_length: usize,
}

const fn model(name: &'static str, max_team: usize, scratch_kib: usize, vector_length: usize) -> DeviceModel {
    DeviceModel { name, max_team, scratch_bytes: scratch_kib << 10, vector_length }
}

impl DeviceModel {
    /// NVIDIA V100: 96 KiB of shared memory.
    pub const V100: Self = model("V100", 1024, 96, 32);
    /// NVIDIA A100: 163 KiB of shared memory.
    pub const A100: Self = model("A100", 1024, 163, 32);
    /// NVIDIA H100: 227 KiB of shared memory.
    pub const H100: Self = model("H100", 1024, 227, 32);
    /// NVIDIA H200: 227 KiB of shared memory.
    pub const H200: Self = model("H200", 1024, 227, 32);
    /// A GeForce RTX 40: 99 KiB of shared memory.
    pub const RTX4090: Self = model("RTX4090", 1024, 99, 32);
    /// AMD MI250X: 64 KiB of local data share, wavefronts of 64.
    pub const MI250X: Self = model("MI250X", 1024, 64, 64);
    /// AMD MI300A: 64 KiB of local data share, wavefronts of 64.
    pub const MI300A: Self = model("MI300A", 1024, 64, 64);
    /// AMD MI300X: 64 KiB of local data share, wavefronts of 64.
    pub const MI300X: Self = model("MI300X", 1024, 64, 64);
    /// Intel Data Center GPU Max ("Ponte Vecchio"): 128 KiB of shared local memory, sub-groups of 32.
    pub const PVC: Self = model("PVC", 1024, 128, 32);
    /// The least that current devices share: 48 KiB of shared memory without opting in.
    pub const COMMON: Self = model("common", 1024, 48, 32);
    /// A small device, to try limits with.
    pub const SMALL: Self = model("small", 256, 16, 16);
    /// All models.
    pub const ALL: [Self; 11] = [
        Self::V100,
        Self::A100,
        Self::H100,
        Self::H200,
        Self::RTX4090,
        Self::MI250X,
        Self::MI300A,
        Self::MI300X,
        Self::PVC,
        Self::COMMON,
        Self::SMALL,
    ];

    /// The model of that name, whatever the case of its letters.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name.eq_ignore_ascii_case(name))
    }
    /// What a space that imitates the device can run. Level-1 scratch is device memory: 8 MiB for each team.
    pub fn limits(&self) -> Limits {
        let team = self.max_team.min(256);
        Limits {
            max_team: self.max_team,
            max_league: i32::MAX as usize,
            scratch_bytes: [self.scratch_bytes, 8 << 20],
            vector_lengths: Limits::powers_of_two(self.vector_length),
            best_vector_length: self.vector_length,
            range_chunk: team,
            range_team: team,
            concurrency: 1,
        }
    }
}
