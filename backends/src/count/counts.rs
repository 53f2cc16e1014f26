//! What a launch did, in numbers.

use std::collections::BTreeMap;

/// Declares a structure of numbers that can be added field by field.
macro_rules! summed {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $kind,)*
        }
        impl std::ops::AddAssign<&$name> for $name {
            fn add_assign(&mut self, other: &$name) {
                $(Sum::sum(&mut self.$field, &other.$field);)*
            }
        }
        impl std::ops::Add for $name {
            type Output = Self;
            fn add(mut self, other: Self) -> Self {
                self += &other;
                self
            }
        }
        impl Sum for $name {
            fn sum(&mut self, other: &Self) {
                *self += other;
            }
        }
    };
}

/// What can be added in place.
trait Sum {
    fn sum(&mut self, other: &Self);
}
impl Sum for u64 {
    fn sum(&mut self, other: &Self) {
        *self += other;
    }
}
impl<T: Sum, const N: usize> Sum for [T; N] {
    fn sum(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(a, b)| a.sum(b));
    }
}
impl<T: Sum + Clone> Sum for BTreeMap<String, T> {
    fn sum(&mut self, other: &Self) {
        for (name, value) in other {
            match self.get_mut(name) {
                Some(mine) => mine.sum(value),
                None => {
                    self.insert(name.clone(), value.clone());
                }
            }
        }
    }
}

summed! {
    /// Operations on reals, one for each work item that executes it. Comparison, minimum, maximum, negation, absolute
    /// value, selection and conversion are no FLOPs.
    Operations {
        /// Additions and subtractions.
        add: u64,
        /// Multiplications.
        mul: u64,
        /// Multiplications with addition; two FLOPs each.
        fma: u64,
        /// Divisions.
        div: u64,
        /// Square roots.
        sqrt: u64,
    }
}

impl Operations {
    /// Floating-point operations in all.
    pub fn flops(&self) -> u64 {
        self.add + self.mul + 2 * self.fma + self.div + self.sqrt
    }
}

summed! {
    /// Accesses of one kind to one memory.
    Accesses {
        /// Elements accessed, each as often as a work item accesses it.
        elements: u64,
        /// Their bytes.
        bytes: u64,
        /// Accesses by whole warps: one for each warp with at least one active work item.
        requests: u64,
        /// Distinct 32-byte sectors of each request, summed.
        sectors: u64,
        /// Distinct 128-byte lines of each request, summed.
        lines: u64,
        /// Passes that 32 banks of 4 bytes need for each request, summed; for level-0 scratch only. Elements of 8 bytes
        /// take one pass for each half warp at least.
        bank_passes: u64,
    }
}

summed! {
    /// Accesses to one memory. An atomic update is neither a load nor a store here.
    MemoryCounts {
        /// Loads.
        loads: Accesses,
        /// Plain stores.
        stores: Accesses,
        /// Atomic updates.
        atomics: Accesses,
    }
}

impl MemoryCounts {
    /// Bytes moved by loads, stores and atomic updates; an update moves its element once in, once out.
    pub fn bytes(&self) -> u64 {
        self.loads.bytes + self.stores.bytes + 2 * self.atomics.bytes
    }
    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.loads.requests + self.stores.requests + self.atomics.requests
    }
}

summed! {
    /// What must move between memory and chip however large the caches are: distinct bytes of views in each launch.
    Compulsory {
        /// Bytes that were loaded or updated before any plain store to them.
        read: u64,
        /// Bytes that were stored or updated.
        written: u64,
    }
}

impl Compulsory {
    /// Bytes in both directions.
    pub fn bytes(&self) -> u64 {
        self.read + self.written
    }
}

summed! {
    /// Accesses to one view.
    ViewCounts {
        /// The accesses.
        accesses: MemoryCounts,
        /// Distinct bytes.
        compulsory: Compulsory,
    }
}

summed! {
    /// Everything that was counted, of one launch or of several.
    Counts {
        /// Launches.
        launches: u64,
        /// Teams.
        teams: u64,
        /// Work items: teams times threads times lanes.
        work_items: u64,
        /// Operations on reals.
        operations: Operations,
        /// Integer operations: sums, products, quotients, remainders, minima and maxima, mostly of indices. Comparisons
        /// and the steps of loops are not among them.
        integer_operations: u64,
        /// Accesses to views.
        global: MemoryCounts,
        /// Accesses to scratch, levels 0 and 1.
        scratch: [MemoryCounts; 2],
        /// Accesses to private memory; they have no requests.
        private: MemoryCounts,
        /// Distinct bytes of views, launch by launch.
        compulsory: Compulsory,
        /// Barriers, one for each team that waits.
        barriers: u64,
        /// Values that a work item received from another lane.
        lane_exchanges: u64,
        /// Accesses to each view, by the name of the argument.
        views: BTreeMap<String, ViewCounts>,
        /// Accesses to each scratch array, by its name.
        scratch_arrays: BTreeMap<String, MemoryCounts>,
    }
}

impl Counts {
    /// Floating-point operations.
    pub fn flops(&self) -> u64 {
        self.operations.flops()
    }
    /// Atomic updates of views and scratch.
    pub fn atomics(&self) -> u64 {
        let scratch: u64 = self.scratch.iter().map(|level| level.atomics.elements).sum();
        self.global.atomics.elements + scratch
    }
    /// FLOPs for each compulsory byte: an upper bound of the arithmetic intensity.
    pub fn intensity(&self) -> f64 {
        self.flops() as f64 / self.compulsory.bytes() as f64
    }
    /// The counts for each of `n` units of work, such as cells or unknowns.
    pub fn per(&self, n: f64) -> Rates {
        let per = |count: u64| count as f64 / n;
        Rates {
            flops: per(self.flops()),
            integer_operations: per(self.integer_operations),
            global_loaded_bytes: per(self.global.loads.bytes),
            global_stored_bytes: per(self.global.stores.bytes),
            global_requests: per(self.global.requests()),
            global_sectors: per(self.global.loads.sectors + self.global.stores.sectors + self.global.atomics.sectors),
            compulsory_read_bytes: per(self.compulsory.read),
            compulsory_written_bytes: per(self.compulsory.written),
            scratch_bytes: self.scratch.each_ref().map(|level| per(level.bytes())),
            private_bytes: per(self.private.bytes()),
            atomics: per(self.atomics()),
            barriers: per(self.barriers),
            lane_exchanges: per(self.lane_exchanges),
        }
    }
    /// The counts for each team.
    pub fn per_team(&self) -> Rates {
        self.per(self.teams as f64)
    }
}

/// Counts for each unit of work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// Floating-point operations.
    pub flops: f64,
    /// Integer operations.
    pub integer_operations: f64,
    /// Bytes loaded from views.
    pub global_loaded_bytes: f64,
    /// Bytes stored to views by plain stores.
    pub global_stored_bytes: f64,
    /// Warp-wide accesses to views.
    pub global_requests: f64,
    /// Sectors of 32 bytes of these accesses.
    pub global_sectors: f64,
    /// Distinct bytes read.
    pub compulsory_read_bytes: f64,
    /// Distinct bytes written.
    pub compulsory_written_bytes: f64,
    /// Bytes moved to and from scratch, levels 0 and 1.
    pub scratch_bytes: [f64; 2],
    /// Bytes moved to and from private memory.
    pub private_bytes: f64,
    /// Atomic updates.
    pub atomics: f64,
    /// Team barriers.
    pub barriers: f64,
    /// Lane exchanges.
    pub lane_exchanges: f64,
}
