//! Tong-its as an entry of the catalogue: its rule sets, the names of its endings and counters, and
//! the short form of its common events.

use alloc::vec::Vec;

use crate::document::{Document, MalformedError};
use crate::game::{CounterIncrement, GameKind, Hits, RuleSet, TitledName};
use crate::games::tongits::action::{Action, Illegal};
use crate::games::tongits::event::{EndingKind, Event};
use crate::games::tongits::phase::PublicState;
use crate::games::tongits::rules::{Additions, NAME, Preset, Rules};
use crate::games::tongits::state::Tongits;
use crate::seat::SeatSet;
use crate::tagged::TaggedReader;

const RULE_SETS: [RuleSet<Rules>; 4] = [
    make_rule_set("Kingdom", Preset::ALL[0], Rules::kingdom),
    make_rule_set("Classic", Preset::ALL[1], Rules::classic),
    make_rule_set("Joker", Preset::ALL[2], Rules::joker),
    RuleSet {
        name: "relaxed",
        rules: relaxed,
        ..make_rule_set("Relaxed", Preset::ALL[0], relaxed)
    },
];

const fn make_rule_set(
    title: &'static str,
    preset: Preset,
    rules: fn() -> Rules,
) -> RuleSet<Rules> {
    let Preset { name, rules: _, hits_to_win: to_win, second_hit_bonus } = preset;
    RuleSet { name, title, rules, hits: Some(Hits { ante: 1, to_win, second_hit_bonus }) }
}

/// The rules for beginners: any card may be dumped (rule 3.6), and only additions by opponents
/// block a seat's right to fight (rule 4.1).
const fn relaxed() -> Rules {
    Rules { dump_addable: true, fight_blocked_by: Additions::Opponents, ..Rules::kingdom() }
}

impl GameKind for Tongits {
    const NAME: &'static str = NAME;
    const TITLE: &'static str = "Tong-its";
    const UNIT: TitledName = TitledName { name: "count", title: "Counts" };
    const ENDINGS: &'static [TitledName] = &[
        TitledName { name: "tongits", title: "Tong-its" },
        TitledName { name: "fight", title: "Fight" },
        TitledName { name: "stock", title: "Stock exhausted" },
    ];
    const COUNTERS: &'static [TitledName] = &[
        TitledName { name: "tongits", title: "Won by Tong-its" },
        TitledName { name: "fights_won", title: "Fights won" },
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
        "drawn" => Drawn { seat | auto = false, card = None },
        "chowed" => Chowed { seat, discard, cards },
        "dropped" => Dropped { seat, cards },
        "sapawed" => Sapawed { seat, card, meld },
        "dumped" => Dumped { seat, card },
        "starter_chosen" => StarterChosen { seat },
        // The record's form of the event holds the stock.
        "dealt" => Dealt { starter, hands; stock: None },
        "fought" => Fought { seat, asked | asked_secretly = SeatSet::EMPTY },
        "answered" => Answered { seat, answer },
        "sagasa" => Sagasa { seat, meld },
        "laid_face_down" => LaidFaceDown { seat, cards, count },
        "tongits_declared" => TongitsDeclared { seat },
        "shown" => Shown { hands },
        "over" => Over { ending, winner, showdown | special = None },
    }
}

/// Returns the increments of the winner's counters.
pub(super) fn counter_increments(public: &PublicState) -> Vec<CounterIncrement> {
    let counted = public.end.and_then(|end| {
        let name = match end.ending {
            EndingKind::Tongits => "tongits",
            EndingKind::Fight => "fights_won",
            EndingKind::Stock => return None,
        };
        Some(CounterIncrement { seat: end.winner?, name, more: 1 })
    });
    counted.into_iter().collect()
}
