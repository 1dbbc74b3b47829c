//! The AI at a table: the answer to a due prompt, the prompt for a searching AI, and hints at
//! practice tables. It knows only what its seat sees and has seen.

use alloc::vec::Vec;
use core::cell::OnceCell;

use bahay_engine::game::{Game, Skill, Viewer};
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, Input, Occupant, Phase, PlayerId, Playing, Rejection, Table};

use crate::ai::Ai;

/// A prompt put to a searching AI, with everything that its seat knows.
#[derive(Debug)]
pub struct AiQuestion<'a, G: Game> {
    table: &'a Table<G>,
    pub seat: Seat,
    pub player: PlayerId,
    pub game: GameId,
    pub prompt: u32,
    pub view: G::View,
    /// The number of games that the search samples.
    pub games: u32,
}

/// The action that the AI would choose in a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint<A> {
    pub game: GameId,
    /// The number of the prompt that the action answers.
    pub prompt: u32,
    pub action: A,
    /// The skill of the AI that chose the action.
    pub by: Skill,
}

impl<G: Game> AiQuestion<'_, G> {
    /// Returns every event that the seat has seen.
    pub fn seen_events(&self) -> Vec<G::Event> {
        self.table.events_seen_by(self.seat)
    }

    /// Returns the input that carries the chosen action.
    pub fn to_input(&self, action: G::Action) -> Input<G::Action> {
        let Self { player, game, prompt, .. } = *self;
        Input::AiAction { player, game, prompt, action }
    }
}

/// Returns the AI's answer to an `Effect::ChooseAction`. The AI acts for a player with
/// [`Skill::Quick`], and for a house bot with the skill of the room. For a player who is away it
/// makes no commitment and else plays as the clock does (rule 8.3).
pub fn ai_action<G: Ai>(table: &Table<G>, seat: Seat) -> Option<Input<G::Action>> {
    let (playing, Occupant { player, bot, .. }) = find_prompt(table, seat)?;
    let skill = if *bot { table.terms().bots } else { Skill::Quick };
    let action = if table.away_seats().contains(seat) {
        let view = playing.state.view(Viewer::Seat(seat));
        let action = with_memory(table, seat, |shown| G::choose_uncommitted_action(&view, shown));
        action.or_else(|| playing.state.default_action(seat))?
    } else {
        choose_action(table, playing, seat, skill)?
    };
    let game = playing.game;
    let prompt = playing.prompt.number;
    Some(Input::AiAction { player: *player, game, prompt, action })
}

/// Returns the prompt for an AI that searches in sampled games, for a player whose seat is taken
/// over. The search plays better than [`ai_action`] and takes some hundreds of times as long.
/// Returns `None` if the game has no such AI, for house bots, which play with the skill of the
/// room, and for players who are away, for whom the AI answers in the last second and at once.
pub fn ai_question<G: Ai>(table: &Table<G>, seat: Seat) -> Option<AiQuestion<'_, G>> {
    let (playing, Occupant { player, bot, .. }) = find_prompt(table, seat)?;
    if *bot || table.away_seats().contains(seat) || !playing.prompt.seats.contains(seat) {
        return None;
    }
    let view = playing.state.view(Viewer::Seat(seat));
    let games = G::imagined_game_count(&view)?;
    let player = *player;
    let game = playing.game;
    let prompt = playing.prompt.number;
    Some(AiQuestion { table, seat, player, game, prompt, view, games })
}

/// Returns the action that the AI would choose now in the seat of this player.
///
/// # Errors
/// At a table at which coins can be lost, and if the player is not prompted.
pub fn hint<G: Ai>(
    table: &Table<G>,
    player: PlayerId,
) -> Result<Hint<G::Action>, Rejection<G::Refusal>> {
    let seat = table.seat_of(player).ok_or(Rejection::NotSeated)?;
    if !table.terms().practice {
        return Err(Rejection::NotPractice);
    }
    let Phase::Playing(playing) = table.phase() else { return Err(Rejection::NoSuchPhase) };
    if !playing.prompt.seats.contains(seat) {
        return Err(Rejection::NotAsked);
    }
    // The skill is the same as for a seat that is taken over.
    let by = Skill::Quick;
    let action = choose_action(table, playing, seat, by).ok_or(Rejection::NotAsked)?;
    Ok(Hint { game: playing.game, prompt: playing.prompt.number, action, by })
}

fn find_prompt<G: Game>(table: &Table<G>, seat: Seat) -> Option<(&Playing<G>, &Occupant)> {
    let Phase::Playing(playing) = table.phase() else { return None };
    Some((playing, table.occupant(seat)?))
}

fn choose_action<G: Ai>(
    table: &Table<G>,
    playing: &Playing<G>,
    seat: Seat,
    skill: Skill,
) -> Option<G::Action> {
    let view = playing.state.view(Viewer::Seat(seat));
    with_memory(table, seat, |shown| G::choose_action_with_memory(skill, &view, shown))
}

/// Calls `choose` with the events that the seat has seen. They are replayed on first use, so an AI
/// without memory costs nothing.
fn with_memory<G: Game, T>(
    table: &Table<G>,
    seat: Seat,
    choose: impl FnOnce(&mut dyn Iterator<Item = &G::Event>) -> T,
) -> T {
    let remembered = OnceCell::new();
    let mut next = 0;
    let mut shown = core::iter::from_fn(|| {
        next += 1;
        remembered.get_or_init(|| table.events_seen_by(seat)).get(next - 1)
    });
    choose(&mut shown)
}
