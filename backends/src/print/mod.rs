//! Prints a traced program as device code that people can read: CUDA C++, HIP C++ or OpenCL C.
//!
//! One printer serves all dialects; a dialect is a table of words and a few helper functions. Names, loops and branches
//! are those of the kernel, comments tell the source lines. The same kernel always gives the same text.
//!
//! ```
//! use farro_backends::print::{Dialect, print};
//! use farro_backends::trace::trace;
//! use farro_portability::prelude::*;
//!
//! kernel_args! { struct Args { y: View<f64, 1, LayoutRight, ReadWrite> } }
//! #[derive(Hash)]
//! struct Ones;
//! impl Kernel for Ones {
//!     type Args = Args<Declared>;
//!     const NAME: &'static str = "ones";
//!     fn run<T: Target>(&self, team: T, args: &Args<T>) {
//!         team.for_each(args.y.extent(0), |i| args.y.set([i], team.real(1.0)));
//!     }
//! }
//! let mut y = View::<f64, 1>::new(&HostMemory, "y", [100])?;
//! let args = Args { y: y.write() };
//! let program = trace::<_, f64, HostMemory>(&Ones, &TeamPolicy::new(1, 64, 1)?, &args)?;
//! let printed = print(&program, Dialect::Cuda);
//! assert_eq!(printed.entry, "farro_ones");
//! assert!(printed.text.contains("y[i0] = 1.0;") || printed.text.contains("y[(long long)i0] = 1.0;"));
//! # Ok::<(), LaunchError>(())
//! ```

mod arguments;
mod expression;
mod helpers;
mod literal;
mod names;
mod plan;
mod statement;
mod uniform;
mod words;

pub use crate::trace::optimize::Passes;
pub use arguments::{MAX_PARAMETERS, PackedParameters, RawValue};

use crate::trace::ir::{Op, Place, Program, Source, Special, Statement, Type};
use crate::trace::optimize::optimize;
use farro_portability::AccessKind;
use statement::Printer;
use std::fmt::Write;
use words::Words;

/// A language of device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// CUDA C++, for NVRTC.
    Cuda,
    /// HIP C++, for hiprtc or clang; it needs no header.
    Hip,
    /// OpenCL C.
    OpenCl,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 3] = [Dialect::Cuda, Dialect::Hip, Dialect::OpenCl];
    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Cuda => "CUDA C++",
            Dialect::Hip => "HIP C++",
            Dialect::OpenCl => "OpenCL C",
        }
    }
}

/// How a program is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// What happens to the program before.
    pub passes: Passes,
    /// In OpenCL: the lanes of a thread are a sub-group, and exchange values as such. Otherwise they do so through local
    /// memory, which needs uniform flow.
    pub sub_groups: bool,
}

impl From<Passes> for Style {
    fn from(passes: Passes) -> Self {
        Style { passes, sub_groups: false }
    }
}

/// What a parameter of the printed function is. Pointers come first, scalars after them, each in the order of the
/// kernel's arguments; what the kernel does not use has no parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintedParameter {
    /// The address of a view's first element: the argument of that number.
    View {
        /// Number of the argument.
        argument: usize,
    },
    /// The address of the teams' scratch of level 1, that of team `r` beginning at `r` times its bytes.
    TeamScratch,
    /// A number.
    Scalar {
        /// Where it comes from.
        source: Source,
        /// Its type.
        kind: Type,
    },
}

/// A program as text, and what a launch needs to know about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    /// The kernel's name.
    pub kernel: String,
    /// The language.
    pub dialect: Dialect,
    /// The text.
    pub text: String,
    /// The name of the function in the text.
    pub entry: String,
    /// Bytes of scratch, levels 0 and 1. Level 0 is dynamic shared memory in CUDA and HIP, and part of the text in
    /// OpenCL.
    pub scratch_bytes: [usize; 2],
    /// Work items of a team.
    pub work_items: usize,
    /// The parameters of the function, in order.
    pub parameters: Vec<PrintedParameter>,
    /// Lanes exchange values in divergent flow, and the text has no way for it but sub-groups, which were not asked for.
    pub lacks_sub_groups: bool,
}

impl Printed {
    /// Whether an atomic operation is a loop that compares and exchanges, because the dialect has no instruction for it.
    pub fn has_comparison_loop(&self) -> bool {
        // The loops of `helpers`; their words stand nowhere else.
        ["if (now == seen) break;", "if (FARRO_ATOMIC_REPLACE(bits"].iter().any(|word| self.text.contains(word))
    }
}

