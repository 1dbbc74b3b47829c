//! Whole tournaments in virtual time: a host that is killed between an append and its effects, a
//! ledger that answers twice, late or never, and tables that play by chance. Everything is derived
//! from a seed.
//!
//! The driver knows only the interface of a tournament: it decides on inputs, appends their lines,
//! and runs the effects. Its ledger books each key once. At the end it checks that the journal
//! replays to the same tournament, that no coin is left, and that every player has a result.

use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use uuid::Uuid;

use crate::chance::ServerSeed;
use crate::coins::Coins;
use crate::game::ensure;
use crate::hex::Hex;
use crate::matchmaking::ConflictKey;
use crate::table::{PlayerId, Timestamp};
use crate::testing::TestRng;
use crate::tournament::{
    CancelReason, Direction, Effect, EntrantState, Event, GameScore, Input, Line, Phase, RETRY_MS,
    Rejection, ResultLine, TableNumber, TableSeating, Tournament, TournamentId, TournamentTerms,
    Transfer, TransferKey,
};

/// The time at which a simulated tournament is announced.
pub const ANNOUNCED_MS: i64 = 1_800_000_000_000;

/// The virtual time after which a tournament that is not over counts as stuck.
const STUCK_MS: i64 = 10 * 24 * 60 * 60 * 1_000;

/// The mean time between two kills of the host.
const KILL_MS: u32 = 60_000;

/// The least time between two rounds of effects.
const EFFECTS_MS: u32 = 200;

/// The parameters of a simulated tournament.
#[derive(Clone, Debug)]
pub struct TournamentOptions {
    pub terms: TournamentTerms,
    /// The number of players who try to register.
    pub players: u32,
    pub seed: u64,
    /// True if the host is killed, and answers are lost, doubled and late.
    pub has_faults: bool,
    /// The time after the announcement at which the house cancels the tournament.
    pub cancel_after_ms: Option<u32>,
    /// The time within which the players register, in milliseconds.
    pub registration_ms: u32,
}

/// A tournament that is over.
#[derive(Clone, Debug)]
pub struct TournamentRun {
    pub tournament: Tournament,
    pub journal: Vec<Line>,
    /// The public list of results as JSON lines.
    pub results: String,
    pub games: u32,
    pub kills: u32,
    /// The effects that were run again.
    pub repeated: u32,
}

/// A message that is on its way.
#[derive(Clone, Debug)]
enum Message {
    /// A player, or the house.
    Request(Input),
    /// An answer to an effect, which is lost if the host is killed.
    Answer(Input),
    /// A table has played a game; it reports it until the tournament has answered.
    Report {
        table: TableNumber,
        game: u32,
        scores: Vec<GameScore>,
    },
    /// A table plays its next game.
    Play(TableNumber),
    Kill,
    Wake,
}

#[derive(Clone, Debug)]
struct PlayedTable {
    seating: TableSeating,
    games: u32,
}

struct TournamentHouse {
    options: TournamentOptions,
    rng: TestRng,
    tournament: Tournament,
    journal: Vec<Line>,
    results: String,
    now: i64,
    queue: BTreeMap<(i64, u64), Message>,
    sent: u64,
    /// The transfers that the ledger has booked.
    booked: BTreeMap<TransferKey, Transfer>,
    tables: BTreeMap<TableNumber, PlayedTable>,
    /// The effects that this run of the host has begun, with their time.
    begun: BTreeMap<String, i64>,
    next_effects: i64,
    run: TournamentCounts,
}

#[derive(Clone, Copy, Debug, Default)]
struct TournamentCounts {
    games: u32,
    kills: u32,
    repeated: u32,
}

/// Returns the player with this number.
pub fn tournament_player(number: u32) -> PlayerId {
    PlayerId(Uuid::from_u64_pair(0x019c_a944_3c00_7000, 0x8000_0000_0000_0000 | u64::from(number)))
}

