//! The operators' commands about tables, run beside the serving nodes. A command works on the same
//! Redis and PostgreSQL as the nodes, and like them owns no table.

use std::fmt::Write as _;

use bahay_engine::table::TableId;
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::archive::halted;
use crate::clock::{self, Clock, Timestamp};
use crate::config::{Database, LiveState};
use crate::db::{self, PgPool, PoolOptions};
use crate::ledger::{Ledger, LedgerOptions, LedgerTasks, PlayerRefund};
use crate::live_store::LiveStore;
use crate::operators::Audit;
use crate::operators::audit::{Action, Actor};
use crate::reason::Reason;
use crate::tables::{OperateError, Tables, TermsSource, VoidedTable};
use bahay_engine::catalog::AnyGame;

/// A command about tables.
#[derive(Subcommand, Clone, Debug)]
pub enum TableCommand {
    /// End a table: void its open game, refund its coins and the POT, and release the players.
    Void {
        /// The table's id, as in the log.
        table: TableId,
        /// The reason, for the books and their readers: 10 to 500 characters.
        #[arg(long, value_name = "TEXT")]
        reason: Reason,
        #[command(flatten)]
        house: Box<HouseServices>,
    },
    /// Release a halted table, if its journal replays with this program.
    Release {
        /// The table's id, as in the log.
        table: TableId,
        #[command(flatten)]
        house: Box<HouseServices>,
    },
    /// Refund the POT of a lost table to the players who paid its antes.
    RefundPot {
        /// The table's id, as printed by `list-lost`.
        table: TableId,
        #[command(flatten)]
        house: Box<HouseServices>,
    },
    /// List the POTs of lost tables, oldest first.
    ListLost {
        #[command(flatten)]
        house: Box<HouseServices>,
    },
    /// List the halted tables, longest halted first.
    ListHalted {
        #[command(flatten)]
        database: Box<Database>,
    },
}

/// The addresses of PostgreSQL and Redis.
#[derive(Args, Clone, Debug)]
pub struct HouseServices {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    live: LiveState,
}

/// The error of a command, for printing.
pub type CommandError = Box<dyn std::error::Error>;

/// Runs a command and returns the text to print.
pub async fn run_table_command(command: TableCommand) -> Result<String, CommandError> {
    match command {
        TableCommand::Void { table, reason, house } => {
            let order = (Action::TableVoided, table, Some(&reason));
            let voided = async |tables: &Tables<AnyGame>| tables.void(table, &reason).await;
            let VoidedTable { game, refunds, .. } = run_order(*house, order, voided).await?;
            let mut output = match game {
                Some(game) => format!("voided: table {table}, game {game}; its coins went back\n"),
                None => format!("ended: table {table}; no game was open\n"),
            };
            for PlayerRefund { player, stake, ante, pot } in refunds.as_slice() {
                writeln!(output, "{player}  stake {stake}  ante {ante}  POT {pot}")?;
            }
            Ok(output)
        }
        TableCommand::Release { table, house } => {
            let order = (Action::TableReleased, table, None);
            run_order(*house, order, async |tables: &Tables<AnyGame>| tables.release(table).await)
                .await?;
            Ok(format!("released: table {table}\n"))
        }
        TableCommand::RefundPot { table, house } => {
            let order = (Action::PotRefunded, table, None);
            let refunded = run_order(*house, order, async |tables: &Tables<AnyGame>| {
                tables.refund_pot(table).await
            });
            let mut output = format!("given back: the POT of table {table}\n");
            for share in refunded.await?.shares {
                writeln!(output, "{}  {}", share.player, share.amount)?;
            }
            Ok(output)
        }
        TableCommand::ListLost { house } => {
            let HouseConnection { tables, ledger, .. } = connect_house(*house).await?;
            let lost = tables.lost_pots().await;
            ledger.stop().await;
            let mut output = String::new();
            for lost in lost? {
                let since = clock::to_jiff(Timestamp::from_ms(lost.finished_at_ms));
                writeln!(output, "{}  {since:.0}  {}", lost.table, lost.pot)?;
            }
            if output.is_empty() {
                output.push_str("no POT is without its table\n");
            }
            Ok(output)
        }
        TableCommand::ListHalted { database } => list_halted(&connect(*database).await?).await,
    }
}

async fn connect(database: Database) -> Result<PgPool, CommandError> {
    db::check_schema(&database.database_url).await?;
    let options = PoolOptions { connections_max: 4, ..PoolOptions::default() };
    Ok(db::connect(database.database_url, options).await?)
}

/// The services that a command uses.
struct HouseConnection {
    tables: Tables<AnyGame>,
    ledger: LedgerTasks,
    audit: Audit,
}

/// Performs an order about a table, recorded in the audit log like those of the API and the desk.
async fn run_order<T: Serialize>(
    house: HouseServices,
    order: (Action, TableId, Option<&Reason>),
    operation: impl AsyncFnOnce(&Tables<AnyGame>) -> Result<T, OperateError>,
) -> Result<T, CommandError> {
    let HouseConnection { tables, ledger, audit } = connect_house(house).await?;
    let done = audit.run_table_order(&Actor::COMMAND_LINE, order, operation(&tables)).await;
    ledger.stop().await;
    done
}

async fn connect_house(house: HouseServices) -> Result<HouseConnection, CommandError> {
    let pool = connect(house.database).await?;
    let (live, _publications) = LiveStore::connect(&house.live.options()).await?;
    let (ledger, tasks) = Ledger::start(pool.clone(), LedgerOptions::default());
    // This process runs no table, so it does not need the house's clock.
    let audit = Audit::new(pool.clone());
    let tables = Tables::new(live, ledger, Clock::system(), pool, TermsSource::unchanging());
    Ok(HouseConnection { tables, ledger: tasks, audit })
}

async fn list_halted(pool: &PgPool) -> Result<String, CommandError> {
    let mut output = String::new();
    for halted in halted::list_halted(pool).await? {
        let since = clock::to_jiff(Timestamp::from_ms(halted.halted_at_ms));
        let game = halted.game.map_or("no game".to_owned(), |game| format!("game {game}"));
        let room = halted.room.as_deref().unwrap_or("an unknown room");
        let version = halted.version.map_or("unknown".to_owned(), |version| version.to_string());
        let table = halted.table;
        let reason = halted.reason;
        writeln!(output, "{table}  {since:.0}  {room}  {game}  version {version}  {reason}")?;
    }
    if output.is_empty() {
        output.push_str("no table is halted\n");
    }
    Ok(output)
}