/// Prints a program.
pub fn print(program: &Program, dialect: Dialect) -> Printed {
    print_with(program, dialect, Passes::default())
}

/// Prints a program in a style, or after the passes asked for.
pub fn print_with(program: &Program, dialect: Dialect, style: impl Into<Style>) -> Printed {
    let Style { passes, sub_groups } = style.into();
    let program = &optimize(program, passes);
    let words = Words::of(dialect);
    let mut printer = Printer::new(program, words);
    printer.sub_groups = sub_groups && dialect == Dialect::OpenCl && program.vector_length > 1;
    let used = Used::of(program);
    let entry = format!("farro_{}", names::identifier(&program.name));
    let (parameters, signature) = parameters(&mut printer, &used);
    let scratch = scratch(&mut printer, &used);
    let mut body = String::new();
    printer.declare_private(&used.slots, &mut body);
    printer.declare_escaping(&mut body);
    printer.block(&program.body, &mut body);
    // Last, because the body tells what it needs.
    let opening = opening(&printer, &used) + &scratch;
    let mut text = header(program, dialect, printer.sub_groups);
    text.push_str(words.prelude);
    for helper in printer.helpers() {
        text.push_str(helper);
    }
    let head = words.kernel_head(program, printer.sub_groups);
    let _ = write!(text, "\n{head}\n{entry}({signature})\n{{\n{opening}{body}}}\n");
    Printed {
        kernel: program.name.clone(),
        dialect,
        text,
        entry,
        scratch_bytes: program.scratch_bytes,
        work_items: program.work_items(),
        parameters,
        lacks_sub_groups: printer.lacks_sub_groups,
    }
}

