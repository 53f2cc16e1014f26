//! What the model knows of a device.

use serde::{Deserialize, Serialize};

/// A bandwidth that grows with the number of resident sub-groups until it saturates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// The saturated bandwidth, in GB/s.
    pub peak: f64,
    /// Sub-groups of a unit at which it saturates.
    pub knee: f64,
}

impl Knee {
    /// The bandwidth with `resident` sub-groups, in GB/s.
    pub fn at(&self, resident: f64) -> f64 {
        self.peak * (resident / self.knee).min(1.0)
    }
    /// The knee that fits measured pairs of resident sub-groups and bandwidth best, in the sense of least squares of the
    /// relative error. None without a positive bandwidth.
    pub fn fit(measured: &[(f64, f64)]) -> Option<Knee> {
        let highest = measured.iter().map(|&(_, bandwidth)| bandwidth).fold(0.0, f64::max);
        if !(highest > 0.0) {
            return None;
        }
        let error =
            |knee: &Knee| -> f64 { measured.iter().map(|&(w, found)| (knee.at(w) / found - 1.0).powi(2)).sum() };
        // A coarse search is enough: bandwidths scatter by per cents.
        let widest = measured.iter().map(|&(w, _)| w).fold(1.0, f64::max);
        let candidates = (0..=40).flat_map(|share| {
            let peak = highest * (0.8 + 0.2 * f64::from(share) / 40.0);
            (1..=200).map(move |step| Knee { peak, knee: widest * f64::from(step) / 200.0 })
        });
        candidates.min_by(|a, b| error(a).total_cmp(&error(b)))
    }
}

/// A device in the numbers of the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Work items of a sub-group.
    pub subgroup: usize,
    /// Most resident sub-groups of a unit (multiprocessor).
    pub subgroups: usize,
    /// Most resident teams of a unit.
    pub teams: usize,
    /// Bytes of local memory of a unit.
    pub local_bytes: usize,
    /// Bytes of local memory that one team may have.
    pub local_bytes_of_team: usize,
    /// Bandwidth of global memory, of the whole device.
    pub global: Knee,
    /// Bandwidth of local memory, of the whole device.
    pub local: Knee,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_finds_the_knee_of_exact_data() {
        let truth = Knee { peak: 4000.0, knee: 20.0 };
        let measured: Vec<_> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|w| (w, truth.at(w))).to_vec();
        let found = Knee::fit(&measured).unwrap();
        assert!((found.peak / truth.peak - 1.0).abs() < 0.02 && (found.knee / truth.knee - 1.0).abs() < 0.05);
        assert_eq!(Knee::fit(&[(1.0, 0.0)]), None);
    }
}
