//! Corrupted records of finished games: each is rejected by the parser, refuted with a reason, or
//! verified.

#![no_main]

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::Readable as _;
use bahay_fuzz::Choices;
use bahay_fuzz::documents::edit_copy;
use bahay_fuzz::tables::{TableDocuments, table_documents};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let TableDocuments { records, .. } = table_documents(&mut choices);
    let changed = edit_copy(&records[choices.below(records.len())], &mut choices);
    let Ok(record) = AnyGame::read_record(&changed.to_string()) else { return };
    let verdict = record.verify();
    let written = serde_json::to_string(&record).expect("records are JSON");
    let again = AnyGame::read_record(&written).expect("a serialized record is parsed");
    assert_eq!(again, record, "the record changed in a round trip");
    assert_eq!(again.verify(), verdict, "the verdict changed in a round trip");
});
