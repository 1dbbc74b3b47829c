//! Canonical JSON: the keys of every object are sorted and no whitespace is written. Equal
//! documents have equal bytes independently of the type that they are serialized from, so a hash
//! identifies an input.
//!
//! serde_json writes the values in the order in which they come, without an intermediate tree. When
//! an object ends and its keys are not sorted, its fields are sorted in place.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The initial capacity of the buffer in bytes; most records fit.
const INITIAL_CAPACITY: usize = 8 * 1024;

/// A document in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document(String);

impl Document {
    pub fn canonicalize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        to_canonical_json(value).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Serializes a value to canonical JSON.
pub(crate) fn to_canonical_json<T: Serialize + ?Sized>(
    value: &T,
) -> Result<String, serde_json::Error> {
    write(value, None)
}

/// Serializes an object to canonical JSON, with one additional field.
pub(crate) fn to_canonical_json_with<T: Serialize + ?Sized>(
    object: &T,
    name: &str,
    field: &Document,
) -> Result<String, serde_json::Error> {
    write(object, Some((name, field)))
}

fn write<T: Serialize + ?Sized>(
    value: &T,
    more: Option<(&str, &Document)>,
) -> Result<String, serde_json::Error> {
    let out = Vec::with_capacity(INITIAL_CAPACITY);
    let written = RefCell::new(CanonicalBuffer { out, ..CanonicalBuffer::default() });
    let mut serializer = Serializer::with_formatter(
        BufferWriter(&written),
        CanonicalFormatter { written: &written, more },
    );
    value.serialize(&mut serializer)?;
    String::from_utf8(written.into_inner().out).map_err(serde::ser::Error::custom)
}

/// The output buffer, which the writer appends to and the formatter sorts.
#[derive(Default)]
struct CanonicalBuffer {
    out: Vec<u8>,
    /// The fields of all unfinished objects, those of the innermost object last.
    fields: Vec<Field>,
    /// The index of the first field of each unfinished object.
    objects: Vec<usize>,
    /// Receives the fields of an object in their order. It holds no data between objects.
    ordered: Vec<u8>,
}

/// The byte positions of a field in the buffer, without its comma.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    name_end: usize,
    end: usize,
    /// The first eight bytes of the decoded name, which decide most comparisons.
    prefix: u64,
    /// True if the name contains an escape sequence.
    is_escaped: bool,
}

impl CanonicalBuffer {
    fn begin_field(&mut self) {
        let start = self.out.len();
        self.fields.push(Field {
            start,
            name_end: start,
            end: start,
            prefix: 0,
            is_escaped: false,
        });
    }

    fn end_name(&mut self) {
        if let Some(field) = self.fields.last_mut() {
            field.name_end = self.out.len();
            field.is_escaped = self.out[field.start..].contains(&b'\\');
            let name = field.name(&self.out);
            let mut prefix = [0; 8];
            let length = name.len().min(prefix.len());
            prefix[..length].copy_from_slice(&name[..length]);
            field.prefix = u64::from_be_bytes(prefix);
        }
    }

    fn end_field(&mut self) {
        if let Some(field) = self.fields.last_mut() {
            field.end = self.out.len();
        }
    }

    fn begin_object(&mut self) {
        self.objects.push(self.fields.len());
    }

    /// Sorts the fields of the innermost object. Is called before the closing bracket is written.
    fn end_object(&mut self) {
        let Self { out, fields, objects, ordered } = self;
        let first = objects.pop().unwrap_or_default();
        let members = &mut fields[first..];
        if !members.is_sorted_by(|one, other| one.compare(other, out).is_le()) {
            let start = members.first().map_or(out.len(), |field| field.start);
            members.sort_by(|one, other| one.compare(other, out));
            ordered.clear();
            for field in members {
                if !ordered.is_empty() {
                    ordered.push(b',');
                }
                ordered.extend_from_slice(&out[field.start..field.end]);
            }
            out.truncate(start);
            out.append(ordered);
        }
        fields.truncate(first);
    }
}

impl Field {
    /// Compares the decoded names of two fields.
    fn compare(&self, other: &Self, out: &[u8]) -> Ordering {
        self.prefix.cmp(&other.prefix).then_with(|| self.name(out).cmp(&other.name(out)))
    }

