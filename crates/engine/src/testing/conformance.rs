//! The conformance test of the contract of [`Game`], run along random games. Every game of the
//! house passes it.
//!
//! Checked after each step: exactly the legal actions are accepted; a view updated by redacted
//! events equals the view; no hidden text appears in the output for a viewer; a game that is
//! serialized and deserialized continues identically. Checked at the end: no seat owes more than is
//! held, and replaying the inputs reproduces the game.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::value::SeqDeserializer;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer as _};
use serde_json::Value;

use crate::chance::ChanceAnswer;
use crate::game::{Game, GameKind, GameRules, Prompt, SHORT_EVENTS_MAX, Turn, Viewer, ensure};
use crate::seat::Seat;
use crate::testing::{ChooseAction, TestRng, legal_actions};

/// An upper bound of the steps of a game.
const STEPS_MAX: usize = 10_000;

/// The number of random actions tried against the rules at each prompt.
const WILD_TRIES: usize = 4;

/// The knowledge of one game that the conformance test requires.
pub trait Probe<G: GameKind> {
    /// Returns an arbitrary action, mostly illegal and often nearly legal.
    fn wild_action(&self, game: &G, dice: &mut TestRng) -> G::Action;

    /// Returns the listed action that stands for this one if a number is free and a selection
    /// stands for the range. It reads the rules independently, so it also decides whether the
    /// number is legal. Returns the action itself if every action is listed.
    fn listed_equivalent(&self, _game: &G, _seat: Seat, action: G::Action) -> G::Action {
        action
    }

    /// Returns texts that must not appear in the output for the viewer in this state. From the
    /// record nothing is hidden, so it is not asked for.
    fn hidden_texts(&self, game: &G, viewer: Viewer) -> Vec<String>;

    /// Returns whether two of those texts may be swapped so that the game could still have been
    /// dealt.
    fn can_swap(&self, _one: &str, _other: &str) -> bool {
        true
    }

    /// Returns the violated invariant of the game, if there is one.
    fn broken_invariant(&self, game: &G) -> Option<String>;
}

/// A violation of the contract; the seed reproduces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConformanceError {
    pub seed: u64,
    pub step: usize,
    pub message: String,
}

impl fmt::Display for ConformanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} step {}: {}", self.seed, self.step, self.message)
    }
}

impl core::error::Error for ConformanceError {}

/// Plays one random game and checks the contract at every step. Returns the game at its end.
///
/// # Errors
/// The first violation, with the seed that reproduces it.
pub fn check_game<G: GameKind>(
    probe: &impl Probe<G>,
    ai: ChooseAction<G>,
    rules: &G::Rules,
    seed: u64,
) -> Result<G, ConformanceError> {
    let mut run = ConformanceRun::new(probe, ai, rules, seed);
    match run.play_out() {
        Ok(()) => Ok(run.game),
        Err(message) => Err(ConformanceError { seed, step: run.inputs.len(), message }),
    }
}

/// An input of a game.
enum GameInput<A> {
    Chance(ChanceAnswer),
    Expired,
    Action(Seat, A),
}

/// The state of one game under test.
struct ConformanceRun<'a, G: GameKind, P> {
    probe: &'a P,
    ai: ChooseAction<G>,
    rules: &'a G::Rules,
    seats: u8,
    starter: Option<Seat>,
    dice: TestRng,
    game: G,
    viewers: Vec<Viewer>,
    /// The views by viewer, updated by redacted events only.
    views: Vec<G::View>,
    inputs: Vec<GameInput<G::Action>>,
    /// The number of times out of 4 that the AI chooses the action, so that some games are wild and
    /// some sensible.
    sense: u32,
}

impl<'a, G: GameKind, P: Probe<G>> ConformanceRun<'a, G, P> {
    fn new(probe: &'a P, ai: ChooseAction<G>, rules: &'a G::Rules, seed: u64) -> Self {
        let mut dice = TestRng::new(seed);
        let range = rules.seats();
        let counts: Vec<u8> = (range.least..=range.most).collect();
        // A single count draws no number, so that the seeds of a game with fixed seats stay valid.
        let count = match counts[..] {
            [only] => only,
            _ => dice.choose(&counts).copied().unwrap_or(range.most),
        };
        let seats: Vec<Seat> = Seat::all(count).collect();
        let starter = dice.choose(&seats).copied().filter(|_| seed.is_multiple_of(2));
        let sense = dice.below(4);
        let game = G::new(rules, count, starter);
        let viewers: Vec<Viewer> = [Viewer::Everything, Viewer::Public]
            .into_iter()
            .chain(seats.iter().map(|seat| Viewer::Seat(*seat)))
            .collect();
        let views = viewers.iter().map(|viewer| game.view(*viewer)).collect();
        let inputs = Vec::new();
        Self { probe, ai, rules, seats: count, starter, dice, game, viewers, views, inputs, sense }
    }

