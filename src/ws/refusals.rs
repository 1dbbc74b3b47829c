//! Every refusal of the socket in one list, for asyncapi.yaml and docs/PROTOCOL.md.
//!
//! There are four sources, in this order: the session, the tokens, the table, the rules of the
//! game. Refusals that only the clock, the AI or the ledger can meet are not listed.

use bahay_engine::catalog::{self, AnyRefusal};
use bahay_engine::table::Rejection;

use crate::auth::AuthError;

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

/// The refusals of a session before the table decides: code, whether to retry, and the reason.
const SESSION: [(&str, bool, &str); 28] = [
    ("malformed", false, "the text is not a command; `detail` says where"),
    ("not_authenticated", false, "authenticate first"),
    ("already_authenticated", false, "this connection is already authenticated"),
    ("ticket_unknown", false, "the ticket is unknown, used or expired"),
    ("too_fast", true, "too many messages: at most 20 a second"),
    ("not_joined", false, "join your table first"),
    ("not_seated", false, "you do not sit at a table: ask a room for a seat"),
    ("already_joined", false, "you play at a table on this connection: leave it first"),
    ("table_not_found", false, "there is no such table"),
    ("not_watchable", false, "only its players see this table"),
    ("too_talkative", true, "at most one phrase every two seconds, and three at once"),
    ("muted", false, "you are muted: phrases are refused until the mute ends"),
    ("seating", true, "another request of yours is being seated: ask again"),
    ("room_not_found", false, "there is no such room"),
    ("room_closed", false, "this room is closed"),
    ("banned", false, "you are banned; `detail` says until when, and why"),
    ("too_few_coins", false, "this room requires a larger balance"),
    ("too_many_coins", false, "this room requires a smaller balance"),
    ("account_required", false, "this room is for players with a password or an identity"),
    ("room_limit", false, "the daily limit of winnings in rooms is reached: play on tomorrow"),
    (
        "socket_required",
        true,
        "open the socket first: a seat is kept only for players who are there",
    ),
    (
        "not_ready_before",
        false,
        "you, your device or many of your network took seats and were not ready: wait for \
         `retry_after_ms`",
    ),
    ("rooms_invalid", false, "name one to eight rooms of one game"),
    ("ticket_not_found", false, "this connection has no ticket"),
    ("ticket_matched", false, "a table has been found already"),
    ("table_halted", false, "this table is halted until an operator releases it"),
    ("other_version", true, "another node plays this table: try again"),
    ("unavailable", true, "the table is unavailable: try again"),
];

