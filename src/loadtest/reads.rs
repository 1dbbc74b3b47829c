//! What clients read beside the table: so many requests a second, whether or not the ones before are
//! answered, over all that a client's pages ask for.
//!
//! First guests sign in, and play some games, so that there is something of their own to read. Then
//! one read after the other is due, each of another player and the next of [`Route::ALL`]. Its
//! latency counts from when it was due: a server that stands still is late for every read that was
//! due meanwhile, so nothing is omitted. Up to [`TIMER`] of lateness is the timer's own.
//!
//! Bounds: [`UNDER_WAY_MAX`] reads wait for their answers; what is due beyond that counts as an error
//! of its own, `not_sent`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bahay_engine::table::{Event, GameId, PhaseView};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

use super::tally::{Latencies, TIMER};
use super::{LoadError, Options, room};
use crate::client::{Client, ClientError, PlayError};
use crate::clock::Moment;
use crate::entropy;
use crate::ws::protocol::Message;

/// Games that each of them plays before the reads begin.
const GAMES: u32 = 3;

/// Before each move: the server takes 20 commands a second of a socket for long.
const THINK: Duration = Duration::from_millis(60);

/// How long these may take.
const PLAYING_MAX: Duration = Duration::from_secs(300);

const UNDER_WAY_MAX: usize = 4_096;

/// Something that a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Route {
    Me,
    Wallet,
    Entries,
    Rooms,
    History,
    Game,
    /// A game of the player's own, step by step.
    Replay,
    Statistics,
    Leaderboard,
    /// The places around the player.
    Around,
    Profile,
    Notices,
}

impl Route {
    const ALL: [Self; 12] = [
        Self::Me,
        Self::Wallet,
        Self::Entries,
        Self::Rooms,
        Self::History,
        Self::Game,
        Self::Replay,
        Self::Statistics,
        Self::Leaderboard,
        Self::Around,
        Self::Profile,
        Self::Notices,
    ];

    fn path(self, reader: &Reader) -> String {
        let Reader { client, game } = reader;
        match self {
            Self::Me => "/v1/me".into(),
            Self::Wallet => "/v1/me/wallet".into(),
            Self::Entries => "/v1/me/wallet/entries?limit=20".into(),
            Self::Rooms => "/v1/rooms".into(),
            Self::History => "/v1/me/games?limit=20".into(),
            Self::Game => format!("/v1/games/{game}"),
            Self::Replay => format!("/v1/games/{game}/steps"),
            Self::Statistics => "/v1/me/statistics".into(),
            Self::Leaderboard => "/v1/leaderboards/coins/ever".into(),
            Self::Around => "/v1/leaderboards/hits/week?section=around".into(),
            Self::Profile => format!("/v1/players/{}", client.player()),
            Self::Notices => "/v1/me/notices".into(),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Padded as the formatter says.
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

/// A player with a game to look back on.
#[derive(Clone)]
struct Reader {
    client: Client,
    game: GameId,
}

/// What came of the reads of one route.
#[derive(Debug, Serialize, Deserialize)]
struct Read {
    latencies: Latencies,
    /// By code.
    errors: BTreeMap<String, u64>,
}

impl Read {
    fn new() -> Self {
        Self { latencies: Latencies::new(), errors: BTreeMap::new() }
    }

    fn add(&mut self, other: &Self) {
        self.latencies.add(&other.latencies);
        for (code, number) in &other.errors {
            *self.errors.entry(code.clone()).or_default() += number;
        }
    }

    fn line(&self, name: &str) -> String {
        let ms = |us: u64| format!("{}.{:02}", us / 1_000, us % 1_000 / 10);
        let Self { latencies, errors } = self;
        let (p50, p99) = (latencies.permille_us(500), latencies.permille_us(990));
        let mut line = format!(
            "{name:<12} {:>7} {:>9} {:>9} {:>9}",
            latencies.count(),
            ms(p50),
            ms(p99),
            ms(latencies.max_us())
        );
        for (code, number) in errors {
            let _ = write!(line, "  {code} {number} times");
        }
        line
    }
}

/// What came of all of them.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reads {
    per_second: u32,
    seconds: u64,
    players: usize,
    routes: BTreeMap<Route, Read>,
}

impl Reads {
    fn all(&self) -> Read {
        let mut all = Read::new();
        self.routes.values().for_each(|read| all.add(read));
        all
    }

    /// What is wrong with them, if anything is: reads are answered, all of them.
    pub(super) fn fault(&self) -> Option<String> {
        let errors = self.all().errors;
        let (code, number) = errors.into_iter().max_by_key(|(_, number)| *number)?;
        Some(format!("reads were refused or not answered: {code} {number} times"))
    }
}

impl fmt::Display for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { per_second, seconds, players, routes } = self;
        writeln!(f, "{per_second} reads a second for {seconds} s, by {players} players")?;
        writeln!(f, "route          reads    p50 ms    p99 ms    max ms  errors")?;
        for (route, read) in routes {
            writeln!(f, "{}", read.line(&route.to_string()))?;
        }
        write!(f, "{}", self.all().line("all"))
    }
}

/// Plays a little, reads, and says what came of it.
pub(super) async fn carry_out(options: &Options) -> Result<Reads, LoadError> {
    let readers = readers(options).await?;
    eprintln!("{} players have played; now they read", readers.len());
    read(options, &readers, options.warm_up).await;
    Ok(read(options, &readers, options.seconds).await)
}

