//! A finished game as its record tells it: replayed by the rules, action by action, and what each
//! seat could know of it at each point.
//!
//! What a seat may see of cards is derived here from the complete events by a few lines of its
//! own, not by the code that redacts them for the wire.

use std::collections::BTreeMap;

use bahay::tables::catalog::Tongits;
use bahay_engine::cards::CardSet;
use bahay_engine::game::{Game as _, Turn, Viewer};
use bahay_engine::games::tongits::Event;
use bahay_engine::seat::Seat;
use bahay_engine::table::{By, Record};

use crate::bots::Action;

type View = <Tongits as bahay_engine::game::Game>::View;

/// A replayed game.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    start: Tongits,
    steps: Vec<Step>,
}

/// What one answer, of chance or of a player, led to.
#[derive(Clone, Debug)]
struct Step {
    /// `None` for chance.
    taken: Option<Took>,
    /// Complete.
    events: Vec<Event>,
    after: Tongits,
}

/// An action in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Took {
    pub(crate) seat: Seat,
    /// Of the question that it answers.
    pub(crate) prompt: u32,
    pub(crate) by: By,
    pub(crate) action: Action,
}

/// A game as one seat follows it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// As the seat is told of them, in order.
    pub(crate) events: Vec<Event>,
    /// The game after so many of these events, wherever that is after a whole step.
    views: BTreeMap<usize, Vec<View>>,
    /// The cards that the seat knows after so many of these events.
    known: Vec<CardSet>,
}

impl Truth {
    /// Says why, when the record cannot be replayed.
    pub(crate) fn of(record: &Record<Tongits>) -> Result<Self, String> {
        let start = Tongits::new(&record.terms.rules, record.starter);
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
                Turn::Players(prompt) => {
                    let taken = actions.next().ok_or("the record ends before the game")?;
                    let acted = state.act(taken.seat, &taken.action, &mut events);
                    state = acted.map_err(|illegal| illegal.to_string())?;
                    let (seat, by, action) = (taken.seat, taken.by, taken.action);
                    Some(Took { seat, prompt: prompt.number, by, action })
                }
            };
            steps.push(Step { taken, events, after: state.clone() });
        }
        Ok(Self { start, steps })
    }

    /// Every action in order.
    pub(crate) fn taken(&self) -> impl Iterator<Item = Took> {
        self.steps.iter().filter_map(|step| step.taken)
    }

    pub(crate) fn seen_by(&self, seat: Seat) -> Seen {
        let viewer = Viewer::Seat(seat);
        let mut seen = Seen {
            events: Vec::new(),
            views: BTreeMap::from([(0, vec![self.start.view(viewer)])]),
            known: vec![CardSet::EMPTY],
        };
        for step in &self.steps {
            for event in &step.events {
                let known = *seen.known.last().expect("it begins with one");
                let known = known.union(shown(event, seat));
                match Tongits::redact(event, viewer) {
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

/// The cards that an event shows to a seat.
fn shown(event: &Event, seat: Seat) -> CardSet {
    match event {
        Event::Dealt { hands, .. } => hands[seat.index()].unwrap_or(CardSet::EMPTY),
        Event::Drawn { seat: by, card, .. } if *by == seat => {
            card.map_or(CardSet::EMPTY, CardSet::only)
        }
        Event::Chowed { discard, cards, .. } => cards.with(*discard),
        Event::Dropped { cards, .. } => *cards,
        Event::Sapawed { card, .. } | Event::Dumped { card, .. } => CardSet::only(*card),
        Event::Shown { hands } => {
            hands.iter().fold(CardSet::EMPTY, |sum, shown| sum.union(shown.hand))
        }
        Event::Drawn { .. }
        | Event::StarterChosen { .. }
        | Event::TongitsDeclared { .. }
        | Event::Fought { .. }
        | Event::Answered { .. }
        | Event::Over { .. } => CardSet::EMPTY,
    }
}
