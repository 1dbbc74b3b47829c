//! The grades of bots: each uses only its permitted knowledge, and a better grade beats a worse
//! one.

use bahay_bots::Ai;
use bahay_bots::arena::{Contest, ContestTally};
use bahay_bots::search::{Bot, BotPrompt, Grade, play_to_end};
use bahay_engine::chance::{self, ChanceAnswer, Key, Request};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameKind, GameRules, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Event, Rules, Tongits};
use bahay_engine::games::tongo_assets::{self, TongoAssets};
use bahay_engine::games::tongo_options::{self, TongoOptions};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::{
    self, Probe, TestRng, TongitsProbe, TongoAssetsProbe, TongoOptionsProbe, for_each_twin_pair,
    step,
};

/// A bound on the number of games needed for the compared pairs.
const GAMES_OF_TWINS: u64 = 30;

/// The grades that make no rollouts.
const SWIFT: [Grade; 4] = [Grade::Random, Grade::Clock, Grade::Greedy, Grade::Quick];

#[test]
fn no_bot_plays_otherwise_when_hidden_cards_are_swapped() {
    for grade in SWIFT {
        plays_the_same_in_twins::<Tongits>(&TongitsProbe, grade, 100);
        plays_the_same_in_twins::<TongoOptions>(&TongoOptionsProbe, grade, 40);
        plays_the_same_in_twins::<TongoAssets>(&TongoAssetsProbe, grade, 40);
    }
    let strong = Grade::Strong { games: 4 };
    plays_the_same_in_twins::<Tongits>(&TongitsProbe, strong, 10);
    plays_the_same_in_twins::<TongoOptions>(&TongoOptionsProbe, strong, 2);
    plays_the_same_in_twins::<TongoAssets>(&TongoAssetsProbe, strong, 10);
}

/// Checks that a bot plays the same in pairs of games that differ only in what its seat does not
/// see. `pairs` is the number of pairs for each rule set.
fn plays_the_same_in_twins<G: Ai + GameKind>(probe: &impl Probe<G>, grade: Grade, pairs: usize) {
    for set in G::rule_sets() {
        let mut compared = 0;
        for seed in 0..GAMES_OF_TWINS {
            if compared == pairs {
                break;
            }
            for_each_twin_pair::<G>(probe, G::choose_action, &(set.rules)(), seed, |pair| {
                let is_alike = pair.alike_for.contains(&Viewer::Seat(pair.seat));
                if compared == pairs || !is_alike {
                    return;
                }
                let [one, other] = pair.games.each_ref().map(|game| {
                    let Turn::Players(_) = game.turn() else { panic!("somebody is asked") };
                    let (seat, view) = (pair.seat, game.view(Viewer::Seat(pair.seat)));
                    let clock = game.default_action(seat).expect("the seat is asked");
                    let mut bot: Box<dyn Bot<G>> = grade.build_bot(Key(Hex([7; 32])));
                    bot.choose_action(&BotPrompt { seat, view: &view, clock: &clock })
                });
                assert_eq!(one, other, "{grade} tells apart {:#?}", pair.games);
                compared += 1;
            });
        }
        assert_eq!(compared, pairs, "{} for {grade}", set.name);
    }
}

/// A sampled game agrees with the seat's view of the true game.
#[test]
fn an_imagined_game_looks_as_the_true_one_to_who_imagines_it() {
    looks_as_the_true_one::<Tongits>();
    looks_as_the_true_one::<TongoOptions>();
    looks_as_the_true_one::<TongoAssets>();
}

/// Checks sampled games in random play of all rule sets. Hidden cards must differ somewhere, or the
/// true game would be copied.
fn looks_as_the_true_one<G: Ai + GameKind>() {
    for set in G::rule_sets() {
        let (mut imagined, mut differ) = (0, 0);
        for seed in 0..8 {
            let mut dice = TestRng::new(seed);
            let mut own =
                chance::ChanceRng::new(Key(Hex([u8::try_from(seed).expect("small"); 32])));
            let rules = (set.rules)();
            let mut game = G::new(&rules, rules.seats().most, None);
            let mut events = Vec::new();
            while let Some(next) = step(&game, &mut dice, &mut events, |seat, dice| {
                let view = game.view(Viewer::Seat(seat));
                if let Some(other) = G::sample_game(&view, &mut own) {
                    assert_eq!(other.view(Viewer::Seat(seat)), view, "{}", set.name);
                    imagined += 1;
                    differ += u32::from(other != game);
                }
                let legal = testing::legal_actions(&game, seat);
                dice.choose(&legal).expect("a seat that is asked can act").clone()
            }) {
                game = next;
            }
        }
        assert!(imagined > 20, "{} {}: {imagined}", G::NAME, set.name);
        assert!(differ * 10 > imagined * 9, "{} {}: {differ}", G::NAME, set.name);
    }
}

fn contest<R>(rules: R, bots: &[Grade]) -> Contest<R> {
    let terms = testing::terms(rules, None, Coins::from_hundredths(100), 1);
    Contest { terms, bots: bots.to_vec(), seed: 7, is_duplicate: true }
}

