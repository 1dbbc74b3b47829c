//! The invariants of a run, whatever faults it had. Each check is a function of the [`Evidence`]
//! alone, so that forged evidence can show that it detects what it is for.

mod acts;
mod books;
mod tables;
pub(crate) mod walk;

use std::collections::BTreeMap;

use crate::evidence::Evidence;
use walk::JournalWalk;

/// The most facts that a check reports; the first few suffice for a diagnosis.
const TOLD_MAX: usize = 5;

/// The findings of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    told: Vec<String>,
    total: usize,
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

    pub(crate) fn total(&self) -> usize {
        self.total
    }

    pub(crate) fn told(&self) -> &[String] {
        &self.told
    }
}

/// The checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Check {
    Acts,
    Views,
    Cards,
    Ledger,
    Tables,
    Records,
    Coins,
}

impl Check {
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Acts => "every acknowledged act is in a record once and in order",
            Self::Views => "every client saw what the record says, without hole or repetition",
            Self::Cards => "no frame held a card that its seat may not know",
            Self::Ledger => "`bahay verify ledger` finds no difference",
            Self::Tables => "no table stands still or lacks its deadline",
            Self::Records => "every record verifies",
            Self::Coins => "wallets, stakes, POTs and fees are what was granted",
        }
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
        let mut found = BTreeMap::new();
        let (mut views, mut cards) = (Facts::default(), Facts::default());
        for client in &mut walked {
            views.extend(std::mem::take(&mut client.views));
            cards.extend(std::mem::take(&mut client.cards));
        }
        if !evidence.redis_was_lost {
            walk::agree(&walked, &mut views);
        }
        let (acts, counted) = acts::check(evidence, &walked);
        found.insert(Check::Acts, acts);
        found.insert(Check::Views, views);
        found.insert(Check::Cards, cards);
        found.insert(Check::Ledger, books::ledger(evidence));
        found.insert(Check::Tables, tables::check(evidence));
        found.insert(Check::Records, books::records(evidence));
        found.insert(Check::Coins, books::coins(evidence));
        Self { found, walked, acts: counted }
    }

    pub(crate) fn holds(&self) -> bool {
        self.found.values().all(Facts::is_empty)
    }
}
