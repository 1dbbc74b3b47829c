//! Parsing of the fields of a form, with errors for people: an error names the field and what it
//! expects.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::vec;

use bahay_api::PageQuery;
use maud::{Markup, html};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer as _,
    MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// The fields of a form in their order, as names and values.
pub type FormFields = Vec<(String, String)>;

/// An error of a form's field, in words that follow the label of the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The name of the field; `None` for an error of the whole form.
    name: Option<String>,
    fault: Cow<'static, str>,
}

impl FieldError {
    /// Creates the error of a field with an invalid value, from what the field expects.
    pub fn invalid(name: &str, expected: impl Display) -> Self {
        Self::new(Some(name), format!("is invalid: {expected}"))
    }

    fn new(name: Option<&str>, fault: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.map(str::to_owned), fault: fault.into() }
    }

    /// Names the field of the error, unless it has one.
    fn in_field(self, name: String) -> Self {
        Self { name: self.name.or(Some(name)), ..self }
    }

    /// Draws the error as a sentence. The script replaces the label by that of the refused form.
    pub fn draw(&self) -> Markup {
        html! {
            @match &self.name {
                Some(name) => { "The field “" span data-field=(name) { (field_label(name)) } "” " }
                None => "The form ",
            }
            (self.fault) "."
        }
    }
}

impl Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "the field {name} {}", self.fault),
            None => write!(f, "the form {}", self.fault),
        }
    }
}

impl std::error::Error for FieldError {}

/// Returns the label of a field by its name, for a refusal that is a page of its own.
fn field_label(name: &str) -> Cow<'static, str> {
    let label = match name {
        "again" => "Repeat the password",
        "amount" => "Coins",
        "before" => "Announced before",
        "buy_in" => "Buy-in up to",
        "changes" => "If the amounts change again",
        "enrolment" => "Enrolment code",
        "ending" => "End",
        "holder" => "Player",
        "least" => "Paid at least",
        "like" => "Copy settings from",
        "most" => "Paid at most",
        "pot" => "POT taken",
        "starts_at" => "Start",
        "takeover" => "AI played",
        "words" => "Note",
        _ => {
            let mut label = name.replace('_', " ");
            if let Some(first) = label.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            return label.into();
        }
    };
    label.into()
}

/// The input of a form that filters a list.
pub trait ParseFields: Sized {
    fn parse_fields(fields: FormFields) -> Result<Self, FieldError>;
}

impl<F: DeserializeOwned> ParseFields for PageQuery<F> {
    fn parse_fields(fields: FormFields) -> Result<Self, FieldError> {
        Self::from_pairs(fields, parse_fields)
    }
}

/// Parses the fields of a form.
pub fn parse_fields<T: DeserializeOwned>(fields: FormFields) -> Result<T, FieldError> {
    let fields = FieldAccess { fields: fields.into_iter(), value: None };
    T::deserialize(MapAccessDeserializer::new(fields))
}

/// The fields that are not parsed yet. An error of a value is given the name of its field.
struct FieldAccess {
    fields: vec::IntoIter<(String, String)>,
    /// The field whose name was read.
    value: Option<(String, FieldValue)>,
}

