//! What cases share: views on the space, poisoned outputs, team shapes, deterministic numbers.

use crate::error::LaunchError;
use crate::memory::MemoryError;
use crate::prelude::*;
use crate::space::{ArgsOf, Limits};
use crate::value::ElementKind;
use crate::{Access, ArgSet, Binder, Family, Leaf, ValueKind, ValueOf};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

/// Why a case ended early.
#[derive(Debug)]
pub(super) enum Stop {
    Failed(String),
    Skipped(String),
}

pub(super) type Verdict = Result<(), Stop>;

impl From<LaunchError> for Stop {
    fn from(error: LaunchError) -> Self {
        Stop::Failed(format!("error: {error}"))
    }
}
impl From<MemoryError> for Stop {
    fn from(error: MemoryError) -> Self {
        Stop::Failed(format!("error: {error}"))
    }
}

/// Ends the case unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        let holds: bool = $condition;
        if !holds {
            return Err($crate::conformance::lab::Stop::Failed(format!($($message)+)));
        }
    };
}
pub(super) use ensure;

/// Team sizes that cases go through.
pub(super) const TEAM_SIZES: [usize; 7] = [1, 2, 7, 32, 33, 96, 127];

/// A view in the memory of space `S`.
pub(super) type OnSpace<S, E, const R: usize, L = LayoutRight> = View<E, R, L, <S as Space>::Memory>;

/// A space under test.
pub(super) struct Lab<'s, S: Space> {
    pub space: &'s S,
    pub limits: Limits,
    /// Spacing of numbers near one in the arithmetic of the space.
    pub epsilon: f64,
    ran: Cell<usize>,
    left_out: RefCell<Vec<String>>,
}

impl<'s, S: Space> Lab<'s, S> {
    pub fn new(space: &'s S) -> Self {
        let mut lab = Lab {
            space,
            limits: space.limits(),
            epsilon: f64::EPSILON,
            ran: Cell::new(0),
            left_out: RefCell::default(),
        };
        // A space that cannot run the probe fails its cases, each with a message.
        if let Ok(false) = lab.computes_in_64_bits() {
            lab.epsilon = f64::from(f32::EPSILON);
        }
        lab.take_notes();
        lab
    }
    fn computes_in_64_bits(&self) -> Result<bool, Stop> {
        let mut out = self.poisoned::<f64, 1>("out", [1])?;
        self.run(&Probe, &self.policy(1, 1, 1)?, ProbeArgs { x: 2f64.powi(-40), out: out.write() })?;
        Ok(self.download(&out)?.get([0]) != 0.0)
    }
    /// Whether the arithmetic of the space has 64 bits.
    pub fn is_64_bit(&self) -> bool {
        self.epsilon == f64::EPSILON
    }
    /// Configurations that ran and those that were left out, since the last call.
    pub fn take_notes(&self) -> (usize, Vec<String>) {
        (self.ran.take(), self.left_out.take())
    }
    pub fn leave_out(&self, configuration: String) {
        self.left_out.borrow_mut().push(configuration);
    }

    /// A poisoned view.
    pub fn poisoned<E: Element, const R: usize>(
        &self,
        label: &str,
        extents: [usize; R],
    ) -> Result<OnSpace<S, E, R>, Stop> {
        self.filled(label, extents, E::POISON)
    }
    /// A view of equal elements.
    pub fn filled<E: Element, const R: usize, L: Layout>(
        &self,
        label: &str,
        extents: [usize; R],
        value: E,
    ) -> Result<OnSpace<S, E, R, L>, Stop> {
        let mut view = View::new(self.space.memory(), label, extents)?;
        view.fill(value)?;
        Ok(view)
    }
    /// A view of the elements `f(index)`.
    pub fn upload<E: Element, const R: usize, L: Layout>(
        &self,
        label: &str,
        extents: [usize; R],
        f: impl Fn([usize; R]) -> E,
    ) -> Result<OnSpace<S, E, R, L>, Stop> {
        let host = View::<E, R, L>::from_fn(label, extents, f)?;
        let mut view = View::new(self.space.memory(), label, extents)?;
        deep_copy(&mut view, &host)?;
        Ok(view)
    }
    /// The view on the host.
    pub fn download<E: Element, const R: usize, L: Layout>(
        &self,
        view: &OnSpace<S, E, R, L>,
    ) -> Result<View<E, R, L>, Stop> {
        let mut host = view.mirror()?;
        deep_copy(&mut host, view)?;
        Ok(host)
    }

