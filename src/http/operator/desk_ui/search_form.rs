//! Forms that search a list, as people type into them: times without a zone, amounts in coins.

use bahay_api::PageQuery;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::form::parse_pairs;
use super::parse::{parse_non_negative_amount, parse_time};
use crate::clock;
use crate::http::{Code, CodeExt as _, Problem};

/// The fields of a search form that are filled in.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct SearchForm(Vec<(String, String)>);

impl SearchForm {
    pub(crate) fn value(&self, name: &str) -> &str {
        self.0.iter().find(|(one, _)| one == name).map_or("", |(_, value)| value)
    }

    /// Returns the fields that set conditions.
    pub(crate) fn conditions(&self) -> Vec<(&str, &str)> {
        let fields = self.0.iter().filter(|(name, _)| name != "cursor");
        fields.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// Returns a URL with the conditions as its query.
    pub(crate) fn to_url(&self, path: &str) -> String {
        let query = serde_urlencoded::to_string(self.conditions()).unwrap_or_default();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }

    /// Converts what an operator typed into the query of the API.
    pub(crate) fn to_query<F: DeserializeOwned>(&self) -> Result<PageQuery<F>, Problem> {
        let invalid = |detail: String| Code::QueryInvalid.with_detail(detail);
        let mut parameters = Vec::new();
        for (name, value) in &self.0 {
            let value = value.trim();
            let time = || parse_time(value).map(|at| clock::to_jiff(at.into()).to_string());
            let amount = || Some(parse_non_negative_amount(value)?.hundredths().to_string());
            let yes_or_no = || match value {
                "yes" => Some("true".to_owned()),
                "no" => Some("false".to_owned()),
                _ => None,
            };
            let (parameter, parsed) = match name.as_str() {
                "from" | "to" => (name.as_str(), time()),
                "least" => ("gross_min", amount()),
                "most" => ("gross_max", amount()),
                "pot" => ("took_pot", yes_or_no()),
                "takeover" => ("taken_over", yes_or_no()),
                _ => (name.as_str(), Some(value.to_owned())),
            };
            let parsed = parsed.ok_or_else(|| invalid(format!("the field `{name}` is invalid")))?;
            parameters.push((parameter.to_owned(), parsed));
        }
        parse_pairs(parameters).map_err(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::SearchForm;
    use bahay_api::operator::settlements::SettlementFilter;

    fn form(fields: &[(&str, &str)]) -> SearchForm {
        SearchForm(fields.iter().map(|&(name, value)| (name.into(), value.into())).collect())
    }

    #[test]
    fn the_search_form_is_parsed() {
        assert!(form(&[("pot", "perhaps")]).to_query::<SettlementFilter>().is_err());
        let typed = form(&[("room", "newbie"), ("pot", "yes"), ("least", " 1.5"), ("cursor", "x")]);
        assert_eq!(typed.to_url("/x"), "/x?room=newbie&pot=yes&least=+1.5");
        let query = typed.to_query::<SettlementFilter>().unwrap();
        assert_eq!((query.filter.took_pot, query.filter.gross_min), (Some(true), Some(150)));
        assert_eq!(query.cursor.as_deref(), Some("x"));
    }
}
