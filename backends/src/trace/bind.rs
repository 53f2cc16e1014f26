//! From a kernel with its arguments to a program: every argument becomes parameters.

use super::builder::{TraceGuard, with};
use super::ir::{self, Memory, Parameter, Place, Source, Type, Value};
use super::{Program, TracedInt, TracedMemory, TracedReal, Tracer};
use farro_portability::{
    Access, ArgSet, ArgsOf, Binder, Borrowed, Element, Kernel, KernelView, LaunchError, Layout, MemorySpace,
    RealElement, TeamPolicy, ViewHandle,
};
use std::marker::PhantomData;

/// Traces `kernel` for `policy`, with arithmetic in the type `P`.
///
/// # Errors
/// When the kernel uses the language wrongly.
pub fn trace<K: Kernel, P: RealElement, M: MemorySpace>(
    kernel: &K,
    policy: &TeamPolicy,
    args: &ArgsOf<'_, K, M>,
) -> Result<Program, LaunchError> {
    let guard = TraceGuard::start(Program {
        name: K::NAME.into(),
        real: Type::from(P::KIND),
        team_size: policy.team_size(),
        vector_length: policy.vector_length(),
        bounds: policy.bounds(),
        parameters: Vec::new(),
        memories: Vec::new(),
        types: Vec::new(),
        ops: Vec::new(),
        body: ir::Block::default(),
        scratch_bytes: [0; 2],
        private_slots: 0,
        exchanges_lanes: false,
    })?;
    let run = std::panic::AssertUnwindSafe(|| {
        let args = <K::Args as ArgSet>::rebind(args, &mut IntoTrace { next: 0 });
        kernel.run(Tracer, &args);
    });
    std::panic::catch_unwind(run).map_err(|payload| LaunchError::Kernel {
        kernel: K::NAME.into(),
        site: None,
        message: crate::launch::panic_message(&*payload),
    })?;
    guard.finish()
}

struct IntoTrace {
    next: usize,
}

impl IntoTrace {
    fn number(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}

impl<'a, M: MemorySpace> Binder<Borrowed<'a, M>, Tracer> for IntoTrace {
    fn real(&mut self, name: &'static str, _value: &f64) -> TracedReal {
        let source = Source::Scalar(self.number());
        TracedReal(with(|b| {
            let kind = b.program.real;
            b.parameter(Parameter { name: name.into(), kind, source })
        }))
    }
    fn int(&mut self, name: &'static str, _value: &i64) -> TracedInt {
        let source = Source::Scalar(self.number());
        TracedInt(with(|b| b.parameter(Parameter { name: name.into(), kind: Type::I64, source })))
    }
    fn view<E: Element, const R: usize, L: Layout, A: Access>(
        &mut self,
        name: &'static str,
        _view: &ViewHandle<'a, E, R, L, M, A>,
    ) -> KernelView<Tracer, E, R, L, A> {
        let argument = self.number();
        with(|b| {
            let extents: [Value; R] = std::array::from_fn(|d| {
                let source = Source::Extent(argument, d);
                b.parameter(Parameter { name: format!("{name}_extent_{d}"), kind: Type::I32, source })
            });
            let strides: [Value; R] = std::array::from_fn(|d| match L::unit_dimension(R) {
                Some(unit) if unit == d => b.int(1),
                _ => {
                    let source = Source::Stride(argument, d);
                    b.parameter(Parameter { name: format!("{name}_stride_{d}"), kind: Type::I64, source })
                }
            });
            let place = Place::View {
                argument,
                extents: extents.to_vec(),
                strides: strides.to_vec(),
                unit_dimension: L::unit_dimension(R),
                access: A::KIND,
            };
            let id = b.memory(Memory { name: name.into(), kind: E::KIND, place });
            let memory = TracedMemory { id, marker: PhantomData };
            KernelView::from_parts(Tracer, memory, extents.map(TracedInt), strides.map(TracedInt))
        })
    }
}
