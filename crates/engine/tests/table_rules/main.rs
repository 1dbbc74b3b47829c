//! The table's rules, chapters 7 and 8, one by one; chapters 2 to 6 cover the deal and the play.

mod grace;

use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::{Action, Rules};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    ActionOrigin, Effect, Event, Hits, Input, Phase, PlayerId, Reason, Rejection,
    TableAvailability, Terms, TermsUpdate, Timestamp,
};

use crate::support::desk::{Desk, coins, connection, player, seat};

impl Desk {
    /// Lets everybody but this seat play until it is prompted.
    fn play_until_asked(&mut self, seat: Seat) {
        while self.asked() != seat {
            self.act().unwrap();
        }
    }
}

/// Rule 8.1.
#[test]
fn a_player_not_ready_within_ten_seconds_leaves_the_table() {
    let mut desk = Desk::full();
    let asked_at = desk.now;
    desk.ready(0).unwrap();
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), 10_000);
    desk.tell(Input::Tick).unwrap();
    assert_eq!(desk.players(), [player(0)]);
    let reasons = desk
        .events
        .iter()
        .filter(|event| matches!(event, Event::Left { reason: Reason::NotReady, .. }));
    assert_eq!(reasons.count(), 2);
    assert!(matches!(desk.table.phase(), Phase::Waiting));
}

/// Rule 8.1, 9.1: each preparation has its own commitment.
#[test]
fn a_preparation_that_fails_is_never_taken_up_again() {
    let mut desk = Desk::full();
    let first = desk.game();
    desk.leave(2).unwrap();
    desk.tell(Input::sit(player(3), "Amihan")).unwrap();
    assert_ne!(desk.game(), first);
    let late = Input::Ready { player: player(0), game: first, commitment: None };
    assert_eq!(desk.tell(late), Err(Rejection::OtherGame));
}

/// Rule 8.2: a phase of play has one countdown of 20 s, whatever is laid down meanwhile.
#[test]
fn the_clock_plays_when_the_countdown_is_over() {
    let mut desk = Desk::playing();
    let (starter, asked_at) = (desk.asked(), desk.now);
    assert_eq!(desk.tell(Input::Tick), Err(Rejection::NothingDue));
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), 20_000);
    desk.tell(Input::Tick).unwrap();
    assert_eq!(desk.last_by(), ActionOrigin::Clock);
    assert_ne!(desk.asked(), starter);
}

/// Rule 8.3: after two expired countdowns in a row the AI plays, openly, after about a second.
#[test]
fn after_two_silent_countdowns_the_ai_takes_over() {
    let mut desk = Desk::playing();
    let silent = desk.asked();
    for _ in 0..2 {
        desk.play_until_asked(silent);
        assert!(!desk.table.taken_over_seats().contains(silent));
        desk.wait_and_tick();
    }
    assert_eq!(desk.table.taken_over_seats(), SeatSet::only(silent));
    assert!(desk.events.contains(&Event::Takeover { seat: silent, on: true }));
    desk.play_until_asked(silent);
    let asked_at = desk.now;
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), 1_000);
    assert!(matches!(
        desk.table.effects(desk.now).as_slice(),
        [Effect::ChooseAction { seat, .. }] if *seat == silent
    ));
    desk.play_ai_action().unwrap();
}

/// Rule 8.3: until the player's next command or reconnection.
#[test]
fn a_player_takes_the_seat_back_from_the_ai() {
    let mut desk = Desk::playing();
    let silent = desk.asked();
    let number = u64::from(silent.number());
    let take_back = Input::TakeBack { player: player(number) };
    assert_eq!(desk.tell(take_back.clone()), Err(Rejection::NotTakenOver));
    desk.disconnect(number).unwrap();
    assert_eq!(desk.tell(take_back.clone()), Err(Rejection::NotTakenOver));
    desk.wait_and_tick();
    assert_eq!(desk.table.taken_over_seats(), SeatSet::only(silent));
    assert_eq!(desk.tell(take_back.clone()), Err(Rejection::OtherConnection));
    desk.connect(number).unwrap();
    assert!(desk.events.contains(&Event::Takeover { seat: silent, on: false }));
    assert_eq!(desk.play_ai_action(), Err(Rejection::NotTakenOver));

    desk.leave(number).unwrap();
    assert_eq!(desk.table.taken_over_seats(), SeatSet::only(silent));
    desk.tell(take_back).unwrap();
    assert!(desk.table.taken_over_seats().is_empty());
    desk.leave(number).unwrap();
    desk.act().unwrap();
    assert!(desk.table.taken_over_seats().is_empty(), "an action takes the seat back too");
}

