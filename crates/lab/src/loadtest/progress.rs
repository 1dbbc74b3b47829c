//! The progress of a run: a status line on a terminal, a log line for each completed step, and a
//! saved report, so that an aborted run is not lost.

use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bahay_base::clock::Moment;

use super::report::Report;
use super::{LoadError, write_file};

/// The interval between saved reports; a shorter measurement saves ten times.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// The progress output of a run.
#[derive(Debug)]
pub(super) struct RunProgress {
    is_terminal: bool,
    json: Option<PathBuf>,
    saved_at: Moment,
}

impl RunProgress {
    pub(super) fn new(json: Option<PathBuf>) -> Self {
        Self { is_terminal: stderr().is_terminal(), json, saved_at: Moment::now() }
    }

    /// Overwrites the status line; does nothing without a terminal.
    pub(super) fn show_status(&self, line: &str) {
        if self.is_terminal {
            // The terminal may be closed.
            let _ = write!(stderr(), "\r\u{1b}[K{line}");
            let _ = stderr().flush();
        }
    }

    /// Prints a permanent line, in a log too.
    pub(super) fn print_line(&self, line: &str) {
        self.show_status("");
        let _ = writeln!(stderr(), "{line}");
    }

    /// Returns true if a measurement of this duration is due to be saved.
    pub(super) fn is_due(&self, seconds: u64) -> bool {
        let every = SAVE_EVERY.min(Duration::from_secs(seconds) / 10);
        self.json.is_some() && self.saved_at.elapsed() >= every
    }

    /// Saves the report so far. A write error does not end the run: the report is written again at
    /// its end.
    pub(super) fn save(&mut self, report: &Report) {
        let saved = self.json.as_deref().map_or(Ok(()), |path| save_report(path, report));
        if let Err(error) = saved {
            self.print_line(&error.to_string());
        }
        self.saved_at = Moment::now();
    }
}

/// Replaces the file atomically, so that a reader finds the old or the new report.
pub(super) fn save_report(path: &Path, report: &Report) -> Result<(), LoadError> {
    let mut part_path = path.as_os_str().to_owned();
    part_path.push(".part");
    let part_path = PathBuf::from(part_path);
    write_file(&part_path, &serde_json::to_string(report).unwrap_or_default())?;
    std::fs::rename(&part_path, path)
        .map_err(|error| LoadError::Unwritable { path: path.display().to_string(), error })
}
