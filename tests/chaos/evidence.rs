//! The evidence of a run for its checks: the clients' journals, the games and their records in
//! PostgreSQL, the books, and the tables in Redis after the faults.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{GameId, Readable as _, Record};
use sqlx::PgPool;
use uuid::Uuid;

use crate::forge::{self, Forgery};
use crate::journal::{self, Entry};
use crate::live::Table;
use crate::tournaments::TournamentEvidence;

/// The complete evidence.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// The journal file of each client.
    pub(crate) journals: Vec<PathBuf>,
    pub(crate) games: BTreeMap<GameId, Game>,
    pub(crate) books: Books,
    pub(crate) tables: Tables,
    /// The tournaments of a run that plays them.
    pub(crate) tournaments: Option<TournamentEvidence>,
    /// True if the plan loses Redis, which the checks then allow for.
    pub(crate) redis_was_lost: bool,
    pub(crate) forgery: Option<Forgery>,
}

/// An opened game.
#[derive(Clone, Debug)]
pub(crate) struct Game {
    pub(crate) state: String,
    pub(crate) void_reason: Option<String>,
    /// The stored record of a settled game.
    pub(crate) document: Option<String>,
    /// The parsed record, if it can be read.
    pub(crate) record: Option<Record<AnyGame>>,
}

/// The balances in hundredths of a coin, and the result of verifying the ledger.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    pub(crate) granted: i64,
    pub(crate) wallets: i64,
    pub(crate) stakes: i64,
    pub(crate) pots: i64,
    pub(crate) tournaments: i64,
    pub(crate) fees: i64,
    pub(crate) ledger_holds: bool,
    pub(crate) ledger_said: String,
}

/// The tables after the faults and some time later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) then: Vec<Table>,
    pub(crate) later: Vec<Table>,
    /// The time between both, in ms.
    pub(crate) after_ms: u128,
}

impl Evidence {
    /// Returns the journal of a client, with a forgery if one is planted.
    pub(crate) fn entries(&self, client: usize) -> Vec<Entry> {
        let mut entries = journal::read(&self.journals[client]);
        if let Some(forgery) = self.forgery.filter(|_| client == 0) {
            forge::journal(forgery, &mut entries);
        }
        entries
    }
}

/// Reads every game.
pub(crate) async fn games(pool: &PgPool) -> Result<BTreeMap<GameId, Game>, sqlx::Error> {
    let rows = sqlx::query_as(
        "select g.id, g.state, g.void_reason, r.record
         from games g left join game_records r on r.game = g.id",
    );
    let mut games = BTreeMap::new();
    let rows: Vec<(Uuid, String, Option<String>, Option<String>)> = rows.fetch_all(pool).await?;
    for (id, state, void_reason, document) in rows {
        let record = document.as_deref().and_then(|text| AnyGame::read_record(text).ok());
        games.insert(GameId(id), Game { state, void_reason, document, record });
    }
    Ok(games)
}

/// Reads the games that hold coins.
pub(crate) async fn open_games(pool: &PgPool) -> Result<Vec<GameId>, sqlx::Error> {
    let ids = sqlx::query_scalar("select id from games where state = 'open' order by id");
    Ok(ids.fetch_all(pool).await?.into_iter().map(GameId).collect())
}

/// Reads the balances. Those of the house are summed from the transfers, because its balances are
/// projected later; so are its grants to players.
pub(crate) async fn coins(pool: &PgPool) -> Result<Books, sqlx::Error> {
    let held = "select coalesce(sum(balance), 0)::bigint from accounts where kind = $1";
    let moved = "select coalesce(sum(case when d.kind = $1 then t.amount else 0 end)
             - sum(case when s.kind = $1 then t.amount else 0 end), 0)::bigint
         from transfers t
         join accounts s on s.id = t.source
         join accounts d on d.id = t.destination";
    let sum = async |sql: &'static str, kind: &str| -> Result<i64, sqlx::Error> {
        sqlx::query_scalar(sql).bind(kind).fetch_one(pool).await
    };
    Ok(Books {
        granted: -sum(moved, "issue").await?,
        wallets: sum(held, "wallet").await?,
        stakes: sum(held, "stake").await?,
        pots: sum(held, "pot").await?,
        tournaments: sum(held, "tournament").await?,
        fees: sum(moved, "fee").await?,
        ledger_holds: false,
        ledger_said: String::new(),
    })
}
