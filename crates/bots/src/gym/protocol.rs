//! The environment protocol: requests and answers in lines of JSON. docs/ENV.md specifies the
//! requests.
//!
//! An invalid line is answered by an error with a code and has no effect. All games of one protocol
//! instance have the same kind, rule set and number of seats; each has its own seed.
//!
//! Bounds: [`GAMES_MAX`] games. The length of a line is bounded by the reader.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::{push_field, push_hex, push_json, push_list, push_number};
use super::request_error::RequestError;
use super::{Env, PlayError, RecordedMove};
use bahay_engine::game::{GameRules, Viewer};
use bahay_engine::seat::Seat;
use bahay_engine::spaces::{Field, Spaces, tensor_len};

use crate::ai::Ai;
/// The maximum number of games of one protocol instance.
pub const GAMES_MAX: usize = 4_096;

/// The encoding of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorForm {
    /// A list of numbers.
    List,
    /// A string of four hexadecimal digits per number, the lower byte first.
    Hex,
    /// No tensors, except where a request asks for one.
    None,
}

/// The settings of a protocol instance.
#[derive(Clone, Debug)]
pub struct EnvSettings<R> {
    pub rules: R,
    pub rule_set: String,
    pub seats: u8,
    pub games: usize,
    pub tensor: TensorForm,
}

/// A server of the line protocol.
pub trait EnvProtocol {
    /// Writes the greeting that precedes all requests, without a line end: the game that is played
    /// and the meaning of the numbers.
    fn write_hello(&self, out: &mut String);

    /// Appends the answer to a request, without a line end.
    fn answer_line(&mut self, line: &[u8], out: &mut String);
}

/// Creates a protocol instance for games of one kind; `None` if the number of games is 0 or above
/// [`GAMES_MAX`].
///
/// The caller has checked the rules, and the number of seats is one that they allow.
pub fn open_protocol<G: Ai + Spaces + 'static>(
    settings: EnvSettings<G::Rules>,
) -> Option<Box<dyn EnvProtocol>> {
    if !(1..=GAMES_MAX).contains(&settings.games) {
        return None;
    }
    let games = core::iter::repeat_with(|| None).take(settings.games).collect();
    let names = G::action_names();
    let numbers = names.iter().cloned().zip(0..).collect();
    let tensor = Vec::new();
    let legal = Vec::new();
    Some(Box::new(EnvServer::<G> { settings, games, names, numbers, tensor, legal }))
}

/// A request.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    Reset {
        #[serde(default)]
        game: usize,
        seed: u64,
    },
    Step {
        #[serde(default)]
        game: usize,
        action: Value,
    },
    Batch {
        games: Vec<Option<BatchItem>>,
    },
    State {
        #[serde(default)]
        game: usize,
    },
    Legal {
        #[serde(default)]
        game: usize,
    },
    Observe {
        #[serde(default)]
        game: usize,
        #[serde(default)]
        seat: Option<u8>,
    },
    Advise {
        #[serde(default)]
        game: usize,
    },
    Clone {
        #[serde(default)]
        game: usize,
    },
    Restore {
        #[serde(default)]
        game: usize,
        state: String,
    },
    Copy {
        from: usize,
        to: usize,
    },
}

/// The operation of a batch on one game.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum BatchItem {
    Number(u16),
    Reset(ResetItem),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResetItem {
    seed: u64,
}

/// A saved game.
#[derive(Serialize, Deserialize)]
struct SavedGame<'a, A> {
    game: &'a str,
    rule_set: &'a str,
    seats: u8,
    seed: u64,
    moves: Vec<RecordedMove<A>>,
}

/// The greeting.
#[derive(Serialize)]
struct Hello<'a> {
    game: &'static str,
    title: &'static str,
    rule_set: &'a str,
    seats: u8,
    games: usize,
    /// The unit of the returns.
    unit: &'static str,
    /// The largest possible loss of a seat, in counts.
    loss_max: u32,
    /// The name of each action, by number.
    actions: &'a [String],
    tensor: TensorLayout,
}

#[derive(Serialize)]
struct TensorLayout {
    len: usize,
    form: &'static str,
    fields: Vec<TensorField>,
}

#[derive(Serialize)]
struct TensorField {
    at: usize,
    #[serde(flatten)]
    field: Field,
}

