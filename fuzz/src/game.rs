//! Plays one game as directed by bytes, with legal and with forged actions. After any action, the
//! game rejects it or continues, it ends eventually, and the view of each viewer equals the one
//! derived from redacted events.

use core::fmt::Debug;

use bahay_engine::game::{GameKind, GameRules, Turn, Viewer};
use bahay_engine::seat::{SEATS_MAX, Seat};
use bahay_engine::testing::{TestRng, legal_actions};

use crate::Choices;
use crate::documents::edit_copy;

/// An upper bound of the steps of any game.
const STEPS_MAX: usize = 5_000;

/// Plays one game.
///
/// # Panics Panics if the game violates a property, which is the failure that fuzzing searches for.
pub fn play<G: GameKind + Debug>(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let sets = G::rule_sets();
    let rules = (sets[choices.below(sets.len())].rules)();
    let range = rules.seats();
    let seats = range.least
        + u8::try_from(choices.below(usize::from(range.most - range.least) + 1)).expect("small");
    let starter = Seat::all(seats).nth(choices.below(usize::from(seats) + 1));
    let mut dice = TestRng::new(u64::from(choices.byte()));
    let mut game = G::new(&rules, seats, starter);
    let viewers: Vec<Viewer> = [Viewer::Everything, Viewer::Public]
        .into_iter()
        .chain(Seat::all(seats).map(Viewer::Seat))
        .collect();
    let mut views: Vec<G::View> = viewers.iter().map(|viewer| game.view(*viewer)).collect();
    for step in 0.. {
        assert!(step < STEPS_MAX, "the game does not end");
        let mut events = Vec::new();
        game = match game.turn() {
            Turn::Over => break,
            Turn::Chance(request) => game.resolve(&dice.answer(request), &mut events),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let asked: Vec<Seat> = prompt.seats.iter().collect();
                let seat = asked[choices.below(asked.len())];
                try_forgery(&game, seat, &mut choices);
                let mut actions = legal_actions(&game, seat);
                assert!(!actions.is_empty(), "a prompted seat has no legal action");
                let action = if choices.are_spent() {
                    // With the bytes spent, default actions end the game.
                    game.default_action(seat).expect("every prompted seat has a default action")
                } else {
                    let at = choices.below(actions.len());
                    actions.swap_remove(at)
                };
                match game.act(seat, &action, &mut events) {
                    Ok(next) => next,
                    Err(illegal) => panic!("{action:?} is legal and refused: {illegal}"),
                }
            }
        };
        for (viewer, view) in viewers.iter().zip(&mut views) {
            for event in events.iter().filter_map(|event| G::redact(event, *viewer)) {
                G::observe(view, &event);
            }
            assert_eq!(*view, game.view(*viewer), "the followed view of {viewer:?} differs");
        }
    }
    let outcome = game.outcome().expect("a game that is over has an outcome");
    let most = rules.counts_max(seats);
    for seat in Seat::all(seats) {
        let owed: u32 =
            outcome.debts.iter().filter(|debt| debt.from == seat).map(|debt| debt.counts()).sum();
        assert!(owed <= most, "{seat:?} owes {owed} counts, more than {most}");
    }
}

/// Tries a forged action: the game rejects it without an event, or plays it like any other.
fn try_forgery<G: GameKind>(game: &G, seat: Seat, choices: &mut Choices<'_>) {
    if choices.byte() % 4 != 0 {
        return;
    }
    let actions = legal_actions(game, seat);
    let model = &actions[choices.below(actions.len())];
    let model = serde_json::to_value(model).expect("actions serialize");
    let forged = edit_copy(&model, choices);
    let by = Seat::all(SEATS_MAX).nth(choices.below(usize::from(SEATS_MAX))).unwrap_or(seat);
    let Ok(forged) = serde_json::from_value::<G::Action>(forged) else { return };
    let mut events = Vec::new();
    match game.act(by, &forged, &mut events) {
        Err(_) => assert!(events.is_empty(), "{forged:?} was rejected, but caused events"),
        Ok(next) => {
            let read: G =
                serde_json::from_str(&serde_json::to_string(&next).expect("games serialize"))
                    .expect("a serialized game is parsed");
            assert_eq!(read, next, "the game changed in a round trip");
        }
    }
}
