//! The glossary against the code: a term occurs in the module that defines it, and no name in the
//! code is a synonym that the glossary replaces. Style is read, not checked.

use std::collections::HashSet;

use crate::{Complaints, File, is_of_word, lines_with};

/// The page of terms: `- **term** (`path`): meaning` and, under the last heading, `| not | but |`.
pub(crate) const PAGE: &str = "docs/GLOSSARY.md";

/// Reports terms that their module does not use, and synonyms that names in the code still use.
pub(crate) fn glossary(files: &[File]) -> Complaints {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![format!("{PAGE}:1: missing: the terms of the code are defined there")];
    };
    let ours = files.iter().filter(|file| is_ours(file));
    let ours: Vec<_> = ours.map(|file| (&file.path, code(file))).collect();
    // A search for each synonym in the whole code takes half a minute.
    let words: Vec<HashSet<&str>> =
        ours.iter().map(|(_, code)| code.split(|letter| !is_of_word(letter)).collect()).collect();
    let mut complaints = Vec::new();
    for (line, text) in (1..).zip(page.text.lines()) {
        if let Some((term, path)) = entry(text) {
            let module = files.iter().find(|file| file.path == path);
            if !module.is_some_and(|module| uses(&module.text, term)) {
                complaints.push(format!(
                    "{PAGE}:{line}: {path} does not use the term {term:?}: name the module that \
                     defines it, or remove the term"
                ));
            }
        } else if let Some((synonym, term)) = replacement(text) {
            let is_word = synonym.chars().all(is_of_word);
            let has = |words: &HashSet<&str>| !is_word || words.contains(synonym);
            for ((path, code), _) in ours.iter().zip(&words).filter(|(_, words)| has(words)) {
                for line in lines_with(code, synonym) {
                    complaints.push(format!(
                        "{path}:{line}: {synonym} is a synonym: the glossary says {term}"
                    ));
                }
            }
        }
    }
    complaints
}

/// Returns the term and the path of a line such as ``- **seat** (`crates/engine/src/seat.rs`): …``.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (term, rest) = line.strip_prefix("- **")?.split_once("** (`")?;
    let (path, _) = rest.split_once("`)")?;
    Some((term, path))
}

/// Returns the synonym and the term of a row such as ``| `Told` | delivery cursor |``.
fn replacement(line: &str) -> Option<(&str, &str)> {
    let (synonym, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
    Some((synonym, rest.trim_end_matches('|').trim()))
}

/// Returns true if a text has the words of a term in sequence, also as `snake_case` or `CamelCase`,
/// with any separators and across the lines of a comment.
fn uses(text: &str, term: &str) -> bool {
    let words = |text: &str| {
        let letters = text.to_lowercase();
        let words = letters.split(|letter: char| !letter.is_alphanumeric());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let (text, term) = (words(text), words(term));
    text.contains(&term) || text.contains(&term.replace(' ', ""))
}

/// Returns true for Rust, SQL and TypeScript files outside of the tests of tidy.
fn is_ours(file: &File) -> bool {
    let roots = ["src/", "crates/", "migrations/", "play/src/", "clients/typescript/src/"];
    let is_code = ["rs", "sql", "ts", "tsx"].contains(&file.extension());
    is_code && roots.iter().any(|root| file.path.starts_with(root))
}

/// Returns the text of a file without its comments.
fn code(file: &File) -> String {
    match file.extension() {
        "rs" => file.code().to_owned(),
        "sql" => without(&file.text, "--"),
        _ => without(&file.text, "//"),
    }
}

/// Returns the lines of a text, each up to the comment mark.
fn without(text: &str, mark: &str) -> String {
    let lines = text.lines().map(|line| line.split(mark).next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}
