//! A stack for compilers. Those of CPU devices run in the calling thread and recurse over a kernel's text; the two
//! megabytes of a thread pool or of a test do not hold that, and an overflow would end the process.

use std::thread::{Builder, scope};

const BYTES: usize = 512 << 20;

/// The result of `work`, done on a thread of its own with a large stack; in place where no thread can be had.
pub(crate) fn with_large_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let mut work = Some(work);
    let started = scope(|scope| {
        let work = &mut work;
        let thread = Builder::new().name("farro-compiler".into()).stack_size(BYTES);
        let thread = thread.spawn_scoped(scope, move || work.take().map(|work| work())).ok()?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    match (started, work) {
        (Some(result), _) => result,
        (None, Some(work)) => work(),
        (None, None) => unreachable!("the work is taken by the thread that returns its result"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_large_stack;

    fn depth(levels: usize) -> usize {
        let frame = std::hint::black_box([levels; 128]);
        if levels == 0 { 0 } else { 1 + depth(frame[0] - 1) }
    }

    #[test]
    fn deep_recursion_fits() {
        // At least 100 MB of frames: a test's own thread has 2 MB.
        assert_eq!(with_large_stack(|| depth(100_000)), 100_000);
    }
}
