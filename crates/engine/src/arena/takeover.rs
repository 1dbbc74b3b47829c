//! The bot that plays on, asked once: for a player who is taken over at a table.

use crate::arena::bot::{Asked, Grade};
use crate::chance::Key;
use crate::game::{Game, Skill};
use crate::table::{Input, Question};

/// What `strong` plays, from what the seat sees and was shown and nothing else; what it leaves to
/// chance follows from the key. `None` for a seat that is not asked.
pub fn answer<G: Game>(question: &Question<'_, G>, key: Key) -> Option<Input<G::Action>> {
    let advised = G::advise_by(Skill::Quick, &question.view)?;
    let mut bot = Grade::Strong { games: question.games }.bot::<G>(key);
    for event in question.shown() {
        bot.hear(&event);
    }
    let asked = Asked { seat: question.seat, view: &question.view, clock: &advised };
    Some(question.answered(bot.choose(&asked)))
}
