//! Notices: a player's inbox, for messages that are shown once on the next connection.
//!
//! A notice is written in the transaction of its event ([`insert_in_tx`]), so it exists exactly if
//! the event happened. There are two exceptions: the notice of a game that a limit refused follows
//! the refusal, and an invitation to a rematch ([`Notices::invite`]) is an event by itself. A void
//! writes its notices in the books' function of the database. This module also reads notices and
//! marks them as read. Deliberately absent: texts. A notice is a kind with a game and an amount, or
//! with the inviting player; clients supply the text.

use std::collections::HashMap;
use std::sync::Arc;

use bahay_api::Time;
use bahay_api::player::notices::Notice;
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TournamentId};
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use bahay_base::clock::{BoundedTimestamp, Timestamp};
use bahay_batch_loader::BatchLoader;
use bahay_db::{Page, from_sql, to_sql};

/// The maximum page size; a larger limit is reduced to it.
pub const PAGE_MAX: u32 = 100;

/// An invitation to a rematch for the other players of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RematchInvitation {
    pub game: GameId,
    pub from: PlayerId,
    /// The code of the rematch's table.
    pub code: String,
}

/// Inserts a notice of one kind for each recipient, with the amount in hundredths of a coin that it
/// reports, if any. Of several calls with one `key` and kind, each recipient gets one notice.
pub async fn insert_in_tx(
    connection: &mut PgConnection,
    kind: &str,
    key: &str,
    recipients: &[(PlayerId, Option<Coins>)],
) -> Result<(), sqlx::Error> {
    let players: Vec<Uuid> = recipients.iter().map(|(player, _)| player.0).collect();
    let amounts: Vec<Option<i64>> =
        recipients.iter().map(|(_, amount)| amount.map(Coins::hundredths)).collect();
    // The id is derived from kind, key and player, so a retry inserts no second notice.
    sqlx::query!(
        r#"
        insert into notices (id, player, kind, amount)
        select md5($1::text || ':' || $2::text || ':' || r.player)::uuid, r.player, $1, r.amount
        from unnest($3::uuid[], $4::bigint[]) as r (player, amount)
        on conflict (id) do nothing
        "#,
        kind,
        key,
        &players,
        &amounts as &[Option<i64>]
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// A notice of a tournament to some of its players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentNotice {
    pub kind: &'static str,
    /// The text that tells apart notices of one kind, tournament and player.
    pub key: String,
    pub recipients: Vec<TournamentRecipient>,
}

/// A player to whom a tournament has a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TournamentRecipient {
    pub player: PlayerId,
    /// The prize or the refund, if any.
    pub amount: Option<Coins>,
    /// The final place, from 1, if any.
    pub place: Option<u32>,
}

/// Inserts a notice of a tournament for each recipient. Of several calls with one kind and key, each
/// recipient gets one notice.
pub async fn insert_for_tournament_in_tx(
    connection: &mut PgConnection,
    tournament: TournamentId,
    notice: &TournamentNotice,
) -> Result<(), sqlx::Error> {
    let TournamentNotice { kind, key, recipients } = notice;
    if recipients.is_empty() {
        return Ok(());
    }
    let players: Vec<Uuid> = recipients.iter().map(|one| one.player.0).collect();
    let amounts = recipients.iter().map(|one| one.amount.map(Coins::hundredths));
    let amounts: Vec<Option<i64>> = amounts.collect();
    let places = recipients.iter().map(|one| one.place.and_then(|place| i32::try_from(place).ok()));
    let places: Vec<Option<i32>> = places.collect();
    sqlx::query!(
        r#"
        insert into notices (id, player, kind, tournament, amount, place)
        select md5(concat_ws(':', $1::text, $2::uuid, $3::text, r.player))::uuid, r.player, $1, $2,
            r.amount, r.place
        from unnest($4::uuid[], $5::bigint[], $6::integer[]) as r (player, amount, place)
        on conflict (id) do nothing
        "#,
        *kind,
        tournament.0,
        key,
        &players,
        &amounts as &[Option<i64>],
        &places as &[Option<i32>]
    )
    .execute(connection)
    .await
    .map(|_| ())
}

/// The result of an invitation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvitationResult {
    /// The players who had no invitation to this table before.
    pub players: Vec<PlayerId>,
    /// The name of the inviting player.
    pub name: String,
}

/// The notices of all players.
#[derive(Clone, Debug)]
pub struct Notices {
    pool: PgPool,
    unread: BatchLoader<PlayerId, u32, sqlx::Error>,
}

impl Notices {
    pub fn new(pool: PgPool) -> Self {
        let counted = pool.clone();
        let unread = BatchLoader::new(move |players| count_unread(counted.clone(), players));
        Self { pool, unread }
    }

    /// Counts a player's unread notices.
    ///
    /// # Errors
    ///
    /// The error of the query, which concurrent calls share.
    pub async fn count_unread(&self, player: PlayerId) -> Result<u32, Arc<sqlx::Error>> {
        Ok(self.unread.find(player).await?.unwrap_or_default())
    }

