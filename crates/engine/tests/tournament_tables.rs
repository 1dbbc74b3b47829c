//! Tables of a tournament: a fixed number of games among fixed players, for points, without waiting
//! for anybody.

use std::cell::RefCell;

use bahay_engine::catalog::{AnyGame, AnyRules, kinds};
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules;
use bahay_engine::seat::Seat;
use bahay_engine::table::{
    Clocks, Effect, Event, Input, Phase, Reason, Record, Rejection, Table, TableId, Terms,
    Timestamp, TournamentId, TournamentPlayer, TournamentSeating,
};
use uuid::Uuid;

use crate::independent::{Expected, assert_verified};
use crate::support::desk::{Desk, player, seat};
use crate::support::json;
use crate::support::records::script;

const GAMES: u32 = 3;

fn tournament_table(rules: AnyRules, finished: u32) -> Desk<AnyGame> {
    let numbers = || 0..u64::from(rules.seats().least);
    let seating = TournamentSeating {
        tournament: TournamentId(Uuid::from_u64_pair(5, 0)),
        round: 1,
        number: 2,
        games: GAMES,
        players: numbers().map(player).collect(),
        commitments: vec![],
    };
    let players = numbers().map(|number| TournamentPlayer {
        player: player(number),
        name: format!("player {number}"),
        avatar: None,
        bot: false,
    });
    let players: Vec<_> = players.collect();
    let bet = Coins::from_hundredths(100 * i64::from(rules.counts_per_bet()));
    let terms = Terms::for_tournament("tournament", rules, bet, Clocks::default(), seating);
    let table = Table::new(TableId(Uuid::from_u64_pair(3, 0)), terms);
    let at = Timestamp::from_ms(0);
    Desk::at_table(table.with_tournament_players(players, finished, at))
}

fn tongits_table() -> Desk<AnyGame> {
    tournament_table(AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules, 0)
}

fn is_over(desk: &Desk<AnyGame>) -> bool {
    desk.table.is_closed()
}

/// Plays to the end of the table and returns the numbers of the reported games.
fn play_to_the_end(desk: &mut Desk<AnyGame>, check: impl Fn(&Desk<AnyGame>)) -> Vec<u32> {
    let mut numbers = Vec::new();
    for _ in 0..100_000 {
        if is_over(desk) {
            return numbers;
        }
        if let [Effect::Report { record, number, .. }] = desk.table.effects(desk.now).as_slice() {
            record.verify().unwrap();
            numbers.push(*number);
            check(desk);
        }
        desk.go_on();
    }
    panic!("the table never ends");
}

#[test]
fn every_rule_set_is_played_to_the_last_game_without_the_ledger() {
    for kind in kinds() {
        let records = RefCell::new(Vec::new());
        for set in &kind.rule_sets {
            let mut desk = tournament_table(set.rules.clone(), 0);
            let numbers = play_to_the_end(&mut desk, |desk| {
                let record = desk.record();
                let seats = u8::try_from(record.players.len()).unwrap();
                let stake = record.terms.stake_max(seats).unwrap();
                assert!(record.stakes.iter().all(|held| *held == stake), "{}", set.name);
                assert!(record.settlement.pot.is_none());
                assert!(record.settlement.fees.iter().all(|fee| fee.fee.is_zero()));
                let nets = Seat::all(seats).map(|seat| record.settlement.net(seat).unwrap());
                assert_eq!(Coins::checked_sum(nets), Some(Coins::ZERO), "points sum to zero");
                records.borrow_mut().push(record.clone());
            });
            assert_eq!(numbers, [1, 2, 3], "{} {}", kind.name, set.name);
            assert_eq!(desk.table.tournament_games(), GAMES);
            assert!(desk.players().is_empty() && desk.table.is_deserted());
            assert_eq!(desk.table.deadline(), None);
            assert!(desk.table.effects(desk.now).is_empty());
            // The journal alone restores the table.
            assert_eq!(desk.replayed(), desk.table);
        }
        // The game of the tests has no verifier of its own.
        if kind.name != "guess_the_die" {
            check_independently(kind.name, &records.into_inner());
        }
    }
}

/// Checks that the game's verifier in Python accepts the records, and refuses one of other players.
fn check_independently(kind: &str, records: &[Record<AnyGame>]) {
    let expected = |name: &str, record: &Record<AnyGame>, rule| {
        let record = json(record);
        Expected { name: name.to_owned(), record, rule }
    };
    let mut all: Vec<_> = records.iter().map(|record| expected(kind, record, None)).collect();
    let mut forged = records[0].clone();
    forged.terms.tournament.as_mut().unwrap().players.swap(0, 1);
    all.push(expected("other players", &forged, Some("1.1")));
    assert_verified(&script(kind), &all);
}

