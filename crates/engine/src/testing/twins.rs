//! Twin games, which differ only in hidden state, and the traffic that each viewer receives when
//! the same actions are played in both. If the traffic differs, it reveals what the views conceal.
//!
//! A twin is made by swapping two hidden texts, such as cards, in the serialized game. Therefore
//! any game whose hidden items have unique names has twins.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::game::{Game, GameKind, GameRules, Prompt, Turn, Viewer};
use crate::seat::{Seat, SeatSet};
use crate::testing::{ChooseAction, Probe, TestRng, legal_actions};

/// The number of twins that are tried at each step.
const TRIES: usize = 12;

/// Two games in which the same action may be played.
#[derive(Clone, Debug)]
pub struct TwinPair<G: Game> {
    pub games: [G; 2],
    /// The number of seats in the games.
    pub seats: u8,
    pub seat: Seat,
    pub action: G::Action,
    /// The viewers that cannot distinguish the two games before the action.
    pub alike_for: Vec<Viewer>,
}

/// A sequence of actions that is legal in both games of a pair and lets no viewer distinguish them
/// who could not do so before.
#[derive(Clone, Debug)]
pub struct SharedWalk<G: Game> {
    pub pair: TwinPair<G>,
    /// The actions, beginning with the pair's action.
    pub steps: Vec<(Seat, G::Action)>,
}

/// The traffic to a viewer after one input: each event's name and length, and the next prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewerTraffic {
    pub events: Vec<VisibleEvent>,
    pub prompt: Option<Prompt>,
}

/// The properties of an event that an observer of the traffic sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleEvent {
    pub name: String,
    pub length: usize,
    /// The event itself, for the decision whether it may disclose something.
    pub text: Value,
}

impl<G: GameKind> TwinPair<G> {
    /// Returns the viewer's traffic when the action is played, in each of the two games.
    ///
    /// # Panics
    /// If the action is refused, which never happens for a pair.
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

    /// Returns whether the games diverge on the server's side after the action: other seats are
    /// prompted, or other actions are legal.
    pub fn diverges_secretly(&self) -> bool {
        let [one, other] = self.games.each_ref().map(|game| {
            let after = game.act(self.seat, &self.action, &mut Vec::new());
            let after = after.unwrap_or_else(|illegal| panic!("a pair is refused: {illegal}"));
            let choices = Seat::all(crate::seat::SEATS_MAX);
            let choices = choices.map(|seat| legal_actions(&after, seat).len());
            (after.turn(), choices.collect::<Vec<_>>())
        });
        one != other
    }
}

impl<G: GameKind> SharedWalk<G> {
    /// Extends a pair by up to `steps_max` steps, as long as no event occurs that `tells` permits
    /// to disclose something. Returns `None` if the pair's own action discloses something or shows
    /// a viewer a card.
    pub fn from_pair(
        pair: TwinPair<G>,
        steps_max: usize,
        ai: ChooseAction<G>,
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
            next = shared_action(&games, ai, dice);
        }
        (!steps.is_empty()).then_some(Self { pair, steps })
    }
}

/// Plays the action in both games. Returns `None` if one of the viewers can then distinguish them,
/// and if chance follows, because it deals differently from two decks.
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

/// Returns an action that is legal in both games.
fn shared_action<G: GameKind>(
    games: &[G; 2],
    ai: ChooseAction<G>,
    dice: &mut TestRng,
) -> Option<(Seat, G::Action)> {
    let asked = games.each_ref().map(|game| match game.turn() {
        Turn::Players(prompt) => prompt.seats,
        Turn::Wait(_) | Turn::Chance(_) | Turn::Over => SeatSet::EMPTY,
    });
    let seats: Vec<Seat> = asked[0].iter().filter(|seat| asked[1].contains(*seat)).collect();
    let seat = *dice.choose(&seats)?;
    let [one, other] = games.each_ref().map(|game| legal_actions(game, seat));
    let shared: Vec<G::Action> = one.into_iter().filter(|action| other.contains(action)).collect();
    let chosen = ai(&games[0].view(Viewer::Seat(seat)));
    let action = chosen.filter(|chosen| shared.contains(chosen));
    Some((seat, action.or_else(|| dice.choose(&shared).cloned())?))
}

