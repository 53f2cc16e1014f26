//! The arguments of a launch as the values that a printed function takes, without allocation.

use super::{Printed, PrintedParameter};
use crate::launch::{Argument, Arguments};
use crate::trace::ir::{Source, Type};
use farro_portability::LaunchError;

/// Most parameters of a printed function.
pub const MAX_PARAMETERS: usize = 128;

/// A value as its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawValue {
    /// The bytes, lowest first.
    pub bits: u64,
    /// Number of bytes: 4 or 8.
    pub bytes: u8,
}

/// The values of a launch, in the order of [`Printed::parameters`].
#[derive(Debug)]
pub struct PackedParameters {
    values: [RawValue; MAX_PARAMETERS],
    len: usize,
}

impl PackedParameters {
    /// The values.
    pub fn as_slice(&self) -> &[RawValue] {
        &self.values[..self.len]
    }
}

impl Printed {
    /// The values of a launch. `team_scratch` is the address of the scratch of level 1, or 0.
    ///
    /// # Errors
    /// When an extent does not fit 32 bits, or the arguments are not those of the kernel.
    pub fn pack(&self, arguments: &Arguments<'_>, team_scratch: u64) -> Result<PackedParameters, LaunchError> {
        let mut packed = PackedParameters { values: [RawValue::default(); MAX_PARAMETERS], len: self.parameters.len() };
        let Some(slots) = packed.values.get_mut(..self.parameters.len()) else {
            let message = format!(
                "it has {} parameters with all extents and strides; at most {MAX_PARAMETERS} are possible: use fewer views",
                self.parameters.len()
            );
            return Err(self.refusal(message));
        };
        let list = arguments.as_slice();
        for (slot, parameter) in slots.iter_mut().zip(&self.parameters) {
            *slot = match *parameter {
                PrintedParameter::View { argument } => match list.get(argument) {
                    Some(Argument::View { pointer, .. }) => RawValue { bits: pointer.addr() as u64, bytes: 8 },
                    _ => return Err(self.mismatch()),
                },
                PrintedParameter::TeamScratch => RawValue { bits: team_scratch, bytes: 8 },
                PrintedParameter::Scalar { source, kind } => self.scalar(list, source, kind)?,
            };
        }
        Ok(packed)
    }

    fn scalar(&self, list: &[Argument<'_>], source: Source, kind: Type) -> Result<RawValue, LaunchError> {
        let (Source::Scalar(number) | Source::Extent(number, _) | Source::Stride(number, _)) = source;
        let integer = match (list.get(number), source) {
            (Some(Argument::Real(value)), Source::Scalar(_)) => {
                return Ok(match kind {
                    Type::F32 => RawValue { bits: u64::from((*value as f32).to_bits()), bytes: 4 },
                    _ => RawValue { bits: value.to_bits(), bytes: 8 },
                });
            }
            (Some(Argument::Int(value)), Source::Scalar(_)) => *value,
            (Some(Argument::View { extents, .. }), Source::Extent(_, d)) => extents[d] as i64,
            (Some(Argument::View { strides, .. }), Source::Stride(_, d)) => strides[d] as i64,
            _ => return Err(self.mismatch()),
        };
        if kind != Type::I32 {
            return Ok(RawValue { bits: integer as u64, bytes: 8 });
        }
        match i32::try_from(integer) {
            Ok(small) => Ok(RawValue { bits: u64::from(small as u32), bytes: 4 }),
            Err(_) => {
                let label = match list.get(number) {
                    Some(Argument::View { label, .. }) => *label,
                    _ => "",
                };
                Err(self.refusal(format!(
                    "view `{label}` has an extent of {integer}, but extents inside a kernel have 32 bits; split the view"
                )))
            }
        }
    }

    #[cold]
    fn mismatch(&self) -> LaunchError {
        self.refusal("the arguments are not those that the kernel was traced with".into())
    }
    #[cold]
    fn refusal(&self, message: String) -> LaunchError {
        LaunchError::Arguments { kernel: self.kernel.clone(), message }
    }
}
