//! A walk through one client's journal: folds the messages as any client does and compares each
//! step with the records of the games. It also collects the acknowledged actions and the figures.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bahay::ws::protocol::brief::Form;
use bahay::ws::protocol::{Command, Message, MessageReader, Tag};
use bahay_engine::cards::{Card, CardSet};
use bahay_engine::catalog::{AnyEvent, AnyGame};
use bahay_engine::chance::Commitment;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{Event, GameId, PhaseView, PlayerId, TableId, TableView, Timestamp};
use bahay_engine::variants;
use serde_json::Value;

use super::Facts;
use super::presence::{Absence, FinishedGame, ORDERED_MS, PresenceChange};
use crate::evidence::{Evidence, Game};
use crate::journal::{Entry, EntryKind};
use crate::truth::{ActionJson, SeatKnowledge, Truth};

/// An action that the server acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Acked {
    pub(crate) game: GameId,
    pub(crate) prompt: u32,
    pub(crate) action: ActionJson,
}

/// The result of walking a client's journal.
#[derive(Debug, Default)]
pub(crate) struct JournalWalk {
    pub(crate) client: usize,
    pub(crate) player: Option<PlayerId>,
    pub(crate) acked: Vec<Acked>,
    /// For each acknowledged command, the time at which it was first sent and the ms until its ack.
    pub(crate) acked_after_ms: Vec<(u64, u64)>,
    /// Every action that was sent, acknowledged or not.
    pub(crate) sent: Vec<(GameId, u32, ActionJson)>,
    /// The commitments of acknowledged readies, and the texts of acknowledged reveals.
    pub(crate) commitments: Vec<(GameId, Commitment)>,
    pub(crate) texts: Vec<(GameId, String)>,
    pub(crate) refusals: BTreeMap<String, u64>,
    pub(crate) absences: Vec<Absence>,
    pub(crate) presence_changes: Vec<PresenceChange>,
    pub(crate) finished: Vec<FinishedGame>,
    /// For each update, a hash of the content that is the same for all viewers.
    pub(crate) told: HashMap<(TableId, Tag), u64>,
    pub(crate) snapshots: u64,
    pub(crate) updates: u64,
    pub(crate) views: Facts,
    pub(crate) cards: Facts,
}

/// A client's position in a game.
#[derive(Clone, Debug)]
struct GamePosition {
    game: GameId,
    /// `None` if the game has no record to compare with.
    seen: Option<Arc<SeatKnowledge>>,
    /// The number of events applied so far.
    events: usize,
}

struct Walk<'a> {
    evidence: &'a Evidence,
    found: JournalWalk,
    /// One reader for all connections: on a new one the client resumes the table that it knows.
    reader: MessageReader,
    view: Option<TableView<AnyGame>>,
    version: u64,
    /// The last server time of the table.
    time: Timestamp,
    place: Option<GamePosition>,
    commands: BTreeMap<u32, Command<Value>>,
    /// The commands of the connection without an answer, in the order of sending.
    unanswered: VecDeque<u32>,
    /// The time at which an answer to a prompt was first sent.
    first_sent_ms: HashMap<(GameId, u32), u64>,
    node: u64,
    /// The time of the last join or order, from which the client behaves.
    since_ms: u64,
    at_ms: u64,
}

pub(crate) fn walk(evidence: &Evidence, client: usize) -> JournalWalk {
    let mut walk = Walk {
        evidence,
        found: JournalWalk { client, ..JournalWalk::default() },
        reader: MessageReader::new(Form::Full),
        view: None,
        version: 0,
        time: Timestamp::default(),
        place: None,
        commands: BTreeMap::new(),
        unanswered: VecDeque::new(),
        first_sent_ms: HashMap::new(),
        node: 0,
        since_ms: 0,
        at_ms: 0,
    };
    for Entry { at_ms, what } in evidence.entries(client) {
        walk.at_ms = at_ms;
        match what {
            EntryKind::Connected { node } => {
                walk.node = node;
                walk.unanswered.clear();
            }
            EntryKind::Lost(why) => walk.lost(&why),
            EntryKind::Sent(text) => walk.sent(&text),
            EntryKind::Received(text) => walk.received(&text),
            EntryKind::Note(text) => walk.note(&text),
        }
    }
    walk.found
}

