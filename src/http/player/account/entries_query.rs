//! The query of a wallet's entries. It is parsed by hand, because `code` may occur several times
//! and every other parameter only once.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use utoipa::IntoParams;

use crate::clock::{BoundedTimestamp, Timestamp};
use crate::ledger::{self, EntryFilter};

use crate::http::core::pagination::Limit;
use crate::http::{Code, CodeExt as _, Problem, Query, Time, TransferCode};

/// The maximum number of codes in one query.
const CODES_MAX: usize = 32;

/// The parameters as openapi.yaml describes them.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it only documents the query")]
pub(crate) struct EntriesParams {
    /// Restricts the list to entries with this code; may be repeated to allow several codes.
    #[param(inline, style = Form, explode, required = false, max_items = 32)]
    code: Vec<TransferCode>,
    /// Restricts the list to entries booked at or after this time: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    from: Option<String>,
    /// Restricts the list to entries booked before this time: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    to: Option<String>,
    /// The `next_cursor` of the previous page. Absent for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// The maximum number of items.
    #[param(default = 20, minimum = 1, maximum = 100, required = false)]
    limit: u32,
}

/// The validated query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntriesQuery {
    pub(crate) filter: EntryFilter,
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Limit,
}

impl EntriesQuery {
    /// Returns the name of the list that these filters select, to which cursors are bound.
    pub(crate) fn list_name(&self) -> String {
        let EntryFilter { codes, from, to } = &self.filter;
        let codes: Vec<_> = codes.iter().map(|code| code.as_str()).collect();
        let ms =
            |time: &Option<Timestamp>| time.map_or(String::new(), |time| time.ms().to_string());
        format!("entries {} {} {}", codes.join(","), ms(from), ms(to))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for EntriesQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await?;
        parse(&pairs).map_err(|why| Code::QueryInvalid.with_detail(why))
    }
}

fn parse(pairs: &[(String, String)]) -> Result<EntriesQuery, String> {
    let mut query = EntriesQuery::default();
    let EntryFilter { codes, from, to } = &mut query.filter;
    let mut limit = None;
    for (name, value) in pairs {
        match name.as_str() {
            "code" if codes.len() == CODES_MAX => {
                return Err(format!("more than {CODES_MAX} codes"));
            }
            "code" => {
                let code = ledger::Code::parse(value);
                codes.push(code.ok_or_else(|| format!("the code {value:?} does not exist"))?);
            }
            "from" => set_once(name, from, parse_time(name, value)?)?,
            "to" => set_once(name, to, parse_time(name, value)?)?,
            "cursor" => set_once(name, &mut query.cursor, value.clone())?,
            "limit" => {
                let items = value.parse().map_err(|_| format!("{value:?} is not a limit"))?;
                set_once(name, &mut limit, Limit::new(items)?)?;
            }
            _ => return Err(format!("the parameter {name:?} does not exist")),
        }
    }
    // The order of the codes does not select another list.
    codes.sort_unstable();
    codes.dedup();
    if from.zip(*to).is_some_and(|(from, to)| from >= to) {
        return Err("`from` is not before `to`".into());
    }
    query.limit = limit.unwrap_or_default();
    Ok(query)
}

fn set_once<T>(name: &str, slot: &mut Option<T>, value: T) -> Result<(), String> {
    if slot.replace(value).is_some() { Err(format!("{name} is given twice")) } else { Ok(()) }
}

fn parse_time(name: &str, value: &str) -> Result<Timestamp, String> {
    let time: BoundedTimestamp = value.parse().map_err(|error| format!("{name}: {error}"))?;
    Ok(time.into())
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::ledger::Code;

    fn parse_pairs(pairs: &[(&str, &str)]) -> Result<super::EntriesQuery, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        parse(&pairs.iter().map(owned).collect::<Vec<_>>())
    }

    #[test]
    fn codes_may_repeat_and_come_in_any_order() {
        let one = parse_pairs(&[("code", "fee"), ("code", "ante"), ("code", "fee")]).unwrap();
        assert_eq!(one.filter.codes, [Code::Ante, Code::Fee]);
        let other = parse_pairs(&[("code", "ante"), ("code", "fee")]).unwrap();
        assert_eq!(one.list_name(), other.list_name());
        assert_ne!(one.list_name(), parse_pairs(&[("code", "ante")]).unwrap().list_name());
        let manila = parse_pairs(&[("from", "2026-03-01T00:00:00+08:00")]).unwrap();
        assert_eq!(manila, parse_pairs(&[("from", "2026-02-28T16:00:00Z")]).unwrap());
    }

    #[test]
    fn invalid_queries_are_rejected() {
        let time = "2026-03-01T00:00:00Z";
        for pairs in [
            &[("code", "gift")][..],
            &[("code", "")],
            &[("size", "3")],
            &[("limit", "0")],
            &[("limit", "1"), ("limit", "1")],
            &[("from", "yesterday")],
            &[("from", "2026-03-01")],
            &[("from", time), ("from", time)],
            &[("from", time), ("to", time)],
            &[("cursor", "a"), ("cursor", "a")],
        ] {
            assert!(parse_pairs(pairs).is_err(), "{pairs:?}");
        }
    }
}
