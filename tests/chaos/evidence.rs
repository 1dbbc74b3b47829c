//! The evidence of a run for its checks: the clients' journals, the games and their records in
//! PostgreSQL, the books, and the tables in Redis after the faults.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bahay_engine::catalog::AnyGame;
use bahay_engine::table::{GameId, Readable as _, Record};
use sqlx::{PgPool, Row as _};

use crate::forge::{self, Forgery};
use crate::journal::{self, Entry};
use crate::live::Table;

/// The complete evidence.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// The journal file of each client.
    pub(crate) journals: Vec<PathBuf>,
    pub(crate) games: BTreeMap<GameId, Game>,
    pub(crate) books: Books,
    pub(crate) tables: Tables,
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

/// Reads the games that hold coins.
pub(crate) async fn open_games(pool: &PgPool) -> Result<Vec<GameId>, sqlx::Error> {
    let ids = sqlx::query_scalar("select id from games where state = 'open' order by id");
    Ok(ids.fetch_all(pool).await?.into_iter().map(GameId).collect())
}

/// Reads the balances. Those of the house are summed from the transfers, because its balances are
/// projected later; so are its grants to players.
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
