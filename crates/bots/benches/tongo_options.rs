//! The costs of Tongo (options): random play of whole games with both rule sets and numbers of
//! seats, the strength of a hand, the AI's choice, a table's work for a move with eight seats, and
//! the bytes of a move. `cargo bench -p bahay-bots --bench tongo_options`; `./dev bench` prints
//! it with the other benchmarks.

mod table_costs;

use bahay_bots::Ai;
use bahay_engine::game::{Game, GameKind, Viewer};
use bahay_engine::games::tongo_options::{
    Card, CardSet, DiceCounts, Event as GameEvent, Rules, Strength, TongoOptions, View, best_floor,
};
use bahay_engine::seat::Seat;
use bahay_engine::table::Event;
use bahay_engine::testing::{Policy, TestRng, legal_actions, step};

use table_costs::{PlayedTable, Rows, Step, random_play, text};

const GAMES: u64 = 1_000;
const HANDS: usize = 4_096;
/// The number of games at the measured table.
const TABLE_GAMES: usize = 10;

fn main() {
    let rows = Rows::new("Tongo (options)");
    for (name, rules) in [("lively", Rules::lively()), ("seed", Rules::seed())] {
        for seats in [2, 4, 8] {
            let play = || random_play::<TongoOptions>(&rules, seats, GAMES);
            let row = format!("random play, {name}, {seats} seats, a decision");
            rows.round(&row, || play().1);
            let row = format!("random play, {name}, {seats} seats, a game");
            rows.round(&row, || play().2);
        }
    }
    let hands = random_hands();
    rows.each("strength, random hand with one floor", &hands, |(hand, floors, dice)| {
        Strength::from_hand(*hand, floors[0], dice)
    });
    rows.each("strength, random hand with its best of eight floors", &hands, |hand| {
        best_floor(hand.0, &hand.1, &hand.2)
    });
    let views = views();
    rows.each("advice of the AI, four seats", &views, TongoOptions::choose_action);
    let rules = Rules { seats_min: 8, seats_max: 8, ..Rules::lively() };
    let played = PlayedTable::<TongoOptions>::play(rules, None, TABLE_GAMES);
    played.print(&rows);
    print_event_sizes(&played.moves, &rows);
}

/// Prints what a seat is told of a move.
fn print_event_sizes(moves: &[Step<TongoOptions>], rows: &Rows) {
    let own = Viewer::Seat(Seat::new(0).expect("there is a first seat"));
    let events = moves.iter().flat_map(|step| seen(step, own));
    let full = events.clone().map(|event| text(&event).len()).sum::<usize>();
    let short = events.map(|event| short_len(&event)).sum::<usize>();
    let count = moves.len();
    rows.bytes("what one seat is told of a move, the game's events in full", full / count);
    rows.bytes("the same, events with a short form in it", short / count);
    rows.bytes("an event in memory", size_of::<GameEvent>());
}

fn seen(
    (_, happened): &Step<TongoOptions>,
    viewer: Viewer,
) -> impl Iterator<Item = GameEvent> + Clone + '_ {
    happened.events.iter().filter_map(move |event| match event.redact::<TongoOptions>(viewer)? {
        Event::Game { event } => Some(event),
        _ => None,
    })
}

/// Returns the size of an event's short form: the number of its name and its fields; other values
/// are as in the full form.
fn short_len(event: &GameEvent) -> usize {
    struct Short<'a>(&'a GameEvent);
    impl serde::Serialize for Short<'_> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq as _;
            let mut fields = serializer.serialize_seq(None)?;
            fields.serialize_element(&0)?;
            TongoOptions::write_short(self.0, &mut fields)?;
            fields.end()
        }
    }
    match TongoOptions::short_event(event) {
        Some(_) => text(&Short(event)).len(),
        None => text(event).len(),
    }
}

/// Returns the views of prompted seats in games of the AI against random play.
fn views() -> Vec<View> {
    let mut dice = TestRng::new(1);
    let policies = [Policy::Ai, Policy::Random, Policy::Ai, Policy::Random];
    let mut views = Vec::new();
    for _ in 0..100 {
        let mut game = TongoOptions::new(&Rules::lively(), 4, None);
        while let Some(next) = step(&game, &mut dice, &mut Vec::new(), |seat, dice| {
            if policies[seat.index()] == Policy::Ai {
                let view = game.view(Viewer::Seat(seat));
                let action = TongoOptions::choose_action(&view);
                views.push(view);
                return action.expect("a seat that is asked can act");
            }
            *dice.choose(&legal_actions(&game, seat)).expect("a seat that is asked can act")
        }) {
            game = next;
        }
    }
    views
}

type Dealt = (CardSet, [CardSet; 8], DiceCounts);

fn random_hands() -> Vec<Dealt> {
    let mut dice = TestRng::new(1);
    let some = |dice: &mut TestRng, count: usize| {
        let mut cards = CardSet::EMPTY;
        while cards.len() < count {
            let card = u8::try_from(dice.below(48)).ok().and_then(Card::from_index);
            cards = card.map_or(cards, |card| cards.with(card));
        }
        cards
    };
    let deal = |dice: &mut TestRng| {
        let hand = some(dice, 4);
        let floors = [1, 1, 2, 1, 1, 3, 1, 2].map(|count| some(dice, count));
        let values = [(1, 4), (5, 4), (9, 4)]
            .map(|(lowest, sides)| lowest + u8::try_from(dice.below(sides)).expect("small"));
        (hand, floors, values.into_iter().collect())
    };
    (0..HANDS).map(|_| deal(&mut dice)).collect()
}
