//! Tables that must not go on, and an operator's two orders about them, step by step.
//!
//! A table is halted by a mark in its head, which refuses every append on every node; then a row is
//! written for operators. The mark comes first, because the row can be written later by anybody.
//!
//! Voiding ends a table in this order: halted, so that nothing changes under it; its open game
//! voided in the ledger, which pays back once however often it is asked; its players free; live state
//! removed; whoever watches told; the POT of a private table given back. Broken off, it is done again
//! from the beginning. A game that another node was opening in the same moment has no table then,
//! and is found by [`LostGames`](crate::LostGames).

use std::collections::VecDeque;

use bahay_engine::table::{GameId, PlayerId, Readable, Table, TableId, Timestamp};

use crate::guard::catch_panic;
use crate::journal::StoredTable;
use crate::limits::Limits;
use crate::replica::{Replica, ReplayError};

/// The beginning of the reason of a halt that an error of a store has brought. Such a table is released
/// by itself once its store answers again; after all other halts an operator decides.
pub const STORE_FAULT: &str = "a store is at fault: ";

/// A table that is halted: where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    pub table: TableId,
    /// `None` where the table could not be read.
    pub room: Option<String>,
    pub version: Option<u64>,
    /// The version of the engine that its journal is for.
    pub engine: u32,
    pub reason: String,
}

impl Halt {
    pub(crate) fn from_replica<G: Readable>(replica: &Replica<G>, reason: String) -> Self {
        let version = Some(replica.point().version);
        Self { version, ..Self::from_table(replica.table(), reason) }
    }

    /// Of a table that somebody was to be shown.
    pub fn from_table<G: Readable>(table: &Table<G>, reason: String) -> Self {
        let room = Some(table.terms().room.clone());
        Self { table: table.id(), room, version: None, engine: table.engine(), reason }
    }
}

/// What voiding a table came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoidOutcome {
    /// The open game whose coins went back; `None` when none was open.
    pub game: Option<GameId>,
    /// Whether there was live state to remove.
    pub was_live: bool,
}

/// A step of voiding a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VoidingCall {
    Load,
    Halt {
        engine: u32,
        reason: String,
    },
    RecordHalt(Halt),
    /// Which game is open in the table's name, and of which room.
    FindOpenGame,
    VoidGame(GameId),
    /// Gives the POT back to those who paid it, if there is anything in it.
    RefundPot,
    Release {
        player: PlayerId,
    },
    Unlist {
        room: String,
    },
    /// Removes the table from live state, and tells every node.
    End {
        engine: u32,
    },
    RecordVoided,
    /// Tells those who watch from here.
    Close,
}

/// What a step of voiding came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VoidingAnswer {
    Done,
    Loaded(Option<StoredTable>),
    OpenGame(Option<(GameId, String)>),
    /// False: it was settled or voided before.
    GameVoided(bool),
}

/// Voids a table: give it the answer to each call, until it gives no further one. A call that fails
/// breaks it off.
#[derive(Debug)]
pub struct Voiding {
    table: TableId,
    reason: String,
    /// Fault hook of the simulator.
    skips_halting: bool,
    engine: Option<u32>,
    players: Vec<PlayerId>,
    room: Option<String>,
    is_private: bool,
    game: Option<GameId>,
    calls: VecDeque<VoidingCall>,
    is_missing: bool,
}

impl Voiding {
    pub fn new(table: TableId, reason: &str) -> Self {
        Self {
            table,
            reason: reason.to_owned(),
            skips_halting: false,
            engine: None,
            players: Vec::new(),
            room: None,
            is_private: false,
            game: None,
            calls: [VoidingCall::Load].into(),
            is_missing: false,
        }
    }

    #[cfg(feature = "simulation")]
    pub(crate) fn with_skipped_halt(self, skips_halting: bool) -> Self {
        Self { skips_halting, ..self }
    }

    /// The next call; when there is none, it is done.
    pub fn next_call(&mut self) -> Option<VoidingCall> {
        self.calls.pop_front()
    }

    /// Takes in the answer to the last call.
    pub fn handle_answer<G: Readable>(&mut self, answer: VoidingAnswer, limits: &Limits) {
        match answer {
            VoidingAnswer::Done => {}
            VoidingAnswer::Loaded(None) => self.calls.push_back(VoidingCall::FindOpenGame),
            VoidingAnswer::Loaded(Some(stored)) => self.handle_loaded::<G>(&stored, limits),
            VoidingAnswer::OpenGame(Some((game, room))) => {
                self.room.get_or_insert(room);
                self.game = Some(game);
                self.calls.push_back(VoidingCall::VoidGame(game));
            }
            VoidingAnswer::OpenGame(None) => self.queue_teardown(),
            VoidingAnswer::GameVoided(is_new) => {
                if !is_new {
                    self.game = None;
                }
                self.queue_teardown();
            }
        }
    }

