//! What a kernel costs on an architecture: resources from the compiled binary, work from counts, and the ceilings that
//! bound it. No device is needed.
//!
//! What an assembler reports differs from vendor to vendor, so resources are a list of named numbers. A new vendor is a
//! new [`Family`] in [`FAMILIES`]; the table shows the columns that its rows have.

mod cuda;
mod hip;
mod sycl;
mod table;

pub use table::{Cell, columns, csv, json};

use crate::ceilings::{Ceilings, Demand, store};
use crate::kernels::{Choice, Counted, Named, Precision, record_kernel};
use farro_backends::count::{Accesses, Counts};
use farro_backends::trace::Program;
use farro_portability::Bounds;

/// A number that an assembler reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its name: the title of a column.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
}

/// A kernel as a binary of one architecture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Built {
    /// What the assembler reports, in the order of columns.
    pub resources: Vec<Resource>,
    /// Bytes that were written to and read from memory because registers ran out.
    pub spill_bytes: u64,
    /// Teams that a multiprocessor (compute unit) holds at one time, where its limits are known.
    pub teams: Option<u32>,
    /// Work items that it holds, as a fraction of what it could hold.
    pub occupancy: Option<f64>,
    /// Whether an atomic operation is a loop that compares and exchanges.
    pub comparison_loop: bool,
    /// Milliseconds that printing, and finding or compiling the binary took.
    pub milliseconds: f64,
    /// Whether the binary came from the cache.
    pub from_cache: bool,
}

/// A vendor's architectures.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name of the target.
    pub name: &'static str,
    /// What the names of its architectures begin with.
    pub prefix: &'static str,
    /// Prints and compiles; the error says what is missing or refused.
    pub build: fn(&Program, &str) -> Result<Built, String>,
}

/// All families.
pub const FAMILIES: [Family; 4] = [cuda::FAMILY, hip::FAMILY, sycl::SYCL, sycl::OPENCL];

/// The family of an architecture.
///
/// # Errors
/// When there is none: the error says which there are.
pub fn family(arch: &str) -> Result<&'static Family, String> {
    static ALL: &[Family] = &FAMILIES;
    ALL.iter().find(|family| arch.starts_with(family.prefix)).ok_or_else(|| {
        let known: Vec<_> = ALL.iter().map(|family| format!("{}* ({})", family.prefix, family.name)).collect();
        format!("there is no architecture `{arch}`; possible are {}", known.join(", "))
    })
}

/// Counts for each DoF.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// What the ceilings bound.
    pub demand: Demand,
    /// Requests of whole warps to global memory.
    pub requests: f64,
}

impl Work {
    fn of(counts: &Counts, counted: &Counted) -> Self {
        let (rates, excess) = (counts.per(counted.dofs), counted.excess);
        let demand = Demand {
            flops: rates.flops / excess,
            // Whatever teams do, each value moves once.
            bytes: rates.compulsory_read_bytes + rates.compulsory_written_bytes,
            cache_bytes: 32.0 * rates.global_sectors / excess,
            scratch_bytes: rates.scratch_bytes[0] / excess,
            atomics: counts.global.atomics.elements as f64 / counted.dofs / excess,
        };
        Work { demand, requests: rates.global_requests / excess }
    }
}

/// Where the bounds come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The device that was measured.
    pub device: String,
    /// Giga-DoFs per second that each ceiling allows, the lowest first.
    pub bounds: Vec<(&'static str, f64)>,
}

/// A kernel on an architecture.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The kernel, with what was chosen about it.
    pub label: String,
    /// The architecture.
    pub arch: String,
    /// Threads of a team and lanes of a thread.
    pub team: [usize; 2],
    /// Launch bounds asked for.
    pub bounds: Option<Bounds>,
    /// Bytes of scratch of a team, levels 0 and 1.
    pub scratch: [usize; 2],
    /// The binary, or why there is none.
    pub built: Result<Built, String>,
    /// Counts, where the kernel was counted.
    pub work: Option<Work>,
    /// Bounds, where ceilings of such a device are known.
    pub expected: Option<Expectation>,
    /// What to look at.
    pub warnings: Vec<String>,
}

/// A kernel to inspect, with its counts.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What rows call it.
    pub label: String,
    /// The kernel.
    pub named: Named,
    /// Its tunables.
    pub choice: Choice,
    /// Its counts.
    pub counted: Option<Counted>,
}

