//! `bahay-lab play`: one guest who plays games in a room with the first legal action, and prints each
//! settlement as a line of JSON: `{"table", "game", "settlement"}`. The players of the clients in
//! other languages do the same, so that all of them can be compared at one table.

use std::io::{self, Write};
use std::time::Duration;

use bahay_base::entropy;
use bahay_client_tokio::{
    AwaitedInput, Client, ClientError, PlayEvent, ReconnectError, ReconnectingPlay, table_events,
};
use bahay_engine::table::Event;
use clap::Args;
use serde_json::json;
use tokio::time::timeout;

/// The longest time without an event, which exceeds all countdowns.
const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// The options of a player.
#[derive(Args, Debug)]
pub struct PlayOptions {
    /// The server's address.
    #[arg(default_value = "http://127.0.0.1:8080", value_name = "URL")]
    url: String,
    /// The room, by its id.
    #[arg(long, default_value = "newbie", value_name = "ROOM")]
    room: String,
    /// The number of games.
    #[arg(long, default_value_t = 1, value_name = "N")]
    games: u32,
}

/// An error that ends the games early.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Play(#[from] ReconnectError),
    #[error("the player lost the seat: {0}")]
    Unseated(String),
    #[error("nothing happened for a minute")]
    Silence,
    #[error("a settlement could not be printed: {0}")]
    Print(#[from] io::Error),
}

/// Plays the games, and leaves the table.
///
/// # Errors
/// See [`PlayerError`].
pub async fn run(options: &PlayOptions, output: &mut impl Write) -> Result<(), PlayerError> {
    let device = format!("player-{}", entropy::uuid());
    let client = Client::guest(&options.url, &device, "Rust").await?;
    client.seat(&options.room).await?;
    let mut play = ReconnectingPlay::new(client, &[]);
    let mut games = 0;
    let mut answered = None;
    while games < options.games {
        let event =
            timeout(EVENT_TIMEOUT, play.next()).await.map_err(|_| PlayerError::Silence)??;
        if let PlayEvent::Unseated(reason) = &event {
            return Err(PlayerError::Unseated(reason.clone()));
        }
        for event in table_events(&event) {
            if let Event::Over { game, settlement, .. } = event {
                let table = play.table();
                let line = json!({ "table": table, "game": game, "settlement": settlement });
                writeln!(output, "{line}")?;
                games += 1;
            }
        }
        let awaited = play.awaited_input();
        if awaited != answered {
            answer(&mut play, awaited).await;
            answered = awaited;
        }
    }
    let leaving = play.leave().await;
    timeout(EVENT_TIMEOUT, play.wait_for_outcome(leaving))
        .await
        .map_err(|_| PlayerError::Silence)??;
    Ok(())
}

/// Declares readiness, or answers the prompt with the first legal action.
async fn answer(play: &mut ReconnectingPlay, awaited: Option<AwaitedInput>) {
    match awaited {
        Some(AwaitedInput::Ready(game)) => {
            play.ready(game, Some(format!("luck {}", entropy::uuid()))).await;
        }
        Some(AwaitedInput::Act(..)) => {
            let prompt = play.prompt();
            if let Some(action) = prompt.and_then(|prompt| prompt.legal.first()).cloned() {
                play.act(action).await;
            }
        }
        // The client reveals the text by itself.
        Some(AwaitedInput::Reveal(_)) | None => {}
    }
}