/// Rules 8.4, 7.3: a player who left keeps the seat until the game is over, then loses it and the
/// run.
#[test]
fn a_player_who_leaves_during_a_game_keeps_the_seat_until_its_end() {
    let mut desk = Desk::playing();
    desk.play_out();
    let winner = desk.record().settlement.winner.unwrap();
    let number = u64::from(winner.number());
    desk.leave(number).unwrap();
    assert_eq!(desk.leave(number), Err(Rejection::NotSeated));
    assert_eq!(desk.players().len(), 3);
    let pot = desk.table.pot();
    desk.settle();
    assert_eq!(desk.players().len(), 2);
    assert_eq!(desk.table.crown(), None, "leaving breaks the run of wins");
    assert_eq!(desk.table.pot(), pot, "a leaver's coins stay in the POT (rule 7.4)");
}

/// Rule 8.5: a player who was ready before disconnecting is dealt in; one who was not ready is not.
#[test]
fn a_ready_player_who_disconnects_is_dealt_in_as_away() {
    let mut desk = Desk::full();
    desk.ready(0).unwrap();
    desk.disconnect(0).unwrap();
    desk.all_ready([1, 2]);
    desk.open();
    assert_eq!(desk.table.away_seats(), SeatSet::only(seat(0)));

    let mut desk = Desk::full();
    desk.disconnect(0).unwrap();
    desk.all_ready([1, 2]);
    desk.wait_and_tick();
    assert_eq!(desk.players(), [player(1), player(2)]);
}

/// Rules 7.2, 7.3: crowns count the wins in a row; the POT is kept while they change hands.
#[test]
fn crowns_count_wins_in_a_row() {
    let mut desk = Desk::playing();
    let mut last: Option<(PlayerId, u8)> = None;
    for _ in 0..12 {
        desk.play_out();
        let record = desk.record();
        let winner = record.players[record.settlement.winner.unwrap().index()];
        let wins = match last {
            Some((player, wins)) if player == winner => wins + 1,
            Some(_) | None => 1,
        };
        let takes_pot = wins == 2;
        desk.settle();
        let crown = desk.table.crown().map(|crown| (crown.player, crown.wins));
        assert_eq!(crown, (!takes_pot).then_some((winner, wins)));
        assert_eq!(desk.table.pot().is_zero(), takes_pot);
        last = crown;
        desk.all_ready([0, 1, 2]);
        desk.open();
    }
}

/// A player who cannot pay does not start; the others wait for another player.
#[test]
fn a_game_that_the_ledger_refuses_is_not_played() {
    let mut desk = Desk::full();
    desk.all_ready([0, 1, 2]);
    let game = desk.game();
    assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::Open(_)]));
    desk.tell(Input::OpenFailed { game, seats: SeatSet::only(seat(1)) }).unwrap();
    assert_eq!(desk.players(), [player(0), player(2)]);
    let again = Input::OpenFailed { game, seats: SeatSet::only(seat(0)) };
    assert_eq!(desk.tell(again), Err(Rejection::NoSuchPhase), "said twice, done once");
}

/// A pending effect of the ledger is due at once, and again until it is answered.
#[test]
fn a_settlement_is_owed_until_it_is_answered() {
    let mut desk = Desk::playing();
    desk.play_out();
    for _ in 0..3 {
        assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::Settle(_)]));
        desk.wait();
        desk.now = desk.now.after_ms(1_000);
    }
    assert_eq!(desk.tell(Input::Tick), Err(Rejection::NothingDue));
    desk.settle();
    assert!(matches!(desk.table.phase(), Phase::Preparing(_)));
}

/// A player who is away from a waiting table keeps the seat for half a minute.
#[test]
fn an_absent_player_does_not_block_a_waiting_table() {
    let mut desk = Desk::new();
    for number in 0..2 {
        desk.tell(Input::sit(player(number), "Tala")).unwrap();
    }
    desk.connect(0).unwrap();
    desk.wait_and_tick();
    assert_eq!(desk.players(), [player(0)]);
    assert_eq!(desk.table.deadline(), None);
}

