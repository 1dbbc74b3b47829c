//! A tournament under load: players sign in, connect, register for one arena, play it as the house's
//! bots do, and are paid.
//!
//! The tournament is announced before: by the command if a database is given ([`arena_terms`]). The report
//! has the moves a second and their latency, the latency of a registration, the time from the start
//! until everybody has been seated once, and the time from the end to the last prize, which the
//! public list of results tells.
//!
//! A latency of a move counts from the time at which the player meant to act. A player who is led to
//! no table asks for one every [`LOOK`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bahay_base::clock::{Clock, Moment};
use bahay_base::entropy;
use bahay_client_tokio::{AwaitedInput, Client, ClientError, Play, PlayError};
use bahay_engine::catalog::AnyRules;
use bahay_engine::coins::Coins;
use bahay_engine::table::Timestamp;
use bahay_engine::tournament::{
    EntrantLimits, EntryPrice, Format, PayoutStep, TournamentGame, TournamentTerms,
};
use bahay_protocol::{Message, SeekState};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::counters::{Latencies, lateness_beyond_timer};
use super::players::player_rng::PlayerRng;
use super::report::format::hundredths;
use super::{LoadError, Options};

/// The interval at which a player without a table asks for it.
const LOOK: Duration = Duration::from_secs(10);

/// The time limit for the last prize after the end.
const PAYMENT_MAX: Duration = Duration::from_secs(300);

/// The most errors of one player before it gives up.
const ERRORS_MAX: u32 = 100;

/// The interval of the pairings, in ms.
const PAIRING_MS: u32 = 3_000;

/// Returns the terms of the arena of a run, which starts once the players had time to register.
/// `None` if the catalogue lacks the game.
pub fn arena_terms(options: &Options, now: Timestamp) -> Option<TournamentTerms> {
    let rules = AnyRules::find_rule_set("tongits", "kingdom")?.rules;
    let duration_ms = u32::try_from(options.seconds * 1_000).ok()?;
    let registration_ms = u32::try_from(options.warm_up * 1_000).ok()?;
    Some(TournamentTerms {
        name: "Load".to_owned(),
        game: TournamentGame::new(rules, 3),
        format: Format::Arena { duration_ms, pairing_ms: PAIRING_MS },
        entrants: EntrantLimits { least: 3, most: options.players },
        entry: EntryPrice {
            buy_in: Coins::from_whole(10)?,
            fee: Coins::from_whole(1)?,
            accepts_passes: false,
        },
        guarantee: Coins::ZERO,
        payouts: vec![PayoutStep { entrants_from: 0, shares: (1..=100).rev().collect() }],
        starts_at: Some(now.after_ms(registration_ms)),
        late_registration_ms: duration_ms / 2,
        break_ms: 0,
        is_private: false,
        bots: false,
        bots_after_ms: 0,
    })
}

/// The report of a `tournament` run.
#[derive(Debug, Default, Serialize)]
pub(super) struct TournamentReport {
    players: u32,
    registered: u32,
    seated: u32,
    games: usize,
    moves: u64,
    /// The duration of the arena, in ms.
    duration_ms: i64,
    registration: Latencies,
    action_to_ack: Latencies,
    /// The times from the start until players were at their first table, in ms.
    seating: Latencies,
    /// The time from the end to the last prize, in ms.
    payment_ms: i64,
    errors: BTreeMap<String, u64>,
    /// The faults of the server.
    faults: Vec<String>,
}

impl TournamentReport {
    pub(super) fn fault(&self) -> Option<String> {
        self.faults.first().cloned()
    }
}

impl fmt::Display for TournamentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { players, registered, seated, games, moves, duration_ms, .. } = self;
        writeln!(f, "{players} players, {registered} registered, {seated} came to a table")?;
        let seconds = u64::try_from(duration_ms / 1_000).unwrap_or(0).max(1);
        let per_second = moves / seconds;
        writeln!(f, "{games} games scored, {moves} moves, {per_second} a second")?;
        writeln!(f, "                       p50 ms    p99 ms    max ms")?;
        for (name, latencies) in [
            ("registration", &self.registration),
            ("action to ack", &self.action_to_ack),
            ("start to first table", &self.seating),
        ] {
            let [p50, p99, max] =
                [latencies.permille_us(500), latencies.permille_us(990), latencies.max_us()]
                    .map(|us| hundredths(us / 10));
            writeln!(f, "{name:<20} {p50:>8} {p99:>9} {max:>9}")?;
        }
        write!(f, "end to the last prize: {} ms", self.payment_ms)?;
        for (code, number) in &self.errors {
            write!(f, "\n{code} {number} times")?;
        }
        Ok(())
    }
}

/// The state that all players of the run share.
struct Run {
    options: Options,
    path: String,
    arrivals: Semaphore,
    report: Mutex<TournamentReport>,
    /// The times at which players were at their first table.
    seated: Mutex<Vec<Timestamp>>,
}

