//! The attainable win rate of Tongo (options) against random legal play: an experiment on whether a
//! target for the AI can be reached, kept for reproduction.
//!
//! `cargo run --release -p bahay-bots --example tongo_options_ceiling -- BOT GAMES [RULES]
//! [READING] [SEATS]`, as in `search:4000 500 lively listed 2`. Games have two seats, which
//! alternate between the players; or four, two of them the bot's, in all six arrangements. BOT is
//! one of:
//!
//! - `ai`: the house's AI.
//! - `quick`: the arena's bot of this name, which remembers the events it has seen; it hardly
//!   folds. `forgetful`: the same from its view alone.
//! - `stubborn`: the house's AI, except that it never folds: at two seats a fold is a loss, and
//!   nothing else is counted here. It shows the share of games that the AI gives up to lose fewer
//!   chips.
//! - `shove:T`: as `stubborn`, except that before ending its turn with a hand that beats T
//!   thousandths of all hands it wagers everything: random play then folds every second time.
//! - `search:N`: at every decision about N games are played out in worlds consistent with the view,
//!   with a random opponent and its own continuation as `stubborn`. The choice of `stubborn` is
//!   replaced only by an action that won more often, by more than the noise. Half of the others are
//!   eliminated in each round.
//! - `hands:N`: the same in worlds with the opponent's true hand.
//! - `peek:N`: the same in the one true world; only future chance and random choices are unknown.
//!   No player can do so, nor as `hands`.
//! - `random`: a control, which must win half of the games.
//!
//! READING defines random play: `listed` chooses uniformly among the listed legal actions, where
//! some numbers stand for all; `kinds` chooses first a kind of action, then one of that kind;
//! `distinct` chooses among all actions that the rules accept, including every combination of costs
//! and each order of discards. Deals follow from the number of the game alone.

use std::collections::BTreeMap;
use std::env;
use std::mem::discriminant;
use std::time::Instant;

use bahay_bots::Ai;
use bahay_bots::arena::{Estimate, Sample, format_hundredths};
use bahay_bots::search::{BotPrompt, Grade};
use bahay_engine::chance::Key;
use bahay_engine::game::{Game, Skill, Viewer};
use bahay_engine::games::tongo_options::{
    Action, Card, CardSet, DiceCounts, Discards, Event, NewCosts, Phase, PublicState, Rules,
    Strength, TongoOptions, View, best_floor,
};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::{TestRng, step};

/// The seats of the bot at a table of four.
const PLACES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// The number of random hands per estimate.
const HANDS: u32 = 200;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let argument = |place: usize, otherwise: &'static str| {
        arguments.get(place).map_or(otherwise, |text| text.as_str())
    };
    let bot = Bot::parse(argument(0, "ai"));
    let games: u32 = argument(1, "5000").parse().expect("GAMES is a number");
    let rules = match argument(2, "lively") {
        "lively" => Rules::lively(),
        "seed" => Rules::seed(),
        other => panic!("there is no rule set {other}, but lively and seed"),
    };
    let reading = match argument(3, "listed") {
        "listed" => RandomPlayReading::Listed,
        "kinds" => RandomPlayReading::Kinds,
        "distinct" => RandomPlayReading::Distinct,
        other => panic!("random play is read as listed, kinds or distinct, not as {other}"),
    };
    let seats: usize = argument(4, "2").parse().expect("SEATS is a number");
    assert!(seats == 2 || seats == 4, "tables are of two seats or of four");
    measure(&rules, bot, reading, games, seats);
}

