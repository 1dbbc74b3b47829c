//! What is to be seen of a run while it goes on: one line at the bottom of a terminal, a line for
//! each step that is over, and the report so far in its file, so that a run that is broken off is not
//! lost.

use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::report::Report;
use super::{LoadError, write};
use crate::clock::Moment;

/// A report is saved this often, or ten times in a measurement that is shorter.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// Who follows a run that takes long.
#[derive(Debug)]
pub(super) struct Progress {
    is_terminal: bool,
    json: Option<PathBuf>,
    saved_at: Moment,
}

impl Progress {
    pub(super) fn new(json: Option<PathBuf>) -> Self {
        Self { is_terminal: stderr().is_terminal(), json, saved_at: Moment::now() }
    }

    /// Written over and over. Nothing where there is no terminal.
    pub(super) fn say(&self, line: &str) {
        if self.is_terminal {
            // Nobody may be looking any more.
            let _ = write!(stderr(), "\r\u{1b}[K{line}");
            let _ = stderr().flush();
        }
    }

    /// Stays, in a log too.
    pub(super) fn note(&self, line: &str) {
        self.say("");
        let _ = writeln!(stderr(), "{line}");
    }

    /// Whether a measurement that takes so long is due to be saved.
    pub(super) fn is_due(&self, seconds: u64) -> bool {
        let every = SAVE_EVERY.min(Duration::from_secs(seconds) / 10);
        self.json.is_some() && self.saved_at.elapsed() >= every
    }

    /// Saves what there is. A disk that is full is no reason to end: at the end it is told once more.
    pub(super) fn save(&mut self, report: &Report) {
        let saved = self.json.as_deref().map_or(Ok(()), |path| save(path, report));
        if let Err(error) = saved {
            self.note(&error.to_string());
        }
        self.saved_at = Moment::now();
    }
}

/// In one step, so that a reader finds the old one or the new one.
pub(super) fn save(path: &Path, report: &Report) -> Result<(), LoadError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    write(&beside, &serde_json::to_string(report).unwrap_or_default())?;
    std::fs::rename(&beside, path)
        .map_err(|error| LoadError::Unwritable { path: path.display().to_string(), error })
}
