//! Kernels compiled on all processors before the device waits for them.

use super::{Context, Outcome};
use farro::kernels::{Choice, record_on};
use farro_backends::print::{Dialect, print};
use farro_cuda::Options;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compiles what applies with these choices launch on a shell of some level, into the cache of the spaces.
pub fn run(context: &Context, choices: &[Choice], level: u32) -> Outcome {
    let begin = Instant::now();
    let (next, seen, failures) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()), Mutex::new(Vec::new()));
    let arch = context.double.device().arch();
    let one = |choice: &Choice| -> Result<(), String> {
        for launch in record_on(choice, level, 1).map_err(|error| error.to_string())? {
            let printed = print(&launch.prepared.program, Dialect::Cuda);
            if !locked(&seen).insert(printed.text.clone()) {
                continue;
            }
            // Each precision has a space with a cache of its own.
            for compiler in [context.double.compiler(), context.single.compiler()] {
                let compiled = compiler.compile(&printed.entry, &printed.text, &arch, &Options::default());
                compiled.map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    };
    let work = || {
        while let Some(choice) = choices.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(failure) = one(choice) {
                locked(&failures).push(failure);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    println!("   {} kernels compiled in {:.1} s", locked(&seen).len(), begin.elapsed().as_secs_f64());
    for failure in locked(&failures).iter() {
        // Whoever launches it will report it again.
        println!("   {failure}");
    }
    Ok(())
}
