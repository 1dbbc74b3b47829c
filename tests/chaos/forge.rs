//! Forged evidence: one forgery for each defect that a check is to detect, to show that the checks
//! can fail. The journals of clients are forged when they are read; the files stay unchanged.

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::checks::Check;
use crate::evidence::Evidence;
use crate::journal::{Entry, EntryKind};

/// A forgery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Forgery {
    /// An action that no table accepted is acknowledged.
    Ack,
    /// An ack comes twice.
    AckTwice,
    /// Two actions are acknowledged in the wrong order.
    Order,
    /// An update is missing.
    Update,
    /// An update comes twice.
    UpdateTwice,
    /// An event is missing from an update.
    Event,
    /// A frame holds cards that are hidden from its reader.
    Card,
    /// An action of a record is replaced.
    Record,
    /// A wallet holds a coin that was never transferred.
    Coin,
    /// A table is in no set of deadlines.
    Deadline,
    /// A table makes no progress.
    Standstill,
    /// A game is never finished.
    OpenGame,
}

impl Forgery {
    /// Returns the check that must detect the forgery.
    pub(crate) fn found_by(self) -> Check {
        match self {
            Self::Ack | Self::AckTwice | Self::Order => Check::Acts,
            Self::Update | Self::UpdateTwice | Self::Event => Check::Views,
            Self::Card => Check::Cards,
            Self::Record => Check::Records,
            Self::Coin => Check::Coins,
            Self::Deadline | Self::Standstill | Self::OpenGame => Check::Tables,
        }
    }
}

/// Returns the evidence with a forgery.
pub(crate) fn forged(evidence: &Evidence, forgery: Forgery) -> Evidence {
    let mut evidence = Evidence { forgery: Some(forgery), ..evidence.clone() };
    match forgery {
        Forgery::Record => {
            let settled = evidence.games.values_mut().find_map(|game| game.document.as_mut());
            if let Some(document) = settled {
                *document = with_another_action(document);
            }
        }
        // The ledger's own verification is tested by moving a coin in the database.
        Forgery::Coin => evidence.books.wallets += 1,
        Forgery::Deadline => {
            let mut needing = evidence.tables.then.iter_mut().filter(|table| table.needs_deadline);
            if let Some(table) = needing.next() {
                table.due = None;
            }
        }
        Forgery::Standstill => evidence.tables.later.clone_from(&evidence.tables.then),
        Forgery::OpenGame => {
            if let Some(game) = evidence.games.values_mut().next() {
                game.state = "open".to_owned();
            }
        }
        _ => {}
    }
    evidence
}

fn with_another_action(document: &str) -> String {
    let mut record: Value = serde_json::from_str(document).unwrap_or_default();
    if let Some(actions) = record["actions"].as_array_mut() {
        actions.pop();
    }
    record.to_string()
}

/// Plants the forgery in the journal of a client.
pub(crate) fn journal(forgery: Forgery, entries: &mut Vec<Entry>) {
    match forgery {
        Forgery::Ack => {
            if let Some((place, mut act)) = acked_acts(entries).into_iter().next() {
                let id = u32::MAX;
                act["id"] = json!(id);
                act["prompt"] = json!(1_000_000);
                let at_ms = entries[place].at_ms;
                let ack = json!({ "type": "ack", "id": id, "version": 1 });
                entries.insert(place, Entry { at_ms, what: EntryKind::Received(ack.to_string()) });
                entries.insert(place, Entry { at_ms, what: EntryKind::Sent(act.to_string()) });
            }
        }
        Forgery::AckTwice => {
            if let Some((place, _)) = acked_acts(entries).into_iter().next() {
                entries.insert(place, entries[place].clone());
            }
        }
        Forgery::Order => {
            let acts = acked_acts(entries);
            let same_game = |pair: &&[(usize, Value)]| pair[0].1["game"] == pair[1].1["game"];
            if let Some([(first, _), (second, _)]) = acts.windows(2).find(same_game) {
                let (first_ack, second_ack) =
                    (entries[*first].what.clone(), entries[*second].what.clone());
                // Both commands must have been sent by then.
                let sent: Vec<Entry> = entries[*first..*second]
                    .iter()
                    .filter(|entry| matches!(entry.what, EntryKind::Sent(_)))
                    .cloned()
                    .collect();
                entries[*first].what = second_ack;
                entries[*second].what = first_ack;
                entries.splice(*first..*first, sent);
            }
        }
        Forgery::Update => {
            if let Some(place) = update_with(entries, "\"dumped\"") {
                entries.remove(place);
            }
        }
        Forgery::UpdateTwice => {
            if let Some(place) = update_with(entries, "\"dumped\"") {
                entries.insert(place, entries[place].clone());
            }
        }
        Forgery::Event => change_update(entries, |update| {
            if let Some(events) = update["events"].as_array_mut() {
                events.remove(0);
            }
        }),
        Forgery::Card => change_update(entries, |update| {
            update["peek"] = json!([
                "AC", "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC", "AD",
                "2D", "3D", "4D", "5D", "6D", "7D", "8D", "9D", "TD"
            ]);
        }),
        _ => {}
    }
}

/// Returns the positions of the acks of actions, with the command of each.
fn acked_acts(entries: &[Entry]) -> Vec<(usize, Value)> {
    let mut sent = std::collections::BTreeMap::new();
    let mut acked = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        match &entry.what {
            EntryKind::Sent(text) => {
                let command: Value = serde_json::from_str(text).unwrap_or_default();
                if command["type"] == "act" {
                    sent.insert(command["id"].as_u64(), command);
                }
            }
            EntryKind::Received(text) => {
                let message: Value = serde_json::from_str(text).unwrap_or_default();
                if message["type"] == "ack"
                    && let Some(command) = sent.remove(&message["id"].as_u64())
                {
                    acked.push((place, command));
                }
            }
            EntryKind::Connected { .. } | EntryKind::Lost(_) | EntryKind::Note(_) => {}
        }
    }
    acked
}

fn update_with(entries: &[Entry], word: &str) -> Option<usize> {
    entries.iter().position(|entry| match &entry.what {
        EntryKind::Received(text) => text.starts_with(r#"{"type":"update""#) && text.contains(word),
        _ => false,
    })
}

fn change_update(entries: &mut [Entry], change: impl FnOnce(&mut Value)) {
    if let Some(place) = update_with(entries, "\"dumped\"")
        && let EntryKind::Received(text) = &mut entries[place].what
    {
        let mut update: Value = serde_json::from_str(text).unwrap_or_default();
        change(&mut update);
        *text = update.to_string();
    }
}
