//! Just enough of Rust's grammar to separate code from comments and strings, and to follow paths.

/// Returns every path in the code that begins at the crate, with its line, such as
/// `tables::catalog`. `place` is the file's module, from which `super::` is resolved.
pub(crate) fn paths(code: &str, place: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let starts = ["crate::", "super::"].iter().flat_map(|start| code.match_indices(start));
    for (at, start) in starts {
        let is_inner = |letter: char| letter.is_alphanumeric() || "_:$".contains(letter);
        if code[..at].chars().next_back().is_some_and(is_inner) {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let mut rest = &code[at..];
        let mut base: Vec<&str> = Vec::new();
        if start == "super::" {
            base = place.to_vec();
            // In a module within the file, mostly its tests, the first `super` stays in the file.
            if code[..at].lines().any(opens_module) {
                base.push("tests");
            }
            while let Some(after) = rest.strip_prefix("super::") {
                base.pop();
                rest = after;
            }
        } else {
            rest = &rest[start.len()..];
        }
        let mut named = Vec::new();
        follow(rest, &base.join("::"), &mut named);
        found.extend(named.into_iter().map(|path| (line, path)));
    }
    found
}

fn opens_module(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").unwrap_or(line);
    line.starts_with("mod ") && line.ends_with('{')
}

/// Returns true for a letter of a name or a number.
pub(crate) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Follows a path, or a list of them in braces. Returns the text after it.
fn follow<'a>(text: &'a str, base: &str, found: &mut Vec<String>) -> &'a str {
    let joined = |name: &str| if base.is_empty() { name.into() } else { format!("{base}::{name}") };
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start();
            match rest.strip_prefix('}') {
                Some(after) => return after,
                None if rest.is_empty() => return rest,
                None => rest = follow(rest, base, found).trim_start(),
            }
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
    }
    let end = text.find(|letter| !is_of_word(letter));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    match rest.strip_prefix("::") {
        Some(rest) if !name.is_empty() => follow(rest, &joined(name), found),
        _ if name.is_empty() => {
            found.push(base.to_owned());
            rest.get(1..).unwrap_or_default()
        }
        _ => {
            found.push(joined(name));
            let renamed = rest.trim_start().strip_prefix("as ");
            renamed.map_or(rest, |rest| rest.trim_start_matches(is_of_word))
        }
    }
}

/// The parts of a Rust file. Code and comments keep their lines; everything else in them is blank.
#[derive(Clone, Default)]
pub(crate) struct Parts {
    pub(crate) code: String,
    pub(crate) comments: String,
    /// String literals with their lines.
    pub(crate) strings: Vec<(usize, String)>,
}

impl Parts {
    pub(crate) fn of(text: &str) -> Self {
        let mut parts = Self::default();
        let mut line = 1;
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            if rest.starts_with("//") {
                let length = rest.find('\n').unwrap_or(rest.len());
                parts.comments.push_str(&rest[..length]);
                rest = &rest[length..];
            } else if let Some((length, content)) = string(rest, parts.code.chars().next_back()) {
                parts.strings.push((line, content.to_owned()));
                for letter in rest[..length].chars() {
                    let blank = if letter == '\n' { '\n' } else { ' ' };
                    parts.code.push(blank);
                    parts.comments.push(blank);
                }
                line += content.matches('\n').count();
                rest = &rest[length..];
            } else {
                parts.code.push(letter);
                if letter == '\n' {
                    line += 1;
                    parts.comments.push('\n');
                }
                rest = &rest[letter.len_utf8()..];
            }
        }
        parts
    }
}

/// Returns the length and the content of a literal at the beginning of the text.
fn string(text: &str, before: Option<char>) -> Option<(usize, &str)> {
    if let Some(raw) = text.strip_prefix('r').filter(|_| !before.is_some_and(is_of_word)) {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw[marks..].strip_prefix('"')?;
        let end = inner.find(&format!("\"{}", "#".repeat(marks)))?;
        return Some((1 + marks + 1 + end + 1 + marks, &inner[..end]));
    }
    let quote = text.chars().next().filter(|letter| ['"', '\''].contains(letter))?;
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return Some((at + 1, &text[1..at])),
            // A lifetime, not a character.
            _ if quote == '\'' && at > 1 && !text.starts_with("'\\") => return None,
            _ => {}
        }
    }
    None
}
