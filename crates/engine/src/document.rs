//! A value whose type is not known yet.
//!
//! A client decodes a message in two steps: from its bytes into a [`Document`], and from there into
//! the types of the table and its game. Each of these types is therefore compiled for one decoder,
//! whatever the form of the message, which keeps the library of the clients small. For the same
//! reason enums with a tag are decoded from documents everywhere; see `tagged`.

use alloc::borrow::Cow;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, Error as _, Expected, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

/// A value of JSON or MessagePack.
#[derive(Clone, Debug, PartialEq)]
pub enum Document<'de> {
    Null,
    Bool(bool),
    Natural(u64),
    /// A natural number of a binary format, in which it may stand for a card.
    Packed(u64),
    Negative(i64),
    Fraction(f64),
    Text(Cow<'de, str>),
    Bytes(Cow<'de, [u8]>),
    List(Vec<Self>),
    Map(Vec<(Cow<'de, str>, Self)>),
}

/// The error of a document that is no value of the expected type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    message: Box<str>,
    /// The type of the document, which is none of these, if this is the reason.
    unknown_type: Option<(Box<str>, &'static [&'static str])>,
}

impl DocumentError {
    /// Converts the error to that of another decoder.
    pub fn convert<E: de::Error>(self) -> E {
        match self.unknown_type {
            Some((unknown, known)) => E::unknown_variant(&unknown, known),
            None => E::custom(self.message),
        }
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for DocumentError {}

impl de::Error for DocumentError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string().into(), unknown_type: None }
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let message = alloc::format!("unknown variant `{variant}`");
        Self { message: message.into(), unknown_type: Some((variant.into(), expected)) }
    }
}

