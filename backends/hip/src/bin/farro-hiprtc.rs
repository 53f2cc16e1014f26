//! Compiles one HIP text with hiprtc, in a process of its own; see `farro_hip::run_hiprtc`.

fn main() {
    std::process::exit(farro_hip::run_hiprtc());
}
