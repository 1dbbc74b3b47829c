//! This repository's own client in Rust as a client under test: it is ready for every game, answers
//! each prompt with the first legal action, and reports what it shows.

use std::collections::BTreeSet;

use bahay_client_tokio::{AwaitedInput, Client, Outcome, PlayEvent, ReconnectingPlay};
use bahay_engine::table::GameId;
use bahay_protocol::brief::Form;
use serde_json::{Value, json};

/// The number of versions between two reports of the view.
const REPORT_EVERY: u64 = 6;

/// Plays at a scenario until the client stops. The number selects the form of the messages.
pub(super) async fn play(url: String, number: usize) {
    let device_id = format!("certified-device-{number:04}");
    let Ok(client) = Client::guest(&url, &device_id, "Certified").await else {
        return;
    };
    let client = client.with_form(Form::ALL[number % Form::ALL.len()]);
    let mut player = Player {
        play: ReconnectingPlay::new(client, &[]),
        answered: BTreeSet::new(),
        deals: Vec::new(),
        reported_version: 0,
    };
    // The end of the session ends the scenario.
    while let Ok(event) = player.play.next().await {
        player.handle_event(event).await;
    }
    player.report().await;
}

struct Player {
    play: ReconnectingPlay,
    /// The games that the player was ready for, and the prompts that it has answered.
    answered: BTreeSet<(GameId, Option<u32>)>,
    /// The checked deals that were not reported yet.
    deals: Vec<Value>,
    reported_version: u64,
}

impl Player {
    async fn handle_event(&mut self, event: PlayEvent) {
        match event {
            PlayEvent::Deal { game, holds } => {
                self.deals.push(json!({ "game": game, "holds": holds }));
                self.report().await;
            }
            PlayEvent::Answered { outcome: Outcome::Refused { code, .. }, .. } => {
                // Only a halted table is asked again; any other refusal is final.
                if code == "table_halted" {
                    self.answered.clear();
                }
            }
            PlayEvent::Table(_) => {
                let version = self.play.version().unwrap_or_default();
                if version.abs_diff(self.reported_version) >= REPORT_EVERY {
                    self.report().await;
                }
            }
            PlayEvent::Answered { .. } | PlayEvent::Unseated(_) => {}
        }
        self.answer_question().await;
    }

    async fn answer_question(&mut self) {
        match self.play.awaited_input() {
            Some(AwaitedInput::Ready(game)) if self.answered.insert((game, None)) => {
                self.play.ready(game, Some(format!("certified {}", game.0))).await;
            }
            Some(AwaitedInput::Act(game, prompt)) if self.answered.insert((game, Some(prompt))) => {
                let prompt = self.play.prompt();
                if let Some(action) = prompt.and_then(|prompt| prompt.legal.first()).cloned() {
                    self.play.act(action).await;
                }
            }
            // A text is revealed by the client itself.
            _ => {}
        }
    }

    async fn report(&mut self) {
        let version = self.play.version();
        let view = self.play.view();
        let body = json!({ "version": version, "view": view, "deals": self.deals });
        self.reported_version = version.unwrap_or_default();
        // A portal or a cut may take the report, which the next one repeats.
        if self.play.client().post::<Value>("/certify/shown", &body).await.is_ok() {
            self.deals.clear();
        }
    }
}
