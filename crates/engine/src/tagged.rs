//! Enums that are objects with a `type`: how they are written and read.
//!
//! serde can derive this too, but then compiles the fields of each variant once more for every
//! decoder and error. Here each of these enums is compiled for one decoder, that of [`Document`].
//! serde derives the fields of the variants (`remote = "Self"`), and this module adds the tag.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, VariantAccess, Visitor};
use serde::ser::{Impossible, SerializeStruct, SerializeStructVariant, Serializer};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};

use crate::document::{Document, DocumentReader, MalformedError, read_fields, read_items};

/// The field that names the variant.
const TAG: &str = "type";

/// Implements the traits of serde for an enum for which serde has derived `remote = "Self"`. The
/// bounds of a parameter are those for writing and for reading.
#[macro_export]
macro_rules! tagged {
    ($enum:ty $(, $parameter:ident: $written:path, $read:path)?) => {
        impl$(<$parameter: $written>)? serde::Serialize for $enum {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, $crate::tagged::TaggedWriter::new(serializer))
            }
        }

        impl<'de $(, $parameter: $read)?> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::tagged::read_tagged(deserializer, Self::deserialize)
            }
        }
    };
}

/// Reads an enum by its derived decoder, to which the variant and its fields are passed.
///
/// # Errors
/// If the value is no object with a `type`, or the derived decoder fails.
pub fn read_tagged<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: impl FnOnce(TaggedReader) -> Result<T, MalformedError>,
) -> Result<T, D::Error> {
    let document = Document::deserialize(deserializer)?;
    read(TaggedReader { document, is_strict: false }).map_err(MalformedError::into_error)
}

/// An object of which a field names the variant of an enum, and the others are its fields. In a
/// list the type comes first.
#[derive(Debug)]
pub struct TaggedReader {
    pub document: Document,
    /// True if unknown fields are rejected.
    pub is_strict: bool,
}

