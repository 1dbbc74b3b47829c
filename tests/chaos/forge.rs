//! Forged evidence: one forgery for each defect that a check is to detect, to show that the checks
//! can fail. The journals of clients are forged when they are read; the files stay unchanged.

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::checks::Check;
use crate::evidence::Evidence;
use crate::journal::{Entry, EntryKind};

/// The id of a forged command.
const FORGED_ID: u32 = u32::MAX;

/// A forgery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Forgery {
    /// An action that no table accepted is acknowledged.
    Ack,
    /// An update acknowledges an action that no table accepted.
    UpdateAck,
    /// An ack comes twice.
    AckTwice,
    /// An ack is missing, and later commands are answered.
    NoAck,
    /// Two actions are acknowledged in the wrong order.
    Order,
    /// An update is missing.
    Update,
    /// An update comes twice.
    UpdateTwice,
    /// An event is missing from an update.
    Event,
    /// An update tells that another seat is ready.
    Ready,
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
    /// A prize of a tournament is a coin higher.
    Prize,
    /// A player of a tournament has no place.
    Place,
    /// The account of a tournament keeps a coin.
    Account,
    /// A wallet lacks a prize.
    Wallet,
    /// The AI ended every game for everybody.
    Absence,
}

impl Forgery {
    /// Returns the check that must detect the forgery.
    pub(crate) fn found_by(self) -> Check {
        match self {
            Self::Ack | Self::UpdateAck | Self::AckTwice | Self::Order => Check::Acts,
            Self::NoAck | Self::Update | Self::UpdateTwice | Self::Event | Self::Ready => {
                Check::Views
            }
            Self::Card => Check::Cards,
            Self::Record => Check::Records,
            Self::Coin => Check::Coins,
            Self::Deadline | Self::Standstill | Self::OpenGame => Check::Tables,
            Self::Prize => Check::Results,
            Self::Place | Self::Account => Check::Places,
            Self::Wallet => Check::Wallets,
            Self::Absence => Check::Presence,
        }
    }
}

