//! How often Tongo (options) can be won against legal random play: an experiment that says whether
//! a bar for the AI can be reached at all, kept so that anybody can run it again.
//!
//! `cargo run --release -p bahay-engine --example tongo_options_ceiling -- BOT GAMES [RULES]
//! [READING] [SEATS]`, as in `search:4000 500 lively listed 2`. Games have two seats, which change
//! from game to game; or four, two of them the bot's, through all six ways. Who plays is:
//!
//! - `ai`: the house's AI.
//! - `stubborn`: the same, and it never folds: at two seats a fold is a loss, and nothing else is
//!   counted here. It shows what the AI gives away of its games to lose fewer chips.
//! - `shove:T`: as `stubborn`, and where it would end its turn with a hand that beats T thousandths
//!   of all hands it wagers everything first: random play then folds every second time.
//! - `search:N`: at every decision N games are played on in worlds that fit the view, the opponent
//!   at random, its own later play by rules. Half of what may be played is given up in each round,
//!   by how often it won.
//! - `peek:N`: the same in the one true world: no player can do so.
//! - `random`: to test the experiment; it must win half.
//!
//! Random play is read in three ways: `listed`, each of what the game lists as legal is as likely,
//! where some numbers stand for all; `kinds`, first a kind of action, then one of that kind;
//! `distinct`, each action that the rules take, also every combination of costs and each order of
//! discards. Deals follow from the number of the game alone.

use std::collections::BTreeMap;
use std::env;
use std::mem::discriminant;

use bahay_engine::arena::{Estimate, Sample};
use bahay_engine::game::{Game, Turn, Viewer};
use bahay_engine::games::tongo_options::{
    Action, Card, CardSet, DiceCounts, Event, NewCosts, Phase, Public, Rules, Strength,
    TongoOptions, View, best_floor,
};
use bahay_engine::seat::Seat;
use bahay_engine::testing::Dice;

/// The seats of the bot at a table of four.
const PLACES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// Random hands for an estimate within a rollout.
const HANDS: u32 = 16;

/// The same outside of rollouts, where there is time.
const MANY_HANDS: u32 = 200;

/// Within a rollout it wagers all, or acquires, when it beats so many thousandths of all hands.
const SURE: u32 = 650;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let argument = |place: usize, otherwise: &'static str| {
        arguments.get(place).map_or(otherwise, |text| text.as_str())
    };
    let bot = Bot::named(argument(0, "ai"));
    let games: u32 = argument(1, "5000").parse().expect("GAMES is a number");
    let rules = match argument(2, "lively") {
        "lively" => Rules::lively(),
        "seed" => Rules::seed(),
        other => panic!("there is no rule set {other}, but lively and seed"),
    };
    let reading = match argument(3, "listed") {
        "listed" => Reading::Listed,
        "kinds" => Reading::Kinds,
        "distinct" => Reading::Distinct,
        other => panic!("random play is read as listed, kinds or distinct, not as {other}"),
    };
    let seats: usize = argument(4, "2").parse().expect("SEATS is a number");
    assert!(seats == 2 || seats == 4, "tables are of two seats or of four");
    measure(&rules, bot, reading, games, seats);
}

fn measure(rules: &Rules, bot: Bot, reading: Reading, games: u32, seats: usize) {
    let mut wins = Sample::default();
    let mut lost: BTreeMap<&'static str, u32> = BTreeMap::new();
    for number in 0..games {
        let places = &PLACES[number as usize % PLACES.len()];
        let is_bots = |seat: usize| match seats {
            2 => seat == number as usize % 2,
            _ => places.contains(&seat),
        };
        let bots: Vec<Bot> =
            (0..seats).map(|seat| if is_bots(seat) { bot } else { Bot::Random(reading) }).collect();
        let played = play(rules, &bots, number.into());
        let winner = played.game.public().end.expect("the game is over").winner;
        wins.note(i64::from(is_bots(winner.index())));
        if !is_bots(winner.index()) {
            *lost.entry(played.why_lost(is_bots)).or_default() += 1;
        }
    }
    let Some(Estimate { mean, around }) = wins.estimate(10_000, 1) else { return };
    let hundredths = |share: i64| format!("{}.{:02}", share / 100, share % 100);
    let (share, around) = (hundredths(mean), hundredths(around));
    println!("{bot:?} against {reading:?}, {seats} seats: {share} % ± {around} of {games} games");
    for (why, count) in &lost {
        let share = hundredths(i64::from(*count) * 10_000 / i64::from(games));
        println!("  lost {count:>5}, {share:>5} %: {why}");
    }
}

/// How random play chooses.
#[derive(Clone, Copy, Debug)]
enum Reading {
    Listed,
    Kinds,
    Distinct,
}

