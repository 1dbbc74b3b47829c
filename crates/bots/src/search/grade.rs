//! The bots by name, and the searching one as the AI of a seat that is taken over at a table.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use bahay_engine::chance::Key;
use bahay_engine::game::{Game, Skill};
use bahay_engine::table::Input;

use crate::ai::Ai;
use crate::search::bot::{Bot, BotPrompt, LazyDice};
use crate::search::search_bot::{self, SearchBot};
use crate::table::AiQuestion;

/// A kind of bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// Plays a uniformly random legal action.
    Random,
    /// Plays the clock's default action (rule 8.2).
    Clock,
    /// Plays the house's greedy AI, from the view alone.
    Greedy,
    /// Plays the strongest AI that does not search.
    Quick,
    /// Searches with the given number of sampled games per decision.
    Strong { games: u32 },
}

/// The error returned if no bot has the given name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseGradeError;

impl Grade {
    /// All bots, the weakest first.
    pub const ALL: [Self; 5] = [
        Self::Random,
        Self::Clock,
        Self::Greedy,
        Self::Quick,
        Self::Strong { games: search_bot::GAMES },
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Clock => "clock",
            Self::Greedy => Skill::Greedy.name(),
            Self::Quick => Skill::Quick.name(),
            Self::Strong { .. } => "strong",
        }
    }

    /// Builds a bot for one seat of one game. The bot's random choices follow from `key`.
    pub fn build_bot<G: Ai>(self, key: Key) -> Box<dyn Bot<G>> {
        let mut dice = LazyDice::new(key);
        match self {
            Self::Random => Box::new(move |prompt: &BotPrompt<'_, G>| {
                let mut legal = Vec::new();
                G::legal_in_view(prompt.view, &mut legal);
                let chosen = dice.get_or_init().below(legal.len());
                legal.swap_remove(chosen)
            }),
            Self::Clock => Box::new(|prompt: &BotPrompt<'_, G>| prompt.clock.clone()),
            Self::Greedy => Box::new(|prompt: &BotPrompt<'_, G>| {
                G::choose_action(prompt.view).expect("the AI can act for the seat to act")
            }),
            Self::Quick => Box::new(QuickBot::<G> { events: Vec::new() }),
            Self::Strong { games } => Box::new(SearchBot { dice, games, events: Vec::new() }),
        }
    }
}

impl FromStr for Grade {
    type Err = ParseGradeError;

    fn from_str(name: &str) -> Result<Self, ParseGradeError> {
        if let Some(games) = name.strip_prefix("strong:") {
            return games.parse().map(|games| Self::Strong { games }).map_err(|_| ParseGradeError);
        }
        Self::ALL.into_iter().find(|grade| grade.name() == name).ok_or(ParseGradeError)
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Lists the names of all bots.
impl fmt::Display for ParseGradeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bots are ")?;
        for (place, grade) in Grade::ALL.into_iter().enumerate() {
            write!(f, "{}{grade}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for ParseGradeError {}

/// Returns the action of the `strong` skill, from the seat's view and visible events alone. Its
/// random choices follow from `key`.
///
/// Returns `None` if the seat is not to act.
pub fn answer_question<G: Ai>(question: &AiQuestion<'_, G>, key: Key) -> Option<Input<G::Action>> {
    let advised = G::choose_action_with_skill(Skill::Quick, &question.view)?;
    let mut bot = Grade::Strong { games: question.games }.build_bot::<G>(key);
    for event in question.seen_events() {
        bot.observe_event(&event);
    }
    let prompt = BotPrompt { seat: question.seat, view: &question.view, clock: &advised };
    Some(question.to_input(bot.choose_action(&prompt)))
}

/// The strongest AI that does not search; it remembers the events it has seen.
struct QuickBot<G: Game> {
    events: Vec<G::Event>,
}

impl<G: Ai> Bot<G> for QuickBot<G> {
    fn observe_event(&mut self, event: &G::Event) {
        self.events.push(event.clone());
    }

    fn choose_action(&mut self, prompt: &BotPrompt<'_, G>) -> G::Action {
        let advised =
            G::choose_action_with_memory(Skill::Quick, prompt.view, &mut self.events.iter());
        advised.expect("the AI can act for the seat to act")
    }
}
