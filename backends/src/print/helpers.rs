//! Small functions that a text brings along because its dialect has no word for them. Only those that are used.

use super::Dialect;
use super::words::Words;
use farro_portability::{AtomicOp, ElementKind};

/// A function of the text.
#[derive(Debug)]
pub(super) struct Helper {
    pub name: String,
    pub text: String,
}

/// How an element kind appears in the name of a function.
fn suffix(kind: ElementKind) -> &'static str {
    match kind {
        ElementKind::F64 => "f64",
        ElementKind::F32 => "f32",
        ElementKind::I32 => "i32",
        ElementKind::I64 => "i64",
    }
}

/// The smaller or larger of two numbers, the second one when they are equal or not comparable.
pub(super) fn extremum(words: &Words, kind: ElementKind, larger: bool) -> Helper {
    let (name, sign) = if larger { ("max", '>') } else { ("min", '<') };
    let (name, t) = (format!("{name}_{}", suffix(kind)), words.element(kind));
    let text = format!("{} {t} {name}({t} a, {t} b) {{ return a {sign} b ? a : b; }}\n", words.function);
    Helper { name, text }
}

/// An update of memory. `compare` asks for the form that replaces an element if it equals the second argument.
pub(super) fn atomic(words: &Words, op: Option<AtomicOp>, kind: ElementKind, local: bool) -> Helper {
    let word = match op {
        Some(AtomicOp::Add) => "add",
        Some(AtomicOp::Min) => "min",
        Some(AtomicOp::Max) => "max",
        Some(AtomicOp::Exchange) => "exchange",
        None => "replace",
    };
    let opencl = words.dialect == Dialect::OpenCl;
    let place = if !opencl {
        ""
    } else if local {
        "_local"
    } else {
        "_global"
    };
    let name = match (words.dialect, op, kind) {
        (Dialect::Cuda, Some(AtomicOp::Add), ElementKind::F64 | ElementKind::F32 | ElementKind::I32) => {
            return Helper { name: "atomicAdd".into(), text: String::new() };
        }
        _ => format!("atomic_{word}_{}{place}", suffix(kind)),
    };
    let space = if !opencl {
        ""
    } else if local {
        "__local "
    } else {
        "__global "
    };
    let t = words.element(kind);
    let parameters = if op.is_some() { format!("{t} v") } else { format!("{t} expected, {t} v") };
    let body = direct(words, op, kind, space).unwrap_or_else(|| by_comparison(words, op, kind, space));
    let body = match float_add(words, op, kind, space) {
        Some((feature, native)) => format!("#ifdef {feature}\n{native}#else\n{body}#endif\n"),
        None => body,
    };
    let text = format!("{} {t} {name}({space}{t}* p, {parameters}) {{\n{body}}}\n", words.function);
    Helper { name, text }
}

/// The body where the dialect has the operation, up to the type's bits.
fn direct(words: &Words, op: Option<AtomicOp>, kind: ElementKind, space: &str) -> Option<String> {
    use ElementKind::{F32, F64, I32, I64};
    let expression = match (words.dialect, op?, kind) {
        (Dialect::Cuda, AtomicOp::Add, I64) => {
            "(long long)atomicAdd((unsigned long long*)p, (unsigned long long)v)".into()
        }
        (Dialect::Cuda, AtomicOp::Min, I32 | I64) => "atomicMin(p, v)".into(),
        (Dialect::Cuda, AtomicOp::Max, I32 | I64) => "atomicMax(p, v)".into(),
        (Dialect::Cuda, AtomicOp::Exchange, I32 | F32) => "atomicExch(p, v)".into(),
        (Dialect::Cuda, AtomicOp::Exchange, I64) => {
            "(long long)atomicExch((unsigned long long*)p, (unsigned long long)v)".into()
        }
        (Dialect::Cuda, AtomicOp::Exchange, F64) => {
            "__longlong_as_double((long long)atomicExch((unsigned long long*)p, \
             (unsigned long long)__double_as_longlong(v)))"
                .into()
        }
        (Dialect::Hip, AtomicOp::Add, _) => "FARRO_ATOMIC_ADD(p, v)".into(),
        (Dialect::Hip, AtomicOp::Exchange, I32 | I64) => "FARRO_ATOMIC_EXCHANGE(p, v)".into(),
        (Dialect::OpenCl, AtomicOp::Add, I32) => format!("atomic_add((volatile {space}int*)p, v)"),
        (Dialect::OpenCl, AtomicOp::Add, I64) => format!("atom_add((volatile {space}long*)p, v)"),
        (Dialect::OpenCl, AtomicOp::Min, I32) => format!("atomic_min((volatile {space}int*)p, v)"),
        (Dialect::OpenCl, AtomicOp::Max, I32) => format!("atomic_max((volatile {space}int*)p, v)"),
        (Dialect::OpenCl, AtomicOp::Exchange, I32) => format!("atomic_xchg((volatile {space}int*)p, v)"),
        (Dialect::OpenCl, AtomicOp::Exchange, F32) => format!("atomic_xchg((volatile {space}float*)p, v)"),
        (Dialect::OpenCl, AtomicOp::Exchange, I64) => format!("atom_xchg((volatile {space}long*)p, v)"),
        _ => return None,
    };
    Some(format!("    return {expression};\n"))
}

