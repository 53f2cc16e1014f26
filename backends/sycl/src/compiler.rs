//! From a traced program to a kernel of a device.

use crate::error::{Result, SyclError};
use crate::queue::{Kernel, Queue, Resources};
use crate::stack::with_large_stack;
use farro_backends::device::{DeviceCompiler, DeviceKernel};
use farro_backends::print::{Dialect, Passes, Printed, Style, print_with};
use farro_backends::trace::Program;
use farro_portability::Limits;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// How texts are compiled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// The language version; `-cl-std=CL3.0` is where atomic sums of floating-point numbers are.
    pub standard: Option<String>,
    /// Further options, passed on as they are.
    pub extra: Vec<String>,
    /// Whether the lanes of a thread may be a sub-group, where the device has sub-groups of that size.
    pub sub_groups: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions { standard: Some("CL3.0".into()), extra: Vec::new(), sub_groups: true }
    }
}

impl CompileOptions {
    /// The options as one text.
    pub fn text(&self) -> String {
        let standard = self.standard.iter().map(|standard| format!("-cl-std={standard}"));
        standard.chain(self.extra.iter().cloned()).collect::<Vec<_>>().join(" ")
    }
}

/// A kernel built for a device.
#[derive(Debug)]
pub struct CompiledKernel {
    /// The text, its parameters and its scratch.
    pub printed: Printed,
    /// What the device's compiler made of it.
    pub resources: Resources,
    /// Whether the binary came from the cache.
    pub from_cache: bool,
    /// Seconds that printing and compiling took.
    pub seconds: f64,
    pub(crate) kernel: Arc<Kernel>,
}

impl DeviceKernel for CompiledKernel {
    fn printed(&self) -> &Printed {
        &self.printed
    }
}

/// The compiler of a device. Unlike those for GPUs, it needs the device.
#[derive(Clone)]
pub struct QueueCompiler {
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) options: CompileOptions,
    pub(crate) limits: Limits,
}

impl fmt::Debug for QueueCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueueCompiler({})", self.name())
    }
}

impl QueueCompiler {
    /// The text of a program for this device.
    ///
    /// # Errors
    /// When lanes exchange values in a way that the device cannot.
    pub fn print(&self, program: &Program, passes: Passes) -> Result<Printed> {
        let sizes = &self.queue.properties().sub_groups;
        let sub_groups = self.options.sub_groups && sizes.contains(&program.vector_length);
        let printed = print_with(program, Dialect::OpenCl, Style { passes, sub_groups });
        if printed.lacks_sub_groups {
            return Err(SyclError::SubGroups {
                kernel: printed.kernel,
                asked: program.vector_length,
                device: self.queue.properties().title(),
                possible: if sizes.is_empty() { "none".into() } else { format!("{sizes:?}") },
            });
        }
        Ok(printed)
    }
}

/// Barriers from which on Intel's CPU driver is not trusted to optimize.
const MANY_BARRIERS: usize = 40;

impl QueueCompiler {
    /// The compiler's options for a text. Intel's CPU driver 2026.22 ends the process in its pass
    /// `sycl-kernel-reduce-cross-barrier-values` at some texts of 60 and more barriers, which nothing but
    /// `-cl-opt-disable` avoids; kernels that are meant to be fast have few.
    fn options(&self, printed: &Printed) -> String {
        let properties = self.queue.properties();
        let is_intel_cpu = !properties.is_gpu && properties.vendor.contains("Intel");
        let mut options = self.options.text();
        if is_intel_cpu && printed.text.matches("barrier(").count() > MANY_BARRIERS {
            options.push_str(" -cl-opt-disable");
        }
        options
    }
}

impl DeviceCompiler for QueueCompiler {
    type Kernel = CompiledKernel;
    type Error = SyclError;

    fn name(&self) -> String {
        format!("compiler of {}", self.queue.properties().title())
    }
    fn limits(&self) -> Limits {
        self.limits.clone()
    }
    fn compile(&self, program: &Program, passes: Passes) -> Result<CompiledKernel> {
        let begin = Instant::now();
        let printed = self.print(program, passes)?;
        let options = self.options(&printed);
        let build = with_large_stack(|| self.queue.build(&printed, &options))?;
        Ok(CompiledKernel {
            kernel: Arc::new(Kernel::new(Arc::clone(&self.queue), &printed, &build)),
            printed,
            resources: build.resources,
            from_cache: build.from_cache,
            seconds: begin.elapsed().as_secs_f64(),
        })
    }
}
