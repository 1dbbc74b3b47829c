//! Rule 8.3, point by point, at one table of Tong-its.

use bahay_engine::seat::SeatSet;
use bahay_engine::table::{ActionOrigin, Effect, Event, Input, Phase, Rejection};

use crate::support::desk::{Desk, connection, player};

/// A starter's play phase has 20 s, the draw phase 10 s.
const PLAY_MS: u64 = 20_000;

impl Desk {
    /// Disconnects the prompted seat a number of ms after its prompt. Returns its player.
    fn cut_after(&mut self, ms: u32) -> u64 {
        self.now = self.now.after_ms(ms);
        let number = u64::from(self.asked().number());
        self.disconnect(number).unwrap();
        number
    }

    fn missed_turns(&self, number: u64) -> u8 {
        let seat = self.table.seat_of(player(number)).unwrap();
        self.table.occupant(seat).unwrap().missed_turns
    }
}

#[test]
fn a_player_who_is_away_is_seen_so_and_the_seat_stays_the_players() {
    let mut desk = Desk::playing();
    let asked_at = desk.now;
    let number = desk.cut_after(1_000);
    let seat = desk.asked();
    assert_eq!(desk.events, [Event::Presence { seat, connected: false }]);
    assert_eq!(desk.table.away_seats(), SeatSet::only(seat));
    assert_eq!(desk.table.taken_over_seats(), SeatSet::EMPTY);
    let view = desk.table.view(None).seats[seat.index()].clone().unwrap();
    assert!(!view.connected && !view.taken_over);
    assert_eq!(desk.play_ai_action(), Err(Rejection::NotTakenOver));

    desk.now = asked_at.after_ms(14_000);
    desk.connect(number).unwrap();
    assert_eq!(desk.events, [Event::Presence { seat, connected: true }]);
    // The countdown is unchanged.
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), PLAY_MS);
    desk.act().unwrap();
    assert_eq!((desk.last_by(), desk.missed_turns(number)), (ActionOrigin::Player, 0));
}

#[test]
fn the_ai_answers_a_second_before_the_countdown_ends_and_the_countdown_is_missed() {
    let mut desk = Desk::playing();
    let asked_at = desk.now;
    let number = desk.cut_after(6_000);
    let (silent, asked) = (desk.asked(), desk.now);
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), PLAY_MS - 1_000);
    desk.now = asked.after_ms(12_999);
    assert!(desk.table.effects(desk.now).is_empty());
    assert_eq!(desk.play_ai_action(), Err(Rejection::NotTakenOver));
    desk.wait();
    while desk.asked() == silent {
        assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::ChooseAction { .. }]));
        desk.play_ai_action().unwrap();
        assert_eq!(desk.last_by(), ActionOrigin::Ai);
    }
    assert_eq!(desk.missed_turns(number), 1, "one countdown, however many answers");
    assert_eq!(desk.table.taken_over_seats(), SeatSet::EMPTY);
    assert_eq!(desk.table.away_seats(), SeatSet::only(silent));
}

#[test]
fn after_the_grace_the_ai_takes_over_openly_and_thinks_for_a_second() {
    let mut desk = Desk::playing();
    let asked_at = desk.now;
    let number = desk.cut_after(500);
    let seat = desk.asked();
    desk.wait_and_tick();
    assert_eq!(desk.now.ms_since(asked_at), 15_500);
    assert_eq!(desk.events, [Event::Takeover { seat, on: true }]);
    assert_eq!(desk.tell(Input::Tick), Err(Rejection::NothingDue));
    assert!(desk.table.effects(desk.now).is_empty());
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), 16_500);
    desk.play_ai_action().unwrap();
    while desk.asked() == seat {
        desk.wait();
        desk.play_ai_action().unwrap();
    }
    assert_eq!(desk.missed_turns(number), 0, "a seat that is taken over misses nothing");
    // If prompted after the grace, the player has only the time to think.
    desk.play_until_asked(seat);
    let asked_at = desk.now;
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), 1_000);
}

