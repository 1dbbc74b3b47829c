//! The rows of games inside a transaction of the ledger: locked, changed in memory, written back.
//! A game's row is locked before any account of the transaction, in ascending order of ids.

use std::collections::BTreeMap;

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId};
use jiff_sqlx::Timestamp;
use serde_json::Value;
use sqlx::PgConnection;

use super::{GameState, timestamp};

/// A game as far as coins are concerned.
#[derive(Clone, Debug)]
pub(crate) struct Game {
    pub(crate) id: GameId,
    pub(crate) table: TableId,
    pub(crate) room: String,
    pub(crate) state: GameState,
    pub(crate) ante: Coins,
    /// By seat.
    pub(crate) players: Vec<PlayerId>,
    /// By seat.
    pub(crate) stakes: Vec<Coins>,
}

/// How a game ends.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) state: GameState,
    /// `None` for the database's own clock.
    pub(crate) finished_at_ms: Option<i64>,
    pub(crate) void_reason: Option<String>,
    /// By seat.
    pub(crate) net: Vec<Coins>,
    /// Of a settled game.
    pub(crate) documents: Option<Settlement>,
}

/// What is stored of a settled game beside its coins.
#[derive(Debug)]
pub(crate) struct Settlement {
    pub(crate) settlement: Value,
    pub(crate) record: Value,
}

/// The games of one transaction.
#[derive(Debug, Default)]
pub(crate) struct Games {
    rows: BTreeMap<GameId, Game>,
    opened: Vec<(GameId, i64)>,
    finished: Vec<(GameId, Finish)>,
}

impl Games {
    /// Locks these games, and whatever is open at these tables.
    pub(crate) async fn lock_in_tx(
        connection: &mut PgConnection,
        games: &[GameId],
        tables: &[TableId],
    ) -> Result<Self, sqlx::Error> {
        let games: Vec<_> = games.iter().map(|game| game.0).collect();
        let tables: Vec<_> = tables.iter().map(|table| table.0).collect();
        let rows = sqlx::query!(
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
        let rows = rows.into_iter().map(|row| {
            let game = Game {
                id: GameId(row.id),
                table: TableId(row.table_id),
                room: row.room,
                state: GameState::of_column(&row.state)?,
                ante: Coins::from_hundredths(row.ante),
                players: row.players.into_iter().map(PlayerId).collect(),
                stakes: row.stakes.into_iter().map(Coins::from_hundredths).collect(),
            };
            Ok((game.id, game))
        });
        let rows = rows.collect::<Result<_, sqlx::Error>>()?;
        Ok(Self { rows, opened: Vec::new(), finished: Vec::new() })
    }

    pub(crate) fn by_id(&self, game: GameId) -> Option<&Game> {
        self.rows.get(&game)
    }

    pub(crate) fn open_at(&self, table: TableId) -> Option<&Game> {
        self.rows.values().find(|game| game.table == table && game.state == GameState::Open)
    }

    pub(crate) fn open(&mut self, game: Game, opened_at_ms: i64) {
        self.opened.push((game.id, opened_at_ms));
        self.rows.insert(game.id, game);
    }

    pub(crate) fn finish(&mut self, game: GameId, finish: Finish) {
        if let Some(row) = self.rows.get_mut(&game) {
            row.state = finish.state;
        }
        self.finished.push((game, finish));
    }

    /// Ends are written before beginnings, since a table may do both in one transaction and has
    /// one open game at a time.
    pub(crate) async fn write_in_tx(
        &self,
        connection: &mut PgConnection,
    ) -> Result<(), sqlx::Error> {
        if !self.finished.is_empty() {
            self.write_finished(connection).await?;
        }
        if !self.opened.is_empty() {
            self.write_opened(connection).await?;
        }
        Ok(())
    }

    async fn write_finished(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let mut games = Vec::new();
        let mut states = Vec::new();
        let mut times: Vec<Option<Timestamp>> = Vec::new();
        let mut reasons: Vec<Option<&str>> = Vec::new();
        let mut seats = (Vec::new(), Vec::new(), Vec::new());
        let mut documents = (Vec::new(), Vec::new(), Vec::new());
        for (id, finish) in &self.finished {
            games.push(id.0);
            states.push(finish.state.as_str().to_owned());
            times.push(finish.finished_at_ms.map(timestamp).transpose()?);
            reasons.push(finish.void_reason.as_deref());
            let players = self.by_id(*id).map(|game| game.players.as_slice()).unwrap_or_default();
            for (player, net) in players.iter().zip(&finish.net) {
                seats.0.push(id.0);
                seats.1.push(player.0);
                seats.2.push(net.hundredths());
            }
            if let Some(Settlement { settlement, record }) = &finish.documents {
                documents.0.push(id.0);
                documents.1.push(settlement);
                documents.2.push(record);
            }
        }
        let written = sqlx::query!(
            r#"
            with finished as (
                update games g
                set state = f.state,
                    finished_at = coalesce(f.finished_at, date_trunc('milliseconds', now())),
                    void_reason = f.void_reason
                from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[])
                    as f (id, state, finished_at, void_reason)
                where g.id = f.id and g.state = 'open'
                returning g.id, g.finished_at, g.state, g.ante
            ),
            documents as (
                insert into game_records (game, settlement, record)
                select d.game, d.settlement, d.record
                from unnest($8::uuid[], $9::jsonb[], $10::jsonb[])
                    as d (game, settlement, record)
            ),
            -- Whoever played a game that was voided is told, once: by the same statement.
            told as (
                insert into notices (player, kind, game, amount)
                select p.player, 'game_voided', finished.id, finished.ante + p.stake
                from finished
                join game_players p on p.game = finished.id
                where finished.state = 'voided'
            )
            update game_players p
            set net = s.net, finished_at = finished.finished_at
            from unnest($5::uuid[], $6::uuid[], $7::bigint[]) as s (game, player, net)
            join finished on finished.id = s.game
            where p.game = s.game and p.player = s.player
            "#,
            &games,
            &states,
            times as _,
            reasons as _,
            &seats.0,
            &seats.1,
            &seats.2,
            &documents.0,
            documents.1 as _,
            documents.2 as _
        )
        .execute(connection)
        .await?;
        expect_rows(written.rows_affected(), seats.0.len(), "seats of finished games")
    }

