//! The cost model: how long a cell takes by a candidate.

use super::case::Case;
use super::device::Device;
use super::space::Candidate;
use crate::weak::Tiles;

/// What the model says of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Nanoseconds of a cell, on the whole device.
    pub nanoseconds: f64,
    /// Of which for global memory.
    pub global: f64,
    /// Of which for local memory.
    pub local: f64,
    /// Sub-groups that are resident on a unit and have work.
    pub resident: f64,
    /// Teams that are resident on a unit.
    pub teams: usize,
    /// Share of the executed work that is useful.
    pub useful: f64,
}

/// The model of a case on a device.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// The case.
    pub case: &'a Case,
    /// The device.
    pub device: &'a Device,
}

impl Model<'_> {
    /// Bytes of a cell that are the same for all candidates but for the number of tiles: what a team reads once for all
    /// its cells (both stages' matrices and the weights).
    fn tables(&self) -> f64 {
        let case = self.case;
        let entries = case.nodes * case.points;
        8.0 * ((case.evaluation_matrices + case.quadrature_matrices) * entries + case.points) as f64
    }
    /// Bytes of a cell to and from local memory: each evaluation matrix once, and for each value of a point a matrix
    /// entry and the value.
    fn local_traffic(&self) -> f64 {
        let case = self.case;
        let entries = (case.nodes * case.points) as f64;
        8.0 * entries * (case.evaluation_matrices + 2 * case.values_per_point()) as f64
    }
    /// Bytes of a cell to and from global memory.
    fn global_traffic(&self, tiles: &Tiles) -> f64 {
        let case = self.case;
        let of = |points: usize| points.div_ceil(tiles.evaluation_rows);
        let gathers = case.points / tiles.points * of(tiles.points) + of(case.points % tiles.points);
        let functions = case.functions * case.nodes * case.components;
        let coordinates = case.dimension * (case.dimension + 1);
        let scatters = case.points.div_ceil(tiles.points);
        let values = gathers * functions + coordinates + case.nodes * case.components * scatters;
        8.0 * values as f64 + self.tables() / tiles.cells as f64
    }
    /// Useful among executed iterations of the loops of both stages, whose rows are shared among the work items of a cell
    /// and whose last tiles are predicated.
    fn useful(&self, tiles: &Tiles) -> f64 {
        let case = self.case;
        let padded = |extent: usize, tile: usize| extent.div_ceil(tile) * tile;
        let rows = |extent: usize, tile: usize| extent.div_ceil(tile) * padded(tile, tiles.items);
        let of = |points: usize| {
            let evaluation = rows(points, tiles.evaluation_rows) * padded(case.nodes, tiles.evaluation_columns);
            let quadrature = rows(case.nodes, tiles.quadrature_rows) * padded(points, tiles.quadrature_columns);
            evaluation * case.functions * case.evaluation_matrices + quadrature * case.quadrature_matrices
        };
        let executed = case.points / tiles.points * of(tiles.points) + of(case.points % tiles.points);
        let each = case.functions * case.evaluation_matrices + case.quadrature_matrices;
        (case.nodes * case.points * each) as f64 / executed as f64
    }

    /// The cost of a candidate; none if a team does not fit the device.
    pub fn cost(&self, candidate: &Candidate) -> Option<Cost> {
        let local_bytes = candidate.local_bytes(self.case);
        let (device, tiles) = (self.device, &candidate.tiles);
        let items = tiles.cells * tiles.items;
        let subgroups = items.div_ceil(device.subgroup);
        if local_bytes > device.local_bytes_of_team || subgroups > device.subgroups {
            return None;
        }
        let teams = (device.local_bytes / local_bytes).min(device.teams).min(device.subgroups / subgroups);
        let filled = items as f64 / (subgroups * device.subgroup) as f64;
        let useful = self.useful(tiles);
        let resident = useful * filled * (device.subgroups.min(teams * subgroups)) as f64;
        let global = self.global_traffic(tiles) / device.global.at(resident);
        let local = self.local_traffic() / device.local.at(resident);
        Some(Cost { nanoseconds: global + local, global, local, resident, teams, useful })
    }
}