/// Par is a third of the games.
#[test]
fn at_tongits_quick_wins_more_than_its_part_from_two_greedy_players() {
    let bots = [Grade::Quick, Grade::Greedy, Grade::Greedy];
    let contest = contest(Rules::kingdom(), &bots);
    let mut tally = ContestTally::new(bots.len());
    (0..10).for_each(|series| tally.merge(&contest.play_series::<Tongits>(series)));
    let share = tally.win_share(0).expect("games were played");
    assert!(share.mean - share.half_width > 3_334, "{share:?}");
}

/// Every chosen action is legal, also in rollouts from a fight.
#[test]
fn strong_plays_games_to_their_end() {
    let bots = [Grade::Strong { games: 8 }, Grade::Greedy, Grade::Greedy];
    for rules in [Rules::kingdom(), Rules::joker()] {
        let contest = contest(rules, &bots);
        assert_eq!(contest.play_series::<Tongits>(0).games(), contest.games_per_series());
    }
    let bots = [Grade::Strong { games: 8 }, Grade::Greedy, Grade::Greedy, Grade::Greedy];
    let contest =
        Contest { is_duplicate: false, ..contest(tongo_assets::Rules::standard(), &bots) };
    assert_eq!(contest.play_series::<TongoAssets>(0).games(), contest.games_per_series());
}

/// Par is half of the games.
#[test]
fn at_tongo_options_quick_wins_more_than_its_part_from_the_greedy_player() {
    for (rules, series) in [(tongo_options::Rules::lively(), 5), (tongo_options::Rules::seed(), 40)]
    {
        let contest = contest(rules, &[Grade::Quick, Grade::Greedy]);
        let mut tally = ContestTally::new(2);
        (0..series).for_each(|series| tally.merge(&contest.play_series::<TongoOptions>(series)));
        let share = tally.win_share(0).expect("games were played");
        assert!(share.mean - share.half_width > 5_500, "{share:?}");
    }
}

/// The deck of a game and all of its actions.
struct Recorded {
    deck: Vec<u8>,
    steps: Vec<(Seat, Action)>,
}

impl Recorded {
    /// Plays a game with greedy bots.
    fn of(seed: u64) -> Self {
        let ChanceAnswer::Order(deck) = TestRng::new(seed).answer(Request::Order(52)) else {
            unreachable!("an order was asked for")
        };
        let mut steps = Vec::new();
        let mut greedy = |game: &Tongits, seat| {
            let view = game.view(Viewer::Seat(seat));
            let action = Tongits::choose_action(&view).expect("it is asked");
            steps.push((seat, action));
            action
        };
        let game = Self::deal(&deck, &mut Vec::new());
        play_to_end(game, &mut chance::ChanceRng::from_number(0), &mut greedy);
        Self { deck, steps }
    }

    fn deal(deck: &[u8], events: &mut Vec<Event>) -> Tongits {
        let game = Tongits::new(&Rules::kingdom(), 3, Seat::new(0));
        game.resolve(&ChanceAnswer::Order(deck.to_vec()), events)
    }

    /// Replays a number of steps with another deck. Returns the game and the events that a seat has
    /// seen; `None` if an action is illegal with this deck.
    fn replayed(&self, deck: &[u8], steps: usize, viewer: Seat) -> Option<(Tongits, Vec<Event>)> {
        let mut events = Vec::new();
        let mut game = Self::deal(deck, &mut events);
        for (seat, action) in &self.steps[..steps] {
            if let Turn::Wait(_) = game.turn() {
                game = game.expire(&mut events);
            }
            game = game.act(*seat, action, &mut events).ok()?;
        }
        let shown = events.iter().filter_map(|event| Tongits::redact(event, Viewer::Seat(viewer)));
        Some((game, shown.collect()))
    }
}

/// `strong` uses the events that it has seen. If a seat has seen the same in two games with
/// different hidden cards, it plays the same.
#[test]
fn strong_does_not_play_otherwise_when_hidden_cards_are_swapped_since_the_deal() {
    let strong = Grade::Strong { games: 12 };
    let (mut compared, mut in_hands) = (0, 0);
    for seed in 0..40 {
        let recorded = Recorded::of(seed);
        let mut dice = TestRng::new(seed);
        for (step, (seat, _)) in recorded.steps.iter().enumerate() {
            let (game, shown) =
                recorded.replayed(&recorded.deck, step, *seat).expect("it was played");
            let mut deck = recorded.deck.clone();
            let [one, other] = [0; 2].map(|_| dice.below(52) as usize);
            deck.swap(one, other);
            let Some((twin, same)) = recorded.replayed(&deck, step, *seat) else { continue };
            if same != shown || game == twin {
                continue;
            }
            let [one, other] = [&game, &twin].map(|game| {
                let view = game.view(Viewer::Seat(*seat));
                let clock = game.default_action(*seat).expect("the seat is asked");
                let mut bot: Box<dyn Bot<Tongits>> = strong.build_bot(Key(Hex([7; 32])));
                shown.iter().for_each(|event| bot.observe_event(event));
                bot.choose_action(&BotPrompt { seat: *seat, view: &view, clock: &clock })
            });
            assert_eq!(one, other, "{seat:?} tells apart {game:#?} and {twin:#?}");
            compared += 1;
            in_hands += usize::from(game.hands() != twin.hands());
        }
    }
    assert!(compared >= 100 && in_hands >= 30, "{compared} pairs, {in_hands} with other hands");
}
