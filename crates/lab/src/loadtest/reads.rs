//! REST reads at a fixed rate: an open-loop load over all routes that a client's pages read.
//!
//! First guests sign in and play some games, so that they have games of their own. Then one read
//! after the other is due, each of another player and of the next route in [`ReadRoute::ALL`]. A
//! latency counts from the due time: a stalled server is late for every read that was due
//! meanwhile, so coordinated omission does not occur. Up to [`TIMER`](super::counters::TIMER) of
//! lateness is attributed to the timer.
//!
//! Bounds: at most [`UNDER_WAY_MAX`] reads are pending; reads due beyond that count as the error
//! `not_sent`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bahay_base::clock::Moment;
use bahay_base::entropy;
use bahay_client_tokio::{AwaitedInput, Client, ClientError, PlayError};
use bahay_engine::table::{Event, GameId};
use bahay_protocol::Message;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

use super::counters::{Latencies, add_counts, lateness_beyond_timer};
use super::report::format::hundredths;
use super::{LoadError, Options};

/// The number of games that each player plays before the reads begin.
const GAMES: u32 = 3;

/// The think time: the server admits 20 commands a second on a socket in the long run.
const THINK: Duration = Duration::from_millis(60);

/// The time limit for these games.
const PLAYING_MAX: Duration = Duration::from_secs(300);

const UNDER_WAY_MAX: usize = 4_096;

bahay_base::text_enum! {
    /// A route that clients read.
    enum ReadRoute {
        Me = "me",
        Wallet = "wallet",
        Entries = "entries",
        Rooms = "rooms",
        History = "history",
        Game = "game",
        /// The steps of one of the player's own games.
        Replay = "replay",
        Statistics = "statistics",
        Leaderboard = "leaderboard",
        /// The leaderboard section around the player.
        Around = "around",
        Profile = "profile",
        Notices = "notices",
    }
}

impl ReadRoute {
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

/// A player with a settled game.
#[derive(Clone)]
struct Reader {
    client: Client,
    game: GameId,
}

/// The latencies and errors of one route.
#[derive(Debug, Default, Serialize)]
struct RouteResult {
    latencies: Latencies,
    /// The number of errors by code.
    errors: BTreeMap<String, u64>,
}

impl RouteResult {
    fn add(&mut self, other: &Self) {
        self.latencies.add(&other.latencies);
        add_counts(&mut self.errors, &other.errors);
    }

    fn summary_line(&self, name: &str) -> String {
        let Self { latencies, errors } = self;
        let [p50, p99, max] =
            [latencies.permille_us(500), latencies.permille_us(990), latencies.max_us()]
                .map(|us| hundredths(us / 10));
        let count = latencies.count();
        let mut line = format!("{name:<12} {count:>7} {p50:>9} {p99:>9} {max:>9}");
        for (code, number) in errors {
            let _ = write!(line, "  {code} {number} times");
        }
        line
    }
}

/// The report of a `reads` run.
#[derive(Debug, Serialize)]
pub(super) struct ReadsReport {
    per_second: u32,
    seconds: u64,
    players: usize,
    routes: BTreeMap<ReadRoute, RouteResult>,
}

impl ReadsReport {
    fn total(&self) -> RouteResult {
        let mut all = RouteResult::default();
        self.routes.values().for_each(|read| all.add(read));
        all
    }

    /// Returns the most frequent error, if any read failed.
    pub(super) fn fault(&self) -> Option<String> {
        let errors = self.total().errors;
        let (code, number) = errors.into_iter().max_by_key(|(_, number)| *number)?;
        Some(format!("reads were refused or not answered: {code} {number} times"))
    }
}

impl fmt::Display for ReadsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { per_second, seconds, players, routes } = self;
        writeln!(f, "{per_second} reads a second for {seconds} s, by {players} players")?;
        writeln!(f, "route          reads    p50 ms    p99 ms    max ms  errors")?;
        for (route, read) in routes {
            writeln!(f, "{}", read.summary_line(route.as_str()))?;
        }
        write!(f, "{}", self.total().summary_line("all"))
    }
}

/// Prepares the readers, warms up and measures.
pub(super) async fn run_reads(options: &Options) -> Result<ReadsReport, LoadError> {
    let readers = prepare_readers(options).await?;
    eprintln!("{} players have played; now they read", readers.len());
    send_reads(options, &readers, options.warm_up).await;
    Ok(send_reads(options, &readers, options.seconds).await)
}

