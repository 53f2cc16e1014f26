//! An apply allocates nothing on the host, and an operator holds little besides its fields.

use farro_backends::host::{HostSpace, InstructionSet};
use farro_fem::exchange::Exchange;
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::{
    Accumulator, Boundary, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, TileShape, Variant,
    ViscousOperator,
};
use farro_portability::Space;
use farro_test_kernels as _;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counting.
struct Counting;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: all requests go to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn configs() -> Vec<Config> {
    let base = Config { tile: TileShape { x: 3, y: 2, r: 2 }, rows: 3, ..Config::default() };
    let mut all = Vec::new();
    for boundary in [Boundary::NEUMANN, Boundary::DIRICHLET, Boundary::FREE_SLIP] {
        for variant in [Variant::Textbook, Variant::ArReduc, Variant::Shmem] {
            all.push(Config { variant, boundary, ..base });
        }
        for accumulator in Accumulator::ALL {
            all.push(Config { variant: Variant::Tuned, accumulator, boundary, passes: 2, ..base });
        }
        for (threads, radial_blocks) in [(1, 1), (1, 2), (3, 1)] {
            all.push(Config { threads, radial_blocks, boundary, ..base });
        }
    }
    all
}

fn no_allocation<L: FieldLayout>(space: &HostSpace<f64>, mesh: &ShellMesh, config: Config) {
    let operator = ViscousOperator::<_, f64, L>::new(space, mesh, config, |_| 1.0).expect("an operator");
    let u = operator.vector_from("u", |[c, s, ..]| (c + s) as f64).expect("u");
    let mut y = operator.new_vector("y").expect("y");
    for mode in [Mode::Replace, Mode::Add] {
        // Handing work to the pool from outside allocates, so the loop runs inside.
        let counted = space.install(|| {
            // The first applies trace kernels and make room on each thread.
            for _ in 0..20 {
                operator.apply(&u, &mut y, mode).expect("apply");
            }
            let before = ALLOCATIONS.load(Ordering::SeqCst);
            for _ in 0..10 {
                operator.apply(&u, &mut y, mode).expect("apply");
            }
            ALLOCATIONS.load(Ordering::SeqCst) - before
        });
        assert_eq!(counted, 0, "{} allocations in 10 applies on {}: {config:?}", counted, space.name());
    }
}

// One test, because other tests would allocate at the same time.
#[test]
fn an_apply_allocates_nothing() {
    let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(3), ..ShellSpec::level(2) }).expect("a mesh");
    let best = InstructionSet::best();
    for threads in [1, 2] {
        let space = HostSpace::<f64>::with(threads, best).expect("a host space");
        for config in configs() {
            no_allocation::<RadiusFastest>(&space, &mesh, config);
            no_allocation::<LateralFastest>(&space, &mesh, config);
        }
    }
    memory_beyond_fields_is_small();
}

fn memory_beyond_fields_is_small() {
    let space = HostSpace::<f64>::with(1, InstructionSet::best()).expect("a host space");
    // What belongs to columns and surfaces weighs less on finer shells: 8 % at level 5, 4 % at 6, 1 % at 8.
    let level = 6;
    let mesh = ShellMesh::new(ShellSpec::level(level)).expect("a mesh");
    let operator =
        ViscousOperator::<_, f64, LateralFastest>::new(&space, &mesh, Config::default(), |_| 1.0).expect("an operator");
    let exchange = Exchange::new(&mesh).bytes();
    // Fields of an apply: u, y and k.
    let fields = 7 * 8 * mesh.stored_nodes();
    let beyond = operator.overhead_bytes() + exchange;
    let share = beyond as f64 / fields as f64;
    println!("level {level}: {beyond} bytes beyond {fields} of fields, {:.2} %", 100.0 * share);
    assert!(share < 0.05, "{share}");
}