    /// Returns a page of a player's notices, newest first, starting below a time and an id.
    pub async fn list(
        &self,
        player: PlayerId,
        below: Option<(Timestamp, Uuid)>,
        limit: u32,
    ) -> Result<Page<Notice, (Timestamp, Uuid)>, sqlx::Error> {
        let limit = limit.clamp(1, PAGE_MAX);
        let (time, id) = below.unwrap_or((BoundedTimestamp::MAX.into(), Uuid::max()));
        let query = || {
            sqlx::query!(
                r#"
                select n.id, n.kind, n.game, n.amount, n.code, n.sender, p.name as "name?",
                    n.tournament, n.place, t.terms ->> 'name' as "tournament_name?",
                    n.created_at as "created_at: SqlTimestamp", n.read_at as "read_at: SqlTimestamp"
                from notices n
                left join players p on p.id = n.sender and p.deleted_at is null
                left join tournaments t on t.id = n.tournament
                where n.player = $1 and (n.created_at, n.id) < ($2::timestamptz, $3::uuid)
                order by n.created_at desc, n.id desc
                limit $4
                "#,
                player.0,
                to_sql(time) as _,
                id,
                i64::from(limit) + 1
            )
            .fetch_all(&self.pool)
        };
        let rows = bahay_db::retry(query).await?;
        let rows = rows.into_iter().map(|row| Notice {
            id: row.id,
            kind: row.kind,
            game: row.game,
            amount: row.amount.map(bahay_api::Coins::from_hundredths),
            code: row.code,
            from: row.sender,
            name: row.name,
            tournament: row.tournament,
            tournament_name: row.tournament_name,
            place: row.place.and_then(|place| u32::try_from(place).ok()),
            created_at: from_sql(row.created_at).into(),
            read_at: row.read_at.map(|at| Time::from(from_sql(at))),
        });
        Ok(Page::from_rows(rows.collect(), limit, |last| (last.created_at.into(), last.id)))
    }

    /// Marks a notice as read and keeps the first time. Returns false if the player has no such
    /// notice.
    pub async fn mark_read(&self, player: PlayerId, notice: Uuid) -> Result<bool, sqlx::Error> {
        let query = || {
            sqlx::query!(
                r#"
                update notices n
                set read_at = coalesce(n.read_at, date_trunc('milliseconds', now()))
                where n.id = $1 and n.player = $2
                "#,
                notice,
                player.0
            )
            .execute(&self.pool)
        };
        Ok(bahay_db::retry(query).await?.rows_affected() > 0)
    }

    /// Writes an invitation to a rematch for the other players of the game, and returns those who
    /// had no invitation to this table before. House bots, deleted accounts, and players with a
    /// block in either direction are not invited.
    pub async fn invite(
        &self,
        invitation: &RematchInvitation,
    ) -> Result<InvitationResult, sqlx::Error> {
        let RematchInvitation { game, from, code } = invitation;
        let query = || {
            sqlx::query!(
                r#"
                insert into notices (player, kind, game, code, sender)
                select p.id, 'rematch', $1, $3, $2
                from game_players g
                join players p on p.id = g.player and p.kind <> 'bot' and p.deleted_at is null
                where g.game = $1 and g.player <> $2
                    and not exists (
                        select
                        from player_relations r
                        where r.kind = 'block'
                            and (
                                (r.player = g.player and r.other = $2)
                                or (r.player = $2 and r.other = g.player)
                            )
                    )
                on conflict (game, player, kind) where game is not null
                do update set code = excluded.code, sender = excluded.sender, read_at = null,
                    created_at = excluded.created_at
                    where notices.code is distinct from excluded.code
                returning player,
                    (select i.name from players i where i.id = $2) as "name!"
                "#,
                game.0,
                from.0,
                code
            )
            .fetch_all(&self.pool)
        };
        let rows = bahay_db::retry(query).await?;
        let name = rows.first().map(|row| row.name.clone()).unwrap_or_default();
        let players = rows.into_iter().map(|row| PlayerId(row.player)).collect();
        Ok(InvitationResult { players, name })
    }
}

/// Counts the unread notices of some players; those without any are absent.
async fn count_unread(
    pool: PgPool,
    players: Vec<PlayerId>,
) -> Result<HashMap<PlayerId, u32>, sqlx::Error> {
    let players: Vec<Uuid> = players.into_iter().map(|player| player.0).collect();
    let query = || {
        sqlx::query!(
            r#"
            select n.player, count(*) as "unread!"
            from notices n
            where n.player = any($1) and n.read_at is null
            group by n.player
            "#,
            &players
        )
        .fetch_all(&pool)
    };
    let rows = bahay_db::retry(query).await?.into_iter();
    let counts =
        rows.map(|row| (PlayerId(row.player), u32::try_from(row.unread).unwrap_or(u32::MAX)));
    Ok(counts.collect())
}