/// A legal action as it is written.
#[derive(Serialize)]
struct LegalAction<'a, A> {
    number: Option<u16>,
    name: Option<&'a str>,
    action: &'a A,
}

struct EnvServer<G: Ai + Spaces> {
    settings: EnvSettings<G::Rules>,
    /// `None` before the first reset.
    games: Vec<Option<Env<G>>>,
    /// The name of each action, by number.
    names: Vec<String>,
    numbers: BTreeMap<String, u16>,
    /// Buffers that are reused between answers to avoid allocation.
    tensor: Vec<i16>,
    legal: Vec<u16>,
}

impl<G: Ai + Spaces> EnvProtocol for EnvServer<G> {
    fn write_hello(&self, out: &mut String) {
        let mut at = 0;
        let locate = |field: &Field| {
            at += field.len;
            TensorField { at: at - field.len, field: *field }
        };
        let fields = G::FIELDS.iter().map(locate).collect();
        let EnvSettings { rules, rule_set, seats, games, tensor } = &self.settings;
        push_json(
            out,
            &Hello {
                game: G::NAME,
                title: G::TITLE,
                rule_set,
                seats: *seats,
                games: *games,
                unit: G::UNIT.name,
                loss_max: rules.counts_max(*seats),
                actions: &self.names,
                tensor: TensorLayout { len: tensor_len::<G>(), form: tensor.name(), fields },
            },
        );
    }

    fn answer_line(&mut self, line: &[u8], out: &mut String) {
        let begun = out.len();
        let done = serde_json::from_slice(line)
            .map_err(|error| RequestError::Malformed(error.to_string()))
            .and_then(|request| self.handle_request(request, out));
        if let Err(refused) = done {
            out.truncate(begun);
            refused.write(out);
        }
    }
}

impl<G: Ai + Spaces> EnvServer<G> {
    fn handle_request(&mut self, request: Request, out: &mut String) -> Result<(), RequestError> {
        match request {
            Request::Reset { game, seed } => {
                self.check_game(game)?;
                self.reset(game, seed);
                self.write_state(game, out)
            }
            Request::Step { game, action } => {
                self.step(game, action)?;
                self.write_state(game, out)
            }
            Request::Batch { games } => {
                self.check_batch(&games)?;
                self.apply_batch(&games);
                self.write_batch(out);
                Ok(())
            }
            Request::State { game } => self.write_state(game, out),
            Request::Legal { game } => self.write_legal(game, out),
            Request::Observe { game, seat } => self.write_observation(game, seat, out),
            Request::Advise { game } => self.write_ai_action(game, out),
            Request::Clone { game } => self.write_saved_game(game, out),
            Request::Restore { game, state } => {
                self.check_game(game)?;
                let saved = self.load_game(&state).ok_or(RequestError::BadState)?;
                self.games[game] = Some(saved);
                self.write_state(game, out)
            }
            Request::Copy { from, to } => {
                self.check_game(to)?;
                let copied = self.game(from)?.clone();
                self.games[to] = Some(copied);
                self.write_state(to, out)
            }
        }
    }

    fn check_game(&self, game: usize) -> Result<(), RequestError> {
        if game < self.games.len() { Ok(()) } else { Err(RequestError::NoSuchGame) }
    }

    fn game(&self, game: usize) -> Result<&Env<G>, RequestError> {
        self.games
            .get(game)
            .ok_or(RequestError::NoSuchGame)?
            .as_ref()
            .ok_or(RequestError::NotStarted)
    }

    fn game_mut(&mut self, game: usize) -> Result<&mut Env<G>, RequestError> {
        self.games
            .get_mut(game)
            .ok_or(RequestError::NoSuchGame)?
            .as_mut()
            .ok_or(RequestError::NotStarted)
    }

    fn reset(&mut self, game: usize, seed: u64) {
        match &mut self.games[game] {
            Some(env) => env.reset(seed),
            none => *none = Some(Env::new(self.settings.rules.clone(), self.settings.seats, seed)),
        }
    }

