//! The events of a tournament. In their order they are the public, append-only list of its results
//! (chapter 8), from which anybody can recompute places and payments.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Serialize;

use crate::chance::{Commitment, ServerSeed};
use crate::coins::Coins;
use crate::table::{PlayerId, Timestamp};
use crate::tournament::id::{TableNumber, TournamentId};
use crate::tournament::input::{CancelReason, GameScore};
use crate::tournament::terms::TournamentTerms;
use crate::tournament::transfer::{Payment, Transfer};

/// An event of a tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The tournament is announced.
    Announced {
        tournament: TournamentId,
        terms: Arc<TournamentTerms>,
        commitment: Commitment,
    },
    /// A player has registered; an entry that is not free waits for the ledger.
    Registered {
        player: PlayerId,
        name: String,
        is_bot: bool,
        number: u32,
        payment: Payment,
    },
    /// An entry counts.
    Entered {
        player: PlayerId,
        number: u32,
    },
    /// An entry does not count: the player has withdrawn, cannot pay, or entered too late.
    Withdrawn {
        player: PlayerId,
        number: u32,
    },
    /// The tournament has started.
    Started,
    /// Registration is closed, and the prizes are fixed, from the first place.
    RegistrationClosed {
        pool: Coins,
        prizes: Vec<Coins>,
    },
    /// A stage has begun, from 1.
    StageStarted {
        stage: u32,
        groups: Vec<Vec<PlayerId>>,
    },
    /// Late entrants have joined groups, from 0.
    Joined {
        members: Vec<GroupMember>,
    },
    /// Tables are seated: those of a round, or some of an arena tournament.
    Seated {
        round: u32,
        tables: Vec<SeatedTable>,
        /// The players without a table in this round.
        byes: Vec<PlayerId>,
        /// The commitments of the deals that all tables play, by game (rule 5.5).
        #[serde(skip_serializing_if = "Vec::is_empty")]
        commitments: Vec<Commitment>,
    },
    /// A game is scored.
    GameScored {
        table: TableNumber,
        game: u32,
        scores: Vec<GameScore>,
    },
    /// A table has ended without all of its games.
    TableEnded {
        table: TableNumber,
    },
    /// A round is over, with the seeds of the deals that all tables have played.
    RoundEnded {
        round: u32,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        seeds: Vec<ServerSeed>,
    },
    /// The cut of a stage.
    Cut {
        stage: u32,
        advanced: Vec<PlayerId>,
        eliminated: Vec<PlayerId>,
    },
    /// Places are final, the best first.
    Placed {
        places: Vec<FinalPlace>,
    },
    /// A player of an arena tournament is paused.
    Paused {
        player: PlayerId,
    },
    Resumed {
        player: PlayerId,
    },
    /// The tournament is over, with the seed of its draws.
    Ended {
        seed: ServerSeed,
    },
    /// The tournament is cancelled, with the seed of its draws and the parts of the players.
    Cancelled {
        reason: CancelReason,
        seed: ServerSeed,
        refunds: Vec<Refund>,
    },
    /// The ledger has booked a transfer.
    Transferred {
        transfer: Transfer,
    },
}

/// A late entrant and its group, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GroupMember {
    pub player: PlayerId,
    pub group: u32,
}

/// The players of a table by seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeatedTable {
    pub table: TableNumber,
    pub players: Vec<PlayerId>,
}

/// The final place of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FinalPlace {
    pub player: PlayerId,
    /// The place among the players without bots, from 1; tied players share the best of theirs.
    pub place: u32,
    pub prize: Coins,
}

/// A player's part of a cancelled tournament (rules 7.2 and 7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Refund {
    pub player: PlayerId,
    pub amount: Coins,
}

/// A line of the list of results: an event with its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResultLine<'a> {
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: &'a Event,
}
