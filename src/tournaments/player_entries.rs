//! The passes of one player, and the tournaments for the export of the player's data.

use bahay_engine::coins::Coins;
use bahay_engine::table::{PlayerId, TournamentId};
use jiff_sqlx::Timestamp as SqlTimestamp;

use super::{TournamentState, Tournaments};
use crate::clock::Timestamp;
use crate::db::{self, from_sql};
use crate::passes::{self, Pass};

/// A tournament for which a player has registered and not withdrawn.
#[derive(Clone, Debug)]
pub struct PlayerTournament {
    pub id: TournamentId,
    pub name: String,
    pub state: TournamentState,
    pub created_at: Timestamp,
    /// The place, once it is final.
    pub place: Option<u32>,
    /// The prize, once the place is final.
    pub prize: Option<Coins>,
}

impl Tournaments {
    /// Returns the passes of a player, unused ones first.
    pub async fn list_passes(&self, player: PlayerId) -> Result<Vec<Pass>, sqlx::Error> {
        passes::list_passes(&self.inner.pool, player).await
    }

    /// Returns the tournaments for which a player has registered, newest first.
    pub async fn list_by_player(
        &self,
        player: PlayerId,
    ) -> Result<Vec<PlayerTournament>, sqlx::Error> {
        let query = || {
            sqlx::query!(
                r#"
                select t.id, t.terms ->> 'name' as "name!", t.state,
                    t.created_at as "created_at: SqlTimestamp", p.place as "place?",
                    p.prize as "prize?"
                from tournament_entrants e
                join tournaments t on t.id = e.tournament
                left join lateral (
                    select (g ->> 'place')::integer as place, (g ->> 'prize')::bigint as prize
                    from tournament_lines l
                    cross join lateral jsonb_array_elements(l.results) r
                    cross join lateral jsonb_array_elements(r -> 'places') g
                    where l.tournament = t.id and l.results @> '[{"type": "placed"}]'
                        and r ->> 'type' = 'placed' and g ->> 'player' = e.player::text
                    limit 1
                ) p on true
                where e.player = $1
                order by t.created_at desc, t.id desc
                "#,
                player.0
            )
            .fetch_all(&self.inner.pool)
        };
        let rows = db::retry(query).await?.into_iter().map(|row| {
            Ok(PlayerTournament {
                id: TournamentId(row.id),
                name: row.name,
                state: db::parse_column(&row.state)?,
                created_at: from_sql(row.created_at),
                place: row.place.and_then(|place| u32::try_from(place).ok()),
                prize: row.prize.map(Coins::from_hundredths),
            })
        });
        rows.collect()
    }
}
