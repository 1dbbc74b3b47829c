//! The client core of `bahay_client` for other languages: its options, inputs, effects and view
//! model as types that UniFFI exports to Kotlin, Swift, Python and C#.
//!
//! A client in such a language is a driver of [`PlayerClient`]: it owns the platform's HTTP client,
//! WebSocket, timer and secure storage, passes each event to [`PlayerClient::handle_input`], and
//! performs the returned effects in order. docs/CLIENTS.md describes the drivers of this
//! repository. Amounts of coins are in hundredths of a coin, times in milliseconds.
//!
//! Ids are UUIDs as text, and values whose form depends on the game are JSON in the form of
//! asyncapi.yaml.

mod client;
mod effect;
mod error;
mod input;
mod json;
mod options;
mod screen;
mod state;

pub use client::{HandledInput, PlayerClient};
pub use effect::{CallAnswer, ClientEffect, ClientNotification, CommandOutcome, UnseatedCause};
pub use error::ClientError;
pub use input::{ClientInput, ClientTime, PlayerWish, SeedChoice};
pub use options::{ClientOptions, MessageForm, StoredKey, StoredValue};
pub use screen::{
    ActionModel, ActionRefusalModel, CountdownModel, PaymentItem, PaymentModel, PotPayout,
    PromptModel, ScreenModel, SeatModel, SeatPresence, SettlementModel, TableLine, TableModel,
    WalletModel,
};
pub use state::{LinkState, TableSnapshot};

uniffi::setup_scaffolding!("bahay_client");