/// The end of an old connection does not affect a newer one.
#[test]
fn only_the_present_connection_can_end() {
    let mut desk = Desk::full();
    let newer = connection(7);
    desk.tell(Input::Connect { player: player(0), connection: newer }).unwrap();
    assert_eq!(desk.disconnect(0), Err(Rejection::OtherConnection));
    desk.tell(Input::Disconnect { player: player(0), connection: newer }).unwrap();
}

/// Joining again over the same connection is idempotent.
#[test]
fn a_connection_that_is_there_does_not_come_again() {
    let mut desk = Desk::playing();
    let before = desk.table.clone();
    for _ in 0..3 {
        assert_eq!(desk.connect(0), Err(Rejection::AlreadyConnected));
        assert_eq!(desk.table, before);
    }
    // A player who has left returns once.
    desk.leave(0).unwrap();
    desk.connect(0).unwrap();
    assert_eq!(desk.connect(0), Err(Rejection::AlreadyConnected));
    // Another connection is another line, of which no viewer is informed.
    let newer = Input::Connect { player: player(0), connection: connection(7) };
    desk.tell(newer.clone()).unwrap();
    assert_eq!(desk.events, []);
    assert_eq!(desk.tell(newer), Err(Rejection::AlreadyConnected));
}

/// Rule 8.3: joining does not reset the count of expired countdowns.
#[test]
fn coming_again_is_no_answer_to_a_countdown() {
    let mut desk = Desk::playing();
    let silent = desk.asked();
    let number = u64::from(silent.number());
    let mut comes = 100;
    let mut come = |desk: &mut Desk| {
        comes += 1;
        desk.tell(Input::Connect { player: player(number), connection: connection(comes) })
    };
    desk.wait_and_tick();
    come(&mut desk).unwrap();
    desk.disconnect(number).unwrap_err();
    desk.play_until_asked(silent);
    desk.wait_and_tick();
    assert_eq!(desk.table.taken_over_seats(), SeatSet::only(silent));
    // Joining takes the seat back for one more countdown.
    come(&mut desk).unwrap();
    assert!(desk.table.taken_over_seats().is_empty());
    desk.play_until_asked(silent);
    desk.wait_and_tick();
    assert_eq!(desk.table.taken_over_seats(), SeatSet::only(silent));
    // An action is an answer.
    come(&mut desk).unwrap();
    desk.play_until_asked(silent);
    desk.act().unwrap();
    desk.play_until_asked(silent);
    desk.wait_and_tick();
    assert!(desk.table.taken_over_seats().is_empty());
}

/// A table's clock never goes back, whatever its inputs.
#[test]
fn time_does_not_run_backwards() {
    let mut desk = Desk::playing();
    desk.now = Timestamp::from_ms(-3_600_000);
    desk.act().unwrap();
    let playing = desk.running();
    let times: Vec<_> = playing.actions.iter().map(|taken| taken.at).collect();
    assert!(times.is_sorted() && times[0] >= playing.opened_at);
}

/// Two tables' worth of refusals: each gives its reason and changes nothing.
#[test]
fn an_unexpected_input_is_refused_and_changes_nothing() {
    let mut desk = Desk::playing();
    let before = desk.table.clone();
    let game = desk.game();
    let stranger = player(99);
    let sit = |number| Input::sit(player(number), "Tala");
    for (input, expected) in [
        (sit(0), Rejection::AlreadySeated),
        (sit(99), Rejection::TableFull),
        (Input::Leave { player: stranger }, Rejection::NotSeated),
        (Input::TakeBack { player: stranger }, Rejection::NotSeated),
        (Input::Ready { player: player(0), game, commitment: None }, Rejection::NoSuchPhase),
        (Input::Settled { game }, Rejection::NoSuchPhase),
        (Input::Opened { game, stakes: vec![], pot: Coins::ZERO }, Rejection::NoSuchPhase),
    ] {
        assert_eq!(desk.tell(input.clone()), Err(expected), "{input:?}");
        assert_eq!(desk.table, before);
    }
}

