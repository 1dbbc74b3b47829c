//! Which entries of a wallet are asked for. Read by hand, because a code may be given many times
//! and everything else once.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use utoipa::IntoParams;

use crate::clock::{BoundedTimestamp, Timestamp};
use crate::ledger::{self, EntryFilter};

use super::page::Limit;
use super::{Code, Problem, Query, Time, TransferCode};

/// The most codes that are asked for at once.
const CODES_MAX: usize = 32;

/// As the document has it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it only describes the query")]
pub(super) struct EntriesParams {
    /// Only entries of this code; given several times, of any of these.
    #[param(inline, style = Form, explode, required = false, max_items = 32)]
    code: Vec<TransferCode>,
    /// Only entries that were booked then or later: RFC 3339.
    #[param(value_type = Option<Time>, inline)]
    from: Option<String>,
    /// Only entries that were booked before that: RFC 3339, later than `from`.
    #[param(value_type = Option<Time>, inline)]
    to: Option<String>,
    /// `next_cursor` of the page before; nothing for the first page.
    #[param(max_length = 256)]
    cursor: Option<String>,
    /// How many items at most.
    #[param(default = 20, minimum = 1, maximum = 100, required = false)]
    limit: u32,
}

/// A query that was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EntriesQuery {
    pub(super) filter: EntryFilter,
    pub(super) cursor: Option<String>,
    pub(super) limit: Limit,
}

impl EntriesQuery {
    /// The name of the list that these filters make.
    pub(super) fn list(&self) -> String {
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
        parse(&pairs).map_err(|why| Code::QueryInvalid.because(why))
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
                codes.push(code.ok_or_else(|| format!("there is no code {value:?}"))?);
            }
            "from" => once(name, from, time(name, value)?)?,
            "to" => once(name, to, time(name, value)?)?,
            "cursor" => once(name, &mut query.cursor, value.clone())?,
            "limit" => {
                let items = value.parse().map_err(|_| format!("a limit of {value:?}"))?;
                once(name, &mut limit, Limit::of(items)?)?;
            }
            _ => return Err(format!("there is no parameter {name:?}")),
        }
    }
    // The order in which codes are named does not make another list.
    codes.sort_unstable();
    codes.dedup();
    if from.zip(*to).is_some_and(|(from, to)| from >= to) {
        return Err("`from` is not before `to`".into());
    }
    query.limit = limit.unwrap_or_default();
    Ok(query)
}

fn once<T>(name: &str, place: &mut Option<T>, value: T) -> Result<(), String> {
    if place.replace(value).is_some() { Err(format!("{name} is given twice")) } else { Ok(()) }
}

fn time(name: &str, value: &str) -> Result<Timestamp, String> {
    let time: BoundedTimestamp = value.parse().map_err(|error| format!("{name}: {error}"))?;
    Ok(time.into())
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::ledger::Code;

    fn of(pairs: &[(&str, &str)]) -> Result<super::EntriesQuery, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        parse(&pairs.iter().map(owned).collect::<Vec<_>>())
    }

    #[test]
    fn codes_may_come_often_and_in_any_order() {
        let one = of(&[("code", "fee"), ("code", "ante"), ("code", "fee")]).unwrap();
        assert_eq!(one.filter.codes, [Code::Ante, Code::Fee]);
        let other = of(&[("code", "ante"), ("code", "fee")]).unwrap();
        assert_eq!(one.list(), other.list());
        assert_ne!(one.list(), of(&[("code", "ante")]).unwrap().list());
        let manila = of(&[("from", "2026-03-01T00:00:00+08:00")]).unwrap();
        assert_eq!(manila, of(&[("from", "2026-02-28T16:00:00Z")]).unwrap());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
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
            assert!(of(pairs).is_err(), "{pairs:?}");
        }
    }
}
