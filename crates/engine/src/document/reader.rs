//! The decoder of the types of the wire from documents.
//!
//! A map is passed to a type as the list of its fields in the order in which the type declares
//! them. The code that serde derives for a list is much smaller than that for a map, and the latter
//! is then not compiled at all.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Document, Field, MalformedError};

/// The types that reject unknown fields, because serde tells that only to the code for maps.
const STRICT_TYPES: [&str; 13] = [
    "ActionDocument",
    "Bet",
    "Clocks",
    "Countdowns",
    "Crown",
    "EndingCounts",
    "Hits",
    "ItemCounts",
    "Price",
    "PrivateTerms",
    "Rules",
    "Terms",
    "TournamentSeating",
];

pub(crate) fn is_strict(name: &str) -> bool {
    STRICT_TYPES.contains(&name)
}

/// A document that is being decoded.
pub(crate) struct DocumentReader<'de> {
    document: Document<'de>,
    /// Whether cards are numbers, and ids bytes.
    is_binary: bool,
}

impl<'de> DocumentReader<'de> {
    pub(crate) fn new(document: Document<'de>, is_binary: bool) -> Self {
        Self { document, is_binary }
    }

    fn mismatch<T>(&self, visitor: &dyn serde::de::Expected) -> Result<T, MalformedError> {
        Err(self.document.mismatch(visitor))
    }
}

/// The numbers that a decoder requests; all are visited as the widest ones.
macro_rules! deserialize_numbers {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
            match self.document {
                Document::Natural(number) => visitor.visit_u64(number),
                Document::Negative(number) => visitor.visit_i64(number),
                _ => self.mismatch(&visitor),
            }
        }
    )+};
}

/// Decodes a value of a type from the document. Each method visits only what the type can be, so
/// that nothing else is compiled.
impl<'de> Deserializer<'de> for DocumentReader<'de> {
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
            Document::Absent => Err(MalformedError::absent()),
            Document::Null => visitor.visit_unit(),
            Document::Bool(value) => visitor.visit_bool(value),
            Document::Natural(number) => visitor.visit_u64(number),
            Document::Negative(number) => visitor.visit_i64(number),
            Document::Fraction => visitor.visit_f64(f64::NAN),
            Document::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Document::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Document::Bytes(Cow::Borrowed(bytes)) => visitor.visit_borrowed_bytes(bytes),
            Document::Bytes(Cow::Owned(bytes)) => visitor.visit_byte_buf(bytes),
            Document::List(items) => read_items(items, is_binary, visitor),
            Document::Map(fields) => visitor.visit_map(MapReader::new(fields, is_binary)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Absent => Err(MalformedError::absent()),
            _ => visitor.visit_unit(),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Bool(value) => visitor.visit_bool(value),
            _ => self.mismatch(&visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Document::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Document::Bytes(bytes) => visitor.visit_bytes(&bytes),
            _ => self.mismatch(&visitor),
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
            Document::Natural(number) if self.is_binary => visitor.visit_u64(number),
            _ => self.mismatch(&visitor),
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
            _ => self.mismatch(&visitor),
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
            Document::Map(fields) => visitor.visit_map(MapReader::new(fields, self.is_binary)),
            _ => self.mismatch(&visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        match self.document {
            Document::List(items) => read_items(items, self.is_binary, visitor),
            Document::Map(fields) => {
                read_fields(fields, names, is_strict(name), self.is_binary, visitor)
            }
            _ => self.mismatch(&visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        let is_binary = self.is_binary;
        let (variant, value) = match self.document {
            Document::Map(mut fields) if fields.len() == 1 => {
                let field = fields.pop();
                let (name, value) = field.unwrap_or_else(|| ("".into(), Document::Absent));
                (Document::Text(name), value)
            }
            Document::Map(_) => return self.mismatch(&"a map of one field"),
            // A name, or in a binary form its number.
            variant => (variant, Document::Absent),
        };
        visitor.visit_enum(NamedVariant { variant, value, is_binary })
    }
}

/// A variant of an enum without a tag: its name, or a map from the name to its value.
struct NamedVariant<'de> {
    variant: Document<'de>,
    /// Absent if only the name is written.
    value: Document<'de>,
    is_binary: bool,
}

impl<'de> EnumAccess<'de> for NamedVariant<'de> {
    type Error = MalformedError;
    type Variant = DocumentReader<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, DocumentReader<'de>), MalformedError> {
        let Self { variant, value, is_binary } = self;
        let variant = seed.deserialize(DocumentReader { document: variant, is_binary })?;
        Ok((variant, DocumentReader { document: value, is_binary }))
    }
}