impl Walk<'_> {
    fn note(&mut self, text: &str) {
        if let Some(player) = text.strip_prefix("player ") {
            self.found.player = player.parse().ok();
        }
        match text.strip_prefix("ordered: ").and_then(|order| order.split('(').next()) {
            Some("Behave") => self.since_ms = self.at_ms,
            Some("Idle" | "Slow" | "Leave") => self.since_ms = self.at_ms + ORDERED_MS,
            Some(_) | None => {}
        }
        if text == "returning"
            && let Some(absence) = self.found.absences.last_mut()
        {
            absence.tried_ms = self.at_ms;
        }
    }

    fn lost(&mut self, why: &str) {
        if why == "finished" {
            return;
        }
        let playing = |view: &TableView<AnyGame>| match (&view.phase, view.seat) {
            (PhaseView::Playing { .. }, Some(seat)) => Some((view.table, seat)),
            _ => None,
        };
        let seat = self.view.as_ref().and_then(playing);
        let (node, lost_ms) = (self.node, self.at_ms);
        let absence = Absence { node, lost_ms, tried_ms: lost_ms, joined_ms: None, seat };
        // A connection that was lost before it had joined belongs to the previous absence.
        match self.found.absences.last() {
            Some(Absence { joined_ms: None, .. }) => {}
            Some(_) | None => self.found.absences.push(absence),
        }
    }

    fn sent(&mut self, text: &str) {
        let Ok(command) = serde_json::from_str::<Command<Value>>(text) else {
            return;
        };
        if let Command::Act { game, prompt, action, .. } = &command {
            self.found.sent.push((*game, *prompt, ActionJson::of(action)));
            self.first_sent_ms.entry((*game, *prompt)).or_insert(self.at_ms);
        }
        self.unanswered.push_back(command.id());
        self.commands.insert(command.id(), command);
    }

    fn received(&mut self, text: &str) {
        let Ok(json) = serde_json::from_str::<Value>(text) else {
            return self.complain(|| format!("a frame that is no JSON: {text}"));
        };
        let Ok(message) = self.reader.read(text.as_bytes()) else {
            return self.complain(|| format!("a frame that is no message: {text}"));
        };
        if let Message::Snapshot { version, server_time_ms, view, .. } = &message {
            if self.view.as_ref().is_none_or(|had| had.table != view.table) {
                self.time = Timestamp::default();
            }
            self.time(*server_time_ms);
            self.snapshot(*version, view);
        }
        if let Message::Update { version, tag, server_time_ms, events, ack, .. } = &message {
            self.time(*server_time_ms);
            let own = self.view.as_ref().map(|view| view.seat);
            self.update(*version, *tag, events);
            if let Some(id) = ack {
                if let Some(own) = own {
                    self.check_effect(*id, own, events);
                }
                self.acked(*id);
            }
        }
        if let Message::Said { server_time_ms, .. } = &message {
            self.time(*server_time_ms);
        }
        if let Message::Ack { id, version } = &message {
            // An ack does not precede the effects of its command.
            let later = version.filter(|version| *version > self.version && self.view.is_some());
            if let Some(version) = later {
                self.complain(|| format!("command {id} was acknowledged in version {version}"));
            }
            self.acked(*id);
        }
        if let Message::Refusal { id, code, .. } = &message {
            *self.found.refusals.entry(code.to_string()).or_default() += 1;
            if let Some(id) = id {
                self.check_answer(*id);
            }
        }
        self.cards(&json, text);
    }

    /// Checks that the server time of a table never decreases, whichever nodes the client uses.
    fn time(&mut self, shown: Timestamp) {
        let had = std::mem::replace(&mut self.time, shown);
        if shown < had {
            let ms = had.ms() - shown.ms();
            self.complain(|| format!("the time of its table went back by {ms} ms"));
        }
    }

    fn complain(&mut self, fact: impl FnOnce() -> String) {
        let (client, at_ms, version) = (self.found.client, self.at_ms, self.version);
        self.found
            .views
            .add(|| format!("client {client} at {at_ms} ms, version {version}: {}", fact()));
    }

    /// Checks that commands are answered once and in the order of sending.
    fn check_answer(&mut self, id: u32) {
        let place = self.unanswered.iter().position(|sent| *sent == id);
        match place {
            Some(0) => {}
            Some(skipped) => {
                self.complain(|| format!("{skipped} commands before command {id} have no answer"));
            }
            None => self.complain(|| format!("an answer too many to command {id}")),
        }
        self.unanswered.drain(..place.map_or(0, |place| place + 1));
    }

    /// Checks that an update with the ack of a command has an effect of that command on the seat
    /// of the client, which the update may have moved before it. A join of a seat that is already
    /// connected may have none: then its line has only the takeovers of other seats that were due.
    fn check_effect(&mut self, id: u32, mut own: Option<Seat>, events: &[Event<AnyEvent>]) {
        let command = self.commands.get(&id);
        let is_effect = |own: Option<Seat>, event: &Event<AnyEvent>| {
            let is_own = |seat: &Seat| own == Some(*seat);
            match (command, event) {
                (Some(Command::Act { .. }), Event::Game { .. }) => true,
                (Some(Command::Join { .. }), Event::Takeover { seat, on: true }) => !is_own(seat),
                (Some(Command::Ready { .. }), Event::Ready { seat })
                | (Some(Command::Reveal { .. }), Event::Revealed { seat })
                | (Some(Command::Join { .. }), Event::Presence { seat, connected: true })
                | (
                    Some(Command::Join { .. } | Command::TakeBack { .. }),
                    Event::Takeover { seat, on: false },
                )
                | (Some(Command::Leave { .. }), Event::Left { seat, .. })
                | (Some(Command::Leave { .. }), Event::Takeover { seat, on: true }) => is_own(seat),
                _ => false,
            }
        };
        let has_effect = events.iter().any(|event| {
            if let Event::Moved { seat, to } = event
                && own == Some(*seat)
            {
                own = Some(*to);
            }
            is_effect(own, event)
        });
        if !has_effect {
            let kind = command.map_or("no", Command::kind);
            self.complain(|| format!("an update without an effect of {kind} {id} has its ack"));
        }
    }

    fn acked(&mut self, id: u32) {
        self.check_answer(id);
        let at_ms = self.at_ms;
        match self.commands.get(&id) {
            Some(Command::Act { game, prompt, action, .. }) => {
                let (game, prompt, action) = (*game, *prompt, ActionJson::of(action));
                let sent_ms = self.first_sent_ms.get(&(game, prompt)).copied().unwrap_or(at_ms);
                self.found.acked_after_ms.push((sent_ms, at_ms.saturating_sub(sent_ms)));
                self.found.acked.push(Acked { game, prompt, action });
            }
            Some(Command::Ready { game, commitment: Some(commitment), .. }) => {
                self.found.commitments.push((*game, *commitment));
            }
            Some(Command::Reveal { game, text, .. }) => {
                self.found.texts.push((*game, text.clone()));
            }
            Some(Command::Join { .. }) => {
                self.since_ms = self.since_ms.max(at_ms);
                if let Some(absence) = self.found.absences.last_mut() {
                    absence.joined_ms.get_or_insert(at_ms);
                }
            }
            Some(_) => {}
            None => self.complain(|| format!("an answer to command {id}, which was never sent")),
        }
    }

    fn snapshot(&mut self, version: u64, view: &TableView<AnyGame>) {
        self.found.snapshots += 1;
        let same = self.view.as_ref().is_some_and(|had| had.table == view.table);
        if same && version < self.version && !self.evidence.redis_was_lost {
            self.complain(|| format!("a snapshot of version {version}"));
        }
        let from = match (&self.place, &view.phase) {
            (Some(place), PhaseView::Playing { game, .. }) if place.game == *game && same => {
                place.events
            }
            _ => 0,
        };
        let told = match &view.phase {
            PhaseView::Preparing { ready, .. } => *ready,
            PhaseView::Revealing { revealed, .. } => *revealed,
            _ => SeatSet::EMPTY,
        };
        if told.iter().any(|other| view.seat != Some(other)) {
            self.complain(|| format!("a snapshot shows {told:?} as ready or revealed"));
        }
        self.view = Some(view.clone());
        self.version = version;
        self.place = None;
        let (PhaseView::Playing { game, view: game_view, .. }, Some(seat)) =
            (&view.phase, view.seat)
        else {
            return;
        };
        self.enter(*game, seat);
        if let Some(GamePosition { seen: Some(seen), events, .. }) = &mut self.place {
            match seen.place_of(game_view, from) {
                Some(place) => *events = place,
                None => self.complain(|| format!("a snapshot of what game {game} never was")),
            }
        }
    }

    /// Finds the game's record as seen from this seat.
    fn enter(&mut self, game: GameId, seat: Seat) {
        let seen = match self.evidence.games.get(&game) {
            None => {
                self.complain(|| format!("game {game} was shown and never opened"));
                None
            }
            Some(Game { record: None, .. }) => None,
            Some(Game { record: Some(record), .. }) => match Truth::of(record) {
                Ok(truth) => Some(Arc::new(truth.seen_by(seat))),
                Err(error) => {
                    self.complain(|| format!("game {game} cannot be replayed: {error}"));
                    None
                }
            },
        };
        self.place = Some(GamePosition { game, seen, events: 0 });
    }

    fn update(&mut self, version: u64, tag: Tag, events: &[Event<AnyEvent>]) {
        self.found.updates += 1;
        if self.view.is_none() {
            // An error has been reported already, unless this is the first message.
            if self.version == 0 {
                self.complain(|| format!("update {version} came before any snapshot"));
            }
            return;
        }
        if version != self.version + 1 {
            self.complain(|| format!("update {version} does not follow"));
            return self.lose_track();
        }
        self.version = version;
        self.note_told(tag, events);
        for event in events {
            if !self.event(event) {
                return self.lose_track();
            }
            let Some(mut view) = self.view.take() else {
                return;
            };
            // A nonsensical event is a finding and must not end this program.
            let observed = catch_unwind(AssertUnwindSafe(move || {
                view.observe(event);
                view
            }));
            match observed {
                Ok(view) => self.view = Some(view),
                Err(_) => {
                    self.complain(|| format!("an event makes no sense: {event:?}"));
                    return self.lose_track();
                }
            }
        }
        if !events.is_empty() {
            self.compare();
        }
    }

    /// Suspends comparison until the next snapshot; cards are still checked against the last known
    /// position.
    fn lose_track(&mut self) {
        self.view = None;
    }

    fn note_told(&mut self, tag: Tag, events: &[Event<AnyEvent>]) {
        let Some(table) = self.view.as_ref().map(|view| view.table) else {
            return;
        };
        // These events differ between viewers.
        let is_private = |event: &&Event<AnyEvent>| {
            matches!(event, Event::Game { .. } | Event::Ready { .. } | Event::Revealed { .. })
        };
        let mut hasher = DefaultHasher::new();
        for event in events.iter().filter(|event| !is_private(event)) {
            format!("{event:?}").hash(&mut hasher);
        }
        self.found.told.insert((table, tag), hasher.finish());
    }

    /// Compares the folded view of a game with the record.
    fn compare(&mut self) {
        let playing = self.view.as_ref().map(|view| &view.phase);
        if let (Some(PhaseView::Playing { game, view, .. }), Some(place)) = (playing, &self.place)
            && let Some(seen) = &place.seen
            && place.game == *game
            && !seen.is_at(place.events, view)
        {
            let (game, events) = (*game, place.events);
            self.complain(|| format!("game {game} after {events} events is another"));
        }
    }

    /// Compares an event with the record. Returns false if it differs, because following it would
    /// cause further findings.
    fn event(&mut self, event: &Event<AnyEvent>) -> bool {
        let Some(view) = &self.view else {
            return false;
        };
        let (table, seat) = (view.table, view.seat);
        match event {
            Event::Presence { seat, connected } => {
                let change =
                    PresenceChange { at_ms: self.at_ms, table, seat: *seat, is_away: !connected };
                if change.is_away && view.seat == Some(*seat) {
                    self.since_ms = self.since_ms.max(self.at_ms);
                }
                self.found.presence_changes.push(change);
            }
            Event::Revealing { game, commitments, .. } => {
                if let Some(record) = self.record(*game)
                    && !record.clients.iter().map(|client| &client.commitment).eq(commitments)
                {
                    self.complain(|| format!("game {game} had other commitments"));
                }
            }
            Event::Opened { game, stakes, pot, starter } => {
                let Some(seat) = seat else {
                    return true;
                };
                self.enter(*game, seat);
                if let Some(record) = self.record(*game)
                    && (&record.stakes, record.pot_before, record.starter)
                        != (stakes, *pot, *starter)
                {
                    self.complain(|| format!("game {game} opened otherwise than recorded"));
                }
            }
            Event::Takeover { seat: other, on: true } if seat == Some(*other) => {
                self.since_ms = self.since_ms.max(self.at_ms);
            }
            Event::Game { event } => return self.game_event(event),
            Event::Over { game, settlement, server_seed } => {
                let (at_ms, since_ms) = (self.at_ms, self.since_ms);
                self.found.finished.push(FinishedGame { game: *game, at_ms, since_ms });
                self.compare();
                if let Some(GamePosition { seen: Some(seen), events, .. }) = &self.place
                    && *events != seen.events.len()
                {
                    let (had, all) = (*events, seen.events.len());
                    self.complain(|| format!("game {game} was over after {had} of {all} events"));
                }
                if let Some(record) = self.record(*game)
                    && (&record.settlement != settlement
                        || server_seed.is_some_and(|seed| record.server_seed != seed))
                {
                    self.complain(|| format!("game {game} was over otherwise than recorded"));
                }
            }
            Event::Settled { game, pot, crown } => {
                if let Some(record) = self.record(*game)
                    && (record.pot_after, record.crown_after) != (*pot, *crown)
                {
                    self.complain(|| format!("game {game} left another POT or crown"));
                }
                self.place = None;
            }
            Event::Ready { seat: other } | Event::Revealed { seat: other } => {
                if seat != Some(*other) {
                    self.complain(|| format!("another seat is told of {event:?}"));
                }
            }
            Event::Moved { seat, to } => {
                if !matches!(view.phase, PhaseView::Preparing { .. }) {
                    let (seat, to) = (*seat, *to);
                    self.complain(|| format!("{seat} moved to {to} without need"));
                }
            }
            variants!(Event: Sat, Left, Takeover, Waiting, Preparing, Opening, PotRefunded,
                TermsUpdated, Countdown) => {}
        }
        true
    }

    fn record(&self, game: GameId) -> Option<&'_ bahay_engine::table::Record<AnyGame>> {
        self.evidence.games.get(&game)?.record.as_ref()
    }

    fn game_event(&mut self, event: &AnyEvent) -> bool {
        let Some(place) = &mut self.place else {
            return true;
        };
        let GamePosition { game, seen, events } = place;
        let (game, number) = (*game, *events);
        *events += 1;
        let Some(seen) = seen.clone() else {
            return true;
        };
        let expected = seen.events.get(number);
        if expected == Some(event) {
            return true;
        }
        self.complain(|| {
            format!("event {number} of game {game} is {event:?}, and recorded is {expected:?}")
        });
        false
    }

    /// Returns the cards that the seat knows at this position; all cards if there is no record.
    fn known(&self) -> CardSet {
        match &self.place {
            None => CardSet::EMPTY,
            Some(GamePosition { seen: None, .. }) => CardSet::ALL,
            Some(GamePosition { seen: Some(seen), events, .. }) => seen.known(*events),
        }
    }

    /// Checks that the seat knows every card that occurs anywhere in a frame.
    fn cards(&mut self, frame: &Value, text: &str) {
        let mut cards = CardSet::EMPTY;
        collect(frame, &mut cards);
        let foreign = cards.difference(self.known());
        if !foreign.is_empty() {
            let (client, at_ms) = (self.found.client, self.at_ms);
            let text: String = text.chars().take(400).collect();
            self.found
                .cards
                .add(|| format!("client {client} at {at_ms} ms: {foreign:?} in {text}"));
        }
    }
}

/// Checks that the public content of a line is the same for all clients of a table.
pub(super) fn agree(walked: &[JournalWalk], facts: &mut Facts) {
    let mut told: HashMap<(TableId, Tag), (usize, u64)> = HashMap::new();
    for client in walked {
        for (&(table, tag), hash) in &client.told {
            let (other, first) = *told.entry((table, tag)).or_insert((client.client, *hash));
            if first != *hash {
                let client = client.client;
                facts.add(|| {
                    format!("clients {other} and {client} saw another line {tag} of {table}")
                });
            }
        }
    }
}

/// Collects every text in a document that is a card.
fn collect(value: &Value, cards: &mut CardSet) {
    match value {
        Value::String(text) => {
            if let Ok(card) = text.parse::<Card>() {
                *cards = cards.with(card);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, cards)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, cards)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
