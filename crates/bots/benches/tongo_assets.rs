//! The costs of Tongo (assets) and its table (`table_costs`): random play of whole games at small
//! and large tables, the strength of a hand, the bot's choice, and the serialised sizes. `./dev
//! bench` prints this with the other benchmarks, `cargo bench -p bahay-bots` without instructions.

mod table_costs;

use bahay_bots::Ai;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::games::tongo_assets::{Card, CardSet, HandRank, Rules, TongoAssets, View};
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Policy, TestRng, play, step};

use table_costs::{PlayedTable, Rows, random_play, text};

const GAMES: u64 = 400;
const HANDS: usize = 4_096;
/// The number of positions with a prompted seat.
const POSITIONS: usize = 512;
/// The number of games in the journal.
const JOURNAL_GAMES: usize = 5;

fn main() {
    let rows = Rows::new("Tongo (assets)");
    for seats in [4, 8] {
        let play = || random_play::<TongoAssets>(&Rules::standard(), seats, GAMES);
        rows.round(&format!("random play, a step, {seats} seats"), || play().0);
        rows.round(&format!("random play, a game, {seats} seats"), || play().2);
    }
    rows.round("play by the AI, a step, 8 seats", || played_by_ais(8));
    for (name, wilds) in [("no wild", 0), ("a wild", 1), ("three wilds", 3)] {
        let hands = random_hands(wilds);
        rows.each(&format!("strength, hand of 7 with {name}"), &hands, |hand| {
            HandRank::from_hand(*hand)
        });
    }
    let views = positions();
    rows.each("advice of the bot", &views, TongoAssets::choose_action);
    let legal = |view: &View| {
        let mut actions = Vec::new();
        TongoAssets::legal_in_view(view, &mut actions);
        actions.len()
    };
    rows.each("legal actions of a view", &views, legal);
    let most = views.iter().max_by_key(|view| legal(view)).expect("somebody was asked");
    let mut actions = Vec::new();
    TongoAssets::legal_in_view(most, &mut actions);
    rows.bytes("a view on paper", text(most).len());
    rows.bytes("the longest list of legal actions on paper", text(&actions).len());
    PlayedTable::<TongoAssets>::play(Rules::standard(), None, JOURNAL_GAMES).print(&rows);
}

fn played_by_ais(seats: usize) -> u64 {
    let policies = vec![Policy::Ai; seats];
    let rules = Rules::standard();
    let games = (0..20).map(|seed| {
        let mut dice = TestRng::new(seed);
        play::<TongoAssets>(&rules, None, &policies, TongoAssets::choose_action, &mut dice).1
    });
    games.sum::<usize>() as u64
}

fn random_hands(wilds: u8) -> Vec<CardSet> {
    let mut dice = TestRng::new(1);
    let hand = |dice: &mut TestRng| {
        let mut hand: CardSet = (0..wilds).filter_map(Card::acquire).collect();
        while hand.len() < 7 {
            let card = u8::try_from(dice.below(98)).ok().and_then(Card::asset);
            hand = card.map_or(hand, |card| hand.with(card));
        }
        hand
    };
    (0..HANDS).map(|_| hand(&mut dice)).collect()
}

/// Returns the views of prompted seats in games of the AI.
fn positions() -> Vec<View> {
    let mut views = Vec::new();
    let mut dice = TestRng::new(1);
    while views.len() < POSITIONS {
        let mut game = TongoAssets::new(&Rules::advanced(), 6, Seat::new(0));
        while let Some(next) = step(&game, &mut dice, &mut Vec::new(), |seat, _| {
            let view = game.view(Viewer::Seat(seat));
            let action = TongoAssets::choose_action(&view).expect("a seat that is asked can act");
            views.push(view);
            action
        }) {
            game = next;
        }
    }
    views.truncate(POSITIONS);
    views
}
