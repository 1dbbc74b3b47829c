//! `bahay generate-history`: fills a database with settled games, to see how the reports do with
//! many of them.
//!
//! Every game is one that was played: bots at tables in virtual time (`sittings`), dealt from seeds,
//! booked by the ledger's own decisions and folded, sealed and counted as everything else. So
//! `bahay verify ledger` and `bahay verify standings` find nothing. What is invented is who played
//! and when: players come from a pool that is made for it, and sittings are spread over the days
//! before.
//!
//! A window is as many sittings as the pool has players for at once. Its games are booked in the
//! order in which they began, in one transaction; the next window begins when all of it is over.
//! While one window is written, the next is decided and the one after it played. Bounds: memory
//! grows with windows, of some thousand games each.

mod sittings;

use std::fmt::Write as _;
use std::thread;

use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, PlayerId};
use sqlx::PgPool;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::ledger::{
    self, Backfill, Document, Grant, GrantCoins, LedgerError, OpenGame, SettleGame,
};
use crate::rooms::{Room, house_rooms};
use crate::standings::{self, Calendar, StandingsError};
use crate::tables::catalog::Tongits;

use sittings::{Played, Sittings, mixed};

/// What each player begins with, in whole coins: enough for the dearest of the rooms below.
const WELCOME_COINS: i64 = 1_000_000;

/// The dearest rooms are left out: what is lost there would need wallets of another size.
const ROOMS: usize = 4;

const DAY_MS: i64 = 24 * 3_600 * 1_000;

/// What is to be in the database.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
pub struct GenerateHistory {
    /// How many games, at least: the last sittings are played to their ends.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub games: u64,

    /// Over how many days before now they are spread.
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u16).range(1..=3_650))]
    pub days: u16,

    /// How many players there are to play them.
    #[arg(long, default_value_t = 900, value_parser = clap::value_parser!(u32).range(3..=300_000))]
    pub players: u32,

    /// Decides everything: the deals, what players do, who plays and when.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Write into a database that has games already. Never while a server runs on it.
    #[arg(long)]
    pub beside_others: bool,
}

/// Why there is no history, or only a part of one.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error(
        "the database has games already: use an empty one, or say --beside-others while no server \
         runs on it"
    )]
    HasGames,
    #[error("a game was not played to its end")]
    Unplayed,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Standings(#[from] StandingsError),
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub games: u64,
    pub players: u32,
    pub windows: u64,
}

/// A window's games, decided.
#[derive(Debug)]
struct Window {
    games: u64,
    books: ledger::Gathered,
    standings: standings::Gathered,
}

