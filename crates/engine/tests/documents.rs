//! A type is decoded from a document as by serde's code for maps: documents of played tables, and
//! copies of them with a changed or missing field, are accepted alike, with one result. Only an
//! unknown field, which clients ignore, is accepted in every type.

use core::fmt::Debug;

use bahay_bots::Ai;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::document::{Document, FromDocument as _};
use bahay_engine::game::GameKind;
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::table::{
    Event, PhaseView, PlayerId, PrivateTerms, TableView, Terms, TournamentId, TournamentSeating,
};
use bahay_engine::testing;
use bahay_engine::testing::guess_the_die::GuessTheDie;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::desk::coins;
use crate::support::play_games;

/// The documents of which copies are compared, of each type and game.
const DOCUMENTS: usize = 5;

/// The name of a field that no type has.
const UNKNOWN: &str = "unknown";

/// Calls `compare` with copies of a document that differ in one value, at each place.
fn for_each_copy(document: &Value, compare: &mut impl FnMut(&Value)) {
    let mut copy = document.clone();
    compare(&copy);
    let pointers = places(document);
    for pointer in &pointers {
        let replaced =
            [json!(null), json!(0), json!(-1), json!(300), json!("7S"), json!([]), json!({})];
        for value in replaced {
            let old = core::mem::replace(copy.pointer_mut(pointer).unwrap(), value);
            compare(&copy);
            *copy.pointer_mut(pointer).unwrap() = old;
        }
        let Value::Object(fields) = copy.pointer(pointer).unwrap().clone() else { continue };
        for name in fields.keys() {
            let old = copy.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(name);
            compare(&copy);
            copy.pointer_mut(pointer).unwrap()[name] = old.unwrap();
        }
        copy.pointer_mut(pointer).unwrap()[UNKNOWN] = json!([{ "later": true }]);
        compare(&copy);
        copy.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(UNKNOWN);
        // The values of a struct in order.
        *copy.pointer_mut(pointer).unwrap() = fields.values().cloned().collect();
        compare(&copy);
        *copy.pointer_mut(pointer).unwrap() = Value::Object(fields);
    }
    assert_eq!(copy, *document);
}

/// Returns the pointers to all values of a document. Of the items of a list only some are changed.
fn places(document: &Value) -> Vec<String> {
    let mut places = vec![String::new()];
    let mut next = 0;
    while let Some(place) = places.get(next).cloned() {
        match document.pointer(&place).unwrap() {
            Value::Object(fields) => {
                places.extend(fields.keys().map(|name| format!("{place}/{name}")))
            }
            Value::Array(items) => {
                places.extend((0..items.len().min(2)).map(|item| format!("{place}/{item}")));
            }
            _ => {}
        }
        next += 1;
    }
    places
}

/// Compares both decoders. Returns the number of accepted copies, and of all.
fn compare<T: DeserializeOwned + PartialEq + Debug>(document: &Value) -> [usize; 2] {
    let unchanged = T::deserialize(document).ok();
    let mut counts = [0; 2];
    for_each_copy(document, &mut |copy| {
        let by_map = T::deserialize(copy).ok();
        let by_document = Document::deserialize(copy).unwrap().read::<T>().ok();
        if by_map.is_none() && copy.to_string().contains(UNKNOWN) {
            assert!(by_document.is_none() || by_document == unchanged, "{copy}");
        } else {
            assert_eq!(by_document, by_map, "{copy}");
        }
        counts[0] += usize::from(by_map.is_some());
        counts[1] += 1;
    });
    counts
}

fn reads_alike<G: Ai + GameKind>() {
    let player = PlayerId(Uuid::from_u128(5));
    let [mut views, mut events, mut actions] = [const { Vec::new() }; 3];
    for set in G::rule_sets() {
        let terms = testing::terms((set.rules)(), set.hits, coins(1), 1);
        let private = Terms {
            private: Some(PrivateTerms { ends_after_ms: 1_000, short_stakes: false }),
            ..terms.clone()
        };
        let tournament = Some(TournamentSeating {
            tournament: TournamentId(Uuid::from_u128(4)),
            round: 1,
            number: 2,
            games: 3,
            players: vec![player],
            commitments: vec![],
        });
        let tournament = Terms { tournament, practice: true, ..terms.clone() };
        for terms in [&terms, &private, &tournament] {
            let [accepted, all] = compare::<Terms<G::Rules>>(&serde_json::to_value(terms).unwrap());
            assert!(accepted > 1 && accepted < all, "{accepted} of {all}");
        }
        let mut tables = Simulation::<G>::new(9, terms, Habits::ROUGH, coins(1_000_000));
        play_games(&mut tables, 2, |tables, happened| {
            let player = tables.table().players().first().copied();
            let view = tables.table().view(player);
            if let PhaseView::Playing { view, .. } = &view.phase {
                let mut legal = vec![];
                G::legal_in_view(view, &mut legal);
                actions.extend(legal.iter().map(|action| serde_json::to_value(action).unwrap()));
            }
            views.push(serde_json::to_value(view).unwrap());
            let of_game =
                happened.events.iter().filter(|event| matches!(event, Event::Game { .. }));
            events.extend(of_game.map(|event| serde_json::to_value(event).unwrap()));
        });
    }
    for view in views.iter().step_by(views.len().div_ceil(DOCUMENTS)) {
        compare::<TableView<G>>(view);
    }
    for event in events.iter().step_by(events.len().div_ceil(10 * DOCUMENTS)) {
        compare::<Event<G::Event>>(event);
    }
    // The server's decoder of an action has other code than the client's.
    for action in actions.iter().step_by(actions.len().div_ceil(20 * DOCUMENTS)) {
        for_each_copy(action, &mut |copy| {
            let document = Document::deserialize(copy).unwrap();
            let by_document = G::Action::from_document(document).ok();
            assert_eq!(by_document, G::Action::deserialize(copy).ok(), "{copy}");
        });
    }
}

#[test]
fn documents_of_tongits_are_read_alike() {
    reads_alike::<Tongits>();
}

#[test]
fn documents_of_tongo_options_are_read_alike() {
    reads_alike::<TongoOptions>();
}

#[test]
fn documents_of_tongo_assets_are_read_alike() {
    reads_alike::<TongoAssets>();
}

#[test]
fn documents_of_a_game_of_tests_are_read_alike() {
    reads_alike::<GuessTheDie>();
}
