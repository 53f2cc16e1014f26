//! The conformance suite as tracing targets run it, compiled once for all tests.
//!
//! Kernels are traced by the same functions for every space. In test builds the compiler shares generic functions
//! between crates, so a test that names this crate (`use farro_test_suite as _;`) links these instead of compiling them
//! again.

#[cfg(debug_assertions)]
fn suite<P: farro_portability::RealElement>() {
    let suite: fn(&farro_backends::count::CountSpace<P>) -> _ = farro_portability::conformance::suite;
    std::hint::black_box(suite);
}

/// Names all kernels, so that they are compiled here. Release builds share nothing, so there it does nothing.
pub fn compile_all() {
    #[cfg(debug_assertions)]
    {
        suite::<f64>();
        suite::<f32>();
    }
}