fn measure(rules: &Rules, bot: Bot, reading: RandomPlayReading, games: u32, seats: usize) {
    let mut times = DecisionTimes::default();
    let mut wins = Sample::default();
    let mut gained = Sample::default();
    let mut lost: BTreeMap<&'static str, u32> = BTreeMap::new();
    for number in 0..games {
        let places = &PLACES[number as usize % PLACES.len()];
        let is_bots = |seat: usize| match seats {
            2 => seat == number as usize % 2,
            _ => places.contains(&seat),
        };
        let bots: Vec<Bot> =
            (0..seats).map(|seat| if is_bots(seat) { bot } else { Bot::Random(reading) }).collect();
        let played = play_game(rules, &bots, number.into(), &mut times);
        let winner = played.game.public().end.expect("the game is over").winner;
        wins.record(i64::from(is_bots(winner.index())));
        if let Bot::Search(..) = bot {
            let bots = bots.iter().map(|bot| match bot {
                Bot::Search(..) => Bot::Stubborn,
                other => *other,
            });
            let others = bots.collect::<Vec<_>>();
            let played = play_game(rules, &others, number.into(), &mut DecisionTimes::default());
            let other = played.game.public().end.expect("the game is over").winner;
            let more = i64::from(is_bots(winner.index())) - i64::from(is_bots(other.index()));
            gained.record(more);
        }
        if !is_bots(winner.index()) {
            *lost.entry(played.why_lost(is_bots)).or_default() += 1;
        }
    }
    let Some(Estimate { mean, half_width }) = wins.estimate(10_000, 1) else { return };
    let [share, half_width] = [mean, half_width].map(format_hundredths);
    println!(
        "{bot:?} against {reading:?}, {seats} seats: {share} % ± {half_width} of {games} games"
    );
    if let Some(Estimate { mean, half_width }) = gained.estimate(10_000, 1) {
        let sign = if mean < 0 { "" } else { "+" };
        let [mean, half_width] = [mean, half_width].map(format_hundredths);
        println!("  {sign}{mean} % ± {half_width} more than stubborn in the same games");
    }
    if let Some(each) = times.micros.checked_div(times.decisions) {
        println!("  {} decisions of {each} µs", times.decisions);
    }
    for (why, count) in &lost {
        let share = format_hundredths(i64::from(*count) * 10_000 / i64::from(games));
        println!("  lost {count:>5}, {share:>5} %: {why}");
    }
}

/// The distribution of random play.
#[derive(Clone, Copy, Debug)]
enum RandomPlayReading {
    Listed,
    Kinds,
    Distinct,
}

/// The player of a seat.
#[derive(Clone, Copy, Debug)]
enum Bot {
    Random(RandomPlayReading),
    Ai,
    Quick,
    Forgetful,
    Stubborn,
    Shove(u32),
    Search(SearchKnowledge, u32),
}

impl Bot {
    fn parse(text: &str) -> Self {
        let (name, number) = text.split_once(':').unwrap_or((text, "2000"));
        let number = number.parse().expect("N and T are numbers");
        match name {
            "random" => Self::Random(RandomPlayReading::Listed),
            "ai" => Self::Ai,
            "quick" => Self::Quick,
            "forgetful" => Self::Forgetful,
            "stubborn" => Self::Stubborn,
            "shove" => Self::Shove(number),
            "search" => Self::Search(SearchKnowledge::Nothing, number),
            "hands" => Self::Search(SearchKnowledge::Hands, number),
            "peek" => Self::Search(SearchKnowledge::All, number),
            other => panic!("there is no bot {other}: see the documentation of this program"),
        }
    }
}

/// The total time of `quick`'s decisions.
#[derive(Default)]
struct DecisionTimes {
    decisions: u128,
    micros: u128,
}

/// A finished game, with the events that classify its end.
struct PlayedGame {
    game: TongoOptions,
    /// The first seat that wagered everything.
    wagered: Option<Seat>,
    challenged: Option<Seat>,
}

