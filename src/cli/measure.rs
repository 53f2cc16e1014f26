//! Applies of the operator: timed, counted, and their results.

use super::error::CliError;
use super::problem::Problem;
use super::target::{Counted, Job};
use farro_backends::count::Counts;
use farro_fem::viscous::{Config, FieldLayout, Mode, ViscousError, ViscousOperator};
use farro_portability::{RealElement, Space, deep_copy};
use std::time::Instant;

/// Which results to keep.
#[derive(Clone, Copy, Debug)]
pub enum Keep<'a> {
    /// None.
    Nothing,
    /// All, in the order of [`Problem::place`].
    All,
    /// Those of some nodes, three values each.
    Nodes(&'a [[usize; 4]]),
}

/// Applies the operator with each of some configurations. Repetitions are interleaved, so that a machine whose clock
/// drifts does not favour one of them.
pub struct Measure<'a> {
    /// The data.
    pub problem: &'a Problem,
    /// The configurations.
    pub configs: &'a [Config],
    /// Timed repetitions of each, after one that is not timed; 0: apply once only.
    pub repeat: usize,
    /// Seconds after which a configuration is not repeated.
    pub budget: f64,
    /// Which results to keep.
    pub keep: Keep<'a>,
    /// Called after each apply with the number of the configuration.
    pub progress: &'a dyn Fn(usize),
}

/// One configuration's applies.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// Seconds of each timed apply.
    pub seconds: Vec<f64>,
    /// Results of the first apply.
    pub values: Vec<f64>,
    /// Counts of the first apply, where the space counts.
    pub counts: Option<Counts>,
    /// Work items of a team and teams, for kernels that have teams.
    pub overhead_bytes: usize,
}

impl Applied {
    /// The median time.
    pub fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => sorted[n / 2],
            n => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
        }
    }
    /// The shortest and the longest time.
    pub fn range(&self) -> (f64, f64) {
        let fold = |f: fn(f64, f64) -> f64| self.seconds.iter().copied().reduce(f).unwrap_or(f64::NAN);
        (fold(f64::min), fold(f64::max))
    }
}

/// What came of [`Measure`].
#[derive(Debug)]
pub struct Measured {
    /// The name of the space.
    pub space: String,
    /// One entry a configuration; a launch that is not possible is an entry too.
    pub applied: Vec<Result<Applied, ViscousError>>,
}

impl Job for Measure<'_> {
    type Output = Measured;

    fn run<S: Space + Counted, E: RealElement, L: FieldLayout>(&self, space: &S) -> Result<Measured, CliError> {
        let Some(&first) = self.configs.first() else {
            return Ok(Measured { space: space.name(), applied: Vec::new() });
        };
        let problem = self.problem;
        let mut operator = ViscousOperator::<S, E, L>::new(space, &problem.mesh, first, |node| problem.k(node))?;
        let u = operator.vector_from("u", |index| problem.u(index))?;
        let mut y = operator.new_vector("y")?;
        let mut applied = Vec::new();
        for (number, &config) in self.configs.iter().enumerate() {
            if let Err(error) = config.check() {
                applied.push(Err(error));
                continue;
            }
            operator = operator.with_config(config)?;
            y.fill(E::POISON)?;
            space.take_counts();
            let start = Instant::now();
            let outcome = operator.apply(&u, &mut y, Mode::Replace).and_then(|()| Ok(space.fence()?));
            let first = start.elapsed().as_secs_f64();
            (self.progress)(number);
            if let Err(error) = outcome {
                applied.push(Err(error));
                continue;
            }
            let mut this = Applied {
                counts: space.take_counts(),
                overhead_bytes: operator.overhead_bytes(),
                ..Applied::default()
            };
            if !matches!(self.keep, Keep::Nothing) {
                let mut host = y.mirror()?;
                deep_copy(&mut host, &y)?;
                match self.keep {
                    Keep::Nothing => {}
                    Keep::All => {
                        this.values.reserve_exact(3 * problem.mesh.stored_nodes());
                        for c in 0..3 {
                            this.values.extend(problem.nodes().map(|[s, x, y, r]| host.get([c, s, x, y, r]).to_f64()));
                        }
                    }
                    Keep::Nodes(nodes) => {
                        for &[s, x, y, r] in nodes {
                            this.values.extend((0..3).map(|c| host.get([c, s, x, y, r]).to_f64()));
                        }
                    }
                }
            }
            // A configuration that takes longer than all its time is not run again.
            if self.repeat > 0 && first > self.budget {
                this.seconds.push(first);
            }
            applied.push(Ok(this));
        }
        for _ in 0..self.repeat {
            for (number, &config) in self.configs.iter().enumerate() {
                let Ok(this) = &mut applied[number] else { continue };
                if this.seconds.iter().sum::<f64>() > self.budget {
                    continue;
                }
                operator = operator.with_config(config)?;
                let start = Instant::now();
                operator.apply(&u, &mut y, Mode::Replace)?;
                space.fence()?;
                this.seconds.push(start.elapsed().as_secs_f64());
                (self.progress)(number);
            }
        }
        Ok(Measured { space: space.name(), applied })
    }
}

/// The relative difference of two lists in the l2 norm.
pub fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    let (mut difference, mut norm) = (0.0, 0.0);
    for (a, b) in found.iter().zip(expected) {
        difference += (a - b) * (a - b);
        norm += b * b;
    }
    if found.len() != expected.len() { f64::INFINITY } else { (difference / norm).sqrt() }
}
