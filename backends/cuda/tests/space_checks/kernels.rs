//! Kernels of the checks.

use farro_portability::prelude::*;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

kernel_args! {
    /// One input and one output.
    pub struct PairArgs[X: RealElement, Y: RealElement] {
        x: View<X, 1, LayoutRight, ReadOnly>,
        y: View<Y, 1, LayoutRight, ReadWrite>,
    }
}

/// `y := x² / 3`, from one storage type to another.
#[derive(Debug)]
pub struct Square<X, Y>(pub PhantomData<(X, Y)>);
impl<X, Y> Clone for Square<X, Y> {
    fn clone(&self) -> Self {
        Square(PhantomData)
    }
}
impl<X, Y> Hash for Square<X, Y> {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}
impl<X: RealElement, Y: RealElement> RangeKernel for Square<X, Y> {
    type Args = PairArgs<Declared, X, Y>;
    const NAME: &'static str = "square";
    fn run<T: Target>(&self, _t: T, i: T::Int, args: &PairArgs<T, X, Y>) {
        args.y.set([i], args.x.at([i]).square() / T::Real::lit(3.0));
    }
}

kernel_args! {
    /// One input.
    pub struct InputArgs { x: View<f64, 1, LayoutRight, ReadOnly> }
}

/// The smallest and largest number.
#[derive(Debug, Hash, Clone)]
pub struct Extremes;
impl ReduceKernel for Extremes {
    type Args = InputArgs<Declared>;
    type Reducer = MinMax;
    const NAME: &'static str = "extremes";
    fn value<T: Target>(&self, _t: T, i: T::Int, args: &InputArgs<T>) -> [T::Real; 2] {
        [args.x.at([i]); 2]
    }
}
/// The sum.
#[derive(Debug, Hash, Clone)]
pub struct Total;
impl ReduceKernel for Total {
    type Args = InputArgs<Declared>;
    type Reducer = Sum;
    const NAME: &'static str = "total";
    fn value<T: Target>(&self, _t: T, i: T::Int, args: &InputArgs<T>) -> T::Real {
        args.x.at([i])
    }
}

kernel_args! {
    /// One integer output.
    pub struct PrefixArgs { out: View<i64, 1, LayoutRight, ReadWrite> }
}
/// Prefix sums of 0, 1, 2, …
#[derive(Debug, Hash, Clone)]
pub struct Prefix;
impl ScanKernel for Prefix {
    type Args = PrefixArgs<Declared>;
    type Reducer = SumInt;
    const NAME: &'static str = "prefix";
    fn value<T: Target>(&self, _t: T, i: T::Int, _args: &PrefixArgs<T>) -> T::Int {
        i
    }
    fn output<T: Target>(&self, _t: T, i: T::Int, prefix: T::Int, args: &PrefixArgs<T>) {
        args.out.set([i], prefix);
    }
}

/// A tiled layout.
pub type Tiled = LayoutTiled<4, 8>;
kernel_args! {
    /// Three layouts of the same shape.
    pub struct MdArgs {
        left: View<f64, 3, LayoutLeft, ReadOnly>,
        tiled: View<f64, 3, Tiled, ReadWrite>,
    }
}
/// `tiled := left + 10000 i + 100 j + k`.
#[derive(Debug, Hash, Clone)]
pub struct Md;
impl MdKernel<3> for Md {
    type Args = MdArgs<Declared>;
    const NAME: &'static str = "md";
    fn run<T: Target>(&self, t: T, [i, j, k]: [T::Int; 3], args: &MdArgs<T>) {
        args.tiled.set([i, j, k], args.left.at([i, j, k]) + t.to_real(i * 10000 + j * 100 + k));
    }
}

kernel_args! {
    /// A row of numbers for each team.
    pub struct RowsArgs { rows: View<f64, 2, LayoutRight, ReadWrite> }
}
/// Reverses each row through scratch of a level.
#[derive(Debug, Hash, Clone)]
pub struct Reverse {
    pub len: usize,
    pub level: usize,
}
impl Kernel for Reverse {
    type Args = RowsArgs<Declared>;
    const NAME: &'static str = "reverse";
    fn run<T: Target>(&self, team: T, args: &RowsArgs<T>) {
        let level = if self.level == 0 { ScratchLevel::Zero } else { ScratchLevel::One };
        let tile = team.scratch::<f64, 1>(level, "tile", [self.len]);
        let row = team.league_rank();
        team.for_each(self.len, |i| tile.set([i], args.rows.at([row, i])));
        team.barrier();
        team.for_each(self.len, |i| args.rows.set([row, i], tile.at([team.int(self.len - 1) - i])));
    }
}

