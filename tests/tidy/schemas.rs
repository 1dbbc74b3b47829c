//! The names of schemas in openapi.yaml: a name belongs to one type, or the document would show one
//! type in place of another.

use std::collections::BTreeMap;

use super::rust::is_of_word;
use crate::{Complaints, File};

/// Returns types by the names of their schemas, with the line of each.
fn named(text: &str) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    // The attributes of the current type.
    let (mut is_schema, mut own) = (false, None);
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        is_schema |= text.contains("derive(") && text.contains("ToSchema");
        if let Some((_, rest)) = text.split_once("schema(as = ") {
            own = Some(word(rest));
        }
        let mut words = text.split_whitespace().skip_while(|word| word.starts_with("pub"));
        let kind = words.find(|word| !word.starts_with("in") && !word.ends_with(')'));
        if matches!(kind, Some("struct" | "enum"))
            && let Some(name) = words.next()
        {
            let name = own.take().unwrap_or_else(|| word(name));
            if std::mem::take(&mut is_schema) {
                names.push((line, name));
            }
        }
    }
    names
}

fn word(text: &str) -> String {
    text.chars().take_while(|letter| is_of_word(*letter)).collect()
}

/// Reports names that two types share.
pub(crate) fn twins(files: &[File]) -> Complaints {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut complaints = Vec::new();
    let roots = ["src/", "crates/api/src/", "crates/base/src/"];
    let is_api = |path: &str| roots.iter().any(|root| path.starts_with(root));
    for file in files.iter().filter(|file| file.is_rust() && is_api(&file.path)) {
        for (line, name) in named(&file.text) {
            let place = format!("{}:{line}", file.path);
            if let Some(other) = first.get(&name) {
                complaints.push(format!("{place}: the schema {name} is also that of {other}"));
            } else {
                first.insert(name, place);
            }
        }
    }
    complaints
}

#[test]
fn a_second_type_of_a_name_is_found() {
    let files = [
        File::new("src/http/a.rs", "#[derive(Debug, ToSchema)]\nstruct Page {}\nstruct Other;"),
        File::new(
            "src/http/b.rs",
            "#[derive(ToSchema)]\n#[schema(as = Page)]\npub(in crate::http) struct Body {}",
        ),
        File::new("src/http/c.rs", "#[derive(ToSchema)]\npub struct Other {}"),
    ];
    assert_eq!(twins(&files), ["src/http/b.rs:3: the schema Page is also that of src/http/a.rs:2"]);
}
