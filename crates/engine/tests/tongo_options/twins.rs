//! Hidden information stays hidden. Two games that differ only in what a viewer may not see are
//! played side by side; to the viewer they are identical: views, events, prompts, legal actions,
//! refusals and advice are equal to the byte, until a card is turned up or a hand shown.

use bahay_bots::Ai;
use bahay_engine::chance::ChanceAnswer;
use bahay_engine::game::{Game, Turn, Viewer};
use bahay_engine::games::tongo_options::{Action, Event, Phase, PublicState, Rules, TongoOptions};
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Probe, TestRng, TongoOptionsProbe, legal_actions};
use serde_json::Value;

use super::conformance::any_rules;
use super::is_calm;
use crate::support::desk::seat;
use crate::support::json;

/// Counts of the compared steps.
#[derive(Default)]
struct TwinCounts {
    steps: u32,
    /// Steps with a card that was face up before and is face down now.
    turned_down: u32,
    drawn: u32,
}

/// Returns the game with the cards that are hidden from the viewer permuted, by way of its
/// serialisation.
fn twin(game: &TongoOptions, viewer: Viewer, dice: &mut TestRng) -> TongoOptions {
    let mut text = serde_json::to_value(game).expect("a game can be written");
    // The positions of cards that the viewer may not see: those of the player deck with foreign
    // hands, and those of the options deck.
    let foreign = Seat::all(game.public().seats()).filter(|seat| Viewer::Seat(*seat) != viewer);
    let mut players: Vec<String> =
        foreign.flat_map(|seat| (0..4).map(move |card| format!("/hands/{seat}/{card}"))).collect();
    let deck = game.hidden().deck.len();
    players.extend((0..deck).map(|card| format!("/hidden/deck/{card}")));
    let mut options: Vec<String> = Vec::new();
    for (floor, slot) in (0..8).flat_map(|floor| (0..3).map(move |slot| (floor, slot))) {
        if game.public().floors[floor][slot].is_none() {
            options.push(format!("/hidden/floors/{floor}/{slot}"));
        }
        options.push(format!("/hidden/exchanges/{floor}/{slot}"));
    }
    for places in [players, options] {
        let places: Vec<String> =
            places.into_iter().filter(|place| text.pointer(place).is_some()).collect();
        let mut cards: Vec<Value> =
            places.iter().filter_map(|place| text.pointer(place).cloned()).collect();
        for last in (1..cards.len()).rev() {
            let other = dice.below(u32::try_from(last + 1).expect("few cards")) as usize;
            cards.swap(last, other);
        }
        for (place, card) in places.iter().zip(cards) {
            *text.pointer_mut(place).expect("the place is there") = card;
        }
    }
    serde_json::from_value(text).expect("a game can be read")
}

fn seen(game: &TongoOptions, viewer: Viewer, seats: u8) -> (String, Vec<String>) {
    let view = game.view(viewer);
    let mut told = vec![format!("{:?}", game.prompt_for(viewer))];
    if let Viewer::Seat(seat) = viewer {
        let legal = legal_actions(game, seat);
        told.push(format!("{legal:?} {:?}", game.default_action(seat)));
        told.push(format!("{:?}", TongoOptions::choose_action(&view)));
    }
    told.push(format!("{:?} {seats}", game.turn()));
    (json(&view), told)
}

/// Returns true if the event shows cards that were hidden, after which the two games may differ.
fn shows(event: &Event) -> bool {
    matches!(event, Event::Bought { .. } | Event::Shown { .. } | Event::Dealt { .. })
}