/// Who plays a seat.
#[derive(Clone, Copy, Debug)]
enum Bot {
    Random(Reading),
    Ai,
    Stubborn,
    Shove(u32),
    Search(u32),
    Peek(u32),
}

impl Bot {
    fn named(text: &str) -> Self {
        let (name, number) = text.split_once(':').unwrap_or((text, "2000"));
        let number = number.parse().expect("N and T are numbers");
        match name {
            "random" => Self::Random(Reading::Listed),
            "ai" => Self::Ai,
            "stubborn" => Self::Stubborn,
            "shove" => Self::Shove(number),
            "search" => Self::Search(number),
            "peek" => Self::Peek(number),
            other => panic!("there is no bot {other}: see the page of this program"),
        }
    }
}

/// A game that was played, and what decides how its end is called.
struct Played {
    game: TongoOptions,
    /// Who wagered everything first.
    wagered: Option<Seat>,
    challenged: Option<Seat>,
}

impl Played {
    fn why_lost(&self, is_bots: impl Fn(usize) -> bool) -> &'static str {
        let public = self.game.public();
        let own = |seat: Option<Seat>| seat.map(|seat| is_bots(seat.index()));
        let end = public.end.expect("the game is over");
        let counts = counts(public);
        let strength = |seat: Seat| {
            let shown = public.shown.iter().find(|shown| shown.seat == seat)?;
            let up = public.up()[usize::from(shown.floor)];
            Some(Strength::of(shown.hand, up, &counts))
        };
        let best = strength(end.winner);
        let others = public.shown.iter().filter(|shown| is_bots(shown.seat.index()));
        if others.clone().next().is_none() {
            return "folded";
        }
        if others.map(|shown| strength(shown.seat)).any(|own| own == best) {
            return "equal hands, and the order of the seats";
        }
        match (own(self.wagered), own(self.challenged)) {
            (Some(false), _) => "the opponent wagered everything, and its hand was better",
            (Some(true), _) => "the bot wagered everything, and its hand was worse",
            (None, Some(false)) => "the opponent challenged, and its hand was better",
            (None, Some(true)) => "the bot challenged, and its hand was worse",
            (None, None) => "the last round",
        }
    }
}

fn play(rules: &Rules, bots: &[Bot], number: u64) -> Played {
    let mut deal = Dice::new(number);
    let mut dice = Dice::new(!number);
    let seats = u8::try_from(bots.len()).expect("a table has few seats");
    let mut game = TongoOptions::new(rules, seats, None);
    let (mut wagered, mut challenged) = (None, None);
    let (mut events, mut actions) = (Vec::new(), Vec::new());
    loop {
        events.clear();
        game = match game.turn() {
            Turn::Over => return Played { game, wagered, challenged },
            Turn::Chance(request) => game.resolve(&deal.answer(request), &mut events),
            Turn::Wait(_) => game.expire(&mut events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("somebody is asked");
                let view = || game.view(Viewer::Seat(seat));
                let action = match bots[seat.index()] {
                    Bot::Random(reading) => {
                        at_random(&game, seat, reading, &mut dice, &mut actions)
                    }
                    Bot::Ai => TongoOptions::advise(&view()).expect("it is to act"),
                    Bot::Stubborn => stubborn(&view()),
                    Bot::Shove(least) => shove(&view(), least, &mut dice),
                    Bot::Search(rollouts) => search(&view(), None, rollouts, &mut dice),
                    Bot::Peek(rollouts) => search(&view(), Some(&game), rollouts, &mut dice),
                };
                game.act(seat, &action, &mut events).expect("a bot plays what is legal")
            }
        };
        for event in &events {
            match event {
                Event::ReservesConverted { seat, .. } => wagered = wagered.or(Some(*seat)),
                Event::Confronted { seat, .. } | Event::Acquired { seat, .. } => {
                    challenged = Some(*seat);
                }
                _ => {}
            }
        }
    }
}

fn at_random(
    game: &TongoOptions,
    seat: Seat,
    reading: Reading,
    dice: &mut Dice,
    actions: &mut Vec<Action>,
) -> Action {
    actions.clear();
    game.legal_actions(seat, actions);
    match reading {
        Reading::Listed => {}
        Reading::Kinds => {
            let mut kinds = Vec::new();
            for kind in actions.iter().map(discriminant) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            let kind = *dice.choose(&kinds).expect("a seat that is asked can act");
            actions.retain(|action| discriminant(action) == kind);
        }
        Reading::Distinct => *actions = every_action(game, seat, actions),
    }
    *dice.choose(actions).expect("a seat that is asked can act")
}