impl<'de> Deserializer<'de> for TaggedReader {
    type Error = MalformedError;

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, MalformedError> {
        Err(MalformedError::custom("only an enum has a type"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        let Self { document: mut content, is_strict } = self;
        let tag = match &mut content {
            Document::Map(fields) => {
                let mut tagged = fields.iter_mut().filter(|(name, _)| name == TAG);
                let tag = tagged.next().map(|(_, tag)| core::mem::replace(tag, Document::Absent));
                if tagged.next().is_some() {
                    return Err(MalformedError::duplicate_field(TAG));
                }
                tag
            }
            Document::List(items) if !items.is_empty() => Some(items.remove(0)),
            _ => None,
        };
        let tag = tag.ok_or_else(|| MalformedError::missing_field(TAG))?;
        visitor.visit_enum(Variant { tag, content, is_strict })
    }
}

/// A variant of an enum.
struct Variant {
    tag: Document,
    /// The fields, or the list of their values. The tag is absent.
    content: Document,
    /// True if unknown fields are rejected.
    is_strict: bool,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = MalformedError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        mut self,
        seed: V,
    ) -> Result<(V::Value, Self), MalformedError> {
        let tag = DocumentReader::new(core::mem::replace(&mut self.tag, Document::Absent), false);
        Ok((seed.deserialize(tag)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant {
    type Error = MalformedError;

    fn unit_variant(self) -> Result<(), MalformedError> {
        match self.content {
            Document::List(items) if !items.is_empty() => {
                Err(MalformedError::custom("the variant has no fields"))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        mut self,
        seed: T,
    ) -> Result<T::Value, MalformedError> {
        if let Document::Map(fields) = &mut self.content {
            fields.retain(|(_, value)| !matches!(value, Document::Absent));
        }
        seed.deserialize(DocumentReader::new(self.content, false))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, MalformedError> {
        Err(MalformedError::custom("the fields of a variant have names"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MalformedError> {
        match self.content {
            Document::List(items) => read_items(items, false, visitor),
            Document::Map(fields) => read_fields(fields, names, self.is_strict, false, visitor),
            _ => Err(MalformedError::custom("the variant has no fields")),
        }
    }
}

/// Writes the variants of an enum as objects with a `type`. It writes no other value.
#[derive(Debug)]
pub struct TaggedWriter<S> {
    serializer: S,
    /// The variant whose only value, a struct, is written.
    variant: Option<&'static str>,
}

impl<S> TaggedWriter<S> {
    pub fn new(serializer: S) -> Self {
        Self { serializer, variant: None }
    }
}

/// Defines the methods for values that are no variants with named fields.
macro_rules! refuse {
    ($($method:ident$(<$of:ident>)?($($argument:ty),*) -> $written:ty;)+) => {$(
        fn $method$(<$of: Serialize + ?Sized>)?(
            self,
            $(_: $argument),*
        ) -> Result<$written, S::Error> {
            Err(not_tagged())
        }
    )+};
}

impl<S: Serializer> Serializer for TaggedWriter<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStruct = S::SerializeStruct;
    type SerializeStructVariant = TaggedFields<S::SerializeStruct>;

    refuse! {
        serialize_bool(bool) -> S::Ok;
        serialize_i8(i8) -> S::Ok;
        serialize_i16(i16) -> S::Ok;
        serialize_i32(i32) -> S::Ok;
        serialize_i64(i64) -> S::Ok;
        serialize_u8(u8) -> S::Ok;
        serialize_u16(u16) -> S::Ok;
        serialize_u32(u32) -> S::Ok;
        serialize_u64(u64) -> S::Ok;
        serialize_f32(f32) -> S::Ok;
        serialize_f64(f64) -> S::Ok;
        serialize_char(char) -> S::Ok;
        serialize_str(&str) -> S::Ok;
        serialize_bytes(&[u8]) -> S::Ok;
        serialize_none() -> S::Ok;
        serialize_some<T>(&T) -> S::Ok;
        serialize_unit() -> S::Ok;
        serialize_unit_struct(&'static str) -> S::Ok;
        serialize_newtype_struct<T>(&'static str, &T) -> S::Ok;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        number: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        SerializeStructVariant::end(self.serialize_struct_variant(name, number, variant, 0)?)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let tagged = Self { variant: Some(variant), ..self };
        Ok(TaggedFields(tagged.serialize_struct(name, length)?))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(Self { variant: Some(variant), ..self })
    }

    fn serialize_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<S::SerializeStruct, S::Error> {
        let variant = self.variant.ok_or_else(not_tagged)?;
        let mut fields = self.serializer.serialize_struct(name, length + 1)?;
        fields.serialize_field(TAG, variant)?;
        Ok(fields)
    }

    fn is_human_readable(&self) -> bool {
        self.serializer.is_human_readable()
    }
}

fn not_tagged<E: serde::ser::Error>() -> E {
    E::custom("only the variants of an enum have a type")
}

/// The fields of a variant, written as those of an object.
#[derive(Debug)]
pub struct TaggedFields<S>(S);

impl<S: SerializeStruct> SerializeStructVariant for TaggedFields<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        field: &T,
    ) -> Result<(), S::Error> {
        self.0.serialize_field(name, field)
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), S::Error> {
        self.0.skip_field(name)
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use serde::{Deserialize, Serialize};

    /// Defines an enum.
    macro_rules! shape {
        ($(#[$attribute:meta])+ $name:ident) => {
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            $(#[$attribute])+
            enum $name {
                Point,
                Circle {
                    radius: u8,
                    #[serde(default, skip_serializing_if = "Option::is_none")]
                    inner: Option<Box<$name>>,
                    #[serde(default)]
                    name: String,
                },
                Square(Square),
            }
        };
    }

    shape! { #[serde(remote = "Self", rename_all = "snake_case")] Shape }
    // The enum as serde derives it with a tag.
    shape! { #[serde(tag = "type", rename_all = "snake_case")] DerivedShape }

    tagged!(Shape);

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Square {
        side: u8,
        at: Option<(u8, u8)>,
    }

    /// The values of fields in the texts.
    const VALUES: [&str; 14] = [
        "2",
        "-2",
        "300",
        "1.5",
        "null",
        "true",
        r#""point""#,
        r#""circle""#,
        r#""triangle""#,
        "[]",
        "[[],2]",
        "{}",
        r#"{"type":"point"}"#,
        r#"{"radius":1,"type":"circle"}"#,
    ];

    const KINDS: [&str; 4] = ["point", "circle", "square", "triangle"];
    const FIELDS: [&str; 7] = ["radius", "inner", "name", "side", "at", "size", "type"];

    fn texts() -> Vec<String> {
        let mut texts: Vec<String> = VALUES.map(String::from).into();
        for value in VALUES {
            texts.extend([
                format!(r#"["point",{value}]"#),
                format!(r#"["circle",{value}]"#),
                format!(r#"["circle",1,null,{value}]"#),
                format!(r#"["square",1,{value}]"#),
                format!(r#"[{value}]"#),
            ]);
            for (field, kind) in FIELDS.iter().flat_map(|field| KINDS.map(|kind| (field, kind))) {
                let tag = format!(r#""type":"{kind}""#);
                let pair = format!(r#""{field}":{value}"#);
                texts.extend([
                    format!("{{{tag},{pair}}}"),
                    format!("{{{pair},{tag}}}"),
                    format!(r#"{{"radius":1,{tag},{pair}}}"#),
                    format!(r#"{{"side":1,"at":[3,4],{pair},{tag}}}"#),
                ]);
            }
        }
        texts
    }

    #[test]
    fn an_object_with_a_type_is_read_as_serde_reads_it() {
        let mut accepted = 0;
        for text in texts() {
            let derived = serde_json::from_str::<DerivedShape>(&text).ok();
            let read = serde_json::from_str::<Shape>(&text).ok();
            assert_eq!(format!("{read:?}"), format!("{derived:?}"), "{text}");
            accepted += usize::from(read.is_some());
        }
        assert!(accepted > 100, "{accepted}");
    }

    #[test]
    fn the_number_of_a_variant_is_no_type() {
        let text = r#"{"type":"circle","radius":1,"inner":[1,2]}"#;
        assert!(serde_json::from_str::<DerivedShape>(text).is_ok());
        assert!(serde_json::from_str::<Shape>(text).is_err());
    }

    #[test]
    fn a_variant_is_written_as_serde_writes_it() {
        let point = r#"{"type":"point"}"#;
        let circle = r#"{"type":"circle","radius":3,"inner":{"type":"point"},"name":"x"}"#;
        let square = r#"{"type":"square","side":2,"at":[3,4]}"#;
        for text in [point, circle, square] {
            let derived: DerivedShape = serde_json::from_str(text).unwrap();
            let shape: Shape = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&derived).unwrap(), text);
            assert_eq!(serde_json::to_string(&shape).unwrap(), text);
        }
    }

    #[test]
    fn invalid_objects_are_refused_with_the_reason() {
        for (text, reason) in [
            (r#"{"radius":2}"#, "missing field `type`"),
            (r#"{"type":"triangle"}"#, "unknown variant `triangle`, expected one of"),
            (r#"{"type":"circle","radius":2,"type":"circle"}"#, "duplicate field `type`"),
            (r#"{"type":"circle","radius":2,"radius":2}"#, "duplicate field `radius`"),
            (r#"{"type":"circle","radius":-2}"#, "invalid value: integer `-2`, expected u8"),
            (r#"{"type":"circle"}"#, "missing field `radius`"),
        ] {
            let error = serde_json::from_str::<Shape>(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
