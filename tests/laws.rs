//! The laws of the viscous operator on every kind of space, in all precisions, variants, layouts and boundary conditions.

use farro_backends::checked::{CheckedSpace, DeviceModel};
use farro_backends::host::{HostSpace, InstructionSet};
use farro_fem::laws::{self, Operator as _, Outcome, Sample, ShellOperator, Stop, Verdict, ViscousLaws};
use farro_fem::mesh::{RadiiSpec, ShellMesh, ShellSpec};
use farro_fem::viscous::{
    Accumulator, Boundary, Condition, Config, FieldLayout, LateralFastest, RadiusFastest, Rule, TileShape, Variant,
};
use farro_portability::{RealElement, Space};
use farro_test_kernels as _;
use proptest::prelude::*;
use std::fmt;

fn host<P: farro_backends::host::HostPrecision>(threads: usize) -> HostSpace<P> {
    let set = InstructionSet::best();
    HostSpace::with(threads, set).expect("a host space")
}

/// Nodes of the largest mesh that properties use: level 2, 3 radial cells.
const MOST_NODES: usize = (10 * 4 * 4 + 2) * 4;

fn assert_suite<S: Space, E: RealElement, L: FieldLayout>(space: &S, options: &ViscousLaws) {
    let report = laws::viscous_suite::<S, E, L>(space, options);
    println!("{report}");
    report.assert();
    // Each law applies to some configuration.
    assert!(report.cases.iter().all(|case| case.outcome == Outcome::Passed), "{report}");
}

#[test]
fn laws_on_the_host_in_f64() {
    assert_suite::<_, f64, RadiusFastest>(&host::<f64>(2), &ViscousLaws::default());
    assert_suite::<_, f64, LateralFastest>(&host::<f64>(2), &ViscousLaws::default());
}
#[test]
fn laws_on_the_host_in_f32() {
    let options = ViscousLaws { decades: 2.0, ..ViscousLaws::default() };
    assert_suite::<_, f32, RadiusFastest>(&host::<f32>(1), &options);
}
#[test]
fn laws_on_the_host_with_f32_storage() {
    let options = ViscousLaws { decades: 2.0, ..ViscousLaws::default() };
    assert_suite::<_, f32, LateralFastest>(&host::<f64>(1), &options);
}
#[test]
fn laws_on_the_checked_target() {
    let mixed = Boundary { inner: Condition::FreeSlip, outer: Condition::Dirichlet };
    let options = ViscousLaws { level: 1, boundaries: vec![Boundary::NEUMANN, mixed], ..ViscousLaws::default() };
    assert_suite::<_, f64, RadiusFastest>(&CheckedSpace::<f64>::new(), &options);
    assert_suite::<_, f64, LateralFastest>(&CheckedSpace::<f64>::new(), &options);
}

/// One random problem with one random choice of tunables.
#[derive(Clone)]
struct Setup {
    level: u32,
    radial_cells: usize,
    /// Steps of the radii relative to each other.
    steps: Vec<f64>,
    boundary: Boundary,
    rule: Rule,
    tile: TileShape,
    passes: usize,
    keep_jacobian: bool,
    accumulator: Accumulator,
    threads: usize,
    rows: usize,
    lane_choice: usize,
    radial_blocks: usize,
    exponents: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of the long lists, what shrinking left.
        let sparse = |values: &[f64]| -> Vec<(usize, f64)> {
            values.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).take(12).collect()
        };
        let Setup { level, radial_cells, steps, boundary, rule, tile, passes, keep_jacobian, .. } = self;
        let Setup { accumulator, threads, rows, lane_choice, radial_blocks, exponents, u, v, .. } = self;
        write!(
            f,
            "level {level}, {radial_cells} radial cells, steps {steps:?}, {boundary:?}, {}, {tile:?}, {passes} passes, \
             keep {keep_jacobian}, {}, {threads} threads of {rows} rows, lanes {lane_choice}, {radial_blocks} blocks; \
             first of k {:?}, u {:?}, v {:?}",
            rule.name(),
            accumulator.name(),
            sparse(exponents),
            sparse(u),
            sparse(v)
        )
    }
}