/// Signs players in and lets them play their games.
async fn prepare_readers(options: &Options) -> Result<Vec<Reader>, LoadError> {
    let mut playing = JoinSet::new();
    let device = || format!("load-{}", entropy::uuid());
    let url = options.urls.first().ok_or(LoadError::NoAddress)?;
    // A guest that checks the address and does not play.
    let first = Client::guest(url, &device(), "Loida").await.map_err(LoadError::SignIn)?;
    let seats = super::read_seat_count(&first, &options.room).await?;
    for _ in 0..options.tables {
        // Seats are requested table by table, so that each fills up.
        for url in options.urls.iter().cycle().take(seats.into()) {
            let client = first.with_base(url).another_guest(&device(), "Loida").await;
            let client = client.map_err(LoadError::SignIn)?;
            client.seat(&options.room).await.map_err(LoadError::SignIn)?;
            playing.spawn(timeout(PLAYING_MAX, play_games(client)));
        }
    }
    let mut readers = Vec::new();
    let mut why = String::new();
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

/// Plays some games as the house's bot does, with a minimal think time.
async fn play_games(client: Client) -> Result<Reader, PlayError> {
    let mut play = client.play().await?;
    let joining = play.join().await?;
    play.wait_for_answer(joining).await?;
    let mut answered = None;
    let mut games = 0;
    let mut is_full = false;
    let mut plays = false;
    let mut last = None;
    while games < GAMES {
        // A player becomes ready only at a full table, so all play the same games and leave
        // together.
        is_full |= play.view().is_some_and(|view| view.seats.iter().all(Option::is_some));
        let awaited = play.awaited_input().filter(|awaited| answered != Some(*awaited));
        match awaited {
            Some(AwaitedInput::Ready(game)) if is_full => {
                answered = awaited;
                play.ready(game, None).await?;
            }
            Some(AwaitedInput::Act(..)) => {
                if let Some(action) = play.advice() {
                    answered = awaited;
                    sleep(THINK).await;
                    play.act(action).await?;
                }
            }
            _ => {}
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
    // The other players may have left already, and the seat may be gone with them.
    let _ = client.leave().await;
    let game = last.ok_or(PlayError::Nonsense("no game was settled".to_owned()))?;
    Ok(Reader { client, game })
}

async fn send_reads(options: &Options, readers: &[Reader], seconds: u64) -> ReadsReport {
    let routes = ReadRoute::ALL.iter().map(|route| (*route, RouteResult::default()));
    let routes = Arc::new(Mutex::new(routes.collect::<BTreeMap<_, _>>()));
    let under_way = Arc::new(Semaphore::new(UNDER_WAY_MAX));
    let mut reading = JoinSet::new();
    // Missed ticks fire immediately one after the other, so no read is skipped.
    let mut ticks = interval(Duration::from_secs(1) / options.per_second.max(1));
    let count = seconds * u64::from(options.per_second);
    let due = (0..count).zip(readers.iter().cycle()).zip(ReadRoute::ALL.iter().cycle());
    for ((number, reader), route) in due {
        let due = ticks.tick().await;
        // The shift keeps a player from reading the same route every time if there are as many
        // players as routes.
        let shift = usize::try_from(number / readers.len().max(1) as u64).unwrap_or(0);
        let route = ReadRoute::ALL[(*route as usize + shift) % ReadRoute::ALL.len()];
        let routes = routes.clone();
        let record_result = move |taken: Option<Duration>, code: Option<String>| {
            let mut routes = routes.lock().unwrap_or_else(PoisonError::into_inner);
            let read = routes.entry(route).or_default();
            taken.into_iter().for_each(|taken| read.latencies.record(taken, Duration::ZERO));
            code.into_iter().for_each(|code| *read.errors.entry(code).or_default() += 1);
        };
        let Ok(permit) = under_way.clone().try_acquire_owned() else {
            record_result(None, Some("not_sent".to_owned()));
            continue;
        };
        let client = reader.client.clone();
        let path = route.path(reader);
        let late = lateness_beyond_timer(due.elapsed());
        let sent = Moment::now();
        reading.spawn(async move {
            let answer = client.read::<Value>(&path).await;
            let code = answer.err().map(|error| match error {
                ClientError::Refused { code, .. } => code,
                other => other.to_string(),
            });
            record_result(Some(late + sent.elapsed()), code);
            drop(permit);
        });
        while reading.try_join_next().is_some() {}
    }
    while reading.join_next().await.is_some() {}
    let routes = std::mem::take(&mut *routes.lock().unwrap_or_else(PoisonError::into_inner));
    ReadsReport { per_second: options.per_second, seconds, players: readers.len(), routes }
}