    fn play_out(&mut self) -> Result<(), String> {
        loop {
            ensure(self.inputs.len() < STEPS_MAX, || "the game does not end".into())?;
            let mut events = Vec::new();
            let (input, next) = match self.game.turn() {
                Turn::Over => break,
                Turn::Chance(request) => {
                    let answer = self.dice.answer(request);
                    let next = self.game.resolve(&answer, &mut events);
                    (GameInput::Chance(answer), next)
                }
                Turn::Wait(_) => (GameInput::Expired, self.game.expire(&mut events)),
                Turn::Players(prompt) => self.play(&prompt, &mut events)?,
            };
            self.inputs.push(input);
            self.check_numbers(&next)?;
            self.game = next;
            self.check_viewers(&events)?;
            if let Some(message) = self.probe.broken_invariant(&self.game) {
                return Err(message);
            }
            let is_over = self.game.turn() == Turn::Over;
            ensure(self.game.outcome().is_some() == is_over, || {
                "there is an outcome exactly when the game is over".into()
            })?;
            self.check_names(is_over)?;
            self.game = round_trip(&self.game)?;
        }
        self.check_debts()?;
        self.check_replay()
    }

    /// Checks the legal actions and plays one of them.
    fn play(
        &mut self,
        prompt: &Prompt,
        events: &mut Vec<G::Event>,
    ) -> Result<(GameInput<G::Action>, G), String> {
        let seats: Vec<Seat> = prompt.seats.iter().collect();
        let seat = *self.dice.choose(&seats).ok_or("no seat is to act")?;
        for other in Seat::all(crate::seat::SEATS_MAX) {
            self.check_seat(other, prompt)?;
        }
        for _ in 0..WILD_TRIES {
            self.try_wild_action()?;
        }
        let legal = legal_actions(&self.game, seat);
        let action = if self.dice.below(4) < self.sense {
            (self.ai)(&self.game.view(Viewer::Seat(seat)))
        } else {
            self.dice.choose(&legal).cloned()
        };
        let action = action.ok_or("a seat that is to act has no action")?;
        let next = self
            .game
            .act(seat, &action, events)
            .map_err(|illegal| format!("{seat:?} may play {action:?} and is refused: {illegal}"))?;
        Ok((GameInput::Action(seat, action), next))
    }

    /// Checks that the actions listed for a seat are the actions that it may play.
    fn check_seat(&self, seat: Seat, prompt: &Prompt) -> Result<(), String> {
        let legal = legal_actions(&self.game, seat);
        let is_asked = prompt.seats.contains(seat);
        ensure(legal.is_empty() != is_asked, || {
            format!("{seat:?} is prompted: {is_asked}; its legal actions are {legal:?}")
        })?;
        for (place, action) in legal.iter().enumerate() {
            let named_before = legal.iter().take(place).any(|earlier| earlier == action);
            ensure(!named_before, || format!("{action:?} is named twice"))?;
            round_trip(action)?;
            self.game.act(seat, action, &mut Vec::new()).map_err(|illegal| {
                format!("{seat:?} may play {action:?} and is refused: {illegal}")
            })?;
        }
        let mut in_view = Vec::new();
        let view = self.game.view(Viewer::Seat(seat));
        G::legal_in_view(&view, &mut in_view);
        ensure(in_view == legal, || {
            format!("in its view {seat:?} may play {in_view:?}, in the game {legal:?}")
        })?;
        for (whose, played) in
            [("the clock's", self.game.default_action(seat)), ("the AI's", (self.ai)(&view))]
        {
            let listed =
                |action: &G::Action| self.probe.listed_equivalent(&self.game, seat, action.clone());
            let fits =
                played.as_ref().map(listed).map_or(!is_asked, |action| legal.contains(&action));
            ensure(fits, || format!("{whose} action for {seat:?} is {played:?} of {legal:?}"))?;
        }
        Ok(())
    }

