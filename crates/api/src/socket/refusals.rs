//! Every refusal of the socket in one list, for asyncapi.yaml and docs/PROTOCOL.md.
//!
//! There are four sources, in this order: the session, the tokens, the table, the rules of the
//! game. Refusals that only the clock, the AI or the ledger can meet are not listed.

use bahay_base::auth_error::AuthError;
use bahay_engine::catalog::{self, AnyRefusal};
use bahay_engine::table::Rejection;

/// A refusal in the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketRefusal {
    /// The stable code, in snake case.
    pub code: &'static str,
    /// The game whose rules give the refusal; several games may share a code.
    pub kind: Option<&'static str>,
    /// The numbered rule that decides, if there is one.
    pub rule: Option<&'static str>,
    /// The same command may succeed later, unchanged.
    pub retryable: bool,
    pub detail: String,
}

/// Lists the refusals of the session.
macro_rules! list_session_refusals {
    ($($name:ident, $code:literal, $is_retryable:literal, $detail:literal;)+) => {
        vec![$(SocketRefusal {
            code: $code,
            kind: None,
            rule: None,
            retryable: $is_retryable,
            detail: $detail.into(),
        }),+]
    };
}

/// Returns all refusals: each code once, and once per game that uses it.
pub fn refusals() -> Vec<SocketRefusal> {
    let table = Rejection::<AnyRefusal>::OWN.into_iter().filter(concerns_players);
    let kinds = catalog::kinds();
    let is_shown = |name: &str| kinds.iter().any(|kind| kind.name == name && !kind.is_hidden);
    let rules = catalog::refusals().into_iter().filter(|(kind, _)| is_shown(kind));
    let rules = rules.map(|(kind, illegal)| (Some(kind), Rejection::Illegal(illegal)));
    let table = table.map(|rejection| (None, rejection));
    let tokens = AuthError::ALL.into_iter();
    let tokens = tokens.filter(|error| *error != AuthError::Missing && !error.is_transient());
    let tokens = tokens.map(|error| SocketRefusal {
        code: error.code(),
        kind: None,
        rule: None,
        retryable: false,
        detail: error.to_string(),
    });
    let mut refusals = bahay_protocol::session_refusals!(list_session_refusals);
    refusals.extend(tokens);
    for (kind, rejection) in table.chain(rules) {
        let code = rejection.code();
        let rule = rejection.rule();
        let is_listed = |refused: &SocketRefusal| {
            refused.code == code
                && (refused.kind.is_none() || refused.kind == kind)
                && (refused.rule.is_none() || rule == refused.rule)
        };
        if !refusals.iter().any(is_listed) {
            let detail = rejection.to_string();
            refusals.push(SocketRefusal { code, kind, rule, retryable: false, detail });
        }
    }
    refusals
}

/// Returns true if a player's command can meet this rejection.
fn concerns_players(rejection: &Rejection<AnyRefusal>) -> bool {
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
        | Rejection::OtherConnection
        | Rejection::Illegal(_) => true,
        // Seats are requested over REST; the rest concerns the clock, the AI and the ledger.
        Rejection::AlreadySeated
        | Rejection::AlreadyConnected
        | Rejection::TableClosed
        | Rejection::TableFull
        | Rejection::GameRunning
        | Rejection::NothingNew
        | Rejection::NothingDue
        | Rejection::BadAnswer
        | Rejection::NeedsEntropy => false,
    }
}