/// Returns all refusals: each code once, and once per game that uses it.
pub fn refusals() -> Vec<SocketRefusal> {
    let session = SESSION.map(|(code, retryable, detail)| SocketRefusal {
        code,
        kind: None,
        rule: None,
        retryable,
        detail: detail.into(),
    });
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
    let mut refusals: Vec<_> = session.into_iter().chain(tokens).collect();
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bahay_bots::table::ai_action;
    use bahay_engine::catalog::{AnyAction, AnyGame};
    use bahay_engine::table::{
        Clocks, ConnectionId, GameId, Input, Phase, PlayerId, Table, TableId, Timestamp,
    };
    use bahay_engine::testing::TestRng;
    use uuid::Uuid;

    use super::{SESSION, refusals};
    use crate::entropy;
    use crate::lobby::house_rooms;

    /// The modules of the socket that give refusals with codes of their own.
    const MODULES: [&str; 7] = [
        include_str!("session.rs"),
        include_str!("feed.rs"),
        include_str!("authentication.rs"),
        include_str!("chat.rs"),
        include_str!("matchmaking.rs"),
        include_str!("advice.rs"),
        include_str!("lobby_refusals.rs"),
    ];

    /// Returns the literals of the modules that are refusal codes: before `None` or `rule` in a
    /// call of `refuse` or `refusal`, before the detail in one of `authentication`, and in a pair
    /// or tuple that ends with `retryable`.
    fn codes_in_the_code() -> BTreeSet<&'static str> {
        let mut codes = BTreeSet::new();
        for module in MODULES {
            let mut literals = module.split('"');
            let mut before = literals.next().unwrap_or_default();
            while let (Some(literal), Some(after)) = (literals.next(), literals.next()) {
                let is_code = !literal.is_empty()
                    && literal.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                let is_refused =
                    ["id), ", "id, ", "id()), ", "(text), "].iter().any(|id| before.ends_with(id));
                let is_paired = before.ends_with('(')
                    && [", false)", ", true)", ", None, "]
                        .iter()
                        .any(|suffix| after.starts_with(suffix));
                if is_code && (is_refused || is_paired) {
                    codes.insert(literal);
                }
                before = after;
            }
        }
        codes
    }

    #[test]
    fn the_listed_session_refusals_are_those_in_the_code() {
        let listed: BTreeSet<_> = refusals().iter().map(|refused| refused.code).collect();
        let given = codes_in_the_code();
        let missing: Vec<_> = given.difference(&listed).collect();
        assert!(missing.is_empty(), "given but not listed: {missing:?}");
        for (code, ..) in SESSION {
            assert!(given.contains(code), "the session never gives {code}");
        }
    }

    fn player(number: u32) -> PlayerId {
        PlayerId(Uuid::from_u128(u128::from(number) + 1))
    }

    fn connection(number: u32) -> ConnectionId {
        ConnectionId(Uuid::from_u128(u128::from(number)))
    }

    /// Answers for the ledger if the table has asked it to open a game.
    fn open_game(table: Table<AnyGame>, now: Timestamp) -> Table<AnyGame> {
        let Phase::Opening(opening) = table.phase() else {
            return table;
        };
        let stake = table.terms().stake_max(table.seats_in_game());
        let stakes = table.players().iter().map(|_| stake.expect("it fits")).collect();
        let opened = Input::Opened { game: opening.game, stakes, pot: table.pot() };
        table.decide(now, opened, entropy::game_entropy).expect("the ledger is asked").table
    }

    /// Returns a table of three connected players whose game has begun.
    fn playing(now: Timestamp) -> Table<AnyGame> {
        let terms = house_rooms(Clocks::default())[0].terms().clone();
        let mut table = Table::<AnyGame>::new(TableId(Uuid::nil()), terms);
        let take = |table: Table<AnyGame>, input| {
            let decided =
                table.decide(now, input, entropy::game_entropy).expect("nothing is against it");
            open_game(decided.table, now)
        };
        for number in 0..3 {
            let player = player(number);
            table = take(table, Input::sit(player, "Ana"));
            table = take(table, Input::Connect { player, connection: connection(0) });
        }
        let game = table.phase().game().expect("a full table prepares a game");
        for number in 0..3 {
            let player = player(number);
            table = take(table, Input::Ready { player, game, commitment: None });
        }
        assert!(matches!(table.phase(), Phase::Playing(_)), "{:?}", table.phase());
        table
    }

    /// Returns a player's input at random, mostly a valid one.
    fn command(table: &Table<AnyGame>, dice: &mut TestRng) -> Input<AnyAction> {
        let player = player(dice.below(4));
        let present = table.phase().game().filter(|_| dice.below(20) > 0);
        let game = present.unwrap_or(GameId(Uuid::nil()));
        match dice.below(8) {
            0 => Input::Leave { player },
            1 => Input::TakeBack { player },
            2 => Input::Reveal { player, game, text: "luck".repeat(dice.below(2) as usize * 80) },
            3 | 4 => Input::Ready { player, game, commitment: None },
            _ => {
                let seat = table.seat_of(player);
                match seat.and_then(|seat| ai_action(&table, seat)) {
                    Some(Input::AiAction { prompt, action, .. }) => {
                        let prompt = prompt.wrapping_sub(dice.below(2));
                        Input::Act { player, game, prompt, action }
                    }
                    _ => Input::Ready { player, game, commitment: None },
                }
            }
        }
    }

    /// The contract lists every code with which a table refuses a player's command, in any state of
    /// the players' connections.
    #[test]
    fn every_table_refusal_that_a_player_can_meet_is_listed() {
        let listed: BTreeSet<_> = refusals().iter().map(|refused| refused.code).collect();
        let mut met = BTreeSet::new();
        for seed in 0..40 {
            let dice = &mut TestRng::new(seed);
            let mut now = Timestamp::default();
            let mut table = playing(now);
            for _ in 0..400 {
                now = now.after_ms(dice.below(2_000));
                let player = player(dice.below(3));
                let connection = connection(dice.below(2));
                let outside = match dice.below(8) {
                    0 => Some(Input::sit(player, "Ana")),
                    1 => Some(Input::Connect { player, connection }),
                    2 => Some(Input::Disconnect { player, connection }),
                    3 => Some(Input::Tick),
                    _ => None,
                };
                let is_command = outside.is_none();
                let input = outside.unwrap_or_else(|| command(&table, dice));
                match table.decide(now, input, entropy::game_entropy) {
                    Ok(decided) => table = open_game(decided.table, now),
                    Err(rejection) if is_command => {
                        met.insert(rejection.code());
                    }
                    Err(_) => {}
                }
            }
        }
        for code in ["other_connection", "not_taken_over", "not_seated", "other_game"] {
            assert!(met.contains(code), "{code} is not met: {met:?}");
        }
        let missing: Vec<_> = met.difference(&listed).collect();
        assert!(missing.is_empty(), "met but not listed: {missing:?}");
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
