//! Why an operator could not be made or applied.

use crate::simplex::SimplexError;
use farro_portability::{LaunchError, MemoryError};

/// Why a weak form, its operator or a schedule is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WeakError {
    /// The name of a form is no identifier.
    #[error("a form is named `{name}`; a name has letters, digits and underscores, since kernels are named after it")]
    Name {
        /// The name.
        name: &'static str,
    },
    /// A form that uses no function or no test function.
    #[error("form `{form}` declares that it reads no function or tests with none; declare READS and TESTS")]
    ReadsNothing {
        /// The form.
        form: &'static str,
    },
    /// A form does what it did not declare.
    #[error("form `{form}` {does} {what}, which it does not declare; add it to the constant {constant}")]
    Undeclared {
        /// The form.
        form: &'static str,
        /// `reads` or `returns`.
        does: &'static str,
        /// What.
        what: &'static str,
        /// The constant that should have it.
        constant: &'static str,
    },
    /// A form for another dimension.
    #[error("form `{form}` is for dimension {form_dimension}; the mesh has dimension {mesh_dimension}")]
    MeshDimension {
        /// The form.
        form: &'static str,
        /// Its dimension.
        form_dimension: usize,
        /// The mesh's.
        mesh_dimension: usize,
    },
    /// A parameter of a schedule is out of range.
    #[error("schedule {schedule}: {parameter} = {value} is not possible; 1 to {limit} are")]
    Schedule {
        /// The schedule.
        schedule: String,
        /// The parameter.
        parameter: &'static str,
        /// What was asked.
        value: usize,
        /// Largest value.
        limit: usize,
    },
    /// A field has the wrong shape.
    #[error("field `{field}` has extents {found:?}; the operator needs {needed:?}")]
    Extents {
        /// The field.
        field: String,
        /// What it has.
        found: Vec<usize>,
        /// What it needs.
        needed: Vec<usize>,
    },
    /// Element or mesh.
    #[error(transparent)]
    Simplex(#[from] SimplexError),
    /// The launch failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Memory could not be had.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}
