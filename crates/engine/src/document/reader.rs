//! The decoder of the types of the wire from documents.
//!
//! A map is passed to a type as the list of its fields in the order in which the type declares
//! them. The code that serde derives for a list is much smaller than that for a map, and the latter
//! is then not compiled at all.

use alloc::vec;
use alloc::vec::Vec;

use serde::de::value::MapDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::{Document, Field, MalformedError};

/// A document that is being decoded.
pub(crate) struct DocumentReader {
    document: Document,
    /// True if cards are numbers, and ids bytes.
    is_binary: bool,
}

impl DocumentReader {
    pub(crate) fn new(document: Document, is_binary: bool) -> Self {
        Self { document, is_binary }
    }

    fn report_mismatch<T>(&self, visitor: &dyn serde::de::Expected) -> Result<T, MalformedError> {
        Err(self.document.report_mismatch(visitor))
    }
}

impl<'de> IntoDeserializer<'de, MalformedError> for DocumentReader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The numbers that a decoder requests; all are visited as the widest ones.
macro_rules! deserialize_numbers {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
            match self.document {
                Document::Natural(number) => visitor.visit_u64(number),
                Document::Negative(number) => visitor.visit_i64(number),
                _ => self.report_mismatch(&visitor),
            }
        }
    )+};
}

/// Decodes a value of a type from the document. Each method visits only what the type can be, so
/// that nothing else is compiled.
impl<'de> Deserializer<'de> for DocumentReader {
    type Error = MalformedError;

