//! The contract of [`Game`], checked along random games. Every game of the house passes it.
//!
//! After each step: what is legal is taken and nothing else is; a view followed from redacted
//! events is the view; nothing that a viewer may not know is in the text of what it gets; a game
//! written down and read back goes on the same. At the end: nobody owes more than is held, and
//! the game replayed from its inputs is the game.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};

use crate::chance::ChanceAnswer;
use crate::game::{Game, GameKind, Prompt, SHORT_EVENTS_MAX, Turn, Viewer};
use crate::seat::Seat;
use crate::testing::TestRng;

/// More steps than any game of the house takes.
const STEPS_MAX: usize = 10_000;

/// Random actions tried against the rules at each question.
const WILD_TRIES: usize = 4;

/// What the kit must know of the game it plays.
pub trait Probe<G: GameKind> {
    /// Any action at all, mostly illegal, often nearly legal.
    fn wild_action(&self, game: &G, dice: &mut TestRng) -> G::Action;

    /// The action of the list that stands for this one, where numbers are free and some stand for
    /// all: by the probe's own reading of the rules, so that it says whether the numbers may be
    /// named. As it is where every action is listed.
    fn listed_equivalent(&self, _game: &G, _seat: Seat, action: G::Action) -> G::Action {
        action
    }

    /// Texts that must not appear in what the viewer gets while the game stands so.
    fn hidden_texts(&self, game: &G, viewer: Viewer) -> Vec<String>;

    /// Whether two of those texts may stand in each other's place, so that the game is still one that
    /// can be dealt.
    fn can_swap(&self, _one: &str, _other: &str) -> bool {
        true
    }

    /// What of the game's own invariants is broken.
    fn broken_invariant(&self, game: &G) -> Option<String>;
}

/// A game that kept its contract.
#[derive(Clone, Debug)]
pub struct CheckedGame<G> {
    pub game: G,
    pub steps: usize,
}

/// Where a game broke its contract. The seed plays it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConformanceError {
    pub seed: u64,
    pub step: usize,
    pub what: String,
}

impl fmt::Display for ConformanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} step {}: {}", self.seed, self.step, self.what)
    }
}

impl core::error::Error for ConformanceError {}

/// Plays one random game and checks the contract at every step.
///
/// # Errors
/// The first breach, with the seed that shows it again.
pub fn check_game<G: GameKind>(
    probe: &impl Probe<G>,
    rules: &G::Rules,
    seed: u64,
) -> Result<CheckedGame<G>, ConformanceError> {
    let mut run = ConformanceRun::new(probe, rules, seed);
    run.play_out()
        .map(|()| CheckedGame { game: run.game.clone(), steps: run.inputs.len() })
        .map_err(|what| ConformanceError { seed, step: run.inputs.len(), what })
}

/// What was put into a game.
enum GameInput<A> {
    Chance(ChanceAnswer),
    Expired,
    Action(Seat, A),
}

/// One game under check.
struct ConformanceRun<'a, G: GameKind, P> {
    probe: &'a P,
    rules: &'a G::Rules,
    seats: u8,
    starter: Option<Seat>,
    dice: TestRng,
    game: G,
    viewers: Vec<Viewer>,
    /// By viewer, followed from redacted events only.
    views: Vec<G::View>,
    inputs: Vec<GameInput<G::Action>>,
    /// Out of 4, how often the AI's advice is played: some games wild, some sensible.
    sense: u32,
}

