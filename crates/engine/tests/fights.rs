//! Fights at a table: they do not reveal secret prompts (rule 4.2), and the AI calls none for a
//! player who is away (rule 8.3).

use bahay_bots::table::{ai_action, ai_question};
use bahay_engine::game::{Game, Prompt, Turn, Viewer};
use bahay_engine::games::tongits::{Action, GameSetup, Rules, SetupPhase, Tongits};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{Event, Input, Phase, Rejection, Timestamp};

use crate::support::desk::{Desk, player, seat};
use crate::support::positions::{meld, position};

impl Desk {
    /// Returns a table at which seat 0 has called a fight from [`Self::about_to_fight`].
    fn fought(secret: bool) -> Self {
        let mut desk = Self::about_to_fight(secret);
        let (game, prompt) = (desk.game(), desk.running().prompt.number);
        desk.tell(Input::Act { player: player(0), game, prompt, action: Action::Fight }).unwrap();
        desk
    }

    /// Returns a table at which seat 0 may call a fight. Seats 1 and 2 are not open; seat 1 holds
    /// no secret meld, seat 2 holds one if `secret`.
    fn about_to_fight(secret: bool) -> Self {
        let secret = if secret { "4C 4D 4H 4S 9D" } else { "4C 4D 4H 5S 9D" };
        let hands = ["AC 2D", "KC QD", secret];
        let run = meld(seat(0), "5H 6H 7H", None);
        Self::in_position(&position(Rules::kingdom(), SetupPhase::Draw, hands, "TD", vec![run]))
    }

    /// Returns a table at which seat 0 has no unmelded card, in the play phase, or in the draw
    /// phase of a Spread.
    fn about_to_win(phase: SetupPhase) -> Self {
        let is_spread = matches!(phase, SetupPhase::Draw);
        let rules = if is_spread { Rules::classic() } else { Rules::kingdom() };
        let yet_to_act = if is_spread { SeatSet::only(seat(0)) } else { SeatSet::EMPTY };
        let hands = ["4C 4D 4H 8S 9S TS", "KC QD", "KD QC"];
        let position = position(rules, phase, hands, "2D", vec![]);
        Self::in_position(&GameSetup { yet_to_act, ..position })
    }

    /// Returns a table in this position, in which seat 0 was prompted just now.
    fn in_position(position: &GameSetup) -> Self {
        let mut desk = Self::playing();
        let mut table = serde_json::to_value(&desk.table).unwrap();
        let (game, playing) = (position.game().unwrap(), &mut table["phase"]["playing"]);
        let Turn::Players(prompt) = game.turn() else { panic!("seat 0 is to act") };
        playing["state"] = serde_json::to_value(&game).unwrap();
        playing["asked"] = serde_json::to_value(prompt).unwrap();
        playing["deadline"] = (desk.now.ms() + i64::from(prompt.countdown_ms)).into();
        desk.table = serde_json::from_value(table).unwrap();
        desk
    }

    /// Returns the last events as these seats see them.
    fn seen_by(&self, seats: &[Seat]) -> Vec<Event<<Tongits as Game>::Event>> {
        let seen = seats.iter().flat_map(|seat| {
            let viewer = Viewer::Seat(*seat);
            self.events.iter().filter_map(move |event| event.redact::<Tongits>(viewer))
        });
        seen.collect()
    }

    fn prompt_for(&self, seat: Seat) -> Option<Prompt> {
        self.running().state.prompt_for(Viewer::Seat(seat))
    }
}

