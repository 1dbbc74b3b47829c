//! Every refusal that the socket can give, on one page: for asyncapi.yaml and docs/PROTOCOL.md.
//!
//! Four sources, in the order in which they are looked for: the session itself, the tokens, the
//! table, the rules of the game. What only the clock, the AI or the ledger can be refused is not here.

use bahay_engine::catalog::{self, AnyIllegal};
use bahay_engine::table::Rejection;

use crate::auth::AuthError;

/// A refusal as a client meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Stable, in snake case.
    pub code: &'static str,
    /// The game whose rules refuse it; several games may use one code.
    pub kind: Option<&'static str>,
    /// The numbered rule that decides, where one does.
    pub rule: Option<&'static str>,
    /// The same command may succeed later, unchanged.
    pub retryable: bool,
    pub detail: String,
}

/// What a session refuses before it asks the table: code, whether to try again, and why.
const SESSION: [(&str, bool, &str); 25] = [
    ("malformed", false, "the text is not a command; `detail` says where"),
    ("not_authenticated", false, "say first who you are: authenticate"),
    ("already_authenticated", false, "this connection has said already who it is"),
    ("ticket_unknown", false, "the ticket was never given, has been used or has expired"),
    ("too_fast", true, "too many messages: at most 20 a second"),
    ("not_joined", false, "join your table first"),
    ("not_seated", false, "you do not sit at a table: ask a room for a seat"),
    ("already_joined", false, "you play at a table on this connection: leave it first"),
    ("table_not_found", false, "there is no such table"),
    ("not_watchable", false, "only its players see this table"),
    ("too_talkative", true, "at most one phrase every two seconds, and three at once"),
    ("muted", false, "the house has muted you: what you say is refused until that ends"),
    ("seating", true, "another request of yours is being seated: ask again"),
    ("room_not_found", false, "there is no such room"),
    ("room_closed", false, "this room is closed"),
    ("banned", false, "you are banned; `detail` says until when, and why"),
    ("too_few_coins", false, "this room asks for a wallet that holds more"),
    ("too_many_coins", false, "this room is for wallets that hold less"),
    ("account_required", false, "this room is for players with a password or an identity"),
    ("rooms_invalid", false, "name one to eight rooms of one game"),
    ("ticket_not_found", false, "you are not looking for a table here"),
    ("ticket_matched", false, "a table has been found already"),
    ("table_halted", false, "this table was halted: an operator decides what becomes of it"),
    ("other_version", true, "another node plays this table: try again"),
    ("unavailable", true, "the table cannot be reached just now: try again"),
];

/// All of them, each code once, and once for each game that uses it.
pub fn refusals() -> Vec<Refused> {
    let session = SESSION.map(|(code, retryable, detail)| Refused {
        code,
        kind: None,
        rule: None,
        retryable,
        detail: detail.into(),
    });
    let table = Rejection::<AnyIllegal>::OWN.into_iter().filter(meets_a_player);
    let kinds = catalog::kinds();
    let is_shown = |name: &str| kinds.iter().any(|kind| kind.name == name && !kind.is_hidden);
    let rules = catalog::refusals().into_iter().filter(|(kind, _)| is_shown(kind));
    let rules = rules.map(|(kind, illegal)| (Some(kind), Rejection::Illegal(illegal)));
    let table = table.map(|rejection| (None, rejection));
    let tokens = AuthError::ALL.into_iter();
    let tokens = tokens.filter(|error| *error != AuthError::Missing && !error.is_transient());
    let tokens = tokens.map(|error| Refused {
        code: error.code(),
        kind: None,
        rule: None,
        retryable: false,
        detail: error.to_string(),
    });
    let mut refusals: Vec<_> = session.into_iter().chain(tokens).collect();
    for (kind, rejection) in table.chain(rules) {
        let (code, rule) = (rejection.code(), rejection.rule());
        let said = |refused: &Refused| {
            refused.code == code
                && (refused.kind.is_none() || refused.kind == kind)
                && (refused.rule.is_none() || rule == refused.rule)
        };
        if !refusals.iter().any(said) {
            let detail = rejection.to_string();
            refusals.push(Refused { code, kind, rule, retryable: false, detail });
        }
    }
    refusals
}

/// Whether a command of a player can be refused for this.
fn meets_a_player(rejection: &Rejection<AnyIllegal>) -> bool {
    match rejection {
        Rejection::NoSuchPhase
        | Rejection::NotPractice
        | Rejection::NotSeated
        | Rejection::OtherGame
        | Rejection::AlreadyReady
        | Rejection::AlreadyRevealed
        | Rejection::TextTooLong
        | Rejection::StalePrompt
        | Rejection::NotAsked
        | Rejection::OtherText
        | Rejection::NotTakenOver
        | Rejection::Illegal(_) => true,
        // A seat is asked for over REST; the rest is for the clock, the AI, the ledger.
        Rejection::AlreadySeated
        | Rejection::AlreadyConnected
        | Rejection::TableClosed
        | Rejection::TableFull
        | Rejection::GameRunning
        | Rejection::NothingNew
        | Rejection::OtherConnection
        | Rejection::NothingDue
        | Rejection::BadAnswer
        | Rejection::NeedsFresh => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{SESSION, refusals};

    #[test]
    fn the_sessions_own_refusals_are_those_in_its_code() {
        let session = [
            include_str!("session.rs"),
            include_str!("feed.rs"),
            include_str!("entry.rs"),
            include_str!("chat.rs"),
            include_str!("seeking.rs"),
        ]
        .concat();
        for (code, ..) in SESSION {
            assert!(session.contains(&format!("\"{code}\"")), "the session never says {code}");
        }
    }

    #[test]
    fn every_code_is_listed_once() {
        let mut codes: Vec<_> =
            refusals().iter().map(|refused| (refused.kind, refused.code)).collect();
        let listed = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), listed);
    }
}
