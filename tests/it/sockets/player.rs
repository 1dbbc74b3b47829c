//! A player for tests: plays as the house's bot would, comes back by itself, and remembers what it
//! did and what became of it.

use std::sync::Arc;

use bahay::client::{
    Client, CommandNumber, CommandOutcome, PlayEvent, ReconnectingPlay, table_events,
};
use bahay_engine::catalog::AnyAction;
use bahay_engine::table::{Event, GameId, PhaseView};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::support::house::PATIENCE;

/// What may be refused because another was faster; everything else is an error that a client
/// could not make good by trying again.
const OVERTAKEN: [&str; 4] = ["stale_prompt", "not_asked", "wrong_phase", "other_game"];

/// Tells players that the game they play is their last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }

    fn is_told(&self) -> bool {
        *self.0.borrow()
    }

    async fn told(&self) {
        self.0.subscribe().wait_for(|told| *told).await.unwrap();
    }
}

/// What a player did.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// Games that were settled while the player was there.
    pub(crate) games: usize,
    /// Every action sent, in order.
    pub(crate) acts: Vec<Act>,
    /// What was refused for good, where nobody else was faster.
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) connections: u64,
}

#[derive(Debug)]
pub(crate) struct Act {
    number: CommandNumber,
    pub(crate) game: GameId,
    pub(crate) action: AnyAction,
    pub(crate) outcome: Option<CommandOutcome>,
}

/// Plays at the newbie room's tables until told to stop, and leaves when its game is over.
pub(crate) async fn play(client: &Client, bases: &[String], stop: &Stop) -> Played {
    play_and_count(client, bases, stop, |_| {}).await
}

/// The same; every settled game is told.
pub(crate) async fn play_and_count(
    client: &Client,
    bases: &[String],
    stop: &Stop,
    mut settled: impl FnMut(GameId),
) -> Played {
    let mut steady = ReconnectingPlay::new(client.clone(), bases);
    let mut bot = Bot::default();
    let mut played = Played::default();
    let mut leaving = None;
    loop {
        if stop.is_told() && leaving.is_none() && bot.may_leave(&steady) {
            leaving = Some(steady.leave().await);
        }
        let told = tokio::select! {
            told = timeout(PATIENCE, steady.next()) => told.expect("something happens").unwrap(),
            () = stop.told(), if !stop.is_told() => continue,
        };
        for event in table_events(&told) {
            if let Event::Settled { game, .. } = event {
                played.games += 1;
                settled(*game);
            }
        }
        match told {
            PlayEvent::Unseated if stop.is_told() => break,
            PlayEvent::Unseated => {
                steady.client().with_base(&bases[0]).seat("newbie").await.unwrap();
                steady.join();
            }
            PlayEvent::Answered { command, .. } if leaving == Some(command) => break,
            PlayEvent::Answered { command, outcome } => {
                if let CommandOutcome::Refused { code, detail, .. } = &outcome
                    && !OVERTAKEN.contains(&code.as_str())
                {
                    played.refused.push((code.clone(), detail.clone()));
                }
                let act = played.acts.iter_mut().find(|act| act.number == command);
                if let Some(act) = act {
                    act.outcome = Some(outcome);
                }
            }
            PlayEvent::Table(_) => {}
        }
        if leaving.is_none() && !(stop.is_told() && bot.may_leave(&steady)) {
            played.acts.extend(bot.answer(&mut steady).await);
        }
    }
    played.connections = steady.connections();
    played
}

/// Answers each question once.
#[derive(Debug, Default)]
pub(crate) struct Bot {
    answered: Option<(GameId, Option<u32>)>,
}

impl Bot {
    /// Not in a game, nor in one that may be about to begin: who has said ready plays it.
    fn may_leave(&self, steady: &ReconnectingPlay) -> bool {
        steady.view().is_some_and(|view| match &view.phase {
            PhaseView::Waiting => true,
            PhaseView::Preparing { game, .. } => self.answered != Some((*game, None)),
            PhaseView::Opening { .. }
            | PhaseView::Revealing { .. }
            | PhaseView::Playing { .. }
            | PhaseView::Settling { .. } => false,
        })
    }

    pub(crate) async fn answer(&mut self, steady: &mut ReconnectingPlay) -> Option<Act> {
        let view = steady.view()?;
        if let PhaseView::Preparing { game, ready, .. } = &view.phase {
            let (game, is_ready) = (*game, view.seat.is_none_or(|seat| ready.contains(seat)));
            if !is_ready && self.answered != Some((game, None)) {
                self.answered = Some((game, None));
                steady.ready(game, Some("luck".to_owned())).await;
            }
            return None;
        }
        let prompt = steady.prompt()?;
        let question = (prompt.game, Some(prompt.number));
        if self.answered == Some(question) {
            return None;
        }
        let action = steady.advice()?;
        self.answered = Some(question);
        let number = steady.act(action.clone()).await?;
        Some(Act { number, game: question.0, action, outcome: None })
    }
}
