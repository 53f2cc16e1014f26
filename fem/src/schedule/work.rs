//! Work of a cell by formula, and the rooflines that follow from it.

use super::case::Case;

/// Work of a cell, as the published system counts it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes between global memory and chip if everything but nodes shared by cells moves once.
    pub global_bytes: f64,
    /// Bytes of matrix entries that a work item reads for its cell: `16 M N Q`.
    pub local_bytes: f64,
    /// Bytes of a cell that pass the first-level cache, which is one unit with local memory.
    pub l1_bytes: f64,
    /// Atomic additions if results are scattered once.
    pub atomics: f64,
}

/// `(a, b, all FLOPs of degree 1)`, see [`PUBLISHED`].
type OfDimension = (f64, f64, f64);

/// FLOPs of a point and of a cell beside the sums over basis functions, `(a, b)` for degree 2 and above, and all FLOPs of a
/// cell for degree 1: for dimensions 2 and 3. As the published system counts them.
const PUBLISHED: [(&str, [OfDimension; 2]); 5] = [
    ("mass", [(2.0, 8.0, 47.0), (2.0, 24.0, 96.0)]),
    ("laplace", [(15.0, 13.0, 42.0), (34.0, 54.0, 115.0)]),
    ("helmholtz", [(16.0, 13.0, 86.0), (35.0, 54.0, 194.0)]),
    ("elasticity", [(45.0, 17.0, 87.0), (154.0, 63.0, 290.0)]),
    ("hyperelasticity", [(139.0, 14.0, 185.0), (435.0, 55.0, 580.0)]),
];

impl Work {
    /// FLOPs of the sums over basis functions, `2 Q N c (M_e n_f + M_q)`: what is exact for every form and schedule.
    pub fn sums(case: &Case) -> f64 {
        let matrices = case.evaluation_matrices * case.functions + case.quadrature_matrices;
        (2 * case.points * case.nodes * case.components * matrices) as f64
    }
    /// The work of a cell of a mesh with so many cells, vertices and nodes. FLOPs are the published ones for the five
    /// forms; for others, [`Work::sums`] alone.
    pub fn of(case: &Case, cells: usize, vertices: usize, nodes: usize) -> Work {
        let row =
            PUBLISHED.iter().find(|(form, _)| *form == case.form).and_then(|(_, rows)| rows.get(case.dimension - 2));
        let flops = match row {
            Some(&(_, _, first)) if case.degree == 1 => first,
            Some(&(a, b, _)) => Work::sums(case) + a * case.points as f64 + b,
            None => Work::sums(case),
        };
        let share = |count: usize| count as f64 / cells as f64;
        let (d, c, n) = (case.dimension as f64, case.components as f64, case.nodes as f64);
        let functions = case.functions as f64;
        let map = if case.degree > 1 { 4.0 * n } else { 0.0 };
        // A result is read and written, since it is added to.
        let global_bytes =
            4.0 * (d + 1.0) + map + 8.0 * d * share(vertices) + 8.0 * c * share(nodes) * (functions + 2.0);
        let local_bytes =
            8.0 * ((case.evaluation_matrices + case.quadrature_matrices) * case.nodes * case.points) as f64;
        let l1_bytes = 4.0 * (d + 1.0) + 4.0 * n + 8.0 * d * (d + 1.0) + 8.0 * c * n * functions + 8.0 * c * n;
        Work { flops, global_bytes, local_bytes, l1_bytes, atomics: c * n }
    }
    /// The rooflines for measured ceilings: FLOPs in GFLOP/s, bandwidths in GB/s, atomic additions in 10⁹ a second.
    pub fn rooflines(&self, gflops: f64, global: f64, local: f64, atomics: f64) -> Rooflines {
        let (global_time, local_time) = (self.global_bytes / global, self.local_bytes / local);
        Rooflines {
            min: gflops.min(self.flops / global_time).min(self.flops / local_time),
            sum: gflops.min(self.flops / (global_time + local_time)),
            l1: gflops.min(self.flops / global_time).min(self.flops * local / (self.local_bytes + self.l1_bytes)),
            atomics: self.flops * atomics / self.atomics,
        }
    }
}

/// What limits a case, in GFLOP/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rooflines {
    /// The published one: the least of arithmetic, global and local memory.
    pub min: f64,
    /// The same with the times of global and local memory added. Measured speeds exceed it at times: no bound.
    pub sum: f64,
    /// The least of arithmetic, global memory, and local memory together with the first-level cache.
    pub l1: f64,
    /// What atomic additions allow, if results are scattered once.
    pub atomics: f64,
}