fn setups() -> impl Strategy<Value = Setup> {
    let condition = || prop::sample::select(vec![Condition::Neumann, Condition::Dirichlet, Condition::FreeSlip]);
    let mesh = (1..=2u32, 2..=3usize, prop::collection::vec(0.5..2.0f64, 3));
    let tile = (1..=5usize, 1..=5usize, 1..=4usize, any::<bool>(), any::<bool>());
    let marching = (1..=3usize, 1..=5usize, 0..3usize, 1..=3usize);
    let physics = (condition(), condition(), prop::sample::select(Rule::ALL.to_vec()));
    let accumulator = prop::sample::select(Accumulator::ALL.to_vec());
    let fields = (
        prop::collection::vec(-2.0..2.0f64, MOST_NODES),
        prop::collection::vec(-1.0..1.0f64, 3 * MOST_NODES),
        prop::collection::vec(-1.0..1.0f64, 3 * MOST_NODES),
    );
    (mesh, tile, marching, physics, accumulator, fields).prop_map(
        |(mesh, tile, marching, physics, accumulator, fields)| {
            let ((level, radial_cells, steps), (x, y, r, all_passes, keep_jacobian)) = (mesh, tile);
            let ((threads, rows, lane_choice, radial_blocks), (inner, outer, rule)) = (marching, physics);
            Setup {
                level,
                radial_cells,
                steps,
                boundary: Boundary { inner, outer },
                rule,
                tile: TileShape { x, y, r },
                passes: if all_passes { r } else { 1 },
                keep_jacobian,
                accumulator,
                threads,
                // A team needs two rows.
                rows: if threads * rows == 1 { 2 } else { rows },
                lane_choice,
                radial_blocks,
                exponents: fields.0,
                u: fields.1,
                v: fields.2,
            }
        },
    )
}

