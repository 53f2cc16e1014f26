//! CSV files that are complete up to their last row, and what was true of the machine.

use super::options::Options;
use super::{Context, Outcome};
use farro_portability::Space;
use std::fs::File;
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// A CSV file; rows are on disk as soon as they are written.
pub struct Sheet {
    file: File,
    columns: usize,
}

impl Sheet {
    pub fn new(options: &Options, name: &str, header: &[&str]) -> Outcome<Self> {
        let mut file = File::create(options.out.join(name))?;
        writeln!(file, "{}", header.join(","))?;
        Ok(Sheet { file, columns: header.len() })
    }
    pub fn row(&mut self, cells: &[String]) -> Outcome {
        assert_eq!(cells.len(), self.columns, "a row is as wide as its header: {cells:?}");
        let quoted: Vec<String> = cells.iter().map(|cell| quote(cell)).collect();
        println!("   {}", quoted.join(","));
        writeln!(self.file, "{}", quoted.join(","))?;
        Ok(self.file.flush()?)
    }
}

fn quote(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\"").replace('\n', " "))
    } else {
        cell.into()
    }
}

/// The device and the versions, in a file of their own.
pub fn machine(context: &Context) -> Outcome {
    let properties = context.double.device().properties();
    let mut sheet = Sheet::new(&context.options, "machine.csv", &["what", "value"])?;
    let (free, total) = context.double.device().memory()?;
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
    for (what, value) in [
        ("space", context.double.name()),
        ("driver", properties.driver_version.clone()),
        ("arch", properties.arch()),
        ("nvrtc", format!("{:?}", context.double.compiler().version())),
        ("multiprocessors", properties.multiprocessors.to_string()),
        ("l2 bytes", properties.l2_bytes.to_string()),
        ("clock kHz", properties.clock_khz.to_string()),
        ("free bytes", free.to_string()),
        ("total bytes", total.to_string()),
        ("seconds since 1970", time.to_string()),
        ("farro", env!("CARGO_PKG_VERSION").into()),
    ] {
        sheet.row(&[what.into(), value])?;
    }
    Ok(())
}

/// Clocks and power while the rest runs, by nvidia-smi, where it is there.
pub struct Clocks(Option<Child>);

impl Clocks {
    pub fn start(options: &Options) -> Self {
        let file = File::create(options.out.join("clocks.csv"));
        let child = file.ok().and_then(|file| {
            let fields =
                "--query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active";
            let mut command = Command::new("nvidia-smi");
            command.args([fields, "--format=csv,nounits", "-lms", "200", "-i", &options.device.to_string()]);
            command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null()).spawn().ok()
        });
        if child.is_none() {
            println!("skipped: clocks: there is no nvidia-smi");
        }
        Clocks(child)
    }
}

impl Drop for Clocks {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The median, the smallest and the largest.
pub fn spread(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return [f64::NAN; 3] };
    [sorted[sorted.len() / 2], *first, *last]
}

/// A number with six digits, empty if it is none.
pub fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { format!("{value:.6}") }
}
