//! Memory objects of a launch: views, which are copied if the kernel may write them, and team scratch.

use crate::launch::Argument;
use crate::trace::ir::{Memory, Parameter, Place, Program, Source, Type};
use farro_portability::{AccessKind, AtomicOp, ElementKind, LaunchError};

/// Where a memory object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Global,
    /// Scratch of that level.
    Scratch(usize),
}

/// The bytes of an object.
enum Bytes<'a> {
    /// A view that is only read.
    Borrowed(&'a [u8]),
    /// A copy of a view that is written, or scratch.
    Owned(Vec<u8>),
}

/// A memory object.
pub(crate) struct Object<'a> {
    pub name: String,
    pub room: Room,
    pub kind: ElementKind,
    /// Elements.
    pub len: usize,
    pub extents: Vec<i64>,
    /// Bytes before the first element, from a place that is aligned to 128 bytes.
    pub first_byte: usize,
    /// Whether the kernel may change it.
    pub written: bool,
    bytes: Bytes<'a>,
    /// Where a copy goes back to.
    original: Option<*mut u8>,
}

fn mismatch(program: &Program, what: &str, name: &str) -> LaunchError {
    let message = format!("the program's {what} `{name}` does not match the arguments of the launch");
    LaunchError::Arguments { kernel: program.name.clone(), message }
}

impl<'a> Object<'a> {
    fn view(program: &Program, memory: &Memory, argument: &Argument<'a>) -> Result<Self, LaunchError> {
        let refuse = || mismatch(program, "view", &memory.name);
        let Argument::View { pointer, kind, rank, extents, span, access, .. } = *argument else { return Err(refuse()) };
        let Place::View { extents: expected, access: promised, .. } = &memory.place else { return Err(refuse()) };
        if kind != memory.kind || rank != expected.len() || access != *promised {
            return Err(refuse());
        }
        // SAFETY: the handle behind the argument borrows `span` elements for the launch, exclusively if it may write;
        // any bits are bytes, and an empty view has a dangling but aligned pointer.
        let bytes = unsafe { std::slice::from_raw_parts(pointer.cast_const(), span * kind.bytes()) };
        let written = access != AccessKind::ReadOnly;
        Ok(Object {
            name: memory.name.clone(),
            room: Room::Global,
            kind,
            len: span,
            extents: extents[..rank].iter().map(|&extent| extent as i64).collect(),
            first_byte: 0,
            written,
            bytes: if written { Bytes::Owned(bytes.to_vec()) } else { Bytes::Borrowed(bytes) },
            original: written.then_some(pointer),
        })
    }
    /// The memory objects of a launch.
    pub fn bind(program: &Program, arguments: &[Argument<'a>]) -> Result<Vec<Self>, LaunchError> {
        let bind = |memory: &Memory| match &memory.place {
            Place::View { argument, .. } => {
                let argument = arguments.get(*argument).ok_or_else(|| mismatch(program, "view", &memory.name))?;
                Object::view(program, memory, argument)
            }
            Place::Scratch { level, first_byte, len, extents } => Ok(Object {
                name: memory.name.clone(),
                room: Room::Scratch(*level),
                kind: memory.kind,
                len: *len,
                extents: extents.iter().map(|&extent| extent as i64).collect(),
                first_byte: *first_byte,
                written: true,
                bytes: Bytes::Owned(vec![0; len * memory.kind.bytes()]),
                original: None,
            }),
        };
        program.memories.iter().map(bind).collect()
    }
    /// Gives a written view its new contents.
    pub fn commit(&self) {
        if let (Some(original), Bytes::Owned(bytes)) = (self.original, &self.bytes) {
            // SAFETY: the launch holds an exclusive borrow of these bytes, and the copy has the same length.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), original, bytes.len()) };
        }
    }
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Borrowed(bytes) => bytes,
            Bytes::Owned(bytes) => bytes,
        }
    }
    fn read<const N: usize>(&self, element: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.bytes()[element * N..][..N]);
        bytes
    }
    fn write<const N: usize>(&mut self, element: usize, value: [u8; N]) {
        if let Bytes::Owned(bytes) = &mut self.bytes {
            bytes[element * N..][..N].copy_from_slice(&value);
        }
    }
    /// The value of an element.
    #[inline(always)]
    pub fn load(&self, element: usize) -> u64 {
        match self.kind {
            ElementKind::F64 | ElementKind::I64 => u64::from_ne_bytes(self.read(element)),
            ElementKind::F32 => f64::from(f32::from_ne_bytes(self.read(element))).to_bits(),
            ElementKind::I32 => i64::from(i32::from_ne_bytes(self.read(element))) as u64,
        }
    }
    /// Sets an element.
    #[inline(always)]
    pub fn store(&mut self, element: usize, value: u64) {
        match self.kind {
            ElementKind::F64 | ElementKind::I64 => self.write(element, value.to_ne_bytes()),
            ElementKind::F32 => self.write(element, (f64::from_bits(value) as f32).to_ne_bytes()),
            ElementKind::I32 => self.write(element, (value as i32).to_ne_bytes()),
        }
    }
    /// A value as an element holds it.
    fn rounded(&self, value: u64) -> u64 {
        match self.kind {
            ElementKind::F64 | ElementKind::I64 => value,
            ElementKind::F32 => f64::from(f64::from_bits(value) as f32).to_bits(),
            ElementKind::I32 => i64::from(value as i32) as u64,
        }
    }
    fn is_real(&self) -> bool {
        matches!(self.kind, ElementKind::F64 | ElementKind::F32)
    }
    /// Updates an element; its old value.
    pub fn update(&mut self, op: AtomicOp, element: usize, value: u64) -> u64 {
        let (old, value) = (self.load(element), self.rounded(value));
        let less = |a: u64, b: u64| {
            if self.is_real() { f64::from_bits(a) < f64::from_bits(b) } else { (a as i64) < (b as i64) }
        };
        let new = match op {
            AtomicOp::Add if self.is_real() => (f64::from_bits(old) + f64::from_bits(value)).to_bits(),
            AtomicOp::Add => (old as i64).wrapping_add(value as i64) as u64,
            AtomicOp::Min => {
                if less(value, old) {
                    value
                } else {
                    old
                }
            }
            AtomicOp::Max => {
                if less(old, value) {
                    value
                } else {
                    old
                }
            }
            AtomicOp::Exchange => value,
        };
        self.store(element, new);
        old
    }
    /// Replaces an element if it equals `expected`; its old value.
    pub fn compare_exchange(&mut self, element: usize, expected: u64, value: u64) -> u64 {
        let (old, expected) = (self.load(element), self.rounded(expected));
        let equal = if self.is_real() { f64::from_bits(old) == f64::from_bits(expected) } else { old == expected };
        if equal {
            self.store(element, value);
        }
        old
    }
}