#[test]
fn the_first_tick_prepares_a_game_that_waits_for_the_players_who_come() {
    let mut desk = tongits_table();
    assert_eq!(desk.table.deadline(), Some(desk.now));
    assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::Tick]));
    desk.tell(Input::Tick).unwrap();
    for number in 0..3 {
        assert!(matches!(desk.table.phase(), Phase::Preparing(_)));
        desk.connect(number).unwrap();
        desk.ready(number).unwrap();
    }
    assert!(matches!(desk.table.phase(), Phase::Opening(_)));
    assert_eq!(desk.table.deadline(), Some(desk.now), "no ledger is asked");
    desk.tell(Input::Tick).unwrap();
    assert!(desk.table.taken_over_seats().is_empty());
    assert!(matches!(desk.table.phase(), Phase::Playing(_)));
}

#[test]
fn the_ai_plays_for_a_player_who_is_not_ready_until_the_player_takes_the_seat_back() {
    let mut desk = tongits_table();
    desk.tell(Input::Tick).unwrap();
    for number in 0..3 {
        desk.connect(number).unwrap();
    }
    desk.ready(0).unwrap();
    desk.ready(2).unwrap();
    desk.wait_and_tick();
    assert!(matches!(desk.table.phase(), Phase::Opening(_)), "nobody is waited for");
    let takeover = Event::Takeover { seat: seat(1), on: true };
    assert!(desk.events.contains(&takeover), "{:?}", desk.events);
    desk.tell(Input::Tick).unwrap();
    assert_eq!(desk.table.taken_over_seats().iter().collect::<Vec<_>>(), [seat(1)]);
    desk.tell(Input::TakeBack { player: player(1) }).unwrap();
    assert!(desk.table.taken_over_seats().is_empty());
}

#[test]
fn a_player_who_leaves_keeps_the_seat_and_is_not_waited_for() {
    let mut desk = tongits_table();
    desk.tell(Input::Tick).unwrap();
    for number in 0..3 {
        desk.connect(number).unwrap();
    }
    desk.leave(1).unwrap();
    assert_eq!(desk.leave(1), Err(Rejection::NotSeated));
    desk.ready(0).unwrap();
    desk.ready(2).unwrap();
    assert!(matches!(desk.table.phase(), Phase::Opening(_)));
    desk.tell(Input::Tick).unwrap();
    assert_eq!(desk.table.taken_over_seats().iter().collect::<Vec<_>>(), [seat(1)]);
    desk.go_on_until(|desk| desk.table.tournament_games() == 1);
    assert_eq!(desk.players().len(), 3, "the seat is kept after the game");
    assert!(matches!(desk.table.phase(), Phase::Preparing(_)));
    // Returning takes the seat back.
    desk.connect(1).unwrap();
    desk.ready(0).unwrap();
    desk.ready(2).unwrap();
    desk.tell(Input::Tick).unwrap();
    assert!(desk.table.taken_over_seats().is_empty());
}

#[test]
fn players_who_never_come_are_played_by_the_ai_and_delay_only_the_first_game() {
    let mut desk = tongits_table();
    desk.go_on_until(|desk| desk.table.tournament_games() == 1);
    // Everybody has been away for longer than the grace, so the next game opens at once.
    assert!(matches!(desk.table.phase(), Phase::Opening(_)));
    desk.go_on_until(is_over);
    let finished =
        |event: &&Event<_>| matches!(event, Event::Left { reason: Reason::Finished, .. });
    assert_eq!(desk.events.iter().filter(finished).count(), 3);
}

#[test]
fn nobody_else_sits_down_and_nobody_is_removed() {
    let mut desk = tongits_table();
    let sit = |number| Input::sit(player(number), "Ana");
    assert_eq!(desk.tell(sit(7)), Err(Rejection::TableFull));
    assert_eq!(desk.tell(sit(0)), Err(Rejection::AlreadySeated));
    desk.tell(Input::Remove { player: player(0) }).unwrap();
    assert_eq!(desk.players().len(), 3);
    desk.go_on_until(is_over);
    assert_eq!(desk.tell(sit(0)), Err(Rejection::TableClosed));
    assert_eq!(desk.tell(Input::Tick), Err(Rejection::NothingDue));
}

#[test]
fn a_table_that_is_created_again_plays_the_games_that_are_left() {
    let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
    let mut desk = tournament_table(rules, 2);
    assert_eq!(play_to_the_end(&mut desk, |_| ()), [3]);
}

#[test]
fn a_record_names_its_tournament_and_others_players_are_refused() {
    let mut desk = tongits_table();
    desk.go_on_until(|desk| matches!(desk.table.phase(), Phase::Settling(_)));
    let record = desk.record().clone();
    let seating = record.terms.tournament.clone().unwrap();
    assert_eq!((seating.round, seating.number, seating.games), (1, 2, GAMES));
    record.verify().unwrap();
    let mut forged = record.clone();
    forged.terms.tournament.as_mut().unwrap().players.swap(0, 1);
    assert_eq!(forged.verify().unwrap_err().rule, "1.1");
    let mut forged = record;
    forged.terms.price.fee_basis_points = 500;
    assert!(forged.verify().unwrap_err().to_string().contains("points alone"));
}