impl<'a, G: GameKind, P: Probe<G>> ConformanceRun<'a, G, P> {
    fn new(probe: &'a P, rules: &'a G::Rules, seed: u64) -> Self {
        let mut dice = TestRng::new(seed);
        let range = G::seats(rules);
        let counts: Vec<u8> = (range.least..=range.most).collect();
        // One count alone takes no luck, so that the seeds of a game with fixed seats stay.
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
        Self { probe, rules, seats: count, starter, dice, game, viewers, views, inputs, sense }
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
            if let Some(what) = self.probe.broken_invariant(&self.game) {
                return Err(what);
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

    /// Checks what may be done now, and does some of it.
    fn play(
        &mut self,
        prompt: &Prompt,
        events: &mut Vec<G::Event>,
    ) -> Result<(GameInput<G::Action>, G), String> {
        let seats: Vec<Seat> = prompt.seats.iter().collect();
        let seat = *self.dice.choose(&seats).ok_or("nobody is asked")?;
        for other in Seat::all(crate::seat::SEATS_MAX) {
            self.check_seat(other, prompt)?;
        }
        for _ in 0..WILD_TRIES {
            self.try_wild_action()?;
        }
        let legal = self.legal_actions_of(seat);
        let action = if self.dice.below(4) < self.sense {
            G::choose_action(&self.game.view(Viewer::Seat(seat)))
        } else {
            self.dice.choose(&legal).cloned()
        };
        let action = action.ok_or("a seat that is asked has nothing to play")?;
        let next = self
            .game
            .act(seat, &action, events)
            .map_err(|illegal| format!("{seat:?} may play {action:?} and is refused: {illegal}"))?;
        Ok((GameInput::Action(seat, action), next))
    }

    fn legal_actions_of(&self, seat: Seat) -> Vec<G::Action> {
        let mut actions = Vec::new();
        self.game.legal_actions(seat, &mut actions);
        actions
    }

    /// What a seat is told that it may do is what it may do.
    fn check_seat(&self, seat: Seat, prompt: &Prompt) -> Result<(), String> {
        let legal = self.legal_actions_of(seat);
        let is_asked = prompt.seats.contains(seat);
        ensure(legal.is_empty() != is_asked, || {
            format!("{seat:?} is asked: {is_asked}; it may play {legal:?}")
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
            [("the clock's", self.game.default_action(seat)), ("the AI's", G::choose_action(&view))]
        {
            let listed = |action: &G::Action| self.probe.listed_equivalent(&self.game, seat, action.clone());
            let fits =
                played.as_ref().map(listed).map_or(!is_asked, |action| legal.contains(&action));
            ensure(fits, || format!("{whose} action for {seat:?} is {played:?} of {legal:?}"))?;
        }
        Ok(())
    }

    /// What is not legal is refused, and leaves no event.
    fn try_wild_action(&mut self) -> Result<(), String> {
        let action = self.probe.wild_action(&self.game, &mut self.dice);
        let seats: Vec<Seat> = Seat::all(self.seats).collect();
        let seat = *self.dice.choose(&seats).ok_or("the game has no seats")?;
        let before = self.game.clone();
        let mut events = Vec::new();
        let taken = self.game.act(seat, &action, &mut events).is_ok();
        ensure(before == self.game, || format!("{action:?} changes the game in place"))?;
        ensure(taken || events.is_empty(), || format!("{action:?} is refused, with events"))?;
        let listed = self.probe.listed_equivalent(&self.game, seat, action.clone());
        let is_legal = self.legal_actions_of(seat).contains(&listed);
        ensure(taken == is_legal, || {
            format!("{seat:?} plays {action:?}: legal {is_legal}, taken {taken}")
        })
    }

    /// A new question has a new number, and a number never goes back.
    fn check_numbers(&self, next: &G) -> Result<(), String> {
        let (Some(old), Some(new)) = (prompt_of(self.game.turn()), prompt_of(next.turn())) else {
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

    /// Every viewer follows, and learns nothing that it may not know.
    fn check_viewers(&mut self, events: &[G::Event]) -> Result<(), String> {
        for (viewer, view) in self.viewers.iter().zip(&mut self.views) {
            let hidden = self.probe.hidden_texts(&self.game, *viewer);
            for event in events {
                let redacted = G::redact(event, *viewer);
                let Some(seen) = redacted else { continue };
                ensure(G::redact(&seen, *viewer).as_ref() == Some(&seen), || {
                    format!("{viewer:?} would see {seen:?} otherwise if redacted twice")
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

    /// How the game ended and what it counts has names that the game knows.
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

    /// No seat owes more than is held of its coins.
    fn check_debts(&self) -> Result<(), String> {
        let outcome = self.game.outcome().ok_or("the game is over without an outcome")?;
        let most = G::counts_max(self.rules, self.seats);
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

fn prompt_of(turn: Turn) -> Option<Prompt> {
    match turn {
        Turn::Players(prompt) | Turn::Wait(prompt) => Some(prompt),
        Turn::Chance(_) | Turn::Over => None,
    }
}

/// A viewer knows whether it is asked itself, and the record knows who is.
fn check_prompt<G: Game>(game: &G, viewer: Viewer, view: &G::View) -> Result<(), String> {
    let seen = G::prompt_in_view(view);
    let asked = prompt_of(game.turn());
    let agrees = match (viewer, seen, asked) {
        (Viewer::Everything, seen, asked) => seen == asked,
        (Viewer::Seat(seat), Some(seen), Some(asked)) => {
            seen.seats.contains(seat) == asked.seats.contains(seat)
                && (seen.number, seen.countdown) == (asked.number, asked.countdown)
        }
        (Viewer::Public, Some(seen), Some(asked)) => seen.number == asked.number,
        (Viewer::Seat(_) | Viewer::Public, seen, asked) => seen.is_none() && asked.is_none(),
    };
    ensure(agrees, || format!("{viewer:?} sees the question {seen:?}, which is {asked:?}"))?;
    let told = game.prompt_for(viewer);
    ensure(told == seen, || format!("{viewer:?} sees the question {seen:?} and is told {told:?}"))
}

/// An event in its short form is read back as what it was.
fn check_short<G: GameKind>(event: &G::Event) -> Result<(), String> {
    let Some(name) = G::short_event(event) else { return Ok(()) };
    ensure(G::SHORT_EVENTS.contains(&name), || format!("{name} is not in the list"))?;
    let text = serde_json::to_string(&ShortFields::<G>(event)).map_err(|error| error.to_string())?;
    let mut reader = serde_json::Deserializer::from_str(&text);
    let read = reader.deserialize_seq(ShortReader::<G>(name, PhantomData));
    let read = read.map_err(|error| format!("{error}: {text}"))?;
    ensure(read == *event, || format!("{event:?} is {text} and read back as {read:?}"))
}

struct ShortFields<'a, G: GameKind>(&'a G::Event);

impl<G: GameKind> Serialize for ShortFields<'_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_seq(None)?;
        G::write_short(self.0, &mut fields)?;
        fields.end()
    }
}

struct ShortReader<'a, G>(&'a str, PhantomData<G>);

impl<'de, G: GameKind> Visitor<'de> for ShortReader<'_, G> {
    type Value = G::Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of an event")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<G::Event, A::Error> {
        G::read_short(self.0, &mut fields)
    }
}

fn check_hidden(hidden: &[String], viewer: Viewer, told: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string(told).map_err(|error| error.to_string())?;
    match hidden.iter().find(|secret| text.contains(secret.as_str())) {
        Some(secret) => Err(format!("{viewer:?} is told {secret}, which is hidden: {text}")),
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

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
