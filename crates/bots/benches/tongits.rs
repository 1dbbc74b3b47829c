//! The costs of Tong-its and its table: random play of whole games, the arrangement of a hand, and
//! a table's work for a move: deciding, applying, viewing, redacting, reading a journal, verifying
//! a record, and the serialised sizes. `./dev bench` prints this with the other benchmarks, `cargo
//! bench -p bahay-engine` without instructions.

mod table_costs;

use std::cell::Cell;
use std::rc::Rc;

use bahay_bots::Ai;
use bahay_bots::arena::play_game;
use bahay_bots::search::{Bot, BotPrompt, Grade};
use bahay_engine::cards::{Card, CardSet};
use bahay_engine::chance::{self, Key};
use bahay_engine::game::{Game, Skill, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Arrangement, Rules, SEATS, Tongits, View, deadwood};
use bahay_engine::hex::Hex;
use bahay_engine::table::{Hits, Phase, Table};
use bahay_engine::testing::TestRng;

use table_costs::{PlayedTable, Rows, random_play};

const GAMES: u64 = 1_000;
const HANDS: usize = 4_096;
/// The number of games in the journal.
const JOURNAL_GAMES: usize = 5;

fn main() {
    let rows = Rows::new("Tong-its");
    let play = || random_play::<Tongits>(&Rules::kingdom(), SEATS, GAMES);
    rows.round("random play, a step", || play().0);
    rows.round("random play, a game", || play().2);
    let hands = random_hands();
    let arrange = |hand: &CardSet| Arrangement::from_hand(*hand, Rules::kingdom().secret_run_min);
    rows.each("arrangement, random hand of 13", &hands, arrange);
    rows.each("deadwood, random hand of 13", &hands, |hand| deadwood(*hand));
    for (name, text) in [
        ("three fours and runs through them", "5C 5D 5H 5S 6C 6D 6H 6S 7C 7D 7H 7S 8C"),
        ("a run of thirteen", "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC"),
        ("four threes", "AC AD AH 2C 2D 2H 3C 3D 3H 4C 4D 4H 9S"),
    ] {
        let hand: CardSet = text.split(' ').map(|card| card.parse().expect("a card")).collect();
        rows.each(&format!("arrangement, {name}"), &[hand; 256], arrange);
    }
    let played =
        PlayedTable::<Tongits>::play(Rules::kingdom(), Some(Hits::default()), JOURNAL_GAMES);
    played.print(&rows);
    let prompts: Vec<View> = played.moves.iter().filter_map(|(table, _)| prompt(table)).collect();
    for (name, skill) in [("greedy", Skill::Greedy), ("quick", Skill::Quick)] {
        rows.each(&format!("a decision of {name}"), &prompts, |view| {
            Tongits::choose_action_with_skill(skill, view)
        });
    }
    rows.round("a decision of strong, in a game with two quick ones", decisions_of_strong);
}

/// Plays a game, the same each time, and counts the decisions of `strong`; those of the quick
/// players cost a hundredth of it at most.
fn decisions_of_strong() -> u64 {
    let decisions = Rc::new(Cell::new(0));
    let strong: Grade = "strong".parse().expect("a grade");
    let key = |place: u8| Key(Hex([place; 32]));
    let mut bots: Vec<Box<dyn Bot<Tongits>>> = vec![
        Box::new(CountingBot { bot: strong.build_bot(key(1)), decisions: Rc::clone(&decisions) }),
        Grade::Quick.build_bot(key(2)),
        Grade::Quick.build_bot(key(3)),
    ];
    play_game(&Rules::kingdom(), &mut bots, &mut chance::ChanceRng::new(key(4)));
    decisions.get()
}

/// A bot whose decisions are counted.
struct CountingBot {
    bot: Box<dyn Bot<Tongits>>,
    decisions: Rc<Cell<u64>>,
}

impl Bot<Tongits> for CountingBot {
    fn observe_event(&mut self, event: &<Tongits as Game>::Event) {
        self.bot.observe_event(event);
    }

    fn choose_action(&mut self, prompt: &BotPrompt<'_, Tongits>) -> Action {
        self.decisions.set(self.decisions.get() + 1);
        self.bot.choose_action(prompt)
    }
}

/// Returns the view of the first prompted seat.
fn prompt(table: &Table<Tongits>) -> Option<View> {
    let Phase::Playing(playing) = table.phase() else { return None };
    let Turn::Players(prompt) = playing.state.turn() else { return None };
    Some(playing.state.view(Viewer::Seat(prompt.seats.iter().next()?)))
}

fn random_hands() -> Vec<CardSet> {
    let mut dice = TestRng::new(1);
    let hand = |dice: &mut TestRng| {
        let mut hand = CardSet::EMPTY;
        while hand.len() < 13 {
            let card = u8::try_from(dice.below(52)).ok().and_then(Card::from_index);
            hand = card.map_or(hand, |card| hand.with(card));
        }
        hand
    };
    (0..HANDS).map(|_| hand(&mut dice)).collect()
}
