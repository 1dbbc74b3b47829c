//! Pages of lists: the query that selects one, and its body.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

const LIMIT_DEFAULT: u32 = 20;
const LIMIT_MAX: u32 = 100;

/// Selects a page of a filtered list.
#[derive(Clone, Debug, Default)]
pub struct PageQuery<F = NoFilter> {
    pub filter: F,
    pub cursor: Option<String>,
    /// The maximum number of items.
    pub limit: Limit,
}

/// The filter of a list that has none.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct NoFilter {}

/// The parameters that page queries have in common.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it only documents the query")]
struct PageParams {
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// The maximum number of items.
    #[param(value_type = u32, required = false, default = 20, minimum = 1, maximum = 100)]
    limit: Limit,
}

impl<F: IntoParams> IntoParams for PageQuery<F> {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut parameters = F::into_params(&place);
        parameters.extend(PageParams::into_params(place));
        parameters
    }
}

impl<F> PageQuery<F> {
    /// Separates the parameters of the page from those of the filter, which `parse_filter` parses.
    pub fn from_pairs<E: Error>(
        pairs: Vec<(String, String)>,
        parse_filter: impl FnOnce(Vec<(String, String)>) -> Result<F, E>,
    ) -> Result<Self, E> {
        let mut cursor = None;
        let mut limit = None;
        let mut filter = Vec::new();
        for (name, value) in pairs {
            let (parameter, place) = match name.as_str() {
                "cursor" => ("cursor", &mut cursor),
                "limit" => ("limit", &mut limit),
                _ => {
                    filter.push((name, value));
                    continue;
                }
            };
            if place.replace(value).is_some() {
                return Err(E::duplicate_field(parameter));
            }
        }
        let filter = parse_filter(filter)?;
        let limit = limit.map(|limit| Limit::from_text(&limit).map_err(E::custom)).transpose()?;
        Ok(Self { filter, cursor, limit: limit.unwrap_or_default() })
    }
}

impl<'de, F: DeserializeOwned> Deserialize<'de> for PageQuery<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_pairs(Vec::deserialize(deserializer)?, |filter| {
            let filter = serde_urlencoded::to_string(filter).map_err(D::Error::custom)?;
            let fields = form_urlencoded::parse(filter.as_bytes());
            // The error names the invalid field.
            serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(fields))
                .map_err(D::Error::custom)
        })
    }
}

/// The maximum number of items of a page: 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(u32);

impl Limit {
    /// Creates a limit. The error is a text for the client.
    ///
    /// # Errors
    /// For a number that is not from 1 to 100.
    pub fn new(items: u32) -> Result<Self, String> {
        match items {
            1..=LIMIT_MAX => Ok(Self(items)),
            _ => Err(format!("a limit of {items} is not from 1 to 100")),
        }
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let items = text.parse().map_err(|_| format!("a limit of {text} is not from 1 to 100"))?;
        Self::new(items)
    }

    pub fn items(self) -> u32 {
        self.0
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(LIMIT_DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(u32::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// One page of a list.
#[derive(Clone, Debug, Serialize)]
pub struct PageOf<T> {
    pub items: Vec<T>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

impl<T> PageOf<T> {
    /// Converts each item.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> PageOf<U> {
        PageOf {
            items: self.items.into_iter().map(convert).collect(),
            next_cursor: self.next_cursor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NoFilter, PageQuery};
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Filter {
        state: Option<String>,
        size: Option<u8>,
    }

    fn parse(text: &str) -> Result<PageQuery<Filter>, serde_urlencoded::de::Error> {
        serde_urlencoded::from_str(text)
    }

    #[test]
    fn a_page_query_separates_the_filter_from_the_page() {
        let query = parse("state=a%26b&limit=7&cursor=x%2By&size=3").unwrap();
        assert_eq!(query.filter.state.as_deref(), Some("a&b"));
        assert_eq!((query.filter.size, query.limit.items()), (Some(3), 7));
        assert_eq!(query.cursor.as_deref(), Some("x+y"));
        assert_eq!(parse("").unwrap().limit.items(), 20);
    }

    #[test]
    fn invalid_page_queries_are_rejected() {
        for text in [
            "limit=0",
            "limit=101",
            "limit=x",
            "limit=1&limit=1",
            "cursor=a&cursor=a",
            "page=2",
            "size=x",
            "state=a&state=b",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("size=x").unwrap_err().to_string().starts_with("size: "));
        assert!(serde_urlencoded::from_str::<PageQuery<NoFilter>>("state=a").is_err());
    }
}
