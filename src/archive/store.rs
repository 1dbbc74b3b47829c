//! The rows of games within a transaction of the ledger: they are read, possibly under locks,
//! changed in memory, and returned as columns, which the ledger writes together with the coins. A
//! game's row is locked before any account of the transaction, in ascending order of ids.

use std::collections::BTreeMap;

use bahay_engine::chance::Commitment;
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};
use jiff_sqlx::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{GameState, timestamp};

/// A game as the ledger needs it.
#[derive(Clone, Debug)]
pub(crate) struct LedgerGame {
    pub(crate) id: GameId,
    pub(crate) table: TableId,
    pub(crate) room: String,
    pub(crate) state: GameState,
    pub(crate) ante: Coins,
    /// The players by seat.
    pub(crate) players: Vec<PlayerId>,
    /// The stakes by seat.
    pub(crate) stakes: Vec<Coins>,
}

/// A row of `games` with its seats, in the order of seats.
#[derive(Debug)]
pub(crate) struct GameRow {
    pub(crate) id: Uuid,
    pub(crate) table_id: Uuid,
    pub(crate) room: String,
    pub(crate) state: String,
    pub(crate) ante: i64,
    pub(crate) players: Vec<Uuid>,
    pub(crate) stakes: Vec<i64>,
}

/// The columns of a newly opened game that no later operation of the transaction reads.
#[derive(Debug)]
pub(crate) struct OpenedGame {
    pub(crate) game: GameId,
    pub(crate) kind: String,
    /// The commitment to the server seed.
    pub(crate) commitment: Commitment,
    pub(crate) opened_at_ms: i64,
}

/// The end of a game.
#[derive(Debug)]
pub(crate) struct FinishedGame {
    pub(crate) state: GameState,
    /// The time of the end; `None` for the database's clock.
    pub(crate) finished_at_ms: Option<i64>,
    pub(crate) void_reason: Option<String>,
    /// By seat, the change by the game without the ante.
    pub(crate) net: Vec<Coins>,
}

/// The games of one transaction.
#[derive(Debug, Default)]
pub(crate) struct Games {
    rows: BTreeMap<GameId, LedgerGame>,
    opened: Vec<OpenedGame>,
    finished: Vec<(GameId, FinishedGame)>,
}

impl Games {
    /// Locks and reads these games, and the games that are open at these tables.
    pub(crate) async fn lock_in_tx(
        connection: &mut PgConnection,
        games: &[GameId],
        tables: &[TableId],
    ) -> Result<Self, sqlx::Error> {
        let games: Vec<_> = games.iter().map(|game| game.0).collect();
        let tables: Vec<_> = tables.iter().map(|table| table.0).collect();
        let rows = sqlx::query_as!(
            GameRow,
            r#"
            select g.id, g.table_id, g.room, g.state, g.ante,
                array(
                    select p.player from game_players p where p.game = g.id order by p.seat
                ) as "players!",
                array(
                    select p.stake from game_players p where p.game = g.id order by p.seat
                ) as "stakes!"
            from games g
            where g.id = any($1) or (g.table_id = any($2) and g.state = 'open')
            order by g.id
            for no key update
            "#,
            &games,
            &tables
        )
        .fetch_all(connection)
        .await?;
        let mut games = Self::default();
        for row in rows {
            games.add(row)?;
        }
        Ok(games)
    }

    /// Adds a game as read.
    pub(crate) fn add(&mut self, row: GameRow) -> Result<(), sqlx::Error> {
        let game = LedgerGame {
            id: GameId(row.id),
            table: TableId(row.table_id),
            room: row.room,
            state: GameState::from_column(&row.state)?,
            ante: Coins::from_hundredths(row.ante),
            players: row.players.into_iter().map(PlayerId).collect(),
            stakes: row.stakes.into_iter().map(Coins::from_hundredths).collect(),
        };
        self.rows.insert(game.id, game);
        Ok(())
    }

    pub(crate) fn by_id(&self, game: GameId) -> Option<&LedgerGame> {
        self.rows.get(&game)
    }

