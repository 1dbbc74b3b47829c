//! Tongo (options) as a kind of game: its rule sets, the names of its endings and counters, and the
//! short form of its common events.

use alloc::vec::Vec;

use serde::Deserialize;
use serde::de::{Error as _, SeqAccess};
use serde::ser::SerializeSeq;

use crate::game::{CounterIncrement, GameKind, RuleSet, TitledName};
use crate::games::tongo_options::event::Event;
use crate::games::tongo_options::phase::GameEnding;
use crate::games::tongo_options::presets::RULE_SETS;
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::refusal::Illegal;
use crate::games::tongo_options::rules::{NAME, Rules};
use crate::games::tongo_options::state::TongoOptions;
use crate::seat::Seat;

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
    const SHORT_EVENTS: &'static [&'static str] = &[
        "stopped",
        "risk_paid",
        "retreated",
        "folded",
        "bought",
        "sold",
        "exchanged",
        "ended",
        "drew",
    ];

    fn rule_sets() -> &'static [RuleSet<Rules>] {
        &RULE_SETS
    }

    fn refusals() -> &'static [Illegal] {
        Illegal::ALL
    }

    fn short_event(event: &Event) -> Option<&'static str> {
        match event {
            Event::Stopped { .. } => Some("stopped"),
            Event::RiskPaid { .. } => Some("risk_paid"),
            Event::Retreated { .. } => Some("retreated"),
            Event::Folded { .. } => Some("folded"),
            Event::Bought { .. } => Some("bought"),
            Event::Sold { .. } => Some("sold"),
            Event::Exchanged { .. } => Some("exchanged"),
            Event::Ended { .. } => Some("ended"),
            // The record's form of the event holds a deck.
            Event::Drew { deck: None, .. } => Some("drew"),
            Event::Dealt { .. }
            | Event::CostsChanged { .. }
            | Event::Rolling { .. }
            | Event::Rolled { .. }
            | Event::Evaded { .. }
            | Event::Drew { deck: Some(_), .. }
            | Event::ReservesConverted { .. }
            | Event::Confronted { .. }
            | Event::Acquired { .. }
            | Event::Answered { .. }
            | Event::Shown { .. }
            | Event::Over { .. } => None,
        }
    }

    fn write_short<S: SerializeSeq>(event: &Event, fields: &mut S) -> Result<(), S::Error> {
        match event {
            Event::Stopped { seat, floor } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(floor)
            }
            Event::RiskPaid { seat, chips } | Event::Ended { seat, chips } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(chips)
            }
            Event::Retreated { seat } | Event::Folded { seat } => fields.serialize_element(seat),
            Event::Bought { seat, slot, card, chips, leverage } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(slot)?;
                fields.serialize_element(card)?;
                fields.serialize_element(chips)?;
                if *leverage { fields.serialize_element(leverage) } else { Ok(()) }
            }
            Event::Sold { seat, slot, chips, leverage } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(slot)?;
                fields.serialize_element(chips)?;
                if *leverage { fields.serialize_element(leverage) } else { Ok(()) }
            }
            Event::Exchanged { seat, slot, floor, other, chips, leverage } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(slot)?;
                fields.serialize_element(floor)?;
                fields.serialize_element(other)?;
                fields.serialize_element(chips)?;
                if *leverage { fields.serialize_element(leverage) } else { Ok(()) }
            }
            Event::Drew { seat, cards, .. } => {
                fields.serialize_element(seat)?;
                cards.iter().try_for_each(|cards| fields.serialize_element(cards))
            }
            Event::Dealt { .. }
            | Event::CostsChanged { .. }
            | Event::Rolling { .. }
            | Event::Rolled { .. }
            | Event::Evaded { .. }
            | Event::ReservesConverted { .. }
            | Event::Confronted { .. }
            | Event::Acquired { .. }
            | Event::Answered { .. }
            | Event::Shown { .. }
            | Event::Over { .. } => Ok(()),
        }
    }

    fn read_short<'de, A: SeqAccess<'de>>(name: &str, fields: &mut A) -> Result<Event, A::Error> {
        fn next<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
            fields: &mut A,
        ) -> Result<T, A::Error> {
            let missing = || A::Error::custom("something is missing at the end of an event");
            fields.next_element()?.ok_or_else(missing)
        }
        fn flag<'de, A: SeqAccess<'de>>(fields: &mut A) -> Result<bool, A::Error> {
            Ok(fields.next_element()?.unwrap_or(false))
        }
        let seat: Seat = next(fields)?;
        Ok(match name {
            "stopped" => Event::Stopped { seat, floor: next(fields)? },
            "risk_paid" => Event::RiskPaid { seat, chips: next(fields)? },
            "retreated" => Event::Retreated { seat },
            "folded" => Event::Folded { seat },
            "bought" => Event::Bought {
                seat,
                slot: next(fields)?,
                card: next(fields)?,
                chips: next(fields)?,
                leverage: flag(fields)?,
            },
            "sold" => Event::Sold {
                seat,
                slot: next(fields)?,
                chips: next(fields)?,
                leverage: flag(fields)?,
            },
            "exchanged" => Event::Exchanged {
                seat,
                slot: next(fields)?,
                floor: next(fields)?,
                other: next(fields)?,
                chips: next(fields)?,
                leverage: flag(fields)?,
            },
            "ended" => Event::Ended { seat, chips: next(fields)? },
            "drew" => Event::Drew { seat, cards: fields.next_element()?, deck: None },
            _ => return Err(A::Error::custom("no event has this name")),
        })
    }
}

pub(super) const fn ending_name(ending: GameEnding) -> &'static str {
    match ending {
        GameEnding::LastIn => "last_in",
        GameEnding::Confront => "confront",
        GameEnding::Acquire => "acquire",
        GameEnding::Reserves => "reserves",
        GameEnding::Rounds => "rounds",
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
