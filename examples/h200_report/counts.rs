//! Counted work of every kernel at a level, exact: it is interpreted. Beside the counters of a profiler at that level.

use super::options::Options;
use super::sheet::Sheet;
use super::{Outcome, configs};
use farro::kernels::{Choice, LayoutChoice, Precision, count, element_kernel};

const HEADER: [&str; 17] = [
    "level",
    "layout",
    "kernel",
    "dofs",
    "flops",
    "fma",
    "add",
    "mul",
    "compulsory_read_bytes",
    "compulsory_written_bytes",
    "load_requests",
    "store_requests",
    "atomic_requests",
    "atomic_sectors",
    "load_sectors",
    "store_sectors",
    "scratch_bytes",
];

pub fn run(options: &Options, level: u32) -> Outcome {
    if !(1..=7).contains(&level) {
        return Err("--counts: kernels are interpreted; levels 1 to 7 are possible (7 takes minutes)".into());
    }
    let mut sheet = Sheet::new(options, "counts.csv", &HEADER)?;
    for layout in [LayoutChoice::X, LayoutChoice::R] {
        for named in configs::chosen(8).into_iter().chain(configs::rungs().into_iter().take(4)) {
            let choice = Choice { config: named.config, precision: Precision::F64, layout };
            let counted = count(&choice, level, 1 << (level - 1))?;
            let counts = &counted.kernels[element_kernel(named.config.variant)];
            let mut row = vec![level.to_string(), layout.name().into(), named.name, counted.dofs.to_string()];
            let numbers = [
                counts.flops(),
                counts.operations.fma,
                counts.operations.add,
                counts.operations.mul,
                counts.compulsory.read,
                counts.compulsory.written,
                counts.global.loads.requests,
                counts.global.stores.requests,
                counts.global.atomics.requests,
                counts.global.atomics.sectors,
                counts.global.loads.sectors,
                counts.global.stores.sectors,
                counts.scratch[0].bytes(),
            ];
            row.extend(numbers.map(|n| n.to_string()));
            sheet.row(&row)?;
        }
    }
    Ok(())
}
