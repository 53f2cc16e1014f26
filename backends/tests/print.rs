//! The printer: what its texts look like, that they are the same each time, and that compilers take them.

mod printed_kernels;
use farro_backends::launch::Arguments;
use farro_backends::print::{Dialect, Passes, PrintedParameter, RawValue, print, print_with};
use farro_backends::trace::ir::{Source, Type};
use farro_backends::trace::{Program, trace};
use farro_portability::OverRange;
use farro_portability::prelude::*;
use printed_kernels::{Axpy, AxpyArgs, Everything, EverythingViews, March, MarchArgs};
use std::io::Write;
use std::process::{Command, Stdio};

fn axpy<P: RealElement>() -> Program {
    let x = View::<f64, 1>::new(&HostMemory, "x", [100]).unwrap();
    let mut y = View::<f64, 1>::new(&HostMemory, "y", [100]).unwrap();
    let kernel = OverRange { body: Axpy, chunk: 1024, wide: false };
    let args = (AxpyArgs { a: 2.0, x: x.read(), y: y.write() }, [100]);
    trace::<_, P, HostMemory>(&kernel, &TeamPolicy::new(1, 256, 1).unwrap(), &args).unwrap()
}

fn march(bounds: Option<Bounds>) -> Program {
    let u = View::<f64, 2>::new(&HostMemory, "u", [6, 64]).unwrap();
    let mut out = View::<f64, 2>::new(&HostMemory, "out", [6, 64]).unwrap();
    let mut policy = TeamPolicy::new(1, 2, 32).unwrap();
    if let Some(bounds) = bounds {
        policy = policy.with_bounds(bounds).unwrap();
    }
    trace::<_, f64, HostMemory>(&March, &policy, &MarchArgs { u: u.read(), out: out.write() }).unwrap()
}

fn everything<P: RealElement>(threads: usize, lanes: usize) -> Program {
    let mut views = EverythingViews::new(&HostMemory).unwrap();
    let policy = TeamPolicy::new(3, threads, lanes).unwrap();
    trace::<_, P, HostMemory>(&Everything, &policy, &views.args()).unwrap()
}

fn text(program: &Program, dialect: Dialect) -> String {
    print(program, dialect).text
}

#[test]
fn a_range_reads_like_the_kernel() {
    assert_eq!(text(&axpy::<f64>(), Dialect::Cuda), include_str!("printed_kernels/axpy.cu"));
}

#[test]
fn a_march_reads_like_the_kernel() {
    let bounds = Bounds { max_threads: 128, min_blocks: 5 };
    assert_eq!(text(&march(None), Dialect::Cuda), include_str!("printed_kernels/march.cu"));
    assert_eq!(text(&march(Some(bounds)), Dialect::Hip), include_str!("printed_kernels/march.hip"));
    assert_eq!(text(&march(None), Dialect::OpenCl), include_str!("printed_kernels/march.cl"));
}

#[test]
fn two_traces_give_the_same_text() {
    for dialect in Dialect::ALL {
        assert_eq!(print(&everything::<f64>(4, 8), dialect), print(&everything::<f64>(4, 8), dialect));
        assert_eq!(print(&march(None), dialect), print(&march(None), dialect));
    }
}

#[test]
fn parameters_are_pointers_then_scalars_without_the_unused() {
    let printed = print(&axpy::<f64>(), Dialect::Cuda);
    let view = |argument| PrintedParameter::View { argument };
    let scalar = |number, kind| PrintedParameter::Scalar { source: Source::Scalar(number), kind };
    // Neither the extents of `x` and `y` nor their constant strides are used.
    assert_eq!(printed.parameters, [view(1), view(2), scalar(0, Type::F64), scalar(3, Type::I64)]);
    assert_eq!((printed.work_items, printed.scratch_bytes), (256, [0, 0]));
    let printed = print(&everything::<f64>(4, 8), Dialect::Cuda);
    let pointers = printed.parameters.iter().take_while(|p| !matches!(p, PrintedParameter::Scalar { .. })).count();
    let is_scalar = |p: &PrintedParameter| matches!(p, PrintedParameter::Scalar { .. });
    assert!(printed.parameters[pointers..].iter().all(is_scalar));
    assert_eq!(printed.parameters[pointers - 1], PrintedParameter::TeamScratch);
}

