//! The names in an expression of Prometheus: metrics, the labels that they are selected by, and the
//! labels that results are grouped by. The same form without operators is a sample in the text of
//! `/metrics`.
//!
//! promtool checks the syntax; this module only finds names, and panics at a text that it cannot
//! read.

/// The words that are neither metrics nor functions.
const KEYWORDS: [&str; 7] = ["and", "or", "unless", "bool", "offset", "Inf", "NaN"];

/// The words that a list of labels follows.
const GROUPINGS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];

/// The names in an expression.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) selectors: Vec<Selector>,
    /// The labels that results are grouped by or joined on.
    pub(crate) grouping: Vec<String>,
}

/// A metric with the labels that it is selected by.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(crate) metric: String,
    pub(crate) matchers: Vec<Matcher>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Matcher {
    pub(crate) label: String,
    /// The values that are selected by name: several if they are alternatives of a pattern.
    pub(crate) values: Vec<String>,
}

impl Names {
    pub(crate) fn in_expression(expression: &str) -> Self {
        let mut names = Self::default();
        let mut rest = expression.trim_start();
        while let Some(first) = rest.chars().next() {
            if first == '"' {
                rest = read_string(rest).1;
            } else if first == '[' {
                rest = after(rest, ']');
            } else if first == '{' {
                let selector =
                    names.selectors.last_mut().expect("a metric comes before its labels");
                (selector.matchers, rest) = read_matchers(rest);
            } else if first.is_ascii_digit() {
                rest = read_word(rest, |letter| letter.is_ascii_alphanumeric() || letter == '.').1;
            } else if is_of_name(first) {
                let (word, behind) = read_word(rest, is_of_name);
                rest = names.add_word(word, behind);
            } else {
                rest = &rest[first.len_utf8()..];
            }
            rest = rest.trim_start();
        }
        names
    }

    /// Adds the name that a word is, and returns the text behind it.
    fn add_word<'a>(&mut self, word: &str, behind: &'a str) -> &'a str {
        let behind = behind.trim_start();
        if GROUPINGS.contains(&word) {
            let Some(list) = behind.strip_prefix('(') else { return behind };
            let (list, rest) = list.split_once(')').expect("a list of labels ends");
            let labels = list.split(',').map(|label| label.trim().to_owned());
            self.grouping.extend(labels.filter(|label| !label.is_empty()));
            return rest;
        }
        let is_aggregation = GROUPINGS.contains(&read_word(behind, is_of_name).0);
        if !KEYWORDS.contains(&word) && !behind.starts_with('(') && !is_aggregation {
            self.selectors.push(Selector { metric: word.to_owned(), matchers: Vec::new() });
        }
        behind
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_:".contains(letter)
}

fn read_word(text: &str, is_of_word: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|letter| !is_of_word(letter)).unwrap_or(text.len()))
}

fn after(text: &str, end: char) -> &str {
    text.split_once(end).unwrap_or_else(|| panic!("{end} is missing in {text}")).1
}

/// Reads a string in double quotes, and returns its text as written, and the rest.
fn read_string(text: &str) -> (&str, &str) {
    let inner = text.strip_prefix('"').unwrap_or_else(|| panic!("a string is missing at {text}"));
    let mut is_escaped = false;
    let end = inner.find(|letter| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    });
    let end = end.unwrap_or_else(|| panic!("a string does not end: {text}"));
    (&inner[..end], &inner[end + 1..])
}

/// Reads labels in braces, with the values that they have to be, and returns the rest.
fn read_matchers(text: &str) -> (Vec<Matcher>, &str) {
    let mut matchers = Vec::new();
    let mut rest = text.trim_start_matches('{').trim_start();
    while !rest.starts_with('}') {
        let (label, behind) = read_word(rest, is_of_name);
        let (operator, behind) = read_word(behind.trim_start(), |letter| "=!~".contains(letter));
        let (value, behind) = read_string(behind.trim_start());
        let values = match operator {
            "=" => vec![value.to_owned()],
            "=~" => value.split('|').map(str::to_owned).collect(),
            "!=" | "!~" => Vec::new(),
            _ => panic!("no matcher at {rest}"),
        };
        matchers.push(Matcher { label: label.to_owned(), values });
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    (matchers, &rest[1..])
}

#[test]
fn names_are_told_from_functions_keywords_and_strings() {
    let expression = r#"histogram_quantile(0.99, sum by (le, room) (rate(a_bucket{x="y", z=~"b|c"}[5m])))
        > 1e3 and on (room) time() - max(d{e!="f{"} > 0) > 3 * 3600"#;
    let Names { selectors, grouping } = Names::in_expression(expression);
    assert_eq!(grouping, ["le", "room", "room"]);
    let found = selectors.iter().map(|Selector { metric, matchers }| {
        let matchers = matchers.iter().map(|one| (&*one.label, one.values.join(" ")));
        (&**metric, matchers.collect::<Vec<_>>())
    });
    let a = ("a_bucket", vec![("x", "y".to_owned()), ("z", "b c".to_owned())]);
    assert_eq!(found.collect::<Vec<_>>(), [a, ("d", vec![("e", String::new())])]);
}
