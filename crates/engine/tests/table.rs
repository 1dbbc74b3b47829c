//! Tables in virtual time under erratic players: coins and the journal are consistent whatever they
//! do.
//!
//! Each run prints its seed when it fails; `BAHAY_SEED` repeats one.

use crate::support::desk::{coins, kingdom_terms};
use crate::support::{
    assert_all_acted, check_coins, check_journal, check_records, play_games, settled_records,
    with_each_seed,
};
use bahay_bots::simulation::{Habits, Simulation, SimulationStep};
use bahay_engine::chance::ChanceAnswer;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, Turn, Viewer};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    Crown, Event, Input, Phase, PhaseView, PlayerId, Record, Table, TableView,
};

const SEEDS: u64 = 12;

fn simulation(seed: u64, habits: Habits) -> Simulation<Tongits> {
    Simulation::new(seed, kingdom_terms(), habits, coins(200))
}

#[test]
fn no_coin_is_lost_or_made_whatever_players_do() {
    with_each_seed(SEEDS, |seed| {
        let mut house = simulation(seed, Habits::ROUGH);
        check_coins(&mut house, 60);
        assert!(house.refusal_count() > 0, "rough players were never refused");
    });
}

#[test]
fn the_journal_alone_rebuilds_the_table() {
    with_each_seed(SEEDS, |seed| check_journal(&mut simulation(seed, Habits::ROUGH), 20));
}

#[test]
fn every_record_verifies_also_after_a_round_trip() {
    with_each_seed(SEEDS, |seed| {
        assert_all_acted(check_records(simulation(seed, Habits::ROUGH), 40, |_| ()));
    });
}

/// A viewer and the view that it folds from events.
struct Follower {
    player: Option<PlayerId>,
    view: TableView<Tongits>,
}

impl Follower {
    fn follow(&mut self, happened: &SimulationStep<Tongits>, table: &Table<Tongits>) {
        let sat_down = |event: &Event<_>| matches!(event, Event::Sat { player, .. } if Some(*player) == self.player);
        if happened.events.iter().any(sat_down) {
            self.view = table.view(self.player);
            return;
        }
        let viewer = table.view(self.player).viewer();
        for event in &happened.events {
            if let Some(event) = event.redact::<Tongits>(viewer) {
                self.view.observe(&event);
            }
        }
    }
}

#[test]
fn a_view_that_follows_the_events_is_the_view_of_the_table() {
    with_each_seed(SEEDS, |seed| {
        let mut house = simulation(seed, Habits::ROUGH);
        let mut followers: Vec<Follower> = vec![];
        followers.push(Follower { player: None, view: house.table().view(None) });
        play_games(&mut house, 15, |house, happened| {
            let table = house.table();
            for follower in &mut followers {
                follower.follow(&happened, table);
                assert_eq!(follower.view, table.view(follower.player), "{:?}", happened.events);
            }
            for (_, occupant) in table.occupants() {
                let player = Some(occupant.player);
                if followers.iter().all(|follower| follower.player != player) {
                    followers.push(Follower { player, view: table.view(player) });
                }
            }
            followers.retain(|follower| {
                follower.player.is_none_or(|player| table.seat_of(player).is_some())
            });
        });
    });
}

/// Rules 8.1 and 9.1: that a seat is ready, or has revealed its text, is shown to it alone.
#[test]
fn nobody_is_shown_the_part_of_another_seat_in_the_opening() {
    with_each_seed(SEEDS, |seed| {
        let mut own_parts = [0; 2];
        play_games(&mut simulation(seed, Habits::ROUGH), 15, |house, happened| {
            let table = house.table();
            for event in &happened.events {
                let (Event::Ready { seat } | Event::Revealed { seat }) = event else { continue };
                let viewers = Seat::all(table.seat_count()).map(Viewer::Seat);
                for viewer in viewers.chain([Viewer::Public, Viewer::Everything]) {
                    let is_shown = event.redact::<Tongits>(viewer).is_some();
                    assert_eq!(is_shown, viewer.sees(*seat), "{event:?} to {viewer:?}");
                }
            }
            let (place, done) = match table.phase() {
                Phase::Preparing(preparing) => (0, preparing.ready),
                Phase::Revealing(revealing) => (1, revealing.revealed_seats()),
                _ => return,
            };
            let players = table.occupants().map(|(seat, who)| (Some(seat), Some(who.player)));
            for (seat, player) in players.chain([(None, None)]) {
                let shown = match table.view(player).phase {
                    PhaseView::Preparing { ready, .. } => ready,
                    PhaseView::Revealing { revealed, .. } => revealed,
                    other => panic!("{other:?}"),
                };
                let own: SeatSet = done.iter().filter(|done| Some(*done) == seat).collect();
                assert_eq!(shown, own, "{player:?} of {done:?}");
                own_parts[place] += shown.len();
            }
        });
        assert!(own_parts.iter().all(|shown| *shown > 0), "ready, revealed: {own_parts:?}");
    });
}

#[test]
fn a_table_with_somebody_to_wait_for_has_a_deadline() {
    with_each_seed(SEEDS, |seed| {
        let mut house = simulation(seed, Habits::ROUGH);
        for _ in 0..3_000 {
            house.step();
            let table = house.table();
            let waits_only_for_others = table.seats_free() > 0
                && table.occupants().all(|(_, occupant)| occupant.connection.is_some());
            assert!(table.deadline().is_some() || waits_only_for_others);
        }
    });
}

