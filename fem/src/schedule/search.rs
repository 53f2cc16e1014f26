//! The search: rank all candidates by the model, time the best ones and the one with one work item a cell.

use super::case::Case;
use super::device::Device;
use super::model::Cost;
use super::rank::{Ranking, rank};
use crate::laws::SplitMix;
use crate::simplex::SimplexMesh;
use crate::weak::{NodalField, NodalFields, Schedule, WeakError, WeakForm, WeakOperator, dense_action};
use farro_portability::{HostMemory, LaunchError, Space, View, deep_copy};
use std::time::Instant;

/// How thorough a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Candidates that are timed, besides the one with one work item a cell.
    pub top: usize,
    /// Seconds of timing for each; at least three launches are timed.
    pub seconds: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { top: 10, seconds: 0.2 }
    }
}

/// A schedule that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The schedule.
    pub schedule: Schedule,
    /// What the model says; it says nothing of one work item a cell.
    pub cost: Option<Cost>,
    /// Seconds of the fastest launch, or why the space refuses the schedule.
    pub seconds: Result<f64, LaunchError>,
    /// Relative difference from the dense evaluation, on a small mesh; infinite if the space refuses the schedule.
    pub difference: f64,
}

/// The largest difference of a schedule that counts as correct: rounding, with room for forms that cancel.
pub const CORRECT: f64 = 1e-10;

/// The fastest of those that are correct.
fn fastest(timed: &[Timed]) -> Option<&Timed> {
    let ran = timed.iter().filter(|timed| timed.difference <= CORRECT);
    let ran = ran.filter_map(|timed| Some((timed, *timed.seconds.as_ref().ok()?)));
    ran.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(timed, _)| timed)
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The case.
    pub case: Case,
    /// Cells of the mesh.
    pub cells: usize,
    /// Vertices of the mesh.
    pub vertices: usize,
    /// Nodes of the mesh.
    pub nodes: usize,
    /// The ranking, with as many of the best as were tried.
    pub ranking: Ranking,
    /// Seconds that ranking took.
    pub ranking_seconds: f64,
    /// One work item a cell first, then by rank.
    pub timed: Vec<Timed>,
}

impl Found {
    /// The fastest schedule whose result is that of the dense evaluation, within [`CORRECT`]; none if the space refused
    /// them all or all are wrong.
    pub fn winner(&self) -> Option<&Timed> {
        fastest(&self.timed)
    }
    /// Spearman's correlation of predicted and measured times of the tiled schedules; none for fewer than three.
    pub fn rank_correlation(&self) -> Option<f64> {
        let pairs: Vec<(f64, f64)> = self
            .timed
            .iter()
            .filter_map(|timed| Some((timed.cost?.nanoseconds, *timed.seconds.as_ref().ok()?)))
            .collect();
        spearman(&pairs)
    }
}

/// Ranks of values, equal ones sharing the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |x: f64| values.iter().filter(|&&v| v < x).count() as f64;
    let equal = |x: f64| values.iter().filter(|&&v| v == x).count() as f64;
    values.iter().map(|&x| below(x) + 0.5 * (equal(x) - 1.0)).collect()
}

fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (a, b) = (ranks(&a), ranks(&b));
    let mean = (pairs.len() - 1) as f64 / 2.0;
    let covariance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let scale = (covariance(&a, &a) * covariance(&b, &b)).sqrt();
    (scale > 0.0).then(|| covariance(&a, &b) / scale)
}

/// A function on the nodes, copied to the host.
fn download<S: Space>(field: &NodalField<S::Memory>) -> Result<Vec<f64>, WeakError> {
    let mut host = View::<f64, 2>::new(&HostMemory, field.label(), field.extents())?;
    deep_copy(&mut host, field)?;
    Ok(host.as_slice().to_vec())
}

fn relative_difference(a: &[f64], b: &[f64]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
}

/// A form on a mesh of a few cells, where the dense evaluation takes no time.
struct Reference<'s, S: Space, F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize> {
    operator: WeakOperator<'s, S, F, i32, D, C, K>,
    unknown: NodalField<S::Memory>,
    coefficients: NodalFields<S::Memory>,
    expected: Vec<f64>,
}

impl<'s, S: Space, F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize> Reference<'s, S, F, D, C, K> {
    fn new(space: &'s S, degree: usize, form: F) -> Result<Self, WeakError> {
        // 18 or 162 cells: the last team of most schedules is not full.
        let mesh = SimplexMesh::unit(D, 3)?;
        let operator = WeakOperator::new(space, &mesh, degree, form, Schedule::default())?;
        let (unknown, coefficients) = random_fields(&operator)?;
        let nodes = operator.node_count();
        let values = |number: usize| (0..nodes * C).map(move |place| value(number, place));
        let (u, others): (Vec<_>, Vec<_>) = (values(0).collect(), (1..=K).flat_map(values).collect());
        let expected = dense_action(&form, &mesh, degree, &u, &others)?;
        Ok(Reference { operator, unknown, coefficients, expected })
    }
    /// The relative difference of a schedule's result, and the reference for further ones.
    fn difference(mut self, schedule: Schedule) -> Result<(f64, Self), WeakError> {
        self.operator = self.operator.with_schedule(schedule)?;
        let mut y = self.operator.field_from("y", |_, _| f64::NAN)?;
        self.operator.apply(&self.unknown, Some(&self.coefficients), &mut y)?;
        self.operator.space().fence()?;
        Ok((relative_difference(&download::<S>(&y)?, &self.expected), self))
    }
}

