//! Who accessed an element, and when: enough to see each conflict, in constant space.

/// One access. Epochs count from 1; they end at barriers and at the ends of teams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// 0 if there was no access.
    pub epoch: u32,
    pub item: u16,
    /// Number of the source position.
    pub site: u16,
}

/// Accesses of one kind by possibly many work items.
#[derive(Clone, Copy, Debug, Default)]
struct Several {
    /// The first access of the latest epoch that had one.
    latest: Stamp,
    /// Another item of that epoch, if it differs from the first.
    other_item: u16,
    other_site: u16,
    /// An access by an earlier team than that of `latest`.
    earlier_team: Stamp,
}

impl Several {
    fn note(&mut self, now: Stamp, team_start: u32) {
        if self.latest.epoch != now.epoch {
            if self.latest.epoch != 0 && self.latest.epoch < team_start {
                self.earlier_team = self.latest;
            }
            self.latest = now;
            (self.other_item, self.other_site) = (now.item, now.site);
        } else if self.other_item == self.latest.item && self.latest.item != now.item {
            (self.other_item, self.other_site) = (now.item, now.site);
        }
    }
    /// An access that nothing orders with `now`.
    #[inline(always)]
    fn conflict(&self, now: Stamp, team_start: u32) -> Option<Stamp> {
        if self.latest.epoch == now.epoch {
            if self.latest.item != now.item {
                return Some(self.latest);
            }
            if self.other_item != now.item {
                return Some(Stamp { item: self.other_item, site: self.other_site, ..self.latest });
            }
        } else if self.latest.epoch != 0 && self.latest.epoch < team_start {
            return Some(self.latest);
        }
        (self.earlier_team.epoch != 0).then_some(self.earlier_team)
    }
}

/// The history of one element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct History {
    /// Plain stores; the latest stands for all, since more than one at a time is a fault.
    store: Stamp,
    loads: Several,
    atomics: Several,
}

/// The word for the kind of an earlier access.
pub(super) type Earlier = (&'static str, Stamp);

impl History {
    #[inline(always)]
    fn store_conflict(&self, now: Stamp, team_start: u32) -> Option<Earlier> {
        let store = self.store;
        let unordered =
            store.epoch != 0 && (store.epoch < team_start || (store.epoch == now.epoch && store.item != now.item));
        unordered.then_some(("store", store))
    }
    /// Notes a load, or returns an access that conflicts with it.
    #[inline(always)]
    pub fn load(&mut self, now: Stamp, team_start: u32) -> Option<Earlier> {
        let conflict = self.store_conflict(now, team_start);
        let conflict = conflict.or_else(|| self.atomics.conflict(now, team_start).map(|s| ("atomic update", s)));
        self.loads.note(now, team_start);
        conflict
    }
    /// Notes a plain store, or returns an access that conflicts with it.
    #[inline(always)]
    pub fn store(&mut self, now: Stamp, team_start: u32) -> Option<Earlier> {
        let conflict = self
            .store_conflict(now, team_start)
            .or_else(|| self.loads.conflict(now, team_start).map(|s| ("load", s)))
            .or_else(|| self.atomics.conflict(now, team_start).map(|s| ("atomic update", s)));
        self.store = now;
        conflict
    }
    /// Notes an atomic update, or returns an access that conflicts with it.
    #[inline(always)]
    pub fn atomic(&mut self, now: Stamp, team_start: u32) -> Option<Earlier> {
        let conflict = self.store_conflict(now, team_start);
        let conflict = conflict.or_else(|| self.loads.conflict(now, team_start).map(|s| ("load", s)));
        self.atomics.note(now, team_start);
        conflict
    }
}