/// Rule 7.2: two wins in a row, and nothing else, win the whole POT.
#[test]
fn the_second_hit_in_a_row_takes_the_pot() {
    with_each_seed(SEEDS, |seed| {
        let mut last_winner: Option<PlayerId> = None;
        let mut pots = 0;
        simulation(seed, Habits::default()).play(60, |_, record| {
            let winner = record.settlement.winner.map(|seat| record.players[seat.index()]);
            let is_second = winner.is_some() && winner == last_winner;
            assert_eq!(record.settlement.pot.is_some(), is_second);
            last_winner = if is_second { None } else { winner };
            if let Some(pot) = record.settlement.pot {
                assert_eq!(pot.amount, record.pot_before);
                assert_eq!(record.pot_after, Coins::ZERO);
                pots += 1;
            }
        });
        assert!(pots > 0, "no POT in sixty games");
    });
}

/// Rule 2.2: the winner begins the next game; without one a random seat begins.
#[test]
fn the_winner_begins_the_next_game() {
    with_each_seed(SEEDS, |seed| {
        let mut last_winner: Option<PlayerId> = None;
        simulation(seed, Habits::ROUGH).play(60, |_, record| {
            let expected = last_winner
                .and_then(|winner| record.players.iter().position(|player| *player == winner));
            assert_eq!(record.starter.map(|seat| seat.index()), expected);
            assert_eq!(record.chance.len(), if expected.is_some() { 1 } else { 2 });
            last_winner = record.settlement.winner.map(|seat| record.players[seat.index()]);
        });
    });
}

/// Rule 8.3: actions of the AI are marked, legal, and only made while the player is away.
#[test]
fn the_ai_plays_only_for_players_who_are_away() {
    with_each_seed(SEEDS, |seed| {
        let mut house = simulation(seed, Habits { silent: 0, ..Habits::ROUGH });
        let mut advised = 0;
        for _ in 0..4_000 {
            let before = house.table().clone();
            if let Input::AiAction { player, .. } = house.step().line.input {
                let seat = before.seat_of(player).unwrap();
                assert!(before.taken_over_seats().union(before.away_seats()).contains(seat));
                advised += 1;
            }
        }
        assert!(advised > 0);
    });
}

#[test]
fn a_tampered_record_fails_where_it_was_tampered_with() {
    for record in settled_records(simulation(7, Habits::default()), 3) {
        let text = serde_json::to_string(&record).unwrap();
        let tampered = |from: &str, to: &str| -> String {
            assert!(text.contains(from), "nothing to tamper with: {from}");
            let read: Record<Tongits> = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
            read.verify().unwrap_err().rule
        };
        let fee = record.settlement.fees[0].fee.hundredths();
        assert_eq!(tampered(&format!("\"fee\":{fee}"), &format!("\"fee\":{}", fee + 1)), "6.8");
        let seed = record.server_seed.0.to_string();
        let other = format!("{}{}", if seed.starts_with('0') { "1" } else { "0" }, &seed[1..]);
        assert_eq!(tampered(&seed, &other), "9.1");

        let mut cut = record.clone();
        cut.actions.pop();
        assert_eq!(cut.verify().unwrap_err().rule, "3.8");

        let mut swapped = record.clone();
        let turn = swapped.actions.len() / 2;
        let seat = swapped.actions[turn].seat;
        swapped.actions[turn].seat = seat.next(3);
        let fault = swapped.verify().unwrap_err();
        assert_eq!((fault.action, fault.rule.as_str()), (Some(turn), "1.1"));

        let mut stacked = record.clone();
        let deck = stacked.chance.pop().unwrap();
        let ChanceAnswer::Order(mut order) = deck else { unreachable!() };
        order.swap(0, 1);
        stacked.chance.push(ChanceAnswer::Order(order));
        assert_eq!(stacked.verify().unwrap_err().rule, "9.4");

        let mut hit = record.clone();
        let winner = hit.settlement.winner.map(|seat| hit.players[seat.index()]).unwrap();
        hit.crown_before = match hit.crown_before {
            Some(crown) if crown.player == winner => None,
            Some(_) | None => Some(Crown { player: winner, wins: 1 }),
        };
        assert_eq!(hit.verify().unwrap_err().rule, "7.2");
    }
}

#[test]
fn the_same_seed_gives_the_same_games() {
    let run = || settled_records(simulation(11, Habits::ROUGH), 10);
    assert_eq!(run(), run());
}

/// Some seat is always prompted, or a countdown without a prompted seat runs; the phases of a view
/// agree.
#[test]
fn a_playing_table_asks_somebody() {
    let mut house = simulation(3, Habits::ROUGH);
    for _ in 0..2_000 {
        house.step();
        if let Phase::Playing(playing) = house.table().phase() {
            let is_asked = matches!(playing.state.turn(), Turn::Players(_));
            assert!(is_asked || matches!(playing.state.turn(), Turn::Wait(_)));
            assert_eq!(!playing.prompt.seats.is_empty(), is_asked);
            let view = house.table().view(None);
            let PhaseView::Playing { view, .. } = view.phase else {
                panic!("a playing table shows another phase");
            };
            assert!(Tongits::prompt_in_view(&view).is_some());
        }
    }
}