/// A number in place of function `number` (0 is the unknown) at a place: by place, not in sequence, because the order of
/// evaluation is the view's own.
fn value(number: usize, place: usize) -> f64 {
    SplitMix::new((place * (number + 1) + number) as u64).real()
}

type RandomFields<M> = (NodalField<M>, NodalFields<M>);

fn random_fields<S: Space, F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(
    operator: &WeakOperator<'_, S, F, i32, D, C, K>,
) -> Result<RandomFields<S::Memory>, WeakError> {
    let unknown = operator.field_from("unknown", |node, c| value(0, node * C + c))?;
    let coefficients = operator.coefficients_from("coefficients", |k, node, c| value(k + 1, node * C + c))?;
    Ok((unknown, coefficients))
}

/// Searches the fastest schedule of a form for elements of `degree` on `mesh`, with random functions; each schedule is
/// also compared with the dense evaluation, on a mesh of a few cells. `progress` is called
/// with how many schedules were tried and how many there are to try.
///
/// # Errors
/// When the case is not possible, memory is exhausted, or a launch fails for another reason than the space's limits, which
/// are part of the result.
pub fn search<S: Space, F: WeakForm<D, C, K>, const D: usize, const C: usize, const K: usize>(
    space: &S,
    mesh: &SimplexMesh,
    degree: usize,
    form: F,
    device: &Device,
    effort: Effort,
    progress: &dyn Fn(usize, usize),
) -> Result<Found, WeakError> {
    let case = Case::new(&form, degree)?;
    let start = Instant::now();
    let ranking = rank(&case, device, effort.top);
    let ranking_seconds = start.elapsed().as_secs_f64();
    let mut operator = WeakOperator::<_, F, i32, D, C, K>::new(space, mesh, degree, form, Schedule::default())?;
    let (unknown, coefficients) = random_fields(&operator)?;
    let mut reference = Reference::new(space, degree, form)?;
    let mut y = operator.new_field("y")?;
    let schedules: Vec<_> = [(Schedule::default(), None)]
        .into_iter()
        .chain(ranking.best.iter().map(|ranked| (ranked.candidate.schedule(), Some(ranked.cost))))
        .collect();
    let mut timed = Vec::new();
    for (number, &(schedule, cost)) in schedules.iter().enumerate() {
        progress(number, schedules.len());
        operator = operator.with_schedule(schedule)?;
        let ran = operator.apply(&unknown, Some(&coefficients), &mut y);
        if let Err(WeakError::Launch(error)) = ran {
            timed.push(Timed { schedule, cost, seconds: Err(error), difference: f64::INFINITY });
            continue;
        }
        ran?;
        space.fence()?;
        let difference;
        (difference, reference) = reference.difference(schedule)?;
        let (begin, mut launches, mut best) = (Instant::now(), 0, f64::INFINITY);
        while launches < 3 || begin.elapsed().as_secs_f64() < effort.seconds {
            let launch = Instant::now();
            operator.apply_add(&unknown, Some(&coefficients), &mut y)?;
            space.fence()?;
            best = best.min(launch.elapsed().as_secs_f64());
            launches += 1;
        }
        timed.push(Timed { schedule, cost, seconds: Ok(best), difference });
    }
    progress(schedules.len(), schedules.len());
    let (cells, vertices, nodes) = (mesh.cell_count(), mesh.vertex_count(), operator.node_count());
    Ok(Found { case, cells, vertices, nodes, ranking, ranking_seconds, timed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_schedule_never_wins() {
        let tried = |seconds: f64, difference: f64| Timed {
            schedule: Schedule::default(),
            cost: None,
            seconds: Ok(seconds),
            difference,
        };
        let all = [tried(1.0, 1e-15), tried(0.1, 1e-3), tried(0.2, f64::NAN), tried(0.9, 1e-14), tried(0.3, 1.0)];
        assert_eq!(fastest(&all).map(|timed| timed.seconds.clone()), Some(Ok(0.9)));
        assert_eq!(fastest(&all[1..3]), None);
    }

    #[test]
    fn correlation_sees_order_and_nothing_else() {
        let pairs = |b: [f64; 4]| [1.0, 2.0, 3.0, 4.0].into_iter().zip(b).collect::<Vec<_>>();
        assert_eq!(spearman(&pairs([1.0, 10.0, 11.0, 1e9])), Some(1.0));
        assert_eq!(spearman(&pairs([4.0, 3.0, 2.0, 1.0])), Some(-1.0));
        assert_eq!(spearman(&pairs([5.0; 4])), None);
        assert_eq!(spearman(&[(1.0, 2.0), (2.0, 3.0)]), None);
    }
}
