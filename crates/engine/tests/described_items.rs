//! The description of a settlement's items: as many cards, melds and points as the counts of the
//! item say, in random games of every rule set.

use std::collections::BTreeSet;

use bahay_engine::game::{Describe, Game, GameKind, Outcome, Piece, Viewer};
use bahay_engine::games::tongits::{Counts, Tongits};
use bahay_engine::games::tongo_assets::{self, TongoAssets};
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Policy, TestRng, play};

use crate::support::seeds;

const GAMES: u64 = 400;

/// Rules 6.3, 6.4, 6.6, 10.1 and 11.3: the counts of an item follow from its description.
#[test]
fn items_are_described_by_the_cards_and_points_that_they_count() {
    let mut described = BTreeSet::new();
    for set in Tongits::rule_sets() {
        let rules = (set.rules)();
        for seed in seeds(GAMES) {
            let policies = [Policy::Random; 3];
            let mut dice = TestRng::new(seed);
            let (game, _) = play::<Tongits>(&rules, None, &policies, |_| None, &mut dice);
            let view = game.view(Viewer::Public);
            let hands = view.public.shown.as_deref().unwrap();
            let results = Tongits::describe_result(&view);
            for (shown, result) in hands.iter().zip(&results) {
                let Piece::Text(points) = &result.pieces[0] else { panic!("{result:?}") };
                let burned = if shown.burned { ", burned" } else { "" };
                assert_eq!(*points, format!("{} points{burned}", shown.points));
                assert_eq!(result.pieces.len(), 1 + shown.hand.iter().count());
            }
            assert_eq!(results.len(), hands.len());
            for debt in game.outcome().unwrap().debts {
                for item in &debt.items {
                    let pieces = Tongits::describe_item(&view, debt.from, debt.to, item);
                    let tokens = pieces.iter().filter(|piece| matches!(piece, Piece::Token { .. }));
                    let tokens = count(tokens);
                    let separators =
                        pieces.iter().filter(|piece| **piece == Piece::Text("and".into()));
                    let melds = 1 + count(separators);
                    let won = &hands[debt.to.index()];
                    let lost = &hands[debt.from.index()];
                    let context = format!("{} seed {seed} {item:?} {pieces:?}", set.name);
                    match (&*item.name, &rules.counts) {
                        ("special", Counts::Items(counts)) => {
                            assert_eq!(tokens * counts.special, item.counts, "{context}");
                        }
                        ("secret", counts) => {
                            let each = match counts {
                                Counts::Items(counts) => counts.secret,
                                Counts::Endings(counts) => counts.secret,
                            };
                            assert_eq!(melds * each, item.counts, "{context}");
                            assert!(tokens >= 3 * melds, "{context}");
                        }
                        ("burned", _) => assert_eq!(tokens, count(lost.hand.iter()), "{context}"),
                        ("tongits" | "spread", _) => {
                            assert_eq!(tokens, count(won.hand.iter()), "{context}");
                        }
                        ("normal", _) => assert_eq!(pieces, [], "{context}"),
                        (name, _) => {
                            let points = format!("{} points against {}", won.points, lost.points);
                            assert_eq!(pieces, [Piece::Text(points.into())], "{name}: {context}");
                        }
                    }
                    described.insert(item.name.clone());
                }
            }
        }
    }
    for name in ["normal", "special", "secret", "challenge", "burned", "fight", "stock", "variable"]
    {
        assert!(described.contains(name), "no game had the item {name}: {described:?}");
    }
}

