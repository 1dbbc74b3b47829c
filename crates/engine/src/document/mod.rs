//! A value of JSON or MessagePack whose type is not known yet.
//!
//! A client decodes a message in two steps: from its bytes into a [`Document`], and from there into
//! the types of the table and its game. Each of these types is therefore compiled for one decoder,
//! whatever the form of the message, which keeps the library of the clients small.

mod reader;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;
use serde::de::{
    self, DeserializeOwned, Deserializer, Error as _, Expected, MapAccess, SeqAccess, Unexpected,
    Visitor,
};

pub use reader::ListReader;
pub(crate) use reader::{DocumentReader, read_fields, read_items};

/// A value of JSON or MessagePack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// The value of a field that is missing.
    Absent,
    Null,
    Bool(bool),
    Natural(u64),
    Negative(i64),
    /// A number of which no type of the wire has any.
    Fraction,
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Self>),
    Map(Vec<Field>),
}

/// The name and the value of a field.
pub type Field = (String, Document);

/// The error of a document that is no value of the expected type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedError {
    /// The reason, or the unknown type. Empty if a value is absent, so that defaults cost no text.
    message: Box<str>,
    /// The known types, if the document has none of these.
    known_types: &'static [&'static str],
}

impl MalformedError {
    fn missing_value() -> Self {
        Self { message: Box::default(), known_types: &[] }
    }

    #[inline(never)]
    fn from_arguments(text: fmt::Arguments<'_>) -> Self {
        Self { message: text.to_string().into(), known_types: &[] }
    }

    /// Converts the error to that of another decoder.
    pub(crate) fn into_error<E: de::Error>(self) -> E {
        match self.known_types {
            [] => E::custom(self),
            known => E::unknown_variant(&self.message, known),
        }
    }
}

impl fmt::Display for MalformedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.message, self.known_types) {
            ("", []) => f.write_str("a value is missing"),
            (reason, []) => f.write_str(reason),
            (unknown, _) => write!(f, "unknown variant `{unknown}`"),
        }
    }
}

impl core::error::Error for MalformedError {}

// Each is compiled once, not at each of its many uses.
impl de::Error for MalformedError {
    #[cold]
    #[inline(never)]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::from_arguments(format_args!("{message}"))
    }

    #[cold]
    #[inline(never)]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::from_arguments(format_args!("invalid type: {unexpected}, expected {expected}"))
    }

    #[cold]
    #[inline(never)]
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::from_arguments(format_args!("invalid value: {unexpected}, expected {expected}"))
    }

    #[cold]
    #[inline(never)]
    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::from_arguments(format_args!("invalid length {length}, expected {expected}"))
    }

    #[cold]
    #[inline(never)]
    fn unknown_variant(variant: &str, known_types: &'static [&'static str]) -> Self {
        Self { message: variant.into(), known_types }
    }
}

impl Document {
    /// Decodes a value of a type. Fields that the type does not have are ignored.
    ///
    /// # Errors
    /// If the document is no value of the type.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, MalformedError> {
        T::deserialize(DocumentReader::new(self, false))
    }

    /// Returns the number; `None` if this is no natural number.
    pub fn as_natural(&self) -> Option<u64> {
        match self {
            Self::Natural(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the text of a field; `None` if this is no map, or the field is no text.
    pub fn get_text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a field; `None` if this is no map, or has no such field.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(fields) = self else {
            return None;
        };
        fields.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns the error of a value of another type than the expected one.
    fn report_mismatch(&self, expected: &dyn Expected) -> MalformedError {
        let unexpected = match self {
            Self::Absent => return MalformedError::missing_value(),
            Self::Null => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::Natural(number) => Unexpected::Unsigned(*number),
            Self::Negative(number) => Unexpected::Signed(*number),
            Self::Fraction => Unexpected::Other("fraction"),
            Self::Text(text) => Unexpected::Str(text),
            Self::Bytes(bytes) => Unexpected::Bytes(bytes),
            Self::List(_) => Unexpected::Seq,
            Self::Map(_) => Unexpected::Map,
        };
        MalformedError::invalid_type(unexpected, expected)
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Document, E> {
        Ok(Document::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Document, E> {
        Ok(Document::Natural(number))
    }

    // MessagePack may carry any number as a signed one.
    fn visit_i64<E>(self, number: i64) -> Result<Document, E> {
        Ok(u64::try_from(number).map_or(Document::Negative(number), Document::Natural))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Document, E> {
        Ok(Document::Fraction)
    }

    fn visit_str<E>(self, text: &str) -> Result<Document, E> {
        Ok(Document::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Document, E> {
        Ok(Document::Text(text))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Document, E> {
        Ok(Document::Bytes(bytes.to_vec()))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Document, E> {
        Ok(Document::Bytes(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Document, A::Error> {
        let mut items = Vec::with_capacity(capacity(seq.size_hint()));
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Document::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut fields = Vec::with_capacity(capacity(map.size_hint()));
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Document::Map(fields))
    }
}

/// A type that a document has another form of than serde's.
pub trait FromDocument: Sized {
    /// Decodes a value.
    ///
    /// # Errors
    /// If the document is no value of the type.
    fn from_document(document: Document) -> Result<Self, MalformedError>;
}

/// Returns the capacity for an announced number of values, which may be wrong.
fn capacity(announced: Option<usize>) -> usize {
    announced.unwrap_or_default().min(64)
}

/// Returns the values of `type` of an enum that is tagged by it, as its decoder lists them when it
/// rejects another one. The decoder is derived from the enum, so the list has every variant.
pub fn list_types<T: DeserializeOwned>() -> &'static [&'static str] {
    let untyped = Document::Map(vec![("type".into(), Document::Text("".into()))]);
    untyped.read::<T>().err().map(|error| error.known_types).unwrap_or_default()
}
