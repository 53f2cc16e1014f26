//! `farro cache`: what lies on disk between runs.

use super::error::CliError;
use super::output::line;
use clap::{Args, Subcommand};
use farro::ceilings::store;
use farro_cuda::CudaError;
use farro_cuda::cache::{Cache, Location};
use serde_json::json;

/// Flags of `farro cache`.
#[derive(Clone, Debug, Args)]
pub struct CacheArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Action {
    /// Say where the cache is and how much it holds (the default)
    Show,
    /// Remove compiled kernels
    Clean {
        /// Remove measured ceilings too
        #[arg(long)]
        all: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// When something cannot be removed.
pub fn run(args: &CacheArgs) -> Result<(), CliError> {
    let cache = Cache::open(Location::Default);
    let refuse = |reason: String| CliError::Backend { backend: "cache", reason };
    let Some(folder) = cache.folder() else {
        let reason = cache.warning().map_or_else(|| "FARRO_CACHE_DIR is empty".into(), |warning| warning.to_string());
        if args.json {
            line(json!({ "folder": null, "reason": reason }).to_string())?;
        } else {
            line(format!("nothing is kept on disk: {reason}"))?;
        }
        return Ok(());
    };
    let folder = folder.display().to_string();
    let ceilings = store::folder();
    match args.action.unwrap_or(Action::Show) {
        Action::Show => {
            let stats = cache.stats();
            let measured = ceilings.map_or_else(Vec::new, |folder| store::list(&folder));
            if args.json {
                let devices: Vec<_> = measured.iter().map(|entry| &entry.device).collect();
                let value = json!({
                    "folder": folder,
                    "kernels": stats.entries,
                    "bytes": stats.bytes,
                    "ceilings": devices,
                    "warning": cache.warning().map(|warning| warning.to_string()),
                });
                line(value.to_string())?;
                return Ok(());
            }
            line(format!("{folder}: {} compiled kernels, {:.1} MB", stats.entries, stats.bytes as f64 / 1e6))?;
            for entry in measured {
                line(format!("ceilings of {}, {} stored", entry.device.space, entry.device.stored))?;
            }
            if let Some(warning) = cache.warning() {
                line(format!("warning: {warning}"))?;
            }
        }
        Action::Clean { all } => {
            let removed = cache.clean().map_err(|error| refuse(CudaError::from(error).to_string()))?;
            let measured = match ceilings.filter(|_| all) {
                Some(folder) => store::clean(&folder).map_err(|error| refuse(error.to_string()))?,
                None => 0,
            };
            if args.json {
                line(json!({ "folder": folder, "kernels": removed, "ceilings": measured }).to_string())?;
            } else {
                let also = if all { format!(" and {measured} measured ceilings") } else { String::new() };
                line(format!("removed {removed} compiled kernels{also} from {folder}"))?;
            }
        }
    }
    Ok(())
}
