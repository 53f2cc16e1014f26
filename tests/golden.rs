//! The golden cases: every variant that supports the rule, on the host.

use farro_backends::host::HostSpace;
use farro_fem::golden::{GoldenBoundary, GoldenCase, GoldenRule};
use farro_fem::viscous::{
    Accumulator, Boundary, Config, FieldLayout, LateralFastest, Mode, RadiusFastest, Rule, TileShape, Variant,
    ViscousOperator,
};
use farro_portability::Space;
use farro_test_kernels as _;

fn error_of<L: FieldLayout>(case: &GoldenCase, config: Config) -> f64 {
    let space = HostSpace::<f64>::new().expect("a host space");
    let mesh = case.mesh().expect("a mesh");
    let k = |[s, x, y, r]: [usize; 4]| case.k[case.node_index(&mesh, s, x, y, r)];
    let operator = ViscousOperator::<_, f64, L>::new(&space, &mesh, config, k).expect("an operator");
    let value = |list: &[Vec<f64>; 3], [c, s, x, y, r]: [usize; 5]| list[c][case.node_index(&mesh, s, x, y, r)];
    let u = operator.vector_from("u", |index| value(&case.u, index)).expect("u");
    let mut y = operator.new_vector("y").expect("y");
    y.fill(f64::NAN).expect("poison");
    operator.apply(&u, &mut y, Mode::Replace).expect("apply");
    space.fence().expect("fence");
    let (mut difference, mut norm) = (0.0, 0.0);
    let [_, ns, nx, ny, nr] = operator.vector_extents();
    for c in 0..3 {
        for s in 0..ns {
            for x in 0..nx {
                for yy in 0..ny {
                    for r in 0..nr {
                        let expected = value(&case.au, [c, s, x, yy, r]);
                        let found = y.get([c, s, x, yy, r]);
                        difference += (found - expected).powi(2);
                        norm += expected.powi(2);
                    }
                }
            }
        }
    }
    (difference / norm).sqrt()
}

#[test]
fn golden_cases_on_the_host() {
    for entry in std::fs::read_dir("tests/golden").expect("golden folder") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let case = GoldenCase::read(&path).expect("a golden case");
        let rule = match case.rule {
            GoldenRule::OneByOne => Rule::OneByOne,
            GoldenRule::OneByTwo => Rule::OneByTwo,
            GoldenRule::ThreeByTwo => Rule::ThreeByTwo,
        };
        let boundary = match case.boundary {
            GoldenBoundary::Neumann => Boundary::NEUMANN,
            GoldenBoundary::Dirichlet => Boundary::DIRICHLET,
            GoldenBoundary::Cmb => Boundary::NAMED[2].1,
            GoldenBoundary::Surface => Boundary::NAMED[3].1,
        };
        for variant in Variant::ALL {
            if !variant.supports(rule) {
                continue;
            }
            let accumulators: &[Accumulator] =
                if variant == Variant::Tuned { &Accumulator::ALL } else { &[Accumulator::Direct] };
            for &accumulator in accumulators {
                let config = Config {
                    variant,
                    rule,
                    boundary,
                    accumulator,
                    tile: TileShape { x: 3, y: 2, r: 2 },
                    passes: if variant == Variant::Tuned { 2 } else { 1 },
                    rows: 3,
                    ..Config::default()
                };
                let (r, x) = (error_of::<RadiusFastest>(&case, config), error_of::<LateralFastest>(&case, config));
                println!("{} {} {}: {r:e} {x:e}", path.display(), variant.name(), accumulator.name());
                assert!(r < 1e-13 && x < 1e-13, "{} {}: {r:e} {x:e}", path.display(), variant.name());
            }
        }
    }
}