    async fn write_opened(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let opened = self.opened.iter();
        let opened = opened.filter_map(|(id, at_ms)| Some((self.by_id(*id)?, *at_ms)));
        let mut games = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut seats = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (game, opened_at_ms) in opened {
            games.0.push(game.id.0);
            games.1.push(game.table.0);
            games.2.push(game.room.clone());
            games.3.push(game.ante.hundredths());
            games.4.push(timestamp(opened_at_ms)?);
            for (number, (player, stake)) in (0..).zip(game.players.iter().zip(&game.stakes)) {
                seats.0.push(game.id.0);
                seats.1.push(player.0);
                seats.2.push(number);
                seats.3.push(stake.hundredths());
            }
        }
        let seat_numbers: &[i16] = &seats.2;
        let written = sqlx::query!(
            r#"
            with opened as (
                insert into games (id, table_id, room, ante, opened_at)
                select g.id, g.table_id, g.room, g.ante, g.opened_at
                from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::timestamptz[])
                    as g (id, table_id, room, ante, opened_at)
            )
            insert into game_players (game, player, seat, stake)
            select s.game, s.player, s.seat, s.stake
            from unnest($6::uuid[], $7::uuid[], $8::smallint[], $9::bigint[])
                as s (game, player, seat, stake)
            "#,
            &games.0,
            &games.1,
            &games.2,
            &games.3,
            games.4 as _,
            &seats.0,
            &seats.1,
            seat_numbers,
            &seats.3
        )
        .execute(connection)
        .await?;
        expect_rows(written.rows_affected(), seats.0.len(), "seats of opened games")
    }
}

impl Game {
    pub(crate) fn open(
        id: GameId,
        table: TableId,
        room: &str,
        ante: Coins,
        players: &[PlayerId],
        stakes: &[Coins],
    ) -> Self {
        let (players, stakes) = (players.to_vec(), stakes.to_vec());
        Self { id, table, room: room.to_owned(), state: GameState::Open, ante, players, stakes }
    }
}

/// The pair of a check made in memory: as many rows were written as were decided on.
pub(crate) fn expect_rows(
    written: u64,
    expected: usize,
    what: &'static str,
) -> Result<(), sqlx::Error> {
    if u64::try_from(expected) == Ok(written) {
        return Ok(());
    }
    Err(sqlx::Error::Protocol(format!("{written} {what} were written, {expected} were meant")))
}

#[cfg(test)]
mod tests {
    use super::expect_rows;

    #[test]
    fn a_row_too_few_is_an_error() {
        assert!(expect_rows(2, 2, "rows").is_ok());
        assert!(expect_rows(1, 2, "rows").is_err());
    }
}