impl Run {
    fn report(&self) -> MutexGuard<'_, TournamentReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_error(&self, code: &str) {
        *self.report().errors.entry(code.to_owned()).or_default() += 1;
    }
}

fn code_of(error: &ClientError) -> String {
    match error {
        ClientError::Refused { code, .. } => code.clone(),
        ClientError::Unreachable(_) => "unreachable".to_owned(),
        other => other.to_string(),
    }
}

/// Plays the tournament of the options and measures it.
pub(super) async fn run_tournament(options: &Options) -> Result<TournamentReport, LoadError> {
    let id = options.tournament.ok_or(LoadError::NoTournament)?;
    let url = options.urls.first().ok_or(LoadError::NoAddress)?;
    let device = format!("load-{}", entropy::uuid());
    let first = Client::guest(url, &device, "Loida").await.map_err(LoadError::SignIn)?;
    let path = format!("/v1/tournaments/{id}");
    let run = Arc::new(Run {
        options: options.clone(),
        path,
        arrivals: Semaphore::new(options.arrivals.into()),
        report: Mutex::new(TournamentReport {
            players: options.players,
            ..TournamentReport::default()
        }),
        seated: Mutex::default(),
    });
    let mut playing = JoinSet::new();
    for (number, url) in (0..options.players).zip(options.urls.iter().cycle()) {
        let player = Player {
            run: run.clone(),
            door: first.with_base(url),
            rng: PlayerRng::new(options.seed, number),
            errors: 0,
            is_seated: false,
        };
        playing.spawn(player.run(number));
    }
    while playing.join_next().await.is_some() {}
    read_payments(&run, &first).await?;
    Ok(std::mem::take(&mut *run.report()))
}

/// Reads the list of results until everything is paid, and adds its times to the report.
async fn read_payments(run: &Run, client: &Client) -> Result<(), LoadError> {
    let asked = Moment::now();
    loop {
        let results = read_results(run, client).await.map_err(LoadError::Tournament)?;
        let of = |kind: &'static str| results.iter().filter(move |result| result["type"] == kind);
        let at = |result: &Value| result["at"].as_i64().unwrap_or_default();
        let prizes =
            of("placed").flat_map(|result| result["places"].as_array().into_iter().flatten());
        let owed = prizes.filter(|place| place["prize"].as_i64() > Some(0)).count();
        let is_prize = |result: &&Value| result["transfer"]["key"]["type"] == "place";
        let paid = of("transferred").filter(is_prize).count();
        if let Some(ended) = of("ended").next()
            && paid >= owed
        {
            let last = of("transferred").map(at).max().unwrap_or_default();
            let started = of("started").next().map_or(0, at);
            let seated = run.seated.lock().unwrap_or_else(PoisonError::into_inner);
            let mut report = run.report();
            report.seated = u32::try_from(seated.len()).unwrap_or(u32::MAX);
            for seated_at in seated.iter() {
                let taken = seated_at.ms_since(Timestamp::from_ms(started));
                report.seating.record(Duration::from_millis(taken), Duration::ZERO);
            }
            report.games = of("game_scored").count();
            report.duration_ms = at(ended) - started;
            report.payment_ms = (last - at(ended)).max(0);
            return Ok(());
        }
        if asked.elapsed() > PAYMENT_MAX {
            let fault = format!("{paid} of {owed} prizes were paid");
            run.report().faults.push(fault);
            return Ok(());
        }
        sleep(Duration::from_millis(500)).await;
    }
}

async fn read_results(run: &Run, client: &Client) -> Result<Vec<Value>, ClientError> {
    let path = format!("{}/results?limit=100", run.path);
    let mut results = Vec::new();
    let mut next = path.clone();
    loop {
        let page: Value = client.read(&next).await?;
        for item in page["items"].as_array().into_iter().flatten() {
            results.extend(item["results"].as_array().into_iter().flatten().cloned());
        }
        let Some(cursor) = page["next_cursor"].as_str() else { return Ok(results) };
        next = format!("{path}&cursor={cursor}");
    }
}

/// A player of the tournament.
struct Player {
    run: Arc<Run>,
    door: Client,
    rng: PlayerRng,
    errors: u32,
    is_seated: bool,
}

impl Player {
    async fn run(mut self, number: u32) {
        let Some(client) = self.enter(number).await else { return };
        loop {
            let end = match client.play().await {
                Ok(mut play) => self.play_tables(&client, &mut play).await,
                Err(error) => Err(error),
            };
            match end {
                Ok(()) => return,
                Err(error) => {
                    if matches!(error, PlayError::Gap { .. } | PlayError::Nonsense(_)) {
                        self.run.report().faults.push(error.to_string());
                    }
                    if !self.may_go_on(&error.to_string()).await {
                        return;
                    }
                }
            }
        }
    }

