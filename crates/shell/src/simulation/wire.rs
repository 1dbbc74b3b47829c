//! The messages between clients and nodes: the commands and messages of the service's protocol that
//! a game needs, and seat requests, which use REST in the service. They are JSON texts, so the
//! checks see exactly what is sent.

use serde::{Deserialize, Serialize};

use crate::simulation::SimulatedGame;
use crate::{OpenPrompt, Tag};

use bahay_engine::chance::Commitment;
use bahay_engine::table::{Event, GameId, TableId, TableView, Timestamp};

/// A command of a client; the answer carries the same `id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Command<A> {
    Seat { id: u32 },
    Join { id: u32, from: Option<u64>, tag: Option<Tag>, table: Option<TableId> },
    Ready { id: u32, game: GameId, commitment: Option<Commitment> },
    Reveal { id: u32, game: GameId, text: String },
    Act { id: u32, game: GameId, prompt: u32, action: A },
    TakeBack { id: u32 },
    Leave { id: u32 },
}

/// A message of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[serde(bound(serialize = "", deserialize = ""))]
pub(super) enum Message<G: SimulatedGame> {
    Snapshot {
        version: u64,
        tag: Tag,
        server_time_ms: Timestamp,
        view: Box<TableView<G>>,
        prompt: Option<OpenPrompt<G::Action>>,
    },
    Update {
        version: u64,
        tag: Tag,
        server_time_ms: Timestamp,
        events: Vec<Event<G::Event>>,
        prompt: Option<OpenPrompt<G::Action>>,
        ack: Option<u32>,
    },
    Closed {
        table: TableId,
    },
    Ack {
        id: u32,
        version: Option<u64>,
    },
    Refusal {
        id: u32,
        code: String,
    },
}
