//! The tests of the client: tapes, suspensions in virtual time, and hostile events.

/// The parts of the fuzz targets that the tests use.
#[path = "../../../../fuzz/src/choices.rs"]
mod choices;
#[path = "../../../../fuzz/src/client.rs"]
mod client;
mod deals;
#[path = "../../../../fuzz/src/documents.rs"]
mod documents;
mod hostile;
mod house;
#[path = "../../../../fuzz/src/messages.rs"]
#[expect(dead_code, reason = "the tests of the client use a part")]
mod messages;
mod rest;
mod screens;
mod sessions;
mod suspensions;
#[path = "../../../../fuzz/src/tables.rs"]
#[expect(dead_code, reason = "the tests of the client use a part")]
mod tables;
mod tape;
mod tapes;

use choices::Choices;
