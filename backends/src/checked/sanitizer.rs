//! The observer that finds faults.

use super::shadow::{History, Stamp};
use crate::interpret::{AccessMode, Code, Lanes, MemoryAccess, Object, Objection, Observer, Room, Shape, name_item};
use crate::trace::ir::Site;
use farro_portability::LaunchError;
use std::collections::HashMap;

/// What is known about one memory object.
struct Shadow {
    room: Room,
    /// Empty if nothing can conflict, because the object is only read.
    history: Vec<History>,
    /// For scratch: one more than the team that last wrote the element.
    written_by: Vec<u32>,
}

/// Watches a launch for races and for reads of what nobody wrote.
#[derive(Default)]
pub(super) struct Sanitizer {
    shadows: Vec<Shadow>,
    /// For each private slot and work item: one more than the team that last wrote it.
    private_written_by: Vec<u32>,
    items: usize,
    vector_length: usize,
    epoch: u32,
    team: u32,
    /// The first epoch of each team so far.
    team_starts: Vec<u32>,
    sites: Vec<Option<Site>>,
    site_numbers: HashMap<usize, u16>,
}

impl Sanitizer {
    fn site_number(&mut self, site: Option<Site>) -> u16 {
        let key = site.map_or(0, |site| std::ptr::from_ref(site).addr());
        *self.site_numbers.entry(key).or_insert_with(|| {
            self.sites.push(site);
            u16::try_from(self.sites.len() - 1).unwrap_or(u16::MAX)
        })
    }
    /// The conflict between work item `item` and an earlier access, in words.
    fn conflict(&self, access: &MemoryAccess<'_>, item: usize, earlier: &'static str, stamp: Stamp) -> Objection {
        let at = |site: Option<Site>| site.map(|site| format!(" at {site}")).unwrap_or_default();
        let earlier_site = self.sites.get(usize::from(stamp.site)).copied().flatten();
        let team_of = self.team_starts.partition_point(|&start| start <= stamp.epoch).saturating_sub(1);
        let (now, mode) = (name_item(item, self.vector_length), access.mode.name());
        let then = name_item(usize::from(stamp.item), self.vector_length);
        let (kind, between) = if team_of as u32 == self.team {
            (format!("data race between {earlier} and {mode}"), "with no barrier between".to_owned())
        } else {
            let between = "which nothing orders".to_owned();
            (format!("conflict of teams {team_of} and {} between {earlier} and {mode}", self.team), between)
        };
        let of_team = if team_of as u32 == self.team { String::new() } else { format!(" of team {team_of}") };
        let threads =
            format!("{then}{of_team} ({earlier}{}) and {now} ({mode}{}) {between}", at(earlier_site), at(access.site));
        Objection { kind, item, threads: Some(threads) }
    }
}

impl Observer for Sanitizer {
    const CHECKS: bool = true;

    fn start(&mut self, kernel: &str, shape: Shape, objects: &[Object<'_>]) -> Result<(), LaunchError> {
        if shape.items > crate::interpret::MAX_ITEMS || u32::try_from(shape.teams).is_err() {
            return Err(LaunchError::Arguments {
                kernel: kernel.into(),
                message: format!("{} teams of {} work items are more than can be checked", shape.teams, shape.items),
            });
        }
        self.shadows = objects
            .iter()
            .map(|object| Shadow {
                room: object.room,
                history: vec![History::default(); if object.written { object.len } else { 0 }],
                written_by: vec![0; if object.room == Room::Global { 0 } else { object.len }],
            })
            .collect();
        self.private_written_by = vec![0; shape.private_slots * shape.items];
        (self.items, self.vector_length) = (shape.items, shape.vector_length);
        Ok(())
    }
    fn begin_team(&mut self, team: usize) {
        self.barrier();
        self.team = team as u32;
        self.team_starts.push(self.epoch);
    }
    fn compute(&mut self, _code: Code, _lanes: usize) {}
    fn access(&mut self, access: MemoryAccess<'_>) -> Result<(), Objection> {
        let site = self.site_number(access.site);
        let (epoch, team, team_start) = (self.epoch, self.team + 1, self.team_starts.last().copied().unwrap_or(0));
        let shadow = &mut self.shadows[access.memory];
        // Earlier teams do not share this team's scratch.
        let team_start = if shadow.room == Room::Global { team_start } else { 0 };
        let mut found = None;
        let checked = access.lanes.try_for_each(|t| {
            let element = access.offsets[t].get() as usize;
            let now = Stamp { epoch, item: t as u16, site };
            if let Some(history) = shadow.history.get_mut(element) {
                let conflict = match access.mode {
                    AccessMode::Load => history.load(now, team_start),
                    AccessMode::Store => history.store(now, team_start),
                    AccessMode::Atomic => history.atomic(now, team_start),
                };
                if let Some((earlier, stamp)) = conflict {
                    found = Some((t, earlier, stamp));
                    return Err(());
                }
            }
            if let Some(written_by) = shadow.written_by.get_mut(element) {
                if access.mode != AccessMode::Store && *written_by != team {
                    found = Some((t, "", Stamp::default()));
                    return Err(());
                }
                *written_by = team;
            }
            Ok(())
        });
        match (checked, found) {
            (Err(()), Some((item, "", _))) => {
                Err(Objection { kind: format!("uninitialised {} of scratch", access.mode.name()), item, threads: None })
            }
            (Err(()), Some((item, earlier, stamp))) => Err(self.conflict(&access, item, earlier, stamp)),
            _ => Ok(()),
        }
    }
    fn private(&mut self, mode: AccessMode, number: usize, lanes: Lanes<'_>) -> Result<(), Objection> {
        let team = self.team + 1;
        let row = &mut self.private_written_by[number * self.items..][..self.items];
        if mode == AccessMode::Store {
            lanes.for_each(|t| row[t] = team);
            return Ok(());
        }
        match lanes.find(|t| row[t] != team) {
            Some(item) => Err(Objection { kind: "uninitialised load".into(), item, threads: None }),
            None => Ok(()),
        }
    }
    fn exchange(&mut self, _lanes: usize) {}
    fn barrier(&mut self) {
        // Four thousand million barriers would take weeks to interpret; the count may stop there.
        self.epoch = self.epoch.saturating_add(1);
    }
    fn finish(&mut self) {}
}
