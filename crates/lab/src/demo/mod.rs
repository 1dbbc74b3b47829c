//! `bahay-lab demo`: guests who use only the public API, as many as a room's game needs, play whole
//! games until one of them takes the POT, and print the payments of every game. In a room without a
//! POT they play `GAMES_WITHOUT_POT` games.
//!
//! The demo verifies as it goes: each client's own view follows the events without a gap, each
//! record is verified, and in the end the coins of the guests and the fees add up to the initial
//! sum.

mod report;

use std::time::Duration;

use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::seat::SEATS_MAX;
use bahay_engine::table::{
    Event, GameId, InvalidRecordError, PlayerId, Readable, Settlement, TableId,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

use bahay_base::entropy;
use bahay_client_tokio::{
    AwaitedInput, Client, ClientError, Outcome, PlayEvent, ReconnectError, ReconnectingPlay,
    Wallet, table_events,
};

/// The names of the guests, for the largest game.
const NAMES: [&str; SEATS_MAX as usize] =
    ["Althea", "Benjie", "Carmela", "Dalisay", "Efren", "Flora", "Gary", "Hilda"];

/// The number of games after which the demo fails; a POT is taken much earlier.
const GAMES_MAX: usize = 200;

/// The number of games in a room without a POT.
const GAMES_WITHOUT_POT: usize = 3;

/// The longest time without an event, which exceeds all countdowns.
const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// The pause between two commands of a player, below the server's lasting rate limit of 20 commands
/// a second.
const PACE: Duration = Duration::from_millis(60);

/// The number of attempts to sit at one table while others play in the room.
const TOGETHER_ATTEMPTS: usize = 40;

/// The pause before a request is repeated.
const REPEAT_PAUSE: Duration = Duration::from_millis(500);

/// The number of attempts of a request, whose pauses exceed the replacement of a server.
const REQUEST_ATTEMPTS: usize = 60;

/// An error that ends the demo early.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Play(#[from] ReconnectError),
    #[error("a command was refused: {code}: {detail}")]
    Refused { code: String, detail: String },
    #[error("the house has no room {0}")]
    NoRoom(String),
    #[error("a player lost the seat: {0}")]
    Unseated(String),
    #[error("a record does not verify: game {game}: {fault}")]
    Record { game: GameId, fault: String },
    #[error("the wallets do not add up: {0}")]
    Books(String),
    #[error("nothing happened for a minute")]
    Silence,
    #[error("the guests could not get a table of their own: others play in this room")]
    Apart,
    #[error("nobody took the POT in {GAMES_MAX} games")]
    NoPot,
    #[error("a player's task failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// The end of a game as one player saw it.
struct GameEnd {
    game: GameId,
    settlement: Settlement,
}

/// Plays in a room of a running server. `base` is the server's URL, such as
/// `http://127.0.0.1:8080`.
pub async fn run(base: &str, room: &str) -> Result<(), DemoError> {
    let clients = sign_in_guests(base, room).await?;
    let names = &NAMES[..clients.len()];
    let before = read_wallets(&clients).await?;
    let table = sit_together(&clients, room).await?;
    report::print_seats(base, room, table, names, &before);

    let (finished, mut games) = mpsc::unbounded_channel();
    let mut players = JoinSet::new();
    for (number, client) in clients.iter().enumerate() {
        let client = client.clone();
        let finished = (number == 0).then(|| finished.clone());
        players.spawn(async move { play_games(&client, finished).await });
    }
    drop(finished);
    let mut fees = Coins::ZERO;
    // The coins that earlier players left in the POT (rule 7.4).
    let mut inherited = None;
    let mut number = 0;
    while let Some(GameEnd { game, settlement }) = games.recv().await {
        number += 1;
        let record = persist(async || clients[0].record(game).await).await?;
        let record = AnyGame::read_record(&record.to_string())
            .map_err(|error| DemoError::Record { game, fault: error.to_string() })?;
        let wrong =
            |fault: InvalidRecordError| DemoError::Record { game, fault: fault.to_string() };
        let verified = record.verify().map_err(wrong)?;
        let end = record.replay(|_| ()).map_err(wrong)?;
        if record.settlement != settlement {
            let fault = "its settlement is not the one that the table showed".to_owned();
            return Err(DemoError::Record { game, fault });
        }
        let charged = settlement.fees.iter().map(|fee| fee.fee);
        fees = Coins::checked_sum([fees].into_iter().chain(charged))
            .ok_or_else(|| DemoError::Books("the sum of the fees overflows".into()))?;
        inherited = inherited.or_else(|| {
            let antes = record.terms.ante()?.checked_mul(u32::try_from(clients.len()).ok()?)?;
            record.pot_before.checked_sub(antes)
        });
        let name_of = |player: &PlayerId| {
            let place = clients.iter().position(|client| client.player() == *player);
            place.map(|place| names[place]).ok_or(DemoError::Apart)
        };
        let by_seat: Vec<&str> = record.players.iter().map(name_of).collect::<Result<_, _>>()?;
        report::print_game(number, &record, &end, &verified, &by_seat);
    }
    while let Some(ended) = players.join_next().await {
        ended??;
    }
    let after = read_wallets(&clients).await?;
    check_books(&before, &after, fees, inherited.unwrap_or_default())?;
    report::print_wallets(names, &before, &after, fees);
    Ok(())
}

/// Repeats an idempotent request while the server is unavailable, as during an upgrade.
async fn persist<T>(
    mut request: impl AsyncFnMut() -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    for _ in 1..REQUEST_ATTEMPTS {
        match request().await {
            Err(error) if error.is_transient() => tokio::time::sleep(REPEAT_PAUSE).await,
            answered => return answered,
        }
    }
    request().await
}

/// Signs in the minimum number of players of the room's game.
async fn sign_in_guests(base: &str, room: &str) -> Result<Vec<Client>, DemoError> {
    let guest = async |name: &str| {
        let device = format!("demo-{}", entropy::uuid());
        persist(async || Client::guest(base, &device, name).await).await
    };
    let first = guest(NAMES[0]).await?;
    let found = persist(async || first.room(room).await).await?;
    let found = found.ok_or_else(|| DemoError::NoRoom(room.to_owned()))?;
    let mut clients = vec![first];
    for name in NAMES.into_iter().take(found.seats_min.into()).skip(1) {
        clients.push(guest(name).await?);
    }
    Ok(clients)
}

async fn read_wallets(clients: &[Client]) -> Result<Vec<Wallet>, ClientError> {
    let mut wallets = Vec::new();
    for client in clients {
        wallets.push(persist(async || client.wallet().await).await?);
    }
    Ok(wallets)
}

/// Seats all of them at one table, with several attempts if others play in the room.
async fn sit_together(clients: &[Client], room: &str) -> Result<TableId, DemoError> {
    for _ in 0..TOGETHER_ATTEMPTS {
        let mut tables = Vec::new();
        for client in clients {
            tables.push(persist(async || client.seat(room).await).await?);
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

/// Plays as a house bot would until the POT is taken, or a few games without a POT, then leaves.
async fn play_games(
    client: &Client,
    finished: Option<mpsc::UnboundedSender<GameEnd>>,
) -> Result<(), DemoError> {
    let mut play = ReconnectingPlay::new(client.clone(), &[]);
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut answered = None;
    let mut over = None;
    let mut games = 0;
    loop {
        let event = timeout(EVENT_TIMEOUT, play.next()).await.map_err(|_| DemoError::Silence)??;
        match &event {
            PlayEvent::Answered { outcome: Outcome::Refused { code, detail, .. }, .. } => {
                return Err(DemoError::Refused { code: code.clone(), detail: detail.clone() });
            }
            PlayEvent::Unseated(reason) => return Err(DemoError::Unseated(reason.clone())),
            PlayEvent::Answered { .. } | PlayEvent::Deal { .. } | PlayEvent::Table(_) => {}
        }
        for event in table_events(&event).iter().cloned() {
            match event {
                Event::Over { game, settlement, .. } => over = Some(GameEnd { game, settlement }),
                Event::Settled { .. } => {
                    games += 1;
                    let Some(game) = over.take() else {
                        continue;
                    };
                    let takes_pot = game.settlement.pot.is_some();
                    let has_pot = play.view().is_some_and(|view| view.terms.hits.is_some());
                    if let Some(finished) = &finished {
                        // The receiver lives as long as the demo.
                        let _ = finished.send(game);
                    }
                    if takes_pot || !has_pot && games == GAMES_WITHOUT_POT {
                        return leave_table(play).await;
                    }
                    if games == GAMES_MAX {
                        return Err(DemoError::NoPot);
                    }
                }
                _ => {}
            }
        }
        answer_table(&mut play, &mut answered, &mut pace).await;
    }
}

/// Declares readiness or answers the prompt, unless that was done before.
async fn answer_table(
    play: &mut ReconnectingPlay,
    answered: &mut Option<AwaitedInput>,
    pace: &mut Interval,
) {
    let awaited = play.awaited_input();
    if awaited == *answered {
        return;
    }
    match awaited {
        Some(AwaitedInput::Ready(game)) => {
            pace.tick().await;
            play.ready(game, Some(format!("luck {}", entropy::uuid()))).await;
        }
        Some(AwaitedInput::Act(..)) => {
            let Some(action) = play.advice() else { return };
            pace.tick().await;
            play.act(action).await;
        }
        // The client reveals the text by itself.
        Some(AwaitedInput::Reveal(_)) | None => return,
    }
    *answered = awaited;
}

async fn leave_table(mut play: ReconnectingPlay) -> Result<(), DemoError> {
    let leaving = play.leave().await;
    timeout(EVENT_TIMEOUT, play.wait_for_outcome(leaving))
        .await
        .map_err(|_| DemoError::Silence)??;
    Ok(())
}

/// Checks that the wallets and fees after the games equal the wallets before them and the inherited
/// POT: nothing else left the table.
fn check_books(
    before: &[Wallet],
    after: &[Wallet],
    fees: Coins,
    inherited: Coins,
) -> Result<(), DemoError> {
    let sum = |wallets: &[Wallet]| {
        Coins::checked_sum(wallets.iter().flat_map(|wallet| [wallet.available, wallet.held]))
    };
    let before = sum(before);
    let after = sum(after);
    let brought = before.and_then(|before| before.checked_add(inherited));
    if brought.is_some() && brought == after.and_then(|after| after.checked_add(fees)) {
        Ok(())
    } else {
        let text = format!("{before:?} and {inherited} before, {after:?} and {fees} after");
        Err(DemoError::Books(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_are_repeated_while_the_server_is_unavailable() {
        let mut attempts = 0;
        let answered = persist(async || {
            attempts += 1;
            if attempts < 3 { Err(ClientError::Unavailable(503)) } else { Ok(attempts) }
        });
        assert_eq!(answered.await.unwrap(), 3);

        let mut attempts = 0;
        let refused = persist(async || {
            attempts += 1;
            let (code, detail) = ("no_such_game".to_owned(), String::new());
            Err::<(), _>(ClientError::Refused { status: 404, code, detail })
        });
        assert!(matches!(refused.await, Err(ClientError::Refused { status: 404, .. })));
        assert_eq!(attempts, 1);

        let mut attempts = 0;
        let unavailable = persist(async || {
            attempts += 1;
            Err::<(), _>(ClientError::Unavailable(502))
        });
        assert!(matches!(unavailable.await, Err(ClientError::Unavailable(502))));
        assert_eq!(attempts, REQUEST_ATTEMPTS);
    }
}