    /// Checks that an illegal action is refused and emits no event.
    fn try_wild_action(&mut self) -> Result<(), String> {
        let action = self.probe.wild_action(&self.game, &mut self.dice);
        let seats: Vec<Seat> = Seat::all(self.seats).collect();
        let seat = *self.dice.choose(&seats).ok_or("the game has no seats")?;
        let before = self.game.clone();
        let mut events = Vec::new();
        let refusal = self.game.act(seat, &action, &mut events).err();
        let taken = refusal.is_none();
        let in_view = G::refusal_in_view(&self.game.view(Viewer::Seat(seat)), &action);
        ensure(in_view == refusal, || {
            format!("{seat:?} is refused {action:?} for {refusal:?}, in its view for {in_view:?}")
        })?;
        ensure(before == self.game, || format!("{action:?} changes the game in place"))?;
        ensure(taken || events.is_empty(), || format!("{action:?} is refused, with events"))?;
        let listed = self.probe.listed_equivalent(&self.game, seat, action.clone());
        let is_legal = legal_actions(&self.game, seat).contains(&listed);
        ensure(taken == is_legal, || {
            format!("{seat:?} plays {action:?}: legal {is_legal}, taken {taken}")
        })
    }

    /// Checks that a new prompt has a new number and that numbers never decrease.
    fn check_numbers(&self, next: &G) -> Result<(), String> {
        let (Some(old), Some(new)) = (self.game.turn().prompt(), next.turn().prompt()) else {
            return Ok(());
        };
        ensure(new.number >= old.number && new.countdown >= old.countdown, || {
            format!("numbers go back: {old:?} then {new:?}")
        })?;
        let is_same = new.number == old.number;
        let still_asked = new.seats.difference(old.seats).is_empty() && new.seats != old.seats;
        ensure(!is_same || still_asked && new.countdown == old.countdown, || {
            format!("another question has the same number: {old:?} then {new:?}")
        })
    }

    /// Checks that every viewer's view is up to date and reveals nothing hidden.
    fn check_viewers(&mut self, events: &[G::Event]) -> Result<(), String> {
        for (viewer, view) in self.viewers.iter().zip(&mut self.views) {
            let hidden = match viewer {
                Viewer::Everything => Vec::new(),
                Viewer::Seat(_) | Viewer::Public => self.probe.hidden_texts(&self.game, *viewer),
            };
            for event in events {
                let redacted = G::redact(event, *viewer);
                let Some(seen) = redacted else { continue };
                ensure(G::redact(&seen, *viewer).as_ref() == Some(&seen), || {
                    format!("{viewer:?} would see a different {seen:?} if redacted twice")
                })?;
                ensure(*viewer != Viewer::Everything || seen == *event, || {
                    format!("the record lacks {event:?}")
                })?;
                check_hidden(&hidden, *viewer, &seen)?;
                check_short::<G>(&seen)?;
                G::observe(view, &round_trip(&seen)?);
            }
            let fresh = self.game.view(*viewer);
            ensure(*view == fresh, || {
                format!("{viewer:?} followed to {view:?}\nbut the view is {fresh:?}")
            })?;
            check_hidden(&hidden, *viewer, view)?;
            round_trip(view)?;
            check_prompt(&self.game, *viewer, view)?;
        }
        Ok(())
    }

    /// Checks that the ending and the counters have names that the game declares.
    fn check_names(&self, is_over: bool) -> Result<(), String> {
        let ending = self.game.ending();
        ensure(ending.is_some() == is_over, || {
            "there is an ending exactly when the game is over".into()
        })?;
        let known = |name: &str| G::ENDINGS.iter().any(|ending| ending.name == name);
        ensure(ending.is_none_or(known), || format!("no ending is called {ending:?}"))?;
        let counts = self.game.counts();
        ensure(is_over || counts.is_empty(), || "it counts before it is over".into())?;
        for count in counts {
            let known = G::COUNTERS.iter().any(|counter| counter.name == count.name);
            ensure(known && count.seat.number() < self.seats, || {
                format!("nobody knows the counter {count:?}")
            })?;
        }
        ensure(G::SHORT_EVENTS.len() <= SHORT_EVENTS_MAX, || "too many short events".into())
    }

