//! The ground truth of a finished game: its record, replayed action by action, and each seat's
//! knowledge at each point.
//!
//! The cards visible to a seat are derived here from the unredacted events by independent code, not
//! by the code that redacts them for the wire.

use std::collections::BTreeMap;
use std::fmt;

use bahay_engine::cards::CardSet;
use bahay_engine::catalog::{AnyEvent, AnyGame};
use bahay_engine::game::{Game as _, Turn, Viewer};
use bahay_engine::games::tongits::{self, Tongits};
use bahay_engine::seat::Seat;
use bahay_engine::table::{ActionOrigin, Lift as _, Record};
use bahay_engine::variants;
use serde::Serialize;

type View = <AnyGame as bahay_engine::game::Game>::View;

/// A replayed game.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// The number of players.
    seats: u8,
    start: AnyGame,
    steps: Vec<Step>,
}

/// The events that follow from one action or one answer of chance.
#[derive(Clone, Debug)]
struct Step {
    /// `None` for chance.
    taken: Option<TakenAction>,
    /// The unredacted events.
    events: Vec<AnyEvent>,
    after: AnyGame,
}

/// An action in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TakenAction {
    pub(crate) seat: Seat,
    /// The number of the answered prompt.
    pub(crate) prompt: u32,
    pub(crate) by: ActionOrigin,
    pub(crate) action: ActionJson,
}

/// An action as JSON, by which those of clients and of records can be compared for all kinds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ActionJson(String);

impl ActionJson {
    /// Converts an action; the fields are put into a canonical order.
    pub(crate) fn of(action: &impl Serialize) -> Self {
        let value = serde_json::to_value(action).expect("an action is plain data");
        Self(value.to_string())
    }
}

impl fmt::Debug for ActionJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A game as seen from one seat.
#[derive(Clone, Debug)]
pub(crate) struct SeatKnowledge {
    /// The redacted events in order.
    pub(crate) events: Vec<AnyEvent>,
    /// The views after a number of these events, wherever a step ends there.
    views: BTreeMap<usize, Vec<View>>,
    /// The known cards after a number of these events.
    known: Vec<CardSet>,
}

impl Truth {
    /// Replays a record.
    ///
    /// # Errors
    ///
    /// Fails with the reason if the record cannot be replayed.
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
                    let action = ActionJson::of(&taken.action);
                    Some(TakenAction {
                        seat: taken.seat,
                        prompt: prompt.number,
                        by: taken.by,
                        action,
                    })
                }
            };
            steps.push(Step { taken, events, after: state.clone() });
        }
        Ok(Self { seats, start, steps })
    }

    /// Returns every action in order.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &TakenAction> {
        self.steps.iter().filter_map(|step| step.taken.as_ref())
    }

    pub(crate) fn seen_by(&self, seat: Seat) -> SeatKnowledge {
        // A player who waits at the table for the next game has the public view.
        let plays = seat.number() < self.seats;
        let viewer = if plays { Viewer::Seat(seat) } else { Viewer::Public };
        let mut seen = SeatKnowledge {
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
                    // The knowledge becomes effective with the next visible event.
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

impl SeatKnowledge {
    /// Returns true if a view is that of the game after a number of events.
    pub(crate) fn is_at(&self, place: usize, view: &View) -> bool {
        self.views.get(&place).is_some_and(|views| views.contains(view))
    }

    /// Returns the number of events, from `from` on, after which the game has this view.
    pub(crate) fn place_of(&self, view: &View, from: usize) -> Option<usize> {
        let mut later = self.views.range(from..);
        later.find(|(_, views)| views.contains(view)).map(|(place, _)| *place)
    }

    /// Returns the cards known after a number of events.
    pub(crate) fn known(&self, place: usize) -> CardSet {
        let last = self.known.len() - 1;
        self.known[place.min(last)]
    }
}

/// Returns the cards that an event shows to a seat. For a kind whose cards are not modelled here it
/// returns all cards; then only the views reveal a leak.
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
        variants!(Event: Drawn, LaidFaceDown, StarterChosen, Sagasa, TongitsDeclared, Fought,
            Answered, Over) => CardSet::EMPTY,
    }
}