fn word(revision: u32, standing: TableAvailability, terms: &Terms<Rules>) -> Input<Action> {
    let (price, hits, clocks) = (terms.price, terms.hits, terms.clocks);
    Input::UpdateTerms { terms: TermsUpdate { revision, standing, price, hits, clocks } }
}

/// A room changes: the running game ends under its old terms, the next one has the new ones.
#[test]
fn new_terms_are_taken_between_games_and_the_pots_rule_with_the_next_pot() {
    let mut desk = Desk::playing();
    let old = desk.table.terms().clone();
    let mut new = old.clone();
    new.price.bet = coins(5);
    new.hits = Some(Hits { ante: 1, to_win: 3, second_hit_bonus: 2 });
    desk.tell(word(2, TableAvailability::Open, &new)).unwrap();
    assert_eq!(*desk.table.terms(), old, "a game runs");
    desk.play_out();
    desk.settle();
    assert!(!desk.table.pot().is_zero(), "a first win takes no POT");
    assert_eq!(desk.table.terms().price, new.price);
    assert_eq!(desk.table.terms().hits, old.hits, "a POT waits");
    assert!(desk.events.iter().any(|event| matches!(event, Event::TermsUpdated { .. })));
    // The room changes again while that game is prepared: players who are ready for it play it.
    let newer = Terms { price: old.price, ..new.clone() };
    desk.tell(word(3, TableAvailability::Open, &newer)).unwrap();
    assert_eq!(desk.table.terms().price, new.price);
    while !desk.table.pot().is_zero() {
        desk.all_ready([0, 1, 2]);
        desk.open();
        desk.play_out();
        desk.settle();
    }
    assert_eq!(*desk.table.terms(), newer, "the POT was won");
    for late in [0, 2, 3] {
        assert_eq!(
            desk.tell(word(late, TableAvailability::Open, &old)),
            Err(Rejection::NothingNew)
        );
    }
}

#[test]
fn a_closed_table_ends_its_game_and_begins_no_other() {
    let mut desk = Desk::playing();
    let terms = desk.table.terms().clone();
    desk.tell(word(1, TableAvailability::Closed, &terms)).unwrap();
    desk.play_out();
    desk.settle();
    assert_eq!(desk.table.phase(), &Phase::Waiting);
    assert!(desk.players().is_empty());
    let closed = |event: &Event<_>| matches!(event, Event::Left { reason: Reason::Closed, .. });
    assert_eq!(desk.events.iter().filter(|event| closed(event)).count(), 3);
    let sit = || Input::sit(player(7), "Tala");
    assert_eq!(desk.tell(sit()), Err(Rejection::TableClosed));
    assert!(!desk.table.pot().is_zero(), "the POT waits");
    desk.tell(word(2, TableAvailability::Open, &terms)).unwrap();
    desk.tell(sit()).unwrap();
}

#[test]
fn a_closed_table_does_not_wait_for_who_is_not_ready() {
    let mut desk = Desk::full();
    desk.ready(0).unwrap();
    let terms = desk.table.terms().clone();
    desk.tell(word(1, TableAvailability::Closed, &terms)).unwrap();
    assert!(desk.players().is_empty());
    assert_eq!(desk.ready(1), Err(Rejection::NotSeated));
}

#[test]
fn a_player_is_removed_between_games_only() {
    let mut desk = Desk::full();
    let remove = |number| Input::Remove { player: player(number) };
    desk.tell(remove(1)).unwrap();
    assert_eq!(desk.players(), [player(0), player(2)]);
    assert_eq!(desk.tell(remove(1)), Err(Rejection::NotSeated));
    let mut desk = Desk::playing();
    assert_eq!(desk.tell(remove(1)), Err(Rejection::GameRunning));
}

#[test]
fn a_table_whose_rules_are_gone_plays_for_its_pot_and_then_no_more() {
    let mut desk = Desk::playing();
    let terms = desk.table.terms().clone();
    desk.tell(word(1, TableAvailability::LastPot, &terms)).unwrap();
    desk.play_out();
    desk.settle();
    while !desk.table.is_closed() {
        assert!(!desk.table.pot().is_zero());
        desk.all_ready([0, 1, 2]);
        desk.open();
        desk.play_out();
        desk.settle();
    }
    assert!(desk.table.pot().is_zero());
    assert!(desk.players().is_empty());
}
