//! The part of tables that the API and the desk share.
//!
//! An order about a table changes Redis and PostgreSQL, which share no transaction. It is therefore
//! recorded in the audit log before it is performed, and once more if it fails.

use std::sync::Arc;

use bahay_api::operator::tables::{
    BusyTable, ExpectedGame, HaltedTable, LostPot, PlayerRefund, PotShare, PotShares,
    StrandedTables, VoidTable, VoidedTable,
};
use bahay_engine::catalog::AnyGame;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::table::{GameId, Phase, Table, TableId};
use serde_json::json;

use crate::archive::halted::{self, HaltedTable as HaltRow};
use crate::http::{Code, CodeExt as _, Problem, Services, Time};
use crate::ids::RoomId;
use crate::ledger::{LedgerError, Refunds, VoidPreview};
use crate::operators::SignedInAdministrator;
use crate::operators::audit::{self, Action};
use crate::reason::Reason;
use crate::tables::{OperateError, TableError};

/// The maximum number of tables in a list.
const TABLES_MAX: usize = 200;

/// Returns the tables of a room with at least one player.
pub(super) async fn list_busy(services: &Services, room: &str) -> Result<Vec<BusyTable>, Problem> {
    if let Err(error) = room.parse::<RoomId>() {
        return Err(Code::QueryInvalid.with_detail(error.to_string()));
    }
    let tables = services.live.busy_tables(room, TABLES_MAX).await;
    let tables = tables.map_err(|error| Problem::unavailable(&error))?;
    Ok(tables.into_iter().map(|(table, players)| BusyTable { table: table.0, players }).collect())
}

/// Returns the halted tables and the lost POTs.
pub(super) async fn find_stranded(services: &Services) -> Result<StrandedTables, Problem> {
    let halted = halted::list_halted(&services.pool).await?;
    let lost = services.lobby.tables().lost_pots().await?;
    let halted = halted.into_iter().map(HaltedTable::from);
    let lost = lost.into_iter().map(|lost| LostPot {
        table: lost.table.0,
        pot: lost.pot.into(),
        finished_at: Time::from_ms(lost.finished_at_ms),
    });
    Ok(StrandedTables { halted: halted.collect(), lost_pots: lost.collect() })
}

/// The state of a table before an order about it.
#[derive(Debug)]
pub(super) enum OperatedTable {
    Live,
    /// A halted table, with its halt, if that is recorded, and whether it can be released here.
    Halted {
        halt: Option<HaltedTable>,
        release: Result<(), OperateError>,
    },
    /// A table that no longer exists.
    Gone,
}

/// Returns the state of a table, read from live state, and the refunds that voiding it would book.
pub(super) async fn preview_orders(
    services: &Services,
    table: TableId,
) -> Result<(OperatedTable, VoidPreview), Problem> {
    let preview = services.ledger.preview_void(table).await?;
    let state = match services.lobby.tables().check_release(table).await {
        Err(OperateError::NotHalted) => OperatedTable::Live,
        Err(OperateError::Missing) if preview == VoidPreview::default() => {
            return Err(OperateError::NothingToVoid.into());
        }
        Err(OperateError::Missing) => OperatedTable::Gone,
        Err(error @ OperateError::Unavailable(_)) => return Err(error.into()),
        release => {
            let halts = halted::list_halted(&services.pool).await?.into_iter();
            let halt = halts.map(HaltedTable::from).find(|halt| halt.table == table.0);
            OperatedTable::Halted { halt, release }
        }
    };
    Ok((state, preview))
}

/// Returns the refunds of a lost POT, whose table no longer exists.
pub(super) async fn preview_pot_refund(
    services: &Services,
    table: TableId,
) -> Result<Vec<PlayerRefund>, Problem> {
    let (state, preview) = preview_orders(services, table).await?;
    match (state, preview.game) {
        (OperatedTable::Gone, None) => Ok(list_refunds(&preview.refunds)),
        (OperatedTable::Gone, Some(_)) => {
            Err(Code::TableLive.with_detail("a game is open at the table: void the table instead"))
        }
        _ => Err(OperateError::Live.into()),
    }
}

