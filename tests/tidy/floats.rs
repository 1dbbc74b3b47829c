//! No floating-point numbers near coins: no type, value or cast in SQL.

use std::collections::BTreeSet;

use super::rust::is_of_word;
use crate::{Complaints, File, lines_with};

/// The engine, the bots, and the modules that move, store or show coins. Floating-point numbers are
/// banned there, except in the files listed below, each with a reason.
const COINS: [&str; 13] = [
    "crates/bots/",
    "crates/client/",
    "crates/engine/",
    "crates/ledger/",
    "crates/protocol/",
    "crates/shell/",
    "src/accounts/",
    "src/archive/",
    "src/http/",
    "src/live_store/",
    "src/lobby/",
    "src/tables/",
    "src/ws/",
];
const FLOATS: &[&str] = &[
    // Training a bot's weights; the trained weights are integers.
    "crates/bots/examples/training/mod.rs",
    "crates/bots/examples/tongits_train.rs",
    "crates/bots/examples/tongits_train_large/rollout.rs",
    "crates/bots/examples/tongits_train_large/learner.rs",
    "crates/bots/examples/tongits_train_large/trainer.rs",
    "crates/bots/examples/tongits_train_large/main.rs",
    // Fitting the habits of players, which are integers as well.
    "crates/bots/examples/tongits_habits.rs",
    // The interfaces of serde, which know fractions. Coins are read from integers alone.
    "crates/engine/src/document/mod.rs",
    "crates/engine/src/document/reader.rs",
    "crates/engine/src/tagged.rs",
    "crates/desk-ui/src/form_fields.rs",
];

/// Checks types, numbers and methods in code, and types in SQL, also where Rust quotes it.
pub(crate) fn floats(files: &[File]) -> Complaints {
    const SQL: [&str; 5] = ["float", "float4", "float8", "double precision", "::real"];
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| !FLOATS.contains(&&*file.path)) {
        let mut lines = BTreeSet::new();
        if file.is_rust() && COINS.iter().any(|place| file.path.starts_with(place)) {
            let code = (1..).zip(file.code().lines());
            lines.extend(code.filter(|(_, code)| has_float(code)).map(|(line, _)| line));
            for (line, text) in &file.parts().strings {
                let found = SQL.iter().flat_map(|name| lines_with(text, name));
                lines.extend(found.map(|inner| line + inner - 1));
            }
        } else if file.path.starts_with("migrations/") {
            let code = file.text.lines().map(|line| line.split("--").next().unwrap_or_default());
            let code = code.collect::<Vec<_>>().join("\n").to_lowercase();
            lines.extend(SQL.iter().chain(&["real"]).flat_map(|name| lines_with(&code, name)));
        }
        complaints.extend(lines.into_iter().map(|line| {
            format!(
                "{}:{line}: a floating-point number has no place where coins are: use integer \
                 hundredths",
                file.path
            )
        }));
    }
    complaints
}

/// Returns true if a line of code names a floating-point type, method or number.
fn has_float(code: &str) -> bool {
    let words = code.split(|letter| !is_of_word(letter));
    let is_type = |word: &str| {
        ["f32", "f64"].iter().any(|name| match word.strip_suffix(name) {
            Some(before) => {
                before.is_empty() || before.ends_with(|last: char| !last.is_alphabetic())
            }
            None => false,
        })
    };
    // As in 2e3; the digits of a hexadecimal number are not an exponent.
    let is_power = |word: &str| {
        word.split_once(['e', 'E']).is_some_and(|(number, power)| {
            let is_digits = |text: &str| text.chars().all(|it| it.is_ascii_digit() || it == '_');
            number.starts_with(|first: char| first.is_ascii_digit())
                && is_digits(number)
                && is_digits(power)
        })
    };
    // As in 0.5, which is neither a nested tuple field nor a range.
    let is_number = |(at, _): (usize, &str)| {
        let before = code[..at].trim_end_matches(|it: char| it.is_ascii_digit() || it == '_');
        before.len() < at
            && !before.ends_with(|it: char| is_of_word(it) || it == '.')
            && code[at + 1..].starts_with(|it: char| it.is_ascii_digit())
    };
    words.into_iter().any(|word| is_type(word) || is_power(word))
        || code.match_indices('.').any(is_number)
}