impl<'de> VariantAccess<'de> for DocumentReader<'de> {
    type Error = MalformedError;

    fn unit_variant(self) -> Result<(), MalformedError> {
        match self.document {
            Document::Absent | Document::Null => Ok(()),
            _ => self.mismatch(&"no value"),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, MalformedError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        self.deserialize_struct("", names, visitor)
    }
}

/// Decodes all items of a list.
pub(crate) fn read_items<'de, V: Visitor<'de>>(
    items: Vec<Document<'de>>,
    is_binary: bool,
    visitor: V,
) -> Result<V::Value, MalformedError> {
    read_all(ListReader::new(items, is_binary), visitor)
}

/// Decodes the fields of a type with these names. A strict type has no others.
pub(crate) fn read_fields<'de, V: Visitor<'de>>(
    fields: Vec<Field<'de>>,
    names: &'static [&'static str],
    is_strict: bool,
    is_binary: bool,
    visitor: V,
) -> Result<V::Value, MalformedError> {
    let source = Source::Fields(Fields { fields, names, read: 0, next: 0, is_strict });
    read_all(ListReader { source, is_absent: false, is_binary }, visitor)
}

fn read_all<'de, V: Visitor<'de>>(
    mut list: ListReader<'de>,
    visitor: V,
) -> Result<V::Value, MalformedError> {
    match visitor.visit_seq(&mut list) {
        Ok(value) => list.check_rest().map(|()| value),
        Err(error) => Err(list.explain(error)),
    }
}

/// The items of a list, or the values of a map's fields, that are not read yet.
#[derive(Debug)]
pub struct ListReader<'de> {
    source: Source<'de>,
    /// Whether the last value is one that the map lacks.
    is_absent: bool,
    is_binary: bool,
}

#[derive(Debug)]
enum Source<'de> {
    Items(vec::IntoIter<Document<'de>>),
    Fields(Fields<'de>),
}

impl<'de> ListReader<'de> {
    /// Reads a list. In a binary form cards are numbers, and ids bytes.
    pub fn new(items: Vec<Document<'de>>, is_binary: bool) -> Self {
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
    fn explain(&self, error: MalformedError) -> MalformedError {
        match &self.source {
            Source::Fields(fields) if self.is_absent => {
                let last = fields.read.checked_sub(1).and_then(|last| fields.names.get(last));
                MalformedError::missing_field(last.unwrap_or(&""))
            }
            _ => error,
        }
    }
}

impl<'de> Iterator for ListReader<'de> {
    type Item = Document<'de>;

    /// Returns the next value, which is absent if it is that of a field that the map lacks.
    #[inline(never)]
    fn next(&mut self) -> Option<Document<'de>> {
        let document = match &mut self.source {
            Source::Items(items) => items.next()?,
            Source::Fields(fields) => fields.next()?,
        };
        self.is_absent = matches!(document, Document::Absent);
        Some(document)
    }
}

impl<'de> SeqAccess<'de> for ListReader<'de> {
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
struct Fields<'de> {
    /// The fields; those that were read are absent.
    fields: Vec<Field<'de>>,
    names: &'static [&'static str],
    /// The number of names that were read.
    read: usize,
    /// The place where the next field is if the map has the same order.
    next: usize,
    /// Whether the type has no other fields.
    is_strict: bool,
}

impl<'de> Fields<'de> {
    /// Returns the value of the next field, which is absent if the map lacks it.
    fn next(&mut self) -> Option<Document<'de>> {
        let name = *self.names.get(self.read)?;
        self.read += 1;
        let is_named = |field: &Field<'_>| field.0 == name;
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

/// The fields of a map that are not read yet.
struct MapReader<'de> {
    fields: vec::IntoIter<Field<'de>>,
    /// The value of the field whose name was read last.
    value: Document<'de>,
    is_binary: bool,
}

impl<'de> MapReader<'de> {
    fn new(fields: Vec<Field<'de>>, is_binary: bool) -> Self {
        Self { fields: fields.into_iter(), value: Document::Null, is_binary }
    }
}

impl<'de> MapAccess<'de> for MapReader<'de> {
    type Error = MalformedError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, MalformedError> {
        let Some((name, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.value = value;
        let document = Document::Text(name);
        seed.deserialize(DocumentReader { document, is_binary: self.is_binary }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, MalformedError> {
        let document = self.value.take();
        seed.deserialize(DocumentReader { document, is_binary: self.is_binary })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len())
    }
}
