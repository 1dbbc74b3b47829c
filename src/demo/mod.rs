//! `bahay demo`: three guests who know only the public API play whole games in the newbie room
//! until one of them takes the POT, and show what every game cost whom.
//!
//! It checks as it goes: each client's own view follows the events without a gap, each record is
//! verified, and in the end the coins of the three and the fees add up to what they were.

mod report;

use std::time::Duration;

use bahay_engine::coins::Coins;
use bahay_engine::games::tongits::{Ending, Event as GameEvent};
use bahay_engine::table::{Event, GameId, PhaseView, PlayerId, Record, Settlement, TableId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

use crate::client::{Client, ClientError, Outcome, Steady, SteadyError, Told, Wallet, events_of};
use crate::entropy;
use crate::tables::catalog::Tongits;

/// Who plays.
const NAMES: [&str; 3] = ["Althea", "Benjie", "Carmela"];

/// The room they ask for a table.
const ROOM: &str = "newbie";

/// A POT is taken long before so many games.
const GAMES_MAX: usize = 200;

/// Nothing at a table takes longer than its countdowns.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two commands of a player: below the 20 a second that the server takes for long.
const PACE: Duration = Duration::from_millis(60);

/// Attempts to sit at one table, when others play in the room.
const TOGETHER_ATTEMPTS: usize = 40;

/// Why the demo did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Play(#[from] SteadyError),
    #[error("a command was refused: {code}: {detail}")]
    Refused { code: String, detail: String },
    #[error("a player lost the seat")]
    Unseated,
    #[error("a record does not verify: game {game}: {fault}")]
    Record { game: GameId, fault: String },
    #[error("the wallets do not add up: {0}")]
    Books(String),
    #[error("nothing happened for a minute")]
    Silence,
    #[error("the three were not seated at one table: others play in this room")]
    Apart,
    #[error("nobody took the POT in {GAMES_MAX} games")]
    NoPot,
    #[error("a player's task ended: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// What one player saw of the end of a game.
struct Finished {
    game: GameId,
    settlement: Settlement,
    ending: Option<Ending>,
}

/// Plays against a running server. `base` is as in `http://127.0.0.1:8080`.
pub async fn run(base: &str) -> Result<(), DemoError> {
    let mut clients = Vec::new();
    for name in NAMES {
        let device = format!("demo-{}", entropy::uuid());
        clients.push(Client::guest(base, &device, name).await?);
    }
    let before = wallets(&clients).await?;
    let table = sit_together(&clients).await?;
    report::seated(base, ROOM, table, &NAMES, &before);

    let (finished, mut games) = mpsc::unbounded_channel();
    let mut players = JoinSet::new();
    for (number, client) in clients.iter().enumerate() {
        let (client, finished) = (client.clone(), (number == 0).then(|| finished.clone()));
        players.spawn(async move { play(&client, finished).await });
    }
    drop(finished);
    let mut fees = Coins::ZERO;
    // What players before us left in the POT (rule 7.4).
    let mut inherited = None;
    let mut number = 0;
    while let Some(Finished { game, settlement, ending }) = games.recv().await {
        number += 1;
        let record = clients[0].record(game).await?;
        let record: Record<Tongits> = serde_json::from_value(record)
            .map_err(|error| DemoError::Record { game, fault: error.to_string() })?;
        let verified = record
            .verify()
            .map_err(|fault| DemoError::Record { game, fault: fault.to_string() })?;
        if record.settlement != settlement {
            let fault = "its settlement is not the one that the table showed".to_owned();
            return Err(DemoError::Record { game, fault });
        }
        let charged = settlement.fees.iter().map(|fee| fee.fee);
        fees = Coins::checked_sum([fees].into_iter().chain(charged))
            .ok_or_else(|| DemoError::Books("the fees do not fit".into()))?;
        inherited = inherited.or_else(|| {
            let antes = record.terms.price.bet.checked_mul(3)?;
            record.pot_before.checked_sub(antes)
        });
        let name_of = |player: &PlayerId| {
            let place = clients.iter().position(|client| client.player() == *player);
            place.map_or_else(|| player.to_string(), |place| NAMES[place].to_owned())
        };
        let names: Vec<String> = record.players.iter().map(name_of).collect();
        report::game(number, &record, ending, &verified, &names);
    }
    while let Some(ended) = players.join_next().await {
        ended??;
    }
    let after = wallets(&clients).await?;
    check_books(&before, &after, fees, inherited.unwrap_or_default())?;
    report::end(&NAMES, &before, &after, fees);
    Ok(())
}

async fn wallets(clients: &[Client]) -> Result<Vec<Wallet>, ClientError> {
    let mut wallets = Vec::new();
    for client in clients {
        wallets.push(client.wallet().await?);
    }
    Ok(wallets)
}

/// Seats all three at one table. Where others play in the room too, that may take a few attempts.
async fn sit_together(clients: &[Client]) -> Result<TableId, DemoError> {
    for _ in 0..TOGETHER_ATTEMPTS {
        let mut tables = Vec::new();
        for client in clients {
            tables.push(client.seat(ROOM).await?);
        }
        if tables.iter().all(|table| *table == tables[0]) {
            return Ok(tables[0]);
        }
        for client in clients {
            client.leave().await?;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Err(DemoError::Apart)
}

/// Plays as the house's bot would until the POT is taken, then leaves.
async fn play(
    client: &Client,
    finished: Option<mpsc::UnboundedSender<Finished>>,
) -> Result<(), DemoError> {
    let mut play = Steady::new(client.clone(), &[]);
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut answered = None;
    let mut ending = None;
    let mut over = None;
    let mut games = 0;
    loop {
        let told = timeout(PATIENCE, play.next()).await.map_err(|_| DemoError::Silence)??;
        match &told {
            Told::Answered { outcome: Outcome::Refused { code, detail, .. }, .. } => {
                let (code, detail) = (code.clone(), detail.clone());
                return Err(DemoError::Refused { code, detail });
            }
            Told::Unseated => return Err(DemoError::Unseated),
            Told::Answered { .. } | Told::Table(_) => {}
        }
        for event in events_of(&told).iter().cloned() {
            match event {
                Event::Game { event: GameEvent::Over { ending: how, .. } } => ending = Some(how),
                Event::Over { game, settlement, .. } => {
                    over = Some(Finished { game, settlement, ending: ending.take() });
                }
                Event::Settled { .. } => {
                    games += 1;
                    let Some(game) = over.take() else {
                        continue;
                    };
                    let takes_pot = game.settlement.pot.is_some();
                    if let Some(finished) = &finished {
                        // The receiver ends only with the demo.
                        let _ = finished.send(game);
                    }
                    if takes_pot {
                        return leave(play).await;
                    }
                    if games == GAMES_MAX {
                        return Err(DemoError::NoPot);
                    }
                }
                _ => {}
            }
        }
        answer(&mut play, &mut answered, &mut pace).await?;
    }
}

/// Says ready, or answers the prompt, unless that is done already.
async fn answer(
    play: &mut Steady,
    answered: &mut Option<(GameId, Option<u32>)>,
    pace: &mut Interval,
) -> Result<(), DemoError> {
    let Some(view) = play.view() else {
        return Ok(());
    };
    if let PhaseView::Preparing { game, ready, .. } = &view.phase {
        let (game, is_ready) = (*game, view.seat.is_none_or(|seat| ready.contains(seat)));
        if !is_ready && *answered != Some((game, None)) {
            *answered = Some((game, None));
            pace.tick().await;
            play.ready(game, Some(format!("luck {}", entropy::uuid()))).await;
        }
        return Ok(());
    }
    let Some(prompt) = play.prompt() else {
        return Ok(());
    };
    let question = (prompt.game, Some(prompt.number));
    if *answered == Some(question) {
        return Ok(());
    }
    if let Some(action) = play.advice() {
        *answered = Some(question);
        pace.tick().await;
        play.act(action).await;
    }
    Ok(())
}

async fn leave(mut play: Steady) -> Result<(), DemoError> {
    let leaving = play.leave().await;
    timeout(PATIENCE, play.end_of(leaving)).await.map_err(|_| DemoError::Silence)??;
    Ok(())
}

/// What the three had, and what waited in the POT for them, is what they have and the house took
/// in fees: nothing else left the table.
fn check_books(
    before: &[Wallet],
    after: &[Wallet],
    fees: Coins,
    inherited: Coins,
) -> Result<(), DemoError> {
    let sum = |wallets: &[Wallet]| {
        Coins::checked_sum(wallets.iter().flat_map(|wallet| [wallet.available, wallet.held]))
    };
    let (before, after) = (sum(before), sum(after));
    let brought = before.and_then(|before| before.checked_add(inherited));
    if brought.is_some() && brought == after.and_then(|after| after.checked_add(fees)) {
        Ok(())
    } else {
        let text = format!("{before:?} and {inherited} before, {after:?} and {fees} after");
        Err(DemoError::Books(text))
    }
}