/// The bits of a scalar parameter.
pub(super) fn parameter(
    program: &Program,
    parameter: &Parameter,
    arguments: &[Argument<'_>],
) -> Result<u64, LaunchError> {
    let refuse = || mismatch(program, "parameter", &parameter.name);
    let int = |value: i64| -> Result<u64, LaunchError> {
        if parameter.kind == Type::I32 && i32::try_from(value).is_err() {
            let message = format!("`{}` is {value}, which exceeds the 32 bits of index arithmetic", parameter.name);
            return Err(LaunchError::Arguments { kernel: program.name.clone(), message });
        }
        Ok(value as u64)
    };
    let dimension = |argument: usize, d: usize, strides_asked: bool| match arguments.get(argument) {
        Some(Argument::View { extents, strides, .. }) => {
            let values = if strides_asked { strides } else { extents };
            int(*values.get(d).ok_or_else(refuse)? as i64)
        }
        _ => Err(refuse()),
    };
    match parameter.source {
        Source::Scalar(argument) => match (arguments.get(argument), parameter.kind) {
            (Some(Argument::Real(value)), Type::F32) => Ok(f64::from(*value as f32).to_bits()),
            (Some(Argument::Real(value)), Type::F64) => Ok(value.to_bits()),
            (Some(Argument::Int(value)), Type::I32 | Type::I64) => int(*value),
            _ => Err(refuse()),
        },
        Source::Extent(argument, d) => dimension(argument, d, false),
        Source::Stride(argument, d) => dimension(argument, d, true),
    }
}
