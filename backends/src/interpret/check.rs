//! Checks of single steps, and faults as errors.

use super::arithmetic::{IntegerFault, integer_fault};
use super::lanes::Lanes;
use super::machine::{Machine, Stop};
use super::observer::{AccessMode, MemoryAccess, Objection, Observer, name_item};
use super::plan::{Address, Code, Slot};
use crate::trace::ir::Site;
use farro_portability::LaunchError;

impl<O: Observer> Machine<'_, '_, O> {
    /// Checks an access and shows it to the observer.
    pub(super) fn access(&mut self, mode: AccessMode, address: &Address, lanes: Lanes<'_>) -> Result<(), Stop> {
        let object = &self.objects[address.memory];
        if O::CHECKS {
            for (&slot, &extent) in address.index.iter().zip(&object.extents) {
                let row = self.row(slot);
                if let Some(item) = lanes.find(|t| row[t].get() >= extent as u64) {
                    return Err(self.out_of_bounds(mode, address, item));
                }
            }
        }
        let (offsets, len) = (self.row(address.offset), object.len as u64);
        if let Some(item) = lanes.find(|t| offsets[t].get() >= len) {
            return Err(self.out_of_bounds(mode, address, item));
        }
        let offsets = &self.values[address.offset as usize * self.shape.items..][..self.shape.items];
        let access = MemoryAccess { memory: address.memory, mode, offsets, lanes, site: address.site };
        self.observer.access(access).map_err(|objection| self.memory_fault(objection, address))
    }
    pub(super) fn private_access(
        &mut self,
        mode: AccessMode,
        number: usize,
        site: Option<Site>,
        lanes: Lanes<'_>,
    ) -> Result<(), Stop> {
        self.observer.private(mode, number, lanes).map_err(|objection| {
            self.fault(
                objection,
                "private memory".into(),
                Some(vec![number as i64]),
                Some(vec![self.shape.private_slots as i64]),
                site,
            )
        })
    }

    pub(super) fn integer_fault(
        &self,
        code: Code,
        operands: [Slot; 3],
        before: Option<Site>,
        lanes: Lanes<'_>,
    ) -> Result<(), Stop> {
        let [a, b, _] = operands.map(|slot| self.row(slot));
        let fault_of = |t: usize| integer_fault(code, a[t].get(), b[t].get());
        let Some((item, fault)) = lanes.find(|t| fault_of(t).is_some()).and_then(|t| Some((t, fault_of(t)?))) else {
            return Ok(());
        };
        let (x, y) = (a[item].get() as i64, b[item].get() as i64);
        let operation = match code {
            Code::Binary(op, kind) => format!("{x} {op:?} {y} ({kind:?})"),
            _ => format!("{x} as a 32-bit integer"),
        };
        let kind = match fault {
            IntegerFault::Division => format!("integer division by zero: {operation}"),
            IntegerFault::Overflow => format!("integer overflow: {operation}"),
        };
        let site = before.map(|site| format!("a line before {site}"));
        Err(self.fault_at(Objection { kind, item, threads: None }, String::new(), None, None, site))
    }
    pub(super) fn partial_barrier(&self, site: Site, lanes: Lanes<'_>) -> Stop {
        let all = Lanes::Range(0, self.shape.items);
        let name = |item: Option<usize>| name_item(item.unwrap_or(0), self.shape.vector_length);
        let (here, missing) = (lanes.find(|_| true), all.find(|t| !lanes.contains(t)));
        let threads = format!("{} reaches it, {} does not", name(here), name(missing));
        let kind = "barrier reached by a part of the team only".into();
        let objection = Objection { kind, item: here.unwrap_or(0), threads: Some(threads) };
        self.fault(objection, String::new(), None, None, Some(site))
    }
    fn out_of_bounds(&self, mode: AccessMode, address: &Address, item: usize) -> Stop {
        let kind = format!("out-of-bounds {}", mode.name());
        self.memory_fault(Objection { kind, item, threads: None }, address)
    }
    fn memory_fault(&self, objection: Objection, address: &Address) -> Stop {
        let object = &self.objects[address.memory];
        let at = |slot: &Slot| self.row(*slot)[objection.item].get() as i64;
        // Without a multi-index the offset has to serve.
        let index = match (&*address.index, &*object.extents) {
            ([], []) => Vec::new(),
            ([], _) => vec![at(&address.offset)],
            (index, _) => index.iter().map(at).collect(),
        };
        self.fault(objection, object.name.clone(), Some(index), Some(object.extents.clone()), address.site)
    }
    pub(super) fn fault(
        &self,
        objection: Objection,
        view: String,
        index: Option<Vec<i64>>,
        extents: Option<Vec<i64>>,
        site: Option<Site>,
    ) -> Stop {
        self.fault_at(objection, view, index, extents, site.map(ToString::to_string))
    }
    fn fault_at(
        &self,
        objection: Objection,
        view: String,
        index: Option<Vec<i64>>,
        extents: Option<Vec<i64>>,
        site: Option<String>,
    ) -> Stop {
        let threads = objection.threads.unwrap_or_else(|| name_item(objection.item, self.shape.vector_length));
        Box::new(LaunchError::Fault {
            kernel: self.program.name.clone(),
            kind: objection.kind,
            view,
            index,
            extents,
            team: self.team,
            threads,
            site,
        })
    }
}