fn header(program: &Program, dialect: Dialect, sub_groups: bool) -> String {
    let real = if program.real == Type::F32 { 32 } else { 64 };
    let lanes = if program.vector_length == 1 { "1 lane".into() } else { format!("{} lanes", program.vector_length) };
    let mut text = format!(
        "// Kernel `{}`, {}, {real}-bit arithmetic. Team: {} threads of {lanes}.\n",
        program.name,
        dialect.name(),
        program.team_size,
    );
    for (level, bytes) in program.scratch_bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        let _ = writeln!(text, "// Scratch of level {level}: {bytes} bytes a team.");
    }
    if dialect == Dialect::OpenCl {
        text.push_str("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
        text.push_str("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
        if sub_groups {
            text.push_str("#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable\n");
        }
    }
    text
}

/// What the text refers to.
struct Used {
    parameters: Vec<bool>,
    memories: Vec<bool>,
    specials: [bool; 3],
    slots: Vec<bool>,
    shifted: Vec<Type>,
}

impl Used {
    fn of(program: &Program) -> Self {
        let mut used = Used {
            parameters: vec![false; program.parameters.len()],
            memories: vec![false; program.memories.len()],
            specials: [false; 3],
            slots: vec![false; program.private_slots],
            shifted: Vec::new(),
        };
        program.body.visit(&mut |statement| used.statement(program, statement));
        used
    }
    fn statement(&mut self, program: &Program, statement: &Statement) {
        match statement {
            Statement::Let { value, .. } => match program.ops[*value as usize] {
                Op::Load(memory, _) | Op::Atomic(_, memory, ..) | Op::CompareExchange(memory, ..) => {
                    self.memories[memory] = true;
                }
                Op::PrivateGet(slot) => self.slots[slot] = true,
                Op::Shift(value, _) => {
                    let kind = program.types[value as usize];
                    if !self.shifted.contains(&kind) {
                        self.shifted.push(kind);
                    }
                }
                _ => {}
            },
            Statement::Store { memory, .. } => self.memories[*memory] = true,
            Statement::PrivateSet { slot, .. } => self.slots[*slot] = true,
            Statement::Loop { carried, .. } => carried.iter().for_each(|c| self.value(program, c.next)),
            _ => {}
        }
        crate::trace::optimize::for_each_use(program, statement, |value| self.value(program, value));
    }
    fn value(&mut self, program: &Program, value: u32) {
        match program.ops[value as usize] {
            Op::Parameter(number) => self.parameters[number] = true,
            Op::Special(special) => self.specials[special as usize] = true,
            _ => {}
        }
    }
}

/// The parameters, and their text.
fn parameters(printer: &mut Printer<'_>, used: &Used) -> (Vec<PrintedParameter>, String) {
    let (program, words) = (printer.program, printer.words);
    let (mut list, mut lines) = (Vec::new(), Vec::new());
    for (id, memory) in program.memories.iter().enumerate().filter(|(id, _)| used.memories[*id]) {
        let Place::View { argument, access, .. } = memory.place else { continue };
        let name = printer.name_memory(id, &memory.name);
        let read_only = if access == AccessKind::ReadOnly { "const " } else { "" };
        let (global, element, restrict) = (words.global, words.element(memory.kind), words.restrict);
        lines.push(format!("{global}{read_only}{element}*{restrict} {name}"));
        list.push(PrintedParameter::View { argument });
    }
    if printer.uses_scratch(&used.memories, 1) {
        let byte = if words.dialect == Dialect::OpenCl { "uchar" } else { "unsigned char" };
        lines.push(format!("{}{byte}*{} scratch_1", words.global, words.restrict));
        list.push(PrintedParameter::TeamScratch);
    }
    for (number, parameter) in program.parameters.iter().enumerate().filter(|(number, _)| used.parameters[*number]) {
        let name = printer.name_parameter(number, &parameter.name);
        lines.push(format!("const {} {name}", printer.type_name(parameter.kind)));
        list.push(PrintedParameter::Scalar { source: parameter.source, kind: parameter.kind });
    }
    let text = lines.iter().map(|line| format!("\n    {line}")).collect::<Vec<_>>().join(",");
    (list, text)
}

/// The beginning of the function: numbers of the launch, and arrays through which lanes exchange values.
fn opening(printer: &Printer<'_>, used: &Used) -> String {
    let (program, words, mut out) = (printer.program, printer.words, String::new());
    let level_1 = printer.uses_scratch(&used.memories, 1);
    let exchanges = !used.shifted.is_empty() && words.dialect == Dialect::OpenCl && !printer.sub_groups;
    let specials = [
        (used.specials[Special::LeagueRank as usize] || level_1, "league_rank", words.league_rank),
        (used.specials[Special::LeagueSize as usize], "league_size", words.league_size),
        (used.specials[Special::WorkItem as usize] || exchanges || printer.mask_used, "item", words.item),
    ];
    for (_, name, word) in specials.iter().filter(|(is_used, ..)| *is_used) {
        let _ = writeln!(out, "    const int {name} = {word};");
    }
    if printer.mask_used {
        let lanes = (1u64 << program.vector_length.min(32)) - 1;
        let first = program.vector_length - 1;
        let _ = writeln!(out, "    const unsigned vector_mask = {lanes:#x}u << (item & 31 & ~{first});");
    }
    if exchanges {
        for kind in &used.shifted {
            let (name, items) = (printer.exchange_name(*kind), program.work_items());
            let _ = writeln!(out, "    __local {} {name}[{items}];", printer.type_name(*kind));
        }
    }
    out
}

/// Team scratch: one block, and a pointer for each array.
fn scratch(printer: &mut Printer<'_>, used: &Used) -> String {
    let (program, words, mut out) = (printer.program, printer.words, String::new());
    if printer.uses_scratch(&used.memories, 0) {
        let bytes = program.scratch_bytes[0];
        let _ = match words.dialect {
            Dialect::Cuda => writeln!(out, "    extern __shared__ __align__(16) unsigned char scratch_0[];"),
            Dialect::Hip => writeln!(out, "    FARRO_SHARED unsigned char scratch_0[];"),
            Dialect::OpenCl => writeln!(out, "    __local uchar scratch_0[{bytes}] __attribute__((aligned(16)));"),
        };
    }
    for (id, memory) in program.memories.iter().enumerate().filter(|(id, _)| used.memories[*id]) {
        let Place::Scratch { level, first_byte, ref extents, .. } = memory.place else { continue };
        let name = printer.name_memory(id, &memory.name);
        let space = if level == 0 { words.local } else { words.global };
        let pointer = format!("{space}{}*", words.element(memory.kind));
        let start = match level {
            0 => format!("scratch_0 + {first_byte}"),
            _ => format!("scratch_1 + ({})league_rank * {} + {first_byte}", words.i64_name, program.scratch_bytes[1]),
        };
        let shape: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
        let _ = writeln!(out, "    {pointer} const {name} = ({pointer})({start});  // {name}{shape}");
    }
    out
}