/// Each lane: 1000·thread + the sum of its neighbours' lane numbers, by every kind of shift.
#[derive(Debug, Hash, Clone)]
pub struct Lanes;
impl Kernel for Lanes {
    type Args = RowsArgs<Declared>;
    const NAME: &'static str = "lanes";
    fn run<T: Target>(&self, team: T, args: &RowsArgs<T>) {
        let kept = team.private(2);
        let row = team.league_rank();
        let at = |item: &WorkItem<T>| item.thread * team.int(team.vector_length()) + item.lane;
        team.phase(|item| {
            kept.set(0, team.to_real(item.lane));
            kept.set(1, team.to_real(item.thread * 1000));
        });
        team.barrier();
        team.repeat(2usize, |_| {
            team.phase(|_| {
                let own = kept.get(0);
                let down = team.shift_down(own, 1);
                let up = team.shift_up(own, 2);
                let around = team.rotate_down(own, 3);
                let first = team.from_lane(own, team.int(0));
                kept.set(0, down + up + around + first);
            });
            team.barrier();
        });
        team.phase(|item| args.rows.set([row, at(&item)], kept.get(0) + kept.get(1)));
        team.barrier();
        // Threads of one warp go different ways, and each reduces over its own lanes.
        team.for_each_thread(team.team_size() - 1, |thread| {
            let sum = team.reduce_lanes(team.vector_length(), SumInt, |i| i);
            args.rows.set([row, thread * team.int(team.vector_length())], team.to_real(sum));
        });
    }
}

kernel_args! {
    /// Counters of all kinds.
    pub struct CountersArgs {
        n: Int,
        d: View<f64, 1, LayoutRight, Atomic>,
        f: View<f32, 1, LayoutRight, Atomic>,
        k: View<i32, 1, LayoutRight, Atomic>,
        l: View<i64, 1, LayoutRight, Atomic>,
    }
}
/// Every index updates one of few counters: element 0 counts, 1 the smallest, 2 the largest, 3 the last, 4 the winner.
#[derive(Debug, Hash, Clone)]
pub struct Counters;
impl RangeKernel for Counters {
    type Args = CountersArgs<Declared>;
    const NAME: &'static str = "counters";
    fn run<T: Target>(&self, t: T, i: T::Int, args: &CountersArgs<T>) {
        let at = |k: usize| [t.int(k)];
        let real = t.to_real(i);
        args.d.add(at(0), t.real(1.0));
        args.f.add(at(0), t.real(1.0));
        args.k.add(at(0), T::Int::from(1i32));
        args.l.add(at(0), T::Int::from(1i32));
        args.d.min(at(1), -real);
        args.f.min(at(1), -real);
        args.k.min(at(1), T::Int::from(0i32) - i);
        args.l.min(at(1), T::Int::from(0i32) - i);
        args.d.max(at(2), real);
        args.f.max(at(2), real);
        args.k.max(at(2), i);
        args.l.max(at(2), i);
        // What is exchanged out plus what remains is the sum of all.
        args.d.add(at(5), args.d.exchange(at(3), real));
        args.l.add(at(5), args.l.exchange(at(3), i));
        args.k.add(at(5), args.k.exchange(at(3), i % 2));
        args.f.add(at(5), args.f.exchange(at(3), t.to_real(i % 2)));
        // The first to come replaces 0; all others see a number.
        args.d.compare_exchange(at(4), t.real(0.0), real + t.real(1.0));
        args.f.compare_exchange(at(4), t.real(0.0), real + t.real(1.0));
        args.k.compare_exchange(at(4), T::Int::from(0i32), i + 1);
        args.l.compare_exchange(at(4), T::Int::from(0i32), i + 1);
    }
}

/// Writes far outside its view.
#[derive(Debug, Hash, Clone)]
pub struct Stray;
impl Kernel for Stray {
    type Args = RowsArgs<Declared>;
    const NAME: &'static str = "stray";
    fn run<T: Target>(&self, team: T, args: &RowsArgs<T>) {
        team.phase(|item| args.rows.set([item.lane, team.int(0).widen() + (1i64 << 45)], team.real(1.0)));
    }
}
