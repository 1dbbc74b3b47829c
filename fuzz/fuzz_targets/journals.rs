//! Corrupted snapshots of tables and lines of journals: each is rejected by the parser or by the
//! table, or applied like any other.

#![no_main]

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::Readable as _;
use bahay_fuzz::Choices;
use bahay_fuzz::documents::edit_copy;
use bahay_fuzz::tables::{TableDocuments, table_documents};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let TableDocuments { kind, steps, .. } = table_documents(&mut choices);
    let (before, line) = &steps[choices.below(steps.len())];
    if choices.byte() % 2 == 0 {
        let changed = edit_copy(before, &mut choices).to_string();
        // An impossible table may be parsed, since only the server writes snapshots.
        let _ = AnyGame::read_table(&changed);
    } else {
        let table = AnyGame::read_table(&before.to_string()).expect("a serialized table is parsed");
        let changed = edit_copy(line, &mut choices).to_string();
        let Ok(line) = AnyGame::read_line(kind, &changed) else { return };
        let _ = table.apply_line(&line);
    }
});
