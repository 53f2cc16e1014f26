//! The spaces of this machine, for tests that run on each of them.

use farro_backends::host::{HostPrecision, HostSpace, InstructionSet};

/// A space of the host, or nothing, with a word to the reader of the log, where the machine lacks the instructions.
pub fn host<P: HostPrecision>(set: InstructionSet, threads: usize) -> Option<HostSpace<P>> {
    if !InstructionSet::available().contains(&set) {
        println!("skipped: no kernels for {} here", set.name());
        return None;
    }
    Some(HostSpace::with(threads, set).expect("an available instruction set"))
}

/// One test for each space, named after it: `every_space!(name, function)` runs `function(&space)`.
#[macro_export]
macro_rules! every_space {
    ($name:ident, $function:path) => {
        mod $name {
            $crate::every_space! { @host $function =>
                host_f64_portable_1_thread f64 Portable 1; host_f64_portable_2_threads f64 Portable 2;
                host_f64_portable_7_threads f64 Portable 7; host_f64_avx2_1_thread f64 Avx2 1;
                host_f64_avx2_2_threads f64 Avx2 2; host_f64_avx2_7_threads f64 Avx2 7;
                host_f64_avx512_1_thread f64 Avx512 1; host_f64_avx512_2_threads f64 Avx512 2;
                host_f64_avx512_7_threads f64 Avx512 7;
                host_f32_portable_1_thread f32 Portable 1; host_f32_portable_2_threads f32 Portable 2;
                host_f32_portable_7_threads f32 Portable 7; host_f32_avx2_1_thread f32 Avx2 1;
                host_f32_avx2_2_threads f32 Avx2 2; host_f32_avx2_7_threads f32 Avx2 7;
                host_f32_avx512_1_thread f32 Avx512 1; host_f32_avx512_2_threads f32 Avx512 2;
                host_f32_avx512_7_threads f32 Avx512 7;
            }
            #[test]
            fn checked_f64() {
                $function(&farro_backends::checked::CheckedSpace::<f64>::new());
            }
            #[test]
            fn checked_f32() {
                $function(&farro_backends::checked::CheckedSpace::<f32>::new());
            }
        }
    };
    (@host $function:path => $($test:ident $precision:ident $set:ident $threads:literal;)*) => {$(
        #[test]
        fn $test() {
            use farro_backends::host::InstructionSet;
            if let Some(space) = $crate::spaces::host::<$precision>(InstructionSet::$set, $threads) {
                $function(&space);
            }
        }
    )*};
}
