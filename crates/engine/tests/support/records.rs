//! Records of games that no table played, and forgeries of records, for the verifiers in Python.

use bahay_engine::chance::{Contribution, ServerSeed, Stream};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameKind, Turn};
use bahay_engine::hex::Hex;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    ActionOrigin, FORMAT, GameId, PlayerId, Record, RecordedAction, Settlement, TableId, Terms,
    Timestamp,
};
use bahay_engine::testing::TestRng;
use uuid::Uuid;

use super::json;
use crate::independent::{Expected, assert_verified};

/// Plays a whole game by the choice and sometimes by the clock. Returns its record, which is not
/// settled yet.
pub fn record_game<G: GameKind>(
    terms: Terms<G::Rules>,
    clients: Vec<Contribution>,
    starter: Option<Seat>,
    seed: u64,
    mut choose: impl FnMut(&G, Seat, &mut TestRng) -> G::Action,
) -> Record<G> {
    let mut dice = TestRng::new(seed);
    let game = GameId(Uuid::from_u64_pair(7, seed));
    let server_seed = ServerSeed(Hex([u8::try_from(seed % 251).expect("a byte"); 32]));
    let mut stream = Stream::new(server_seed.key(game.0.as_bytes(), &clients));
    let seats = u8::try_from(clients.len()).expect("eight at most");
    let mut state = G::new(&terms.rules, seats, starter);
    let (mut chance, mut actions) = (Vec::new(), Vec::new());
    let mut at = 1_000;
    loop {
        state = match state.turn() {
            Turn::Over => break,
            Turn::Chance(request) => {
                let answer = stream.draw(request);
                let next = state.resolve(&answer, &mut Vec::new());
                chance.push(answer);
                next
            }
            Turn::Wait(_) => state.expire(&mut Vec::new()),
            Turn::Players(prompt) => {
                let seats: Vec<Seat> = prompt.seats.iter().collect();
                let seat = *dice.choose(&seats).expect("somebody is asked");
                let (action, by) = if dice.below(12) == 0 {
                    let action = state.default_action(seat).expect("the seat is to act");
                    (action, ActionOrigin::Clock)
                } else {
                    (choose(&state, seat, &mut dice), ActionOrigin::Player)
                };
                at += 1;
                let next = state.act(seat, &action, &mut Vec::new()).expect("it is legal");
                actions.push(RecordedAction { at: Timestamp::from_ms(at), seat, by, action });
                next
            }
        };
    }
    let stake = terms.stake_max(seats).expect("a stake fits");
    let players = (1..=u64::from(seats)).map(|player| PlayerId(Uuid::from_u64_pair(9, player)));
    Record {
        format: FORMAT.into(),
        engine: "bahay/engine/v1".into(),
        kind: G::NAME.into(),
        game,
        table: TableId(Uuid::from_u64_pair(8, seed)),
        terms,
        players: players.collect(),
        bots: SeatSet::EMPTY,
        opened_at: Timestamp::from_ms(1_000),
        finished_at: Timestamp::from_ms(at),
        commitment: server_seed.commitment(),
        server_seed,
        clients,
        starter,
        chance,
        actions,
        outcome: state.outcome().expect("the game is over"),
        stakes: vec![stake; usize::from(seats)],
        settlement: Settlement::default(),
        pot_before: Coins::ZERO,
        pot_after: Coins::ZERO,
        crown_before: None,
        crown_after: None,
    }
}

/// A forgery: its name, the rule that it violates, and the change of a record, which returns
/// whether it applies.
pub type Forgery<G> = (&'static str, &'static str, fn(&mut Record<G>) -> bool);

/// Reveals a text to which seat 1 was not committed.
pub fn reveal_another_text<G: GameKind>(record: &mut Record<G>) -> bool {
    let commitment = record.clients[1].commitment;
    record.clients[1] = Contribution { commitment, ..Contribution::from_text("other") };
    true
}

/// Returns the path of the verifier in Python of a kind.
pub fn script(kind: &str) -> String {
    let name = if kind == "tongits" { "verify".to_owned() } else { format!("verify_{kind}") };
    format!("{}/../../docs/{name}.py", env!("CARGO_MANIFEST_DIR"))
}

/// Checks that the game's verifier accepts the records and refuses every forgery of one of
/// them. `settle` keeps the arithmetic of a forged record right, so that only play can reveal it.
pub fn check_verifier<G: GameKind>(
    records: &[(String, Record<G>)],
    forgeries: &[Forgery<G>],
    may_forge: impl Fn(&Record<G>) -> bool,
    settle: impl Fn(&mut Record<G>),
) {
    let expected = |name: &str, record: &Record<G>, rule| {
        let record = json(record);
        Expected { name: name.to_owned(), record, rule }
    };
    let mut all: Vec<Expected> =
        records.iter().map(|(name, record)| expected(name, record, None)).collect();
    for (what, rule, forge) in forgeries {
        let found =
            records.iter().filter(|(_, record)| may_forge(record)).find_map(|(_, record)| {
                let mut forged = record.clone();
                forge(&mut forged).then_some(forged)
            });
        let mut forged = found.unwrap_or_else(|| panic!("no record can be forged by {what}"));
        settle(&mut forged);
        assert!(forged.verify().is_err(), "{what}: the engine takes it");
        all.push(expected(what, &forged, Some(rule)));
    }
    assert_verified(&script(G::NAME), &all);
}
