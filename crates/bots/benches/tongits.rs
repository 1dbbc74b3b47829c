//! The costs of Tong-its and its table: random play of whole games, the arrangement of a hand, and
//! a table's work for a move: deciding, applying, viewing, redacting, reading a journal, verifying
//! a record, and the serialised sizes. `./dev bench` prints this with the other benchmarks, `cargo
//! bench -p bahay-engine` without instructions.

#[path = "../../engine/benches/rows/mod.rs"]
mod rows;

use std::cell::Cell;
use std::rc::Rc;

use bahay_bots::Ai;
use bahay_bots::arena::play_game;
use bahay_bots::search::{Bot, BotPrompt, Grade};
use bahay_bots::simulation::{Habits, Simulation, SimulationStep};
use bahay_engine::cards::{Card, CardSet};
use bahay_engine::chance::{self, Key};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, Skill, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Arrangement, Rules, SEATS, Tongits, View, deadwood};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Event, GameEntropy, GameId, Hits, Input, Line, Record, Table};
use bahay_engine::testing::{self, TestRng, play_at_random};

use rows::Rows;

const GAMES: u64 = 1_000;
const HANDS: usize = 4_096;
/// The number of games in the journal.
const JOURNAL_GAMES: usize = 5;

fn main() {
    let rows = Rows::new("Tong-its");
    rows.round("random play, a step", || random_play().0);
    rows.round("random play, a game", || random_play().1);
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
    Journal::play().print(&rows);
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

/// A table at which some games were played, step by step.
struct Journal {
    /// The table before each line.
    steps: Vec<(Table<Tongits>, SimulationStep<Tongits>)>,
    last: Table<Tongits>,
    record: Record<Tongits>,
}

impl Journal {
    fn play() -> Self {
        let terms = testing::terms(
            Rules::kingdom(),
            Some(Hits::default()),
            Coins::from_whole(1).expect("one fits"),
            1,
        );
        let welcome = Coins::from_whole(1_000).expect("a thousand fits");
        let mut simulation = Simulation::<Tongits>::new(1, terms, Habits::default(), welcome);
        let (mut steps, mut records) = (Vec::new(), Vec::new());
        while records.len() < JOURNAL_GAMES {
            let before = simulation.table().clone();
            let happened = simulation.step();
            records.extend(happened.record.clone());
            steps.push((before, happened));
        }
        let record = records.pop().expect("some games were played");
        Self { steps, last: simulation.table().clone(), record }
    }

    fn print(&self, rows: &Rows) {
        let acts: Vec<_> = self
            .steps
            .iter()
            .filter(|(_, happened)| matches!(happened.line.input, Input::Act { .. }))
            .collect();
        let fresh = || GameEntropy {
            seed: bahay_engine::chance::ServerSeed(bahay_engine::hex::Hex([0; 32])),
            game: NO_GAME,
        };
        let decide = |(table, happened): &&(Table<Tongits>, SimulationStep<Tongits>)| {
            let Line { at, input, .. } = happened.line.clone();
            table.decide(at, input, fresh).is_ok()
        };
        rows.each("decide on a move", &acts, decide);
        let follow = |(table, happened): &&(Table<Tongits>, SimulationStep<Tongits>)| {
            table.apply_line(&happened.line).is_ok()
        };
        rows.each("follow a line of a move", &acts, follow);
        let seat = Seat::new(0).expect("there is a first seat");
        let player = acts.iter().find_map(|(table, _)| table.occupant(seat));
        let player = player.map(|occupant| occupant.player);
        rows.each("view of a table", &acts, |(table, _)| table.view(player));
        let redact = |(_, happened): &&(Table<Tongits>, SimulationStep<Tongits>)| {
            let seen = |event: &Event<_>| event.redact::<Tongits>(Viewer::Seat(seat));
            happened.events.iter().filter_map(seen).collect::<Vec<_>>()
        };
        rows.each("redact a move for a seat", &acts, redact);
        let advise = |(table, _): &&(Table<Tongits>, SimulationStep<Tongits>)| match table.phase() {
            bahay_engine::table::Phase::Playing(playing) => {
                Tongits::choose_action(&playing.state.view(Viewer::Seat(seat)))
            }
            _ => None,
        };
        rows.each("advice of the bot, or none", &acts, advise);
        let prompt: Vec<View> = acts.iter().filter_map(|(table, _)| prompt(table)).collect();
        rows.each("a decision of greedy", &prompt, |view| {
            Tongits::choose_action_with_skill(Skill::Greedy, view)
        });
        rows.each("a decision of quick", &prompt, |view| {
            Tongits::choose_action_with_skill(Skill::Quick, view)
        });

        let lines: Vec<String> = self.steps.iter().map(|(_, step)| text(&step.line)).collect();
        let read = |line: &String| serde_json::from_str::<Line<_>>(line).map(follow_nothing);
        rows.each("read a line", &lines, read);
        let first = &self.steps[0].0;
        let replay = |_: &()| {
            lines.iter().fold(first.clone(), |table, line| {
                let line = serde_json::from_str(line).expect("a line that was written");
                table.apply_line(&line).expect("a line that was accepted").0
            })
        };
        rows.each(&format!("replay a journal of {} lines", lines.len()), &[()], replay);
        let verify = |_: &()| self.record.verify().is_ok();
        rows.each(
            &format!("verify a record of {} actions", self.record.actions.len()),
            &[()],
            verify,
        );

        let bytes = lines.iter().map(String::len).sum::<usize>() / lines.len();
        rows.bytes("a line on paper", bytes);
        rows.bytes("a table on paper", text(&self.last).len());
        rows.bytes("a record on paper", text(&self.record).len());
        rows.bytes("a table in memory, without what it points to", size_of::<Table<Tongits>>());
    }
}

/// Returns the view of the first prompted seat.
fn prompt(table: &Table<Tongits>) -> Option<View> {
    let bahay_engine::table::Phase::Playing(playing) = table.phase() else { return None };
    let Turn::Players(prompt) = playing.state.turn() else { return None };
    Some(playing.state.view(Viewer::Seat(prompt.seats.iter().next()?)))
}

const NO_GAME: GameId = GameId(uuid::Uuid::nil());

fn follow_nothing(line: Line<<Tongits as Game>::Action>) -> bool {
    line.fresh.is_some()
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("what the engine writes is JSON")
}

/// Plays random games, the same each time. Returns steps and games.
fn random_play() -> (u64, u64) {
    let rules = Rules::kingdom();
    let (mut events, mut actions) = (Vec::new(), Vec::new());
    let mut dice = TestRng::new(1);
    let mut steps = 0;
    for _ in 0..GAMES {
        let game = Tongits::new(&rules, SEATS, None);
        steps += play_at_random(game, &mut dice, &mut events, &mut actions);
    }
    (steps as u64, GAMES)
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
