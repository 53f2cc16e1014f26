//! The counts that the design promises, from the kernels themselves as the count target executes them.

use farro_backends::count::{CountSpace, Counts};
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::{
    Accumulator, Boundary, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, TileShape, Variant,
    ViscousOperator,
};
use farro_test_kernels as _;

/// Counts of the element kernel of one apply on a shell of level `level` with `radial_cells` layers.
fn counts_of<L: FieldLayout>(level: u32, radial_cells: usize, config: Config) -> Counts {
    let space = CountSpace::<f64>::new();
    let spec = ShellSpec { radial_cells: Some(radial_cells), ..ShellSpec::level(level) };
    let mesh = ShellMesh::new(spec).expect("a mesh");
    let operator = ViscousOperator::<_, f64, L>::new(&space, &mesh, config, |_| 1.0).expect("an operator");
    let u = operator.vector_from("u", |[c, ..]| c as f64).expect("u");
    let mut y = operator.new_vector("y").expect("y");
    // Adding needs no zeros before, so the element kernel is the only launch.
    operator.apply(&u, &mut y, Mode::Add).expect("apply");
    let counts = space.counts();
    assert_eq!(space.total().launches, 1);
    counts
}

/// The tile of the paper on a shell of which each diamond is one full tile.
fn one_tile(config: Config) -> Counts {
    let config = Config { boundary: Boundary::NEUMANN, tile: TileShape { x: 4, y: 4, r: 32 }, ..config };
    let (right, left) = (counts_of::<RadiusFastest>(2, 32, config), counts_of::<LateralFastest>(2, 32, config));
    // Layouts change requests, not counts.
    assert_eq!((right.global.loads.elements, right.atomics()), (left.global.loads.elements, left.atomics()));
    assert_eq!(right.operations, left.operations);
    right
}

fn per_team(count: u64) -> u64 {
    assert_eq!(count % 10, 0);
    count / 10
}

fn tuned(accumulator: Accumulator, passes: usize) -> Config {
    Config { variant: Variant::Tuned, accumulator, passes, ..Config::default() }
}

#[test]
fn a_tile_gathers_3408_values() {
    let shmem = Config { variant: Variant::Shmem, ..Config::default() };
    for config in [shmem, tuned(Accumulator::Direct, 1), tuned(Accumulator::Tile, 8), tuned(Accumulator::HexCell, 4)] {
        let counts = one_tile(config);
        assert_eq!(counts.teams, 10, "a team for each diamond");
        // 25 columns of 33 levels: velocity, viscosity, points of the sphere, radii.
        let expected = [("u", 3 * 25 * 33), ("k", 25 * 33), ("points", 3 * 25), ("radii", 33)];
        for (view, expected) in expected {
            assert_eq!(per_team(counts.views[view].accesses.loads.elements), expected, "`{view}`, {config:?}");
        }
        assert_eq!(per_team(counts.global.loads.elements), 3408, "{config:?}");
        assert_eq!(counts.global.stores.elements, 0);
        // What is gathered is what is staged.
        let staged: u64 = ["tile_u", "tile_k", "tile_points", "tile_radii"]
            .map(|name| counts.scratch_arrays[name].stores.elements)
            .iter()
            .sum();
        assert_eq!(per_team(staged), 3408);
    }
}

#[test]
fn a_tile_scatters_18432_or_12288_or_2475_values() {
    let shmem = Config { variant: Variant::Shmem, ..Config::default() };
    // 36 updates for each of 512 cells, 24, or one for each degree of freedom of the tile.
    let expected = [
        (shmem, 18_432),
        (tuned(Accumulator::Direct, 1), 18_432),
        (tuned(Accumulator::Direct, 8), 18_432),
        (tuned(Accumulator::HexCell, 4), 12_288),
        (tuned(Accumulator::Tile, 4), 2_475),
    ];
    for (config, expected) in expected {
        let counts = one_tile(config);
        assert_eq!(per_team(counts.global.atomics.elements), expected, "{config:?}");
        assert_eq!(counts.global.atomics, counts.views["y"].accesses.atomics);
        // The tile's accumulator adds in scratch what the direct one adds in global memory.
        let in_scratch = if config.accumulator == Accumulator::Tile { 18_432 } else { 0 };
        assert_eq!(per_team(counts.scratch[0].atomics.elements), in_scratch, "{config:?}");
    }
}

#[test]
fn cell_kernels_gather_and_scatter_for_each_cell() {
    for variant in [Variant::Textbook, Variant::ArReduc] {
        let counts = one_tile(Config { variant, ..Config::default() });
        let cells = 10 * 512;
        assert_eq!(counts.global.atomics.elements, 36 * cells, "{}", variant.name());
        // Eight nodes of velocity and viscosity, four points, two radii.
        assert_eq!(counts.global.loads.elements, (8 * 4 + 4 * 3 + 2) * cells, "{}", variant.name());
        assert_eq!(counts.barriers, 0);
    }
}

