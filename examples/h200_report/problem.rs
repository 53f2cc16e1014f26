//! Fields on the device, and how far two of them lie apart.

use super::Outcome;
use farro_cuda::{CudaMemory, CudaSpace};
use farro_fem::mesh::{ShellMesh, ShellSpec};
use farro_fem::viscous::{Config, FieldLayout, Mode, ViscousOperator};
use farro_portability::prelude::*;
use std::marker::PhantomData;

/// A field on the device.
pub type Field<E, L> = View<E, 5, L, CudaMemory>;
/// Marks a stored type as a constant of a kernel.
type Stored<E> = PhantomData<fn() -> E>;

/// Numbers from which fields are made, by their place in memory: the same on the device and here.
const NUMBERS: usize = 65_521;

/// Number `i`, between −1/2 and 1/2, exact in 32 bits.
fn number(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^= z >> 29;
    f64::from(((z >> 40) as f64 / f64::from(1 << 24)) as f32 - 0.5)
}

/// The velocity at a place in memory.
pub fn velocity(place: usize) -> f64 {
    number(place.wrapping_mul(48_271) % NUMBERS)
}

/// The viscosity at a node: three orders of magnitude, exact in 32 bits.
pub fn viscosity([s, x, y, r]: [usize; 4]) -> f64 {
    let level = [1.0, 30.0, 1000.0, 100.0, 10.0, 300.0, 3.0][r % 7];
    level * (1.0 + 0.125 * ((x + 3 * y + 5 * s) % 8) as f64)
}

kernel_args! {
    struct SpreadArgs[E: RealElement] {
        numbers: View<f64, 1, LayoutRight, ReadOnly>,
        u: View<E, 1, LayoutRight, ReadWrite>,
    }
}
/// Writes [`velocity`] everywhere.
#[derive(Clone, Hash)]
struct SpreadNumbers<M>(M);
impl<E: RealElement> RangeKernel for SpreadNumbers<Stored<E>> {
    type Args = SpreadArgs<Declared, E>;
    const NAME: &'static str = "report_numbers";
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &SpreadArgs<T, E>) {
        let number = (i.widen() * 48_271) % NUMBERS as i64;
        args.u.set([i], args.numbers.at([number]));
    }
}

kernel_args! {
    struct ApartArgs[E: RealElement] {
        y: View<E, 1, LayoutRight, ReadOnly>,
        expected: View<f64, 1, LayoutRight, ReadOnly>,
    }
}
/// Sums of squares: of the difference, and of what is expected.
#[derive(Clone, Hash)]
struct Apart<M>(M);
#[derive(Clone, Copy, Debug, Hash)]
struct TwoSums;
impl Reducer for TwoSums {
    type Value<T: Target> = [T::Real; 2];
    fn identity<T: Target>() -> [T::Real; 2] {
        [T::Real::zero(); 2]
    }
    fn join<T: Target>(a: [T::Real; 2], b: [T::Real; 2]) -> [T::Real; 2] {
        [a[0] + b[0], a[1] + b[1]]
    }
}
impl<E: RealElement> ReduceKernel for Apart<Stored<E>> {
    type Args = ApartArgs<Declared, E>;
    type Reducer = TwoSums;
    const NAME: &'static str = "report_distance";
    fn value<T: Target>(&self, _t: T, i: T::Int, args: &ApartArgs<T, E>) -> [T::Real; 2] {
        let (y, expected) = (args.y.at([i]), args.expected.at([i]));
        [(y - expected) * (y - expected), expected * expected]
    }
}

/// The relative distance of two fields in the l2 norm, computed on the device in 64 bits.
pub fn distance<E: RealElement, L: FieldLayout>(
    space: &CudaSpace<f64>,
    y: &Field<E, L>,
    expected: &Field<f64, L>,
) -> Outcome<f64> {
    let kernel = Apart::<Stored<E>>(PhantomData);
    let args = ApartArgs { y: y.read().flatten(), expected: expected.read().flatten() };
    let sums = space.parallel_reduce(RangePolicy::new(y.span()), &kernel, args)?;
    Ok((sums[0] / sums[1]).sqrt())
}

/// An operator with a velocity and a place for the result.
pub struct Problem<'s, P: RealElement, E: RealElement, L: FieldLayout> {
    pub operator: ViscousOperator<'s, CudaSpace<P>, E, L>,
    pub u: Field<E, L>,
    pub y: Field<E, L>,
    pub dofs: f64,
}

pub fn mesh(level: u32) -> Outcome<ShellMesh> {
    Ok(ShellMesh::new(ShellSpec::level(level))?)
}

impl<'s, P: RealElement, E: RealElement, L: FieldLayout> Problem<'s, P, E, L> {
    pub fn new(space: &'s CudaSpace<P>, mesh: &ShellMesh, config: Config) -> Outcome<Self> {
        let operator = ViscousOperator::new(space, mesh, config, viscosity)?;
        let host = View::<f64, 1>::from_fn("numbers", [NUMBERS], |[i]| number(i))?;
        let mut numbers = View::<f64, 1, LayoutRight, _>::new(space.memory(), "numbers", [NUMBERS])?;
        deep_copy(&mut numbers, &host)?;
        let (mut u, mut y) = (operator.new_vector("u")?, operator.new_vector("y")?);
        let kernel = SpreadNumbers::<Stored<E>>(PhantomData);
        let range = RangePolicy::new(u.span());
        space.parallel_for(range, &kernel, SpreadArgs { numbers: numbers.read(), u: u.write().flatten() })?;
        y.fill(E::POISON)?;
        space.fence()?;
        Ok(Problem { operator, u, y, dofs: 3.0 * mesh.unique_nodes() as f64 })
    }
    pub fn with(self, config: Config) -> Outcome<Self> {
        Ok(Problem { operator: self.operator.with_config(config)?, ..self })
    }
    /// Milliseconds of one apply.
    pub fn time_apply(&mut self) -> Outcome<f64> {
        let Problem { operator, u, y, .. } = self;
        let (outcome, milliseconds) = operator.space().time(|| Ok(operator.apply(u, y, Mode::Replace)))?;
        outcome?;
        Ok(milliseconds.into())
    }
    /// Milliseconds of the kernel that visits the elements, alone.
    pub fn time_kernel(&mut self) -> Outcome<f64> {
        let Problem { operator, u, y, .. } = self;
        let (outcome, milliseconds) = operator.space().time(|| Ok(operator.launch_elements(u, y, Mode::Replace)))?;
        outcome?;
        Ok(milliseconds.into())
    }
    /// Applies once to a poisoned result.
    pub fn apply(&mut self) -> Outcome {
        self.y.fill(E::POISON)?;
        self.operator.apply(&self.u, &mut self.y, Mode::Replace)?;
        Ok(self.operator.space().fence()?)
    }
}
