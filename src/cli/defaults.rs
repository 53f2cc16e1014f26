//! Tunables that nobody asked for: what each backend and variant does best, or well enough.

use super::target::Backend;
use farro_fem::viscous::{Accumulator, Boundary, Config, Rule, TileShape, Variant};
use farro_portability::Bounds;

/// The configuration of a variant on a backend, for a shell with so many radial cells in a subdomain.
pub fn config(
    backend: Backend,
    variant: Variant,
    accumulator: Accumulator,
    rule: Rule,
    boundary: Boundary,
    radial_cells: usize,
) -> Config {
    let tile = tile(backend, radial_cells);
    let base = Config { variant, rule, boundary, accumulator, tile, ..Config::default() };
    match (variant, backend) {
        (Variant::Marching, Backend::Cuda) => Config {
            threads: 8,
            rows: 2,
            lanes: Some(32),
            prefetch: true,
            bounds: Some(Bounds { max_threads: 256, min_blocks: 1 }),
            ..base
        },
        (Variant::Marching, Backend::Hip) => Config { threads: 4, rows: 2, lanes: Some(32), prefetch: true, ..base },
        (Variant::Marching, Backend::Sycl | Backend::Opencl) => Config { rows: 8, ..base },
        (Variant::Marching, Backend::Checked | Backend::Count) => Config { threads: 2, rows: 4, ..base },
        (Variant::Tuned, Backend::Cuda) => Config { passes: if tile.r.is_multiple_of(2) { 2 } else { 1 }, ..base },
        (Variant::Tuned, _) => Config { passes: if tile.r.is_multiple_of(4) { 4 } else { 1 }, ..base },
        _ => base,
    }
}

/// The default tile: 4, 4, 32 cells (16 radial ones on devices), but no higher than the subdomain.
pub fn tile(backend: Backend, radial_cells: usize) -> TileShape {
    let is_host = matches!(backend, Backend::Host | Backend::OneLane | Backend::Checked | Backend::Count);
    let most = if is_host { 32 } else { 16 };
    TileShape { x: 4, y: 4, r: radial_cells.clamp(1, most) }
}

/// All variants with their accumulators, in the order of the ladder: the name, and the quadrature rules that a table
/// shows. The textbook variant also runs with the rule of textbooks.
pub fn ladder() -> Vec<(Variant, Accumulator, Rule)> {
    let one = Rule::OneByOne;
    let mut ladder = vec![
        (Variant::Textbook, Accumulator::Direct, Rule::ThreeByTwo),
        (Variant::Textbook, Accumulator::Direct, one),
        (Variant::ArReduc, Accumulator::Direct, one),
        (Variant::Shmem, Accumulator::Direct, one),
    ];
    ladder.extend(Accumulator::ALL.map(|accumulator| (Variant::Tuned, accumulator, one)));
    ladder.push((Variant::Marching, Accumulator::Direct, one));
    ladder
}

/// The name of a rung of the ladder.
pub fn label(variant: Variant, accumulator: Accumulator, rule: Rule) -> String {
    match (variant, rule) {
        (Variant::Tuned, Rule::OneByOne) => format!("{}, {}", variant.name(), accumulator.name()),
        (Variant::Tuned, _) => format!("{}, {}, {}", variant.name(), accumulator.name(), rule.name()),
        (Variant::Textbook, _) => format!("{}, {}", variant.name(), rule.name()),
        (_, Rule::OneByOne) => variant.name().into(),
        _ => format!("{}, {}", variant.name(), rule.name()),
    }
}
