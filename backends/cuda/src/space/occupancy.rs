//! Occupancy by calculation, for architectures that are not there.

/// How many blocks a multiprocessor holds at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Occupancy {
    /// Blocks of a multiprocessor.
    pub blocks: u32,
    /// Threads of a multiprocessor, as a fraction of what it could hold.
    pub fraction: f64,
}

struct Multiprocessor {
    warps: u32,
    blocks: u32,
    shared_bytes: u32,
    reserved_bytes: u32,
}

fn multiprocessor(arch: &str) -> Option<Multiprocessor> {
    let number: u32 = arch.strip_prefix("sm_")?.trim_end_matches(['a', 'f']).parse().ok()?;
    let (warps, blocks, shared_kib, reserved_bytes) = match number {
        70 => (64, 32, 96, 0),
        72 => (64, 32, 96, 0),
        75 => (32, 16, 64, 0),
        80 => (64, 32, 164, 1024),
        86 => (48, 16, 100, 1024),
        87 => (48, 16, 164, 1024),
        89 => (48, 24, 100, 1024),
        90 | 100 | 101 | 103 | 110 => (64, 32, 228, 1024),
        120 | 121 => (48, 24, 100, 1024),
        _ => return None,
    };
    Some(Multiprocessor { warps, blocks, shared_bytes: shared_kib * 1024, reserved_bytes })
}

/// The occupancy on an architecture such as `sm_90`, by registers per thread, threads of a block and bytes of shared
/// memory of a block; `None` for an architecture that is not in the table.
pub fn occupancy(arch: &str, registers: u32, threads: u32, shared_bytes: u32) -> Option<Occupancy> {
    let unit = multiprocessor(arch)?;
    let warps = threads.div_ceil(32).max(1);
    // Registers are given to warps in pieces of 256, from four register files of 16 384.
    let warps_by_registers = 4 * (16_384 / (registers.max(1).next_multiple_of(8) * 32));
    let shared = (shared_bytes + unit.reserved_bytes).next_multiple_of(128);
    let by_shared = unit.shared_bytes.checked_div(shared).unwrap_or(unit.blocks);
    let blocks = (warps_by_registers / warps).min(unit.warps / warps).min(by_shared).min(unit.blocks);
    Some(Occupancy { blocks, fraction: f64::from(blocks * warps) / f64::from(unit.warps) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_occupancies() {
        let blocks = |registers, threads, shared| occupancy("sm_90", registers, threads, shared).unwrap().blocks;
        assert_eq!(blocks(32, 256, 0), 8);
        assert_eq!(blocks(255, 256, 0), 1);
        assert_eq!(blocks(64, 1024, 0), 1);
        assert_eq!(blocks(65, 1024, 0), 0);
        assert_eq!(blocks(32, 128, 100 * 1024), 2);
        assert_eq!(blocks(16, 32, 0), 32);
        assert_eq!(occupancy("sm_80", 128, 128, 0).unwrap().fraction, 0.25);
        assert_eq!(occupancy("gfx90a", 32, 256, 0), None);
    }
}