/// Returns a table in its current state.
pub(super) async fn find_table(
    services: &Services,
    table: TableId,
) -> Result<Arc<Table<AnyGame>>, Problem> {
    let found = services.lobby.tables().read_table(table).await.map_err(|error| match error {
        TableError::Halted => Code::TableHalted.with_detail("release or void the table"),
        TableError::OtherVersion => Code::Unavailable.with_detail("another node plays this table"),
        error => Problem::unavailable(&error),
    })?;
    found.ok_or_else(|| Code::TableNotFound.problem())
}

/// Returns the full view of a table's running game, after recording the act in the audit log.
pub(super) async fn reveal_hands(
    services: &Services,
    by: &SignedInAdministrator,
    table: TableId,
    reason: &Reason,
) -> Result<<AnyGame as Game>::View, Problem> {
    let found = find_table(services, table).await?;
    let Phase::Playing(playing) = found.phase() else {
        return Err(Code::NoGame.problem());
    };
    let detail = json!({ "game": playing.game, "reason": reason.as_str() });
    let subject = audit::table_subject(table);
    services.audit.record(by.actor(), Action::HandsSeen, &subject, detail).await?;
    Ok(playing.state.view(Viewer::Everything))
}

/// Ends a table, voids its open game and refunds its POT, unless another game is open than expected.
pub(super) async fn void(
    Services { audit, lobby, .. }: &Services,
    by: &SignedInAdministrator,
    table: TableId,
    VoidTable { reason, expected_game }: &VoidTable,
) -> Result<VoidedTable, Problem> {
    if let Some(ExpectedGame(game)) = *expected_game {
        lobby.tables().check_open_game(table, game.map(GameId)).await?;
    }
    let order = (Action::TableVoided, table, Some(reason));
    let voided = lobby.tables().void(table, reason);
    let voided = audit.run_table_order::<_, _, Problem>(by.actor(), order, voided).await?;
    let game = voided.game.map(|game| game.0);
    Ok(VoidedTable { game, refunds: list_refunds(&voided.refunds) })
}

/// Returns refunds as the API has them.
pub(super) fn list_refunds(refunds: &Refunds) -> Vec<PlayerRefund> {
    let refunds = refunds.as_slice().iter().map(|refund| PlayerRefund {
        player: refund.player.0,
        stake: refund.stake.into(),
        ante: refund.ante.into(),
        pot: refund.pot.into(),
    });
    refunds.collect()
}

/// Releases a halted table.
pub(super) async fn release(
    Services { audit, lobby, .. }: &Services,
    by: &SignedInAdministrator,
    table: TableId,
) -> Result<(), Problem> {
    let order = (Action::TableReleased, table, None);
    audit.run_table_order(by.actor(), order, lobby.tables().release(table)).await
}

/// Refunds the POT of a table that no longer exists.
pub(super) async fn refund_pot(
    Services { audit, lobby, .. }: &Services,
    by: &SignedInAdministrator,
    table: TableId,
) -> Result<PotShares, Problem> {
    let order = (Action::PotRefunded, table, None);
    let refund = lobby.tables().refund_pot(table);
    let refund = audit.run_table_order::<_, _, Problem>(by.actor(), order, refund).await?;
    let shares = refund.shares.into_iter();
    let shares =
        shares.map(|share| PotShare { player: share.player.0, amount: share.amount.into() });
    Ok(PotShares { shares: shares.collect() })
}

impl From<HaltRow> for HaltedTable {
    fn from(halted: HaltRow) -> Self {
        Self {
            table: halted.table.0,
            room: halted.room,
            game: halted.game.map(|game| game.0),
            reason: halted.reason,
            halted_at: Time::from_ms(halted.halted_at_ms),
        }
    }
}

impl From<OperateError> for Problem {
    fn from(error: OperateError) -> Self {
        let code = match &error {
            OperateError::Missing | OperateError::NothingToVoid => Code::TableNotFound,
            OperateError::Live => Code::TableLive,
            OperateError::GameChanged => Code::GameChanged,
            OperateError::NotHalted => Code::NotHalted,
            OperateError::Broken(_) => Code::TableBroken,
            OperateError::Ledger(LedgerError::PotEmpty { .. }) => Code::PotEmpty,
            OperateError::Ledger(LedgerError::TableBusy { .. }) => Code::TableLive,
            OperateError::Ledger(LedgerError::Unavailable { .. })
            | OperateError::OtherVersion(_)
            | OperateError::Unavailable(_)
            | OperateError::Database(_) => return Self::unavailable(&error),
            OperateError::Ledger(_) => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}