/// Writes the history, and tells after each window how many games there are.
pub async fn generate(
    pool: &PgPool,
    what: GenerateHistory,
    now: Timestamp,
    calendar: Calendar,
    mut told: impl FnMut(u64),
) -> Result<Written, HistoryError> {
    let found = sqlx::query_scalar!(r#"select exists (select from games) as "found!""#);
    if found.fetch_one(pool).await? && !what.beside_others {
        return Err(HistoryError::HasGames);
    }
    let mut rooms = house_rooms(Clocks::default());
    rooms.truncate(ROOMS);
    let names: Vec<_> = rooms.iter().map(|room| room.id().to_string()).collect();
    let books = Backfill::begin(pool, &names).await?;
    let standings = standings::Backfill::new(calendar);
    let begin_ms = now.ms().saturating_sub(i64::from(what.days) * DAY_MS);
    let players = make_players(pool, &what, begin_ms).await?;

    let (decided, mut waiting) = mpsc::channel(1);
    let deciding = thread::spawn(move || {
        let send = |window| decided.blocking_send(window).is_ok();
        Decider { what, begin_ms, players, books, standings }.decide(rooms, send)
    });
    let mut written = Written { players: what.players, ..Written::default() };
    while let Some(Window { games, books, standings }) = waiting.recv().await {
        books.write(pool).await?;
        standings.write(pool).await?;
        written.games += games;
        written.windows += 1;
        told(written.games);
    }
    deciding.join().map_err(|_| HistoryError::Unplayed)??;
    Ok(written)
}

/// Who decides what is to be written.
struct Decider {
    what: GenerateHistory,
    begin_ms: i64,
    players: Vec<PlayerId>,
    books: Backfill,
    standings: standings::Backfill,
}

impl Decider {
    /// Decides window after window, until there are enough games or nobody takes them.
    fn decide(
        mut self,
        rooms: Vec<Room>,
        send: impl Fn(Window) -> bool,
    ) -> Result<(), HistoryError> {
        let Self { what, begin_ms, .. } = self;
        for player in &self.players {
            let amount = Coins::from_whole(WELCOME_COINS).unwrap_or_default();
            let (player, key, grant) = (*player, player.to_string(), Grant::Welcome);
            self.books.grant(GrantCoins { player, grant, key, amount }, begin_ms)?;
        }
        let at_once = self.players.len() / 3;
        let per_window = at_once as u64 * sittings::GAMES_MIN;
        let windows = i64::try_from(what.games.div_ceil(per_window)).unwrap_or(i64::MAX);
        let length_ms = (i64::from(what.days) * DAY_MS / windows).max(1);
        let mut sittings = Sittings::start(what.seed, rooms, at_once);
        let (mut free_ms, mut decided) = (begin_ms, 0);
        for number in 0.. {
            if decided >= what.games {
                break;
            }
            let so_far_ms = length_ms.saturating_mul(i64::try_from(number).unwrap_or(i64::MAX));
            let start_ms = free_ms.max(begin_ms.saturating_add(so_far_ms));
            let left = what.games - decided;
            let count = usize::try_from(left.div_ceil(sittings::GAMES_MIN)).unwrap_or(at_once);
            let mut played: Vec<Played> = Vec::new();
            for seats in shuffled(&self.players, what.seed, number).chunks_exact(3).take(count) {
                let sitting = sittings.next(seats, start_ms, length_ms);
                played.extend(sitting.ok_or(HistoryError::Unplayed)?);
            }
            played.sort_by_key(|one| (one.record.opened_at, one.record.game));
            for one in &played {
                self.book(one)?;
                free_ms = free_ms.max(one.record.finished_at.ms());
            }
            let games = played.len() as u64;
            decided += games;
            let (books, standings) = (self.books.take(), self.standings.take());
            if !send(Window { games, books, standings }) {
                break;
            }
        }
        Ok(())
    }

    fn book(&mut self, Played { record, ending }: &Played) -> Result<(), HistoryError> {
        let opening = OpenGame {
            game: record.game,
            table: record.table,
            room: record.terms.room.clone(),
            ante: record.terms.price.bet,
            stake_max: record.terms.stake_max::<Tongits>().unwrap_or_default(),
            players: record.players.clone(),
            opened_at_ms: record.opened_at.ms(),
        };
        let settling = SettleGame {
            game: record.game,
            table: record.table,
            room: record.terms.room.clone(),
            players: record.players.clone(),
            settlement: record.settlement.clone(),
            record: Document::of(record).map_err(|_| HistoryError::Unplayed)?,
            finished_at_ms: record.finished_at.ms(),
        };
        self.books.game(opening, settling)?;
        self.standings.count(record, *ending);
        Ok(())
    }
}

/// Whoever played together in one window meets others in the next.
fn shuffled(players: &[PlayerId], seed: u64, window: u64) -> Vec<PlayerId> {
    let mut keyed: Vec<_> = (0..)
        .zip(players)
        .map(|(number, player)| (mixed(mixed(seed, window), number), *player))
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, player)| player).collect()
}

/// Players who come with nothing but a name.
async fn make_players(
    pool: &PgPool,
    what: &GenerateHistory,
    at_ms: i64,
) -> Result<Vec<PlayerId>, HistoryError> {
    let players: Vec<_> = (0..what.players)
        .map(|number| {
            // Of version 8: made by a rule of our own.
            let mut bytes = *Uuid::from_u64_pair(what.seed, u64::from(number)).as_bytes();
            bytes[6] = 0x80 | (bytes[6] & 0x0f);
            bytes[8] = 0x80 | (bytes[8] & 0x3f);
            PlayerId(Uuid::from_bytes(bytes))
        })
        .collect();
    let ids: Vec<_> = players.iter().map(|player| player.0).collect();
    let names: Vec<_> = (0..what.players).map(name).collect();
    sqlx::query!(
        "
        insert into players (id, name, created_at)
        select p.id, p.name, to_timestamp($3::bigint / 1000)
        from unnest($1::uuid[], $2::text[]) as p (id, name)
        ",
        &ids,
        &names,
        at_ms
    )
    .execute(pool)
    .await?;
    Ok(players)
}

fn name(number: u32) -> String {
    const NAMES: [&str; 16] = [
        "Althea", "Amado", "Benjie", "Carmela", "Crispin", "Dalisay", "Efren", "Imelda", "Isko",
        "Ligaya", "Luz", "Marikit", "Nonoy", "Rosario", "Tala", "Zenaida",
    ];
    let mut name = NAMES[number as usize % NAMES.len()].to_owned();
    write!(name, " {}", number / 16 + 1).expect("a string takes all that is written to it");
    name
}
