//! Documents of the ledger in their canonical form: it is the same whatever the order of fields was, it is read
//! back as what it was made of, and two documents have one only if they are equal.

#![no_main]

use bahay_fuzz::Choices;
use bahay_fuzz::canonical::Document;
use bahay_fuzz::documents::edited;
use bahay_fuzz::tables::{Played, played};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let Played { records, .. } = played(&mut choices);
    let record = &records[choices.below(records.len())];
    let changed = edited(record, &mut choices);
    let form = Document::canonicalize(&changed).expect("it is JSON");
    let turned = Document::canonicalize(&Backwards(&changed)).expect("it is JSON");
    assert_eq!(turned, form, "the order of fields shows");
    let read: Value = serde_json::from_str(form.as_str()).expect("it is JSON");
    assert_eq!(read, changed, "it is read back as something else");
    let same = Document::canonicalize(record).expect("it is JSON") == form;
    assert_eq!(same, *record == changed, "two documents have one form, or one has two");
});

/// The same, with the fields of every object from the last to the first.
struct Backwards<'a>(&'a Value);

impl Serialize for Backwards<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(Backwards)),
            Value::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields.iter().rev() {
                    map.serialize_entry(name, &Backwards(value))?;
                }
                map.end()
            }
            other => other.serialize(serializer),
        }
    }
}