    /// A policy; `league` teams of `team` threads of `vector` lanes.
    pub fn policy(&self, league: usize, team: usize, vector: usize) -> Result<TeamPolicy, Stop> {
        Ok(TeamPolicy::new(league, team, vector)?)
    }
    /// Launches and waits.
    pub fn run<K: Kernel>(&self, kernel: &K, policy: &TeamPolicy, args: ArgsOf<'_, K, S::Memory>) -> Verdict {
        self.ran.set(self.ran.get() + 1);
        let shape = |e: LaunchError| {
            Stop::Failed(format!("team {} x vector {}: error: {e}", policy.team_size(), policy.vector_length()))
        };
        self.space.launch(kernel, policy, args).map_err(shape)?;
        self.space.fence().map_err(shape)
    }
    /// Teams of these sizes with each vector length of the space, as far as the space can run them.
    pub fn shapes(&self, sizes: &[usize]) -> Vec<(usize, usize)> {
        let mut shapes = Vec::new();
        for &vector in self.limits.vector_lengths {
            shapes.extend(self.shapes_of(sizes, vector));
        }
        shapes
    }
    /// Teams of these sizes with one vector length.
    pub fn shapes_of(&self, sizes: &[usize], vector: usize) -> Vec<(usize, usize)> {
        let fits = |&&team: &&usize| {
            let fits = team * vector <= self.limits.max_team;
            if !fits {
                self.leave_out(format!("team {team} x vector {vector}: at most {} work items", self.limits.max_team));
            }
            fits
        };
        sizes.iter().filter(fits).map(|&team| (team, vector)).collect()
    }
}

kernel_args! {
    struct ProbeArgs { x: Real, out: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Hash)]
struct Probe;
impl Kernel for Probe {
    type Args = ProbeArgs<Declared>;
    const NAME: &'static str = "conformance_probe";
    fn run<T: Target>(&self, team: T, args: &ProbeArgs<T>) {
        args.out.set([team.int(0)], (args.x + team.real(1.0)) - team.real(1.0));
    }
}

/// An argument list of one view of any rank, named `cells`.
pub(super) struct Cells<E, const R: usize, L, A>(PhantomData<(E, L, A)>);

impl<E: Element, const R: usize, L: Layout, A: Access> ArgSet for Cells<E, R, L, A> {
    type With<F: Family> = F::View<E, R, L, A>;
    fn rebind<F: Family, G: Family>(args: &Self::With<F>, binder: &mut impl Binder<F, G>) -> Self::With<G> {
        binder.view("cells", args)
    }
}

/// An integer as a value of an element type.
pub(super) fn value_of<T: Target, E: Element>(target: T, int: T::Int) -> ValueOf<E, T> {
    E::Kind::from_leaf(match E::KIND {
        ElementKind::F64 | ElementKind::F32 => Leaf::Real(target.to_real(int)),
        ElementKind::I32 | ElementKind::I64 => Leaf::Int(int),
    })
}

/// Whether an element is still the poison.
pub(super) fn is_poison<E: Element>(element: E) -> bool {
    element == E::POISON || element.to_f64().is_nan()
}

/// Checks each element of a downloaded view against `expected(index along storage)`.
pub(super) fn check<E: Element>(what: &str, found: &[E], expected: impl Fn(usize) -> E) -> Verdict {
    for (i, &element) in found.iter().enumerate() {
        let wanted = expected(i);
        let same = element == wanted || (is_poison(element) && is_poison(wanted));
        ensure!(same, "{what}: element {i} is {element:?}, expected {wanted:?}");
    }
    Ok(())
}

/// A deterministic generator (splitmix64).
pub(super) struct Generator(pub u64);

impl Generator {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number of `low..high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low) as u64) as i64
    }
}
