//! Games that differ only in what is hidden, and what each viewer learns when the same is played in
//! both: nothing that tells them apart, or the traffic gives away what the views keep.
//!
//! A twin is made by changing two hidden texts, such as cards, for each other in the game's state. So
//! it is made of any game whose hidden things have names of their own.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::game::{Game, GameKind, Prompt, Turn, Viewer};
use crate::seat::{Seat, SeatSet};
use crate::testing::{TestRng, Probe};

/// Twins that are tried at each step.
const TRIES: usize = 12;

/// Two games in which the same may be played.
#[derive(Clone, Debug)]
pub struct TwinPair<G: Game> {
    pub games: [G; 2],
    /// How many play.
    pub seats: u8,
    pub seat: Seat,
    pub action: G::Action,
    /// Who cannot tell the two apart before the action.
    pub alike_for: Vec<Viewer>,
}

/// The same actions in both games of a pair, through which nobody who could not tell them apart
/// comes to know.
#[derive(Clone, Debug)]
pub struct SharedWalk<G: Game> {
    pub pair: TwinPair<G>,
    /// The pair's action first.
    pub steps: Vec<(Seat, G::Action)>,
}

/// What a viewer gets of one input: each event's name and length, and the question after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewerTraffic {
    pub events: Vec<VisibleEvent>,
    pub prompt: Option<Prompt>,
}

/// As much of an event as who counts bytes sees of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleEvent {
    pub name: String,
    pub length: usize,
    /// The event itself, for who decides whether it may tell something.
    pub text: Value,
}

impl<G: GameKind> TwinPair<G> {
    /// What the viewer gets when the action is played, in each of the two.
    ///
    /// # Panics
    /// When the action is refused, which a pair never is.
    pub fn traffic_for(&self, viewer: Viewer) -> [ViewerTraffic; 2] {
        let seen = |game: &G| {
            let mut events = Vec::new();
            let after = game.act(self.seat, &self.action, &mut events);
            let after = after.unwrap_or_else(|illegal| panic!("a pair is refused: {illegal}"));
            let events = events.iter().filter_map(|event| G::redact(event, viewer));
            ViewerTraffic {
                events: events.map(|event| VisibleEvent::from_event(&event)).collect(),
                prompt: after.prompt_for(viewer),
            }
        };
        let [one, other] = &self.games;
        [seen(one), seen(other)]
    }

    /// The house's side of the two parts after the action: others are asked, or may do other things.
    pub fn diverges_secretly(&self) -> bool {
        let [one, other] = self.games.each_ref().map(|game| {
            let after = game.act(self.seat, &self.action, &mut Vec::new());
            let after = after.unwrap_or_else(|illegal| panic!("a pair is refused: {illegal}"));
            let choices = Seat::all(crate::seat::SEATS_MAX).map(|seat| {
                let mut actions = Vec::new();
                after.legal_actions(seat, &mut actions);
                actions.len()
            });
            (after.turn(), choices.collect::<Vec<_>>())
        });
        one != other
    }
}

impl<G: GameKind> SharedWalk<G> {
    /// Goes on from a pair for so many steps at most, for as long as nothing is told that `tells`
    /// says may be. `None` when the pair's own action tells something, or shows a viewer a card.
    pub fn from_pair(
        pair: TwinPair<G>,
        steps_max: usize,
        dice: &mut TestRng,
        tells: impl Fn(&VisibleEvent) -> bool,
    ) -> Option<Self> {
        let mut games = pair.games.clone();
        let mut steps = Vec::new();
        let mut next = Some((pair.seat, pair.action.clone()));
        while let Some((seat, action)) = next.filter(|_| steps.len() < steps_max) {
            let Some(after) = act_in_both(&games, seat, &action, &pair.alike_for, &tells) else {
                break;
            };
            games = after;
            steps.push((seat, action));
            next = shared_action(&games, dice);
        }
        (!steps.is_empty()).then_some(Self { pair, steps })
    }
}

/// Plays the same in both; `None` when one of these viewers comes to see something else in one, and
/// where chance goes on: what it deals out of two decks is not the same.
fn act_in_both<G: GameKind>(
    games: &[G; 2],
    seat: Seat,
    action: &G::Action,
    viewers: &[Viewer],
    tells: impl Fn(&VisibleEvent) -> bool,
) -> Option<[G; 2]> {
    let mut may_tell = false;
    let after = games.each_ref().map(|game| {
        let mut events = Vec::new();
        let after = game.act(seat, action, &mut events).ok();
        may_tell |= events.iter().any(|event| tells(&VisibleEvent::from_event(event)));
        after
    });
    let [Some(one), Some(other)] = after else { return None };
    if [&one, &other].into_iter().any(|game| matches!(game.turn(), Turn::Chance(_))) {
        return None;
    }
    let alike = viewers.iter().all(|viewer| one.view(*viewer) == other.view(*viewer));
    (alike && !may_tell).then_some([one, other])
}