    /// What it came to; `None` where there was no such table.
    pub fn outcome(&self) -> Option<VoidOutcome> {
        let voided = VoidOutcome { game: self.game, was_live: self.engine.is_some() };
        (!self.is_missing).then_some(voided)
    }

    fn handle_loaded<G: Readable>(&mut self, stored: &StoredTable, limits: &Limits) {
        self.engine = Some(stored.engine);
        if let Ok(replayed) = Replica::<G>::replay(stored, None, limits) {
            let table = replayed.replica.table();
            self.players.extend(table.occupants().map(|(_, occupant)| occupant.player));
            self.room = Some(table.terms().room.clone());
            self.is_private = table.terms().private.is_some();
        }
        let (engine, reason) = (stored.engine, self.reason.clone());
        let (table, room, version) = (self.table, self.room.clone(), Some(stored.version()));
        let halt = Halt { table, room, version, engine, reason: reason.clone() };
        if !self.skips_halting {
            self.calls.push_back(VoidingCall::Halt { engine, reason });
        }
        self.calls.extend([VoidingCall::RecordHalt(halt), VoidingCall::FindOpenGame]);
    }

    fn queue_teardown(&mut self) {
        if self.engine.is_none() && self.game.is_none() {
            self.is_missing = true;
            return;
        }
        let players = self.players.iter().map(|player| VoidingCall::Release { player: *player });
        self.calls.extend(players);
        self.calls.extend(self.room.clone().map(|room| VoidingCall::Unlist { room }));
        self.calls.extend(self.engine.map(|engine| VoidingCall::End { engine }));
        self.calls.extend([VoidingCall::RecordVoided, VoidingCall::Close]);
        // Last: until the table is gone it could be released, and its game is void. What breaks off
        // here, an operator makes up for as for a lost table.
        self.calls.extend(self.is_private.then_some(VoidingCall::RefundPot));
    }
}

/// A step of releasing a halted table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleasingCall {
    Load,
    /// Lifts the halt and sets the deadline.
    Resume {
        engine: u32,
        deadline: Option<Timestamp>,
    },
    RecordReleased,
}

/// What a step of releasing came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleasingAnswer {
    Done,
    Loaded(Option<StoredTable>),
}

/// Why a table was not released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseError {
    Missing,
    NotHalted,
    /// Its journal still does not replay.
    Broken(String),
    OtherVersion(u32),
}

/// Lets a halted table play on, if its journal replays here.
#[derive(Debug)]
pub struct Releasing {
    calls: VecDeque<ReleasingCall>,
}

impl Releasing {
    #[expect(clippy::new_without_default, reason = "it is the beginning of an order")]
    pub fn new() -> Self {
        Self { calls: [ReleasingCall::Load].into() }
    }

    /// The next call; when there is none, it is done.
    pub fn next_call(&mut self) -> Option<ReleasingCall> {
        self.calls.pop_front()
    }

    /// Takes in the answer to the last call.
    ///
    /// # Errors
    /// When the table cannot be released; nothing has changed.
    pub fn handle_answer<G: Readable>(
        &mut self,
        answer: ReleasingAnswer,
        limits: &Limits,
    ) -> Result<(), ReleaseError> {
        let stored = match answer {
            ReleasingAnswer::Done => return Ok(()),
            ReleasingAnswer::Loaded(stored) => stored.ok_or(ReleaseError::Missing)?,
        };
        if stored.halted.is_none() {
            return Err(ReleaseError::NotHalted);
        }
        let deadline = catch_panic(|| {
            let replayed = Replica::<G>::replay(&stored, None, limits)?;
            Ok(replayed.replica.table().deadline())
        });
        let deadline = match deadline {
            Ok(Ok(deadline)) => deadline,
            Ok(Err(ReplayError::OtherVersion(engine))) => {
                return Err(ReleaseError::OtherVersion(engine));
            }
            Ok(Err(ReplayError::Broken(why))) | Err(why) => return Err(ReleaseError::Broken(why)),
        };
        let resume = ReleasingCall::Resume { engine: stored.engine, deadline };
        self.calls.extend([resume, ReleasingCall::RecordReleased]);
        Ok(())
    }
}