impl Setup {
    fn mesh(&self) -> ShellMesh {
        let mut radii = vec![0.55];
        let total: f64 = self.steps[..self.radial_cells].iter().sum();
        for step in &self.steps[..self.radial_cells] {
            radii.push(radii[radii.len() - 1] + 0.45 * step / total);
        }
        ShellMesh::new(ShellSpec { radii: RadiiSpec::Explicit(radii), ..ShellSpec::level(self.level) }).expect("a mesh")
    }
    fn config(&self, variant: Variant, lengths: &[usize]) -> Config {
        let lengths: Vec<usize> = lengths.iter().copied().filter(|&lanes| (4..=16).contains(&lanes)).collect();
        Config {
            variant,
            rule: if variant.supports(self.rule) { self.rule } else { Rule::OneByOne },
            boundary: self.boundary,
            tile: self.tile,
            passes: self.passes,
            keep_jacobian: self.keep_jacobian,
            accumulator: self.accumulator,
            threads: self.threads,
            rows: self.rows,
            lanes: lengths.get(self.lane_choice % lengths.len().max(1)).copied(),
            radial_blocks: self.radial_blocks,
            ..Config::default()
        }
    }
    /// All laws of one variant.
    fn check<S: Space, E: RealElement, L: FieldLayout>(
        &self,
        space: &S,
        variant: Variant,
    ) -> Result<(), TestCaseError> {
        let mesh = self.mesh();
        let config = self.config(variant, space.limits().vector_lengths);
        let k = |number: usize| 10f64.powf(self.exponents[number]);
        let make =
            |mesh: &ShellMesh, config: Config| ShellOperator::<_, E, L>::new(space, mesh, config, k).expect("made");
        let op = make(&mesh, config);
        let (u, v) = (Sample::new(3, self.u.clone()), Sample::new(3, self.v.clone()));
        let random = Sample::random(3, mesh.unique_nodes(), 5);
        let reference_config = Config { variant: Variant::Textbook, ..config };
        let reference = ShellOperator::<_, E, L>::new(space, &mesh, reference_config, k).expect("a reference");
        let holds = |law: &str, verdict: Verdict| match verdict {
            Err(Stop::Failed(message)) => Err(TestCaseError::fail(format!("{law} of {config:?}: {message}"))),
            _ => Ok(()),
        };
        holds("agreement", laws::agreement(&op, &reference, &u))?;
        holds("linearity", laws::linearity(&op, &u, &v, [0.75, -2.5]))?;
        holds("symmetry", laws::symmetry(&op, &u, &v))?;
        holds("positivity", laws::positivity(&op, &u, &random))?;
        holds("null space", laws::null_space(&op, &random))?;
        holds("assembled", laws::assembled(&op, &u))?;
        holds("diagonal", laws::diagonal(&op, 2, 3))?;
        holds("constrained nodes", laws::constrained_nodes(&op, &u, &v))?;
        holds("replace and add", laws::replace_and_add(&op, &u, &v))?;
        holds("repeatable", laws::repeatable(&op, &u, 2))?;
        holds("copies agree", laws::copies_agree(&op, &u))?;
        holds("nothing outside", laws::nothing_outside(&op, &u))?;
        // Splitting the shell, with the exchange, changes nothing.
        let (lateral, radial) = (2, if self.radial_cells == 3 { 3 } else { 2 });
        let spec_radii = RadiiSpec::Explicit(mesh.radii()[..=self.radial_cells].to_vec());
        for (lateral_splits, radial_splits) in [(lateral, 1), (1, radial), (lateral, radial)] {
            let spec =
                ShellSpec { radii: spec_radii.clone(), lateral_splits, radial_splits, ..ShellSpec::level(self.level) };
            let split = make(&ShellMesh::new(spec).expect("a split mesh"), config);
            holds("splitting", laws::agreement(&split, &op, &u))?;
        }
        Ok(())
    }
    fn check_all<S: Space, E: RealElement, L: FieldLayout>(&self, space: &S) -> Result<(), TestCaseError> {
        Variant::ALL.into_iter().try_for_each(|variant| self.check::<S, E, L>(space, variant))
    }
}

fn with_cases(cases: u32) -> ProptestConfig {
    // Inputs are long lists; nobody waits for the last zero of them.
    ProptestConfig { cases, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(with_cases(10))]
    #[test]
    fn random_problems_on_the_host_in_f64(setup in setups()) {
        setup.check_all::<_, f64, RadiusFastest>(&host::<f64>(2))?;
        setup.check_all::<_, f64, LateralFastest>(&host::<f64>(2))?;
    }
}
proptest! {
    #![proptest_config(with_cases(4))]
    #[test]
    fn random_problems_on_the_host_in_f32(setup in setups()) {
        setup.check_all::<_, f32, RadiusFastest>(&host::<f32>(1))?;
    }
    #[test]
    fn random_problems_on_the_host_with_f32_storage(setup in setups()) {
        setup.check_all::<_, f32, LateralFastest>(&host::<f64>(1))?;
    }
    #[test]
    fn random_problems_on_the_checked_target(setup in setups()) {
        let setup = Setup { level: 1, ..setup };
        setup.check_all::<_, f64, RadiusFastest>(&CheckedSpace::<f64>::new())?;
        setup.check_all::<_, f64, LateralFastest>(&CheckedSpace::<f64>::new())?;
    }
}

