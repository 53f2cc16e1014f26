//! What the test files share: a compiler or a visible reason why there is none, and folders of their own.

use farro_cuda::cache::{Cache, Location};
use farro_cuda::{Compiler, CudaError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

#[allow(dead_code)]
pub const AXPY: &str = r#"
extern "C" __global__ void axpy(double a, const double* x, double* y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"#;

/// A compiler with this cache, or `None` after saying why the test is skipped.
#[allow(dead_code)]
pub fn compiler(test: &str, location: Location) -> Option<Compiler> {
    match Compiler::new(Cache::open(location)) {
        Ok(compiler) => Some(compiler),
        Err(reason @ CudaError::NoLibrary { .. }) => {
            println!("skipped: {test}: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A folder that nothing else uses, removed with the value.
pub struct Scratch(pub PathBuf);

impl Scratch {
    #[allow(dead_code)]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("farro-cuda-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    #[allow(dead_code)]
    pub fn location(&self) -> Location {
        Location::Folder(self.0.clone())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