impl<'de> Document<'de> {
    /// Decodes the value as one of a type.
    pub fn read<T: Deserialize<'de>>(self) -> Result<T, DocumentError> {
        T::deserialize(self)
    }

    /// Returns the number; `None` if this is no natural number.
    pub fn natural(&self) -> Option<u64> {
        match self {
            Self::Natural(number) | Self::Packed(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the text of a field; `None` if this is no map, or the field is no text.
    pub fn text_of(&self, field: &str) -> Option<&str> {
        match self.field(field)? {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a field; `None` if this is no map, or has no such field.
    pub fn field(&self, field: &str) -> Option<&Self> {
        let Self::Map(fields) = self else {
            return None;
        };
        fields.iter().find(|(name, _)| name == field).map(|(_, value)| value)
    }

    /// Returns the error of a value of another type than the expected one.
    pub(crate) fn mismatch(&self, expected: &dyn Expected) -> DocumentError {
        let unexpected = match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::Natural(number) | Self::Packed(number) => Unexpected::Unsigned(*number),
            Self::Negative(number) => Unexpected::Signed(*number),
            Self::Fraction(number) => Unexpected::Float(*number),
            Self::Text(text) => Unexpected::Str(text),
            Self::Bytes(bytes) => Unexpected::Bytes(bytes),
            Self::List(_) => Unexpected::Seq,
            Self::Map(_) => Unexpected::Map,
        };
        DocumentError::invalid_type(unexpected, expected)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Document<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_binary = !deserializer.is_human_readable();
        match deserializer.deserialize_any(DocumentVisitor)? {
            Document::Natural(number) if is_binary => Ok(Document::Packed(number)),
            document => Ok(document),
        }
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Document<'de>, E> {
        Ok(Document::Null)
    }

    fn visit_none<E>(self) -> Result<Document<'de>, E> {
        Ok(Document::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Document<'de>, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Document<'de>, E> {
        Ok(Document::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Document<'de>, E> {
        Ok(Document::Natural(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Document<'de>, E> {
        Ok(u64::try_from(number).map_or(Document::Negative(number), Document::Natural))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Document<'de>, E> {
        Ok(Document::Fraction(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Document<'de>, E> {
        Ok(Document::Text(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Document<'de>, E> {
        Ok(Document::Text(text.to_owned().into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Document<'de>, E> {
        Ok(Document::Text(text.into()))
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Document<'de>, E> {
        Ok(Document::Bytes(bytes.into()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Document<'de>, E> {
        Ok(Document::Bytes(bytes.to_vec().into()))
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Document<'de>, E> {
        Ok(Document::Bytes(bytes.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Document<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Document::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(FieldName(name)) = map.next_key()? {
            fields.push((name, map.next_value()?));
        }
        Ok(Document::Map(fields))
    }
}

/// The name of a field, borrowed from the message if it is written there without escapes.
struct FieldName<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for FieldName<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(DocumentVisitor)? {
            Document::Text(name) => Ok(Self(name)),
            _ => Err(D::Error::custom("the name of a field is no text")),
        }
    }
}

/// The numbers that a decoder requests; all are visited as the widest ones.
macro_rules! deserialize_numbers {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
            match self {
                Self::Natural(number) | Self::Packed(number) => visitor.visit_u64(number),
                Self::Negative(number) => visitor.visit_i64(number),
                other => Err(other.mismatch(&visitor)),
            }
        }
    )+};
}

/// Decodes a value of a type from the document. Each method visits only what the type can be, so
/// that nothing else is compiled.
impl<'de> Deserializer<'de> for Document<'de> {
    type Error = DocumentError;

    deserialize_numbers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
    }

    fn is_human_readable(&self) -> bool {
        !matches!(self, Self::Packed(_))
    }

    forward_to_deserialize_any! { u128 i128 f32 f64 char unit unit_struct }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Natural(number) | Self::Packed(number) => visitor.visit_u64(number),
            Self::Negative(number) => visitor.visit_i64(number),
            Self::Fraction(number) => visitor.visit_f64(number),
            Self::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Self::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Self::Bytes(Cow::Borrowed(bytes)) => visitor.visit_borrowed_bytes(bytes),
            Self::Bytes(Cow::Owned(bytes)) => visitor.visit_byte_buf(bytes),
            Self::List(items) => visitor.visit_seq(ListReader(items.into_iter())),
            Self::Map(fields) => visitor.visit_map(MapReader::new(fields)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        visitor.visit_unit()
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        match self {
            Self::Bool(value) => visitor.visit_bool(value),
            other => Err(other.mismatch(&visitor)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        match self {
            Self::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Self::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Self::Bytes(bytes) => visitor.visit_bytes(&bytes),
            other => Err(other.mismatch(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        match self {
            Self::Text(text) => visitor.visit_str(&text),
            other => Err(other.mismatch(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        match self {
            Self::Null => visitor.visit_none(),
            other => visitor.visit_some(other),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        match self {
            Self::List(items) => visitor.visit_seq(ListReader(items.into_iter())),
            other => Err(other.mismatch(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentError> {
        match self {
            Self::Map(fields) => visitor.visit_map(MapReader::new(fields)),
            other => Err(other.mismatch(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        match self {
            Self::List(items) => visitor.visit_seq(ListReader(items.into_iter())),
            Self::Map(fields) => visitor.visit_map(MapReader::new(fields)),
            other => Err(other.mismatch(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        match self {
            Self::Text(variant) => visitor.visit_enum(CowStrDeserializer::new(variant)),
            Self::Map(fields) => {
                visitor.visit_enum(MapAccessDeserializer::new(MapReader::new(fields)))
            }
            other => Err(other.mismatch(&visitor)),
        }
    }
}

/// The items of a list that are not read yet.
#[derive(Debug)]
pub struct ListReader<'de>(vec::IntoIter<Document<'de>>);

impl<'de> ListReader<'de> {
    pub fn new(items: Vec<Document<'de>>) -> Self {
        Self(items.into_iter())
    }
}

impl<'de> Iterator for ListReader<'de> {
    type Item = Document<'de>;

    fn next(&mut self) -> Option<Document<'de>> {
        self.0.next()
    }
}

impl<'de> SeqAccess<'de> for ListReader<'de> {
    type Error = DocumentError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DocumentError> {
        self.0.next().map(|item| seed.deserialize(item)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The fields of a map that are not read yet.
pub(crate) struct MapReader<'de> {
    fields: vec::IntoIter<(Cow<'de, str>, Document<'de>)>,
    /// The value of the field whose name was read last.
    value: Document<'de>,
}

impl<'de> MapReader<'de> {
    pub(crate) fn new(fields: Vec<(Cow<'de, str>, Document<'de>)>) -> Self {
        Self { fields: fields.into_iter(), value: Document::Null }
    }
}

impl<'de> MapAccess<'de> for MapReader<'de> {
    type Error = DocumentError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DocumentError> {
        let Some((name, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.value = value;
        seed.deserialize(Document::Text(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DocumentError> {
        seed.deserialize(core::mem::replace(&mut self.value, Document::Null))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len())
    }
}

/// Returns the values of `type` of an enum that is tagged by it, as its decoder lists them when it
/// rejects another one. The decoder is derived from the enum, so the list has every variant.
pub fn known_types_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let untyped = Document::Map(vec![("type".into(), Document::Text("".into()))]);
    let error = untyped.read::<T>().err();
    error.and_then(|error| error.unknown_type).map(|(_, known)| known).unwrap_or_default()
}
