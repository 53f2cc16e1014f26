//! What a kernel uses, read from the assembler's report.

use std::collections::BTreeMap;

/// What one kernel uses, by the assembler's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    /// Registers per thread.
    pub registers: u32,
    /// Bytes written to local memory because registers ran out, per thread.
    pub spill_store_bytes: u32,
    /// Bytes read back.
    pub spill_load_bytes: u32,
    /// Bytes of stack per thread: spills, and arrays that did not fit into registers.
    pub stack_bytes: u32,
    /// Bytes of shared memory whose size is fixed in the text, per block.
    pub static_shared_bytes: u32,
}

impl Resources {
    /// Whether registers ran out.
    pub fn spills(&self) -> bool {
        self.spill_store_bytes > 0 || self.spill_load_bytes > 0
    }
}

/// Reads the report of `ptxas -v`, which for each kernel says
///
/// ```text
/// ptxas info    : Compiling entry function 'axpy' for 'sm_90'
/// ptxas info    : Function properties for axpy
///     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
/// ptxas info    : Used 12 registers, used 0 barriers, 1024 bytes smem, 380 bytes cmem[0]
/// ```
pub(crate) fn from_log(log: &str) -> BTreeMap<String, Resources> {
    let mut kernels: BTreeMap<String, Resources> = BTreeMap::new();
    let mut current: Option<String> = None;
    // Properties are also given for functions that were not inlined; those belong to no kernel's own line.
    let mut of_current = false;
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default().to_string();
            kernels.insert(name.clone(), Resources::default());
            current = Some(name);
        } else if let Some((_, rest)) = line.split_once("Function properties for ") {
            of_current = current.as_deref() == Some(rest.trim());
        }
        let Some(kernel) = current.as_ref().and_then(|name| kernels.get_mut(name)) else { continue };
        if of_current && line.contains("bytes stack frame") {
            kernel.stack_bytes = number_before(line, " bytes stack frame");
            kernel.spill_store_bytes = number_before(line, " bytes spill stores");
            kernel.spill_load_bytes = number_before(line, " bytes spill loads");
        } else if line.contains(" registers") && line.contains("Used ") {
            kernel.registers = number_before(line, " registers");
            kernel.static_shared_bytes = number_before(line, " bytes smem");
        }
    }
    kernels
}

/// The number that stands right before a text, or 0.
fn number_before(line: &str, text: &str) -> u32 {
    let Some(end) = line.find(text) else { return 0 };
    let digits = line[..end].rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_kernels_and_a_function_that_was_not_inlined() {
        let log = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Function properties for b
    64 bytes stack frame, 60 bytes spill stores, 120 bytes spill loads
ptxas info    : Used 96 registers, used 1 barriers, 18432 bytes smem, 380 bytes cmem[0]
ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
";
        let kernels = from_log(log);
        let b = Resources {
            registers: 96,
            spill_store_bytes: 60,
            spill_load_bytes: 120,
            stack_bytes: 64,
            static_shared_bytes: 18432,
        };
        assert_eq!(kernels["b"], b);
        assert!(b.spills());
        assert_eq!(kernels["a"], Resources { registers: 12, ..Resources::default() });
        assert!(from_log("no report").is_empty());
    }
}
