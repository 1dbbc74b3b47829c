//! Bots against each other at Tong-its (`kingdom`), on one thread, and how long the first of them
//! takes for a decision.
//!
//! `cargo run --release -p bahay-engine --example tongits_arena -- A,B,C GAMES SEED`. The games are
//! those of `bahay arena --bots A,B,C --games GAMES --seed SEED --duplicate`, without the house's
//! rooms, so that the service need not be built to play them.

use std::cell::RefCell;
use std::env;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bahay_engine::arena::{Asked, Bot, Contest, Estimate, Grade, Tally, play};
use bahay_engine::chance::{Dice, Key};
use bahay_engine::coins::Coins;
use bahay_engine::game::Skill;
use bahay_engine::games::tongits::{Action, Event, Rules, Tongits};
use bahay_engine::hex::Hex;
use bahay_engine::table::{Clocks, Hits, Price, Spectators, Terms};

/// Games of which the decisions are timed.
const GAMES_TIMED: u8 = 40;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [bots, games, seed] = &*arguments else { panic!("A,B,C GAMES SEED") };
    let bots: Vec<Grade> = bots.split(',').map(|name| name.parse().expect("a bot")).collect();
    let games: u64 = games.parse().expect("a number");
    let seed = seed.parse().expect("a number");
    let price = Price { bet: Coins::from_hundredths(100), multiplier: 1, fee_basis_points: 500 };
    let terms = Terms {
        room: "arena".to_owned(),
        rules: Rules::kingdom(),
        price,
        hits: Some(Hits::default()),
        clocks: Clocks::default(),
        spectators: Spectators::Nobody,
        bots: Skill::default(),
        private: None,
        practice: false,
    };
    let contest = Contest { terms, bots, seed, is_duplicate: true };
    let begun = Instant::now();
    let mut tally = Tally::new(contest.bots.len());
    for number in 0..games.div_ceil(contest.games_per_series()) {
        tally.add(&contest.series::<Tongits>(number));
    }
    println!("{} games, seed {seed}, {} s", tally.games(), begun.elapsed().as_secs());
    println!("bot       share, %         coins a game     coins a game by POTs");
    for (bot, grade) in contest.bots.iter().enumerate() {
        let share = shown(tally.win_share(bot), 100);
        let coins = shown(tally.coins(bot), 10_000);
        let by_pots = shown(tally.pot_coins(bot), 10_000);
        println!("{:<8}  {share:>15}  {coins:>15}  {by_pots:>15}", grade.name());
    }
    let times = times(&contest.bots);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_micros();
    println!(
        "{} decisions of the first: half within {} µs, 95 of 100 within {} µs, all within {} µs",
        times.len(),
        at(50),
        at(95),
        at(100)
    );
}

/// An estimate of so many parts of one, with two decimals.
fn shown(estimate: Option<Estimate>, parts: i64) -> String {
    let Some(Estimate { mean, around }) = estimate else { return String::new() };
    let hundredths = |number: i64| {
        let number = number * 100 / parts;
        let sign = if number < 0 { "-" } else { "" };
        format!("{sign}{}.{:02}", number.abs() / 100, number.abs() % 100)
    };
    format!("{} ± {}", hundredths(mean), hundredths(around + parts / 100 - 1))
}

/// What the first bot took for its decisions, the shortest first.
fn times(bots: &[Grade]) -> Vec<Duration> {
    let times = Rc::new(RefCell::new(Vec::new()));
    for game in 0..GAMES_TIMED {
        let bot = |(place, grade): (usize, &Grade)| {
            let seat = u8::try_from(place).expect("few seats");
            let mut key = [0; 32];
            (key[0], key[1]) = (game, seat);
            let bot = grade.bot::<Tongits>(Key(Hex(key)));
            let times = Rc::clone(&times);
            if place == 0 { Box::new(Timed { bot, times }) } else { bot }
        };
        let mut seated: Vec<Box<dyn Bot<Tongits>>> = bots.iter().enumerate().map(bot).collect();
        let mut chance = Dice::new(Key(Hex([game; 32])));
        play(&Rules::kingdom(), &mut seated, &mut chance);
    }
    let mut times = times.take();
    times.sort_unstable();
    times
}

struct Timed {
    bot: Box<dyn Bot<Tongits>>,
    times: Rc<RefCell<Vec<Duration>>>,
}

impl Bot<Tongits> for Timed {
    fn hear(&mut self, event: &Event) {
        self.bot.hear(event);
    }

    fn choose(&mut self, asked: &Asked<'_, Tongits>) -> Action {
        let begun = Instant::now();
        let action = self.bot.choose(asked);
        self.times.borrow_mut().push(begun.elapsed());
        action
    }
}
