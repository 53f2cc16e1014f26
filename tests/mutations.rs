//! Every barrier of every viscous kernel is needed, and the checked target says so: faults are put into the traced
//! kernels and must be found.

use farro_backends::checked::CheckedSpace;
use farro_backends::trace::ir::{Place, Statement};
use farro_backends::trace::mutate::{Mutation, barriers};
use farro_backends::trace::{Program, trace};
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::args::Fields;
use farro_fem::viscous::marching::Marching;
use farro_fem::viscous::shmem::Shmem;
use farro_fem::viscous::tuned::Tuned;
use farro_fem::viscous::{
    Accumulator, Boundary, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, TileShape, Variant,
    ViscousOperator,
};
use farro_portability::{HostMemory, LaunchError, View};

type Field<L> = View<f64, 5, L, HostMemory>;

/// A kernel of the operator, traced, and how its programs run.
struct Subject<'s, L: FieldLayout> {
    operator: ViscousOperator<'s, CheckedSpace<f64>, f64, L>,
    u: Field<L>,
    y: Field<L>,
    program: Program,
}

impl<'s, L: FieldLayout> Subject<'s, L> {
    fn new(space: &'s CheckedSpace<f64>, config: Config) -> Self {
        let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(5), ..ShellSpec::level(1) }).expect("a mesh");
        let operator =
            ViscousOperator::<_, f64, L>::new(space, &mesh, config, |[_, x, y, r]| (1 + x + 2 * y + r) as f64)
                .expect("an operator");
        let u = operator.vector_from("u", |[c, s, x, y, r]| (c + s + x * y + r) as f64).expect("u");
        let mut y = operator.new_vector("y").expect("y");
        let policy = operator.team_policy().expect("a policy");
        let program = match config.variant {
            Variant::Shmem => trace::<_, f64, _>(&operator.shmem(), &policy, &operator.args(&u, y.update())),
            Variant::Tuned => trace::<_, f64, _>(&operator.tuned(), &policy, &operator.args(&u, y.update())),
            _ => {
                let kernel = operator.marching(&policy, Mode::Replace);
                trace::<_, f64, _>(&kernel, &policy, &operator.args(&u, y.write()))
            }
        };
        Subject { program: program.expect("a program"), operator, u, y }
    }
    fn run(&mut self, program: &Program) -> Result<(), LaunchError> {
        self.y.fill(0.0).expect("zeros");
        let policy = self.operator.team_policy().expect("a policy");
        let (space, operator, u, y) = (self.operator.space(), &self.operator, &self.u, &mut self.y);
        match operator.config().variant {
            Variant::Shmem => {
                space.run_program::<Shmem<Fields<f64, L>>>(program, &policy, operator.args(u, y.update()))
            }
            Variant::Tuned => {
                space.run_program::<Tuned<Fields<f64, L>>>(program, &policy, operator.args(u, y.update()))
            }
            _ => space.run_program::<Marching<Fields<f64, L>>>(program, &policy, operator.args(u, y.write())),
        }
    }
    fn mutated(&mut self, mutation: Mutation) -> Result<(), LaunchError> {
        let program = mutation.apply(&self.program).expect("a place to mutate");
        self.run(&program)
    }
    /// The accesses of the program in the order in which mutations number them: name of the memory, whether it is scratch,
    /// and whether it is a store.
    fn accesses(&self) -> Vec<(String, bool, bool)> {
        use farro_backends::trace::ir::Op;
        let mut accesses = Vec::new();
        self.program.body.visit(&mut |statement| {
            let found = match statement {
                Statement::Store { memory, .. } => Some((*memory, true)),
                Statement::Let { value, .. } => match self.program.ops[*value as usize] {
                    Op::Load(memory, _) | Op::Atomic(_, memory, ..) | Op::CompareExchange(memory, ..) => {
                        Some((memory, false))
                    }
                    _ => None,
                },
                _ => None,
            };
            if let Some((memory, is_store)) = found {
                let memory = &self.program.memories[memory];
                accesses.push((memory.name.clone(), matches!(memory.place, Place::Scratch { .. }), is_store));
            }
        });
        accesses
    }
}

/// What a fault names: kernel, kind and view.
fn fault(result: Result<(), LaunchError>, about: &str) -> (String, String, String) {
    match result {
        Err(LaunchError::Fault { kernel, kind, view, site, threads, .. }) => {
            assert!(site.is_some() && !threads.is_empty(), "{about}: {kind} has its source position and threads");
            (kernel, kind, view)
        }
        other => panic!("{about}: a fault is expected, not {other:?}"),
    }
}

/// Tiles and teams that do not divide 2 × 2 × 5 cells. Three tiles above each other, of which the middle one touches no
/// constrained surface, so that every path of the kernels runs in every pass.
fn configs() -> Vec<Config> {
    let base = Config { boundary: Boundary::DIRICHLET, tile: TileShape { x: 3, y: 1, r: 2 }, ..Config::default() };
    let mut all = vec![Config { variant: Variant::Shmem, ..base }];
    for accumulator in Accumulator::ALL {
        all.push(Config { variant: Variant::Tuned, accumulator, passes: 2, ..base });
    }
    for radial_blocks in [1, 2] {
        all.push(Config { variant: Variant::Marching, threads: 3, rows: 1, lanes: Some(4), radial_blocks, ..base });
    }
    all
}

