//! Marching on the SYCL device against the host target, in turns, in one run:
//! `cargo run --release -p farro-sycl --features measure --example marching_ratio -- 6`.

use farro_backends::host::HostSpace;
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::{Config, FieldLayout, LateralFastest, Mode, Variant, ViscousOperator};
use farro_portability::Space;
use farro_sycl::SyclSpace;
use std::error::Error;
use std::time::Instant;

/// Only the kernel itself, so that the host's other kernels need not be compiled. Seconds of each run.
struct Timed<'a> {
    name: String,
    run: Box<dyn FnMut() -> Result<(), Box<dyn Error>> + 'a>,
    seconds: Vec<f64>,
}

impl<'a> Timed<'a> {
    fn new<S: Space, L: FieldLayout>(
        space: &'a S,
        mesh: &ShellMesh,
        config: Config,
        name: String,
    ) -> Result<Self, Box<dyn Error>> {
        let operator = ViscousOperator::<S, f64, L>::new(space, mesh, config, |_| 1.0)?;
        let u = operator.vector_from("u", |index| index.iter().sum::<usize>() as f64 * 1e-3)?;
        let mut y = operator.new_vector("y")?;
        let policy = operator.team_policy()?;
        let run = move || -> Result<(), Box<dyn Error>> {
            space.launch(&operator.marching(&policy, Mode::Replace), &policy, operator.args(&u, y.write()))?;
            Ok(space.fence()?)
        };
        Ok(Timed { name, run: Box::new(run), seconds: Vec::new() })
    }
    fn once(&mut self) -> Result<(), Box<dyn Error>> {
        let begin = Instant::now();
        (self.run)()?;
        self.seconds.push(begin.elapsed().as_secs_f64());
        Ok(())
    }
    fn best(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = match SyclSpace::<f64>::new(0) {
        Ok(device) => device,
        Err(reason) => {
            println!("skipped: marching_ratio: {reason}");
            return Ok(());
        }
    };
    let level = std::env::args().nth(1).and_then(|level| level.parse().ok()).unwrap_or(6);
    let mesh = ShellMesh::new(ShellSpec::level(level))?;
    let host = HostSpace::<f64>::new()?;
    let config = Config { variant: Variant::Marching, ..Config::default() };
    let mut runs = vec![Timed::new::<_, LateralFastest>(&host, &mesh, config, "host".into())?];
    for lanes in [8, 16, 32] {
        for rows in [4, 8, 16] {
            let config = Config { lanes: Some(lanes), rows, ..config };
            let name = format!("SYCL, {lanes} lanes, {rows} rows");
            runs.push(Timed::new::<_, LateralFastest>(&device, &mesh, config, name)?);
        }
    }
    for _ in 0..12 {
        for run in &mut runs {
            run.once()?;
        }
    }
    println!("{}, level {level}", device.name());
    let host = runs[0].best();
    for run in &runs {
        println!("{:26} {:8.3} ms, {:.2} of the host's speed", run.name, 1e3 * run.best(), host / run.best());
    }
    Ok(())
}