/// OpenCL's floating-point addition, with the feature that says whether a device has it (`cl_ext_float_atomics`).
fn float_add(words: &Words, op: Option<AtomicOp>, kind: ElementKind, space: &str) -> Option<(String, String)> {
    let (bits, t) = match (words.dialect, op?, kind) {
        (Dialect::OpenCl, AtomicOp::Add, ElementKind::F64) => (64, "double"),
        (Dialect::OpenCl, AtomicOp::Add, ElementKind::F32) => (32, "float"),
        _ => return None,
    };
    let place = space.trim_matches(['_', ' ']);
    let scope = if place == "local" { "memory_scope_work_group" } else { "memory_scope_device" };
    let native = format!(
        "    return atomic_fetch_add_explicit((volatile {space}atomic_{t}*)p, v, memory_order_relaxed, {scope});\n"
    );
    Some((format!("__opencl_c_ext_fp{bits}_{place}_atomic_add"), native))
}

/// A loop that compares bits, so that a NaN cannot hold it up.
fn by_comparison(words: &Words, op: Option<AtomicOp>, kind: ElementKind, space: &str) -> String {
    let (bits, t, wide) = (bits_type(words, kind), words.element(kind), kind.bytes() == 8);
    let (from_bits, to_bits) = casts(words, kind);
    let stop = match op {
        Some(AtomicOp::Min) => "if (!(v < old)) break;",
        Some(AtomicOp::Max) => "if (!(old < v)) break;",
        None => "if (old != expected) break;",
        _ => "",
    };
    let next = if op == Some(AtomicOp::Add) { "old + v" } else { "v" };
    let new = to_bits(next);
    let old = from_bits("seen");
    let look = match (stop, next) {
        ("", "v") => String::new(),
        ("", _) => format!("        const {t} old = {old};\n"),
        _ => format!("        const {t} old = {old};\n        {stop}\n"),
    };
    let replace = match words.dialect {
        Dialect::Cuda => format!("atomicCAS(bits, seen, {new})"),
        Dialect::OpenCl if wide => format!("atom_cmpxchg(bits, seen, {new})"),
        Dialect::OpenCl => format!("atomic_cmpxchg(bits, seen, {new})"),
        Dialect::Hip => {
            return format!(
                "    {bits}* bits = ({bits}*)p;\n    {bits} seen = FARRO_ATOMIC_LOAD(bits);\n    for (;;) {{\n{look}        \
                 if (FARRO_ATOMIC_REPLACE(bits, &seen, {new})) break;\n    }}\n    \
                 return {old};\n"
            );
        }
    };
    let volatile = if words.dialect == Dialect::Cuda { "" } else { "volatile " };
    // OpenCL before 2.0 has no atomic load, and a plain one beside the updates of others is a race.
    let first = match words.dialect {
        Dialect::OpenCl if wide => "atom_cmpxchg(bits, 0, 0)".into(),
        Dialect::OpenCl => "atomic_cmpxchg(bits, 0, 0)".into(),
        _ => format!("*(volatile {space}{bits}*)p"),
    };
    format!(
        "    {volatile}{space}{bits}* bits = ({volatile}{space}{bits}*)p;\n    {bits} seen = {first};\n    \
         for (;;) {{\n{look}        const {bits} now = {replace};\n        \
         if (now == seen) break;\n        seen = now;\n    }}\n    return {old};\n"
    )
}

fn bits_type(words: &Words, kind: ElementKind) -> &'static str {
    match (kind.bytes(), words.dialect) {
        (8, Dialect::OpenCl) => "ulong",
        (8, _) => "unsigned long long",
        (_, Dialect::OpenCl) => "uint",
        _ => "unsigned int",
    }
}

type Cast = Box<dyn Fn(&str) -> String>;

/// From bits to the type and back.
fn casts(words: &Words, kind: ElementKind) -> (Cast, Cast) {
    let (t, bits) = (words.element(kind), bits_type(words, kind));
    let call = |function: String| -> Cast { Box::new(move |x| format!("{function}({x})")) };
    match (words.dialect, kind) {
        (_, ElementKind::I32 | ElementKind::I64) => {
            (Box::new(move |x| format!("({t}){x}")), Box::new(move |x| format!("({bits})({x})")))
        }
        (Dialect::Cuda, ElementKind::F64) => {
            (call("__longlong_as_double".into()), call("(unsigned long long)__double_as_longlong".into()))
        }
        (Dialect::Cuda, ElementKind::F32) => (call("__uint_as_float".into()), call("__float_as_uint".into())),
        (Dialect::Hip, _) => (
            Box::new(move |x| format!("__builtin_bit_cast({t}, {x})")),
            Box::new(move |x| format!("__builtin_bit_cast({bits}, {x})")),
        ),
        (Dialect::OpenCl, _) => (call(format!("as_{t}")), call(format!("as_{bits}"))),
    }
}

/// Lane exchange of HIP in terms of 32-bit words.
pub(super) fn shift_from(words: &Words) -> Helper {
    let text = format!(
        "template <class T> {} T shift_from(T value, int lane) {{\n    int words[sizeof(T) / 4];\n    \
         __builtin_memcpy(words, &value, sizeof(T));\n    \
         for (unsigned i = 0; i < sizeof(T) / 4; ++i) words[i] = FARRO_FROM_LANE(lane, words[i]);\n    \
         __builtin_memcpy(&value, words, sizeof(T));\n    return value;\n}}\n",
        words.function
    );
    Helper { name: "shift_from".into(), text }
}
