//! Identifiers of the printed text.

use std::collections::HashSet;

/// Words that a parameter or variable must not be called: keywords of the languages and what the text itself uses.
const RESERVED: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "half",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
    "kernel",
    "global",
    "local",
    "constant",
    "read_only",
    "write_only",
    "read_write",
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "size_t",
    "event_t",
    "restrict",
    "barrier",
    "uniform",
    "pipe",
    "fma",
    "fmaf",
    "sqrt",
    "sqrtf",
    "fabs",
    "fabsf",
    "atomicAdd",
    "atomicMin",
    "atomicMax",
    "atomicExch",
    "atomicCAS",
    "atomic_add",
    "atomic_xchg",
    "atomic_cmpxchg",
    "atom_add",
    "atom_xchg",
    "atom_cmpxchg",
    "as_double",
    "as_float",
    "as_long",
    "as_int",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "NULL",
    "INFINITY",
    "NAN",
    "linux",
    "unix",
    "league_rank",
    "league_size",
    "item",
    "vector_mask",
    "scratch_0",
    "scratch_1",
    "exchange",
];

/// Functions and arrays of the text itself.
const OWN_PREFIXES: &[&str] =
    &["min_", "max_", "atomic_", "atom_", "shift_", "farro_", "FARRO_", "exchange_", "outer_"];

/// Whether a name is that of a private variable: `p` and a number.
fn is_private(name: &str) -> bool {
    name.strip_prefix('p').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Names given so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    used: HashSet<String>,
}

impl Names {
    /// `wish` as an identifier that no one else has.
    pub fn claim(&mut self, wish: &str) -> String {
        self.claim_exactly(identifier(wish))
    }
    /// The same for a name of the text itself, which is an identifier.
    pub fn claim_exactly(&mut self, base: String) -> String {
        let mut name = base.clone();
        let mut number = 2;
        while RESERVED.contains(&name.as_str()) || self.used.contains(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.used.insert(name.clone());
        name
    }
}

/// The text with everything replaced that an identifier cannot have.
pub(super) fn identifier(text: &str) -> String {
    let mut name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    // Names that begin with an underscore, or have two in a row, belong to the compiler; so do helpers' prefixes.
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let name = name.trim_matches('_');
    match name.chars().next() {
        None => "unnamed".into(),
        Some(first) if first.is_ascii_digit() => format!("n{name}"),
        Some(_) if OWN_PREFIXES.iter().any(|own| name.starts_with(own)) || is_private(name) => format!("v_{name}"),
        Some(_) => name.into(),
    }
}
