//! Tongo (assets) as a kind of game: its rule sets, the names of its endings and counters, and the
//! short form of its common events.

use alloc::vec::Vec;

use crate::game::{CounterIncrement, GameKind, RuleSet, TitledName};
use crate::games::tongo_assets::event::{Event, Face};
use crate::games::tongo_assets::phase::ShownHand;
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::refusal::Illegal;
use crate::games::tongo_assets::rules::{NAME, Rules};
use crate::games::tongo_assets::state::TongoAssets;
use crate::games::tongo_assets::strength::Class;

const RULE_SETS: [RuleSet<Rules>; 3] = [
    RuleSet { name: "standard", title: "Standard", rules: Rules::standard, hits: None },
    RuleSet { name: "personal", title: "Personal", rules: Rules::personal, hits: None },
    RuleSet { name: "advanced", title: "Advanced", rules: Rules::advanced, hits: None },
];

impl GameKind for TongoAssets {
    const NAME: &'static str = NAME;
    const TITLE: &'static str = "Tongo (assets)";
    const UNIT: TitledName = TitledName { name: "half_chip", title: "Half chips" };
    const ENDINGS: &'static [TitledName] = &[
        TitledName { name: "last_in", title: "Last one in" },
        TitledName { name: "acquisition", title: "Confronter's hand" },
        TitledName { name: "showdown", title: "Another's hand" },
    ];
    const COUNTERS: &'static [TitledName] = &[
        TitledName { name: "showdowns_won", title: "Strongest hands" },
        TitledName { name: "monopolies", title: "Monopolies shown" },
    ];

    fn rule_sets() -> &'static [RuleSet<Rules>] {
        &RULE_SETS
    }

    fn refusals() -> &'static [Illegal] {
        Illegal::ALL
    }

    short_events! { Event:
        "paid" => Paid { seat, chips },
        "assessing" => Assessing { seat | assets = None },
        "swapped" => Swapped { seat, slot | taken = Face::Asset, discarded = Face::Asset },
        "purchased" => Purchased { seat, slot, chips | taken = Face::Asset, discarded = None },
        "acquired" => Acquired { seat, to, chips | taken = Face::Acquire, discarded = None },
        "done" => Done { seat },
        "retreated" => Retreated { seat },
    }
}

/// Returns the increments of the players' counters.
pub(super) fn counter_increments(public: &PublicState) -> Vec<CounterIncrement> {
    let mut counts = Vec::new();
    let (Some(end), Some(shown)) = (public.end, &public.shown) else { return counts };
    counts.push(CounterIncrement { seat: end.winner, name: "showdowns_won", more: 1 });
    let is_monopoly = |shown: &ShownHand| match shown.reading.class {
        Class::Monopoly | Class::FullMonopoly => true,
        variants!(Class: Nothing, Reserve, Treasury, MaterialContinuum, Consortium,
            FullConsortium) => false,
    };
    let monopolies = shown.by_seat().filter(|(_, shown)| shown.as_ref().is_some_and(is_monopoly));
    counts.extend(monopolies.map(|(seat, _)| CounterIncrement {
        seat,
        name: "monopolies",
        more: 1,
    }));
    counts
}
