//! A finished game as its record tells it: replayed by the rules, action by action, and what each
//! seat could know of it at each point.
//!
//! What a seat may see of cards is derived here from the complete events by a few lines of its
//! own, not by the code that redacts them for the wire.

use std::collections::BTreeMap;
use std::fmt;

use bahay_engine::cards::CardSet;
use bahay_engine::catalog::{AnyEvent, AnyGame};
use bahay_engine::game::{Game as _, Turn, Viewer};
use bahay_engine::games::tongits::{self, Tongits};
use bahay_engine::seat::Seat;
use bahay_engine::table::{ActionOrigin, Lift as _, Record};
use serde::Serialize;

type View = <AnyGame as bahay_engine::game::Game>::View;

/// A replayed game.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// How many play.
    seats: u8,
    start: AnyGame,
    steps: Vec<Step>,
}

/// What one answer, of chance or of a player, led to.
#[derive(Clone, Debug)]
struct Step {
    /// `None` for chance.
    taken: Option<Took>,
    /// Complete.
    events: Vec<AnyEvent>,
    after: AnyGame,
}

/// An action in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Took {
    pub(crate) seat: Seat,
    /// Of the question that it answers.
    pub(crate) prompt: u32,
    pub(crate) by: ActionOrigin,
    pub(crate) action: Written,
}

/// An action as JSON. That of a client and that of a record can be compared by it, whatever game
/// they are of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Written(String);

impl Written {
    /// The fields of what is written are put into one order on the way.
    pub(crate) fn of(action: &impl Serialize) -> Self {
        let value = serde_json::to_value(action).expect("an action is plain data");
        Self(value.to_string())
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A game as one seat follows it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// As the seat is told of them, in order.
    pub(crate) events: Vec<AnyEvent>,
    /// The game after so many of these events, wherever that is after a whole step.
    views: BTreeMap<usize, Vec<View>>,
    /// The cards that the seat knows after so many of these events.
    known: Vec<CardSet>,
}

impl Truth {
    /// Says why, when the record cannot be replayed.
    pub(crate) fn of(record: &Record<AnyGame>) -> Result<Self, String> {
        let seats = u8::try_from(record.players.len()).map_err(|_| "so many cannot play")?;
        let start = AnyGame::new(&record.terms.rules, seats, record.starter);
        let mut state = start.clone();
        let mut steps = Vec::new();
        let mut chance = record.chance.iter();
        let mut actions = record.actions.iter();
        loop {
            let mut events = Vec::new();
            let taken = match state.turn() {
                Turn::Over => break,
                Turn::Chance(request) => {
                    let answer = chance.next().filter(|answer| answer.fits(request));
                    let answer = answer.ok_or("the record lacks what chance decided")?;
                    state = state.resolve(answer, &mut events);
                    None
                }
                Turn::Wait(_) => {
                    state = state.expire(&mut events);
                    None
                }
                Turn::Players(prompt) => {
                    let taken = actions.next().ok_or("the record ends before the game")?;
                    let acted = state.act(taken.seat, &taken.action, &mut events);
                    state = acted.map_err(|illegal| illegal.to_string())?;
                    let action = Written::of(&taken.action);
                    Some(Took { seat: taken.seat, prompt: prompt.number, by: taken.by, action })
                }
            };
            steps.push(Step { taken, events, after: state.clone() });
        }
        Ok(Self { seats, start, steps })
    }

    /// Every action in order.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &Took> {
        self.steps.iter().filter_map(|step| step.taken.as_ref())
    }

    pub(crate) fn seen_by(&self, seat: Seat) -> Seen {
        // Who sits at the table and waits for the next game sees what anybody sees.
        let plays = seat.number() < self.seats;
        let viewer = if plays { Viewer::Seat(seat) } else { Viewer::Public };
        let mut seen = Seen {
            events: Vec::new(),
            views: BTreeMap::from([(0, vec![self.start.view(viewer)])]),
            known: vec![CardSet::EMPTY],
        };
        for step in &self.steps {
            for event in &step.events {
                let known = *seen.known.last().expect("it begins with one");
                let known = known.union(shown(event, seat));
                match AnyGame::redact(event, viewer) {
                    Some(event) => {
                        seen.events.push(event);
                        seen.known.push(known);
                    }
                    // It is known to have happened with the next one that is told.
                    None => *seen.known.last_mut().expect("it begins with one") = known,
                }
            }
            let views = seen.views.entry(seen.events.len()).or_default();
            let view = step.after.view(viewer);
            if !views.contains(&view) {
                views.push(view);
            }
        }
        seen
    }
}

impl Seen {
    /// Whether a view is the game's after so many events.
    pub(crate) fn is_at(&self, place: usize, view: &View) -> bool {
        self.views.get(&place).is_some_and(|views| views.contains(view))
    }

    /// After how many events the game looks like this, from `from` on.
    pub(crate) fn place_of(&self, view: &View, from: usize) -> Option<usize> {
        let mut later = self.views.range(from..);
        later.find(|(_, views)| views.contains(view)).map(|(place, _)| *place)
    }

    /// The cards that the seat knows after so many events.
    pub(crate) fn known(&self, place: usize) -> CardSet {
        let last = self.known.len() - 1;
        self.known[place.min(last)]
    }
}

/// The cards that an event shows to a seat. At a game whose cards are not known here all of them are:
/// there only the views tell whether somebody was shown too much.
fn shown(event: &AnyEvent, seat: Seat) -> CardSet {
    Tongits::lower_event(event).map_or(CardSet::ALL, |event| shown_at_tongits(event, seat))
}

fn shown_at_tongits(event: &tongits::Event, seat: Seat) -> CardSet {
    use tongits::Event;

    match event {
        Event::Dealt { hands, .. } => hands[seat.index()].unwrap_or(CardSet::EMPTY),
        Event::Drawn { seat: by, card, .. } if *by == seat => {
            card.map_or(CardSet::EMPTY, CardSet::only)
        }
        Event::Chowed { discard, cards, .. } => cards.with(*discard),
        Event::Dropped { cards, .. } => *cards,
        Event::LaidFaceDown { seat: by, cards, .. } if *by == seat => *cards,
        Event::Sapawed { card, .. } | Event::Dumped { card, .. } => CardSet::only(*card),
        Event::Shown { hands } => hands
            .iter()
            .flat_map(|shown| shown.face_down.iter().chain([&shown.hand]))
            .fold(CardSet::EMPTY, |sum, cards| sum.union(*cards)),
        Event::Drawn { .. }
        | Event::LaidFaceDown { .. }
        | Event::StarterChosen { .. }
        | Event::Sagasa { .. }
        | Event::TongitsDeclared { .. }
        | Event::Fought { .. }
        | Event::Answered { .. }
        | Event::Over { .. } => CardSet::EMPTY,
    }
}