impl VisibleEvent {
    fn from_event<E: serde::Serialize>(event: &E) -> Self {
        let text = serde_json::to_value(event).expect("an event can be written");
        let name = text.get("type").and_then(Value::as_str).unwrap_or_default().to_string();
        Self { name, length: text.to_string().len(), text }
    }
}

/// Plays a random game and passes the pairs found on its way to `each`.
///
/// # Panics
/// If the game violates its contract; the conformance test reports how.
pub fn for_each_twin_pair<G: GameKind>(
    probe: &impl Probe<G>,
    ai: ChooseAction<G>,
    rules: &G::Rules,
    seed: u64,
    mut each: impl FnMut(TwinPair<G>),
) {
    search_twins(probe, ai, rules, seed, |_, search| {
        if let Some(pair) = search() {
            each(pair);
        }
    });
}

/// Plays a random game. Passes the next action and a search for a pair to `each`, several times
/// before every action. The search takes longer than the game.
///
/// # Panics
/// If the game violates its contract; the conformance test reports how.
pub fn search_twins<G: GameKind>(
    probe: &impl Probe<G>,
    ai: ChooseAction<G>,
    rules: &G::Rules,
    seed: u64,
    mut each: impl FnMut(&G::Action, &mut dyn FnMut() -> Option<TwinPair<G>>),
) {
    let mut dice = TestRng::new(seed);
    let range = rules.seats();
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
                let seat = *dice.choose(&seats).expect("a seat is to act");
                let legal = legal_actions(&game, seat);
                let action = if dice.below(4) < sense {
                    ai(&game.view(Viewer::Seat(seat)))
                } else {
                    dice.choose(&legal).cloned()
                };
                let action = action.expect("a seat that is to act has a legal action");
                for _ in 0..TRIES {
                    each(&action, &mut || {
                        find_twin(probe, &game, (count, seat), &action, &mut dice)
                    });
                }
                let next = game.act(seat, &action, &mut Vec::new());
                next.unwrap_or_else(|illegal| panic!("{seat:?} plays {action:?}: {illegal}"))
            }
        };
    }
}

/// Finds a twin in which the seat may play the same action, if some viewer cannot distinguish the
/// games.
fn find_twin<G: GameKind>(
    probe: &impl Probe<G>,
    game: &G,
    (seats, seat): (u8, Seat),
    action: &G::Action,
    dice: &mut TestRng,
) -> Option<TwinPair<G>> {
    let hidden = probe.hidden_texts(game, Viewer::Public);
    let one = dice.choose(&hidden)?;
    let other = dice.choose(&hidden)?;
    if !probe.can_swap(one, other) {
        return None;
    }
    let twin = swap_texts(game, one, other).filter(|twin| twin != game)?;
    if probe.broken_invariant(&twin).is_some() {
        return None;
    }
    if !legal_actions(&twin, seat).contains(action) {
        return None;
    }
    let viewers = Seat::all(seats).map(Viewer::Seat).chain([Viewer::Public]);
    let alike_for: Vec<Viewer> =
        viewers.filter(|viewer| game.view(*viewer) == twin.view(*viewer)).collect();
    let games = [game.clone(), twin];
    (!alike_for.is_empty()).then(|| TwinPair {
        games,
        seats,
        seat,
        action: action.clone(),
        alike_for,
    })
}

/// Swaps two texts in the serialized game.
fn swap_texts<G: GameKind>(game: &G, one: &str, other: &str) -> Option<G> {
    let text = serde_json::to_string(game).expect("a game can be written");
    let between = "\"\u{0}\"";
    let text = text.replace(one, between).replace(other, one).replace(between, other);
    serde_json::from_str(&text).ok()
}
