//! Halted tables, and an operator's two orders about them, step by step.
//!
//! A table is halted by a mark in its head, which rejects every append on every node; then a row is
//! written for operators. The mark comes first, because any node can write the row later.
//!
//! Voiding a table takes these steps: halt it, so that it cannot change; void its open game in the
//! ledger, which is idempotent; release its players; remove its live state; end its watches; refund
//! its POT. An interrupted order is repeated from the beginning: what was booked is found booked,
//! and a POT is refunded even if its table is gone by then. A game that another node opened at the
//! same moment is left without a table, and is found by [`LostGames`](crate::LostGames).

use std::collections::VecDeque;

use bahay_engine::table::{GameId, PlayerId, Readable, Table, TableId, Timestamp};

use crate::guard::{PANIC, catch_panic};
use crate::history::journal::StoredTable;
use crate::history::replica::{JOURNAL_FAULT, ReplayError, Replica};
use crate::limits::Limits;

/// The prefix of a halt's reason if an error of a store caused the halt. Such a table is released
/// automatically once the store responds again; all other halts wait for an operator.
pub const STORE_FAULT: &str = "a store is at fault: ";

/// The prefix of a halt's reason if the ledger permanently refuses an operation on a game.
pub(crate) const LEDGER_REFUSAL: &str = "the ledger refuses an operation on game ";

/// The cause of a halt, as its reason begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaltCause {
    /// An error of a store: see [`STORE_FAULT`].
    Store,
    /// A panic of the engine.
    Panic,
    /// The journal does not replay.
    Journal,
    /// A permanent refusal of the ledger.
    Ledger,
    /// An operator's order to void the table, which was interrupted.
    Order,
}

impl HaltCause {
    pub fn from_reason(reason: &str) -> Self {
        let causes = [
            (STORE_FAULT, Self::Store),
            (PANIC, Self::Panic),
            (JOURNAL_FAULT, Self::Journal),
            (LEDGER_REFUSAL, Self::Ledger),
        ];
        let cause = causes.into_iter().find(|(prefix, _)| reason.starts_with(prefix));
        cause.map_or(Self::Order, |(_, cause)| cause)
    }
}

/// A halted table and the reason of the halt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    pub table: TableId,
    /// `None` if the table could not be read.
    pub room: Option<String>,
    pub version: Option<u64>,
    /// The engine version of the table's journal.
    pub engine: u32,
    pub reason: String,
}

impl Halt {
    pub(crate) fn from_replica<G: Readable>(replica: &Replica<G>, reason: String) -> Self {
        let version = Some(replica.point().version);
        Self { version, ..Self::from_table(replica.table(), reason) }
    }

    /// Returns the halt of a table that could not be shown.
    pub fn from_table<G: Readable>(table: &Table<G>, reason: String) -> Self {
        let room = Some(table.terms().room.clone());
        Self { table: table.id(), room, version: None, engine: table.engine(), reason }
    }
}

/// The outcome of voiding a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoidOutcome {
    /// The game that was voided, by this order or an interrupted one; `None` if there was none.
    pub game: Option<GameId>,
    /// True if live state was removed.
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
    /// Finds the open game of the table and its room.
    FindOpenGame,
    VoidGame(GameId),
    /// Refunds the POT to those who paid it, unless it is empty.
    RefundPot,
    Release {
        player: PlayerId,
    },
    Unlist {
        room: String,
    },
    /// Removes the table from live state and notifies every node.
    End {
        engine: u32,
    },
    RecordVoided,
    /// Ends the watches of this process.
    Close,
}

/// The result of a voiding step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VoidingAnswer {
    Done,
    Loaded(Option<StoredTable>),
    OpenGame(Option<(GameId, String)>),
    /// False if the game was settled or never opened.
    GameVoided(bool),
    /// False if the POT was empty.
    PotRefunded(bool),
}