    /// Returns the decoded name. Only a name with an escape sequence is copied.
    fn name<'a>(&self, out: &'a [u8]) -> Cow<'a, [u8]> {
        let quoted = &out[self.start..self.name_end];
        if self.is_escaped
            && let Ok(name) = serde_json::from_slice::<String>(quoted)
        {
            return Cow::Owned(name.into_bytes());
        }
        Cow::Borrowed(quoted.get(1..quoted.len() - 1).unwrap_or_default())
    }
}

struct BufferWriter<'a>(&'a RefCell<CanonicalBuffer>);

impl io::Write for BufferWriter<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    /// Most writes are of a single byte, which inlining makes a push.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().out.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct CanonicalFormatter<'a> {
    written: &'a RefCell<CanonicalBuffer>,
    /// An additional field of the outermost object.
    more: Option<(&'a str, &'a Document)>,
}

impl Formatter for CanonicalFormatter<'_> {
    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.written.borrow_mut().begin_object();
        writer.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        if !is_first {
            writer.write_all(b",")?;
        }
        self.written.borrow_mut().begin_field();
        Ok(())
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.written.borrow_mut().end_name();
        Ok(())
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.written.borrow_mut().end_field();
        Ok(())
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let is_outermost = self.written.borrow().objects.len() == 1;
        if let Some((name, field)) = self.more.filter(|_| is_outermost) {
            let is_first = self.written.borrow().fields.is_empty();
            self.begin_object_key(writer, is_first)?;
            serde_json::to_writer(&mut *writer, name)?;
            self.end_object_key(writer)?;
            self.begin_object_value(writer)?;
            writer.write_all(field.as_str().as_bytes())?;
            self.end_object_value(writer)?;
        }
        self.written.borrow_mut().end_object();
        writer.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, to_canonical_json, to_canonical_json_with};
    use serde::Serialize;
    use serde_json::{Value, json};

    #[derive(Serialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Figure {
        Square { side: u8, at: (i64, i64) },
    }

    #[derive(Serialize)]
    struct Drawing<'a> {
        shapes: Vec<Figure>,
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<u8>,
        made: Option<u8>,
    }

    #[test]
    fn keys_are_in_order_at_every_depth() {
        let drawing = Drawing {
            shapes: vec![Figure::Square { side: 2, at: (-1, 3) }],
            name: "é\"",
            by: None,
            made: None,
        };
        let text =
            r#"{"made":null,"name":"é\"","shapes":[{"at":[-1,3],"side":2,"type":"square"}]}"#;
        assert_eq!(to_canonical_json(&drawing).unwrap(), text);
        // The canonical form does not depend on the type that is serialized.
        assert_eq!(to_canonical_json(&serde_json::to_value(&drawing).unwrap()).unwrap(), text);
    }

    #[test]
    fn a_canonical_document_parses_to_the_same_value() {
        for value in [
            json!(null),
            json!([]),
            json!({}),
            json!([{}, { "b": {}, "a": [{ "d": -15, "c": true }] }]),
            json!({ "a\"b": 1, "a!b": 2, "a": 3, "ab": 4, "": 5, "é": 6, "a\\": 7 }),
        ] {
            let text = to_canonical_json(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn keys_are_sorted_by_their_decoded_names() {
        // In JSON a quote is escaped by a backslash, which sorts after an A.
        let value = json!({ "aA": 1, "a\"": 2 });
        assert_eq!(to_canonical_json(&value).unwrap(), r#"{"a\"":2,"aA":1}"#);
    }

    #[test]
    fn a_document_is_sorted_among_the_fields() {
        let document = Document::canonicalize(&json!({ "y": 1, "x": 2 })).unwrap();
        let with_document = |value: Value| to_canonical_json_with(&value, "m", &document).unwrap();
        assert_eq!(
            with_document(json!({ "z": { "b": 1 }, "a": 1 })),
            r#"{"a":1,"m":{"x":2,"y":1},"z":{"b":1}}"#
        );
        assert_eq!(with_document(json!({})), r#"{"m":{"x":2,"y":1}}"#);
    }
}
