//! Citations in documents and comments: rules by number, files by path.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{Complaints, File, RULES_PAGE, RULES_PAGES};

/// Returns the number that a line of the rules page gives to a rule.
fn numbered(line: &str) -> Option<&str> {
    let text = line.strip_prefix("**").or_else(|| line.strip_prefix("| "))?;
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let number = text[..end].trim_end_matches('.');
    is_number(number).then_some(number)
}

/// Returns true for numbers such as `6.10`.
fn is_number(text: &str) -> bool {
    let digits = |part: &str| {
        (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split_once('.').is_some_and(|(chapter, rule)| digits(chapter) && digits(rule))
}

/// Returns the cited numbers with their lines: `rule 6.10`, `rules 5.1, 5.2 and 5.3`, `rules 6.1 to
/// 6.6`.
fn cited_in(text: &str) -> Vec<(usize, String)> {
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

fn is_of_path(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "/._-".contains(letter)
}

/// Returns true if a word in a document is a path of the repository.
fn is_our_path(word: &str) -> bool {
    let roots = ["src/", "crates/", "docs/", "migrations/", "scripts/", "tests/"];
    roots.iter().any(|root| word.starts_with(root)) && word.chars().all(is_of_path)
}

/// Returns a path without `.` and `..`.
fn normal(path: &Path) -> String {
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

/// Checks links in documents, paths in their code words, and documents named in comments.
pub(crate) fn links(files: &[File]) -> Complaints {
    let exists = |path: &str| {
        let path = path.trim_end_matches('/');
        files.iter().any(|file| {
            file.path == path
                || file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let mut complaints = Vec::new();
    for file in files {
        let mut named: Vec<(usize, String)> = Vec::new();
        match file.extension() {
            "md" => {
                let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
                for (line, text) in (1..).zip(file.text.lines()) {
                    let targets =
                        text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
                    let inner = targets.filter(|target| !target.contains("://"));
                    named.extend(inner.filter_map(|target| {
                        let path = target.split('#').next().filter(|path| !path.is_empty())?;
                        Some((line, normal(&folder.join(path))))
                    }));
                    let words = text.split('`').skip(1).step_by(2).filter(|word| is_our_path(word));
                    named.extend(words.map(|word| (line, word.to_owned())));
                }
            }
            "rs" => {
                for (line, text) in (1..).zip(file.parts().comments.lines()) {
                    let words = text.split(|letter: char| !is_of_path(letter));
                    let words = words.filter(|word| word.starts_with("docs/"));
                    let words = words.map(|word| word.trim_end_matches('.'));
                    named.extend(words.map(|word| (line, word.to_owned())));
                }
            }
            _ => {}
        }
        for (line, path) in named.into_iter().filter(|(_, path)| !exists(path)) {
            complaints.push(format!("{}:{line}: {path} does not exist: mend the name", file.path));
        }
    }
    complaints
}

/// Checks tests that documents name as `path::name` in code words: the file must have a function of
/// that name.
pub(crate) fn tests_named(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for document in files.iter().filter(|file| file.extension() == "md") {
        for (line, text) in (1..).zip(document.text.lines()) {
            for word in text.split('`').skip(1).step_by(2) {
                let Some((path, name)) = word.split_once("::") else { continue };
                if !is_our_path(path) {
                    continue;
                }
                let function = format!("fn {name}(");
                let file = files.iter().find(|file| file.path == path);
                if !file.is_some_and(|file| file.text.contains(&function)) {
                    complaints.push(format!(
                        "{}:{line}: {path} has no test {name}: name one that shows it",
                        document.path
                    ));
                }
            }
        }
    }
    complaints
}

/// The numbered rules of one game.
struct RulesPage<'a> {
    path: &'a str,
    /// As in paths, such as `tongits`.
    game: &'a str,
    rules: BTreeSet<&'a str>,
}

impl<'a> RulesPage<'a> {
    fn of(file: &'a File) -> Option<Self> {
        let game = file.path.strip_prefix(RULES_PAGES)?.strip_suffix(".md")?;
        let rules = file.text.lines().filter_map(numbered).collect();
        Some(Self { path: &file.path, game, rules })
    }
}

/// Checks the numbers after the word `rule` in documents and comments, and those in refusals and
/// settlements.
pub(crate) fn citations(files: &[File]) -> Complaints {
    if !files.iter().any(|file| file.path == RULES_PAGE) {
        return vec![format!("{RULES_PAGE}:1: the rules page is missing: refusals cite it")];
    }
    let pages: Vec<RulesPage<'_>> = files.iter().filter_map(RulesPage::of).collect();
    let mut complaints = Vec::new();
    for file in files {
        let mut cited: Vec<(usize, String)> = Vec::new();
        match file.extension() {
            "md" => cited.extend(cited_in(&file.text)),
            "rs" => {
                let parts = file.parts();
                cited.extend(cited_in(&parts.comments));
                if !file.path.starts_with("tests/") && !file.path.contains("/tests/api/") {
                    cited.extend(parts.strings.iter().filter(|(_, text)| is_number(text)).cloned());
                }
            }
            _ => {}
        }
        // A module such as `tournament` has the page of its plural.
        let is_own = |page: &&RulesPage<'_>| file.path.contains(page.game.trim_end_matches('s'));
        let own = pages.iter().find(is_own);
        let page = own.or_else(|| pages.iter().find(|page| page.path == RULES_PAGE));
        let Some(RulesPage { path, rules, .. }) = page else { continue };
        for (line, rule) in cited.into_iter().filter(|(_, rule)| !rules.contains(&**rule)) {
            complaints.push(format!(
                "{}:{line}: there is no rule {rule} in {path}: mend the number, or write the rule",
                file.path
            ));
        }
    }
    complaints
}
