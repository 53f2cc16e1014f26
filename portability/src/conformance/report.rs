//! Outcomes of a suite.

use std::fmt;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The space does what is asked.
    Passed,
    /// It does not; the message says what was expected and what came.
    Failed(String),
    /// The space cannot run the case, for the given reason.
    Skipped(String),
}

/// A case and how it ended.
#[derive(Clone, Debug)]
pub struct CaseReport {
    /// The name of the case.
    pub name: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// Configurations of the case that the space cannot run, with the reason.
    pub left_out: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

/// How the cases of a suite ended on a space. It prints as a table.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the space.
    pub space: String,
    /// The cases, in the order in which they ran.
    pub cases: Vec<CaseReport>,
}

impl Report {
    /// The cases that failed.
    pub fn failures(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed(_)))
    }
    /// The cases that were skipped.
    pub fn skipped(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Skipped(_)))
    }
    /// Number of cases that passed.
    pub fn passed(&self) -> usize {
        self.cases.len() - self.failures().count() - self.skipped().count()
    }
    /// Nothing if no case failed.
    ///
    /// # Panics
    /// If a case failed; the message is the whole table.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.failures().next().is_none(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.space)?;
        let width = self.cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
        for case in &self.cases {
            let (word, text) = match &case.outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Failed(message) => ("FAILED", message.as_str()),
                Outcome::Skipped(reason) => ("skipped", reason.as_str()),
            };
            let line = format!("{:width$}  {word:7}  {:7.3} s  {text}", case.name, case.seconds);
            writeln!(f, "  {}", line.trim_end())?;
            if !matches!(case.outcome, Outcome::Skipped(_)) {
                for configuration in &case.left_out {
                    writeln!(f, "  {:width$}  left out: {configuration}", "")?;
                }
            }
        }
        let (failed, skipped) = (self.failures().count(), self.skipped().count());
        write!(f, "{} passed, {failed} failed, {skipped} skipped", self.passed())
    }
}