#[test]
fn marching_has_the_same_bits_for_all_threads_and_runs() {
    let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(5), ..ShellSpec::level(3) }).expect("a mesh");
    let k = Sample::coefficient(mesh.unique_nodes(), 4.0, 3);
    let u = Sample::random(3, mesh.unique_nodes(), 4);
    let spaces = [1, 2, 7].map(host::<f64>);
    for (threads, rows, radial_blocks) in [(1, 3, 1), (1, 16, 3), (3, 2, 2)] {
        for (_, boundary) in Boundary::NAMED {
            let config = Config { boundary, threads, rows, radial_blocks, ..Config::default() };
            let of = |space| {
                ShellOperator::<_, f64, LateralFastest>::new(space, &mesh, config, |number| k.at(number, 0))
                    .expect("made")
            };
            let first = of(&spaces[0]);
            for space in &spaces {
                let op = of(space);
                assert_eq!(laws::same_bits(&op, &first, &u), Ok(()));
                assert_eq!(laws::repeatable(&op, &u, 4), Ok(()));
            }
        }
    }
}

#[test]
fn instruction_sets_and_spaces_agree() {
    let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(3), ..ShellSpec::level(2) }).expect("a mesh");
    let k = Sample::coefficient(mesh.unique_nodes(), 4.0, 3);
    let u = Sample::random(3, mesh.unique_nodes(), 4);
    let checked = CheckedSpace::<f64>::new();
    for config in laws::configurations(Boundary { inner: Condition::FreeSlip, outer: Condition::Dirichlet }) {
        let config = Config { lanes: Some(4), ..config };
        let reference =
            ShellOperator::<_, f64, RadiusFastest>::new(&checked, &mesh, config, |n| k.at(n, 0)).expect("made");
        for set in InstructionSet::available() {
            let space = HostSpace::<f64>::with(2, set).expect("a host space");
            let op = ShellOperator::<_, f64, LateralFastest>::new(&space, &mesh, config, |n| k.at(n, 0)).expect("made");
            assert_eq!(laws::agreement(&op, &reference, &u), Ok(()), "{config:?}");
        }
    }
}

#[test]
fn precisions_and_layouts_agree() {
    let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(3), ..ShellSpec::level(2) }).expect("a mesh");
    let k = Sample::coefficient(mesh.unique_nodes(), 2.0, 3);
    let u = Sample::random(3, mesh.unique_nodes(), 4);
    let (wide, narrow) = (host::<f64>(1), host::<f32>(1));
    for (_, boundary) in Boundary::NAMED {
        for config in laws::configurations(boundary) {
            let of_f64 =
                ShellOperator::<_, f64, RadiusFastest>::new(&wide, &mesh, config, |n| k.at(n, 0)).expect("made");
            let other =
                ShellOperator::<_, f64, LateralFastest>::new(&wide, &mesh, config, |n| k.at(n, 0)).expect("made");
            let of_f32 =
                ShellOperator::<_, f32, RadiusFastest>::new(&narrow, &mesh, config, |n| k.at(n, 0)).expect("made");
            let stored =
                ShellOperator::<_, f32, LateralFastest>::new(&wide, &mesh, config, |n| k.at(n, 0)).expect("made");
            assert_eq!(laws::agreement(&other, &of_f64, &u), Ok(()));
            assert_eq!(laws::agreement(&of_f32, &of_f64, &u), Ok(()));
            assert_eq!(laws::agreement(&stored, &of_f64, &u), Ok(()));
        }
    }
}

