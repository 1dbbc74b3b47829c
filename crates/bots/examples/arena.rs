//! A contest of bots without the service: prints the shares and coins that `bahay-lab arena
//! --duplicate` prints, and the decision times of the first bot. It depends on engine and AI alone,
//! which compiles in a minute.
//!
//! `cargo run --release -p bahay-bots --example arena -- GAME RULES BOTS GAMES [SEED]`, as in
//! `tongo_options lively quick,greedy 20000 1`. GAMES is rounded up to whole series. The games run
//! on one thread, each deal once for every rotation of the bots.

use std::cell::RefCell;
use std::env;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bahay_bots::Ai;
use bahay_bots::arena::{Contest, ContestTally, Estimate, format_hundredths, play_game};
use bahay_bots::search::{Bot, BotPrompt, Grade};
use bahay_engine::chance::{ChanceRng, Key};
use bahay_engine::coins::Coins;
use bahay_engine::game::GameKind;
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::hex::Hex;
use bahay_engine::testing;

/// The number of games whose decisions are timed.
const GAMES_TIMED: u8 = 40;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let argument = |place: usize| arguments.get(place).expect("see this program's documentation");
    let bots = argument(2).split(',').map(|name| name.parse().expect("a grade")).collect();
    let games = argument(3).parse().expect("GAMES is a number");
    let seed = arguments.get(4).map_or(1, |seed| seed.parse().expect("SEED is a number"));
    match argument(0).as_str() {
        Tongits::NAME => run_contest::<Tongits>(argument(1), bots, games, seed),
        TongoOptions::NAME => run_contest::<TongoOptions>(argument(1), bots, games, seed),
        TongoAssets::NAME => run_contest::<TongoAssets>(argument(1), bots, games, seed),
        other => panic!("there is no game {other}"),
    }
}

fn run_contest<G: Ai + GameKind>(rules: &str, bots: Vec<Grade>, games: u64, seed: u64) {
    let set = G::rule_sets().iter().find(|set| set.name == rules).expect("a rule set's name");
    let terms = testing::terms((set.rules)(), set.hits, Coins::from_hundredths(100), 1);
    let contest = Contest { terms, bots, seed, is_duplicate: true };
    let mut tally = ContestTally::new(contest.bots.len());
    let began = Instant::now();
    for series in 0..games.div_ceil(contest.games_per_series()) {
        tally.merge(&contest.play_series::<G>(series));
    }
    let milliseconds = began.elapsed().as_millis();
    println!("{} {rules}, {} games in {milliseconds} ms", G::NAME, tally.games());
    for (place, bot) in contest.bots.iter().enumerate() {
        let figures = (tally.win_share(place), tally.coins(place), tally.pot_coins(place));
        let (Some(share), Some(coins), Some(by_pots)) = figures else { continue };
        let [share, coins, by_pots] = [(share, 1), (coins, 100), (by_pots, 100)].map(
            |(Estimate { mean, half_width }, unit)| {
                let [mean, half_width] =
                    [mean, half_width].map(|part| format_hundredths(part / unit));
                format!("{mean} ± {half_width}")
            },
        );
        println!("{bot}: {share} % of the games, {coins} coins a game, {by_pots} of them by POTs");
    }
    let times = measure_decisions::<G>(&contest.terms.rules, &contest.bots);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_micros();
    println!(
        "{} decisions of the first: {} µs on the whole, half within {} µs, 95 of 100 within {} µs, \
         all within {} µs",
        times.len(),
        times.iter().sum::<Duration>().as_micros() / times.len() as u128,
        at(50),
        at(95),
        at(100)
    );
}

/// Returns the first bot's decision times in ascending order.
fn measure_decisions<G: Ai + GameKind>(rules: &G::Rules, bots: &[Grade]) -> Vec<Duration> {
    let times = Rc::new(RefCell::new(Vec::new()));
    for game in 0..GAMES_TIMED {
        let bot = |(place, grade): (usize, &Grade)| {
            let mut key = [0; 32];
            (key[0], key[1]) = (game, u8::try_from(place).expect("few seats"));
            let bot = grade.build_bot::<G>(Key(Hex(key)));
            let times = Rc::clone(&times);
            if place == 0 { Box::new(TimedBot { bot, times }) } else { bot }
        };
        let mut seated: Vec<Box<dyn Bot<G>>> = bots.iter().enumerate().map(bot).collect();
        play_game(rules, &mut seated, &mut ChanceRng::new(Key(Hex([game; 32]))));
    }
    let mut times = times.take();
    times.sort_unstable();
    times
}

struct TimedBot<G: Ai + GameKind> {
    bot: Box<dyn Bot<G>>,
    times: Rc<RefCell<Vec<Duration>>>,
}

impl<G: Ai + GameKind> Bot<G> for TimedBot<G> {
    fn observe_event(&mut self, event: &G::Event) {
        self.bot.observe_event(event);
    }

    fn choose_action(&mut self, prompt: &BotPrompt<'_, G>) -> G::Action {
        let begun = Instant::now();
        let action = self.bot.choose_action(prompt);
        self.times.borrow_mut().push(begun.elapsed());
        action
    }
}