    deserialize_numbers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
    }

    forward_to_deserialize_any! { u128 i128 f32 f64 char unit unit_struct }

    fn is_human_readable(&self) -> bool {
        !self.is_binary
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        let is_binary = self.is_binary;
        match self.document {
            Document::Absent => Err(MalformedError::missing_value()),
            Document::Null => visitor.visit_unit(),
            Document::Bool(value) => visitor.visit_bool(value),
            Document::Natural(number) => visitor.visit_u64(number),
            Document::Negative(number) => visitor.visit_i64(number),
            Document::Fraction => visitor.visit_f64(f64::NAN),
            Document::Text(text) => visitor.visit_string(text),
            Document::Bytes(bytes) => visitor.visit_byte_buf(bytes),
            Document::List(items) => read_items(items, is_binary, visitor),
            Document::Map(fields) => read_map(fields, is_binary, visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Absent => Err(MalformedError::missing_value()),
            _ => visitor.visit_unit(),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Bool(value) => visitor.visit_bool(value),
            _ => self.report_mismatch(&visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Text(text) => visitor.visit_string(text),
            Document::Bytes(bytes) => visitor.visit_bytes(&bytes),
            _ => self.report_mismatch(&visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Text(text) => visitor.visit_str(&text),
            _ => self.report_mismatch(&visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Absent | Document::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::List(items) => read_items(items, self.is_binary, visitor),
            _ => self.report_mismatch(&visitor),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Map(fields) => read_map(fields, self.is_binary, visitor),
            _ => self.report_mismatch(&visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::List(items) => read_items(items, self.is_binary, visitor),
            Document::Map(fields) => read_fields(fields, names, false, self.is_binary, visitor),
            _ => self.report_mismatch(&visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Text(variant) => visitor.visit_enum(variant.into_deserializer()),
            _ => self.report_mismatch(&visitor),
        }
    }
}

/// Decodes a map whose fields have no type.
fn read_map<'de, V: Visitor<'de>>(
    fields: Vec<Field>,
    is_binary: bool,
    visitor: V,
) -> Result<V::Value, MalformedError> {
    let fields =
        fields.into_iter().map(|(name, document)| (name, DocumentReader::new(document, is_binary)));
    visitor.visit_map(MapDeserializer::new(fields))
}

/// Decodes all items of a list.
pub(crate) fn read_items<'de, V: Visitor<'de>>(
    items: Vec<Document>,
    is_binary: bool,
    visitor: V,
) -> Result<V::Value, MalformedError> {
    read_all(ListReader::new(items, is_binary), visitor)
}

/// Decodes the fields of a type with these names. A strict type has no others.
pub(crate) fn read_fields<'de, V: Visitor<'de>>(
    fields: Vec<Field>,
    names: &'static [&'static str],
    is_strict: bool,
    is_binary: bool,
    visitor: V,
) -> Result<V::Value, MalformedError> {
    let source = Source::Fields(Fields { fields, names, read: 0, next: 0, is_strict });
    read_all(ListReader { source, is_absent: false, is_binary }, visitor)
}

fn read_all<'de, V: Visitor<'de>>(
    mut list: ListReader,
    visitor: V,
) -> Result<V::Value, MalformedError> {
    match visitor.visit_seq(&mut list) {
        Ok(value) => list.check_rest().map(|()| value),
        Err(error) => Err(list.explain_error(error)),
    }
}

/// The items of a list, or the values of a map's fields, that are not read yet.
#[derive(Debug)]
pub struct ListReader {
    source: Source,
    /// True if the last value is one that the map lacks.
    is_absent: bool,
    is_binary: bool,
}

#[derive(Debug)]
enum Source {
    Items(vec::IntoIter<Document>),
    Fields(Fields),
}

impl ListReader {
    /// Reads a list. In a binary form cards are numbers, and ids bytes.
    pub fn new(items: Vec<Document>, is_binary: bool) -> Self {
        Self { source: Source::Items(items.into_iter()), is_absent: false, is_binary }
    }

    /// Fails if more is left than the type has read.
    fn check_rest(&self) -> Result<(), MalformedError> {
        match &self.source {
            Source::Items(items) if items.len() == 0 => Ok(()),
            Source::Items(_) => Err(MalformedError::custom("the list has too many items")),
            Source::Fields(fields) => fields.check_rest(),
        }
    }

    /// Returns the reason for an error: the last field, if the map lacks it.
    fn explain_error(&self, error: MalformedError) -> MalformedError {
        match &self.source {
            Source::Fields(fields) if self.is_absent => {
                let last = fields.read.checked_sub(1).and_then(|last| fields.names.get(last));
                MalformedError::missing_field(last.unwrap_or(&""))
            }
            _ => error,
        }
    }
}

impl Iterator for ListReader {
    type Item = Document;

    /// Returns the next value, which is absent if it is that of a field that the map lacks.
    #[inline(never)]
    fn next(&mut self) -> Option<Document> {
        let document = match &mut self.source {
            Source::Items(items) => items.next()?,
            Source::Fields(fields) => fields.next()?,
        };
        self.is_absent = matches!(document, Document::Absent);
        Some(document)
    }
}

impl<'de> SeqAccess<'de> for ListReader {
    type Error = MalformedError;

    /// Returns `None` also for a value that is absent and that may not be; the type then has a
    /// default for it or fails. Only an optional value may be absent.
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, MalformedError> {
        let Some(document) = self.next() else {
            return Ok(None);
        };
        match seed.deserialize(DocumentReader { document, is_binary: self.is_binary }) {
            Err(_) if self.is_absent => Ok(None),
            read => read.map(Some),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        match &self.source {
            Source::Items(items) => Some(items.len()),
            Source::Fields(_) => None,
        }
    }
}

/// The fields of a map, in the order in which their type declares them.
#[derive(Debug)]
struct Fields {
    /// The fields; those that were read are absent.
    fields: Vec<Field>,
    names: &'static [&'static str],
    /// The number of names that were read.
    read: usize,
    /// The place where the next field is if the map has the same order.
    next: usize,
    /// True if the type has no other fields.
    is_strict: bool,
}

impl Fields {
    /// Returns the value of the next field, which is absent if the map lacks it.
    fn next(&mut self) -> Option<Document> {
        let name = *self.names.get(self.read)?;
        self.read += 1;
        let is_named = |field: &Field| field.0 == name;
        if !self.fields.get(self.next).is_some_and(is_named) {
            match self.fields.iter().position(is_named) {
                Some(place) => self.next = place,
                None => return Some(Document::Absent),
            }
        }
        let (_, value) = self.fields.get_mut(self.next)?;
        self.next += 1;
        Some(core::mem::replace(value, Document::Absent))
    }

    /// Fails if a field that was not read has the name of another one, or is unknown to a strict
    /// type.
    fn check_rest(&self) -> Result<(), MalformedError> {
        for (name, value) in &self.fields {
            if matches!(value, Document::Absent) {
                continue;
            }
            let is_known = self.names.contains(&&**name);
            if is_known || self.is_strict {
                let reason = if is_known { "duplicate" } else { "unknown" };
                return Err(MalformedError::custom(format_args!("{reason} field `{name}`")));
            }
        }
        Ok(())
    }
}