/// Those that a list stands for too: all new costs, and all orders of discards.
fn every_action(game: &TongoOptions, seat: Seat, listed: &[Action]) -> Vec<Action> {
    let mut all = Vec::new();
    for action in listed {
        match action {
            Action::Raise(_) | Action::Lower(_) => {}
            Action::Evade { discards } => {
                all.extend(
                    orders(discards)
                        .map(|cards| Action::Evade { discards: cards.into_iter().collect() }),
                );
            }
            Action::PayToEvade { discards } => {
                all.extend(
                    orders(discards)
                        .map(|cards| Action::PayToEvade { discards: cards.into_iter().collect() }),
                );
            }
            other => all.push(*other),
        }
    }
    let (costs, rules) = (game.public().costs, game.public().rules);
    let raised = |old: u16| old..=old + u16::from(rules.raise_max);
    let lowered = |old: u16| 1..=old;
    let mut events = Vec::new();
    let mut add = |action: Action| {
        events.clear();
        if game.act(seat, &action, &mut events).is_ok() {
            all.push(action);
        }
    };
    if listed.iter().any(|action| matches!(action, Action::Raise(_))) {
        each_costs(costs.buy, costs.sell, costs.exchange, raised, |new| add(Action::Raise(new)));
    }
    if listed.iter().any(|action| matches!(action, Action::Lower(_))) {
        each_costs(costs.buy, costs.sell, costs.exchange, lowered, |new| add(Action::Lower(new)));
    }
    all
}

fn each_costs<R: Iterator<Item = u16>>(
    buy: u16,
    sell: u16,
    exchange: u16,
    range: impl Fn(u16) -> R,
    mut each: impl FnMut(NewCosts),
) {
    for buy in range(buy) {
        for sell in range(sell) {
            for exchange in range(exchange) {
                let [buy, sell, exchange] = [buy, sell, exchange].map(Some);
                each(NewCosts { buy, sell, exchange });
            }
        }
    }
}

