//! What every execution space must do, as a library of test cases.
//!
//! A backend author runs the whole suite; a user runs it on a machine that is new to them:
//!
//! ```no_run
//! # fn check<S: farro_portability::Space>(space: &S) {
//! let report = farro_portability::conformance::suite(space);
//! println!("{report}");
//! report.assert();
//! # }
//! ```
//!
//! Cases never panic: a failure, an error of the space and a panic below it are all an [`Outcome`]. What a space
//! cannot run (a team larger than its limit, say) is listed by name and not passed over in silence. Inputs come from a
//! small deterministic generator and outputs are poisoned before each run.

mod arithmetic;
mod atomics;
mod control;
mod lab;
mod lanes;
mod launches;
mod layouts;
mod memory;
mod nested;
mod offsets;
mod policies;
mod reducers;
mod reductions;
mod refusals;
mod report;
mod scans;
mod scratch;

pub use report::{CaseReport, Outcome, Report};

use crate::space::Space;
use lab::{Lab, Stop, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};

macro_rules! registry {
    ($($module:ident { $($case:ident),* $(,)? })*) => {
        const NAMES: &[&str] = &[$($(concat!(stringify!($module), "::", stringify!($case))),*),*];

        /// The case of that place in `NAMES`.
        fn table<S: Space>() -> Vec<fn(&Lab<'_, S>) -> Verdict> {
            vec![$($($module::$case::<S>),*),*]
        }
    };
}

registry! {
    policies { range, range_stores, md_rank_1, md_rank_2, md_rank_3, md_rank_4, md_rank_5, md_rank_6, team, bounds }
    nested {
        team_vector, team_thread, thread_vector, row_column, md_rank_1, md_rank_2, md_rank_3, md_rank_4, phase,
        repeat_in_thread,
    }
    reductions {
        sum, product, min, max, min_max, min_loc, max_loc, sum_int, min_int, max_int, all, any, custom,
        inside_serial_loop, thousand_back_to_back, repeatable,
    }
    scans { team, every_reducer, league }
    scratch { siblings_level_0, siblings_level_1, several_arrays, atomic_counts, barriers, private, private_masked }
    atomics { f64, f32, i32, i64, spread_integers }
    lanes { down, up, rotate, from, tuples }
    control {
        team_effects_once, thread_effects_once, when, when_uniform, fold_uniform, fold_varying, fold_carried_shapes,
        fold_widens, fold_nested, update_if, select,
    }
    arithmetic { integers, integer_literals, integers_32, wide_integers, reals, real_order, constants, conversions }
    layouts { rank_0, rank_1, rank_2, rank_3, rank_4, rank_5, rank_6 }
    memory {
        subview, disjoint_subviews, mirrors, copies_between_layouts, storage_precision, atomic_reads, fill, extents,
    }
    offsets { beyond_32_bits, in_kernels, view_too_large }
    launches {
        zero_teams, league_times_team, largest_team, team_too_large, scratch_too_large, no_team_possible, md_too_large,
    }
    refusals {
        bounds_too_small, vector_length, aliasing, lanes_of_impossible_vectors, barrier_in_phase, private_in_range,
        scratch_in_loop, panicking_kernel, tile, policy,
    }
}

/// The names of all cases, in the order in which [`suite`] runs them.
pub fn cases() -> Vec<&'static str> {
    NAMES.to_vec()
}

/// Runs all cases on a space.
pub fn suite<S: Space>(space: &S) -> Report {
    suite_of(space, |_| true)
}

/// Runs the cases whose name `wanted` accepts.
pub fn suite_of<S: Space>(space: &S, wanted: impl Fn(&str) -> bool) -> Report {
    let lab = Lab::new(space);
    let table = NAMES.iter().zip(table::<S>()).filter(|(name, _)| wanted(name));
    Report { space: space.name(), cases: table.map(|(name, case)| run(&lab, name, case)).collect() }
}

/// Runs the case of that name; a name that is not in [`cases`] is a failure that says so.
pub fn run_case<S: Space>(space: &S, name: &str) -> Outcome {
    let mut report = suite_of(space, |candidate| candidate == name);
    match report.cases.pop() {
        Some(case) => case.outcome,
        None => Outcome::Failed(format!("there is no case `{name}`; `cases()` lists them")),
    }
}

fn run<S: Space>(lab: &Lab<'_, S>, name: &'static str, case: fn(&Lab<'_, S>) -> Verdict) -> CaseReport {
    let start = std::time::Instant::now();
    let verdict = catch_unwind(AssertUnwindSafe(|| case(lab)));
    let (ran, left_out) = lab.take_notes();
    let outcome = match verdict {
        Ok(Ok(())) if ran == 0 && !left_out.is_empty() => Outcome::Skipped(left_out.join("; ")),
        Ok(Ok(())) => Outcome::Passed,
        Ok(Err(Stop::Failed(message))) => Outcome::Failed(message),
        Ok(Err(Stop::Skipped(reason))) => Outcome::Skipped(reason),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            Outcome::Failed(format!("panicked: {}", text.unwrap_or("without a message")))
        }
    };
    CaseReport { name, outcome, left_out, seconds: start.elapsed().as_secs_f64() }
}
