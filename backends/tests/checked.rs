//! Each kind of fault is found, and named so that it can be mended.
use farro_backends::checked::{CheckedSpace, DeviceModel};
use farro_backends::trace::{mutate::Mutation, trace};
use farro_portability::prelude::*;

/// A fault as a tuple: kind, view, index, team, threads.
fn fault(result: Result<(), LaunchError>) -> (String, String, Option<Vec<i64>>, usize, String) {
    match result {
        Err(LaunchError::Fault { kernel, kind, view, index, team, threads, site, .. }) => {
            assert!(kernel.starts_with("faulty"), "{kernel}");
            assert!(site.is_some_and(|site| site.contains("checked.rs")), "{kind} has its source position");
            (kind, view, index, team, threads)
        }
        other => panic!("expected a fault, got {other:?}"),
    }
}
fn view(label: &str, n: usize) -> View<f64, 1> {
    View::from_fn(label, [n], |[i]| i as f64).unwrap()
}
/// A policy of `league` teams of `team` threads.
fn teams(league: usize, team: usize) -> TeamPolicy {
    TeamPolicy::new(league, team, 1).unwrap()
}

kernel_args! {
    struct Copy1 { n: Int, x: View<f64, 1, LayoutRight, ReadOnly>, y: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Debug, Hash, Clone)]
enum RangeFault {
    Load,
    Store,
    Divide,
    Remainder,
}
impl RangeKernel for RangeFault {
    type Args = Copy1<Declared>;
    const NAME: &'static str = "faulty_range";
    fn run<T: Target>(&self, _t: T, i: T::Int, a: &Copy1<T>) {
        match self {
            RangeFault::Load => a.y.set([i], a.x.at([i + 1])),
            RangeFault::Store => a.y.set([i - 1], a.x.at([i])),
            RangeFault::Divide => a.y.set([i / a.n], a.x.at([i])),
            RangeFault::Remainder => a.y.set([i % (a.n - i.min(a.n))], a.x.at([i])),
        }
    }
}

#[test]
fn out_of_bounds_and_division_in_ranges() {
    let checked = CheckedSpace::<f64>::new();
    let x = view("x", 200);
    let mut y = view("y", 200);
    let mut run = |fault: RangeFault, n: i64| {
        let args = Copy1 { n, x: x.read(), y: y.write() };
        let result = checked.parallel_for(RangePolicy::new(200), &fault, args);
        assert_eq!(y.as_slice(), view("y", 200).as_slice(), "nothing is written on a fault");
        result
    };
    let text = |s: &str| s.to_owned();
    let expected = (text("out-of-bounds load"), text("x"), Some(vec![200]), 1, text("thread 39"));
    assert_eq!(fault(run(RangeFault::Load, 0)), expected);
    let expected = (text("out-of-bounds store"), text("y"), Some(vec![-1]), 0, text("thread 0"));
    assert_eq!(fault(run(RangeFault::Store, 0)), expected);
    let expected = (text("integer division by zero: 0 Div 0 (I64)"), text(""), None, 0, text("thread 0"));
    assert_eq!(fault(run(RangeFault::Divide, 0)), expected);
    let expected = (text("integer division by zero: 5 Rem 0 (I64)"), text(""), None, 0, text("thread 5"));
    assert_eq!(fault(run(RangeFault::Remainder, 5)), expected);
    let error = run(RangeFault::Load, 0).unwrap_err().to_string();
    assert!(
        error.contains("`faulty_range`: out-of-bounds load of `x` at index [200] (extents [200]), team 1, thread 39")
    );
}

kernel_args! {
    struct Out { y: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Debug, Hash, Clone, Copy, PartialEq)]