impl<'de> MapAccess<'de> for FieldAccess {
    type Error = FieldError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, FieldError> {
        let Some((name, value)) = self.fields.next() else { return Ok(None) };
        let key = seed.deserialize(name.as_str().into_deserializer());
        self.value = Some((name, FieldValue(value)));
        key.map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, FieldError> {
        let (name, value) = self.value.take().expect("a name is read before its value");
        seed.deserialize(value).map_err(|error| error.in_field(name))
    }
}

/// The value of a field.
struct FieldValue(String);

macro_rules! deserialize_parsed {
    ($($method:ident $visit:ident $kind:ty, $expected:literal;)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
            match self.0.trim().parse::<$kind>() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(de::Error::custom($expected)),
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for FieldValue {
    type Error = FieldError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        // The text of `uuid` for a malformed id is for programmers.
        let is_id = (&visitor as &dyn Expected).to_string().contains("UUID string");
        visitor.visit_string(self.0).map_err(|error: FieldError| match is_id {
            true => de::Error::custom("an id has 32 digits and letters from a to f"),
            false => error,
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, FieldError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FieldError> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    deserialize_parsed! {
        deserialize_bool visit_bool bool, "it is true or false";
        deserialize_i8 visit_i8 i8, "it is a whole number";
        deserialize_i16 visit_i16 i16, "it is a whole number";
        deserialize_i32 visit_i32 i32, "it is a whole number";
        deserialize_i64 visit_i64 i64, "it is a whole number";
        deserialize_u8 visit_u8 u8, "it is a whole number";
        deserialize_u16 visit_u16 u16, "it is a whole number";
        deserialize_u32 visit_u32 u32, "it is a whole number";
        deserialize_u64 visit_u64 u64, "it is a whole number";
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct
        map struct identifier ignored_any
    }
}

/// The types of fields say what they expect; the errors of the parser are put into words here.
impl de::Error for FieldError {
    fn custom<T: Display>(expected: T) -> Self {
        Self::new(None, format!("is invalid: {expected}"))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(Some(name), "is missing: fill it in")
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(Some(name), "occurs twice: reload the page")
    }

    fn unknown_field(name: &str, _: &'static [&'static str]) -> Self {
        Self::new(Some(name), "does not belong to this form: reload the page")
    }

    fn unknown_variant(_: &str, names: &'static [&'static str]) -> Self {
        Self::new(None, format!("is invalid: choose one of {}", names.join(", ")))
    }

    fn invalid_value(_: de::Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::new(None, "has a value that it does not take")
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_value(found, expected)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::invalid_value(de::Unexpected::Other(""), expected)
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldError, PageQuery, ParseFields as _, parse_fields};
    use bahay_api::operator::sanctions::SanctionKind;
    use bahay_base::clock::BoundedTimestamp;
    use bahay_base::reason::Reason;
    use serde::Deserialize;
    use uuid::Uuid;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Part {
        room: String,
    }

    #[derive(Debug, Deserialize)]
    struct Form {
        player: Uuid,
        hours: Option<u32>,
        is_open: Option<bool>,
        kind: Option<SanctionKind>,
        unit: Option<Unit>,
        since: Option<BoundedTimestamp>,
        reason: Reason,
        #[serde(flatten)]
        part: Part,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Filter {
        size: Option<u8>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Unit {
        Day,
        Week,
    }

    const PLAYER: (&str, &str) = ("player", "019ca944-3c00-7000-8000-00000007ab1e");
    const REASON: (&str, &str) = ("reason", "paid twice by mistake");

    fn fields(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn fields_are_parsed_by_their_types() {
        let all = [
            PLAYER,
            ("hours", " 72"),
            ("is_open", "true"),
            ("kind", "ban"),
            ("unit", "week"),
            ("since", "2026-03-01T00:00:00Z"),
            REASON,
            ("room", "newbie"),
        ];
        let form: Form = parse_fields(fields(&all)).unwrap();
        assert_eq!((form.player.to_string().as_str(), form.hours), (PLAYER.1, Some(72)));
        assert_eq!((form.is_open, form.kind), (Some(true), Some(SanctionKind::Ban)));
        assert_eq!((form.unit, form.since.is_some()), (Some(Unit::Week), true));
        assert_eq!((form.reason.as_str(), form.part.room.as_str()), (REASON.1, "newbie"));
        let form: Form = parse_fields(fields(&[PLAYER, REASON])).unwrap();
        assert_eq!((form.hours, form.part.room.as_str()), (None, ""));
    }

    #[test]
    fn an_error_names_the_field_and_what_it_expects() {
        for (with, expected) in [
            (&[REASON][..], "the field player is missing: fill it in"),
            (&[PLAYER], "the field reason is missing: fill it in"),
            (&[PLAYER, PLAYER, REASON], "the field player occurs twice: reload the page"),
            (
                &[("player", "seven"), REASON],
                "the field player is invalid: an id has 32 digits and letters from a to f",
            ),
            (
                &[PLAYER, ("reason", "short")],
                "the field reason is invalid: a reason has 10 to 500 characters, no control \
                 characters, and says something",
            ),
            (
                &[PLAYER, REASON, ("hours", "many")],
                "the field hours is invalid: it is a whole number",
            ),
            (&[PLAYER, REASON, ("hours", "")], "the field hours is invalid: it is a whole number"),
            (
                &[PLAYER, REASON, ("is_open", "1")],
                "the field is_open is invalid: it is true or false",
            ),
            (
                &[PLAYER, REASON, ("unit", "year")],
                "the field unit is invalid: choose one of day, week",
            ),
        ] {
            let error = parse_fields::<Form>(fields(with)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        for (name, value) in [("kind", "exile"), ("since", "May")] {
            let error = parse_fields::<Form>(fields(&[PLAYER, REASON, (name, value)]));
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(&format!("the field {name} is invalid: ")), "{error}");
            assert!(!error.contains('`'), "{error}");
        }
    }

    #[test]
    fn a_list_names_the_field_of_its_filter() {
        let parse = |given: &[(&str, &str)]| PageQuery::<Filter>::parse_fields(fields(given));
        let query = parse(&[("size", "3"), ("cursor", "x")]).unwrap();
        assert_eq!((query.filter.size, query.cursor.as_deref()), (Some(3), Some("x")));
        for (given, name) in [
            (&[("size", "many")][..], "size"),
            (&[("room", "newbie")], "room"),
            (&[("cursor", "x"), ("cursor", "y")], "cursor"),
        ] {
            assert_eq!(parse(given).unwrap_err().name.as_deref(), Some(name));
        }
    }

    #[test]
    fn an_error_is_drawn_with_the_label_of_its_field() {
        let drawn = FieldError::invalid("buy_in", "it is an amount").draw().into_string();
        let expected = "The field “<span data-field=\"buy_in\">Buy-in up to</span>” is invalid: it \
                        is an amount.";
        assert_eq!(drawn, expected);
    }
}
