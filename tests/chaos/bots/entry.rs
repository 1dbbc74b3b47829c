//! A client's way to the tables of tournaments: it registers for each tournament of its group over
//! REST, sometimes withdraws and registers again, ends its pauses, and asks for its table until it
//! has one or the tournament is over.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio::time::sleep_until;
use tokio_tungstenite::tungstenite::Message as Frame;
use uuid::Uuid;

use super::rest::{self, RestError};
use super::{Client, ConnectionEnd, Socket};
use crate::journal::EntryKind;

/// The percentage of entries that are withdrawn once and paid again.
const WITHDRAWN: u64 = 10;

/// The tournaments of a group of clients.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programme {
    pub(crate) tournaments: Vec<Uuid>,
    /// True if no tournament will be added.
    pub(crate) is_complete: bool,
}

/// The progress of a client in the programme of its group.
#[derive(Debug)]
pub(super) struct Entries {
    programme: watch::Receiver<Programme>,
    /// The number of tournaments that are over for the client.
    over: usize,
    /// True if the client has registered for the current one.
    has_registered: bool,
    has_withdrawn: bool,
}

/// The next step of a client without a seat.
enum NextStep {
    /// The client has a seat at this table.
    Join(String),
    Wait,
    /// The tournament is over for the client.
    Advance,
}

impl Entries {
    pub(super) fn new(programme: watch::Receiver<Programme>) -> Self {
        Self { programme, over: 0, has_registered: false, has_withdrawn: false }
    }

    fn current(&self) -> Option<Uuid> {
        self.programme.borrow().tournaments.get(self.over).copied()
    }

    fn is_over(&self) -> bool {
        let programme = self.programme.borrow();
        programme.is_complete && programme.tournaments.len() <= self.over
    }

    fn advance(&mut self) {
        self.over += 1;
        self.has_registered = false;
        self.has_withdrawn = false;
    }
}

impl Client {
    /// Waits at an open socket for a seat at a table of a tournament. Fails if the connection is
    /// lost, or with the end of the programme.
    pub(super) async fn wait_for_tournament_table(
        &mut self,
        socket: &mut Socket,
        base: &str,
        token: &str,
    ) -> Result<(), ConnectionEnd> {
        loop {
            let Some(entries) = &self.entries else { return Ok(()) };
            if entries.is_over() {
                return Err(ConnectionEnd::Finished);
            }
            let step = match entries.current() {
                Some(tournament) => self.take_step(base, token, tournament).await,
                None => Ok(NextStep::Wait),
            };
            match step {
                Ok(NextStep::Join(table)) => {
                    self.journal.write(&EntryKind::Note(format!("seated at {table}")));
                    self.seated = true;
                    return Ok(());
                }
                Ok(NextStep::Advance) => {
                    self.entries.iter_mut().for_each(Entries::advance);
                    continue;
                }
                Ok(NextStep::Wait) => {}
                Err(RestError::Refused { status: 401, code }) => {
                    self.token = None;
                    return Err(self.again(code));
                }
                // Another node may answer.
                Err(error) => return Err(self.again(format!("at the entry: {error}"))),
            }
            let pause = Duration::from_millis(self.dice.within(700, 1_500));
            self.listen(socket, Instant::now() + pause).await?;
        }
    }

    /// Makes the next request about a tournament.
    async fn take_step(
        &mut self,
        base: &str,
        token: &str,
        tournament: Uuid,
    ) -> Result<NextStep, RestError> {
        let Some(entries) = &mut self.entries else { return Ok(NextStep::Wait) };
        let shown = rest::tournament(base, token, tournament).await?;
        let state = shown["state"].as_str().unwrap_or_default();
        if matches!(state, "ended" | "cancelled") {
            return Ok(NextStep::Advance);
        }
        let entry = &shown["entry"];
        if entry.is_null() {
            return match rest::register(base, token, tournament).await {
                Ok(()) => {
                    entries.has_registered = true;
                    self.journal.write(&EntryKind::Note(format!("registered for {tournament}")));
                    Ok(NextStep::Wait)
                }
                // The client was too late, or everybody else was faster.
                Err(RestError::Refused { status: 409, code }) if !entries.has_registered => {
                    self.journal.write(&EntryKind::Note(format!("not registered: {code}")));
                    Ok(NextStep::Advance)
                }
                Err(error) => Err(error),
            };
        }
        if state == "announced" && !entries.has_withdrawn && self.dice.percent(WITHDRAWN) {
            entries.has_withdrawn = true;
            self.journal.write(&EntryKind::Note(format!("withdraws from {tournament}")));
            return match rest::withdraw(base, token, tournament).await {
                // It has started meanwhile.
                Ok(()) | Err(RestError::Refused { status: 409, .. }) => Ok(NextStep::Wait),
                Err(error) => Err(error),
            };
        }
        entries.has_withdrawn = true;
        if entry["is_paused"] == true {
            // An arena that has just ended refuses it.
            match rest::resume(base, token, tournament).await {
                Ok(()) | Err(RestError::Refused { status: 409, .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if entry["table"].is_null() {
            return Ok(NextStep::Wait);
        }
        match rest::own_table(base, token, tournament).await {
            Ok(table) => Ok(NextStep::Join(table)),
            // The table is over, or another seat of the player is not free yet.
            Err(RestError::Refused { status: 404 | 409, .. }) => Ok(NextStep::Wait),
            Err(error) => Err(error),
        }
    }

    /// Reads the socket until a time, or until the client is led to a table.
    async fn listen(&mut self, socket: &mut Socket, until: Instant) -> Result<(), ConnectionEnd> {
        loop {
            tokio::select! {
                () = sleep_until(until.into()) => return Ok(()),
                order = self.ordered.recv() => {
                    if let Some(order) = order {
                        self.obey(order)?;
                    }
                }
                frame = socket.next() => match frame {
                    Some(Ok(Frame::Text(text))) => {
                        self.journal.write(&EntryKind::Received(text.to_string()));
                        if text.starts_with(r#"{"type":"ticket""#) {
                            return Ok(());
                        }
                    }
                    Some(Ok(Frame::Close(_)) | Err(_)) | None => {
                        return Err(self.again("lost while waiting for a table"));
                    }
                    Some(Ok(_)) => {}
                },
            }
        }
    }
}
