//! The strength of the house's AI: far above random play, and against itself with a mix of endings
//! that is typical of Tong-its.

use bahay_bots::{Ai, net_counts};
use bahay_engine::cards::CardSet;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::games::tongits::{
    Action, ExposedMeld, GameSetup, Preset, Rules, SetupPhase, Tongits,
};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::testing::{Policy, TestRng, play};

use crate::support::play_game;

/// Plays seeded games and sums each seat's gains and losses in counts, and the endings.
fn tally(rules: &Rules, policies: [Policy; 3], games: u64) -> ([i64; 3], [u32; 3]) {
    let (mut counts, mut endings) = ([0; 3], [0; 3]);
    for seed in 0..games {
        let starter = Seat::all(3).nth((seed % 3) as usize);
        let mut dice = TestRng::new(seed);
        let game = play::<Tongits>(rules, starter, &policies, Tongits::choose_action, &mut dice).0;
        let outcome = game.outcome().expect("the game is over");
        for (seat, counts) in Seat::all(3).zip(&mut counts) {
            *counts += net_counts(&outcome, seat);
        }
        endings[game.public().end.expect("the game is over").ending as usize] += 1;
    }
    (counts, endings)
}

#[test]
fn the_ai_beats_random_play_by_far() {
    for preset in Preset::ALL {
        let games = 300;
        let policies = [Policy::Ai, Policy::Random, Policy::Random];
        let (counts, _) = tally(&preset.rules, policies, games);
        println!("{}: against random play {counts:?} counts in {games} games", preset.name);
        assert!(counts[0] > 2 * i64::try_from(games).unwrap_or(i64::MAX), "{counts:?}");
    }
}

#[test]
fn three_ais_end_games_in_every_way() {
    for preset in Preset::ALL {
        let games = 600;
        let (counts, endings) = tally(&preset.rules, [Policy::Ai; 3], games);
        let name = preset.name;
        println!("{name}: tongits, fight, stock: {endings:?} of {games}; counts {counts:?}");
        // With jokers hands become low so soon that few games exhaust the stock.
        let least = if preset.rules.jokers { 3 } else { 20 };
        assert!(endings.iter().all(|ending| *ending > least), "{name}: {endings:?}");
    }
}

/// The AI's choices, under the rules that they depend on.
#[test]
fn the_ai_lays_face_down_and_uses_jokers_and_sagasas() {
    let [mut face_down, mut with_joker, mut sagasas] = [0_u32; 3];
    for seed in 0..600 {
        let policies = [Policy::Ai; 3];
        let game = play_game::<Tongits>(&Rules::joker(), &policies, seed);
        for meld in game.public().melds.iter() {
            face_down += u32::from(meld.face_down.is_some());
            with_joker += u32::from(meld.cards.has_joker());
            sagasas += u32::from(meld.sagasa);
        }
    }
    println!("in 600 games: {face_down} face down, {with_joker} with a joker, {sagasas} sagasas");
    assert!(face_down > 0 && with_joker > 100 && sagasas > 0);
}

fn advised(position: &GameSetup, seat: Seat) -> Action {
    let game = position.game().expect("such a position can stand");
    Tongits::choose_action(&game.view(Viewer::Seat(seat))).expect("the seat is to act")
}

fn cards(text: &str) -> CardSet {
    text.split_whitespace().map(|card| card.parse().expect("a card")).collect()
}

/// Sets up a position of seat 0 from `joker`, with an empty table.
fn position(phase: SetupPhase, hand: &str) -> GameSetup {
    let hands = [cards(hand), cards("KD 9H"), cards("QD 8S")];
    let named = hands.iter().fold(CardSet::EMPTY, |sum, hand| sum.union(*hand));
    GameSetup {
        rules: Rules::joker(),
        turn: Seat::new(0).expect("a seat"),
        phase,
        hands,
        stock: CardSet::ALL.difference(named).iter().collect(),
        discards: Vec::new(),
        melds: Vec::new(),
        added_to: SeatSet::EMPTY,
        yet_to_act: SeatSet::EMPTY,
        drawn: None,
    }
}

/// Rules 10.3, 3.4, 10.2 and 11.1: the most valuable action is not missed.
#[test]
fn the_ai_takes_what_the_rules_offer() {
    let own = Seat::new(0).expect("a seat");
    let spread = GameSetup {
        yet_to_act: SeatSet::only(own),
        ..position(SetupPhase::Draw, "5C 5D 5H 6C 7C 8C")
    };
    assert_eq!(advised(&spread, own), Action::Tongits);

    // Four of a rank pay if they stay concealed, and the hand is emptied in this turn.
    let concealed = position(SetupPhase::Play, "5C 5D 5H 5S 2H");
    let four = cards("5C 5D 5H 5S");
    assert_eq!(advised(&concealed, own), Action::Drop { cards: four, face_down: true });
    let kept = position(SetupPhase::Play, "5C 5D 5H 5S 2H JC 8D QH");
    assert!(matches!(advised(&kept, own), Action::Dump { card } if !four.contains(card)));

    let set = ExposedMeld {
        owner: own,
        cards: cards("7C 7D 7H"),
        by: [cards("7C 7D 7H"), CardSet::EMPTY, CardSet::EMPTY],
        face_down: None,
        sagasa: false,
    };
    let mut sagasa = position(SetupPhase::Play, "7S 2H JC QS 4D");
    sagasa.stock.retain(|card| !set.cards.contains(*card));
    sagasa.melds.push(set);
    sagasa.drawn = cards("7S").first();
    let card = cards("7S").first().expect("a card");
    assert_eq!(advised(&sagasa, own), Action::Sapaw { card, meld: 0 });

    let with_joker = position(SetupPhase::Play, "9C 9D X1 2H 5C");
    assert_eq!(
        advised(&with_joker, own),
        Action::Drop { cards: cards("9C 9D X1"), face_down: false }
    );
}
