//! The searching bot as the AI of a seat that is taken over at a table.

use bahay_engine::chance::Key;
use bahay_engine::game::Skill;
use bahay_engine::table::Input;

use crate::ai::Ai;
use crate::search::bot::BotPrompt;
use crate::search::grade::Grade;
use crate::table::AiQuestion;

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