fn orders(cards: &[Card]) -> impl Iterator<Item = Vec<Card>> {
    let mut orders: Vec<Vec<Card>> = vec![Vec::new()];
    for _ in cards {
        let longer = |order: &Vec<Card>| {
            let left: Vec<Card> =
                cards.iter().copied().filter(|card| !order.contains(card)).collect();
            let order = order.clone();
            left.into_iter().map(move |card| [order.clone(), vec![card]].concat())
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders.into_iter()
}

/// What the AI plays, and instead of folding what keeps it in.
fn stubborn(view: &View) -> Action {
    let advised = TongoOptions::advise(view).expect("it is to act");
    if advised != Action::Fold {
        return advised;
    }
    let mut legal = Vec::new();
    TongoOptions::legal_in_view(view, &mut legal);
    let stays = [Action::ConvertReserves, Action::Join, Action::Confront { target: None }];
    stays.into_iter().find(|action| legal.contains(action)).unwrap_or(advised)
}

/// As [`stubborn`], and wagers all at the end of a turn with a hand that is so good.
fn shove(view: &View, least: u32, dice: &mut Dice) -> Action {
    let action = stubborn(view);
    let public = &view.public;
    let ends = matches!(
        action,
        Action::End | Action::PayToEvade { .. } | Action::Retreat | Action::Evade { .. }
    );
    let may = matches!(public.phase, Phase::Turn(_)) && public.reserves.is_none();
    let hand = view.hand().expect("a seat looks");
    if ends && may && wins(public, hand, dice, MANY_HANDS) >= least {
        Action::ConvertReserves
    } else {
        action
    }
}

/// What wins most often when it is played on, at random by the opponent and by rules for itself.
fn search(view: &View, truth: Option<&TongoOptions>, rollouts: u32, dice: &mut Dice) -> Action {
    let own = view.viewer.expect("a seat looks");
    let mut arms: Vec<(Action, u32)> =
        worth_trying(view).into_iter().map(|action| (action, 0)).collect();
    let rounds = arms.len().next_power_of_two().trailing_zeros().max(1);
    let (mut actions, mut events) = (Vec::new(), Vec::new());
    while arms.len() > 1 {
        let count = u32::try_from(arms.len()).expect("few actions are worth trying");
        for _ in 0..(rollouts / rounds / count).max(8) {
            let world = match truth {
                Some(truth) => truth.clone(),
                None => view.imagined(&shuffled(dice), &shuffled(dice)),
            };
            // All of them meet the same chance as long as they ask the same of it.
            let seed = dice.word();
            for (action, won) in &mut arms {
                events.clear();
                let next = world.act(own, action, &mut events).expect("it is legal in any world");
                let is_won = play_on(next, own, &mut Dice::new(seed), &mut actions, &mut events);
                *won += u32::from(is_won);
            }
        }
        arms.sort_by_key(|(_, won)| core::cmp::Reverse(*won));
        arms.truncate(arms.len().div_ceil(2));
    }
    arms[0].0
}

/// What may be played, without what is a loss at once, costs chips that are not counted here, or
/// only moves cards that nobody knows.
fn worth_trying(view: &View) -> Vec<Action> {
    let mut legal = Vec::new();
    TongoOptions::legal_in_view(view, &mut legal);
    let mut has_buy = false;
    let mut is_worth = |action: &Action| match action {
        Action::Fold | Action::Exchange { .. } => false,
        Action::Buy { leverage, .. } => !leverage && !core::mem::replace(&mut has_buy, true),
        Action::Sell { leverage, .. } => !leverage,
        _ => true,
    };
    let kept: Vec<Action> = legal.iter().copied().filter(|action| is_worth(action)).collect();
    if kept.is_empty() { legal } else { kept }
}

/// Whether the seat wins when this is played on.
fn play_on(
    game: TongoOptions,
    own: Seat,
    dice: &mut Dice,
    actions: &mut Vec<Action>,
    events: &mut Vec<Event>,
) -> bool {
    let mut game = game;
    loop {
        events.clear();
        game = match game.turn() {
            Turn::Over => return game.public().end.is_some_and(|end| end.winner == own),
            Turn::Chance(request) => game.resolve(&dice.answer(request), events),
            Turn::Wait(_) => game.expire(events),
            Turn::Players(prompt) => {
                let seat = prompt.seats.iter().next().expect("somebody is asked");
                let action = if seat == own {
                    by_rules(&game.view(Viewer::Seat(own)), dice)
                } else {
                    at_random(&game, seat, Reading::Listed, dice, actions)
                };
                game.act(seat, &action, events).expect("it is legal")
            }
        };
    }
}

/// Its own later play: as the AI where everything is wagered; else it wagers all with a good hand,
/// draws other cards for a bad one, and keeps a risk, which takes from random play most of what it
/// could do.
fn by_rules(view: &View, dice: &mut Dice) -> Action {
    let public = &view.public;
    if public.reserves.is_some() {
        return stubborn(view);
    }
    let hand = view.hand().expect("a seat looks");
    let (best, _) = best_floor(hand, &public.up(), &counts(public));
    let mut legal = Vec::new();
    TongoOptions::legal_in_view(view, &mut legal);
    let is_legal = |action: &Action| legal.contains(action);
    match public.phase {
        Phase::Stop { .. } => return Action::Stop { floor: best },
        Phase::Challenge(_) => {
            let stays = [Action::Stand, Action::Join, Action::Confront { target: None }];
            return stays.into_iter().find(is_legal).expect("an answer may stay in");
        }
        _ => {}
    }
    if wins(public, hand, dice, HANDS) >= SURE {
        return [Action::Acquire, Action::ConvertReserves]
            .into_iter()
            .find(is_legal)
            .expect("without a wager it may be wagered");
    }
    let raised = NewCosts { sell: Some(public.costs.buy + 1), ..NewCosts::default() };
    let keep_a_risk = Some(Action::Raise(raised)).filter(|_| public.risk() == 0);
    let numbers = public.up()[usize::from(best)];
    let matches = |card: &Card| numbers.iter().any(|up| up.number() == card.number());
    let discards = hand.iter().filter(|card| !matches(card)).collect();
    let tried = [
        Action::Evade { discards },
        Action::PayRisk,
        Action::PayToEvade { discards },
        Action::End,
        Action::Retreat,
        Action::ConvertReserves,
    ];
    keep_a_risk.into_iter().chain(tried).find(is_legal).expect("without a wager it may be wagered")
}

/// How many thousandths of all hands it beats.
fn wins(public: &Public, hand: CardSet, dice: &mut Dice, hands: u32) -> u32 {
    let (up, counts) = (public.up(), counts(public));
    let (_, own) = best_floor(hand, &up, &counts);
    let cards: Vec<Card> = CardSet::ALL.difference(hand).iter().collect();
    let mut beaten = 0;
    for _ in 0..hands {
        let mut other = CardSet::EMPTY;
        while other.len() < hand.len() {
            other = other.with(*dice.choose(&cards).expect("there are cards"));
        }
        beaten += u32::from(best_floor(other, &up, &counts).1 < own);
    }
    beaten * 1_000 / hands
}

fn counts(public: &Public) -> DiceCounts {
    public.dice.iter().map(|die| die.value).collect()
}

fn shuffled(dice: &mut Dice) -> Vec<Card> {
    let mut cards: Vec<Card> = Card::all().collect();
    for last in (1..cards.len()).rev() {
        let below = u32::try_from(last + 1).expect("a deck has 48 cards");
        cards.swap(last, dice.below(below) as usize);
    }
    cards
}