/// The procedure of voiding a table. The driver performs each call and hands its result back until
/// there is no further call. A failed call aborts the procedure.
#[derive(Debug)]
pub struct Voiding {
    table: TableId,
    reason: String,
    /// Fault hook of the simulator.
    skips_halting: bool,
    engine: Option<u32>,
    players: Vec<PlayerId>,
    room: Option<String>,
    /// The game that the table is in.
    table_game: Option<GameId>,
    /// The game that is voided.
    game: Option<GameId>,
    calls: VecDeque<VoidingCall>,
    is_pot_refunded: bool,
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
            table_game: None,
            game: None,
            calls: [VoidingCall::Load].into(),
            is_pot_refunded: false,
        }
    }

    #[cfg(feature = "simulation")]
    pub(crate) fn with_skipped_halt(self, skips_halting: bool) -> Self {
        Self { skips_halting, ..self }
    }

    /// Returns the next call, or `None` when the procedure is finished.
    pub fn next_call(&mut self) -> Option<VoidingCall> {
        self.calls.pop_front()
    }

    /// Handles the result of the last call.
    pub fn handle_answer<G: Readable>(&mut self, answer: VoidingAnswer, limits: &Limits) {
        match answer {
            VoidingAnswer::Done => {}
            VoidingAnswer::Loaded(None) => self.calls.push_back(VoidingCall::FindOpenGame),
            VoidingAnswer::Loaded(Some(stored)) => self.handle_loaded::<G>(&stored, limits),
            VoidingAnswer::OpenGame(Some((game, room))) => {
                self.room.get_or_insert(room);
                self.void_game(game);
            }
            // An interrupted order may have voided the table's game: the ledger repeats its answer.
            VoidingAnswer::OpenGame(None) => match self.table_game {
                Some(game) => self.void_game(game),
                None => self.queue_teardown(),
            },
            VoidingAnswer::GameVoided(is_voided) => {
                if !is_voided {
                    self.game = None;
                }
                self.queue_teardown();
            }
            VoidingAnswer::PotRefunded(is_refunded) => self.is_pot_refunded = is_refunded,
        }
    }

    /// Returns the outcome, or `None` if there was no table, no open game and no POT.
    pub fn outcome(&self) -> Option<VoidOutcome> {
        let was_live = self.engine.is_some();
        let is_missing = !was_live && self.game.is_none() && !self.is_pot_refunded;
        (!is_missing).then_some(VoidOutcome { game: self.game, was_live })
    }

    fn void_game(&mut self, game: GameId) {
        self.game = Some(game);
        self.calls.push_back(VoidingCall::VoidGame(game));
    }

    fn handle_loaded<G: Readable>(&mut self, stored: &StoredTable, limits: &Limits) {
        self.engine = Some(stored.engine);
        if let Ok(replayed) = Replica::<G>::replay(stored, None, limits) {
            let table = replayed.replica.table();
            self.players.extend(table.occupants().map(|(_, occupant)| occupant.player));
            self.room = Some(table.terms().room.clone());
            self.table_game = table.phase().game();
        }
        let engine = stored.engine;
        let reason = self.reason.clone();
        let table = self.table;
        let room = self.room.clone();
        let version = Some(stored.version());
        let halt = Halt { table, room, version, engine, reason: reason.clone() };
        if !self.skips_halting {
            self.calls.push_back(VoidingCall::Halt { engine, reason });
        }
        self.calls.extend([VoidingCall::RecordHalt(halt), VoidingCall::FindOpenGame]);
    }

    fn queue_teardown(&mut self) {
        let players = self.players.iter().map(|player| VoidingCall::Release { player: *player });
        self.calls.extend(players);
        self.calls.extend(self.room.clone().map(|room| VoidingCall::Unlist { room }));
        self.calls.extend(self.engine.map(|engine| VoidingCall::End { engine }));
        // The refund is last: until the table is removed it could be released, although its game is
        // void.
        self.calls.extend([VoidingCall::RecordVoided, VoidingCall::Close, VoidingCall::RefundPot]);
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

/// The result of a releasing step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleasingAnswer {
    Done,
    Loaded(Option<StoredTable>),
}

/// The reason why a table was not released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseError {
    Missing,
    NotHalted,
    /// The journal still does not replay.
    Broken(String),
    OtherVersion(u32),
}

/// The procedure of releasing a halted table whose journal replays here.
#[derive(Debug)]
pub struct Releasing {
    calls: VecDeque<ReleasingCall>,
}

impl Releasing {
    #[expect(clippy::new_without_default, reason = "a new procedure is not an empty value")]
    pub fn new() -> Self {
        Self { calls: [ReleasingCall::Load].into() }
    }

    /// Returns the next call, or `None` when the procedure is finished.
    pub fn next_call(&mut self) -> Option<ReleasingCall> {
        self.calls.pop_front()
    }

    /// Handles the result of the last call.
    ///
    /// # Errors
    /// Fails if the table cannot be released; nothing has changed then.
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

#[cfg(test)]
mod tests {
    use super::{HaltCause, LEDGER_REFUSAL, STORE_FAULT};
    use crate::guard::catch_panic;
    use crate::history::replica::ReplayError;

    #[test]
    fn a_reason_states_its_cause() {
        let panic = catch_panic(|| panic!("the deck is lost")).unwrap_err();
        let journal = ReplayError::Broken(panic.clone()).to_string();
        for (reason, cause) in [
            (panic.as_str(), HaltCause::Panic),
            (&journal, HaltCause::Journal),
            (&format!("{LEDGER_REFUSAL}1: voided, not open"), HaltCause::Ledger),
            (&format!("{STORE_FAULT}{LEDGER_REFUSAL}1: read only"), HaltCause::Store),
            ("a player complains", HaltCause::Order),
        ] {
            assert_eq!(HaltCause::from_reason(reason), cause, "{reason}");
        }
    }
}
