//! The time of a pairing of an arena tournament with 3,000 waiting players: `./dev bench`, or
//! `cargo bench -p bahay-engine --bench tournaments`. The bar is 20 ms.
//!
//! A row copies the tournament and applies the tick, as a host does that keeps its replica until
//! the line is stored. In the second row everybody has met the last opponents of five pairings; in
//! the third the players come from few networks.

mod rows;

use bahay_engine::catalog::AnyRules;
use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::hex::Hex;
use bahay_engine::matchmaking::ConflictKey;
use bahay_engine::table::Timestamp;
use bahay_engine::testing::{TestRng, tournament_player};
use bahay_engine::tournament::{
    Entrant, EntrantLimits, EntryPrice, Format, GameScore, Input, Phase, Tournament,
    TournamentGame, TournamentId, TournamentTerms,
};
use uuid::Uuid;

use rows::Rows;

const PLAYERS: u32 = 3_000;
const START: Timestamp = Timestamp::from_ms(1_772_366_400_000);
const PAIRING_MS: u32 = 3_000;

fn main() {
    let rows = Rows::new(&format!("an arena tournament, {PLAYERS} waiting players"));
    let new = arena(PLAYERS);
    report(&rows, "a pairing, everybody new", &new);
    let mut played = new;
    for _ in 0..5 {
        played = play_round(played);
    }
    report(&rows, "a pairing, after five", &played);
    report(&rows, "a pairing, from 40 networks", &arena(40));
    rows.each("a copy of the tournament", &[played], Clone::clone);
    rows.bytes("an entrant in memory, without what it points to", size_of::<Entrant>());
}

fn report(rows: &Rows, name: &str, tournament: &Tournament) {
    let pair = |tournament: &Tournament| {
        let now = next_pairing(tournament);
        tournament.decide(now, Input::Tick).expect("a pairing is due")
    };
    let tournaments = core::slice::from_ref(tournament);
    rows.each(name, tournaments, |tournament| pair(tournament).events.len());
}

fn next_pairing(tournament: &Tournament) -> Timestamp {
    let Phase::Arena { next_pairing, .. } = tournament.phase() else {
        panic!("the tournament is running")
    };
    next_pairing.after_ms(3 * PAIRING_MS)
}

fn advance(tournament: &mut Tournament, now: Timestamp, input: Input) {
    let line = tournament.decide_line(now, input).expect("the input is accepted");
    tournament.advance(&line).expect("the line is accepted");
}

fn arena(networks: u32) -> Tournament {
    let rules = AnyRules::find_rule_set("tongits", "kingdom").expect("the game is there").rules;
    let terms = TournamentTerms {
        name: "Bench".into(),
        game: TournamentGame::new(rules, 3),
        format: Format::Arena { duration_ms: 3_600_000, pairing_ms: PAIRING_MS },
        entrants: EntrantLimits { least: 3, most: PLAYERS },
        entry: EntryPrice::default(),
        guarantee: Coins::ZERO,
        payouts: Vec::new(),
        starts_at: Some(START),
        late_registration_ms: 0,
        break_ms: 0,
        is_private: false,
        bots: false,
        bots_after_ms: 0,
    };
    let id = TournamentId(Uuid::from_u64_pair(1, 2));
    let mut tournament = Tournament::new(id, terms, ServerSeed(Hex([7; 32])));
    let mut rng = TestRng::new(1);
    for number in 0..PLAYERS {
        let key = if networks == PLAYERS { number } else { rng.below(networks) };
        let register = Input::Register {
            player: tournament_player(number),
            name: format!("Player {number}"),
            pass: false,
            bot: false,
            conflict_keys: vec![ConflictKey(u64::from(key)), ConflictKey(rng.word())],
        };
        advance(&mut tournament, START.before_ms(1_000), register);
    }
    advance(&mut tournament, START, Input::Tick);
    tournament
}

/// Pairs the waiting players and lets the first of each table win.
fn play_round(mut tournament: Tournament) -> Tournament {
    let now = next_pairing(&tournament);
    advance(&mut tournament, now, Input::Tick);
    let tables: Vec<_> =
        (0..PLAYERS).filter_map(|number| tournament.table_of(tournament_player(number))).collect();
    for number in tables {
        let Some(seating) = tournament.find_table(number) else { continue };
        let score = |(seat, player)| GameScore {
            player,
            points: Coins::from_hundredths(if seat == 0 { 200 } else { -100 }),
            is_absent: false,
        };
        let scores = (0..).zip(seating.players).map(score).collect();
        advance(&mut tournament, now, Input::GameScored { table: number, game: 1, scores });
    }
    tournament
}