enum TeamFault {
    /// Thread `i` reads what thread `i + 1` wrote; without a barrier if false.
    Neighbour {
        barrier: bool,
    },
    /// The last thread's index leaves the second dimension, not the array.
    ScratchColumn,
    UninitialisedScratch,
    UninitialisedPrivate,
    /// All threads store to one element.
    SameElement,
    /// All teams store to one element.
    SameElementOfTeams,
    /// A team reads what the next one stores.
    NextTeam,
    /// An index that exceeds 32 bits.
    Overflow,
    /// A barrier where only some threads are.
    BarrierInBranch,
    /// Two threads update one element of scratch, one of them not atomically.
    AtomicAndStore,
}
impl Kernel for TeamFault {
    type Args = Out<Declared>;
    const NAME: &'static str = "faulty_team";
    fn run<T: Target>(&self, team: T, a: &Out<T>) {
        let n = team.team_size();
        let tile = team.scratch::<f64, 2>(ScratchLevel::Zero, "tile", [2, n]);
        let (zero, one, rank) = (team.int(0), team.real(1.0), team.league_rank());
        let slot = |thread: T::Int| rank * n as i64 + thread;
        match *self {
            TeamFault::Neighbour { barrier } => {
                team.phase(|item| tile.set([zero, item.thread], one));
                if barrier {
                    team.barrier();
                }
                team.phase(|item| a.y.set([slot(item.thread)], tile.at([zero, (item.thread + 1) % n as i64])));
            }
            TeamFault::ScratchColumn => team.phase(|item| tile.set([zero, item.thread + 1], one)),
            TeamFault::UninitialisedScratch => {
                team.phase(|item| team.when(item.thread.lt(team.int(3)), || tile.set([zero, item.thread], one)));
                team.barrier();
                team.phase(|item| a.y.set([slot(item.thread)], tile.at([zero, item.thread])));
            }
            TeamFault::UninitialisedPrivate => {
                let sums = team.private(2);
                team.phase(|item| team.when(item.thread.lt(team.int(2)), || sums.set(1, one)));
                team.phase(|item| a.y.set([slot(item.thread)], sums.get(1)));
            }
            TeamFault::SameElement => team.phase(|_| a.y.set([rank], one)),
            TeamFault::SameElementOfTeams => {
                team.phase(|item| team.when(item.thread.equals(team.int(1)), || a.y.set([zero], one)));
            }
            TeamFault::NextTeam => team.phase(|item| {
                let next = (rank + 1) % team.league_size();
                a.y.set([slot(item.thread)], a.y.at([next * n as i64 + item.thread]));
            }),
            TeamFault::Overflow => {
                team.phase(|item| a.y.set([(item.thread * 1_000_000_000) / 1_000_000_000], one));
            }
            TeamFault::BarrierInBranch => {
                team.phase(|item| tile.set([zero, item.thread], one));
                let sums = team.private(1);
                team.phase(|item| sums.set(0, team.to_real(item.thread)));
                team.phase(|item| team.when(item.thread.lt(team.int(2)), || team.barrier()));
            }
            TeamFault::AtomicAndStore => {
                team.phase(|item| {
                    tile.set([team.int(1), item.thread], one);
                    tile.add([team.int(1), item.thread / 2], one);
                });
            }
        }
    }
}

fn run_team(kernel: TeamFault, policy: TeamPolicy) -> Result<(), LaunchError> {
    let mut y = view("y", policy.league_size() * policy.work_items());
    let before = y.as_slice().to_vec();
    let result = CheckedSpace::<f64>::new().launch(&kernel, &policy, Out { y: y.write() });
    assert!(result.is_ok() || y.as_slice() == before, "nothing is written on a fault");
    result
}

#[test]
fn missing_barrier_is_named() {
    run_team(TeamFault::Neighbour { barrier: true }, teams(3, 7)).unwrap();
    let (kind, view, index, team, threads) = fault(run_team(TeamFault::Neighbour { barrier: false }, teams(3, 7)));
    assert_eq!((kind.as_str(), view.as_str(), team), ("data race between store and load", "tile", 0));
    assert_eq!(index, Some(vec![0, 1]));
    assert!(threads.starts_with("thread 1 (store at ") && threads.contains(" and thread 0 (load at "), "{threads}");
    assert!(threads.ends_with("with no barrier between"), "{threads}");
    // Alone, a thread races with nobody.
    run_team(TeamFault::Neighbour { barrier: false }, teams(3, 1)).unwrap();
}

