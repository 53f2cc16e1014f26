//! The kernels of the report, by name.

use farro_fem::viscous::{Accumulator, Boundary, Config, Rule, TileShape, Variant};
use farro_portability::Bounds;

/// A configuration with the name that `--only` knows.
#[derive(Clone, Debug)]
pub struct Named {
    pub name: String,
    pub config: Config,
}

pub fn boundary(name: &str) -> Boundary {
    Boundary::NAMED.iter().find(|(known, _)| *known == name).map_or(Boundary::NAMED[1].1, |&(_, boundary)| boundary)
}

fn base() -> Config {
    Config { boundary: boundary("dirichlet"), rule: Rule::OneByOne, ..Config::default() }
}

/// What the command line uses on a CUDA device, with as many radial blocks as a small level needs.
pub fn marching(level: u32) -> Config {
    Config {
        variant: Variant::Marching,
        threads: 8,
        rows: 2,
        lanes: Some(32),
        prefetch: true,
        bounds: Some(Bounds { max_threads: 256, min_blocks: 1 }),
        radial_blocks: match level {
            0..=5 => 8,
            6 => 4,
            7 => 2,
            _ => 1,
        },
        ..base()
    }
}

fn marching_name(config: &Config) -> String {
    let bounds = config.bounds.map_or(String::new(), |b| format!("-bounds{}x{}", b.max_threads, b.min_blocks));
    let early = if config.prefetch { "" } else { "-late" };
    format!("marching-{}x{}-blocks{}{bounds}{early}", config.threads, config.rows, config.radial_blocks)
}

/// Every shape of the marching kernel.
pub fn marching_shapes(level: u32) -> Vec<Named> {
    let mut shapes = Vec::new();
    let mut add = |config: Config| {
        let named = Named { name: marching_name(&config), config };
        if !shapes.iter().any(|known: &Named| known.name == named.name) {
            shapes.push(named);
        }
    };
    let base = marching(level);
    add(base);
    let blocks: &[usize] = match level {
        0..=5 => &[1, 4, 8, 16],
        6 => &[1, 2, 4, 8],
        7 => &[1, 2, 4],
        _ => &[1, 2],
    };
    for &radial_blocks in blocks {
        add(Config { radial_blocks, ..base });
        add(Config { radial_blocks, prefetch: false, ..base });
        add(Config { radial_blocks, threads: 4, bounds: None, ..base });
        add(Config { radial_blocks, threads: 4, bounds: Some(Bounds { max_threads: 128, min_blocks: 2 }), ..base });
        add(Config { radial_blocks, rows: 1, bounds: Some(Bounds { max_threads: 256, min_blocks: 2 }), ..base });
        add(Config { radial_blocks, threads: 16, rows: 1, bounds: None, ..base });
    }
    shapes
}

/// Tiles of the staged variants, with passes.
const TILES: [(usize, usize, usize, usize); 7] =
    [(4, 4, 8, 1), (4, 4, 8, 2), (4, 4, 16, 2), (4, 4, 32, 4), (2, 2, 32, 1), (2, 2, 32, 2), (2, 2, 32, 4)];

fn tuned(accumulator: Accumulator, (x, y, r, passes): (usize, usize, usize, usize), bounds: Option<Bounds>) -> Named {
    let tile = TileShape { x, y, r };
    let suffix = bounds.map_or(String::new(), |b| format!("-bounds{}x{}", b.max_threads, b.min_blocks));
    Named {
        name: format!("tuned-{}-{x}x{y}x{r}-{passes}{suffix}", accumulator.name()),
        config: Config { variant: Variant::Tuned, accumulator, tile, passes, bounds, ..base() },
    }
}

/// All kernels but marching, in the order of the ladder.
pub fn rungs() -> Vec<Named> {
    let plain = |name: &str, variant, rule| Named { name: name.into(), config: Config { variant, rule, ..base() } };
    let mut rungs = vec![
        plain("textbook-3x2", Variant::Textbook, Rule::ThreeByTwo),
        plain("textbook", Variant::Textbook, Rule::OneByOne),
        plain("arreduc", Variant::ArReduc, Rule::OneByOne),
    ];
    for (x, y, r, passes) in TILES {
        if passes == 1 {
            let tile = TileShape { x, y, r };
            let config = Config { variant: Variant::Shmem, tile, ..base() };
            rungs.push(Named { name: format!("shmem-{x}x{y}x{r}"), config });
        }
    }
    for tile in TILES {
        rungs.extend(Accumulator::ALL.map(|accumulator| tuned(accumulator, tile, None)));
    }
    for min_blocks in [4, 5, 6] {
        let bounds = Some(Bounds { max_threads: 128, min_blocks });
        for accumulator in Accumulator::ALL {
            rungs.push(tuned(accumulator, (4, 4, 16, 2), bounds));
        }
    }
    rungs
}

/// Few kernels, for precisions and boundaries.
pub fn chosen(level: u32) -> Vec<Named> {
    let all = rungs();
    let pick = ["arreduc", "tuned-direct-4x4x16-2", "tuned-hex-cell-4x4x16-2", "tuned-tile-4x4x16-2"];
    let mut chosen: Vec<_> = pick.iter().filter_map(|name| all.iter().find(|n| n.name == *name)).cloned().collect();
    let config = marching(level);
    chosen.push(Named { name: marching_name(&config), config });
    chosen
}

/// Everything, marching under its short name first.
pub fn all(level: u32) -> Vec<Named> {
    let mut all = vec![Named { name: "marching".into(), config: marching(level) }];
    all.extend(rungs());
    all.extend(marching_shapes(level));
    all
}