fn title(config: &Config) -> String {
    format!("{} {} in {} blocks", config.variant.name(), config.accumulator.name(), config.radial_blocks)
}

fn on_both_layouts(check: impl Fn(&mut dyn Case, &Config)) {
    let space = CheckedSpace::<f64>::new();
    for config in configs() {
        let mut subject = Subject::<RadiusFastest>::new(&space, config);
        let program = subject.program.clone();
        subject.run(&program).unwrap_or_else(|error| panic!("{}, unchanged: {error}", title(&config)));
        check(&mut subject, &config);
        let mut subject = Subject::<LateralFastest>::new(&space, config);
        subject.run(&subject.program.clone()).unwrap_or_else(|error| panic!("{}, unchanged: {error}", title(&config)));
        check(&mut subject, &config);
    }
}

/// A subject in either layout.
trait Case {
    fn program(&self) -> &Program;
    fn mutated(&mut self, mutation: Mutation) -> Result<(), LaunchError>;
    fn accesses(&self) -> Vec<(String, bool, bool)>;
}
impl<L: FieldLayout> Case for Subject<'_, L> {
    fn program(&self) -> &Program {
        &self.program
    }
    fn mutated(&mut self, mutation: Mutation) -> Result<(), LaunchError> {
        Subject::mutated(self, mutation)
    }
    fn accesses(&self) -> Vec<(String, bool, bool)> {
        Subject::accesses(self)
    }
}

#[test]
fn every_barrier_removed_is_found() {
    on_both_layouts(|case, config| {
        let sites = barriers(case.program());
        assert!(!sites.is_empty(), "{} has barriers", title(config));
        for (number, site) in sites.iter().enumerate() {
            let about = format!("{} without the barrier at {site}", title(config));
            let (kernel, kind, view) = fault(case.mutated(Mutation::RemoveBarrier(number)), &about);
            println!("{about}: {kind} of `{view}`");
            assert_eq!(kernel, format!("viscous_{}", config.variant.name()));
            assert!(kind.contains("data race"), "{about}: {kind}");
            let is_scratch =
                |memory: &&farro_backends::trace::ir::Memory| matches!(memory.place, Place::Scratch { .. });
            let mut scratch = case.program().memories.iter().filter(is_scratch);
            assert!(scratch.any(|memory| memory.name == view), "{about}: `{view}` is an array in scratch");
        }
    });
}

#[test]
fn every_barrier_that_some_threads_miss_is_found() {
    on_both_layouts(|case, config| {
        for number in 0..barriers(case.program()).len() {
            let (_, kind, _) = fault(case.mutated(Mutation::DivergeBarrier(number)), &title(config));
            assert_eq!(kind, "barrier reached by a part of the team only", "{}", title(config));
        }
    });
}

#[test]
fn staging_off_by_one_is_found() {
    on_both_layouts(|case, config| {
        let mut staged = 0;
        for (number, (name, is_scratch, is_store)) in case.accesses().into_iter().enumerate() {
            // Stores into scratch, one place further: past the array, or a race with the neighbour.
            if is_scratch && is_store {
                staged += 1;
                let about = format!("{}, store {number} to `{name}` shifted", title(config));
                let (kernel, _, view) = fault(case.mutated(Mutation::ShiftIndex(number, 1)), &about);
                assert_eq!((kernel, view), (format!("viscous_{}", config.variant.name()), name), "{about}");
            }
        }
        assert!(staged > 0, "{} stages something", title(config));
    });
}

#[test]
fn reading_past_the_tile_is_found() {
    on_both_layouts(|case, config| {
        let (mut shifted, mut found) = (0, 0);
        for (number, (name, is_scratch, is_store)) in case.accesses().into_iter().enumerate() {
            // Loads that move past the last node of a tile; others read a neighbour, which is a wrong result but no fault.
            if is_scratch && !is_store {
                shifted += 1;
                let is_fault = |result: Result<(), LaunchError>| match result {
                    Err(LaunchError::Fault { view, .. }) => view == name,
                    _ => false,
                };
                if [1, -1].into_iter().any(|by| is_fault(case.mutated(Mutation::ShiftIndex(number, by)))) {
                    found += 1;
                }
            }
        }
        println!("{}: {found} faults of {shifted} moved loads", title(config));
        // Most loads reach a border of the tile on one of the two sides.
        assert!(2 * found >= shifted, "{}: {found} of {shifted}", title(config));
    });
}

#[test]
fn every_plain_update_in_place_of_an_atomic_one_is_found() {
    on_both_layouts(|case, config| {
        let plain = Mutation::all(case.program()).into_iter().filter(|m| matches!(m, Mutation::PlainAtomic(_)));
        let mut found = 0;
        for mutation in plain {
            let about = format!("{} with {mutation:?}", title(config));
            let (kernel, kind, view) = fault(case.mutated(mutation), &about);
            assert_eq!(kernel, format!("viscous_{}", config.variant.name()));
            assert!(kind.contains("data race") || kind.contains("conflict of teams"), "{about}: {kind}");
            assert!(["y", "tile_sums"].contains(&view.as_str()), "{about}: `{view}`");
            found += 1;
        }
        assert_eq!(found == 0, config.variant == Variant::Marching, "{}: {found} atomic updates", title(config));
    });
}
