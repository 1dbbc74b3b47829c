//! Ledger events in files: one JSON object per line and ten thousand events per file, each file
//! named after its first event's number.
//!
//! A process that dies may leave a partial line, which the next process removes before it continues
//! after the last complete line. So the files contain each event once, and their bytes do not
//! depend on the process that wrote them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::read::Event;

/// The number of events per file.
const EVENTS_A_FILE: i64 = 10_000;

/// A folder that one process writes to.
#[derive(Debug)]
pub struct EventFolder {
    path: PathBuf,
    /// The number of the last event in the folder.
    number: i64,
    file: Option<File>,
    /// The lock on the folder, held until this is dropped.
    _lock: File,
}

/// An error of writing to a folder.
#[derive(Debug, thiserror::Error)]
pub enum EventFolderError {
    #[error("{0}: another process writes there")]
    Taken(PathBuf),
    #[error("{path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("{0}: its last line is not a ledger event")]
    Foreign(PathBuf),
}

impl EventFolder {
    /// Opens the folder, creates it if it does not exist, and finds its last event.
    pub fn open(path: &Path) -> Result<Self, EventFolderError> {
        let failed = |error| EventFolderError::Io { path: path.to_owned(), error };
        std::fs::create_dir_all(path).map_err(failed)?;
        let lock = File::create(path.join(".lock")).map_err(failed)?;
        lock.try_lock().map_err(|_| EventFolderError::Taken(path.to_owned()))?;
        let mut folder = Self { path: path.to_owned(), number: 0, file: None, _lock: lock };
        let mut files: Vec<PathBuf> = std::fs::read_dir(path)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
            .map_err(failed)?;
        files.retain(|file| file.extension().is_some_and(|end| end == "ndjson"));
        files.sort();
        // A file without a complete line has only been started; the file before it has the last
        // event.
        while let Some(path) = files.pop() {
            let failed = |error| EventFolderError::Io { path: path.clone(), error };
            let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
            match last_line(&mut file).map_err(failed)? {
                Some(line) => {
                    folder.number = parse_number(&line).ok_or(EventFolderError::Foreign(path))?;
                    folder.file = Some(file);
                    return Ok(folder);
                }
                None => std::fs::remove_file(&path).map_err(failed)?,
            }
        }
        Ok(folder)
    }

    /// Returns the number of the last event in the folder; 0 for none.
    pub const fn number(&self) -> i64 {
        self.number
    }

    /// Appends the next events, and returns when they are on disk.
    pub fn append(&mut self, events: &[Event]) -> Result<(), EventFolderError> {
        for file in events.chunk_by(|one, next| {
            first_number_of_file(one.number) == first_number_of_file(next.number)
        }) {
            self.append_to_file(file)
                .map_err(|error| EventFolderError::Io { path: self.path.clone(), error })?;
        }
        Ok(())
    }

    fn append_to_file(&mut self, events: &[Event]) -> io::Result<()> {
        let Some((first, last)) = events.first().zip(events.last()) else { return Ok(()) };
        let mut text = Vec::new();
        for event in events {
            serde_json::to_writer(&mut text, event)?;
            text.push(b'\n');
        }
        let begins = first.number == first_number_of_file(first.number);
        let mut file = match self.file.take() {
            Some(file) if !begins => file,
            _ => {
                let name = format!("events-{:012}.ndjson", first_number_of_file(first.number));
                let file = File::create_new(self.path.join(name))?;
                File::open(&self.path)?.sync_all()?;
                file
            }
        };
        file.write_all(&text)?;
        file.sync_data()?;
        self.number = last.number;
        self.file = Some(file);
        Ok(())
    }
}

/// Returns the number of the first event in the file of event `number`.
const fn first_number_of_file(number: i64) -> i64 {
    (number - 1) / EVENTS_A_FILE * EVENTS_A_FILE + 1
}

/// Removes a partial line at the end, seeks to the end, and returns the last line; `None` for an
/// empty file.
fn last_line(file: &mut File) -> io::Result<Option<String>> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        file.set_len(u64::try_from(whole).unwrap_or_default())?;
    }
    file.seek(SeekFrom::End(0))?;
    let line = text[..whole].split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
    Ok(line.map(|line| String::from_utf8_lossy(line).into_owned()))
}

fn parse_number(line: &str) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        number: i64,
    }
    serde_json::from_str::<Numbered>(line).ok().map(|numbered| numbered.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: i64) -> Event {
        Event {
            number,
            seal: 1,
            operation: number,
            key: format!("welcome:{number}"),
            kind: "grant".into(),
            at: 0,
            game: None,
            transfers: Vec::new(),
        }
    }

    fn events(numbers: std::ops::RangeInclusive<i64>) -> Vec<Event> {
        numbers.map(event).collect()
    }

    fn numbers(path: &Path) -> Vec<i64> {
        let mut files: Vec<_> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "ndjson"));
        files.sort();
        let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
        texts
            .flat_map(|text| {
                text.lines().map(|line| parse_number(line).unwrap()).collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn files_begin_at_ten_thousands_whatever_was_appended_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut open = EventFolder::open(folder.path()).unwrap();
        open.append(&events(1..=9_999)).unwrap();
        open.append(&events(10_000..=20_001)).unwrap();
        drop(open);
        assert_eq!(numbers(folder.path()), (1..=20_001).collect::<Vec<_>>());
        for name in [
            "events-000000000001.ndjson",
            "events-000000010001.ndjson",
            "events-000000020001.ndjson",
        ] {
            assert!(folder.path().join(name).exists(), "{name}");
        }
        assert_eq!(EventFolder::open(folder.path()).unwrap().number(), 20_001);
    }

    #[test]
    fn a_partial_line_and_a_file_without_a_line_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        EventFolder::open(folder.path()).unwrap().append(&events(1..=10_000)).unwrap();
        let first = folder.path().join("events-000000000001.ndjson");
        let whole = std::fs::read(&first).unwrap();
        std::fs::write(folder.path().join("events-000000010001.ndjson"), "{\"number\":100")
            .unwrap();
        let open = EventFolder::open(folder.path()).unwrap();
        assert_eq!(open.number(), 10_000);
        drop(open);
        for cut in [1, 7, 90] {
            std::fs::write(&first, &whole[..whole.len() - cut]).unwrap();
            let mut open = EventFolder::open(folder.path()).unwrap();
            let missing = open.number() + 1..=10_000;
            open.append(&events(missing)).unwrap();
            drop(open);
            assert_eq!(std::fs::read(&first).unwrap(), whole);
        }
    }

    #[test]
    fn a_folder_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let open = EventFolder::open(folder.path()).unwrap();
        assert!(matches!(EventFolder::open(folder.path()), Err(EventFolderError::Taken(_))));
        drop(open);
        EventFolder::open(folder.path()).unwrap();
    }
}
