//! Tongo (assets) as a kind of game: its rule sets, the names of its endings and counters, and the
//! short form of its common events.

use alloc::vec::Vec;

use serde::de::{Error as _, SeqAccess};
use serde::ser::SerializeSeq;

use crate::game::{CounterIncrement, GameKind, RuleSet, TitledName};
use crate::games::tongo_assets::event::{Event, Face};
use crate::games::tongo_assets::phase::{GameEnding, ShownHand};
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::refusal::Illegal;
use crate::games::tongo_assets::rules::{NAME, Rules};
use crate::games::tongo_assets::state::TongoAssets;
use crate::games::tongo_assets::strength::Class;
use crate::seat::Seat;

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
    const SHORT_EVENTS: &'static [&'static str] =
        &["paid", "assessing", "swapped", "purchased", "acquired", "done", "retreated"];

    fn rule_sets() -> &'static [RuleSet<Rules>] {
        &RULE_SETS
    }

    fn refusals() -> &'static [Illegal] {
        Illegal::ALL
    }

    fn short_event(event: &Event) -> Option<&'static str> {
        match event {
            Event::Paid { .. } => Some("paid"),
            Event::Assessing { .. } => Some("assessing"),
            Event::Swapped { .. } => Some("swapped"),
            Event::Purchased { .. } => Some("purchased"),
            Event::Acquired { .. } => Some("acquired"),
            Event::Done { .. } => Some("done"),
            Event::Retreated { .. } => Some("retreated"),
            Event::DealerChosen { .. }
            | Event::AssetsShuffled { .. }
            | Event::AcquiresShuffled { .. }
            | Event::Dealt { .. }
            | Event::Opened { .. }
            | Event::Raised { .. }
            | Event::Stopped { .. }
            | Event::FreeSpent { .. }
            | Event::Audited { .. }
            | Event::Sold { .. }
            | Event::Revealed { .. }
            | Event::DividendTaken { .. }
            | Event::Confronted { .. }
            | Event::Evaded { .. }
            | Event::Indexed { .. }
            | Event::Leveraged { .. }
            | Event::BribeOffered { .. }
            | Event::BribeAnswered { .. }
            | Event::Shown { .. }
            | Event::Over { .. } => None,
        }
    }

    fn write_short<S: SerializeSeq>(event: &Event, fields: &mut S) -> Result<(), S::Error> {
        match event {
            Event::Paid { seat, chips } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(chips)
            }
            Event::Assessing { seat, assets } => {
                fields.serialize_element(seat)?;
                assets.iter().try_for_each(|assets| fields.serialize_element(assets))
            }
            Event::Swapped { seat, slot, taken, discarded } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(slot)?;
                if (*taken, *discarded) != (Face::Asset, Face::Asset) {
                    fields.serialize_element(taken)?;
                    fields.serialize_element(discarded)?;
                }
                Ok(())
            }
            Event::Purchased { seat, slot, taken, discarded, chips } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(slot)?;
                fields.serialize_element(chips)?;
                if *taken != Face::Asset || discarded.is_some() {
                    fields.serialize_element(taken)?;
                }
                discarded.iter().try_for_each(|face| fields.serialize_element(face))
            }
            Event::Acquired { seat, taken, to, discarded, chips } => {
                fields.serialize_element(seat)?;
                fields.serialize_element(to)?;
                fields.serialize_element(chips)?;
                if *taken != Face::Acquire || discarded.is_some() {
                    fields.serialize_element(taken)?;
                }
                discarded.iter().try_for_each(|face| fields.serialize_element(face))
            }
            Event::Done { seat } | Event::Retreated { seat } => fields.serialize_element(seat),
            Event::DealerChosen { .. }
            | Event::AssetsShuffled { .. }
            | Event::AcquiresShuffled { .. }
            | Event::Dealt { .. }
            | Event::Opened { .. }
            | Event::Raised { .. }
            | Event::Stopped { .. }
            | Event::FreeSpent { .. }
            | Event::Audited { .. }
            | Event::Sold { .. }
            | Event::Revealed { .. }
            | Event::DividendTaken { .. }
            | Event::Confronted { .. }
            | Event::Evaded { .. }
            | Event::Indexed { .. }
            | Event::Leveraged { .. }
            | Event::BribeOffered { .. }
            | Event::BribeAnswered { .. }
            | Event::Shown { .. }
            | Event::Over { .. } => Ok(()),
        }
    }

    fn read_short<'de, A: SeqAccess<'de>>(name: &str, fields: &mut A) -> Result<Event, A::Error> {
        fn next<'de, T: serde::Deserialize<'de>, A: SeqAccess<'de>>(
            fields: &mut A,
        ) -> Result<T, A::Error> {
            let missing = || A::Error::custom("something is missing at the end of an event");
            fields.next_element()?.ok_or_else(missing)
        }
        let seat: Seat = next(fields)?;
        Ok(match name {
            "paid" => Event::Paid { seat, chips: next(fields)? },
            "assessing" => Event::Assessing { seat, assets: fields.next_element()? },
            "swapped" => Event::Swapped {
                seat,
                slot: next(fields)?,
                taken: fields.next_element()?.unwrap_or(Face::Asset),
                discarded: fields.next_element()?.unwrap_or(Face::Asset),
            },
            "purchased" => Event::Purchased {
                seat,
                slot: next(fields)?,
                chips: next(fields)?,
                taken: fields.next_element()?.unwrap_or(Face::Asset),
                discarded: fields.next_element()?,
            },
            "acquired" => Event::Acquired {
                seat,
                to: next(fields)?,
                chips: next(fields)?,
                taken: fields.next_element()?.unwrap_or(Face::Acquire),
                discarded: fields.next_element()?,
            },
            "done" => Event::Done { seat },
            "retreated" => Event::Retreated { seat },
            _ => return Err(A::Error::custom("no event has this name")),
        })
    }
}

pub(super) const fn ending_name(ending: GameEnding) -> &'static str {
    match ending {
        GameEnding::LastIn => "last_in",
        GameEnding::Acquisition => "acquisition",
        GameEnding::Showdown => "showdown",
    }
}

/// Returns the increments of the players' counters.
pub(super) fn counter_increments(public: &PublicState) -> Vec<CounterIncrement> {
    let mut counts = Vec::new();
    let (Some(end), Some(shown)) = (public.end, &public.shown) else {
        return counts;
    };
    counts.push(CounterIncrement { seat: end.winner, name: "showdowns_won", more: 1 });
    let is_monopoly = |shown: &ShownHand| match shown.reading.class {
        Class::Monopoly | Class::FullMonopoly => true,
        Class::Nothing
        | Class::Reserve
        | Class::Treasury
        | Class::MaterialContinuum
        | Class::Consortium
        | Class::FullConsortium => false,
    };
    let monopolies = shown.by_seat().filter(|(_, shown)| shown.as_ref().is_some_and(is_monopoly));
    counts.extend(monopolies.map(|(seat, _)| CounterIncrement {
        seat,
        name: "monopolies",
        more: 1,
    }));
    counts
}

#[cfg(test)]
mod tests {
    use crate::game::{GameKind, GameRules};
    use crate::games::tongo_assets::TongoAssets;

    #[test]
    fn rule_sets_have_names_of_their_own_and_can_be_dealt() {
        let names = TongoAssets::rule_sets().iter().map(|set| set.name);
        assert!(names.eq(["standard", "personal", "advanced"]));
        for set in TongoAssets::rule_sets() {
            assert_eq!((set.rules)().check(), Ok(()), "{}", set.name);
        }
    }
}