#[test]
fn scratch_and_private_faults() {
    let (kind, view, index, team, threads) = fault(run_team(TeamFault::ScratchColumn, teams(2, 5)));
    assert_eq!((kind.as_str(), view.as_str(), team), ("out-of-bounds store", "tile", 0));
    assert_eq!((index, threads.as_str()), (Some(vec![0, 5]), "thread 4"));

    let (kind, view, index, team, threads) = fault(run_team(TeamFault::UninitialisedScratch, teams(2, 5)));
    assert_eq!((kind.as_str(), view.as_str(), team), ("uninitialised load of scratch", "tile", 0));
    assert_eq!((index, threads.as_str()), (Some(vec![0, 3]), "thread 3"));

    let (kind, view, index, team, threads) = fault(run_team(TeamFault::UninitialisedPrivate, teams(2, 5)));
    assert_eq!((kind.as_str(), view.as_str(), team), ("uninitialised load", "private memory", 0));
    assert_eq!((index, threads.as_str()), (Some(vec![1]), "thread 2"));

    let (kind, view, index, _, threads) = fault(run_team(TeamFault::AtomicAndStore, teams(2, 4)));
    assert_eq!((kind.as_str(), view.as_str()), ("data race between store and atomic update", "tile"));
    assert_eq!(index, Some(vec![1, 0]));
    assert!(threads.contains("thread 0 (store") && threads.contains("thread 1 (atomic update"), "{threads}");
}

#[test]
fn conflicts_in_views() {
    let (kind, view, index, team, threads) = fault(run_team(TeamFault::SameElement, teams(2, 5)));
    assert_eq!((kind.as_str(), view.as_str(), team), ("data race between store and store", "y", 0));
    assert_eq!(index, Some(vec![0]));
    assert!(threads.contains("thread 0 (store") && threads.contains("thread 1 (store"), "{threads}");

    let (kind, view, index, team, threads) = fault(run_team(TeamFault::SameElementOfTeams, teams(3, 5)));
    assert_eq!((kind.as_str(), view.as_str()), ("conflict of teams 0 and 1 between store and store", "y"));
    assert_eq!((index, team), (Some(vec![0]), 1));
    assert!(threads.contains("thread 1 of team 0 (store") && threads.contains("and thread 1 (store"), "{threads}");

    let (kind, _, index, team, threads) = fault(run_team(TeamFault::NextTeam, teams(3, 5)));
    assert_eq!(kind, "conflict of teams 0 and 1 between load and store");
    assert_eq!((index, team), (Some(vec![5]), 1));
    assert!(threads.contains("thread 0 of team 0 (load"), "{threads}");
}

#[test]
fn overflow_and_barrier_in_branch() {
    let (kind, view, index, team, threads) = fault(run_team(TeamFault::Overflow, teams(1, 5)));
    assert_eq!(kind, "integer overflow: 3 Mul 1000000000 (I32)");
    assert_eq!((view.as_str(), index, team, threads.as_str()), ("", None, 0, "thread 3"));
    // Refused when traced.
    match run_team(TeamFault::BarrierInBranch, teams(1, 5)) {
        Err(LaunchError::Kernel { kernel, site: Some(site), message }) => {
            assert_eq!(kernel, "faulty_team");
            assert!(site.contains("checked.rs") && message.contains("barrier"), "{site}: {message}");
        }
        other => panic!("{other:?}"),
    }
}

