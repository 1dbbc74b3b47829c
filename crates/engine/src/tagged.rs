//! Enums that are objects with a `type`: how they are written and read.
//!
//! serde can derive this too, but then compiles the fields of each variant once more for every
//! decoder. Here each of these enums is compiled for one decoder, that of [`Document`]. serde
//! derives the fields of the variants (`remote = "Self"`), and this module adds the tag.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, VariantAccess, Visitor};
use serde::ser::{Error as _, Impossible, SerializeStruct, SerializeStructVariant, Serializer};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};

use crate::document::{Document, DocumentError, MapReader};

/// The field that names the variant.
const TAG: &str = "type";

/// Implements the traits of serde for an enum without parameters, for which serde has derived
/// `remote = "Self"`.
macro_rules! tagged {
    ($enum:ty) => {
        impl serde::Serialize for $enum {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, $crate::tagged::Tagged(serializer))
            }
        }

        impl<'de> serde::Deserialize<'de> for $enum {
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
    read: impl FnOnce(TaggedDocument<'de>) -> Result<T, DocumentError>,
) -> Result<T, D::Error> {
    read(TaggedDocument(Document::deserialize(deserializer)?)).map_err(DocumentError::convert)
}

/// An object of which a field names the variant of an enum, and the others are its fields.
#[derive(Debug)]
pub struct TaggedDocument<'de>(Document<'de>);

impl<'de> Deserializer<'de> for TaggedDocument<'de> {
    type Error = DocumentError;

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DocumentError> {
        Err(DocumentError::custom("only an enum has a type"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        match self.0 {
            Document::Map(fields) => visitor.visit_enum(Variant::new(fields)?),
            other => Err(other.mismatch(&visitor)),
        }
    }
}

/// A variant and its fields.
struct Variant<'de> {
    tag: Document<'de>,
    fields: Vec<(Cow<'de, str>, Document<'de>)>,
}

impl<'de> Variant<'de> {
    fn new(mut fields: Vec<(Cow<'de, str>, Document<'de>)>) -> Result<Self, DocumentError> {
        let place = fields.iter().position(|(name, _)| name == TAG);
        let (_, tag) = fields.remove(place.ok_or_else(|| DocumentError::missing_field(TAG))?);
        if fields.iter().any(|(name, _)| name == TAG) {
            return Err(DocumentError::duplicate_field(TAG));
        }
        Ok(Self { tag, fields })
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DocumentError;
    type Variant = VariantFields<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, VariantFields<'de>), DocumentError> {
        Ok((seed.deserialize(self.tag)?, VariantFields(self.fields)))
    }
}

/// The fields of a variant.
struct VariantFields<'de>(Vec<(Cow<'de, str>, Document<'de>)>);

impl<'de> VariantAccess<'de> for VariantFields<'de> {
    type Error = DocumentError;

    fn unit_variant(self) -> Result<(), DocumentError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DocumentError> {
        seed.deserialize(Document::Map(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, DocumentError> {
        Err(DocumentError::custom("the fields of a variant have names"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentError> {
        visitor.visit_map(MapReader::new(self.0))
    }
}

/// Writes the variants of an enum as objects with a `type`. It writes no other value.
#[derive(Debug)]
pub struct Tagged<S>(pub S);

/// Defines the methods for values that are no variants with named fields.
macro_rules! refuse {
    ($($method:ident$(<$of:ident>)?($($argument:ty),*) -> $written:ty;)+) => {$(
        fn $method$(<$of: Serialize + ?Sized>)?(
            self,
            $(_: $argument),*
        ) -> Result<$written, S::Error> {
            Err(S::Error::custom("only the variants of an enum have a type"))
        }
    )+};
}

impl<S: Serializer> Serializer for Tagged<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStruct = Impossible<S::Ok, S::Error>;
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
        serialize_newtype_variant<T>(&'static str, u32, &'static str, &T) -> S::Ok;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
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
        let mut fields = self.0.serialize_struct(name, length + 1)?;
        fields.serialize_field(TAG, variant)?;
        Ok(TaggedFields(fields))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
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
    use serde::{Deserialize, Serialize};

    use alloc::string::ToString;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(remote = "Self", rename_all = "snake_case", deny_unknown_fields)]
    enum Shape {
        Point,
        Circle {
            radius: u8,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            inner: Option<alloc::boxed::Box<Shape>>,
        },
    }

    tagged!(Shape);

    #[test]
    fn a_variant_is_an_object_with_a_type() {
        let circle = |radius, inner| Shape::Circle { radius, inner };
        let nested = circle(3, Some(alloc::boxed::Box::new(circle(2, None))));
        for (shape, text) in [
            (Shape::Point, r#"{"type":"point"}"#),
            (circle(2, None), r#"{"type":"circle","radius":2}"#),
            (nested, r#"{"type":"circle","radius":3,"inner":{"type":"circle","radius":2}}"#),
        ] {
            assert_eq!(serde_json::to_string(&shape).unwrap(), text);
            assert_eq!(serde_json::from_str::<Shape>(text).unwrap(), shape);
        }
        let reordered: Shape = serde_json::from_str(r#"{"radius":2,"type":"circle"}"#).unwrap();
        assert_eq!(reordered, circle(2, None));
    }

    #[test]
    fn invalid_objects_are_refused_with_the_reason() {
        for (text, reason) in [
            (r#"{"radius":2}"#, "missing field `type`"),
            (r#"{"type":"square"}"#, "unknown variant `square`, expected `point` or `circle`"),
            (r#"{"type":"circle","radius":2,"type":"circle"}"#, "duplicate field `type`"),
            (r#"{"type":"circle","radius":2,"radius":2}"#, "duplicate field `radius`"),
            (r#"{"type":"circle","radius":2,"size":2}"#, "unknown field `size`"),
            (r#"{"type":"circle","radius":-2}"#, "invalid value: integer `-2`, expected u8"),
            (r#"{"type":"circle"}"#, "missing field `radius`"),
            (r#"["point"]"#, "invalid type: sequence"),
        ] {
            let error = serde_json::from_str::<Shape>(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
