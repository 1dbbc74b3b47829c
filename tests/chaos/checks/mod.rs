//! The invariants of a run, whatever faults it had. Each check is a function of the [`Evidence`]
//! alone, so that forged evidence can show that it detects what it is for.

mod acts;
mod books;
pub(crate) mod presence;
mod tables;
mod tournaments;
pub(crate) mod walk;

use std::collections::BTreeMap;

use crate::evidence::Evidence;
use walk::JournalWalk;

/// The most facts that a check reports; the first few suffice for a diagnosis.
const TOLD_MAX: usize = 5;

/// The findings of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) told: Vec<String>,
    pub(crate) total: usize,
}

impl Facts {
    pub(crate) fn add(&mut self, fact: impl FnOnce() -> String) {
        self.total += 1;
        if self.told.len() < TOLD_MAX {
            self.told.push(fact());
        }
    }

    pub(crate) fn extend(&mut self, other: Self) {
        let room = TOLD_MAX.saturating_sub(self.told.len());
        self.told.extend(other.told.into_iter().take(room));
        self.total += other.total;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }
}

bahay_base::text_enum! {
    /// The checks, by what holds.
    pub(crate) enum Check {
        Acts = "every acknowledged act is in a record once and in order",
        Views = "every client saw what the record says, without hole or repetition",
        Cards = "no frame held a card that its seat may not know",
        Ledger = "`bahay verify ledger` finds no difference",
        Tables = "no table stands still or lacks its deadline",
        Records = "every record verifies",
        Coins = "wallets, stakes, POTs and fees are what was granted",
        Places = "every player of a tournament has a place, and its account is empty",
        Wallets = "every wallet has changed by prizes less entries",
        Results = "docs/verify_tournament.py accepts every list of results",
        Presence = "the AI ended no game for a player who was there",
    }
}

/// The findings of all checks, and the clients' walked journals.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) found: BTreeMap<Check, Facts>,
    pub(crate) walked: Vec<JournalWalk>,
    pub(crate) acts: acts::ActionCounts,
}

impl Verdict {
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let clients = 0..evidence.journals.len();
        let mut walked: Vec<JournalWalk> =
            clients.map(|client| walk::walk(evidence, client)).collect();
        let (mut views, mut cards) = (Facts::default(), Facts::default());
        for client in &mut walked {
            views.extend(std::mem::take(&mut client.views));
            cards.extend(std::mem::take(&mut client.cards));
        }
        if !evidence.redis_was_lost {
            walk::agree(&walked, &mut views);
        }
        let (acts, counted) = acts::check(evidence, &walked);
        let mut found = BTreeMap::from([
            (Check::Acts, acts),
            (Check::Views, views),
            (Check::Cards, cards),
            (Check::Ledger, books::ledger(evidence)),
            (Check::Tables, tables::check(evidence)),
            (Check::Records, books::records(evidence)),
            (Check::Coins, books::coins(evidence)),
        ]);
        if let Some(tournaments) = &evidence.tournaments {
            found.extend([
                (Check::Places, tournaments::check_places(tournaments)),
                (Check::Wallets, tournaments::check_wallets(tournaments)),
                (Check::Results, tournaments::check_results(tournaments)),
                (Check::Presence, tournaments::check_presence(tournaments, &walked)),
            ]);
        }
        Self { found, walked, acts: counted }
    }

    pub(crate) fn holds(&self) -> bool {
        self.found.values().all(Facts::is_empty)
    }
}