/// Rule 4.2: an answer to a secret prompt is hidden, and the fight lasts for its countdown whether
/// or not any seat was prompted.
#[test]
fn a_fight_does_not_reveal_its_secret_prompts() {
    let fought = |secret: bool, answered_after_ms: Option<i64>| {
        let mut desk = Desk::fought(secret);
        let (fighter, other) = (seat(0), seat(1));
        let begun = desk.now;
        let mut seen = Vec::new();
        if let Some(after_ms) = answered_after_ms {
            desk.now = Timestamp::from_ms(begun.ms() + after_ms);
            desk.events.clear();
            desk.act().unwrap();
            seen.push(desk.seen_by(&[fighter, other]));
        }
        let prompts = [fighter, other].map(|seat| desk.prompt_for(seat));
        desk.wait();
        desk.events.clear();
        desk.tell(Input::Tick).unwrap();
        assert!(matches!(desk.table.phase(), Phase::Settling(_)));
        (seen.concat(), prompts, desk.now.ms_since(begun))
    };
    let nobody = fought(false, None);
    assert_eq!(nobody.2, 10_000);
    assert_eq!(fought(true, None), nobody, "who is asked is silent");
    assert_eq!(fought(true, Some(0)), nobody, "who is asked answers at once");
    assert_eq!(fought(true, Some(9_000)), nobody, "who is asked answers late");
}

/// Rules 4.2, 8.3: a hidden answer does not show that the player is back.
#[test]
fn an_answer_that_nobody_sees_does_not_end_a_takeover() {
    let mut desk = Desk::fought(true);
    desk.leave(2).unwrap();
    desk.events.clear();
    desk.act().unwrap();
    assert!(desk.table.taken_over_seats().contains(seat(2)));
    assert!(!desk.events.iter().any(|event| matches!(event, Event::Takeover { .. })));
}

fn advised(desk: &Desk) -> Action {
    match ai_action(&desk.table, seat(0)) {
        Some(Input::AiAction { action, .. }) => action,
        other => panic!("the AI has no answer: {other:?}"),
    }
}

/// Rule 8.3: the AI calls a fight for a player who has left, but not for one who is away.
#[test]
fn no_fight_is_called_for_a_player_who_is_away() {
    let mut left = Desk::about_to_fight(false);
    left.leave(0).unwrap();
    assert_eq!(advised(&left), Action::Fight);

    let mut desk = Desk::about_to_fight(false);
    desk.disconnect(0).unwrap();
    desk.wait();
    assert_eq!(desk.now, Timestamp::from_ms(9_000));
    assert!(ai_question(&desk.table, seat(0)).is_none(), "nobody thinks in the last second");
    let Some(advice) = ai_action(&desk.table, seat(0)) else { panic!("the AI has an answer") };
    let Input::AiAction { player, game, prompt, action } = advice.clone() else {
        panic!("{advice:?}");
    };
    assert_ne!(action, Action::Fight);
    let forged = Input::AiAction { player, game, prompt, action: Action::Fight };
    assert_eq!(desk.tell(forged), Err(Rejection::NotTakenOver));
    desk.tell(advice).unwrap();
    assert!(matches!(desk.table.phase(), Phase::Playing(_)));
}

/// Rule 8.3: the AI declares a certain win.
#[test]
fn a_certain_win_is_declared_for_a_player_who_is_away() {
    for (phase, at_ms) in [(SetupPhase::Play, 19_000), (SetupPhase::Draw, 9_000)] {
        let mut desk = Desk::about_to_win(phase);
        // Late enough for the countdown to end within the grace.
        desk.now = Timestamp::from_ms(at_ms - 9_000);
        desk.disconnect(0).unwrap();
        desk.wait();
        assert_eq!(desk.now, Timestamp::from_ms(at_ms));
        assert_eq!(advised(&desk), Action::Tongits);
        let advice = ai_action(&desk.table, seat(0)).unwrap();
        desk.tell(advice).unwrap();
        assert!(matches!(desk.table.phase(), Phase::Settling(_)));
    }
}

/// Rules 4.2, 8.3: the AI answers another player's fight for a player who is away in the last
/// second, which does not reveal the prompted seats.
#[test]
fn a_fight_is_answered_in_the_last_second_for_a_player_who_is_away() {
    let mut desk = Desk::fought(true);
    desk.disconnect(2).unwrap();
    desk.wait();
    assert_eq!(desk.now, Timestamp::from_ms(9_000));
    let advice = ai_action(&desk.table, seat(2)).unwrap();
    desk.events.clear();
    desk.tell(advice).unwrap();
    assert_eq!(desk.seen_by(&[seat(0), seat(1)]), []);
    desk.wait();
    assert_eq!(desk.now, Timestamp::from_ms(10_000));
}
