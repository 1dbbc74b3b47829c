//! What documents and comments cite: rules by their numbers, files by their paths.

use std::path::Path;

/// The number that a line of the rules page gives to a rule.
pub(crate) fn numbered(line: &str) -> Option<&str> {
    let text = line.strip_prefix("**").or_else(|| line.strip_prefix("| "))?;
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let number = text[..end].trim_end_matches('.');
    is_number(number).then_some(number)
}

/// As in `6.10`.
pub(crate) fn is_number(text: &str) -> bool {
    let digits = |part: &str| {
        (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split_once('.').is_some_and(|(chapter, rule)| digits(chapter) && digits(rule))
}

/// `rule 6.10`, `rules 5.1, 5.2 and 5.3`, `rules 6.1 to 6.6`, with the line of each number.
pub(crate) fn cited_in(text: &str) -> Vec<(usize, String)> {
    let mut cited = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        for after in text.to_lowercase().split("rule").skip(1) {
            let after = after.strip_prefix('s').unwrap_or(after);
            if !after.starts_with(' ') {
                continue;
            }
            for word in after.split_whitespace() {
                let number = word.trim_matches(|letter: char| !letter.is_ascii_digit());
                if is_number(number) {
                    cited.push((line, number.to_owned()));
                } else if !["and", "or", "to"].contains(&word) {
                    break;
                }
            }
        }
    }
    cited
}

pub(crate) fn is_of_path(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "/._-".contains(letter)
}

/// Whether a word in a document is the path of something that the repository keeps.
pub(crate) fn is_our_path(word: &str) -> bool {
    let roots = ["src/", "crates/", "docs/", "migrations/", "scripts/", "tests/"];
    roots.iter().any(|root| word.starts_with(root)) && word.chars().all(is_of_path)
}

/// A path without `.` and `..`.
pub(crate) fn normal(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.iter().map(|part| part.to_string_lossy()) {
        match &*part {
            "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part.into_owned()),
        }
    }
    parts.join("/")
}
