//! Lanes of a vector exchange values.

use super::lab::*;
use crate::prelude::*;

/// Team sizes and their lanes that do not fill a warp or a pack.
const TEAMS: [usize; 4] = [1, 2, 7, 33];

kernel_args! {
    struct ShiftArgs {
        reals: View<f64, 3, LayoutRight, ReadWrite>,
        ints: View<i64, 3, LayoutRight, ReadWrite>,
    }
}
#[derive(Clone, Copy, Hash, Debug)]
enum Direction {
    Down,
    Up,
    Rotate,
    From,
}
#[derive(Hash)]
struct Shifts {
    direction: Direction,
}
impl Kernel for Shifts {
    type Args = ShiftArgs<Declared>;
    const NAME: &'static str = "conformance_shifts";
    fn run<T: Target>(&self, team: T, args: &ShiftArgs<T>) {
        let lanes = team.vector_length();
        team.phase(|item| {
            let id = item.thread * 100 + item.lane;
            let real = team.to_real(id).scale(0.5);
            for places in 0..=lanes {
                let (a, b) = match self.direction {
                    Direction::Down => (team.shift_down(real, places), team.shift_down(id, places)),
                    Direction::Up => (team.shift_up(real, places), team.shift_up(id, places)),
                    Direction::Rotate => (team.rotate_down(real, places), team.rotate_down(id, places)),
                    Direction::From if places < lanes => {
                        let lane = team.int(places);
                        (team.from_lane(real, lane), team.from_lane(id, lane))
                    }
                    // The last row: the lanes in reverse.
                    Direction::From => {
                        let lane = T::Int::from(lanes as i64 - 1) - item.lane;
                        (team.from_lane(real, lane), team.from_lane(id, lane))
                    }
                };
                args.reals.set([team.int(places), item.thread, item.lane], a);
                args.ints.set([team.int(places), item.thread, item.lane], b);
            }
        });
    }
}

fn shifts<S: Space>(lab: &Lab<'_, S>, direction: Direction) -> Verdict {
    for (team, vector) in lab.shapes(&TEAMS) {
        let mut reals = lab.poisoned::<f64, 3>("reals", [vector + 1, team, vector])?;
        let mut ints = lab.poisoned::<i64, 3>("ints", [vector + 1, team, vector])?;
        let args = ShiftArgs { reals: reals.write(), ints: ints.write() };
        lab.run(&Shifts { direction }, &lab.policy(1, team, vector)?, args)?;
        let source = |at: usize| {
            let (places, thread, lane) = (at / vector / team, at / vector % team, at % vector);
            let from = match direction {
                Direction::Down => Some(lane + places).filter(|&from| from < vector).unwrap_or(lane),
                Direction::Up => lane.checked_sub(places).unwrap_or(lane),
                Direction::Rotate => (lane + places) % vector,
                Direction::From if places < vector => places,
                Direction::From => vector - 1 - lane,
            };
            (thread * 100 + from) as i64
        };
        let what = format!("lanes {direction:?}, team {team} x vector {vector}");
        check(&what, lab.download(&reals)?.as_slice(), |at| source(at) as f64 * 0.5)?;
        check(&what, lab.download(&ints)?.as_slice(), source)?;
    }
    Ok(())
}
pub(super) fn down<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    shifts(lab, Direction::Down)
}
pub(super) fn up<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    shifts(lab, Direction::Up)
}
pub(super) fn rotate<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    shifts(lab, Direction::Rotate)
}
pub(super) fn from<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    shifts(lab, Direction::From)
}

/// A sum over the lanes of a thread by halving, of a tuple with an array.
#[derive(Hash)]
struct Tuples;
impl Kernel for Tuples {
    type Args = ShiftArgs<Declared>;
    const NAME: &'static str = "conformance_lane_tuples";
    fn run<T: Target>(&self, team: T, args: &ShiftArgs<T>) {
        team.phase(|item| {
            let id = item.thread * 100 + item.lane;
            let mut value = ([team.to_real(id), team.real(1.0)], id);
            let mut places = team.vector_length() / 2;
            while places > 0 {
                let other = team.shift_down(value, places);
                value = ([value.0[0] + other.0[0], value.0[1] + other.0[1]], value.1 + other.1);
                places /= 2;
            }
            let ([sum, count], int) = team.from_lane(value, team.int(0));
            args.reals.set([team.int(0), item.thread, item.lane], sum);
            args.reals.set([team.int(1), item.thread, item.lane], count);
            args.ints.set([team.int(0), item.thread, item.lane], int);
        });
    }
}
pub(super) fn tuples<S: Space>(lab: &Lab<'_, S>) -> Verdict {
    for (team, vector) in lab.shapes(&TEAMS) {
        let mut reals = lab.poisoned::<f64, 3>("reals", [2, team, vector])?;
        let mut ints = lab.poisoned::<i64, 3>("ints", [1, team, vector])?;
        let args = ShiftArgs { reals: reals.write(), ints: ints.write() };
        lab.run(&Tuples, &lab.policy(1, team, vector)?, args)?;
        let sum = |thread: usize| (0..vector).map(|lane| (thread * 100 + lane) as i64).sum::<i64>();
        let what = format!("sums over lanes, team {team} x vector {vector}");
        check(&what, lab.download(&reals)?.as_slice(), |at| match at / vector / team {
            0 => sum(at / vector % team) as f64,
            _ => vector as f64,
        })?;
        check(&what, lab.download(&ints)?.as_slice(), |at| sum(at / vector % team))?;
    }
    Ok(())
}
