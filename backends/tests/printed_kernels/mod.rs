//! Kernels for tests of the printer, also used by the tests of device targets.
#![allow(dead_code)]

use farro_portability::prelude::*;

kernel_args! {
    /// `y := a x + y`.
    pub struct AxpyArgs { a: Real, x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}

/// The update of one element.
#[derive(Debug, Hash, Clone)]
pub struct Axpy;
impl RangeKernel for Axpy {
    type Args = AxpyArgs<Declared>;
    const NAME: &'static str = "axpy";
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &AxpyArgs<T>) {
        args.y.set([i], args.a.mul_add(args.x.at([i]), args.y.at([i])));
    }
}

kernel_args! {
    /// A field on levels, and its smoothed copy.
    pub struct MarchArgs { u: View<f64, 2, LayoutRight, ReadOnly>, out: View<f64, 2, LayoutRight, ReadWrite> }
}

/// Marches along the first index with a window of three levels in private memory and neighbours from other lanes.
#[derive(Debug, Hash, Clone)]
pub struct March;
impl Kernel for March {
    type Args = MarchArgs<Declared>;
    const NAME: &'static str = "march";
    fn run<T: Target>(&self, team: T, args: &MarchArgs<T>) {
        let window = team.private(3);
        let lanes = team.vector_length();
        let row = team.scratch::<f64, 2>(ScratchLevel::Zero, "row", [team.team_size(), lanes]);
        let column = |item: &WorkItem<T>| {
            let width = team.int(team.team_size() * lanes);
            team.league_rank() * width + item.thread * team.int(lanes) + item.lane
        };
        team.phase(|item| {
            let x = column(&item);
            window.set(0, args.u.at([team.int(0), x]));
            window.set(1, args.u.at([team.int(1), x]));
        });
        let levels = args.u.extent(0);
        team.repeat(levels - 2, |level| {
            team.phase(|item| {
                let x = column(&item);
                window.set(2, args.u.at([level + 2, x]));
                let middle = window.get(1);
                let side = team.shift_down(middle, 1) + team.shift_up(middle, 1);
                let sum = (window.get(0) + window.get(2)).mul_add(team.real(0.25), side.scale(0.25));
                row.set([item.thread, item.lane], sum);
                window.set(0, middle);
                window.set(1, window.get(2));
            });
            team.barrier();
            team.phase(|item| {
                let x = column(&item);
                args.out.set([level + 1, x], row.at([item.thread, item.lane]));
            });
            team.barrier();
        });
    }
}

/// A tiled layout.
pub type Tiled = LayoutTiled<2, 4>;

kernel_args! {
    /// One view of each kind and access.
    pub struct EverythingArgs {
        n: Int,
        a: Real,
        d: View<f64, 2, LayoutRight, ReadOnly>,
        f: View<f32, 2, LayoutLeft, ReadWrite>,
        k: View<i32, 1, LayoutRight, ReadWrite>,
        l: View<i64, 1, LayoutRight, ReadWrite>,
        out: View<f64, 2, Tiled, ReadWrite>,
        sum_d: View<f64, 1, LayoutRight, Atomic>,
        sum_f: View<f32, 1, LayoutRight, Atomic>,
        sum_k: View<i32, 1, LayoutRight, Atomic>,
        sum_l: View<i64, 1, LayoutRight, Atomic>,
    }
}

/// Uses every operation that a program can have. Its results mean nothing.
#[derive(Debug, Hash, Clone)]
pub struct Everything;

impl Everything {
    fn reals<T: Target>(t: T, a: T::Real, b: T::Real) -> T::Real {
        let p = (a.lt(b) & !b.le(T::Real::zero())) | a.equals(b);
        let x = p.select(a.sqrt().abs(), -b) / (a - b * T::Real::lit(1e-300));
        let x = x.min(T::Real::lit(f64::INFINITY)).max(T::Real::lit(f64::NEG_INFINITY));
        let x = x.mul_add(T::Real::lit(0.1), T::Real::lit(-7.0)) - (-x) - (a - (b - x)) / (a * b);
        t.update_if(p, x, |x| p.select(x, T::Real::lit(f64::NAN)))
    }
    fn ints<T: Target>(i: T::Int, n: T::Int) -> T::Int {
        let j = (i * 3 - 1) % 7 + i / 2 + (i - (n - 4) * 2).min(i).max(T::Int::from(-5i64));
        let big = j.widen() * 5_000_000_000i64 + i64::MIN;
        let same = j.equals(i) | i.le(n) & n.lt(i + 4);
        same.select(big, big - (big + n) / 2).min(T::Int::from(9i32)).max(T::Int::from(0i32))
    }
}