kernel_args! {
    struct Exchange { from: Int, y: View<f64, 1, LayoutRight, ReadWrite> }
}
#[derive(Debug, Hash, Clone, Copy)]
enum LaneFault {
    Inactive,
    Outside,
    Sound,
}
impl Kernel for LaneFault {
    type Args = Exchange<Declared>;
    const NAME: &'static str = "faulty_lanes";
    fn run<T: Target>(&self, team: T, a: &Exchange<T>) {
        let length = team.vector_length() as i64;
        team.phase(|item| {
            let place = [item.thread * length + item.lane];
            let value = team.to_real(item.lane);
            match self {
                LaneFault::Inactive => {
                    team.when(item.lane.lt(team.int(2)), || a.y.set(place, team.shift_down(value, 1)));
                }
                LaneFault::Outside | LaneFault::Sound => a.y.set(place, team.from_lane(value, a.from)),
            }
        });
    }
}

#[test]
fn lane_exchanges() {
    let mut y = view("y", 12);
    let policy = TeamPolicy::new(1, 3, 4).unwrap();
    let checked = CheckedSpace::<f64>::new();
    let mut run = |kernel: LaneFault, from: i64| checked.launch(&kernel, &policy, Exchange { from, y: y.write() });
    let (kind, view, _, team, threads) = fault(run(LaneFault::Inactive, 0));
    assert_eq!((kind.as_str(), view.as_str(), team), ("lane exchange with an inactive lane", "", 0));
    assert_eq!(threads, "thread 0 lane 1 takes a value from thread 0 lane 2, which does not take part");
    let (kind, .., threads) = fault(run(LaneFault::Outside, 4));
    assert_eq!(kind, "lane exchange outside the vector of 4 lanes");
    assert_eq!(threads, "thread 0 lane 0 asks for lane 4");
    run(LaneFault::Sound, 3).unwrap();
    assert_eq!(y.as_slice(), [3.0; 12]);
}

kernel_args! {
    struct Histogram { sums: View<f64, 1, LayoutRight, Atomic> }
}
#[derive(Debug, Hash, Clone, Copy)]
struct AddAll {
    then_read: bool,
}
impl Kernel for AddAll {
    type Args = Histogram<Declared>;
    const NAME: &'static str = "faulty_histogram";
    fn run<T: Target>(&self, team: T, a: &Histogram<T>) {
        team.phase(|item| {
            a.sums.add([item.thread % 3], team.real(1.0));
            if self.then_read {
                a.sums.add([team.int(3)], a.sums.at([item.thread % 3]));
            }
        });
    }
}

#[test]
fn atomic_updates_conflict_with_loads_only() {
    let checked = CheckedSpace::<f64>::new();
    let mut sums = View::<f64, 1>::from_fn("sums", [4], |_| 0.0).unwrap();
    checked.launch(&AddAll { then_read: false }, &teams(5, 6), Histogram { sums: sums.update() }).unwrap();
    assert_eq!(sums.as_slice(), [10.0, 10.0, 10.0, 0.0]);
    let result = checked.launch(&AddAll { then_read: true }, &teams(5, 6), Histogram { sums: sums.update() });
    let (kind, view, index, team, threads) = fault(result);
    assert_eq!((kind.as_str(), view.as_str(), team), ("data race between atomic update and load", "sums", 0));
    assert_eq!(index, Some(vec![0]));
    assert!(threads.contains("thread 3 (atomic update") && threads.contains("thread 0 (load"), "{threads}");
    // Each update that is not atomic is found, in the team or between teams.
    let program = trace::<_, f64, _>(&AddAll { then_read: false }, &teams(5, 6), &Histogram { sums: sums.update() });
    let mutated = Mutation::PlainAtomic(0).apply(&program.unwrap()).unwrap();
    for policy in [teams(5, 6), teams(1, 6)] {
        let result = checked.run_program::<AddAll>(&mutated, &policy, Histogram { sums: sums.update() });
        assert!(fault(result).0.contains("between load and store"));
    }
}

/// Sums, back to back, that tell a wrong barrier at once.
#[derive(Debug, Hash, Clone, Copy)]
struct ManySums(usize);
kernel_args! {
    struct Sums { out: View<i64, 1, LayoutRight, ReadWrite> }
}
impl Kernel for ManySums {
    type Args = Sums<Declared>;
    const NAME: &'static str = "faulty_sums";
    fn run<T: Target>(&self, team: T, a: &Sums<T>) {
        let total = team.fold(team.int(self.0), team.int(0).widen(), |k, total| {
            total + team.reduce(team.int(300), SumInt, |i| i.widen() * k)
        });
        a.out.set([team.league_rank()], total);
    }
}