/// Signs players in and has them play.
async fn readers(options: &Options) -> Result<Vec<Reader>, LoadError> {
    let mut playing = JoinSet::new();
    let device = || format!("load-{}", entropy::uuid());
    let url = options.urls.first().ok_or(LoadError::NoAddress)?;
    // Tries the door, and does not play.
    let first = Client::guest(url, &device(), "Loida").await.map_err(LoadError::SignIn)?;
    let seats = room::seats_of(&first, &options.room).await?;
    for _ in 0..options.tables {
        // Table by table, so that each fills up.
        for url in options.urls.iter().cycle().take(seats.into()) {
            let client = first.with_base(url).another_guest(&device(), "Loida").await;
            let client = client.map_err(LoadError::SignIn)?;
            client.seat(&options.room).await.map_err(LoadError::SignIn)?;
            playing.spawn(timeout(PLAYING_MAX, play(client)));
        }
    }
    let (mut readers, mut why) = (Vec::new(), String::new());
    while let Some(played) = playing.join_next().await {
        match played {
            Ok(Ok(Ok(reader))) => readers.push(reader),
            Ok(Ok(Err(error))) => why = error.to_string(),
            Ok(Err(_)) => why = "games took too long".to_owned(),
            Err(error) => why = error.to_string(),
        }
    }
    let wanted = u64::from(options.tables) * u64::from(seats);
    match readers.len() as u64 {
        some if some == wanted => Ok(readers),
        playing => Err(LoadError::Unfilled { playing, wanted, why }),
    }
}

/// Some games as the house's bot would play them, with hardly any time to think.
async fn play(client: Client) -> Result<Reader, PlayError> {
    let mut play = client.play().await?;
    let joining = play.join().await?;
    play.wait_for_answer(joining).await?;
    let (mut preparing, mut answered, mut games) = (None, None, 0);
    let (mut is_full, mut plays, mut last) = (false, false, None);
    while games < GAMES {
        if let Some(view) = play.view() {
            // Nobody begins before all are there: so all play the same games, and leave together.
            is_full |= view.seats.iter().all(Option::is_some);
            if let PhaseView::Preparing { game, .. } = view.phase
                && is_full
                && preparing != Some(game)
            {
                preparing = Some(game);
                play.ready(game, None).await?;
            }
        }
        let question = play.prompt().map(|prompt| (preparing, prompt.number));
        if question != answered
            && let Some(action) = play.advice()
        {
            answered = question;
            sleep(THINK).await;
            play.act(action).await?;
        }
        if let Message::Update { events, .. } = play.next().await? {
            for event in &events {
                match event {
                    Event::Opened { stakes, .. } => {
                        let seat = play.view().and_then(|view| view.seat);
                        plays = seat.is_some_and(|seat| seat.index() < stakes.len());
                    }
                    Event::Settled { game, .. } if plays => {
                        last = Some(*game);
                        games += 1;
                    }
                    _ => {}
                }
            }
        }
    }
    // The others may be gone already, and the seat with them.
    let _ = client.leave().await;
    let game = last.ok_or(PlayError::Nonsense("no game was settled".to_owned()))?;
    Ok(Reader { client, game })
}

async fn read(options: &Options, readers: &[Reader], seconds: u64) -> Reads {
    let routes: BTreeMap<Route, Read> = Route::ALL.map(|route| (route, Read::new())).into();
    let routes = Arc::new(Mutex::new(routes));
    let under_way = Arc::new(Semaphore::new(UNDER_WAY_MAX));
    let mut reading = JoinSet::new();
    // Late ticks come one after the other at once: none is left out.
    let mut ticks = interval(Duration::from_secs(1) / options.per_second.max(1));
    let count = seconds * u64::from(options.per_second);
    let due = (0..count).zip(readers.iter().cycle()).zip(Route::ALL.iter().cycle());
    for ((number, reader), route) in due {
        let due = ticks.tick().await;
        // With as many players as routes nobody is to read the same thing always.
        let shift = usize::try_from(number / readers.len().max(1) as u64).unwrap_or(0);
        let route = Route::ALL[(*route as usize + shift) % Route::ALL.len()];
        let routes = routes.clone();
        let entered = move |taken: Option<Duration>, code: Option<String>| {
            let mut routes = routes.lock().unwrap_or_else(PoisonError::into_inner);
            let read = routes.entry(route).or_insert_with(Read::new);
            taken.into_iter().for_each(|taken| read.latencies.record(taken, Duration::ZERO));
            code.into_iter().for_each(|code| *read.errors.entry(code).or_default() += 1);
        };
        let Ok(place) = under_way.clone().try_acquire_owned() else {
            entered(None, Some("not_sent".to_owned()));
            continue;
        };
        let (client, path) = (reader.client.clone(), route.path(reader));
        let late = due.elapsed();
        let late = if late < TIMER { Duration::ZERO } else { late };
        let sent = Moment::now();
        reading.spawn(async move {
            let answer = client.read::<Value>(&path).await;
            entered(Some(late + sent.elapsed()), answer.err().map(|error| code(&error)));
            drop(place);
        });
        while reading.try_join_next().is_some() {}
    }
    while reading.join_next().await.is_some() {}
    let routes = std::mem::take(&mut *routes.lock().unwrap_or_else(PoisonError::into_inner));
    Reads { per_second: options.per_second, seconds, players: readers.len(), routes }
}

fn code(error: &ClientError) -> String {
    match error {
        ClientError::Refused { code, .. } => code.clone(),
        other => other.to_string(),
    }
}
