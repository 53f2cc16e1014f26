//! A traced kernel as text that people read: device code, PTX, or the instructions of the machine.

use clap::ValueEnum;
use farro_backends::print::{Dialect, print};
use farro_backends::trace::Program;
use farro_cuda::cache::{Cache, Location};
use farro_cuda::{Compiler, CudaError, Options, disassemble};

/// A language of device code, by the name of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum EmitTarget {
    /// CUDA C++.
    Cuda,
    /// HIP C++.
    Hip,
    /// OpenCL C.
    Opencl,
}

impl EmitTarget {
    /// The language.
    pub fn dialect(self) -> Dialect {
        match self {
            EmitTarget::Cuda => Dialect::Cuda,
            EmitTarget::Hip => Dialect::Hip,
            EmitTarget::Opencl => Dialect::OpenCl,
        }
    }
}

/// How far a kernel is taken before it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Form {
    /// The printed kernel.
    Text,
    /// NVIDIA's virtual instructions (cuda).
    Ptx,
    /// The machine's instructions (cuda; needs nvdisasm or cuobjdump).
    Sass,
}

impl Form {
    /// The name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Ptx => "ptx",
            Form::Sass => "sass",
        }
    }
}

/// Why a kernel cannot be shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EmitError {
    /// The target has no such form.
    #[error("kernel `{kernel}`: there is no {form} of {language}; possible is text, or --target cuda")]
    Form {
        /// The kernel.
        kernel: String,
        /// What was asked for.
        form: &'static str,
        /// Of what.
        language: &'static str,
    },
    /// The compiler or the disassembler.
    #[error("kernel `{kernel}`: {source}")]
    Cuda {
        /// The kernel.
        kernel: String,
        /// The reason.
        source: CudaError,
    },
}

/// A kernel in a form, for an architecture such as `sm_90` where that matters. No device is needed.
///
/// # Errors
/// When the target has no such form, the architecture is unknown, or NVRTC or the disassembler is missing.
pub fn emit(program: &Program, target: EmitTarget, form: Form, arch: &str) -> Result<String, EmitError> {
    let printed = print(program, target.dialect());
    if form == Form::Text {
        return Ok(printed.text);
    }
    let kernel = program.name.clone();
    if target != EmitTarget::Cuda {
        return Err(EmitError::Form { kernel, form: form.name(), language: target.dialect().name() });
    }
    let compile = || {
        let compiler = Compiler::new(Cache::open(Location::Default))?;
        let options = Options::default();
        match form {
            Form::Ptx => compiler.ptx(&printed.entry, &printed.text, arch, &options),
            _ => disassemble(&compiler.compile(&printed.entry, &printed.text, arch, &options)?.cubin),
        }
    };
    compile().map_err(|source| EmitError::Cuda { kernel, source })
}