impl Forgery {
    /// Returns true if the forgery is one of evidence that only a run of tournaments has.
    pub(crate) fn needs_tournaments(self) -> bool {
        matches!(self.found_by(), Check::Places | Check::Wallets | Check::Results | Check::Presence)
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
        _ => {
            if let Some(tournaments) = &mut evidence.tournaments {
                crate::tournaments::forge(forgery, tournaments);
            }
        }
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
    let acts = acked_acts(entries);
    match (forgery, acts.first()) {
        (Forgery::Ack, Some((place, act))) => {
            let at_ms = entries[*place].at_ms;
            let ack = json!({ "type": "ack", "id": FORGED_ID, "version": 1 }).to_string();
            entries.insert(*place, Entry { at_ms, what: EntryKind::Received(ack) });
            entries.insert(*place, forge_act(act.clone(), at_ms));
        }
        (Forgery::UpdateAck, Some((place, act))) => {
            let is_free = |entry: &Entry| {
                is_update_with(entry, "\"dumped\"") && acked_command(&read_message(entry)).is_none()
            };
            if let Some(entry) = entries[*place..].iter_mut().find(|entry| is_free(entry)) {
                change_message(entry, |update| update["ack"] = json!(FORGED_ID));
                entries.insert(*place, forge_act(act.clone(), entries[*place].at_ms));
            }
        }
        (Forgery::AckTwice, Some((place, act))) => {
            let at_ms = entries[*place].at_ms;
            let ack = json!({ "type": "ack", "id": act["id"] }).to_string();
            entries.insert(place + 1, Entry { at_ms, what: EntryKind::Received(ack) });
        }
        (Forgery::NoAck, Some((place, _))) if is_update_with(&entries[*place], "") => {
            change_message(&mut entries[*place], |update| update["ack"] = Value::Null);
        }
        (Forgery::NoAck, Some((place, _))) => drop(entries.remove(*place)),
        (Forgery::Order, _) => {
            let same_game = |pair: &&[(usize, Value)]| pair[0].1["game"] == pair[1].1["game"];
            if let Some([(first, act), (second, next_act)]) = acts.windows(2).find(same_game) {
                change_message(&mut entries[*first], |ack| acknowledge(ack, next_act));
                change_message(&mut entries[*second], |ack| acknowledge(ack, act));
                // Both commands must have been sent by then.
                let sent: Vec<Entry> = entries[*first..*second]
                    .iter()
                    .filter(|entry| matches!(entry.what, EntryKind::Sent(_)))
                    .cloned()
                    .collect();
                entries.splice(*first..*first, sent);
            }
        }
        (Forgery::Update, _) => {
            if let Some(place) = update_with(entries, "\"dumped\"") {
                entries.remove(place);
            }
        }
        (Forgery::UpdateTwice, _) => {
            if let Some(place) = update_with(entries, "\"dumped\"") {
                entries.insert(place, entries[place].clone());
            }
        }
        (Forgery::Event, _) => change_update(entries, "\"dumped\"", |update| {
            if let Some(events) = update["events"].as_array_mut() {
                events.remove(0);
            }
        }),
        (Forgery::Ready, _) => change_update(entries, "\"preparing\"", |update| {
            if let Some(events) = update["events"].as_array_mut() {
                // At least one of them is another seat's.
                events.extend([0, 1].map(|seat| json!({ "type": "ready", "seat": seat })));
            }
        }),
        (Forgery::Card, _) => change_update(entries, "\"dumped\"", |update| {
            update["peek"] = json!([
                "AC", "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC", "AD",
                "2D", "3D", "4D", "5D", "6D", "7D", "8D", "9D", "TD"
            ]);
        }),
        _ => {}
    }
}

/// Returns the sending of an action that no table accepted.
fn forge_act(mut act: Value, at_ms: u64) -> Entry {
    act["id"] = json!(FORGED_ID);
    act["prompt"] = json!(1_000_000);
    Entry { at_ms, what: EntryKind::Sent(act.to_string()) }
}

/// Returns the positions of the acks of actions, with the command of each. An ack is a message of
/// its own or part of an update.
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
            EntryKind::Received(_) => {
                let id = acked_command(&read_message(entry));
                if let Some(command) = id.and_then(|id| sent.remove(&Some(id))) {
                    acked.push((place, command));
                }
            }
            EntryKind::Connected { .. } | EntryKind::Lost(_) | EntryKind::Note(_) => {}
        }
    }
    acked
}

/// Returns the received message of an entry; null for any other entry.
fn read_message(entry: &Entry) -> Value {
    match &entry.what {
        EntryKind::Received(text) => serde_json::from_str(text).unwrap_or_default(),
        _ => Value::Null,
    }
}

/// Returns the name of the field in which a message names the command that it acknowledges.
fn ack_field(message: &Value) -> Option<&'static str> {
    match message["type"].as_str()? {
        "ack" => Some("id"),
        "update" => Some("ack"),
        _ => None,
    }
}

fn acked_command(message: &Value) -> Option<u64> {
    message[ack_field(message)?].as_u64()
}

/// Makes an ack or an update acknowledge another command.
fn acknowledge(message: &mut Value, command: &Value) {
    if let Some(field) = ack_field(message) {
        message[field] = command["id"].clone();
    }
}

fn is_update_with(entry: &Entry, word: &str) -> bool {
    match &entry.what {
        EntryKind::Received(text) => text.starts_with(r#"{"type":"update""#) && text.contains(word),
        _ => false,
    }
}

fn update_with(entries: &[Entry], word: &str) -> Option<usize> {
    entries.iter().position(|entry| is_update_with(entry, word))
}

fn change_message(entry: &mut Entry, change: impl FnOnce(&mut Value)) {
    let mut changed = read_message(entry);
    change(&mut changed);
    entry.what = EntryKind::Received(changed.to_string());
}

fn change_update(entries: &mut [Entry], word: &str, change: impl FnOnce(&mut Value)) {
    if let Some(place) = update_with(entries, word) {
        change_message(&mut entries[place], change);
    }
}