impl Kernel for Everything {
    type Args = EverythingArgs<Declared>;
    const NAME: &'static str = "everything";
    fn run<T: Target>(&self, team: T, args: &EverythingArgs<T>) {
        let tile = team.scratch::<f64, 2>(ScratchLevel::Zero, "tile", [4, 33]);
        let small = team.scratch::<f32, 1>(ScratchLevel::Zero, "min", [5]);
        let counts = team.scratch::<i32, 1>(ScratchLevel::Zero, "counts", [3]);
        let long = team.scratch::<i64, 1>(ScratchLevel::Zero, "long", [3]);
        let slow = team.scratch::<f64, 1>(ScratchLevel::One, "slow", [1000]);
        let kept = team.private(2);
        let first = team.int(0);
        counts.set([first], team.league_size());
        team.barrier();
        team.phase(|item| {
            let i = item.thread * team.int(team.vector_length()) + item.lane;
            let a = args.d.at([i, item.lane]);
            let b = args.f.at([item.lane, i]);
            kept.set(0, Self::reals(team, a, b));
            kept.set(1, team.shift_down(kept.get(0), 1) * team.shift_up(a, 2) + team.rotate_down(b, 3));
            let other = team.from_lane(i, item.lane / 2);
            args.k.set([i], team.shift_down(other, 1));
            args.l.set([i], Self::ints::<T>(i, args.n) + args.l.at([i]));
            args.f.set([item.lane, i], kept.get(1));
            let (x, y) = team.fold(5usize, (a, b), |_, (x, y)| (y, x + y));
            let grown = team.fold(args.n, (x, y, i), |k, (x, y, i)| (y, x + y + team.to_real(k), i + 1));
            args.out.set([item.thread, item.lane], grown.0 - grown.1 + team.to_real(grown.2));
        });
        team.for_each_md([4, 8, 3], |[i, j, k]| tile.set([i, j * 3 + k], team.to_real(i + j)));
        team.barrier();
        team.for_each_thread(3usize, |i| {
            let sum = team.reduce_lanes(args.n, Sum, |j| args.d.at([i, j]));
            slow.set([i], sum);
            args.sum_d.add([i], sum);
        });
        team.for_each(args.n, |i| {
            let value = tile.at([first, i % 33]) + args.a;
            tile.add([first, i % 33], value);
            small.add([i % 5], value);
            small.min([i % 5], value);
            counts.max([i % 3], i);
            long.exchange([i % 3], i);
            args.sum_d.add([i], value);
            args.sum_f.add([i], value);
            args.sum_k.add([i], i);
            args.sum_l.add([i], i);
            let old = args.sum_d.exchange([i], value) + args.sum_f.exchange([i], value);
            let old = args.sum_d.min([i], old) + args.sum_f.max([i], value);
            args.sum_d.max([i], old);
            let old = args.sum_d.compare_exchange([i], old, value);
            args.sum_f.compare_exchange([i], old, value);
            let int = args.sum_k.min([i], i) + args.sum_k.max([i], i) + args.sum_k.exchange([i], i);
            let int = args.sum_l.min([i], int) + args.sum_l.max([i], i) + args.sum_l.exchange([i], int);
            args.sum_k.compare_exchange([i], int, i);
            args.sum_l.compare_exchange([i], int, i);
        });
        team.barrier();
        let [low, high] = team.reduce(args.n, MinMax, |i| [args.d.at([first, i]); 2]);
        let place = team.reduce(args.n, MinLoc, |i| (args.d.at([first, i]), i));
        team.scan(args.n, SumInt, |i| args.l.at([i]), |i, prefix| args.l.set([i], prefix));
        args.out.set([first, first], low + high + place.0 + team.to_real(place.1));
        args.out.set([first, first + 1], low);
    }
}

/// Arrays that the arguments of [`Everything`] borrow.
pub struct EverythingViews<M: MemorySpace> {
    d: View<f64, 2, LayoutRight, M>,
    f: View<f32, 2, LayoutLeft, M>,
    k: View<i32, 1, LayoutRight, M>,
    l: View<i64, 1, LayoutRight, M>,
    out: View<f64, 2, Tiled, M>,
    sum_d: View<f64, 1, LayoutRight, M>,
    sum_f: View<f32, 1, LayoutRight, M>,
    sum_k: View<i32, 1, LayoutRight, M>,
    sum_l: View<i64, 1, LayoutRight, M>,
}

impl<M: MemorySpace> EverythingViews<M> {
    pub fn new(space: &M) -> Result<Self, LaunchError> {
        Ok(EverythingViews {
            d: View::new(space, "d", [64, 64])?,
            f: View::new(space, "f", [64, 64])?,
            k: View::new(space, "k", [64])?,
            l: View::new(space, "l", [64])?,
            out: View::new(space, "out", [64, 64])?,
            sum_d: View::new(space, "sum_d", [64])?,
            sum_f: View::new(space, "sum_f", [64])?,
            sum_k: View::new(space, "sum_k", [64])?,
            sum_l: View::new(space, "sum_l", [64])?,
        })
    }
    pub fn args(&mut self) -> EverythingArgs<farro_portability::Borrowed<'_, M>> {
        EverythingArgs {
            n: 40,
            a: 0.5,
            d: self.d.read(),
            f: self.f.write(),
            k: self.k.write(),
            l: self.l.write(),
            out: self.out.write(),
            sum_d: self.sum_d.update(),
            sum_f: self.sum_f.update(),
            sum_k: self.sum_k.update(),
            sum_l: self.sum_l.update(),
        }
    }
}