#[test]
fn a_grace_that_ends_while_others_are_asked_is_told_as_well() {
    let mut desk = Desk::playing();
    let silent = desk.asked();
    let other = silent.next(3);
    desk.disconnect(u64::from(other.number())).unwrap();
    let lost_at = desk.now;
    desk.wait_and_tick();
    assert_eq!(desk.now.ms_since(lost_at), 15_000);
    assert_eq!(desk.events, [Event::Takeover { seat: other, on: true }]);
    assert_eq!(desk.asked(), silent);
}

#[test]
fn a_second_connection_of_a_connected_player_tells_the_takeovers_that_are_due() {
    let mut desk = Desk::playing();
    let asked = desk.asked();
    let silent = asked.next(3);
    let connected = player(u64::from(silent.next(3).number()));
    desk.disconnect(u64::from(silent.number())).unwrap();
    desk.now = desk.now.after_ms(15_000);
    let input = Input::Connect { player: connected, connection: connection(9) };
    desk.tell(input.clone()).unwrap();
    assert_eq!(desk.events, [Event::Takeover { seat: silent, on: true }]);
    assert_eq!(desk.tell(input), Err(Rejection::AlreadyConnected));
    assert_eq!(desk.tell(Input::Tick), Err(Rejection::NothingDue));
    assert_eq!(desk.asked(), asked);
}

#[test]
fn two_countdowns_missed_within_graces_make_a_takeover() {
    let mut desk = Desk::playing();
    let number = desk.cut_after(6_000);
    let seat = desk.asked();
    for missed_turns in 1..=2 {
        while desk.asked() == seat {
            desk.wait();
            desk.play_ai_action().unwrap();
        }
        assert_eq!(desk.missed_turns(number), missed_turns);
        if missed_turns == 1 {
            desk.connect(number).unwrap();
            desk.play_until_asked(seat);
            desk.disconnect(number).unwrap();
        }
    }
    assert_eq!(desk.table.taken_over_seats(), SeatSet::only(seat));
}

#[test]
fn a_player_who_is_back_after_the_ai_began_goes_on_with_the_turn() {
    let mut desk = Desk::playing();
    let number = desk.cut_after(6_000);
    let seat = desk.asked();
    desk.wait();
    desk.play_ai_action().unwrap();
    desk.connect(number).unwrap();
    desk.act().unwrap();
    while desk.asked() == seat {
        desk.act().unwrap();
    }
    assert_eq!(desk.missed_turns(number), 0, "a move is an answer");
}

#[test]
fn a_line_that_is_lost_in_the_last_second_is_answered_for_at_once() {
    let mut desk = Desk::playing();
    desk.cut_after(19_400);
    assert!(matches!(desk.table.effects(desk.now).as_slice(), [Effect::ChooseAction { .. }]));
    desk.play_ai_action().unwrap();
    assert_eq!(desk.last_by(), ActionOrigin::Ai);
}

/// A countdown of a second leaves half of it to the player.
#[test]
fn a_short_countdown_leaves_half_of_it_to_come_back() {
    let mut desk = Desk::playing();
    let mut table = serde_json::to_value(&desk.table).unwrap();
    let playing = &mut table["phase"]["playing"];
    playing["asked"]["countdown_ms"] = 1_000.into();
    playing["deadline"] = (desk.now.ms() + 1_000).into();
    desk.table = serde_json::from_value(table).unwrap();
    let asked_at = desk.now;
    desk.cut_after(100);
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), 500);
    desk.play_ai_action().unwrap();
}

#[test]
fn a_player_who_leaves_on_purpose_has_no_grace() {
    let mut desk = Desk::playing();
    let asked_at = desk.now;
    let seat = desk.asked();
    desk.leave(seat.number().into()).unwrap();
    assert_eq!(desk.events, [Event::Takeover { seat, on: true }]);
    desk.wait();
    assert_eq!(desk.now.ms_since(asked_at), 1_000);
    desk.play_ai_action().unwrap();
    assert!(matches!(desk.table.phase(), Phase::Playing(_)));
}