#[test]
fn what_a_device_cannot_run_is_skipped_by_name() {
    let small = CheckedSpace::<f64>::imitating(DeviceModel::SMALL);
    let mesh = ShellMesh::new(ShellSpec::level(1)).expect("a mesh");
    let config = Config { variant: Variant::Shmem, tile: TileShape { x: 8, y: 8, r: 8 }, ..Config::default() };
    let op = ShellOperator::<_, f64, RadiusFastest>::new(&small, &mesh, config, |_| 1.0).expect("made");
    match laws::linearity(&op, &Sample::random(3, 42, 1), &Sample::random(3, 42, 2), [1.0, 2.0]) {
        Err(Stop::Skipped(reason)) => assert!(reason.contains("viscous_shmem") && reason.contains("small"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// An operator that breaks a law on purpose: what is wrong with it shows in the verdicts.
struct Broken<'a, O> {
    inner: &'a O,
    fault: &'static str,
}
impl<O: laws::Operator> laws::Operator for Broken<'_, O> {
    fn name(&self) -> String {
        format!("{} with fault: {}", self.inner.name(), self.fault)
    }
    fn nodes(&self) -> &laws::Nodes {
        self.inner.nodes()
    }
    fn claims(&self) -> laws::Claims {
        laws::Claims { linear_patch: true, repeatable: true, ..self.inner.claims() }
    }
    fn apply(&self, u: &[f64]) -> Result<Vec<f64>, laws::OperatorError> {
        let mut y = self.inner.apply(u)?;
        let last = y.len() - 1;
        match self.fault {
            "offset" => y[0] += 1e-6,
            "row scaled" => self.scale_rows(&mut y, 1.0 + 1e-9),
            "negative" => y.iter_mut().for_each(|y| *y = -*y),
            "not written" => y[last] = f64::NAN,
            "copies differ" => y[last] *= 1.0 + 1e-15,
            _ => {}
        }
        Ok(y)
    }
    fn apply_add(&self, u: &[f64], y: &[f64]) -> Result<Option<Vec<f64>>, laws::OperatorError> {
        if self.fault == "replaces" { self.apply(u).map(Some) } else { self.inner.apply_add(u, y) }
    }
    fn diagonal(&self) -> Result<Option<Vec<f64>>, laws::OperatorError> {
        let mut diagonal = self.inner.diagonal()?;
        if let (Some(diagonal), "diagonal") = (&mut diagonal, self.fault) {
            self.scale_rows(diagonal, 1.0 + 1e-9);
        }
        Ok(diagonal)
    }
    fn elements(&self) -> Result<Option<Vec<laws::ElementMatrix>>, laws::OperatorError> {
        self.inner.elements()
    }
}
impl<O: laws::Operator> Broken<'_, O> {
    /// Scales the values of every third node.
    fn scale_rows(&self, y: &mut [f64], factor: f64) {
        let numbers = &self.nodes().numbers;
        y.iter_mut().enumerate().filter(|(i, _)| numbers[i / 3].is_multiple_of(3)).for_each(|(_, y)| *y *= factor);
    }
}

#[test]
fn faults_are_found_and_named() {
    let mesh = ShellMesh::new(ShellSpec { radial_cells: Some(3), ..ShellSpec::level(1) }).expect("a mesh");
    let k = Sample::coefficient(mesh.unique_nodes(), 1.0, 3);
    let space = host::<f64>(1);
    let expected: [(&str, &[&str]); 8] = [
        ("none", &["patch_test"]),
        ("offset", &["linearity", "null_space", "patch_test", "copies_agree", "assembled"]),
        ("row scaled", &["symmetry", "assembled", "diagonal"]),
        ("negative", &["positivity", "assembled", "diagonal"]),
        ("not written", &["linearity", "symmetry"]),
        ("copies differ", &["copies_agree"]),
        ("replaces", &["replace_and_add"]),
        ("diagonal", &["diagonal"]),
    ];
    let config = Config { boundary: Boundary::NEUMANN, ..Config::default() };
    let inner = ShellOperator::<_, f64, LateralFastest>::new(&space, &mesh, config, |n| k.at(n, 0)).expect("made");
    println!("{}", laws::suite(&inner, 11));
    laws::suite(&inner, 11).assert();
    for (fault, laws_broken) in expected {
        let broken = Broken { inner: &inner, fault };
        let report = laws::suite(&broken, 11);
        println!("{report}");
        for law in laws_broken {
            let case = report.cases.iter().find(|case| case.name == *law).expect("a law of that name");
            // The patch test fails without any fault, because the coefficient is not constant.
            assert!(matches!(case.outcome, Outcome::Failed(_)), "{}: {law}\n{report}", broken.name());
        }
    }
}
