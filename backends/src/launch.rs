//! What every backend does before a launch: trace once, collect arguments, check limits and aliasing.

use crate::trace::{Program, trace};
pub use farro_portability::check_limits;
use farro_portability::{
    Access, AccessKind, ArgSet, ArgsOf, Binder, Borrowed, Declared, Element, ElementKind, Kernel, LaunchError,
    LaunchInfo, Layout, MemorySpace, RealElement, TeamPolicy, ViewHandle,
};
use std::any::TypeId;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// Most arguments of a launch, views, reals and integers together.
const MAX_ARGUMENTS: usize = 24;
/// Highest rank of a view.
const MAX_RANK: usize = 6;

/// One argument of a launch, by value.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A real.
    Real(f64),
    /// An integer.
    Int(i64),
    /// A view.
    View {
        /// The label of the view.
        label: &'a str,
        /// The address of its first element.
        pointer: *mut u8,
        /// Its storage type.
        kind: ElementKind,
        /// Its rank.
        rank: usize,
        /// Its extents.
        extents: [usize; MAX_RANK],
        /// Its strides, in elements.
        strides: [usize; MAX_RANK],
        /// Elements from the first to the last reachable one.
        span: usize,
        /// What the kernel may do with it.
        access: AccessKind,
    },
}

/// The arguments of a launch in order of declaration, without allocation.
#[derive(Debug)]
pub struct Arguments<'a> {
    list: [Argument<'a>; MAX_ARGUMENTS],
    len: usize,
}

struct Collector<'a> {
    arguments: Arguments<'a>,
}

impl<'a> Collector<'a> {
    fn push(&mut self, argument: Argument<'a>) {
        if let Some(slot) = self.arguments.list.get_mut(self.arguments.len) {
            *slot = argument;
        }
        self.arguments.len += 1;
    }
}

impl<'a, M: MemorySpace> Binder<Borrowed<'a, M>, Declared> for Collector<'a> {
    fn real(&mut self, _name: &'static str, value: &f64) {
        self.push(Argument::Real(*value));
    }
    fn int(&mut self, _name: &'static str, value: &i64) {
        self.push(Argument::Int(*value));
    }
    fn view<E: Element, const R: usize, L: Layout, A: Access>(
        &mut self,
        _name: &'static str,
        view: &ViewHandle<'a, E, R, L, M, A>,
    ) {
        let wide = |values: [usize; R]| std::array::from_fn(|d| values.get(d).copied().unwrap_or(1));
        self.push(Argument::View {
            label: view.label(),
            pointer: view.pointer(),
            kind: E::KIND,
            rank: R,
            extents: wide(view.extents()),
            strides: wide(view.strides()),
            span: view.span(),
            access: A::KIND,
        });
    }
}

impl<'a> Arguments<'a> {
    /// Collects the arguments of kernel `K`.
    ///
    /// # Errors
    /// When there are more than a launch can take.
    pub fn collect<K: Kernel, M: MemorySpace>(args: &ArgsOf<'a, K, M>) -> Result<Self, LaunchError> {
        let empty = Arguments { list: [Argument::Int(0); MAX_ARGUMENTS], len: 0 };
        let mut collector = Collector { arguments: empty };
        <K::Args as ArgSet>::rebind::<Borrowed<'a, M>, Declared>(args, &mut collector);
        let arguments = collector.arguments;
        if arguments.len > MAX_ARGUMENTS {
            let message = format!("{} arguments are declared; at most {MAX_ARGUMENTS} are possible", arguments.len);
            return Err(LaunchError::Arguments { kernel: K::NAME.into(), message });
        }
        Ok(arguments)
    }
    /// The arguments in order.
    pub fn as_slice(&self) -> &[Argument<'a>] {
        &self.list[..self.len]
    }
    /// Refuses a written view that shares memory with another argument.
    ///
    /// # Errors
    /// When there is such a pair.
    pub fn check_aliasing(&self, kernel: &str) -> Result<(), LaunchError> {
        let range = |argument: &Argument<'a>| match *argument {
            Argument::View { label, pointer, kind, span, access, .. } => {
                let start = pointer.addr();
                Some((label, start, start + span * kind.bytes(), access))
            }
            _ => None,
        };
        for (i, first) in self.as_slice().iter().enumerate() {
            let Some((a, a_start, a_end, a_access)) = range(first) else { continue };
            for second in &self.as_slice()[i + 1..] {
                let Some((b, b_start, b_end, b_access)) = range(second) else { continue };
                let reads_only = a_access == AccessKind::ReadOnly && b_access == AccessKind::ReadOnly;
                if !reads_only && a_start < b_end && b_start < a_end {
                    let (written, other) = if a_access == AccessKind::ReadOnly { (b, a) } else { (a, b) };
                    return Err(LaunchError::Aliasing {
                        kernel: kernel.into(),
                        written: written.into(),
                        other: other.into(),
                    });
                }
            }
        }
        Ok(())
    }
}

/// A kernel that was traced for a policy.
#[derive(Debug)]
pub struct Prepared {
    /// What the kernel needs.
    pub info: LaunchInfo,
    /// The traced program.
    pub program: Program,
}

/// Traced kernels, found again by type, constants and policy.
#[derive(Default)]
pub struct PreparedKernels {
    by_key: Mutex<HashMap<(TypeId, u64), Arc<Prepared>>>,
}

impl PreparedKernels {
    /// The kernel traced for `policy` with arithmetic in `P`; traced at the first call only.
    ///
    /// # Errors
    /// When the kernel uses the language wrongly.
    pub fn get<K: Kernel, P: RealElement, M: MemorySpace>(
        &self,
        kernel: &K,
        policy: &TeamPolicy,
        args: &ArgsOf<'_, K, M>,
    ) -> Result<Arc<Prepared>, LaunchError> {
        let key = (TypeId::of::<(K, P)>(), constants_key(kernel, policy));
        let lock = || self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = lock().get(&key) {
            return Ok(Arc::clone(prepared));
        }
        let program = trace::<K, P, M>(kernel, policy, args)?;
        let prepared = Arc::new(Prepared { info: program.launch_info(), program });
        Ok(Arc::clone(lock().entry(key).or_insert(prepared)))
    }
}

/// A hash of everything that is constant in compiled code: the kernel's fields, team, vector and bounds.
pub fn constants_key<K: Kernel>(kernel: &K, policy: &TeamPolicy) -> u64 {
    let mut hasher = DefaultHasher::new();
    kernel.hash(&mut hasher);
    (policy.team_size(), policy.vector_length(), policy.bounds()).hash(&mut hasher);
    hasher.finish()
}

/// The text of a panic.
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "the kernel panicked".into())
}