#[test]
fn arguments_are_packed_by_the_signature() {
    let x = View::<f64, 1>::new(&HostMemory, "x", [100]).unwrap();
    let mut y = View::<f64, 1>::new(&HostMemory, "y", [100]).unwrap();
    let addresses = [x.read().pointer().addr() as u64, y.write().pointer().addr() as u64];
    let args = (AxpyArgs { a: 2.5, x: x.read(), y: y.write() }, [-7]);
    let arguments = Arguments::collect::<OverRange<Axpy>, HostMemory>(&args).unwrap();
    let value = |bits, bytes| RawValue { bits, bytes };
    let packed = print(&axpy::<f64>(), Dialect::Cuda).pack(&arguments, 0).unwrap();
    let expected = [addresses[0], addresses[1], 2.5f64.to_bits(), -7i64 as u64].map(|bits| value(bits, 8));
    assert_eq!(packed.as_slice(), expected);
    let packed = print(&axpy::<f32>(), Dialect::Cuda).pack(&arguments, 0).unwrap();
    assert_eq!(packed.as_slice()[2], value(u64::from(2.5f32.to_bits()), 4));
    // Arguments of another kernel are refused.
    let refused = print(&march(None), Dialect::Cuda).pack(&arguments, 0).unwrap_err();
    assert!(matches!(&refused, LaunchError::Arguments { kernel, .. } if kernel == "march"), "{refused}");
}

#[test]
fn constants_read_back_exactly() {
    let cuda = text(&everything::<f64>(4, 8), Dialect::Cuda);
    for literal in ["1e-300", "0.1", "-7.0", "5000000000ll", "(-9223372036854775807ll - 1)", "0x7ff0000000000000ll"] {
        assert!(cuda.contains(literal), "{literal}\n{cuda}");
    }
    let single = text(&everything::<f32>(4, 8), Dialect::Cuda);
    for literal in ["0.1f", "-7.0f", "fmaf(", "sqrtf(", "__int_as_float(0x7f800000)"] {
        assert!(single.contains(literal), "{literal}\n{single}");
    }
}

#[test]
fn unused_results_and_dead_values_are_not_printed() {
    let cuda = text(&everything::<f64>(4, 8), Dialect::Cuda);
    assert!(cuda.lines().any(|line| line.trim_start().starts_with("atomicAdd(&sum_d[")), "{cuda}");
    for line in cuda.lines().filter(|line| line.trim_start().starts_with("const ")) {
        let name = line.split(" = ").next().and_then(|left| left.split(' ').next_back()).unwrap();
        let uses = cuda.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| *word == name).count();
        assert!(uses > 1 || line.ends_with(',') || line.ends_with(')'), "`{name}` is used nowhere:\n{cuda}");
    }
}

#[test]
fn names_of_the_languages_are_avoided() {
    let cuda = text(&everything::<f64>(4, 8), Dialect::Cuda);
    assert!(cuda.contains("const long_2 = (long long*)(scratch_0"), "{cuda}");
}

#[test]
fn folders_do_not_appear() {
    for dialect in Dialect::ALL {
        let text = text(&everything::<f64>(4, 8), dialect);
        let comments = text.lines().filter_map(|line| line.split_once("// ")).map(|(_, comment)| comment);
        for comment in comments.filter(|comment| comment.contains(".rs:")) {
            assert!(!comment.contains('/') && !comment.contains('\\'), "{comment}");
        }
    }
}

#[test]
fn passes_change_the_text_but_can_be_left_out() {
    let program = march(None);
    let wide = Passes { narrow_scratch_offsets: false, ..Passes::default() };
    assert!(print_with(&program, Dialect::Cuda, wide).text.contains("(long long)"));
    let hoisted = Passes { hoist_integers: true, ..Passes::default() };
    let text = print_with(&program, Dialect::Cuda, hoisted).text;
    let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}\n{text}"));
    assert!(place("= k0 * 32 + k1;") < place("for (int i0"), "{text}");
}

/// Runs a compiler over a text; says so when there is none.
fn compiles(test: &str, name: &str, text: &str, arguments: &[&str]) {
    let compiler = ["clang-19", "clang-20", "clang-21", "clang"].into_iter().find(|compiler| {
        Command::new(compiler)
            .args(["--print-targets"])
            .output()
            .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("amdgcn") && output.status.success())
    });
    let Some(compiler) = compiler else { return println!("skipped: {test}: no clang with an AMD target on PATH") };
    let mut child = Command::new(compiler)
        .args(arguments)
        .args(["-Wall", "-Werror", "-S", "-emit-llvm", "-o", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}:\n{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn hip_and_opencl_compile() {
    let hip = ["-x", "hip", "--offload-arch=gfx90a", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O1"];
    let opencl = ["-x", "cl", "-cl-std=CL2.0", "--target=spir64", "-Xclang", "-finclude-default-header"];
    let programs = [
        ("axpy", axpy::<f64>()),
        ("march", march(Some(Bounds { max_threads: 256, min_blocks: 2 }))),
        ("everything", everything::<f64>(8, 8)),
        ("everything, one lane", everything::<f64>(5, 1)),
        ("everything, 32 bits", everything::<f32>(1, 32)),
    ];
    for (name, program) in &programs {
        compiles("hip_and_opencl_compile", name, &text(program, Dialect::Hip), &hip);
        compiles("hip_and_opencl_compile", name, &text(program, Dialect::OpenCl), &opencl);
    }
}
