//! `bahay demo`: as many guests as a room's game needs, who know only the public API, play whole
//! games until one of them takes the POT, and show what every game cost whom. In a room without a
//! POT they play `GAMES_WITHOUT_POT`.
//!
//! It checks as it goes: each client's own view follows the events without a gap, each record is
//! verified, and in the end the coins of the guests and the fees add up to what they were.

mod report;

use std::time::Duration;

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::seat::SEATS_MAX;
use bahay_engine::table::{
    Event, Fault, GameId, PhaseView, PlayerId, Readable, Settlement, TableId,
};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

use crate::client::{Client, ClientError, Outcome, Steady, SteadyError, Told, Wallet, events_of};
use crate::entropy;

/// Who plays, if a game needs so many.
const NAMES: [&str; SEATS_MAX as usize] =
    ["Althea", "Benjie", "Carmela", "Dalisay", "Efren", "Flora", "Gary", "Hilda"];

/// A POT is taken long before so many games.
const GAMES_MAX: usize = 200;

/// How many games are played where there is no POT to take.
const GAMES_WITHOUT_POT: usize = 3;

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
    #[error("the house has no room {0}")]
    NoRoom(String),
    #[error("a player lost the seat")]
    Unseated,
    #[error("a record does not verify: game {game}: {fault}")]
    Record { game: GameId, fault: String },
    #[error("the wallets do not add up: {0}")]
    Books(String),
    #[error("nothing happened for a minute")]
    Silence,
    #[error("the guests do not have a table to themselves: others play in this room")]
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
}

/// As much of a room as its guests must know.
#[derive(Deserialize)]
struct Room {
    id: String,
    seats_min: u8,
}

#[derive(Deserialize)]
struct Rooms {
    items: Vec<Room>,
}

/// Plays in a room of a running server. `base` is as in `http://127.0.0.1:8080`.
pub async fn run(base: &str, room: &str) -> Result<(), DemoError> {
    let clients = guests(base, room).await?;
    let names = &NAMES[..clients.len()];
    let before = wallets(&clients).await?;
    let table = sit_together(&clients, room).await?;
    report::seated(base, room, table, names, &before);

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
    while let Some(Finished { game, settlement }) = games.recv().await {
        number += 1;
        let record = clients[0].record(game).await?;
        let record = AnyGame::read_record(&record.to_string())
            .map_err(|error| DemoError::Record { game, fault: error.to_string() })?;
        let wrong = |fault: Fault| DemoError::Record { game, fault: fault.to_string() };
        let verified = record.verify().map_err(wrong)?;
        let end = record.replay(|_| ()).map_err(wrong)?;
        if record.settlement != settlement {
            let fault = "its settlement is not the one that the table showed".to_owned();
            return Err(DemoError::Record { game, fault });
        }
        let charged = settlement.fees.iter().map(|fee| fee.fee);
        fees = Coins::checked_sum([fees].into_iter().chain(charged))
            .ok_or_else(|| DemoError::Books("the fees do not fit".into()))?;
        inherited = inherited.or_else(|| {
            let antes = record.terms.ante()?.checked_mul(u32::try_from(clients.len()).ok()?)?;
            record.pot_before.checked_sub(antes)
        });
        let name_of = |player: &PlayerId| {
            let place = clients.iter().position(|client| client.player() == *player);
            place.map(|place| names[place]).ok_or(DemoError::Apart)
        };
        let by_seat: Vec<&str> = record.players.iter().map(name_of).collect::<Result<_, _>>()?;
        report::game(number, &record, &end, &verified, &by_seat);
    }
    while let Some(ended) = players.join_next().await {
        ended??;
    }
    let after = wallets(&clients).await?;
    check_books(&before, &after, fees, inherited.unwrap_or_default())?;
    report::end(names, &before, &after, fees);
    Ok(())
}

/// Signs in as many as the room's game cannot begin without.
async fn guests(base: &str, room: &str) -> Result<Vec<Client>, DemoError> {
    let device = || format!("demo-{}", entropy::uuid());
    let first = Client::guest(base, &device(), NAMES[0]).await?;
    let Rooms { items } = first.read("/v1/rooms").await?;
    let Some(Room { seats_min, .. }) = items.into_iter().find(|one| one.id == room) else {
        return Err(DemoError::NoRoom(room.to_owned()));
    };
    let mut clients = vec![first];
    for name in NAMES.into_iter().take(seats_min.into()).skip(1) {
        clients.push(Client::guest(base, &device(), name).await?);
    }
    Ok(clients)
}

async fn wallets(clients: &[Client]) -> Result<Vec<Wallet>, ClientError> {
    let mut wallets = Vec::new();
    for client in clients {
        wallets.push(client.wallet().await?);
    }
    Ok(wallets)
}

/// Seats all of them at one table. Where others play in the room too, that may take a few attempts.
async fn sit_together(clients: &[Client], room: &str) -> Result<TableId, DemoError> {
    for _ in 0..TOGETHER_ATTEMPTS {
        let mut tables = Vec::new();
        for client in clients {
            tables.push(client.seat(room).await?);
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

/// Plays as the house's bot would until the POT is taken, or some games if there is none, then
/// leaves.
async fn play(
    client: &Client,
    finished: Option<mpsc::UnboundedSender<Finished>>,
) -> Result<(), DemoError> {
    let mut play = Steady::new(client.clone(), &[]);
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut answered = None;
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
                Event::Over { game, settlement, .. } => over = Some(Finished { game, settlement }),
                Event::Settled { .. } => {
                    games += 1;
                    let Some(game) = over.take() else {
                        continue;
                    };
                    let takes_pot = game.settlement.pot.is_some();
                    let has_pot = play.view().is_some_and(|view| view.terms.hits.is_some());
                    if let Some(finished) = &finished {
                        // The receiver ends only with the demo.
                        let _ = finished.send(game);
                    }
                    if takes_pot || !has_pot && games == GAMES_WITHOUT_POT {
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

/// What the guests had, and what waited in the POT for them, is what they have and the house took
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
