//! The grades of bots: what each of them knows, and that the better one wins.

use bahay_engine::arena::{Asked, Bot, Contest, Grade, Tally};
use bahay_engine::chance::Key;
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameKind, Turn, Viewer};
use bahay_engine::games::tongits::{Rules, Tongits};
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::hex::Hex;
use bahay_engine::table::{Clocks, Price, Spectators, Terms};
use bahay_engine::testing::{
    Probe, TongitsProbe, TongoAssetsProbe, TongoOptionsProbe, pairs_in_game,
};

/// More games than are needed for as many pairs as are compared.
const GAMES_OF_TWINS: u64 = 30;

/// Those that do not play on.
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
}

/// In games that differ only in what a seat does not see, a bot plays the same there. So many pairs
/// are compared for each rule set.
fn plays_the_same_in_twins<G: GameKind>(probe: &impl Probe<G>, grade: Grade, pairs: usize) {
    for set in G::rule_sets() {
        let mut compared = 0;
        for seed in 0..GAMES_OF_TWINS {
            if compared == pairs {
                break;
            }
            pairs_in_game::<G>(probe, &(set.rules)(), seed, |pair| {
                let is_alike = pair.alike_for.contains(&Viewer::Seat(pair.seat));
                if compared == pairs || !is_alike {
                    return;
                }
                let [one, other] = pair.games.each_ref().map(|game| {
                    let Turn::Players(_) = game.turn() else { panic!("somebody is asked") };
                    let (seat, view) = (pair.seat, game.view(Viewer::Seat(pair.seat)));
                    let clock = game.default_action(seat).expect("the seat is asked");
                    let mut bot: Box<dyn Bot<G>> = grade.bot(Key(Hex([7; 32])));
                    bot.choose(&Asked { seat, view: &view, clock: &clock })
                });
                assert_eq!(one, other, "{grade} tells apart {:#?}", pair.games);
                compared += 1;
            });
        }
        assert_eq!(compared, pairs, "{} for {grade}", set.name);
    }
}

fn contest(rules: Rules, bots: &[Grade]) -> Contest<Rules> {
    let price = Price { bet: Coins::from_hundredths(100), multiplier: 1, fee_basis_points: 500 };
    let (clocks, spectators) = (Clocks::default(), Spectators::Nobody);
    let room = "arena".to_owned();
    let terms = Terms {
        room,
        rules,
        price,
        hits: None,
        clocks,
        spectators,
        private: None,
        practice: false,
    };
    Contest { terms, bots: bots.to_vec(), seed: 7, is_duplicate: true }
}

/// Par is a third of the games.
#[test]
fn at_tongits_quick_wins_more_than_its_part_from_two_greedy_players() {
    let bots = [Grade::Quick, Grade::Greedy, Grade::Greedy];
    let contest = contest(Rules::kingdom(), &bots);
    let mut tally = Tally::new(bots.len());
    (0..10).for_each(|series| tally.add(&contest.series::<Tongits>(series)));
    let share = tally.win_share(0).expect("games were played");
    assert!(share.mean - share.around > 3_334, "{share:?}");
}

/// What it plays is legal, also where it plays on from a fight.
#[test]
fn strong_plays_games_to_their_end() {
    let bots = [Grade::Strong { games: 8 }, Grade::Greedy, Grade::Greedy];
    for rules in [Rules::kingdom(), Rules::joker()] {
        let contest = contest(rules, &bots);
        assert_eq!(contest.series::<Tongits>(0).games(), contest.games_per_series());
    }
}
