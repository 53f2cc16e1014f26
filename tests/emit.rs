//! What `farro emit` prints: every kernel, in every language, the same in every run, without a device.

use farro::emit::{EmitError, EmitTarget, Form, emit};
use farro::kernels::{Choice, LayoutChoice, Named, Precision, record_kernel};
use farro_cuda::CudaError;
use farro_fem::viscous::{Accumulator, Boundary, Config, Rule, TileShape, Variant};
use std::time::Instant;

const TARGETS: [EmitTarget; 3] = [EmitTarget::Cuda, EmitTarget::Hip, EmitTarget::Opencl];

fn text(named: Named, choice: &Choice, target: EmitTarget) -> String {
    let recorded = record_kernel(named, choice).unwrap_or_else(|error| panic!("{named:?}: {error}"));
    emit(&recorded.prepared.program, target, Form::Text, "").expect("text needs no compiler")
}

#[test]
fn every_kernel_has_a_text_in_every_language_and_always_the_same() {
    let config = Config { lanes: Some(32), threads: 8, rows: 2, ..Config::default() };
    for (name, named) in Named::all() {
        for target in TARGETS {
            let choice = Choice { config, ..Choice::default() };
            let first = text(named, &choice, target);
            assert!(first.contains(&format!("farro_{}", named.kernel())), "{name} {target:?}:\n{first}");
            assert_eq!(first, text(named, &choice, target), "{name} {target:?} is not the same twice");
        }
    }
}

#[test]
fn options_change_the_text() {
    let tuned = |accumulator| Choice {
        config: Config {
            variant: Variant::Tuned,
            accumulator,
            tile: TileShape { x: 4, y: 4, r: 8 },
            ..Config::default()
        },
        ..Choice::default()
    };
    let base = tuned(Accumulator::Direct);
    let with = |config| Choice { config, ..base };
    let choices = [
        base,
        tuned(Accumulator::HexCell),
        tuned(Accumulator::Tile),
        with(Config { rule: Rule::OneByTwo, ..base.config }),
        with(Config { boundary: Boundary::NEUMANN, ..base.config }),
        with(Config { passes: 2, ..base.config }),
        Choice { precision: Precision::F32, ..base },
        Choice { precision: Precision::Mixed, ..base },
        Choice { layout: LayoutChoice::R, ..base },
    ];
    let texts: Vec<_> =
        choices.iter().map(|choice| text(Named::Element(Variant::Tuned), choice, EmitTarget::Cuda)).collect();
    for (i, a) in texts.iter().enumerate() {
        for (j, b) in texts.iter().enumerate().skip(i + 1) {
            assert_ne!(a, b, "{:?} and {:?}", choices[i], choices[j]);
        }
    }
}

#[test]
fn what_is_not_launched_is_refused_by_name() {
    let open = Choice { config: Config { boundary: Boundary::NEUMANN, ..Config::default() }, ..Choice::default() };
    let error = record_kernel(Named::AddKept, &open).unwrap_err();
    assert!(error.to_string().contains("viscous_add_kept"), "{error}");
    let wrong = Choice { config: Config { rule: Rule::ThreeByTwo, ..Config::default() }, ..Choice::default() };
    assert!(record_kernel(Named::Element(Variant::Marching), &wrong).is_err());
}

#[test]
fn ptx_and_sass_come_from_a_named_architecture() {
    let test = "ptx_and_sass_come_from_a_named_architecture";
    let recorded = record_kernel(Named::Zero, &Choice::default()).unwrap();
    let program = &recorded.prepared.program;
    for target in [EmitTarget::Hip, EmitTarget::Opencl] {
        let error = emit(program, target, Form::Ptx, "sm_90").unwrap_err();
        assert!(matches!(error, EmitError::Form { .. }) && error.to_string().contains("ptx"), "{error}");
    }
    match emit(program, EmitTarget::Cuda, Form::Ptx, "sm_90") {
        Err(EmitError::Cuda { source: reason @ CudaError::NoLibrary { .. }, .. }) => {
            return println!("skipped: {test}: {reason}");
        }
        ptx => assert!(ptx.unwrap().contains(".entry farro_zero")),
    }
    let unknown = emit(program, EmitTarget::Cuda, Form::Sass, "sm_12").unwrap_err();
    assert!(unknown.to_string().contains("sm_12") && unknown.to_string().contains("zero"), "{unknown}");
    match emit(program, EmitTarget::Cuda, Form::Sass, "sm_90") {
        Err(EmitError::Cuda { source: reason @ CudaError::NoDisassembler { .. }, .. }) => {
            println!("skipped: {test}: {reason}");
        }
        sass => {
            let sass = sass.unwrap();
            assert!(sass.contains("farro_zero") && sass.contains("STG"), "{sass}");
        }
    }
}

#[test]
fn tracing_and_printing_take_less_than_a_blink() {
    for variant in Variant::ALL {
        let config = Config { variant, lanes: Some(32), threads: 8, rows: 2, ..Config::default() };
        let choice = Choice { config, ..Choice::default() };
        let recorded = record_kernel(Named::Element(variant), &choice).unwrap();
        let seconds = (0..3).map(|_| {
            let begin = Instant::now();
            std::hint::black_box(emit(&recorded.prepared.program, EmitTarget::Cuda, Form::Text, "").unwrap());
            begin.elapsed().as_secs_f64()
        });
        let best = seconds.fold(f64::INFINITY, f64::min);
        println!("{}: printed in {:.1} ms", variant.name(), 1e3 * best);
        // 20 ms are promised are compiled with little optimization.
        assert!(best < 0.06, "{}: {best} s", variant.name());
    }
}
