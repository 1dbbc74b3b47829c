//! Games are named only in their folders, in the catalogue, in tests and in documents, so a game is
//! added without a change to the code that runs games.

use crate::{Complaints, File};

/// The files that may name a game, its actions or cards beside `games`, the catalogue and test
/// support. The rest of the service is generic over the catalogue.
const KNOWS_A_GAME: &[(&str, &str)] = &[
    ("crates/lab/src/collusion/", "a study of how one game is cheated at"),
    ("src/http/player/games/hand_sorting.rs", "an order of the hands of one game, for its clients"),
    ("crates/api/src/socket/examples.rs", "the examples of the socket's description"),
    ("crates/api/src/player/games.rs", "a hand to sort, of one game"),
];

/// Names of a game in code.
const OF_A_GAME: [&str; 5] =
    ["bahay_engine::games", "bahay_engine::cards", "crate::games", "crate::cards", "Tongits"];

/// Reports games that generic code names.
pub(crate) fn games_named(files: &[File]) -> Complaints {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let place = file.path.as_str();
        let is_engine = place.starts_with("crates/engine/src/");
        let of_engine = ["cards/", "games/", "testing/", "catalog", "lib.rs"]
            .iter()
            .any(|part| place["crates/engine/src/".len().min(place.len())..].starts_with(part));
        let is_bots =
            ["ai", "arena/", "gym/", "search/", "simulation", "table"].iter().any(|part| {
                place.strip_prefix("crates/bots/src/").is_some_and(|at| at.starts_with(part))
            });
        let roots = ["src/", "crates/api/src/", "crates/lab/src/"];
        let is_checked =
            roots.iter().any(|root| place.starts_with(root)) || is_engine && !of_engine || is_bots;
        if !is_checked || KNOWS_A_GAME.iter().any(|(known, _)| place.starts_with(known)) {
            continue;
        }
        for (number, line) in (1..).zip(file.code_without_tests().lines()) {
            if let Some(named) = OF_A_GAME.iter().find(|named| line.contains(**named)) {
                complaints.push(format!(
                    "{place}:{number}: {named} is of one game: ask `Game`, `GameKind` or the \
                     catalogue, or say in KNOWS_A_GAME of tests/tidy/games.rs why not"
                ));
            }
        }
    }
    complaints
}
