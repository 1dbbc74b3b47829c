//! The canonical form of the ledger's documents: it is independent of the order of fields, it can
//! be parsed back to the same document, and two documents share a form only if they are equal.

#![no_main]

use bahay_fuzz::Choices;
use bahay_fuzz::canonical::Document;
use bahay_fuzz::documents::edit_copy;
use bahay_fuzz::tables::{TableDocuments, table_documents};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let TableDocuments { records, .. } = table_documents(&mut choices);
    let record = &records[choices.below(records.len())];
    let changed = edit_copy(record, &mut choices);
    let form = Document::canonicalize(&changed).expect("the document is JSON");
    let reversed = Document::canonicalize(&ReverseFields(&changed)).expect("the document is JSON");
    assert_eq!(reversed, form, "the form depends on the order of fields");
    let read: Value = serde_json::from_str(form.as_str()).expect("the form is JSON");
    assert_eq!(read, changed, "the document changed in a round trip");
    let same = Document::canonicalize(record).expect("the document is JSON") == form;
    assert_eq!(same, *record == changed, "equality of forms and documents differ");
});

/// Serializes the fields of every object in reverse order.
struct ReverseFields<'a>(&'a Value);

impl Serialize for ReverseFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(ReverseFields)),
            Value::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields.iter().rev() {
                    map.serialize_entry(name, &ReverseFields(value))?;
                }
                map.end()
            }
            other => other.serialize(serializer),
        }
    }
}