    /// Notes an error and pauses. Returns false after too many.
    async fn may_go_on(&mut self, code: &str) -> bool {
        self.run.note_error(code);
        self.errors += 1;
        sleep(self.rng.draw_millis(200, 800)).await;
        self.errors < ERRORS_MAX
    }

    /// Signs in and registers.
    async fn enter(&mut self, number: u32) -> Option<Client> {
        let run = self.run.clone();
        let _arriving = run.arrivals.acquire().await.ok()?;
        let device = format!("load-{}", entropy::uuid());
        let name = format!("Load {number}");
        loop {
            let entered = match self.door.another_guest(&device, &name).await {
                Ok(client) => {
                    let path = format!("{}/entry", run.path);
                    let asked = Moment::now();
                    let registered = client.put::<Value>(&path, &json!({})).await;
                    registered.map(|_| (client, asked.elapsed()))
                }
                Err(error) => Err(error),
            };
            match entered {
                Ok((client, taken)) => {
                    let mut report = run.report();
                    report.registered += 1;
                    report.registration.record(taken, Duration::ZERO);
                    return Some(client);
                }
                Err(error) => {
                    if !self.may_go_on(&code_of(&error)).await {
                        return None;
                    }
                }
            }
        }
    }

    /// Plays at each table to which the player is led, until the tournament is over.
    async fn play_tables(&mut self, client: &Client, play: &mut Play) -> Result<(), PlayError> {
        while self.wait_for_table(client, play).await? {
            let joining = play.join().await?;
            match play.wait_for_answer(joining).await {
                Ok(_) => {
                    self.note_seat();
                    self.play_table(play).await?;
                }
                // The table is over already.
                Err(PlayError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn note_seat(&mut self) {
        if std::mem::replace(&mut self.is_seated, true) {
            return;
        }
        let mut seated = self.run.seated.lock().unwrap_or_else(PoisonError::into_inner);
        seated.push(Clock::system().now());
    }

    /// Waits until the player is led to a table. Returns false at the end of the tournament.
    async fn wait_for_table(
        &mut self,
        client: &Client,
        play: &mut Play,
    ) -> Result<bool, PlayError> {
        loop {
            let waits = Moment::now();
            let left = || LOOK.saturating_sub(waits.elapsed());
            while let Ok(message) = timeout(left(), play.next()).await {
                if let Message::Ticket { state: SeekState::Seated, .. } = message? {
                    return Ok(true);
                }
            }
            match client.read::<Value>(&self.run.path).await {
                Ok(shown) if shown["state"] == "ended" || shown["state"] == "cancelled" => {
                    return Ok(false);
                }
                Ok(shown) if !shown["entry"]["table"].is_null() => {
                    if client.read::<Value>(&format!("{}/table", self.run.path)).await.is_ok() {
                        return Ok(true);
                    }
                }
                Ok(_) => {}
                Err(error) => self.run.note_error(&code_of(&error)),
            }
        }
    }

    /// Plays as the house's bot does until the player has no seat.
    async fn play_table(&mut self, play: &mut Play) -> Result<(), PlayError> {
        let mut answered = None;
        while play.view().is_some_and(|view| view.seat.is_some()) {
            let awaited = play.awaited_input().filter(|awaited| answered != Some(*awaited));
            match awaited {
                Some(AwaitedInput::Ready(game)) => {
                    answered = awaited;
                    let readying = play.ready(game, None).await?;
                    self.accept(play.wait_for_answer(readying).await)?;
                }
                Some(AwaitedInput::Act(..)) => {
                    answered = awaited;
                    let mean_ms = self.run.options.think_ms;
                    let think = self.rng.draw_millis(mean_ms / 2, mean_ms * 3 / 2);
                    let asked = Moment::now();
                    let left = || think.saturating_sub(asked.elapsed());
                    // The prompt may be answered by the clock meanwhile.
                    while let Ok(message) = timeout(left(), play.next()).await {
                        message?;
                    }
                    if play.awaited_input() == awaited
                        && let Some(action) = play.advice()
                    {
                        let late = lateness_beyond_timer(asked.elapsed().saturating_sub(think));
                        let sent = Moment::now();
                        let acting = play.act(action).await?;
                        if self.accept(play.wait_for_answer(acting).await)? {
                            let mut report = self.run.report();
                            report.moves += 1;
                            report.action_to_ack.record(late + sent.elapsed(), Duration::ZERO);
                        }
                    }
                }
                _ => {
                    play.next().await?;
                }
            }
        }
        Ok(())
    }

    /// Returns whether a command was accepted. A refusal is noted; the clock may have been faster.
    fn accept<T>(&self, answer: Result<T, PlayError>) -> Result<bool, PlayError> {
        match answer {
            Ok(_) => Ok(true),
            Err(PlayError::Refused { code, .. }) => {
                self.run.note_error(&code);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
