//! What AMD's architectures have, and how many teams fit them.

use crate::resources::Resources;

/// How sums of 64-bit floating-point numbers in memory are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum F64Atomics {
    /// By one instruction, when the compiler may use it (`-munsafe-fp-atomics`).
    Native,
    /// By a loop of compare-and-swap.
    Loop,
}

/// What a compute unit of an architecture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Architecture {
    /// The name, as `gfx90a`.
    pub name: &'static str,
    /// Lanes of a wave.
    pub wavefront: u32,
    /// Vector registers of a SIMD, for each lane of a wave.
    pub vector_registers: u32,
    /// Vector registers are given to waves in pieces of this many.
    pub granule: u32,
    /// Accumulation registers come out of the same file as vector registers.
    pub unified: bool,
    /// Waves that a SIMD holds.
    pub waves_per_simd: u32,
    /// SIMDs of a compute unit.
    pub simds: u32,
    /// Teams of more than one wave that a compute unit holds.
    pub teams: u32,
    /// Bytes of local memory of a compute unit.
    pub lds_bytes: u32,
    /// Sums in device memory.
    pub f64_atomics: F64Atomics,
}

const GFX9: Architecture = Architecture {
    name: "gfx906",
    wavefront: 64,
    vector_registers: 256,
    granule: 4,
    unified: false,
    waves_per_simd: 10,
    simds: 4,
    teams: 16,
    lds_bytes: 64 << 10,
    f64_atomics: F64Atomics::Loop,
};
/// 512 registers for each lane, for both kinds: the paper's equation.
const CDNA2: Architecture = Architecture {
    name: "gfx90a",
    vector_registers: 512,
    granule: 8,
    unified: true,
    waves_per_simd: 8,
    f64_atomics: F64Atomics::Native,
    ..GFX9
};
const RDNA2: Architecture = Architecture {
    name: "gfx1030",
    wavefront: 32,
    vector_registers: 1024,
    granule: 8,
    waves_per_simd: 16,
    simds: 2,
    ..GFX9
};
const RDNA3: Architecture = Architecture { name: "gfx1100", vector_registers: 1536, granule: 24, ..RDNA2 };

/// The architectures that are known, oldest first.
pub const ARCHITECTURES: &[Architecture] = &[
    GFX9,
    Architecture { name: "gfx908", ..GFX9 },
    CDNA2,
    Architecture { name: "gfx942", ..CDNA2 },
    RDNA2,
    RDNA3,
    Architecture { name: "gfx1101", ..RDNA3 },
    Architecture { name: "gfx1102", vector_registers: 1024, granule: 16, ..RDNA3 },
];

impl Architecture {
    /// The architecture of a name such as `gfx90a` or `gfx90a:sramecc+:xnack-`.
    pub fn named(name: &str) -> Option<&'static Architecture> {
        let plain = name.split(':').next().unwrap_or(name);
        ARCHITECTURES.iter().find(|known| known.name == plain)
    }
    /// The names of all.
    pub fn names() -> Vec<String> {
        ARCHITECTURES.iter().map(|known| known.name.into()).collect()
    }
    /// Vector lengths on which lanes can exchange values.
    pub fn vector_lengths(&self) -> &'static [usize] {
        if self.wavefront == 64 { &[1, 2, 4, 8, 16, 32, 64] } else { &[1, 2, 4, 8, 16, 32] }
    }
    /// Waves of a SIMD, by registers alone: what it has, divided by what a wave takes.
    pub fn waves_by_registers(&self, registers: u32) -> u32 {
        (self.vector_registers / registers.max(1).next_multiple_of(self.granule)).min(self.waves_per_simd)
    }
    /// The occupancy of a kernel in teams of `work_items`, with `dynamic_lds` bytes besides those that are fixed.
    pub fn occupancy(&self, resources: &Resources, work_items: u32, dynamic_lds: u32) -> Occupancy {
        let waves = work_items.div_ceil(self.wavefront).max(1);
        let registers = if self.unified { resources.vgprs } else { resources.vgprs.max(resources.agprs) };
        let by_registers = self.waves_by_registers(registers);
        let lds = (resources.lds_bytes + dynamic_lds).next_multiple_of(512);
        let by_lds = self.lds_bytes.checked_div(lds).unwrap_or(u32::MAX);
        let by_slots = if waves > 1 { self.teams } else { u32::MAX };
        let teams = (by_registers * self.simds / waves).min(by_lds).min(by_slots);
        let waves_per_simd = f64::from(teams * waves) / f64::from(self.simds);
        Occupancy {
            waves_by_registers: by_registers,
            teams,
            waves_per_simd,
            fraction: waves_per_simd / f64::from(self.waves_per_simd),
        }
    }
}

/// How much of a compute unit a kernel fills.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Occupancy {
    /// Waves of a SIMD, by registers alone.
    pub waves_by_registers: u32,
    /// Teams of a compute unit.
    pub teams: u32,
    /// Waves of a SIMD, by registers, local memory and slots.
    pub waves_per_simd: f64,
    /// The same as a fraction of what it could hold.
    pub fraction: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_local_memory_bound_the_waves() {
        let mi250x = Architecture::named("gfx90a:sramecc+:xnack-").unwrap();
        let waves: Vec<u32> = [64, 72, 80, 96, 128, 168, 256, 257, 512].map(|n| mi250x.waves_by_registers(n)).into();
        assert_eq!(waves, [8, 7, 6, 5, 4, 3, 2, 1, 1]);
        let kernel = Resources { vgprs: 128, ..Resources::default() };
        let free = mi250x.occupancy(&kernel, 256, 0);
        assert_eq!((free.teams, free.waves_per_simd, free.fraction), (4, 4.0, 0.5));
        let staged = mi250x.occupancy(&kernel, 256, 30_000);
        assert_eq!((staged.waves_by_registers, staged.teams, staged.waves_per_simd), (4, 2, 2.0));
        assert_eq!(Architecture::named("gfx1100").unwrap().waves_by_registers(96), 16);
        assert!(Architecture::named("sm_90").is_none());
    }
}
