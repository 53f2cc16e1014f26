//! `farro emit`: a kernel as device code, PTX or instructions.

use super::error::CliError;
use super::options::by_name;
use super::output::line;
use super::target::Backend;
use super::tunables::Tunables;
use clap::Args;
use farro::emit::{EmitTarget, Form, emit};
use farro::kernels::{Choice, Named, record_kernel};

/// Flags of `farro emit`.
#[derive(Clone, Debug, Args)]
pub struct EmitArgs {
    /// The kernel: a variant (textbook, arreduc, shmem, tuned, marching), zero, add-kept, kept-factors, diagonal, or one of the
    /// ceilings' kernels (triad, copy, fma, scratch, cached, atomics)
    #[arg(long, value_name = "NAME", value_parser = named)]
    kernel: Named,
    /// The language
    #[arg(long, value_enum, default_value = "cuda")]
    target: EmitTarget,
    /// The architecture for ptx and sass; it need not be there
    #[arg(long, default_value = "sm_90")]
    arch: String,
    /// How far to take it
    #[arg(long, value_enum, default_value = "text")]
    what: Form,
    #[command(flatten)]
    tunables: Tunables,
}

fn named(text: &str) -> Result<Named, String> {
    by_name("kernel", text, &Named::all())
}

/// Runs the command.
///
/// # Errors
/// When the tunables are not possible, or a compiler is missing.
pub fn run(args: &EmitArgs) -> Result<(), CliError> {
    let Tunables { precision, layout, .. } = args.tunables;
    let config = args.tunables.config(Backend::Cuda, args.kernel.variant(), 128);
    let recorded = record_kernel(args.kernel, &Choice { config, precision, layout })?;
    line(emit(&recorded.prepared.program, args.target, args.what, &args.arch)?.trim_end())?;
    Ok(())
}