/// Something that may be played next in both.
fn shared_action<G: GameKind>(games: &[G; 2], dice: &mut TestRng) -> Option<(Seat, G::Action)> {
    let asked = games.each_ref().map(|game| match game.turn() {
        Turn::Players(prompt) => prompt.seats,
        Turn::Wait(_) | Turn::Chance(_) | Turn::Over => SeatSet::EMPTY,
    });
    let seats: Vec<Seat> = asked[0].iter().filter(|seat| asked[1].contains(*seat)).collect();
    let seat = *dice.choose(&seats)?;
    let [one, other] = games.each_ref().map(|game| {
        let mut actions = Vec::new();
        game.legal_actions(seat, &mut actions);
        actions
    });
    let shared: Vec<G::Action> = one.into_iter().filter(|action| other.contains(action)).collect();
    let advised = G::choose_action(&games[0].view(Viewer::Seat(seat)));
    let action = advised.filter(|advised| shared.contains(advised));
    Some((seat, action.or_else(|| dice.choose(&shared).cloned())?))
}

impl VisibleEvent {
    fn from_event<E: serde::Serialize>(event: &E) -> Self {
        let text = serde_json::to_value(event).expect("an event can be written");
        let name = text.get("type").and_then(Value::as_str).unwrap_or_default().to_string();
        Self { name, length: text.to_string().len(), text }
    }
}

/// Plays a random game and gives the pairs that it meets.
///
/// # Panics
/// When the game breaks its contract: the conformance kit tells how.
pub fn for_each_twin_pair<G: GameKind>(
    probe: &impl Probe<G>,
    rules: &G::Rules,
    seed: u64,
    mut each: impl FnMut(TwinPair<G>),
) {
    let mut dice = TestRng::new(seed);
    let range = G::seats(rules);
    let counts: Vec<u8> = (range.least..=range.most).collect();
    let count = *dice.choose(&counts).expect("a game has seats");
    let sense = dice.below(4);
    let mut game = G::new(rules, count, None);
    loop {
        game = match game.turn() {
            Turn::Over => return,
            Turn::Chance(request) => game.resolve(&dice.answer(request), &mut Vec::new()),
            Turn::Wait(_) => game.expire(&mut Vec::new()),
            Turn::Players(prompt) => {
                let seats: Vec<Seat> = prompt.seats.iter().collect();
                let seat = *dice.choose(&seats).expect("somebody is asked");
                let mut legal = Vec::new();
                game.legal_actions(seat, &mut legal);
                let action = if dice.below(4) < sense {
                    G::choose_action(&game.view(Viewer::Seat(seat)))
                } else {
                    dice.choose(&legal).cloned()
                };
                let action = action.expect("a seat that is asked has something to play");
                for _ in 0..TRIES {
                    if let Some(pair) = find_twin(probe, &game, (count, seat), &action, &mut dice) {
                        each(pair);
                    }
                }
                let next = game.act(seat, &action, &mut Vec::new());
                next.unwrap_or_else(|illegal| panic!("{seat:?} plays {action:?}: {illegal}"))
            }
        };
    }
}

/// A twin in which the seat may do the same, with somebody who cannot tell.
fn find_twin<G: GameKind>(
    probe: &impl Probe<G>,
    game: &G,
    (seats, seat): (u8, Seat),
    action: &G::Action,
    dice: &mut TestRng,
) -> Option<TwinPair<G>> {
    let hidden = probe.hidden_texts(game, Viewer::Public);
    let (one, other) = (dice.choose(&hidden)?, dice.choose(&hidden)?);
    if !probe.can_swap(one, other) {
        return None;
    }
    let twin = swap_texts(game, one, other).filter(|twin| twin != game)?;
    if probe.broken_invariant(&twin).is_some() {
        return None;
    }
    let mut legal = Vec::new();
    twin.legal_actions(seat, &mut legal);
    if !legal.contains(action) {
        return None;
    }
    let viewers = Seat::all(seats).map(Viewer::Seat).chain([Viewer::Public]);
    let alike_for: Vec<Viewer> =
        viewers.filter(|viewer| game.view(*viewer) == twin.view(*viewer)).collect();
    let games = [game.clone(), twin];
    (!alike_for.is_empty()).then(|| TwinPair { games, seats, seat, action: action.clone(), alike_for })
}

/// The game with two texts of its state in each other's place.
fn swap_texts<G: GameKind>(game: &G, one: &str, other: &str) -> Option<G> {
    let text = serde_json::to_string(game).expect("a game can be written");
    let between = "\"\u{0}\"";
    let text = text.replace(one, between).replace(other, one).replace(between, other);
    serde_json::from_str(&text).ok()
}