#[test]
fn reductions_back_to_back() {
    for size in [33, 96, 127, 1000] {
        let mut out = View::<i64, 1>::from_fn("out", [2], |_| 0).unwrap();
        let checked = CheckedSpace::<f64>::new();
        checked.launch(&ManySums(1000), &teams(2, size), Sums { out: out.write() }).unwrap();
        assert_eq!(out.as_slice(), [44850 * 499_500; 2], "team size {size}");
    }
}

#[test]
fn every_barrier_of_a_reduction_is_needed() {
    let checked = CheckedSpace::<f64>::new();
    // Of sizes such as 33, one barrier orders nothing: only thread 0 works before it, on its own row.
    for (threads, lanes) in [(127, 1), (8, 1), (7, 4)] {
        let mut out = View::<i64, 1>::from_fn("out", [2], |_| 7).unwrap();
        let policy = TeamPolicy::new(2, threads, lanes).unwrap();
        let program = trace::<_, f64, _>(&ManySums(3), &policy, &Sums { out: out.write() }).unwrap();
        let all = Mutation::all(&program);
        let barriers = all.iter().filter(|m| matches!(m, Mutation::RemoveBarrier(_))).count();
        assert!(barriers >= 4);
        for mutation in all {
            let mutated = mutation.apply(&program).unwrap();
            let result = checked.run_program::<ManySums>(&mutated, &policy, Sums { out: out.write() });
            match mutation {
                Mutation::RemoveBarrier(_) => assert!(fault(result).0.contains("data race"), "{mutation:?}"),
                Mutation::DivergeBarrier(_) => {
                    let (kind, .., threads) = fault(result);
                    assert_eq!(kind, "barrier reached by a part of the team only", "{mutation:?} {threads}");
                    let lane = if lanes == 1 { "" } else { " lane 0" };
                    assert!(threads.starts_with(&format!("thread 0{lane} reaches it, thread ")), "{threads}");
                }
                _ => {}
            }
        }
    }
}

/// A matrix transposed through scratch.
#[derive(Debug, Hash, Clone, Copy)]
struct Transpose;
kernel_args! {
    struct Matrices { x: View<f64, 2, LayoutRight, ReadOnly>, y: View<f64, 2, LayoutRight, ReadWrite> }
}
impl Kernel for Transpose {
    type Args = Matrices<Declared>;
    const NAME: &'static str = "faulty_transpose";
    fn run<T: Target>(&self, team: T, a: &Matrices<T>) {
        let tile = team.scratch::<f64, 2>(ScratchLevel::Zero, "tile", [8, 8]);
        let columns = a.x.extent(1);
        let tiles = columns / 8;
        let (row, column) = (team.league_rank() / tiles * 8, team.league_rank() % tiles * 8);
        team.for_each_md([8, 8], |[i, j]| tile.set([i, j], a.x.at([row + i, column + j])));
        team.barrier();
        team.for_each_md([8, 8], |[i, j]| a.y.set([column + i, row + j], tile.at([j, i])));
    }
}

#[test]
fn every_mutation_of_a_transposition_is_found() {
    let checked = CheckedSpace::<f64>::new();
    let x = View::<f64, 2>::from_fn("x", [16, 24], |[i, j]| (100 * i + j) as f64).unwrap();
    let mut y = View::<f64, 2>::from_fn("y", [24, 16], |_| -1.0).unwrap();
    let policy = teams(6, 12);
    let program = trace::<_, f64, _>(&Transpose, &policy, &Matrices { x: x.read(), y: y.write() }).unwrap();
    let mut found = 0;
    for mutation in Mutation::all(&program) {
        let mutated = mutation.apply(&program).unwrap();
        let result = checked.run_program::<Transpose>(&mutated, &policy, Matrices { x: x.read(), y: y.write() });
        // A store to the result that is missing leaves no trace but the result.
        if mutation == Mutation::DropStore(1) {
            result.unwrap();
            assert!(y.as_slice().iter().all(|&value| value == -1.0));
        } else {
            fault(result);
            assert!(y.as_slice().iter().all(|&value| value == -1.0), "{mutation:?}");
            found += 1;
        }
    }
    assert!(found >= 8, "{found} mutations");
    checked.launch(&Transpose, &policy, Matrices { x: x.read(), y: y.write() }).unwrap();
    assert!((0..24).all(|i| (0..16).all(|j| y.get([i, j]) == x.get([j, i]))));
}

