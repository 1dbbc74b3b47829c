//! A player for tests. It plays as the house's bot would, reconnects by itself, and records its
//! actions and their outcomes.

use std::sync::Arc;

use bahay_client_tokio::{
    Client, CommandNumber, Outcome, PlayEvent, ReconnectingPlay, table_events,
};
use bahay_engine::catalog::AnyAction;
use bahay_engine::table::{Event, GameId, PhaseView};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::support::house::PATIENCE;

/// The codes of refusals that occur because another action was faster. Every other refusal is an
/// error that a client could not resolve by a retry.
const OVERTAKEN: [&str; 4] = ["stale_prompt", "not_asked", "wrong_phase", "other_game"];

/// A request to all players to end after their current game.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }

    fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    async fn wait_until_requested(&self) {
        self.0.subscribe().wait_for(|requested| *requested).await.unwrap();
    }
}

/// The actions and results of a player.
#[derive(Debug, Default)]
pub(crate) struct PlayReport {
    /// The number of games settled while the player was connected.
    pub(crate) games: usize,
    /// Every action sent, in order.
    pub(crate) acts: Vec<Act>,
    /// The code and detail of each refusal whose code is not in [`OVERTAKEN`].
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) connections: u64,
}

#[derive(Debug)]
pub(crate) struct Act {
    number: CommandNumber,
    pub(crate) game: GameId,
    pub(crate) action: AnyAction,
    pub(crate) outcome: Option<Outcome>,
}

/// Lets each client play in a task of its own, as [`play_and_count`] does.
pub(crate) fn spawn_players<'a>(
    clients: impl IntoIterator<Item = &'a Client>,
    bases: &[String],
    stop: &Stop,
) -> JoinSet<PlayReport> {
    let mut playing = JoinSet::new();
    for client in clients {
        let (client, bases, stop) = (client.clone(), bases.to_vec(), stop.clone());
        playing.spawn(async move { play_and_count(&client, &bases, &stop, |_| {}).await });
    }
    playing
}

/// Lets players end, and asserts that each has finished a game.
pub(crate) async fn stop_players(playing: JoinSet<PlayReport>, stop: &Stop) {
    stop.stop();
    for ended in playing.join_all().await {
        assert!(ended.games > 0, "a player finished no game");
    }
}

/// Plays at the tables of the newbie room until `stop` is requested, and leaves when its game is
/// over. Calls `settled` for every settled game.
pub(crate) async fn play_and_count(
    client: &Client,
    bases: &[String],
    stop: &Stop,
    mut settled: impl FnMut(GameId),
) -> PlayReport {
    let mut play = ReconnectingPlay::new(client.clone(), bases);
    let mut bot = Bot::default();
    let mut report = PlayReport::default();
    let mut leaving = None;
    loop {
        if stop.is_requested() && leaving.is_none() && bot.may_leave(&play) {
            leaving = Some(play.leave().await);
        }
        let event = tokio::select! {
            event = timeout(PATIENCE, play.next()) => event.expect("an event arrives").unwrap(),
            () = stop.wait_until_requested(), if !stop.is_requested() => continue,
        };
        for table_event in table_events(&event) {
            if let Event::Settled { game, .. } = table_event {
                report.games += 1;
                settled(*game);
            }
        }
        match event {
            PlayEvent::Unseated(_) if stop.is_requested() => break,
            PlayEvent::Unseated(_) => {
                play.client().with_base(&bases[0]).seat("newbie").await.unwrap();
                play.join();
            }
            PlayEvent::Answered { command, .. } if leaving == Some(command) => break,
            PlayEvent::Answered { command, outcome } => {
                if let Outcome::Refused { code, detail, .. } = &outcome
                    && !OVERTAKEN.contains(&code.as_str())
                {
                    report.refused.push((code.clone(), detail.clone()));
                }
                let act = report.acts.iter_mut().find(|act| act.number == command);
                if let Some(act) = act {
                    act.outcome = Some(outcome);
                }
            }
            PlayEvent::Table(_) | PlayEvent::Deal { .. } => {}
        }
        if leaving.is_none() && !(stop.is_requested() && bot.may_leave(&play)) {
            report.acts.extend(bot.answer(&mut play).await);
        }
    }
    report.connections = play.connections();
    report
}

/// A bot that answers each prompt once.
#[derive(Debug, Default)]
pub(crate) struct Bot {
    answered: Option<(GameId, Option<u32>)>,
}

impl Bot {
    /// Returns whether no game is in progress or about to begin with this player. A player who has
    /// declared itself ready plays the next game.
    fn may_leave(&self, play: &ReconnectingPlay) -> bool {
        play.view().is_some_and(|view| match &view.phase {
            PhaseView::Waiting => true,
            PhaseView::Preparing { game, .. } => self.answered != Some((*game, None)),
            PhaseView::Opening { .. }
            | PhaseView::Revealing { .. }
            | PhaseView::Playing { .. }
            | PhaseView::Settling { .. } => false,
        })
    }

    pub(crate) async fn answer(&mut self, play: &mut ReconnectingPlay) -> Option<Act> {
        let view = play.view()?;
        if let PhaseView::Preparing { game, ready, .. } = &view.phase {
            let (game, is_ready) = (*game, view.seat.is_none_or(|seat| ready.contains(seat)));
            if !is_ready && self.answered != Some((game, None)) {
                self.answered = Some((game, None));
                play.ready(game, Some("luck".to_owned())).await;
            }
            return None;
        }
        let prompt = play.prompt()?;
        let question = (prompt.game, Some(prompt.number));
        if self.answered == Some(question) {
            return None;
        }
        let action = play.advice()?;
        self.answered = Some(question);
        let number = play.act(action.clone()).await?;
        Some(Act { number, game: question.0, action, outcome: None })
    }
}
