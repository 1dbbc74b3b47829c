//! What the run leaves behind for the checks: the clients' journals, the games and their records
//! as PostgreSQL has them, the books, and the tables as Redis had them when the faults were over.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{GameId, Readable as _, Record};
use sqlx::{PgPool, Row as _};

use crate::forge::{self, Forgery};
use crate::journal::{self, Entry};
use crate::live::Table;

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// By client.
    pub(crate) journals: Vec<PathBuf>,
    pub(crate) games: BTreeMap<GameId, Game>,
    pub(crate) books: Books,
    pub(crate) tables: Tables,
    /// What the plan says, and so the checks allow.
    pub(crate) redis_was_lost: bool,
    pub(crate) forgery: Option<Forgery>,
}

/// A game that was opened.
#[derive(Clone, Debug)]
pub(crate) struct Game {
    pub(crate) state: String,
    pub(crate) void_reason: Option<String>,
    /// Of a settled game, as it is stored.
    pub(crate) document: Option<String>,
    /// Read from it, if it can be.
    pub(crate) record: Option<Record<AnyGame>>,
}

/// Where the coins are, in hundredths, and what the check of the ledger said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    pub(crate) granted: i64,
    pub(crate) wallets: i64,
    pub(crate) stakes: i64,
    pub(crate) pots: i64,
    pub(crate) fees: i64,
    pub(crate) ledger_holds: bool,
    pub(crate) ledger_said: String,
}

/// Tables when the faults were over, and some time later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) then: Vec<Table>,
    pub(crate) later: Vec<Table>,
    /// How much later.
    pub(crate) after_ms: u128,
}

impl Evidence {
    /// What a client wrote down, forged where that was asked for.
    pub(crate) fn entries(&self, client: usize) -> Vec<Entry> {
        let mut entries = journal::read(&self.journals[client]);
        if let Some(forgery) = self.forgery.filter(|_| client == 0) {
            forge::journal(forgery, &mut entries);
        }
        entries
    }
}

/// Every game.
pub(crate) async fn games(pool: &PgPool) -> Result<BTreeMap<GameId, Game>, sqlx::Error> {
    let rows = sqlx::query(
        "select g.id, g.state, g.void_reason, r.record
         from games g left join game_records r on r.game = g.id",
    );
    let mut games = BTreeMap::new();
    for row in rows.fetch_all(pool).await? {
        let document: Option<String> = row.try_get("record")?;
        let record = document.as_deref().and_then(|text| AnyGame::read_record(text).ok());
        let game = Game {
            state: row.try_get("state")?,
            void_reason: row.try_get("void_reason")?,
            document,
            record,
        };
        games.insert(GameId(row.try_get("id")?), game);
    }
    Ok(games)
}

/// How many games hold coins.
pub(crate) async fn open_games(pool: &PgPool) -> Result<Vec<GameId>, sqlx::Error> {
    let ids = sqlx::query_scalar("select id from games where state = 'open' order by id");
    Ok(ids.fetch_all(pool).await?.into_iter().map(GameId).collect())
}

/// Where the coins are. Those of the house are counted from what was transferred, because its
/// balances are brought up to date later; what the house grants to the players, from the same.
pub(crate) async fn coins(pool: &PgPool) -> Result<Books, sqlx::Error> {
    let held = |kind: &'static str| async move {
        let sum = sqlx::query_scalar::<_, i64>(
            "select coalesce(sum(balance), 0)::bigint from accounts where kind = $1",
        );
        sum.bind(kind).fetch_one(pool).await
    };
    let moved = |kind: &'static str| async move {
        let sum = sqlx::query_scalar::<_, i64>(
            "select coalesce(sum(case when d.kind = $1 then t.amount else 0 end)
                 - sum(case when s.kind = $1 then t.amount else 0 end), 0)::bigint
             from transfers t
             join accounts s on s.id = t.source
             join accounts d on d.id = t.destination",
        );
        sum.bind(kind).fetch_one(pool).await
    };
    Ok(Books {
        granted: -moved("issue").await?,
        wallets: held("wallet").await?,
        stakes: held("stake").await?,
        pots: held("pot").await?,
        fees: moved("fee").await?,
        ledger_holds: false,
        ledger_said: String::new(),
    })
}
