//! Every refusal of the socket in one list, for asyncapi.yaml and docs/PROTOCOL.md.
//!
//! There are four sources, in this order: the session, the tokens, the table, the rules of the
//! game. Refusals that only the clock, the AI or the ledger can meet are not listed.

use bahay_engine::catalog::{self, AnyRefusal};
use bahay_engine::table::Rejection;

use crate::auth::AuthError;
use crate::ws::refusal::SessionRefusal;

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

/// Returns all refusals: each code once, and once per game that uses it.
pub fn refusals() -> Vec<SocketRefusal> {
    let session = SessionRefusal::ALL.iter().map(|refusal| SocketRefusal {
        code: refusal.code(),
        kind: None,
        rule: None,
        retryable: refusal.is_retryable(),
        detail: refusal.detail().into(),
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
    let mut refusals: Vec<_> = session.chain(tokens).collect();
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

    use super::{SessionRefusal, refusals};
    use crate::entropy;
    use crate::lobby::house_rooms;

    /// The modules of the socket that give refusals with codes of their own.
    const MODULES: [&str; 7] = [
        include_str!("../session/mod.rs"),
        include_str!("../session/feed.rs"),
        include_str!("../entry/authentication.rs"),
        include_str!("../session/chat.rs"),
        include_str!("../session/matchmaking.rs"),
        include_str!("../session/advice.rs"),
        include_str!("../session/lobby_refusals.rs"),
    ];

    #[test]
    fn every_listed_session_refusal_is_given() {
        for refusal in SessionRefusal::ALL {
            let name = format!("SessionRefusal::{refusal:?}");
            assert!(MODULES.iter().any(|module| module.contains(&name)), "{name} is never given");
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
