//! The behaviour of a player's client, without I/O: it signs in, connects, follows the table, sends
//! commands so that none is lost or applied twice, and reconnects after any failure of a phone's
//! network.
//!
//! [`ClientCore`] is a state machine. It never reads a clock, opens a socket, sends a request, draws
//! random numbers or starts a thread, so it runs on every platform and in virtual time. Its *driver*
//! owns the platform's HTTP client, sockets, timer and storage, and does three things:
//!
//! 1. it passes what happens to [`ClientCore::handle_input`], with the time by both clocks;
//! 2. it performs every effect of [`ClientCore::poll_effect`], in order, before the next input;
//! 3. it passes [`Input::Timeout`] at the time of [`ClientCore::poll_timeout`].
//!
//! [`ClientCore::state`] is what an app shows; [`ClientCore::screen`] is the same as texts and
//! numbers, for apps in other languages.
//! [`Notification`]s tell what has just happened. docs/PROTOCOL.md describes the protocol, and
//! `clients/typescript` is the same behaviour in TypeScript; the tapes of `clients/tapes` test both.
//!
//! A client whose first request is answered:
//!
//! ```
//! use bahay_client::{ClientCore, Effect, HttpAnswer, Input, Link, Options, Time};
//!
//! let time = Time { now_ms: 0, wall_ms: 1_772_352_000_000 };
//! let random_seed = [7; 32]; // from the operating system
//! let mut client = ClientCore::new(Options::new("https://house.example", random_seed, time));
//! client.handle_input(time, Input::Start);
//! assert_eq!(client.state().link, Link::SigningIn);
//!
//! // The driver performs the effects. A socket opens while the player signs in as a guest.
//! let mut sign_in = None;
//! while let Some(effect) = client.poll_effect() {
//!     match effect {
//!         Effect::Request { request, url, .. } => {
//!             assert_eq!(url, "https://house.example/v1/sign-in/guest");
//!             sign_in = Some(request);
//!         }
//!         Effect::Open { url, .. } => assert_eq!(url, "wss://house.example/v1/play"),
//!         Effect::Store { .. } | Effect::Notify(_) => {}
//!         Effect::Send { .. } | Effect::Close { .. } | Effect::Called { .. } => unreachable!(),
//!     }
//! }
//!
//! let body = r#"{
//!     "player": {"id": "019ca944-3c00-7000-8000-00000091a7e0", "name": "Maria"},
//!     "access_token": "a", "access_expires_at": "2026-03-01T08:15:00Z",
//!     "refresh_token": "r", "session": "s"
//! }"#;
//! let answer = HttpAnswer {
//!     status: 200,
//!     content_type: Some("application/json".into()),
//!     body: body.into(),
//!     retry_after_ms: None,
//! };
//! let request = sign_in.expect("the client signs in");
//! client.handle_input(time, Input::Answered { request, answer });
//! assert_eq!(client.state().player.as_ref().map(|player| player.name.as_str()), Some("Maria"));
//! assert_eq!(client.state().link, Link::Connecting { attempt: 1 });
//! ```
//!
//! # Security
//!
//! The server is trusted with the game, not with the client's process: a message that the client
//! cannot read, or over which the engine panics, ends the connection and changes nothing. This
//! needs unwinding; in a program that aborts on panics such a message ends the program.

mod client_core;
mod commands;
mod context;
mod effect;
mod input;
mod instant;
mod limits;
mod outbox;
mod random;
mod rest;
mod screen;
mod session;
mod sockets;
mod state;
mod table;
mod timers;
mod watchdog;

pub use client_core::{ClientCore, Options};
pub use effect::{Effect, Notification, StoreKey, UnseatedReason};
pub use input::{Input, SeedText, SocketData, Time, Wish};
pub use rest::{Answer, Call, CallProblem, HttpAnswer, Player, PlayerWallet};
pub use screen::{
    ActionRefusal, ActionScreen, Countdown, PaymentScreen, PromptScreen, Screen, ScreenLine,
    SeatBadge, SeatScreen, SettlementScreen, TableScreen,
};
pub use session::stored_session;
pub use state::{
    Action, CommandNumber, CommitmentCheck, DealObservation, Event, Hint, Intent, Link,
    OpenCommand, Outcome, Seeking, State, TableState,
};
