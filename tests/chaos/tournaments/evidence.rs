//! The evidence of the tournaments of a run.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use sqlx::PgPool;
use sqlx::types::Json;
use uuid::Uuid;

use crate::RunError;
use crate::bots::rest;
use crate::evidence::Game;
use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{GameId, PlayerId, Readable as _};

/// The tournaments and what they have moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct TournamentEvidence {
    pub(crate) tournaments: Vec<Tournament>,
    /// The balances of the wallets by player, and the grants, in hundredths.
    pub(crate) wallets: BTreeMap<PlayerId, Wallet>,
    /// The players by game for whom the AI played at its end.
    pub(crate) absent: BTreeMap<GameId, Vec<PlayerId>>,
}

/// A wallet, in hundredths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) granted: i64,
    pub(crate) balance: i64,
}

/// A tournament at the end of the run.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    pub(crate) id: Uuid,
    pub(crate) format: String,
    pub(crate) state: String,
    /// True if everything is paid and the account is closed.
    pub(crate) is_closed: bool,
    /// The balance of its account, in hundredths.
    pub(crate) balance: i64,
    /// The price of an entry, in hundredths.
    pub(crate) price: i64,
    /// The public list, as a node gave it.
    pub(crate) results: Vec<Value>,
}

impl Tournament {
    /// Iterates over the results of a type.
    pub(crate) fn results_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.results.iter().filter(move |result| result["type"] == kind)
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.format, self.id)
    }
}

impl fmt::Display for TournamentEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts: BTreeMap<(&str, &str), (usize, usize, usize)> = BTreeMap::new();
        for tournament in &self.tournaments {
            let key = (tournament.format.as_str(), tournament.state.as_str());
            let (count, places, games) = counts.entry(key).or_default();
            *count += 1;
            *games += tournament.results_of("game_scored").count();
            *places += tournament
                .results_of("placed")
                .map(|result| result["places"].as_array().map_or(0, Vec::len))
                .sum::<usize>();
        }
        for ((format, state), (count, places, games)) in counts {
            writeln!(f, "  {format}: {count} {state}, {places} places, {games} games scored")?;
        }
        let absent: usize = self.absent.values().map(Vec::len).sum();
        writeln!(f, "  the AI ended games for {absent} seats")
    }
}

/// Reads the evidence. The lists of results are those of the node at `base`, as a player reads them.
pub(crate) async fn read(pool: &PgPool, base: &str) -> Result<TournamentEvidence, RunError> {
    let (_, token) = rest::sign_in(base, "chaos-device-of-a-reader", "Reader").await?;
    let sql = "select t.id, t.terms -> 'format' ->> 'type', t.state,
            t.closed_at is not null and coalesce(a.is_closed, false), coalesce(a.balance, 0),
            (t.terms -> 'entry' ->> 'buy_in')::bigint + (t.terms -> 'entry' ->> 'fee')::bigint
        from tournaments t left join accounts a on a.code = 'tournament:' || t.id
        order by t.created_at, t.id";
    let rows: Vec<(Uuid, String, String, bool, i64, i64)> =
        sqlx::query_as(sql).fetch_all(pool).await?;
    let mut tournaments = Vec::new();
    for (id, format, state, is_closed, balance, price) in rows {
        let results = rest::results(base, &token, id).await?;
        tournaments.push(Tournament { id, format, state, is_closed, balance, price, results });
    }
    let sql = "select a.player, a.balance, coalesce((
            select sum(t.amount) from transfers t
            join accounts s on s.id = t.source
            where t.destination = a.id and s.kind = 'issue'
        ), 0)::bigint
        from accounts a where a.kind = 'wallet'";
    let rows: Vec<(Uuid, i64, i64)> = sqlx::query_as(sql).fetch_all(pool).await?;
    let wallets = rows
        .into_iter()
        .map(|(player, balance, granted)| (PlayerId(player), Wallet { granted, balance }));
    let sql = "select game, scores from tournament_games";
    let rows: Vec<(Uuid, Json<Vec<Value>>)> = sqlx::query_as(sql).fetch_all(pool).await?;
    let absent = rows.into_iter().map(|(game, Json(scores))| {
        let absent = scores.iter().filter(|score| score["is_absent"] == true);
        let absent = absent.filter_map(|score| score["player"].as_str()?.parse().ok());
        (GameId(game), absent.collect())
    });
    Ok(TournamentEvidence { tournaments, wallets: wallets.collect(), absent: absent.collect() })
}

/// Reads the stored games of all tournaments, as those of rooms.
pub(crate) async fn games(pool: &PgPool) -> Result<BTreeMap<GameId, Game>, sqlx::Error> {
    let sql =
        "select g.game, r.record from tournament_games g join game_records r on r.game = g.game";
    let rows: Vec<(Uuid, Option<String>)> = sqlx::query_as(sql).fetch_all(pool).await?;
    let games = rows.into_iter().map(|(id, document)| {
        let record = document.as_deref().and_then(|text| AnyGame::read_record(text).ok());
        let state = "settled".to_owned();
        (GameId(id), Game { state, void_reason: None, document, record })
    });
    Ok(games.collect())
}
