//! Standard output that survives a reader who leaves, and tables.

use super::error::CliError;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a line to standard output.
///
/// # Errors
/// When standard output is closed.
pub fn line(text: impl AsRef<str>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref().as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes a file, whole or not at all; makes its folder if need be.
///
/// # Errors
/// When the file cannot be written.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&temporary, bytes)?;
        fs::rename(&temporary, path)
    };
    write().map_err(|source| {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
        CliError::Write { path: path.display().to_string(), source }
    })
}

/// A table whose columns are as wide as they need to be. Columns that hold numbers are right-aligned.
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a header. A column whose title begins with `<` is left-aligned.
    pub fn new(header: &[&str]) -> Self {
        Table { header: header.iter().map(|&title| title.into()).collect(), rows: Vec::new() }
    }
    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
    /// The table as text.
    pub fn render(&self) -> String {
        let title = |c: usize| self.header[c].trim_start_matches('<');
        let left = |c: usize| self.header[c].starts_with('<');
        let length = |text: &str| text.chars().count();
        let widths: Vec<usize> = (0..self.header.len())
            .map(|c| self.rows.iter().map(|row| length(&row[c])).chain([length(title(c))]).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        let mut push = |cells: &mut dyn Iterator<Item = &str>| {
            let padded = cells.enumerate().map(|(c, cell)| {
                let gap = " ".repeat(widths[c] - length(cell));
                if left(c) { format!("{cell}{gap}") } else { format!("{gap}{cell}") }
            });
            text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        };
        push(&mut (0..self.header.len()).map(title));
        for row in &self.rows {
            push(&mut row.iter().map(String::as_str));
        }
        text.pop();
        text
    }
}

/// A number with three significant digits, without an exponent where that is readable.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    if !value.is_finite() {
        return value.to_string();
    }
    if magnitude == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e7).contains(&magnitude) {
        return format!("{value:.1e}");
    }
    let digits = (2 - magnitude.log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_columns_align() {
        assert_eq!(
            [short(0.0123456), short(12.3456), short(1234.5), short(1e-9), short(0.0)],
            ["0.0123", "12.3", "1234", "1.0e-9", "0"]
        );
        let mut table = Table::new(&["<name", "value"]);
        table.row(vec!["a".into(), "10".into()]);
        table.row(vec!["long".into(), "2".into()]);
        assert_eq!(table.render(), "name  value\na        10\nlong      2");
    }
}
