//! Snapshots of tables and lines of their journals, changed: each is refused as a document, or by the table, or
//! played like any other.

#![no_main]

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::Readable as _;
use bahay_fuzz::Choices;
use bahay_fuzz::documents::edited;
use bahay_fuzz::tables::{Played, played};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let Played { kind, steps, .. } = played(&mut choices);
    let (before, line) = &steps[choices.below(steps.len())];
    if choices.byte() % 2 == 0 {
        let changed = edited(before, &mut choices).to_string();
        // A table that could never be may be read: nobody but us writes any.
        let _ = AnyGame::read_table(&changed);
    } else {
        let table = AnyGame::read_table(&before.to_string()).expect("it was written so");
        let changed = edited(line, &mut choices).to_string();
        let Ok(line) = AnyGame::read_line(kind, &changed) else { return };
        let _ = table.apply_line(&line);
    }
});