    /// Plays an action given by its number, its name, or as the game's own action.
    fn step(&mut self, game: usize, action: Value) -> Result<(), RequestError> {
        let number = match &action {
            Value::Number(number) => {
                let number = number.as_u64().and_then(|number| u16::try_from(number).ok());
                Some(number.ok_or(RequestError::NoSuchAction)?)
            }
            Value::String(name) => Some(*self.numbers.get(name).ok_or(RequestError::NoSuchAction)?),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let count = self.numbers.len();
        let env = self.game_mut(game)?;
        let played = match number {
            Some(number) if usize::from(number) >= count => return Err(RequestError::NoSuchAction),
            Some(number) => env.play_number(number),
            None => {
                let action: G::Action = serde_json::from_value(action)
                    .map_err(|error| RequestError::Malformed(error.to_string()))?;
                env.play(&action)
            }
        };
        played.map_err(RequestError::Play)
    }

    /// Checks that every operation of a batch is possible, so that a batch is applied as a whole or
    /// not at all.
    fn check_batch(&self, items: &[Option<BatchItem>]) -> Result<(), RequestError> {
        if items.len() != self.games.len() {
            let games = self.games.len();
            return Err(RequestError::Malformed(format!("a batch has {games} entries")));
        }
        for (game, item) in items.iter().enumerate() {
            let check =
                |number: u16| self.game(game)?.check_number(number).map_err(RequestError::Play);
            let checked = match item {
                Some(BatchItem::Number(number)) => check(*number),
                Some(BatchItem::Reset(_)) => Ok(()),
                None => self.game(game).map(|_| ()),
            };
            checked.map_err(|refused| RequestError::InBatch(game, Box::new(refused)))?;
        }
        Ok(())
    }

    fn apply_batch(&mut self, items: &[Option<BatchItem>]) {
        for (game, item) in items.iter().enumerate() {
            match item {
                Some(BatchItem::Number(number)) => {
                    let env = self.game_mut(game).expect("a batch was checked");
                    env.play_number(*number).expect("a batch was checked");
                }
                Some(BatchItem::Reset(ResetItem { seed })) => self.reset(game, *seed),
                None => {}
            }
        }
    }

    /// Writes the seat to act with its legal actions and its observation, or the result of the
    /// game.
    fn write_state(&mut self, game: usize, out: &mut String) -> Result<(), RequestError> {
        self.game(game)?;
        let Self { games, settings, tensor, legal, .. } = self;
        let env = games[game].as_ref().ok_or(RequestError::NotStarted)?;
        out.push_str("{\"seat\":");
        write_seat(env, out);
        out.push_str(",\"legal\":");
        write_numbers(env, legal, out);
        if let Some(seat) = env.seat_to_act().filter(|_| settings.tensor != TensorForm::None) {
            tensor.clear();
            env.write_tensor(seat, tensor);
            out.push_str(",\"tensor\":");
            write_tensor(settings.tensor, tensor, out);
        }
        if let Some(returns) = env.returns() {
            push_field(out, ",\"returns\":", &returns);
            let winner = env.game().outcome().and_then(|outcome| outcome.winner);
            push_field(out, ",\"winner\":", &winner);
            push_field(out, ",\"ending\":", &env.game().ending());
        }
        out.push('}');
        Ok(())
    }

    /// Writes the state of all games by columns. The tensor of a game that is over is zeros.
    fn write_batch(&mut self, out: &mut String) {
        let Self { games, settings, tensor, legal, .. } = self;
        let begun = || games.iter().flatten();
        out.push_str("{\"seats\":");
        push_list(out, begun(), |out, env| write_seat(env, out));
        out.push_str(",\"legal\":");
        push_list(out, begun(), |out, env| write_numbers(env, legal, out));
        out.push_str(",\"returns\":");
        push_list(out, begun(), |out, env| match env.seat_to_act() {
            Some(_) => out.push_str("null"),
            None => push_json(out, &env.returns()),
        });
        if settings.tensor != TensorForm::None {
            tensor.clear();
            let len = tensor_len::<G>();
            for (place, env) in (1..).zip(begun()) {
                if let Some(seat) = env.seat_to_act() {
                    env.write_tensor(seat, tensor);
                }
                tensor.resize(place * len, 0);
            }
            out.push_str(",\"tensor\":");
            write_tensor(settings.tensor, tensor, out);
        }
        out.push('}');
    }

    fn write_legal(&self, game: usize, out: &mut String) -> Result<(), RequestError> {
        let legal_actions = self
            .game(game)?
            .legal_actions()
            .map(|(action, number)| self.legal_action(action, number));
        push_field(out, "{\"legal\":", &legal_actions.collect::<Vec<_>>());
        out.push('}');
        Ok(())
    }

    /// Writes the view of a seat, as a struct and as a tensor; of the seat to act if none is named.
    fn write_observation(
        &mut self,
        game: usize,
        seat: Option<u8>,
        out: &mut String,
    ) -> Result<(), RequestError> {
        let env = self.game(game)?;
        let seat = match seat {
            Some(number) => Seat::all(env.seats()).find(|seat| seat.number() == number),
            None => env.seat_to_act(),
        };
        let seat = seat.ok_or(RequestError::NoSuchSeat)?;
        push_field(out, "{\"seat\":", &seat);
        push_field(out, ",\"view\":", &env.game().view(Viewer::Seat(seat)));
        let mut tensor = Vec::new();
        env.write_tensor(seat, &mut tensor);
        out.push_str(",\"tensor\":");
        write_tensor(self.settings.tensor, &tensor, out);
        out.push('}');
        Ok(())
    }

    fn write_ai_action(&self, game: usize, out: &mut String) -> Result<(), RequestError> {
        let env = self.game(game)?;
        let over = RequestError::Play(PlayError::Over);
        let (view, action) = env.view().zip(env.ai_action()).ok_or(over)?;
        let number = G::action_number(view, &action);
        push_json(out, &self.legal_action(&action, number));
        Ok(())
    }

    fn legal_action<'a>(
        &'a self,
        action: &'a G::Action,
        number: Option<u16>,
    ) -> LegalAction<'a, G::Action> {
        let name = number.and_then(|number| self.names.get(usize::from(number)));
        LegalAction { number, name: name.map(String::as_str), action }
    }

    fn write_saved_game(&self, game: usize, out: &mut String) -> Result<(), RequestError> {
        let EnvSettings { rule_set, seats, .. } = &self.settings;
        let (seed, moves) = self.game(game)?.history();
        let moves = moves.to_vec();
        let saved = SavedGame { game: G::NAME, rule_set, seats: *seats, seed, moves };
        let text = serde_json::to_string(&saved).expect("the engine's types serialize to JSON");
        push_field(out, "{\"state\":", &text);
        out.push('}');
        Ok(())
    }

    /// Loads a saved game and replays it; `None` if it is of another kind, rule set or number of
    /// seats.
    fn load_game(&self, text: &str) -> Option<Env<G>> {
        let SavedGame { game, rule_set, seats, seed, moves }: SavedGame<'_, G::Action> =
            serde_json::from_str(text).ok()?;
        let settings = &self.settings;
        let is_compatible =
            game == G::NAME && rule_set == settings.rule_set && seats == settings.seats;
        if !is_compatible {
            return None;
        }
        Env::replay(settings.rules.clone(), seats, seed, &moves)
    }
}