    pub(crate) fn open_at(&self, table: TableId) -> Option<&LedgerGame> {
        self.rows.values().find(|game| game.table == table && game.state == GameState::Open)
    }

    /// Adds a game that this transaction opens.
    pub(crate) fn open(&mut self, game: LedgerGame, opened: OpenedGame) {
        self.opened.push(opened);
        self.rows.insert(game.id, game);
    }

    pub(crate) fn finish(&mut self, game: GameId, finish: FinishedGame) {
        if let Some(row) = self.rows.get_mut(&game) {
            row.state = finish.state;
        }
        self.finished.push((game, finish));
    }

    /// Returns the ends of games as columns. Fails if a time is beyond the calendar.
    pub(crate) fn finished_columns(&self) -> Result<FinishedColumns<'_>, sqlx::Error> {
        let mut columns = FinishedColumns::default();
        for (id, finish) in &self.finished {
            columns.games.push(id.0);
            columns.states.push(finish.state.as_str());
            columns.times.push(finish.finished_at_ms.map(timestamp).transpose()?);
            columns.reasons.push(finish.void_reason.as_deref());
            let players = self.by_id(*id).map(|game| game.players.as_slice()).unwrap_or_default();
            for (player, net) in players.iter().zip(&finish.net) {
                columns.seat_games.push(id.0);
                columns.seat_players.push(player.0);
                columns.seat_nets.push(net.hundredths());
            }
        }
        Ok(columns)
    }

    /// Returns the openings of games as columns. Fails if a time is beyond the calendar.
    pub(crate) fn opened_columns(&self) -> Result<OpenedColumns, sqlx::Error> {
        let mut columns = OpenedColumns::default();
        let opened = self.opened.iter();
        let opened = opened.filter_map(|opened| Some((self.by_id(opened.game)?, opened)));
        for (game, opened) in opened {
            columns.games.push(game.id.0);
            columns.kinds.push(opened.kind.clone());
            columns.commitments.push(opened.commitment.0.0.to_vec());
            columns.tables.push(game.table.0);
            columns.rooms.push(game.room.clone());
            columns.antes.push(game.ante.hundredths());
            columns.times.push(timestamp(opened.opened_at_ms)?);
            for (number, (player, stake)) in (0..).zip(game.players.iter().zip(&game.stakes)) {
                columns.seat_games.push(game.id.0);
                columns.seat_players.push(player.0);
                columns.seat_numbers.push(number);
                columns.seat_stakes.push(stake.hundredths());
            }
        }
        Ok(columns)
    }
}

/// The ends of games as columns of `games` and `game_players`.
#[derive(Debug, Default)]
pub(crate) struct FinishedColumns<'a> {
    pub(crate) games: Vec<Uuid>,
    pub(crate) states: Vec<&'static str>,
    pub(crate) times: Vec<Option<Timestamp>>,
    pub(crate) reasons: Vec<Option<&'a str>>,
    pub(crate) seat_games: Vec<Uuid>,
    pub(crate) seat_players: Vec<Uuid>,
    pub(crate) seat_nets: Vec<i64>,
}

/// The openings of games as columns of `games` and `game_players`.
#[derive(Debug, Default)]
pub(crate) struct OpenedColumns {
    pub(crate) games: Vec<Uuid>,
    pub(crate) kinds: Vec<String>,
    pub(crate) tables: Vec<Uuid>,
    pub(crate) rooms: Vec<String>,
    pub(crate) antes: Vec<i64>,
    pub(crate) commitments: Vec<Vec<u8>>,
    pub(crate) times: Vec<Timestamp>,
    pub(crate) seat_games: Vec<Uuid>,
    pub(crate) seat_players: Vec<Uuid>,
    pub(crate) seat_numbers: Vec<i16>,
    pub(crate) seat_stakes: Vec<i64>,
}

impl LedgerGame {
    pub(crate) fn open(
        id: GameId,
        table: TableId,
        room: &str,
        ante: Coins,
        players: &[PlayerId],
        stakes: &[Coins],
    ) -> Self {
        let players = players.to_vec();
        let stakes = stakes.to_vec();
        Self { id, table, room: room.to_owned(), state: GameState::Open, ante, players, stakes }
    }
}
