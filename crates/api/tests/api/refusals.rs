//! The list of the refusals of the socket.

use std::collections::BTreeSet;

use bahay_api::socket::{example_terms, refusals};
use bahay_base::entropy;
use bahay_bots::table::ai_action;
use bahay_engine::catalog::{AnyAction, AnyGame};
use bahay_engine::table::{
    ConnectionId, GameId, Input, Phase, PlayerId, Table, TableId, Timestamp,
};
use bahay_engine::testing::TestRng;
use uuid::Uuid;

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
    let mut table = Table::<AnyGame>::new(TableId(Uuid::nil()), example_terms());
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
            match seat.and_then(|seat| ai_action(table, seat)) {
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
    let mut codes: Vec<_> = refusals().iter().map(|refused| (refused.kind, refused.code)).collect();
    let listed = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), listed);
}
