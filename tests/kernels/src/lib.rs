//! The host's kernels of the viscous operator, compiled once for all tests.
//!
//! In test builds the compiler shares generic functions between crates, so a test that names this crate (`use
//! farro_test_kernels as _;`) links these instead of compiling them again.

#[cfg(debug_assertions)]
mod compiled {
    use farro_backends::host::{HostPrecision, HostSpace};
    use farro_fem::laws::{Operator, ShellOperator, Verdict};
    use farro_fem::viscous::operator::VectorField;
    use farro_fem::viscous::{FieldLayout, LateralFastest, Mode, RadiusFastest, ViscousError, ViscousOperator};

    type On<E, L, P> = ViscousOperator<'static, HostSpace<P>, E, L>;
    type Field<E, L> = VectorField<E, L, farro_portability::HostMemory>;
    type Apply<E, L, P> = fn(&On<E, L, P>, &Field<E, L>, &mut Field<E, L>, Mode) -> Result<(), ViscousError>;
    type Diagonal<E, L, P> = fn(&On<E, L, P>, &mut Field<E, L>) -> Result<(), ViscousError>;
    type Guarded<E, L, P> = fn(&ShellOperator<'_, HostSpace<P>, E, L>, &farro_fem::laws::Sample) -> Verdict;

    fn compile<P: HostPrecision, E: farro_portability::RealElement, L: FieldLayout>() {
        let apply: Apply<E, L, P> = On::<E, L, P>::apply;
        let diagonal: Diagonal<E, L, P> = On::<E, L, P>::diagonal;
        let guarded: Guarded<E, L, P> = farro_fem::laws::nothing_outside;
        let as_operator: fn(&ShellOperator<'static, HostSpace<P>, E, L>) -> String = Operator::name;
        std::hint::black_box((apply, diagonal, guarded, as_operator));
    }

    /// Names all kernels, so that they are compiled here.
    pub fn compile_all() {
        compile::<f64, f64, RadiusFastest>();
        compile::<f64, f64, LateralFastest>();
        compile::<f32, f32, RadiusFastest>();
        compile::<f64, f32, LateralFastest>();
    }
}

/// Names all kernels, so that they are compiled here. Release builds share nothing, so there it does nothing.
pub fn compile_all() {
    #[cfg(debug_assertions)]
    compiled::compile_all();
}
