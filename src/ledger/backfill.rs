//! Backfill: books many finished games at once, by the same decisions as single operations, and
//! writes them with `copy`, as a dump is restored. `bahay generate-history` uses it to fill a
//! database for demonstration; it serves no players.
//!
//! Grants and games are decided in memory and collected. [`LedgerBatch::write`] writes a batch in
//! one transaction while the next one is being decided, then projects and seals it like every other
//! operation, so the audit finds the books consistent. Ids continue from the sequences and are
//! counted here, so no other process may post meanwhile. Memory grows with the size of a batch.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use jiff::Timestamp;
use serde::Serialize;
use sqlx::{PgConnection, PgPool};

use super::books::{AccountState, Books};
use super::chart::Account;
use super::error::LedgerError;
use super::operation::{GrantCoins, OpenGame, OpeningOutcome, Operation, Request, SettleGame};
use super::{grant, house_projection, open_game, post, settle};
use crate::archive::store::Games;
use crate::months;

/// The books of a database that a history is being written to.
#[derive(Debug)]
pub struct LedgerBackfill {
    house_ids: BTreeMap<Account, i64>,
    /// The current states of wallets and POTs.
    account_states: BTreeMap<Account, AccountState>,
    account_next: i64,
    operation_next: i64,
    /// The first and the last time of the collected rows.
    times_ms: Option<(i64, i64)>,
    rows: Rows,
}

/// The collected rows by table, in the text format of `copy`.
#[derive(Debug, Default)]
struct Rows {
    /// The created accounts. They are converted to rows when the batch ends, because their balances
    /// keep changing until then.
    made: Vec<(Account, i64)>,
    stakes: CopyText,
    operations: CopyText,
    keys: CopyText,
    transfers: CopyText,
    entries: CopyText,
    pending_house_entries: CopyText,
    games: CopyText,
    seats: CopyText,
    records: CopyText,
}