/// Rules 8.2 and 8.3 of Tongo (options): the item of the buy-in shows the hands that decided, and
/// the result the chips that are left.
#[test]
fn a_debt_of_tongo_options_is_described_by_the_hands_that_decided() {
    let mut tokens = 0;
    for set in TongoOptions::rule_sets() {
        let rules = (set.rules)();
        for seed in seeds(GAMES / 8) {
            let (view, outcome) = play_out::<TongoOptions>(&rules, seed);
            let results = TongoOptions::describe_result(&view);
            let ends: Vec<u32> = results.iter().map(|row| parse_chips(&row.pieces[0])).collect();
            let begins = u32::from(rules.chips);
            for debt in outcome.debts {
                let context = format!("{} seed {seed} {debt:?} {ends:?}", set.name);
                assert_eq!(begins - ends[debt.from.index()], debt.counts(), "{context}");
                for item in &debt.items {
                    let pieces = TongoOptions::describe_item(&view, debt.from, debt.to, item);
                    let seats = pieces.iter().filter(|piece| matches!(piece, Piece::Seat(_)));
                    let expected = if item.name == "buy_in" { 2 } else { 0 };
                    assert_eq!(count(seats), expected, "{context}");
                    let shown = pieces.iter().filter(|piece| matches!(piece, Piece::Token { .. }));
                    tokens += count(shown);
                }
            }
        }
    }
    assert!(tokens > 100, "{tokens} cards were shown");
}

/// Rule 6.3 of Tongo (assets): a debt is at most what its payer lost and its receiver won.
#[test]
fn a_debt_of_tongo_assets_is_described_by_the_chips_of_both_sides() {
    let mut tokens = 0;
    // Affordable prices lead to showdowns, which random play hardly ever reaches.
    let short = tongo_assets::Rules {
        rounds_max: 1,
        confront_all_rounds: 0,
        latinum: 1_000,
        raise_max: 1,
        ..tongo_assets::Rules::advanced()
    };
    let sets = TongoAssets::rule_sets().iter().map(|set| (set.rules)());
    for rules in sets.chain([short]) {
        for seed in seeds(GAMES / 8) {
            let (view, outcome) = play_out::<TongoAssets>(&rules, seed);
            let results = TongoAssets::describe_result(&view);
            let halves = |seat: Seat| parse_halves(&results[seat.index()].pieces[0]);
            for debt in outcome.debts {
                let context = format!("{rules:?} seed {seed} {debt:?} {results:?}");
                let begins = 2 * rules.latinum;
                assert!(debt.counts() <= begins - halves(debt.from), "{context}");
                assert!(debt.counts() <= halves(debt.to) - begins, "{context}");
                let [item] = &debt.items[..] else { panic!("{context}") };
                let pieces = TongoAssets::describe_item(&view, debt.from, debt.to, item);
                for seat in [debt.from, debt.to] {
                    assert!(pieces.contains(&Piece::Seat(seat)), "{context}");
                    let result = &results[seat.index()].pieces;
                    assert!(result.iter().all(|piece| pieces.contains(piece)), "{context}");
                }
                tokens += count(pieces.iter().filter(|piece| matches!(piece, Piece::Token { .. })));
            }
        }
    }
    assert!(tokens > 0, "no hand was shown");
}

/// Plays a game at random. Returns its public view at the end, and its outcome.
fn play_out<G: Game>(rules: &G::Rules, seed: u64) -> (G::View, Outcome) {
    let policies = [Policy::Random; 3];
    let (game, _) = play::<G>(rules, None, &policies, |_| None, &mut TestRng::new(seed));
    (game.view(Viewer::Public), game.outcome().unwrap())
}

/// Returns the number of chips in a text such as `12 chips`.
fn parse_chips(piece: &Piece) -> u32 {
    let halves = parse_halves(piece);
    assert_eq!(halves % 2, 0);
    halves / 2
}

/// Returns the number of half chips in a text such as `12.5 chips`.
fn parse_halves(piece: &Piece) -> u32 {
    let Piece::Text(text) = piece else { panic!("{piece:?}") };
    let number = text.strip_suffix(" chips").unwrap();
    let (chips, half) = number.strip_suffix(".5").map_or((number, 0), |chips| (chips, 1));
    2 * chips.parse::<u32>().unwrap() + half
}

fn count(iterator: impl Iterator) -> u32 {
    u32::try_from(iterator.count()).unwrap()
}
