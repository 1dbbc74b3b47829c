//! Tongo (options) as a kind of game: its rule sets, the names of its endings and counters, and the
//! short form of its common events.

use alloc::vec::Vec;

use crate::document::{Document, MalformedError};
use crate::game::{CounterIncrement, GameKind, RuleSet, TitledName};
use crate::games::tongo_options::action::{Action, Illegal};
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::phase::GameEnding;
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::{NAME, Rules};
use crate::games::tongo_options::state::TongoOptions;
use crate::tagged::TaggedReader;

/// The named rule sets (rule 8.4); the first is the default. Neither has a POT (rule 9.2).
const RULE_SETS: [RuleSet<Rules>; 2] = [
    RuleSet { name: "lively", title: "Lively", rules: Rules::lively, hits: None },
    RuleSet { name: "seed", title: "Seed", rules: Rules::seed, hits: None },
];

impl GameKind for TongoOptions {
    const NAME: &'static str = NAME;
    const TITLE: &'static str = "Tongo (options)";
    const UNIT: TitledName = TitledName { name: "chip", title: "Chips" };
    const ENDINGS: &'static [TitledName] = &[
        TitledName { name: "last_in", title: "All others folded" },
        TitledName { name: "confront", title: "Confronted" },
        TitledName { name: "acquire", title: "Acquired" },
        TitledName { name: "reserves", title: "Reserves converted" },
        TitledName { name: "rounds", title: "Last round" },
    ];
    const COUNTERS: &'static [TitledName] = &[
        TitledName { name: "confronts_won", title: "Confrontations won" },
        TitledName { name: "acquires_won", title: "Won by acquiring" },
        TitledName { name: "reserves_won", title: "Won with reserves" },
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
        "stopped" => Stopped { seat, floor },
        "risk_paid" => RiskPaid { seat, chips },
        "retreated" => Retreated { seat },
        "folded" => Folded { seat },
        "bought" => Bought { seat, slot, card, chips | leverage = false },
        "sold" => Sold { seat, slot, chips | leverage = false },
        "exchanged" => Exchanged { seat, slot, floor, other, chips | leverage = false },
        "ended" => Ended { seat, chips },
        // The record's form of the event holds a deck.
        "drew" => Drew { seat | cards = None; deck: None },
        "evaded" => Evaded { seat, token, chips, count | discards = None },
        "costs_changed" => CostsChanged { seat, how, costs, chips },
        "rolling" => Rolling { seat },
        "rolled" => Rolled { seat, dice },
        "confronted" => Confronted { seat, target },
        "answered" => Answered { seat, answer, chips },
        "acquired" => Acquired { seat, floor },
        "reserves_converted" => ReservesConverted { seat, wager },
        // The record's form of the event holds the face-down cards.
        "dealt" => Dealt { dealer, hands, up, dice; hidden: None },
        "shown" => Shown { hands },
        "over" => Over { ending, winner, pot },
    }
}

/// Returns the increments of the winner's counters.
pub(super) fn counter_increments(public: &PublicState) -> Vec<CounterIncrement> {
    let counted = public.end.and_then(|end| {
        // Hands are shown from the left of the challenger, whose hand is the last.
        let challenger = public.shown.last().map_or(end.winner, |last| last.seat);
        let name = match end.ending {
            GameEnding::Confront => "confronts_won",
            GameEnding::Acquire if challenger == end.winner => "acquires_won",
            GameEnding::Acquire => "confronts_won",
            GameEnding::Reserves => "reserves_won",
            GameEnding::LastIn | GameEnding::Rounds => return None,
        };
        Some(CounterIncrement { seat: end.winner, name, more: 1 })
    });
    counted.into_iter().collect()
}