/// Plays a tournament to its close.
///
/// # Errors
/// The check that failed, with the seed.
pub fn simulate_tournament(options: TournamentOptions) -> Result<TournamentRun, String> {
    let seed = options.seed;
    let mut house = TournamentHouse::new(options);
    house.play().map_err(|failure| format!("seed {seed}: {failure}"))?;
    let TournamentHouse { tournament, journal, results, run, .. } = house;
    let TournamentCounts { games, kills, repeated } = run;
    Ok(TournamentRun { tournament, journal, results, games, kills, repeated })
}

impl TournamentHouse {
    fn new(options: TournamentOptions) -> Self {
        let mut rng = TestRng::new(options.seed);
        let id = TournamentId(Uuid::from_u64_pair(rng.word(), rng.word()));
        let mut seed = [0; 32];
        for bytes in seed.chunks_mut(8) {
            bytes.copy_from_slice(&rng.word().to_be_bytes());
        }
        let seed = ServerSeed(Hex(seed));
        let tournament = Tournament::new(id, options.terms.clone(), seed);
        Self {
            options,
            rng,
            tournament,
            journal: Vec::new(),
            results: String::new(),
            now: ANNOUNCED_MS,
            queue: BTreeMap::new(),
            sent: 0,
            booked: BTreeMap::new(),
            tables: BTreeMap::new(),
            begun: BTreeMap::new(),
            next_effects: 0,
            run: TournamentCounts::default(),
        }
    }

    fn play(&mut self) -> Result<(), String> {
        self.record(&self.tournament.announcement())?;
        self.send_requests();
        while !self.is_over() {
            let due = self.tournament.deadline().map(|deadline| deadline.ms().max(self.now));
            let next = self.queue.keys().next().map(|(at, _)| *at);
            let wakes = due.map(|due| due.max(self.next_effects));
            let at = match (next, wakes) {
                (Some(next), Some(wakes)) => next.min(wakes),
                (Some(at), None) | (None, Some(at)) => at,
                (None, None) => return Err("nothing happens any more".into()),
            };
            self.now = self.now.max(at);
            ensure(self.now - ANNOUNCED_MS < STUCK_MS, || "it does not come to an end".into())?;
            if next == Some(at)
                && let Some((_, message)) = self.queue.pop_first()
            {
                self.deliver(message)?;
            }
            self.run_effects();
        }
        self.check_end()
    }

    fn is_over(&self) -> bool {
        let is_table_left = matches!(self.tournament.phase(), Phase::Cancelled { .. })
            && self
                .tournament
                .effects(self.timestamp())
                .iter()
                .any(|effect| matches!(effect, Effect::EndTable(_)));
        self.tournament.is_settled() && !is_table_left
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::from_ms(self.now)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.options.has_faults && self.rng.below(100) < percent
    }

    fn send(&mut self, after_ms: u32, message: Message) {
        self.sent += 1;
        self.queue.insert((self.now + i64::from(after_ms), self.sent), message);
    }

    /// Sends the players' registrations, some of which are withdrawn and repeated.
    fn send_requests(&mut self) {
        let accepts_passes = self.options.terms.entry.accepts_passes;
        for number in 0..self.options.players {
            let player = tournament_player(number);
            let key = self.rng.below(self.options.players.max(1) * 3);
            let register = Input::Register {
                player,
                name: format!("Player {number}"),
                pass: accepts_passes && self.rng.below(5) == 0,
                bot: self.options.terms.bots && self.rng.below(6) == 0,
                conflict_keys: [ConflictKey(u64::from(key))].into(),
            };
            let window = self.options.registration_ms.max(1);
            let at = self.rng.below(window);
            if self.chance(3) {
                let again = at + self.rng.below(30_000);
                self.send(again, Message::Request(Input::Withdraw { player }));
                let again = again + self.rng.below(30_000);
                self.send(again, Message::Request(register.clone()));
            }
            self.send(at, Message::Request(register));
        }
        if let Some(after_ms) = self.options.cancel_after_ms {
            let reason = CancelReason::House;
            self.send(after_ms, Message::Request(Input::Cancel { reason }));
        }
        if self.options.has_faults {
            let after_ms = self.rng.below(2 * KILL_MS);
            self.send(after_ms, Message::Kill);
        }
    }

