//! The list of a player's finished games, newest first, with its filters.
//!
//! The ending of a game is projected from its record some seconds after the settlement (see
//! `standings`); until then a filter by endings does not match it.

use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::{GameId, PlayerId, TableId};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgPool;

use super::{Cursor, GameState, PAGE_MAX, parse_seat, timestamp};
use crate::clock::Timestamp;
use crate::db::{self, Page};

bahay_base::text_enum! {
    /// The outcome of a game for a player.
    pub enum Outcome {
        Won = "won",
        Lost = "lost",
        /// Nobody won (rule 5.3).
        Drawn = "drawn",
        /// The game could not be finished, and every coin was refunded.
        Voided = "voided",
    }
}

impl Outcome {
    fn from_column(text: &str) -> Result<Self, sqlx::Error> {
        text.parse().map_err(|error| sqlx::Error::Decode(format!("outcome {text}: {error}").into()))
    }
}

/// A filter of games; `None` accepts everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The kind of the game.
    pub kind: Option<String>,
    pub room: Option<String>,
    /// The earliest time of finishing, inclusive.
    pub from: Option<Timestamp>,
    /// The latest time of finishing, exclusive.
    pub to: Option<Timestamp>,
    pub outcome: Option<Outcome>,
    pub ending: Option<String>,
}

/// A finished game in a player's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    pub game: GameId,
    /// The kind of the game.
    pub kind: String,
    pub table: TableId,
    pub room: String,
    pub state: GameState,
    pub outcome: Outcome,
    /// The ending; `None` if the game was voided or is not projected yet.
    pub ending: Option<String>,
    pub seat: Seat,
    /// The number of house bots in the game.
    pub bots: u8,
    pub ante: Coins,
    pub stake: Coins,
    /// The change of the player's coins by the game without the ante, after the fee and with the
    /// POT. Zero after a reversal.
    pub net: Coins,
    /// The time at which a reversal of the settlement was booked.
    pub reversed_at_ms: Option<i64>,
    pub opened_at_ms: i64,
    pub finished_at_ms: i64,
}

/// Lists a player's finished games, including voided ones, newest first.
pub async fn list_by_player(
    pool: &PgPool,
    player: PlayerId,
    filter: &Filter,
    cursor: Option<Cursor>,
    limit: u32,
) -> Result<Page<PlayedGame, Cursor>, sqlx::Error> {
    let limit = limit.clamp(1, PAGE_MAX);
    let Cursor { finished_at_ms, game } = cursor.unwrap_or(Cursor::NEWEST);
    let below = timestamp(finished_at_ms)?;
    let from = filter.from.map(|from| timestamp(from.ms())).transpose()?;
    let to = filter.to.map(|to| timestamp(to.ms())).transpose()?;
    let query = || {
        sqlx::query!(
            r#"
            select n.game as "game!", n.kind as "kind!", n.table_id as "table_id!",
                n.room as "room!", n.state as "state!", n.seat as "seat!", n.ante as "ante!",
                n.stake as "stake!", n.net as "net!", n.bots as "bots!",
                n.outcome as "outcome!", n.ending as "ending?",
                n.opened_at as "opened_at!: SqlTimestamp",
                n.finished_at as "finished_at!: SqlTimestamp",
                (
                    select o.created_at
                    from operation_keys s
                    join operation_keys k on k.key = 'reverse:' || s.operation
                    join operations o on o.id = k.operation
                    where s.key = 'settle:' || n.game
                ) as "reversed_at?: SqlTimestamp"
            from (
                select p.game, g.kind, g.table_id, g.room, g.state, p.seat, g.ante, p.stake, p.net,
                    case
                        when g.state = 'voided' then 'voided'
                        when p.net > 0 then 'won'
                        when p.net < 0 then 'lost'
                        else 'drawn'
                    end as outcome,
                    r.ending, g.opened_at, p.finished_at,
                    (
                        select count(*)
                        from game_players o
                        join players h on h.id = o.player
                        where o.game = p.game and h.kind = 'bot'
                    ) as bots
                from game_players p
                join games g on g.id = p.game
                left join game_results r on r.game = p.game
                where p.player = $1 and p.finished_at is not null
                    and (p.finished_at, p.game) < ($2::timestamptz, $3::uuid)
                    and ($4::text is null or g.room = $4)
                    and ($5::timestamptz is null or p.finished_at >= $5)
                    and ($6::timestamptz is null or p.finished_at < $6)
                    and ($10::text is null or g.kind = $10)
            ) n
            where ($7::text is null or n.outcome = $7) and ($8::text is null or n.ending = $8)
            order by n.finished_at desc, n.game desc
            limit $9
            "#,
            player.0,
            below as _,
            game.0,
            filter.room,
            from as _,
            to as _,
            filter.outcome.map(Outcome::as_str),
            filter.ending,
            i64::from(limit) + 1,
            filter.kind
        )
        .fetch_all(pool)
    };
    let rows = db::retry(query).await?;
    let rows = rows.into_iter().map(|row| {
        Ok(PlayedGame {
            game: GameId(row.game),
            kind: row.kind,
            table: TableId(row.table_id),
            room: row.room,
            state: GameState::from_column(&row.state)?,
            outcome: Outcome::from_column(&row.outcome)?,
            ending: row.ending,
            seat: parse_seat(row.seat)?,
            bots: u8::try_from(row.bots).unwrap_or(u8::MAX),
            ante: Coins::from_hundredths(row.ante),
            stake: Coins::from_hundredths(row.stake),
            net: match row.reversed_at {
                Some(_) => Coins::ZERO,
                None => Coins::from_hundredths(row.net),
            },
            reversed_at_ms: row.reversed_at.map(|at| at.to_jiff().as_millisecond()),
            opened_at_ms: row.opened_at.to_jiff().as_millisecond(),
            finished_at_ms: row.finished_at.to_jiff().as_millisecond(),
        })
    });
    let rows = rows.collect::<Result<Vec<_>, sqlx::Error>>()?;
    Ok(Page::from_rows(rows, limit, |last| Cursor {
        finished_at_ms: last.finished_at_ms,
        game: last.game,
    }))
}