/// The rows of one write.
#[derive(Debug)]
pub struct LedgerBatch {
    tables: [(&'static str, CopyText); 9],
    /// Wallets that existed before this batch, with the versions that they had.
    changed: Vec<AccountState>,
    account_next: i64,
    operation_next: i64,
    times_ms: Option<(i64, i64)>,
}

impl LedgerBackfill {
    /// Starts a backfill of a database that no other process posts to. `rooms` lists every room
    /// with games.
    pub async fn begin(pool: &PgPool, rooms: &[String]) -> Result<Self, LedgerError> {
        let mut connection = pool.acquire().await?;
        let accounts = rooms.iter().cloned().map(Account::Fee).chain([Account::Issue]).collect();
        let house_ids = post::house_ids(&mut connection, &accounts).await?;
        let row = sqlx::query!(
            r#"
            select nextval('accounts_id_seq') as "account!", nextval('operation_ids') as "operation!"
            "#
        )
        .fetch_one(&mut *connection)
        .await?;
        // The last batch may have used numbers above the one that it took from the sequence.
        let account_next = row.account.saturating_add(1_024);
        let operation_next = row.operation.saturating_add(64);
        let account_states = BTreeMap::new();
        let rows = Rows::default();
        Ok(Self { house_ids, account_states, account_next, operation_next, times_ms: None, rows })
    }

    /// Appends a grant to a player without a wallet.
    pub fn append_grant(&mut self, input: GrantCoins, at_ms: i64) -> Result<(), LedgerError> {
        let wallet = Account::Wallet(input.player);
        self.create_account(&wallet);
        let mut books = self.select_books(&[wallet]);
        let id = self.next_operation_id(at_ms)?;
        let answer = grant::decide(&input, id, &mut books)?;
        self.append_operation(id, Operation::Grant(input), &answer, at_ms)?;
        self.apply_books(&books);
        Ok(())
    }

    /// Appends a game with its opening and settlement. The players' wallets must exist and cover
    /// the stakes.
    pub fn append_game(
        &mut self,
        opening: OpenGame,
        settling: SettleGame,
    ) -> Result<(), LedgerError> {
        let opened_at = opening.opened_at_ms;
        let finished_at = settling.finished_at_ms;
        let pot = Account::Pot(opening.table);
        if !self.account_states.contains_key(&pot) {
            self.create_account(&pot);
        }
        let wallets = opening.players.iter().copied().map(Account::Wallet);
        let mut books = self.select_books(&wallets.chain([pot]).collect::<Vec<_>>());
        let seats = u8::try_from(opening.players.len()).unwrap_or(u8::MAX);
        let stakes: Vec<_> =
            Seat::all(seats).map(|seat| Account::Stake(opening.game, seat)).collect();
        for stake in &stakes {
            let account_state = AccountState {
                id: self.account_next,
                balance: Coins::ZERO,
                version: 0,
                version_read: 0,
            };
            books.add(stake.clone(), account_state);
            self.account_next += 1;
        }
        let mut games = Games::default();

        let id = self.next_operation_id(opened_at)?;
        let answer = open_game::decide(&opening, id, &mut books, &mut games)?;
        match answer {
            OpeningOutcome::Opened { .. } => {}
            OpeningOutcome::CannotPay { .. } | OpeningOutcome::OverAllowance { .. } => {
                return Err(LedgerError::Invalid { what: "a player cannot pay for its game" });
            }
        }
        self.append_operation(id, Operation::Open(opening.clone()), &answer, opened_at)?;
        let id = self.next_operation_id(finished_at)?;
        let answer = settle::decide(&settling, id, &mut books, &mut games)?;
        let net = answer.net.clone();
        self.append_operation(id, Operation::Settle(Box::new(settling)), &answer, finished_at)?;

        let game = opening.game;
        let times = [parse_time(opened_at)?, parse_time(finished_at)?];
        self.rows.games.push_row(&[
            &game,
            &opening.kind,
            &opening.table,
            &opening.room,
            &"settled",
            &opening.ante.hundredths(),
            &bytea_text(&opening.commitment.0.0),
            &times[0],
            &times[1],
        ]);
        let held = games.by_id(game).map(|game| game.stakes.clone()).unwrap_or_default();
        let seated = opening.players.iter().zip(&held).zip(&net);
        for (number, ((player, stake), net)) in seated.enumerate() {
            let stake = stake.hundredths();
            let net = net.hundredths();
            self.rows.seats.push_row(&[&game, player, &number, &stake, &net, &times[1]]);
        }
        for (account, account_state) in books.account_states() {
            if let Account::Stake(..) = account {
                let AccountState { id, balance, version, .. } = account_state;
                let kind = account.kind();
                let balance = balance.hundredths();
                self.rows.stakes.push_row(&[id, account, &kind, &NULL, &balance, version]);
            }
        }
        self.apply_books(&books);
        Ok(())
    }

    fn create_account(&mut self, account: &Account) {
        let id = self.account_next;
        self.account_next += 1;
        let account_state = AccountState { id, balance: Coins::ZERO, version: 0, version_read: 0 };
        self.account_states.insert(account.clone(), account_state);
        self.rows.made.push((account.clone(), id));
    }

    /// Returns the next operation id, in the month of `at_ms` or a later one.
    fn next_operation_id(&mut self, at_ms: i64) -> Result<i64, LedgerError> {
        let least = months::first_operation_of(parse_time(at_ms)?);
        self.operation_next = self.operation_next.saturating_add(1).max(least);
        let (first, last) = self.times_ms.unwrap_or((at_ms, at_ms));
        self.times_ms = Some((first.min(at_ms), last.max(at_ms)));
        Ok(self.operation_next)
    }

    fn select_books(&self, accounts: &[Account]) -> Books {
        let account_state =
            |account: &Account| Some((account.clone(), *self.account_states.get(account)?));
        Books::new(accounts.iter().filter_map(account_state).collect(), self.house_ids.clone())
    }

    /// Appends the rows of the decided transfers and entries, and stores the new account states.
    fn apply_books(&mut self, books: &Books) {
        for row in books.transfers() {
            let code = row.code.as_str();
            let amount = row.amount.hundredths();
            let line = [&row.operation as &dyn Display, &row.number, &code, &row.source];
            self.rows.transfers.push_row(&[&line[..], &[&row.destination, &amount]].concat());
        }
        for row in books.entries() {
            self.rows.entries.push_row(&[
                &row.account,
                &row.version,
                &row.operation,
                &row.number,
                &row.amount.hundredths(),
                &row.balance_before.hundredths(),
                &row.balance_after.hundredths(),
            ]);
        }
        for (account, account_state) in books.account_states() {
            if let Some(kept) = self.account_states.get_mut(account) {
                *kept = *account_state;
            }
        }
    }

    fn append_operation(
        &mut self,
        id: i64,
        operation: Operation,
        answer: &impl Serialize,
        at_ms: i64,
    ) -> Result<(), LedgerError> {
        let request = Request::new(operation)?;
        let answer = serde_json::to_string(answer);
        let answer = answer.map_err(|error| LedgerError::broken(error.to_string()))?;
        let kind = request.operation.kind();
        let hash = bytea_text(&request.input_hash);
        let game = request.operation.game();
        let game: &dyn Display = match &game {
            Some(game) => game,
            None => &NULL,
        };
        let at = parse_time(at_ms)?;
        self.rows.operations.push_row(&[&id, &request.key, &kind, &hash, &answer, game, &at]);
        self.rows.keys.push_row(&[&request.key, &id]);
        self.rows.pending_house_entries.push_row(&[&id]);
        if let Some(input) = request.operation.documents() {
            let settlement = serde_json::to_string(&input.settlement);
            let settlement = settlement.map_err(|error| LedgerError::broken(error.to_string()))?;
            self.rows.records.push_row(&[&input.game, &settlement, &input.record.as_str()]);
        }
        Ok(())
    }

    /// Returns everything collected since the last call. Batches must be written in this order. The
    /// POT of a table is dropped from memory, so the next batch cannot continue that table.
    pub fn take_batch(&mut self) -> LedgerBatch {
        let rows = std::mem::take(&mut self.rows);
        let mut accounts = rows.stakes;
        for (account, id) in &rows.made {
            if let Some(account_state) = self.account_states.get_mut(account) {
                let player = account.player();
                let player: &dyn Display = match &player {
                    Some(player) => player,
                    None => &NULL,
                };
                let balance = account_state.balance.hundredths();
                let kind = account.kind();
                accounts.push_row(&[id, account, &kind, player, &balance, &account_state.version]);
                account_state.version_read = account_state.version;
            }
        }
        let changed =
            self.account_states.values_mut().filter(|account_state| account_state.has_changed());
        let changed = changed.map(|account_state| {
            let before = *account_state;
            account_state.version_read = account_state.version;
            before
        });
        let changed = changed.collect();
        self.account_states.retain(|account, _| matches!(account, Account::Wallet(_)));
        let tables = [
            ("accounts (id, code, kind, player, balance, version)", accounts),
            ("operations (id, key, kind, input_hash, answer, game, created_at)", rows.operations),
            ("operation_keys (key, operation)", rows.keys),
            ("transfers (operation, number, code, source, destination, amount)", rows.transfers),
            (
                "entries (account, version, operation, number, amount, balance_before, \
                 balance_after)",
                rows.entries,
            ),
            ("pending_house_entries (operation)", rows.pending_house_entries),
            (
                "games (id, kind, table_id, room, state, ante, commitment, opened_at, finished_at)",
                rows.games,
            ),
            ("game_players (game, player, seat, stake, net, finished_at)", rows.seats),
            ("game_records (game, settlement, record)", rows.records),
        ];
        let account_next = self.account_next;
        let operation_next = self.operation_next;
        let times_ms = self.times_ms.take();
        LedgerBatch { tables, changed, account_next, operation_next, times_ms }
    }
}

impl LedgerBatch {
    /// Writes the batch in one transaction, then projects the house entries and seals the
    /// operations.
    pub async fn write(self, pool: &PgPool) -> Result<(), LedgerError> {
        if let Some((first, last)) = self.times_ms {
            months::create_partitions(pool, parse_time(first)?, parse_time(last)?).await?;
        }
        let mut tx = pool.begin().await?;
        self.write_changed(&mut tx).await?;
        for (table, text) in self.tables {
            text.copy(&mut tx, table).await?;
        }
        sqlx::query!(
            "
            select setval('accounts_id_seq', $1) as account, setval('operation_ids', $2) as operation
            ",
            self.account_next,
            self.operation_next
        )
        .fetch_one(&mut *tx)
        .await?;
        tx.commit().await?;
        house_projection::project_all(pool).await?;
        Ok(())
    }

    /// Updates the balances of accounts that existed before this batch.
    async fn write_changed(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let column =
            |field: fn(&AccountState) -> i64| self.changed.iter().map(field).collect::<Vec<_>>();
        let written = sqlx::query!(
            r#"
            update accounts a
            set balance = s.balance, version = s.version
            from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
                as s (id, balance, version, version_read)
            where a.id = s.id and a.version = s.version_read
            "#,
            &column(|account_state| account_state.id),
            &column(|account_state| account_state.balance.hundredths()),
            &column(|account_state| account_state.version),
            &column(|account_state| account_state.version_read)
        )
        .execute(connection)
        .await?;
        if written.rows_affected() != self.changed.len() as u64 {
            return Err(sqlx::Error::Protocol("another process posts to these wallets".into()));
        }
        Ok(())
    }
}

/// The null value of `copy`'s text format.
const NULL: Null = Null;

struct Null;

impl Display for Null {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A marker that no field contains: see `push_row`.
        f.write_str("\u{0}")
    }
}

/// Rows of one table in the text format of `copy`.
#[derive(Debug, Default)]
struct CopyText(String);

impl CopyText {
    fn push_row(&mut self, fields: &[&dyn Display]) {
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.0.push('\t');
            }
            let start = self.0.len();
            write!(self.0, "{field}").expect("writing to a string succeeds");
            let text = &self.0[start..];
            if text == "\u{0}" {
                self.0.truncate(start);
                self.0.push_str("\\N");
            } else if text.contains(['\\', '\t', '\n', '\r']) {
                let escaped = text
                    .replace('\\', "\\\\")
                    .replace('\t', "\\t")
                    .replace('\n', "\\n")
                    .replace('\r', "\\r");
                self.0.truncate(start);
                self.0.push_str(&escaped);
            }
        }
        self.0.push('\n');
    }

    async fn copy(self, connection: &mut PgConnection, table: &str) -> Result<(), sqlx::Error> {
        let mut copy = connection.copy_in_raw(&format!("copy {table} from stdin")).await?;
        copy.send(self.0.into_bytes()).await?;
        copy.finish().await?;
        Ok(())
    }
}

fn bytea_text(bytes: &[u8]) -> String {
    let mut text = String::from("\\x");
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a string succeeds");
    }
    text
}

fn parse_time(at_ms: i64) -> Result<Timestamp, LedgerError> {
    let no_time = |_| LedgerError::Invalid { what: "a time is beyond the calendar" };
    Timestamp::from_millisecond(at_ms).map_err(no_time)
}

#[cfg(test)]
mod tests {
    use super::{CopyText, NULL};

    #[test]
    fn special_characters_of_copy_are_escaped() {
        let mut text = CopyText::default();
        text.push_row(&[&1, &"a\tb\\c\nd", &NULL, &"\\xff"]);
        assert_eq!(text.0, "1\ta\\tb\\\\c\\nd\t\\N\t\\\\xff\n");
    }
}
