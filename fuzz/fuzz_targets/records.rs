//! Records of finished games, changed: each is refused as a document, or found to be false and why, or true.

#![no_main]

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::Readable as _;
use bahay_fuzz::Choices;
use bahay_fuzz::documents::edited;
use bahay_fuzz::tables::{Played, played};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let Played { records, .. } = played(&mut choices);
    let changed = edited(&records[choices.below(records.len())], &mut choices);
    let Ok(record) = AnyGame::read_record(&changed.to_string()) else { return };
    let verdict = record.verify();
    let written = serde_json::to_string(&record).expect("records are JSON");
    let again = AnyGame::read_record(&written).expect("what was written is read");
    assert_eq!(again, record, "it is read back as something else");
    assert_eq!(again.verify(), verdict, "it is judged otherwise when read back");
});