/// Marching as the host runs it (one thread), and with a team of three.
fn marching(threads: usize, rows: usize, lanes: usize, radial_blocks: usize) -> Config {
    let boundary = Boundary::NEUMANN;
    Config {
        variant: Variant::Marching,
        threads,
        rows,
        lanes: Some(lanes),
        radial_blocks,
        boundary,
        ..Config::default()
    }
}

#[test]
fn marching_stores_each_result_once_and_needs_no_atomics() {
    for config in [marching(1, 4, 8, 1), marching(1, 3, 4, 2), marching(3, 2, 8, 1), marching(3, 2, 32, 3)] {
        let space = CountSpace::<f64>::new();
        let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(6), ..ShellSpec::level(3) }).expect("a mesh");
        let operator =
            ViscousOperator::<_, f64, LateralFastest>::new(&space, &mesh, config, |_| 1.0).expect("an operator");
        let u = operator.vector_from("u", |[c, ..]| c as f64).expect("u");
        let mut y = operator.new_vector("y").expect("y");
        operator.apply(&u, &mut y, Mode::Replace).expect("apply");
        let counts = space.total();
        let nodes = mesh.stored_nodes() as u64;
        assert_eq!(counts.launches, 1, "no zero-fill");
        assert_eq!(counts.atomics(), 0, "{config:?}");
        assert_eq!(counts.views["y"].accesses.stores.elements, 3 * nodes, "{config:?}");
        assert_eq!(counts.views["y"].compulsory.written, 3 * 8 * nodes, "{config:?}");
        assert_eq!(counts.views["y"].accesses.loads.elements, 0);
        // Velocity and viscosity in, result out: 56 bytes a node, and the columns' points and layers on top.
        let per_node = counts.compulsory.bytes() as f64 / nodes as f64;
        let columns = (counts.views["points"].compulsory.read + counts.views["layers"].compulsory.read) as f64;
        assert!((per_node - columns / nodes as f64 - 56.0).abs() < 1e-9, "{per_node} bytes a node");
        assert!(per_node < 56.0 + 24.0 / 6.0, "{per_node} bytes a node");
    }
}

/// The growth of a count over four sizes, as differences per layer: equal if the count is linear in the layers.
fn is_linear(counts: &[u64]) -> bool {
    counts.windows(3).all(|c| c[2] - c[1] == c[1] - c[0])
}

#[test]
fn counts_grow_linearly_with_cells() {
    let tile = TileShape { x: 2, y: 2, r: 2 };
    let boundary = Boundary::NEUMANN;
    let mut configs: Vec<Config> = [Variant::Textbook, Variant::ArReduc, Variant::Shmem]
        .map(|variant| Config { variant, tile, boundary, ..Config::default() })
        .to_vec();
    configs.extend(Accumulator::ALL.map(|accumulator| Config { tile, boundary, ..tuned(accumulator, 2) }));
    configs.extend([marching(1, 2, 4, 1), marching(3, 1, 4, 1)]);
    for config in configs {
        // Along r: every two layers cost the same.
        let along_r = [4, 6, 8, 10].map(|layers| counts_of::<RadiusFastest>(1, layers, config));
        let series = |f: &dyn Fn(&Counts) -> u64| along_r.each_ref().map(f);
        for (name, count) in [
            ("flops", series(&|c| c.flops())),
            ("loads", series(&|c| c.global.loads.elements)),
            ("atomics", series(&|c| c.atomics())),
            ("stores", series(&|c| c.global.stores.elements)),
            ("scratch bytes", series(&|c| c.scratch[0].bytes())),
            ("barriers", series(&|c| c.barriers)),
            ("compulsory", series(&|c| c.compulsory.bytes())),
        ] {
            assert!(is_linear(&count), "{name} of {config:?}: {count:?}");
        }
        // Laterally: four times the cells cost four times as much, where tiles fit; marching pays for overlap, which
        // becomes less.
        let [small, large] = [1, 2].map(|level| counts_of::<RadiusFastest>(level, 4, config));
        let ratio = large.flops() as f64 / small.flops() as f64;
        if config.variant == Variant::Marching {
            assert!(ratio <= 9.0, "{config:?}: {ratio}");
        } else {
            assert_eq!(ratio, 4.0, "{config:?}");
            assert_eq!(large.atomics(), 4 * small.atomics(), "{config:?}");
        }
    }
}

#[test]
fn the_ladder_saves_work() {
    let flops = |variant: Variant, rule| {
        let config = Config { variant, rule, boundary: Boundary::NEUMANN, ..marching(1, 3, 8, 1) };
        let config = Config { tile: TileShape { x: 4, y: 4, r: 4 }, lanes: None, ..config };
        counts_of::<LateralFastest>(3, 4, config).flops()
    };
    use farro_fem::viscous::Rule::{OneByOne, ThreeByTwo};
    let (exact, textbook) = (flops(Variant::Textbook, ThreeByTwo), flops(Variant::Textbook, OneByOne));
    let arreduc = flops(Variant::ArReduc, OneByOne);
    println!("FLOPs: textbook 3x2 {exact}, textbook 1x1 {textbook}, arreduc {arreduc}");
    assert!(exact > 4 * textbook && textbook > 4 * arreduc, "{exact}, {textbook}, {arreduc}");
}
