//! oclgrind's race detector over the OpenCL text of every kernel, at a small size.
//!
//! oclgrind is an OpenCL driver that interprets kernels. Each test runs itself again in a process whose OpenCL loader has
//! that driver alone; what it finds it writes to a file.

mod common;
#[path = "../../tests/golden_cases/mod.rs"]
mod golden_cases;
#[path = "../../tests/printed_kernels/mod.rs"]
mod printed_kernels;

use farro_fem::golden::GoldenCase;
use farro_fem::viscous::{Config, RadiusFastest, TileShape, Variant};
use farro_portability::conformance;
use farro_portability::prelude::*;
use farro_sycl::{CompileOptions, Route, SpaceOptions, SyclSpace};
use farro_test_kernels as _;
use farro_test_suite as _;
use printed_kernels::{March, MarchArgs};
use std::path::Path;
use std::process::Command;

const DRIVER: &str = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
const CHILD: &str = "FARRO_RACES_CHILD";

/// Runs the test of that name under oclgrind; its findings, or nothing where there is no oclgrind.
fn findings(test: &str) -> Option<String> {
    let driver = std::env::var("FARRO_OCLGRIND").unwrap_or_else(|_| DRIVER.into());
    if !Path::new(&driver).is_file() {
        println!("skipped: {test}: no oclgrind at {driver}; `apt-get install oclgrind`, or set FARRO_OCLGRIND");
        return None;
    }
    let log = std::env::temp_dir().join(format!("farro-oclgrind-{}-{test}", std::process::id()));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .env("OCL_ICD_VENDORS", &driver)
        .env_remove("OCL_ICD_FILENAMES")
        .env("OCLGRIND_DATA_RACES", "1")
        .env("OCLGRIND_UNINITIALIZED", "0")
        .env("OCLGRIND_LOG", &log)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let found = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    assert!(output.status.success(), "{test}: {text}\n{found}");
    text.lines().filter(|line| line.starts_with("under oclgrind")).for_each(|line| println!("{line}"));
    Some(found)
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// oclgrind compiles OpenCL C 1.2.
fn space() -> SyclSpace {
    let compile = CompileOptions { standard: Some("CL1.2".into()), ..CompileOptions::default() };
    let options = SpaceOptions {
        cache: farro_backends::device::cache::Location::MemoryOnly,
        compile,
        range_team: 16,
        range_chunk: 32,
        ..SpaceOptions::default()
    };
    SyclSpace::with(Route::OpenCl, 0, options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn operators_are_free_of_races() {
    if is_child() {
        let space = space();
        let file = golden_cases::files().into_iter().find(|file| file.ends_with("l1-r3-1x1-dirichlet.json"));
        let case = GoldenCase::read(file.unwrap()).unwrap();
        let mut count = 0;
        for config in golden_cases::configs(&case) {
            let config = match config.variant {
                Variant::Marching => Config { threads: 2, rows: 1, lanes: Some(4), ..config },
                _ => Config { tile: TileShape { x: 2, y: 1, r: 2 }, ..config },
            };
            let error = golden_cases::error_of::<_, RadiusFastest>(&space, &case, config);
            let error = error.unwrap_or_else(|error| panic!("{config:?}: {error}"));
            assert!(error < golden_cases::TOLERANCE, "{config:?}: {error:e}");
            count += 1;
        }
        return println!("under oclgrind: {count} variants of the operator agree with the golden case");
    }
    if let Some(found) = findings("operators_are_free_of_races") {
        assert!(!found.contains("race") && !found.contains("Invalid"), "{found}");
    }
}

#[test]
fn kernels_of_the_conformance_suite_are_free_of_races() {
    if is_child() {
        let space = space();
        // Interpreted, so one of each kind: scratch, nested ranges, reductions and scans of a team.
        let cases =
            ["scratch::siblings_level_0", "scratch::barriers", "nested::phase", "reductions::any", "scratch::private"];
        let mut count = 0;
        for name in cases {
            let report = conformance::suite_of(&space, |case| case == name);
            let failed = report.failures().find(|case| !format!("{:?}", case.outcome).contains("needs sub-groups"));
            assert!(failed.is_none(), "{report}");
            count += 1;
        }
        return println!("under oclgrind: {count} cases of the conformance suite");
    }
    if let Some(found) = findings("kernels_of_the_conformance_suite_are_free_of_races") {
        assert!(!found.contains("race"), "{}", found.lines().take(40).collect::<Vec<_>>().join("\n"));
    }
}

kernel_args! { struct RowArgs { row: View<f64, 1, LayoutRight, ReadWrite> } }
/// Each thread reads what its neighbour stored, without a barrier between.
#[derive(Hash)]
struct Missing;
impl Kernel for Missing {
    type Args = RowArgs<Declared>;
    const NAME: &'static str = "missing_barrier";
    fn run<T: Target>(&self, team: T, args: &RowArgs<T>) {
        let threads = team.team_size();
        let shared = team.scratch::<f64, 1>(ScratchLevel::Zero, "shared", [threads]);
        team.phase(|item| shared.set([item.thread], team.to_real(item.thread)));
        team.phase(|item| args.row.set([item.thread], shared.at([(item.thread + 1) % threads as i64])));
    }
}

#[test]
fn a_missing_barrier_is_found() {
    if is_child() {
        let space = space();
        let mut row = View::<f64, 1, LayoutRight, _>::new(space.memory(), "row", [7]).unwrap();
        space.launch(&Missing, &TeamPolicy::new(1, 7, 1).unwrap(), RowArgs { row: row.write() }).unwrap();
        space.fence().unwrap();
        let u = View::<f64, 2, LayoutRight, _>::new(space.memory(), "u", [5, 16]).unwrap();
        let mut out = View::<f64, 2, LayoutRight, _>::new(space.memory(), "out", [5, 16]).unwrap();
        let policy = TeamPolicy::new(2, 2, 4).unwrap();
        space.launch(&March, &policy, MarchArgs { u: u.read(), out: out.write() }).unwrap();
        return space.fence().unwrap();
    }
    if let Some(found) = findings("a_missing_barrier_is_found") {
        assert!(found.contains("race") && found.contains("farro_missing_barrier"), "{found}");
        assert!(!found.contains("farro_march"), "{found}");
    }
}
