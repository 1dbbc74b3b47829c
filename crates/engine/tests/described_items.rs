//! The description of a settlement's items: as many cards, melds and points as the counts of the
//! item say, in random games of every rule set.

use std::collections::BTreeSet;

use bahay_engine::game::{Describe, Game, GameKind, Piece, Viewer};
use bahay_engine::games::tongits::{Counts, Tongits};
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

fn count(iterator: impl Iterator) -> u32 {
    u32::try_from(iterator.count()).unwrap()
}