/// Inspects a kernel for an architecture; `ceilings` are those of such a device with its name, if any are known.
///
/// # Errors
/// When the tunables are not possible; a missing compiler is part of the row.
#[cfg_attr(not(debug_assertions), inline)]
pub fn inspect(
    subject: &Subject,
    arch: &str,
    ceilings: Option<&(String, Ceilings)>,
) -> Result<Row, farro_fem::viscous::ViscousError> {
    let recorded = record_kernel(subject.named, &subject.choice)?;
    let program = &recorded.prepared.program;
    let built = family(arch).and_then(|family| (family.build)(program, arch));
    let counts = subject.counted.as_ref().and_then(|counted| {
        counted.kernels.get(subject.named.kernel()).map(|counts| (counts, Work::of(counts, counted)))
    });
    let work = counts.map(|(_, work)| work);
    let expected = ceilings.zip(work).map(|((device, ceilings), work)| Expectation {
        device: device.clone(),
        bounds: ceilings.bounds(&work.demand),
    });
    let mut warnings = Vec::new();
    if let Ok(built) = &built {
        warnings.extend(of_binary(built, program.bounds));
    }
    if let Some((counts, _)) = counts {
        warnings.extend(uncoalesced(counts));
    }
    Ok(Row {
        label: subject.label.clone(),
        arch: arch.into(),
        team: [program.team_size, program.vector_length],
        bounds: program.bounds,
        scratch: program.scratch_bytes,
        built,
        work,
        expected,
        warnings,
    })
}

/// The newest ceilings of a device of an architecture, in a precision.
pub fn known_ceilings(arch: &str, precision: Precision) -> Option<(String, Ceilings)> {
    let stored = if precision == Precision::F64 { "f64" } else { "f32" };
    let bits = if precision == Precision::F32 { "f32)" } else { "f64)" };
    let folder = store::folder()?;
    let fits = |entry: &store::Entry| {
        let device = &entry.device;
        device.arch == arch && device.stored == stored && device.space.contains(bits)
    };
    store::list(&folder).into_iter().find(fits).map(|entry| (entry.device.space, entry.ceilings))
}

fn of_binary(built: &Built, bounds: Option<Bounds>) -> Vec<String> {
    let mut warnings = Vec::new();
    if built.spill_bytes > 0 {
        warnings.push(format!(
            "spills {} bytes a work item: use larger launch bounds, a smaller team, or fewer passes",
            built.spill_bytes
        ));
    }
    if built.comparison_loop {
        warnings.push("an atomic operation is a loop that compares and exchanges: no instruction does it".into());
    }
    if let (Some(bounds), Some(teams)) = (bounds, built.teams)
        && (teams as usize) < bounds.min_blocks
    {
        warnings.push(format!("{} teams a multiprocessor were asked for, {teams} fit", bounds.min_blocks));
    }
    if built.teams == Some(0) {
        warnings.push("not one team fits a multiprocessor: it will not launch".into());
    }
    warnings
}

/// Views whose requests touch at least twice the sectors that their elements fill.
fn uncoalesced(counts: &Counts) -> Vec<String> {
    let all = counts.global.requests().max(1) as f64;
    let waste = |accesses: &Accesses| 32.0 * accesses.sectors as f64 / accesses.bytes.max(1) as f64;
    let mut warnings = Vec::new();
    for (view, counts) in &counts.views {
        for (what, accesses) in [
            ("loads", &counts.accesses.loads),
            ("stores", &counts.accesses.stores),
            ("atomic updates", &counts.accesses.atomics),
        ] {
            // A view that is hardly touched costs nothing, however it lies.
            if accesses.requests as f64 > 0.01 * all && waste(accesses) >= 2.0 {
                warnings.push(format!(
                    "{what} of `{view}` touch {:.1} times the sectors that their elements fill: its fastest index does \
                     not run along lanes",
                    waste(accesses)
                ));
            }
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_name_what_to_change() {
        let built = Built { spill_bytes: 64, teams: Some(2), comparison_loop: true, ..Built::default() };
        let warnings = of_binary(&built, Some(Bounds { max_threads: 128, min_blocks: 5 }));
        assert_eq!(warnings.len(), 3);
        assert!(warnings[0].contains("64 bytes") && warnings[2].contains("5 teams"), "{warnings:?}");
        assert!(of_binary(&Built { teams: Some(5), ..Built::default() }, None).is_empty());
        let error = family("zz9").unwrap_err();
        assert!(error.contains("zz9") && error.contains("sm_* (CUDA)") && error.contains("gfx* (HIP)"), "{error}");
    }
}