fn follow(rules: &Rules, viewer: Viewer, seats: u8, seed: u64, found: &mut TwinCounts) {
    let mut dice = TestRng::new(seed);
    let mut game = TongoOptions::new(rules, seats, None);
    let mut was_up = [[false; 3]; 8];
    loop {
        let mut events = Vec::new();
        let is_dealt = game.public().phase != Phase::Deal;
        let other = is_dealt.then(|| twin(&game, viewer, &mut dice));
        if let Some(other) = &other {
            assert_eq!(seen(&game, viewer, seats), seen(other, viewer, seats), "seed {seed}");
        }
        let mut twin_events = Vec::new();
        let (next, next_twin) = match game.turn() {
            Turn::Over => return,
            Turn::Wait(_) => unreachable!("this game never waits"),
            Turn::Chance(request) => {
                let answer = dice.answer(request);
                let next = game.resolve(&answer, &mut events);
                let twin = other.map(|other| other.resolve(&answer, &mut twin_events));
                if let (ChanceAnswer::Order(_), true) = (&answer, is_dealt) {
                    found.drawn += 1;
                    // The viewer's own draws differ necessarily.
                    let drew = |event: &Event| matches!(event, Event::Drew { seat, .. } if Viewer::Seat(*seat) == viewer);
                    if events.iter().any(drew) {
                        game = next;
                        continue;
                    }
                }
                (next, twin)
            }
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("somebody is asked");
                if let (Some(other), Viewer::Seat(own)) = (&other, viewer) {
                    for _ in 0..8 {
                        let wild = TongoOptionsProbe.wild_action(&game, &mut dice);
                        let heard = [&game, other]
                            .map(|game| game.act(own, &wild, &mut Vec::new()).map(|_| ()));
                        assert_eq!(heard[0], heard[1], "seed {seed}: {wild:?}");
                    }
                }
                let action = choose(&game, seat, viewer, &mut dice);
                let next = game.act(seat, &action, &mut events).expect("it is legal");
                // Another seat's discards lie elsewhere in the twin.
                let twin = other.and_then(|other| other.act(seat, &action, &mut twin_events).ok());
                (next, twin)
            }
        };
        if let Some(next_twin) = next_twin.filter(|_| !events.iter().any(shows)) {
            let told = |events: &[Event]| -> Vec<String> {
                let seen = events.iter().filter_map(|event| TongoOptions::redact(event, viewer));
                seen.map(|event| json(&event)).collect()
            };
            assert_eq!(told(&events), told(&twin_events), "seed {seed}");
            assert_eq!(seen(&next, viewer, seats), seen(&next_twin, viewer, seats), "seed {seed}");
            found.steps += 1;
        }
        note_turned_down(next.public(), &mut was_up, found);
        game = next;
    }
}

fn note_turned_down(public: &PublicState, was_up: &mut [[bool; 3]; 8], found: &mut TwinCounts) {
    for (floor, was_up) in public.floors.iter().zip(was_up) {
        for (card, was_up) in floor.iter().zip(was_up) {
            *was_up |= card.is_some();
            found.turned_down += u32::from(*was_up && card.is_none());
        }
    }
}

/// Mostly chooses actions that keep the game going.
fn choose(game: &TongoOptions, seat: Seat, viewer: Viewer, dice: &mut TestRng) -> Action {
    let legal = legal_actions(game, seat);
    let is_foreign = |action: &Action| {
        // Another seat's discards cannot be the same cards in both games.
        let discards = matches!(action, Action::Evade { discards } | Action::PayToEvade { discards } if !discards.is_empty());
        discards && Viewer::Seat(seat) != viewer
    };
    let mild: Vec<Action> =
        legal.iter().copied().filter(|action| is_calm(action) && !is_foreign(action)).collect();
    let pool = if dice.below(12) > 0 && !mild.is_empty() { &mild } else { &legal };
    *dice.choose(pool).expect("something is legal")
}

#[test]
fn hidden_cards_change_no_observation() {
    let mut found = TwinCounts::default();
    for seed in 0..60 {
        let mut dice = TestRng::new(seed);
        let rules = if seed % 3 == 0 { Rules::seed() } else { any_rules(&mut dice) };
        let seats = 2 + u8::try_from(seed % 7).expect("a small number");
        let own = seat(u8::try_from(seed % 2).expect("a seat"));
        for viewer in [Viewer::Public, Viewer::Seat(own)] {
            follow(&rules, viewer, seats, seed, &mut found);
        }
    }
    let TwinCounts { steps, turned_down, drawn } = found;
    println!("{steps} steps compared, {turned_down} with a card turned down, {drawn} draws");
    assert!(steps > 1_000 && turned_down > 1_000 && drawn > 20);
}

/// The canary: games that differ in what the viewer sees are distinguished.
#[test]
fn visible_differences_distinguish_two_games() {
    let mut dice = TestRng::new(1);
    let mut game = TongoOptions::new(&Rules::seed(), 3, None);
    while let Turn::Chance(request) = game.turn() {
        game = game.resolve(&dice.answer(request), &mut Vec::new());
    }
    let [own, other] = [0, 1].map(|number| Viewer::Seat(seat(number)));
    let changed = (0..50).map(|_| twin(&game, other, &mut dice));
    let told_apart = changed.filter(|twin| seen(twin, own, 3) != seen(&game, own, 3)).count();
    assert!(told_apart > 40, "{told_apart}");
}