    fn deliver(&mut self, message: Message) -> Result<(), String> {
        match message {
            Message::Wake => Ok(()),
            Message::Request(input) | Message::Answer(input) => {
                if self.chance(5) {
                    let after_ms = self.rng.below(20_000);
                    self.send(after_ms, Message::Answer(input.clone()));
                }
                self.submit(input).map(drop)
            }
            Message::Report { table, game, scores } => {
                if self.chance(5) {
                    // The report is lost, and repeated.
                    self.send(2_000, Message::Report { table, game, scores });
                    return Ok(());
                }
                if self.chance(5) {
                    let after_ms = self.rng.below(60_000);
                    let scores = scores.clone();
                    self.send(after_ms, Message::Report { table, game, scores });
                }
                let answer = self.submit(Input::GameScored { table, game, scores })?;
                ensure(answer != Err(Rejection::BadScores), || {
                    format!("scores of {table} are refused")
                })
            }
            Message::Play(table) => {
                self.play_game(table);
                Ok(())
            }
            Message::Kill => self.kill(),
        }
    }

    /// Decides on an input and appends its line.
    fn submit(&mut self, input: Input) -> Result<Result<(), Rejection>, String> {
        let line = match self.tournament.decide_line(self.timestamp(), input) {
            Ok(line) => line,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let events = self.tournament.advance(&line).map_err(|error| error.to_string())?;
        self.journal.push(line);
        for event in &events {
            self.record(event)?;
        }
        Ok(Ok(()))
    }

    fn record(&mut self, event: &Event) -> Result<(), String> {
        let line = ResultLine { at: self.timestamp(), event };
        let text = serde_json::to_string(&line).map_err(|error| error.to_string())?;
        self.results.push_str(&text);
        self.results.push('\n');
        Ok(())
    }

    /// Kills the host: answers on their way to it are lost, and the next one replays the journal.
    fn kill(&mut self) -> Result<(), String> {
        self.run.kills += 1;
        self.begun.clear();
        self.queue.retain(|_, message| !matches!(message, Message::Answer(_)));
        let is_small = self.journal.len() < 2_000;
        if is_small || self.run.kills.is_multiple_of(16) {
            self.check_replay()?;
        }
        let after_ms = self.rng.below(2 * KILL_MS);
        self.send(after_ms, Message::Kill);
        Ok(())
    }

    fn check_replay(&self) -> Result<(), String> {
        let id = self.tournament.id();
        let Event::Announced { terms, .. } = self.tournament.announcement() else {
            return Err("a tournament is announced first".into());
        };
        let mut replayed =
            Tournament::new(id, terms.as_ref().clone(), *self.tournament.draw_seed());
        for line in &self.journal {
            replayed.advance(line).map_err(|error| error.to_string())?;
        }
        ensure(replayed == self.tournament, || "the journal replays to another tournament".into())
    }

    /// Runs the effects that this host has not begun, or has begun long ago.
    fn run_effects(&mut self) {
        if self.now < self.next_effects {
            return;
        }
        self.next_effects = self.now + i64::from(EFFECTS_MS);
        for effect in self.tournament.effects(self.timestamp()) {
            let name = match &effect {
                Effect::Tick => {
                    self.send(0, Message::Answer(Input::Tick));
                    continue;
                }
                Effect::Transfer(transfer) => transfer.key.to_string(),
                Effect::OpenTable(table) => format!("open {}", table.number),
                Effect::EndTable(table) => format!("end {table}"),
            };
            let begun = self.begun.get(&name).copied();
            if begun.is_some_and(|at| self.now - at < i64::from(RETRY_MS)) {
                continue;
            }
            self.run.repeated += u32::from(begun.is_some());
            self.begun.insert(name, self.now);
            // The host is killed before the effect, or its request is lost.
            if self.chance(3) {
                continue;
            }
            let answer = self.run_effect(effect);
            let delay = if self.options.has_faults { 3_000 } else { 100 };
            let after_ms = self.rng.below(delay);
            if !self.chance(5) {
                self.send(after_ms, Message::Answer(answer));
            }
        }
        self.send(EFFECTS_MS, Message::Wake);
    }

    fn run_effect(&mut self, effect: Effect) -> Input {
        match effect {
            Effect::Tick => Input::Tick,
            Effect::Transfer(transfer) => {
                let key = transfer.key;
                if let TransferKey::Entry { player, number } = key {
                    // Some players never have the coins.
                    if player.0.as_u128().is_multiple_of(41) && self.options.has_faults {
                        return Input::EntryRefused { player, number };
                    }
                }
                self.booked.entry(key).or_insert(transfer);
                Input::Transferred { transfer: key }
            }
            Effect::OpenTable(seating) => {
                let table = seating.number;
                if let Entry::Vacant(place) = self.tables.entry(table) {
                    place.insert(PlayedTable { seating, games: 0 });
                    let after_ms = 30_000 + self.rng.below(120_000);
                    self.send(after_ms, Message::Play(table));
                }
                Input::TableOpened { table }
            }
            Effect::EndTable(table) => {
                self.tables.remove(&table);
                Input::TableEnded { table }
            }
        }
    }

    fn play_game(&mut self, number: TableNumber) {
        let Some(mut table) = self.tables.remove(&number) else { return };
        // The house ends a table now and then without all of its games.
        if self.chance(1) {
            self.send(0, Message::Request(Input::TableEnded { table: number }));
            return;
        }
        table.games += 1;
        self.run.games += 1;
        let game = table.games;
        let players = table.seating.players.clone();
        let mut sum = 0;
        let points: Vec<i64> = (0..players.len())
            .map(|seat| {
                let is_last = seat + 1 == players.len();
                let points = if is_last { -sum } else { i64::from(self.rng.below(9)) - 4 };
                sum += points;
                points
            })
            .collect();
        let mut scores = Vec::new();
        for (player, points) in players.into_iter().zip(points) {
            let is_absent = self.chance(2);
            scores.push(GameScore {
                player,
                points: Coins::from_hundredths(points * 100),
                is_absent,
            });
            if is_absent {
                let after_ms = 60_000 + self.rng.below(60_000);
                self.send(after_ms, Message::Request(Input::Resume { player }));
            }
        }
        let after_ms = self.rng.below(1_000);
        self.send(after_ms, Message::Report { table: number, game, scores });
        if game < table.seating.games {
            let after_ms = 30_000 + self.rng.below(120_000);
            self.send(after_ms, Message::Play(number));
        }
        self.tables.insert(number, table);
    }

    fn check_end(&self) -> Result<(), String> {
        let tournament = &self.tournament;
        self.check_replay()?;
        let balance = tournament.balance();
        ensure(balance.is_zero(), || format!("{balance} is left on the account"))?;
        let mut sum = 0;
        for transfer in self.booked.values() {
            let amount = transfer.amount.hundredths();
            sum += match transfer.key.direction() {
                Direction::FromPlayer | Direction::FromHouse => amount,
                Direction::ToPlayer | Direction::ToHouse => -amount,
            };
        }
        ensure(sum == 0, || format!("the ledger's account has {sum}"))?;
        let text = serde_json::to_string(tournament).map_err(|error| error.to_string())?;
        let read: Tournament = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        ensure(read == *tournament, || "a snapshot reads as another tournament".into())?;
        if !matches!(tournament.phase(), Phase::Ended) {
            return Ok(());
        }
        let placed: BTreeSet<&str> = self
            .results
            .lines()
            .filter(|line| line.contains("\"type\":\"placed\""))
            .flat_map(|line| line.split("\"player\":\"").skip(1))
            .filter_map(|rest| rest.get(..36))
            .collect();
        for entrant in tournament.entrants().filter(|entrant| !entrant.is_bot) {
            let is_ranked =
                matches!(entrant.state, EntrantState::Entered | EntrantState::Eliminated);
            let has_place = placed.contains(entrant.player.to_string().as_str());
            ensure(is_ranked == has_place, || format!("{} has no result", entrant.name))?;
        }
        let paid = |transfer: &&Transfer| matches!(transfer.key, TransferKey::Place { .. });
        let prizes: i64 =
            self.booked.values().filter(paid).map(|transfer| transfer.amount.hundredths()).sum();
        let pool = tournament.pool().map_or(0, |pool| pool.amount.hundredths());
        ensure(prizes == pool, || format!("prizes of {prizes} from a pool of {pool}"))
    }
}
