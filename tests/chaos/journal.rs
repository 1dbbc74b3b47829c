//! The verbatim traffic of one client, as a text file with one line for each entry and its time
//! since the start of the run. It is kept on disk, because a long run exceeds memory, and the
//! checks read one client after the other.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at_ms: u64,
    pub(crate) what: EntryKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A socket to this node was opened.
    Connected { node: u64 },
    /// The socket was lost, with the reason.
    Lost(String),
    /// A text frame as sent.
    Sent(String),
    /// A text frame as received.
    Received(String),
    /// Another action of the client.
    Note(String),
}

/// The writer of a client's journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: BufWriter<File>,
    began: Instant,
}

impl Journal {
    pub(crate) fn create(path: &Path, began: Instant) -> Self {
        let file = BufWriter::new(File::create(path).expect("the run's folder is ours"));
        Self { file, began }
    }

    pub(crate) fn write(&mut self, what: &EntryKind) {
        let (mark, text) = match what {
            EntryKind::Connected { node } => ('+', node.to_string()),
            EntryKind::Lost(why) => ('-', why.replace('\n', " ")),
            EntryKind::Sent(text) => ('>', text.clone()),
            EntryKind::Received(text) => ('<', text.clone()),
            EntryKind::Note(text) => ('#', text.replace('\n', " ")),
        };
        let at_ms = self.began.elapsed().as_millis();
        writeln!(self.file, "{at_ms} {mark} {text}").expect("the disk has room");
    }

    /// Flushes everything to the file.
    pub(crate) fn close(mut self) {
        self.file.flush().expect("the disk has room");
    }
}

/// Reads every line of a client's file.
pub(crate) fn read(path: &Path) -> Vec<Entry> {
    let file = BufReader::new(File::open(path).expect("the client has written it"));
    let lines = file.lines().map(|line| line.expect("the file is text"));
    lines.map(|line| entry(&line).unwrap_or_else(|| panic!("no entry: {line}"))).collect()
}

fn entry(line: &str) -> Option<Entry> {
    let (at_ms, rest) = line.split_once(' ')?;
    let (mark, text) = rest.split_once(' ')?;
    let text = text.to_owned();
    let what = match mark {
        "+" => EntryKind::Connected { node: text.parse().ok()? },
        "-" => EntryKind::Lost(text),
        ">" => EntryKind::Sent(text),
        "<" => EntryKind::Received(text),
        "#" => EntryKind::Note(text),
        _ => return None,
    };
    Some(Entry { at_ms: at_ms.parse().ok()?, what })
}