impl PlayedGame {
    fn why_lost(&self, is_bots: impl Fn(usize) -> bool) -> &'static str {
        let public = self.game.public();
        let own = |seat: Option<Seat>| seat.map(|seat| is_bots(seat.index()));
        let end = public.end.expect("the game is over");
        let counts = counts(public);
        let strength = |seat: Seat| {
            let shown = public.shown.iter().find(|shown| shown.seat == seat)?;
            let up = public.face_up_cards()[usize::from(shown.floor)];
            Some(Strength::from_hand(shown.hand, up, &counts))
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

fn play_game(rules: &Rules, bots: &[Bot], number: u64, times: &mut DecisionTimes) -> PlayedGame {
    let mut nanos = 0;
    let mut deal = TestRng::new(number);
    let mut dice = TestRng::new(!number);
    // The bot's own random stream is separate, so that random play draws the same numbers with any
    // bot.
    let mut thinking = TestRng::new(number.rotate_left(32));
    let seats = u8::try_from(bots.len()).expect("a table has few seats");
    let mut game = TongoOptions::new(rules, seats, None);
    let mut wagered = None;
    let mut challenged = None;
    // These bots draw nothing from their keys.
    let mut quick: Vec<_> =
        bots.iter().map(|_| Grade::Quick.build_bot::<TongoOptions>(Key(Hex([0; 32])))).collect();
    let mut events = Vec::new();
    let mut actions = Vec::new();
    while let Some(next) = step(&game, &mut deal, &mut events, |seat, _| {
        let view = || game.view(Viewer::Seat(seat));
        match bots[seat.index()] {
            Bot::Random(reading) => choose_at_random(&game, seat, reading, &mut dice, &mut actions),
            Bot::Ai => TongoOptions::choose_action(&view()).expect("the seat is to act"),
            Bot::Quick => {
                let clock = game.default_action(seat).expect("the seat is to act");
                let view = view();
                let prompt = BotPrompt { seat, view: &view, clock: &clock };
                let began = Instant::now();
                let action = quick[seat.index()].choose_action(&prompt);
                nanos += began.elapsed().as_nanos();
                times.decisions += 1;
                action
            }
            Bot::Forgetful => TongoOptions::choose_action_with_skill(Skill::Quick, &view())
                .expect("the seat is to act"),
            Bot::Stubborn => choose_stubbornly(&view()),
            Bot::Shove(least) => choose_shove(&view(), least, &mut thinking),
            Bot::Search(knows, rollouts) => {
                search_action(&game, seat, knows, rollouts, &mut thinking)
            }
        }
    }) {
        game = next;
        for (seat, bot) in Seat::all(seats).zip(&mut quick) {
            for event in &events {
                let shown = TongoOptions::redact(event, Viewer::Seat(seat));
                shown.iter().for_each(|event| bot.observe_event(event));
            }
        }
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
    times.micros += nanos / 1_000;
    PlayedGame { game, wagered, challenged }
}

fn choose_at_random(
    game: &TongoOptions,
    seat: Seat,
    reading: RandomPlayReading,
    dice: &mut TestRng,
    actions: &mut Vec<Action>,
) -> Action {
    actions.clear();
    game.legal_actions(seat, actions);
    match reading {
        RandomPlayReading::Listed => {}
        RandomPlayReading::Kinds => {
            let mut kinds = Vec::new();
            for kind in actions.iter().map(discriminant) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            let kind = *dice.choose(&kinds).expect("a seat to act has an action");
            actions.retain(|action| discriminant(action) == kind);
        }
        RandomPlayReading::Distinct => *actions = every_action(game, seat, actions),
    }
    *dice.choose(actions).expect("a seat to act has an action")
}

/// Returns all actions that the listed ones stand for, including all new costs and all orders of
/// discards.
fn every_action(game: &TongoOptions, seat: Seat, listed: &[Action]) -> Vec<Action> {
    let mut all = Vec::new();
    for action in listed {
        match action {
            Action::Raise(_) | Action::Lower(_) => {}
            Action::Evade { discards } => {
                all.extend(orders(discards).map(|discards| Action::Evade { discards }));
            }
            Action::PayToEvade { discards } => {
                all.extend(orders(discards).map(|discards| Action::PayToEvade { discards }));
            }
            other => all.push(*other),
        }
    }
    let costs = game.public().costs;
    let rules = game.public().rules;
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

fn orders(cards: &[Card]) -> impl Iterator<Item = Discards> {
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
    orders.into_iter().map(|cards| cards.into_iter().collect())
}

/// Returns the action of the AI, or instead of a fold one that stays in the game.
fn choose_stubbornly(view: &View) -> Action {
    let advised = TongoOptions::choose_action(view).expect("the seat is to act");
    if advised != Action::Fold {
        return advised;
    }
    let mut legal = Vec::new();
    TongoOptions::legal_in_view(view, &mut legal);
    let stays = [Action::ConvertReserves, Action::Join, Action::Confront { target: None }];
    stays.into_iter().find(|action| legal.contains(action)).unwrap_or(advised)
}

/// Returns the action of [`choose_stubbornly`], or a wager of everything at the end of a turn with
/// a sufficiently good hand.
fn choose_shove(view: &View, least: u32, dice: &mut TestRng) -> Action {
    let action = choose_stubbornly(view);
    let public = &view.public;
    let ends = matches!(
        action,
        Action::End | Action::PayToEvade { .. } | Action::Retreat | Action::Evade { .. }
    );
    let may = matches!(public.phase, Phase::Turn(_)) && public.reserves.is_none();
    let hand = view.hand().expect("the view belongs to a seat");
    if ends && may && wins(public, hand, dice) >= least { Action::ConvertReserves } else { action }
}

/// The information of a search beyond its view.
#[derive(Clone, Copy, Debug)]
enum SearchKnowledge {
    Nothing,
    /// The opponent's hand.
    Hands,
    /// The position of every card.
    All,
}

/// Returns the action that wins more often than the stubborn AI's choice, by more than the noise,
/// if the opponent continues at random and the seat as the stubborn AI; otherwise the stubborn AI's
/// choice.
fn search_action(
    game: &TongoOptions,
    own: Seat,
    knows: SearchKnowledge,
    rollouts: u32,
    dice: &mut TestRng,
) -> Action {
    let view = game.view(Viewer::Seat(own));
    let played = choose_stubbornly(&view);
    let mut others = Vec::new();
    TongoOptions::candidate_actions(&view, &mut others);
    // A fold only saves chips, which are not counted here.
    others.retain(|action| ![played, Action::Fold].contains(action));
    let mut arms: Vec<(Action, Vec<bool>)> =
        core::iter::once(played).chain(others).map(|action| (action, Vec::new())).collect();
    let rounds = arms.len().next_power_of_two().trailing_zeros().max(1);
    let mut actions = Vec::new();
    let mut events = Vec::new();
    while arms.len() > 1 {
        let count = u32::try_from(arms.len()).expect("few actions are worth trying");
        for _ in 0..(rollouts / rounds / count).max(8) {
            let world = match knows {
                SearchKnowledge::All => game.clone(),
                SearchKnowledge::Hands => game_with_hands(&view, game, own, dice),
                SearchKnowledge::Nothing => view
                    .game_from_decks(&shuffled(dice), &shuffled(dice))
                    .expect("the view belongs to the seat to act"),
            };
            // All actions meet the same chance as long as they request the same.
            let seed = dice.word();
            for (action, won) in &mut arms {
                events.clear();
                let next = world.act(own, action, &mut events).expect("it is legal in any world");
                won.push(play_on(next, own, &mut TestRng::new(seed), &mut actions, &mut events));
            }
        }
        let (_, others) = arms.split_at_mut(1);
        others.sort_by_key(|(_, won)| core::cmp::Reverse(won.iter().filter(|won| **won).count()));
        if arms.len() == 2 {
            break;
        }
        arms.truncate(1 + (arms.len() - 1).div_ceil(2));
    }
    let better = arms.iter().skip(1).find(|arm| is_surely_better(&arm.1, &arms[0].1));
    better.map_or(played, |(action, _)| *action)
}

/// Samples a world in which the opponent's hand is the true one and the other hidden cards are
/// random.
fn game_with_hands(
    view: &View,
    game: &TongoOptions,
    own: Seat,
    dice: &mut TestRng,
) -> TongoOptions {
    let opponent = own.next(2);
    let held = game.view(Viewer::Seat(opponent)).hand().expect("the view belongs to the opponent");
    let mut cards = shuffled(dice);
    cards.sort_by_key(|card| !held.contains(*card));
    view.game_from_decks(&cards, &shuffled(dice)).expect("the view belongs to the seat to act")
}

/// Returns whether `one` won more often than `other` by more than a standard error.
fn is_surely_better(one: &[bool], other: &[bool]) -> bool {
    let pairs = one.iter().zip(other);
    let mut more = 0_i64;
    let mut differ = 0_i64;
    for (one, other) in pairs {
        more += i64::from(*one) - i64::from(*other);
        differ += i64::from(one != other);
    }
    more > 0 && more * more > differ
}

/// Plays the game to its end and returns whether the seat wins.
fn play_on(
    game: TongoOptions,
    own: Seat,
    dice: &mut TestRng,
    actions: &mut Vec<Action>,
    events: &mut Vec<Event>,
) -> bool {
    let mut game = game;
    while let Some(next) = step(&game, dice, events, |seat, dice| {
        if seat == own {
            choose_stubbornly(&game.view(Viewer::Seat(own)))
        } else {
            choose_at_random(&game, seat, RandomPlayReading::Listed, dice, actions)
        }
    }) {
        game = next;
    }
    game.public().end.is_some_and(|end| end.winner == own)
}

/// Returns the thousandths of all hands that the hand beats.
fn wins(public: &PublicState, hand: CardSet, dice: &mut TestRng) -> u32 {
    let up = public.face_up_cards();
    let counts = counts(public);
    let (_, own) = best_floor(hand, &up, &counts);
    let cards: Vec<Card> = CardSet::ALL.difference(hand).iter().collect();
    let mut beaten = 0;
    for _ in 0..HANDS {
        let mut other = CardSet::EMPTY;
        while other.len() < hand.len() {
            other = other.with(*dice.choose(&cards).expect("there are cards"));
        }
        beaten += u32::from(best_floor(other, &up, &counts).1 < own);
    }
    beaten * 1_000 / HANDS
}

fn counts(public: &PublicState) -> DiceCounts {
    public.dice.iter().map(|die| die.value).collect()
}

fn shuffled(dice: &mut TestRng) -> Vec<Card> {
    let mut cards: Vec<Card> = Card::all().collect();
    for last in (1..cards.len()).rev() {
        let below = u32::try_from(last + 1).expect("a deck has 48 cards");
        cards.swap(last, dice.below(below) as usize);
    }
    cards
}