impl TensorForm {
    pub const ALL: [Self; 3] = [Self::List, Self::Hex, Self::None];

    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Hex => "hex",
            Self::None => "none",
        }
    }
}

fn write_seat<G: Ai + Spaces>(env: &Env<G>, out: &mut String) {
    match env.seat_to_act() {
        Some(seat) => push_number(out, seat.number().into()),
        None => out.push_str("null"),
    }
}

/// Writes the distinct numbers of the legal actions in ascending order.
fn write_numbers<G: Ai + Spaces>(env: &Env<G>, numbers: &mut Vec<u16>, out: &mut String) {
    numbers.clear();
    numbers.extend(env.legal_actions().filter_map(|(_, number)| number));
    numbers.sort_unstable();
    numbers.dedup();
    push_list(out, numbers.iter(), |out, number| push_number(out, u32::from(*number)));
}

/// Writes a tensor. [`TensorForm::None`] reaches this function only for a single requested tensor,
/// which is written as a list.
fn write_tensor(form: TensorForm, tensor: &[i16], out: &mut String) {
    match form {
        TensorForm::List | TensorForm::None => {
            push_list(out, tensor, |out, value| push_number(out, u32::from(value.unsigned_abs())));
        }
        TensorForm::Hex => {
            out.push('"');
            push_hex(out, tensor);
            out.push('"');
        }
    }
}
