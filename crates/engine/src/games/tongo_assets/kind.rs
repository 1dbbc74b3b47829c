//! Tongo (assets) as a kind of game: its rule sets, the names of its endings and counters, and the
//! short form of its common events.

use alloc::vec::Vec;

use crate::document::{Document, MalformedError};
use crate::game::{CounterIncrement, GameKind, RuleSet, TitledName};
use crate::games::tongo_assets::action::{Action, Illegal};
use crate::games::tongo_assets::event::{Event, Face};
use crate::games::tongo_assets::phase::ShownHand;
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::rules::{NAME, Rules};
use crate::games::tongo_assets::state::TongoAssets;
use crate::games::tongo_assets::strength::Class;
use crate::tagged::TaggedReader;

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

    fn read_event(document: Document<'_>) -> Result<Event, MalformedError> {
        Event::deserialize(TaggedReader(document))
    }

    fn read_action_document(document: Document<'_>) -> Result<Action, MalformedError> {
        Action::from_document(document)
    }

    short_events! { Event:
        "paid" => Paid { seat, chips },
        "assessing" => Assessing { seat | assets = None },
        "swapped" => Swapped { seat, slot | taken = Face::Asset, discarded = Face::Asset },
        "purchased" => Purchased { seat, slot, chips | taken = Face::Asset, discarded = None },
        "acquired" => Acquired { seat, to, chips | taken = Face::Acquire, discarded = None },
        "done" => Done { seat },
        "retreated" => Retreated { seat },
        "opened" => Opened { seat, risk, purchase, sell },
        "raised" => Raised { seat, chips, risk, purchase, sell },
        "stopped" => Stopped { rotation },
        "free_spent" => FreeSpent { seat },
        "dividend_taken" => DividendTaken { seat, chips },
        "audited" => Audited { seat, chips },
        "sold" => Sold { seat, slots, chips | hand = None },
        "revealed" => Revealed { seat, section | assets = None },
        "confronted" => Confronted { seat, chips },
        "evaded" => Evaded { seat, chips, discarded },
        "dealer_chosen" => DealerChosen { seat },
        // The record's forms of these events hold the decks.
        "assets_shuffled" => AssetsShuffled {; deck: None },
        "acquires_shuffled" => AcquiresShuffled {; deck: None },
        "dealt" => Dealt { rotation, hands },
        "shown" => Shown { hands },
        "over" => Over { ending, winner, awards },
    }
}

/// Returns the increments of the players' counters.
pub(super) fn counter_increments(public: &PublicState) -> Vec<CounterIncrement> {
    let (Some(end), Some(shown)) = (public.end, &public.shown) else { return Vec::new() };
    let is_monopoly = |shown: ShownHand| shown.reading.class >= Class::Monopoly;
    let monopolies = shown.by_seat().filter(|(_, shown)| shown.is_some_and(is_monopoly));
    let monopolies = monopolies.map(|(seat, _)| (seat, "monopolies"));
    let counted = [(end.winner, "showdowns_won")].into_iter().chain(monopolies);
    counted.map(|(seat, name)| CounterIncrement { seat, name, more: 1 }).collect()
}