/// Each team has its own scratch.
#[derive(Debug, Hash, Clone, Copy)]
struct OwnScratch(ScratchLevel);
impl Kernel for OwnScratch {
    type Args = Out<Declared>;
    const NAME: &'static str = "own_scratch";
    fn run<T: Target>(&self, team: T, a: &Out<T>) {
        let n = team.team_size();
        let ids = team.scratch::<f64, 1>(self.0, "ids", [n]);
        team.phase(|item| ids.set([item.thread], team.to_real(team.league_rank())));
        team.barrier();
        team.phase(|item| {
            let sibling = (item.thread + 3) % n as i64;
            a.y.set([team.league_rank() * n as i64 + item.thread], ids.at([sibling]));
        });
    }
}

#[test]
fn scratch_belongs_to_a_team() {
    for level in [ScratchLevel::Zero, ScratchLevel::One] {
        let mut y = view("y", 512);
        CheckedSpace::<f64>::new().launch(&OwnScratch(level), &teams(64, 8), Out { y: y.write() }).unwrap();
        assert!((0..512).all(|i| y.get([i]) == (i / 8) as f64));
    }
}

#[derive(Debug, Hash, Clone, Copy)]
struct NeedsScratch(usize);
impl Kernel for NeedsScratch {
    type Args = Out<Declared>;
    const NAME: &'static str = "needs_scratch";
    fn run<T: Target>(&self, team: T, a: &Out<T>) {
        let big = team.scratch::<f64, 1>(ScratchLevel::Zero, "big", [self.0]);
        team.for_each(team.int(self.0), |i| big.set([i], team.real(1.0)));
        team.barrier();
        team.phase(|item| a.y.set([team.league_rank() + item.thread], big.at([team.int(0)])));
    }
}

#[test]
fn launches_of_other_devices() {
    let mut y = view("y", 1);
    // 100 KiB.
    let mut launch = |model: DeviceModel, team: usize| {
        CheckedSpace::<f64>::imitating(model).launch(&NeedsScratch(12_800), &teams(1, team), Out { y: y.write() })
    };
    for model in [DeviceModel::H200, DeviceModel::H100, DeviceModel::A100, DeviceModel::PVC] {
        launch(model, 1).unwrap();
    }
    for model in [DeviceModel::MI250X, DeviceModel::MI300A, DeviceModel::COMMON] {
        match launch(model, 1) {
            Err(LaunchError::ScratchTooLarge { kernel, space, level: 0, asked: 102_400, available, .. }) => {
                assert_eq!((kernel.as_str(), available), ("needs_scratch", model.scratch_bytes));
                assert!(space.contains(model.name), "{space}");
            }
            other => panic!("{other:?}"),
        }
    }
    match launch(DeviceModel::H200, 1025) {
        Err(LaunchError::TeamTooLarge { asked: 1025, allowed: 1024, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(DeviceModel::named("mi250x"), Some(DeviceModel::MI250X));
    assert_eq!(DeviceModel::named("abacus"), None);
}

#[test]
fn empty_launches_touch_nothing() {
    let mut y = view("y", 4);
    let checked = CheckedSpace::<f64>::new();
    checked.launch(&TeamFault::SameElement, &teams(0, 5), Out { y: y.write() }).unwrap();
    assert_eq!(y.as_slice(), view("y", 4).as_slice());
}
