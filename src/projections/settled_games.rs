//! The settled games among the operations of a batch, as projections of games need them.

use bahay_engine::table::Settlement;
use jiff_sqlx::Timestamp as SqlTimestamp;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use crate::ids::PRIVATE_ROOM;

/// A settled game.
#[derive(Debug)]
pub struct SettledGameRow {
    pub id: Uuid,
    pub kind: String,
    pub finished_at: SqlTimestamp,
    pub settlement: Json<Settlement>,
    /// The players by seat, house bots included.
    pub players: Vec<Uuid>,
    /// The changes of the players' coins by the game without the ante, in hundredths.
    pub nets: Vec<i64>,
    /// The house bots among the players.
    pub bots: Vec<Uuid>,
    pub is_private: bool,
}

impl SettledGameRow {
    /// Returns whether the game counts in competitions. Games with a house bot or at a private
    /// table do not, so that nobody climbs by choosing opponents.
    pub fn is_ranked(&self) -> bool {
        self.bots.is_empty() && !self.is_private
    }
}

/// Reads the games that these operations settled, in their order.
pub async fn read_settled_games(
    connection: &mut PgConnection,
    operations: &[i64],
) -> Result<Vec<SettledGameRow>, sqlx::Error> {
    sqlx::query_as!(
        SettledGameRow,
        r#"
        select g.id, g.kind, g.finished_at as "finished_at!: SqlTimestamp",
            r.settlement as "settlement!: Json<Settlement>", t.players as "players!",
            t.nets as "nets!", t.bots as "bots!", g.room = $2 as "is_private!"
        from unnest($1::bigint[]) with ordinality as s (operation, place)
        join operations o on o.id = s.operation and o.kind = 'settle'
        join games g on g.id = o.game
        join game_records r on r.game = g.id
        cross join lateral (
            select array_agg(q.player) as players, array_agg(q.net) as nets,
                coalesce(array_agg(q.player) filter (where q.is_bot), '{}') as bots
            from (
                select p.player, p.net, h.id is not null as is_bot
                from game_players p
                left join players h on h.id = p.player and h.kind = 'bot'
                where p.game = g.id
                order by p.seat
            ) q
        ) t
        order by s.place
        "#,
        operations,
        PRIVATE_ROOM
    )
    .fetch_all(connection)
    .await
}