    /// Checks that no seat owes more than is held of its coins.
    fn check_debts(&self) -> Result<(), String> {
        let outcome = self.game.outcome().ok_or("the game is over without an outcome")?;
        let most = self.rules.counts_max(self.seats);
        for seat in Seat::all(self.seats) {
            let debts = outcome.debts.iter().filter(|debt| debt.from == seat);
            let owed: u32 = debts.map(|debt| debt.counts()).sum();
            ensure(owed <= most, || format!("{seat:?} owes {owed} counts of at most {most}"))?;
        }
        Ok(())
    }

    fn check_replay(&self) -> Result<(), String> {
        let mut game = G::new(self.rules, self.seats, self.starter);
        for input in &self.inputs {
            game = match input {
                GameInput::Chance(answer) => game.resolve(answer, &mut Vec::new()),
                GameInput::Expired => game.expire(&mut Vec::new()),
                GameInput::Action(seat, action) => game
                    .act(*seat, action, &mut Vec::new())
                    .map_err(|illegal| format!("a replay refuses {action:?}: {illegal}"))?,
            };
        }
        ensure(game == self.game, || "a replay ends otherwise".into())
    }
}

/// Checks that a viewer knows whether it is prompted, and that the record knows every prompted
/// seat.
fn check_prompt<G: Game>(game: &G, viewer: Viewer, view: &G::View) -> Result<(), String> {
    let prompt_seen = G::prompt_in_view(view);
    let prompt = game.turn().prompt();
    let agrees = match (viewer, prompt_seen, prompt) {
        (Viewer::Everything, seen, prompt) => seen == prompt,
        (Viewer::Seat(seat), Some(seen), Some(prompt)) => {
            seen.seats.contains(seat) == prompt.seats.contains(seat)
                && (seen.number, seen.countdown) == (prompt.number, prompt.countdown)
        }
        (Viewer::Public, Some(seen), Some(prompt)) => seen.number == prompt.number,
        (Viewer::Seat(_) | Viewer::Public, seen, prompt) => seen.is_none() && prompt.is_none(),
    };
    ensure(agrees, || format!("{viewer:?} sees the prompt {prompt_seen:?}, which is {prompt:?}"))?;
    let prompt_sent = game.prompt_for(viewer);
    ensure(prompt_sent == prompt_seen, || {
        format!("{viewer:?} sees the prompt {prompt_seen:?} and receives {prompt_sent:?}")
    })
}

/// Checks that the short form of an event is read back as the same event.
fn check_short<G: GameKind>(event: &G::Event) -> Result<(), String> {
    let Some(name) = G::short_event(event) else { return Ok(()) };
    ensure(G::SHORT_EVENTS.contains(&name), || format!("{name} is not in the list"))?;
    let (text, read) =
        reread_short::<G>(name, event).map_err(|error| format!("{name}: {error}"))?;
    ensure(read == *event, || format!("{event:?} is {text} and read back as {read:?}"))
}

/// Writes the short form of an event, and reads it.
fn reread_short<G: GameKind>(
    name: &str,
    event: &G::Event,
) -> serde_json::Result<(String, G::Event)> {
    let mut fields = serde_json::value::Serializer.serialize_seq(None)?;
    G::write_short(event, &mut fields)?;
    let text = fields.end()?.to_string();
    let values: Vec<Value> = serde_json::from_str(&text)?;
    let mut fields = SeqDeserializer::<_, serde_json::Error>::new(values.into_iter());
    let read = G::read_short(name, &mut fields)?;
    fields.end()?;
    Ok((text, read))
}

fn check_hidden(hidden: &[String], viewer: Viewer, message: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string(message).map_err(|error| error.to_string())?;
    match hidden.iter().find(|secret| text.contains(secret.as_str())) {
        Some(secret) => Err(format!("{viewer:?} receives {secret}, which is hidden: {text}")),
        None => Ok(()),
    }
}

fn round_trip<T>(value: &T) -> Result<T, String>
where
    T: Serialize + serde::de::DeserializeOwned + PartialEq + fmt::Debug,
{
    let text = serde_json::to_string(value).map_err(|error| error.to_string())?;
    let read: T = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
    ensure(read == *value, || format!("{value:?} is read back as {read:?}"))?;
    Ok(read)
}
