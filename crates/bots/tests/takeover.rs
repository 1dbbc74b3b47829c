//! The AI that takes over seats at a table: its answers are accepted, follow from its key and the
//! seat's knowledge, and no other seat is asked.

use bahay_bots::simulation::{Habits, Simulation};
use bahay_bots::table::ai_question;
use bahay_bots::{Ai, search};
use bahay_engine::chance::Key;
use bahay_engine::coins::Coins;
use bahay_engine::game::GameKind;
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Effect, Input, Phase};

use crate::support::terms;

fn tables<G: Ai + GameKind>(rule_set: &str) -> Simulation<G> {
    let welcome = Coins::from_whole(1_000_000).expect("a million fits");
    Simulation::new(5, terms::<G>(rule_set), Habits::ROUGH, welcome)
}

/// Plays until an AI has been asked for a number of moves. Returns how many of them were for a
/// searching AI.
fn thought_about<G: Ai + GameKind>(rule_set: &str, moves: usize) -> usize {
    let mut tables = tables::<G>(rule_set);
    let (mut owed, mut thought) = (0, 0);
    while owed < moves {
        tables.step();
        let table = tables.table();
        if !matches!(table.phase(), Phase::Playing(_)) {
            continue;
        }
        let due = table.deadline().expect("a game that is played has a clock");
        for effect in table.effects(due) {
            let Effect::ChooseAction { seat, player, game, prompt } = effect else { continue };
            owed += 1;
            let bot = table.occupant(seat).expect("somebody is advised").bot;
            let Some(question) = ai_question(table, seat) else { continue };
            assert!(!bot, "bots play as the room has it");
            let key = |byte| Key(Hex([byte; 32]));
            let answer =
                search::answer_question(&question, key(1)).expect("who is asked is answered");
            assert_eq!(
                search::answer_question(&question, key(1)),
                Some(answer.clone()),
                "by its key"
            );
            let Input::AiAction { player: one, game: in_game, prompt: number, .. } = &answer else {
                panic!("{answer:?}");
            };
            assert_eq!((*one, *in_game, *number), (player, game, prompt));
            thought += 1;
        }
    }
    thought
}

#[test]
fn at_tongits_who_is_taken_over_is_thought_for() {
    assert!(thought_about::<Tongits>("kingdom", 12) > 0);
}

/// The networks are not trained on these rules, and a search was not measured.
#[test]
fn a_kind_without_a_searching_ai_answers_at_once() {
    assert_eq!(thought_about::<Tongits>("joker", 12), 0);
    assert_eq!(thought_about::<TongoOptions>("lively", 12), 0);
}

#[test]
fn at_tongo_assets_who_is_taken_over_is_thought_for() {
    assert!(thought_about::<TongoAssets>("standard", 6) > 0);
}

#[test]
fn a_seat_without_a_prompt_gets_no_action() {
    let tables = tables::<Tongits>("kingdom");
    assert!(Seat::all(3).all(|seat| ai_question(tables.table(), seat).is_none()));
}
