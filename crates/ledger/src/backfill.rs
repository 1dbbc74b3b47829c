//! Backfill: books many finished games at once, by the same decisions as single operations, and
//! writes them with `copy`, as a dump is restored. `bahay-lab generate-history` uses it to fill a
//! database for demonstration; it serves no players.
//!
//! Grants and games are decided in memory and collected. [`LedgerBatch::write`] writes a batch in
//! one transaction while the next one is being decided, then seals it like every other
//! operation, so the audit finds the books consistent. Ids continue from the sequences and are
//! counted here, so no other process may post meanwhile. Memory grows with the size of a
//! batch, and with the numbers of players and tables.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::mem;

use bahay_engine::seat::Seat;
use jiff::Timestamp;
use serde::Serialize;
use sqlx::{PgConnection, PgPool};

use super::books::{AccountState, Books, ChangedAccountRow};
use super::chart::Account;
use super::error::LedgerError;
use super::house_projection;
use super::operation::{Operation, Request, WinLimit};
use super::operations::{GrantCoins, OpenGame, Opening, OpeningOutcome, SettleGame};
use super::posting::account_ids::create_house_accounts;
use super::seal::Hexadecimal;
use super::transfer_totals::TransferTotals;
use crate::months;

// The tables of a batch with their columns.
const ACCOUNTS: &str = "accounts (id, code, kind, player, balance, version)";
const OPERATIONS: &str = "operations (id, key, kind, input_hash, answer, game, created_at, \
    codes, sources, destinations, amounts, accounts, versions, balances)";
const KEYS: &str = "operation_keys (key, operation)";
const ACCOUNT_OPERATIONS: &str = "account_operations (account, operation)";
const UNSEALED: &str = "unsealed_operations (operation)";
const GAMES: &str =
    "games (id, kind, table_id, room, state, ante, commitment, opened_at, finished_at)";
const SEATS: &str = "game_players (game, player, seat, stake, net, finished_at)";
const RECORDS: &str = "game_records (game, settlement, record)";

/// The books of a database that a history is being written to.
#[derive(Debug)]
pub struct LedgerBackfill {
    house_ids: BTreeMap<Account, i64>,
    /// The current states of wallets and POTs.
    account_states: BTreeMap<Account, AccountState>,
    /// The accounts created since the last batch. They are converted to rows when the batch ends,
    /// because their balances keep changing until then.
    made: Vec<Account>,
    account_next: i64,
    operation_next: i64,
    /// The first and the last time of the collected rows.
    times_ms: Option<(i64, i64)>,
    rows: BTreeMap<&'static str, CopyText>,
}

/// The rows of one write.
#[derive(Debug)]
pub struct LedgerBatch {
    rows: BTreeMap<&'static str, CopyText>,
    /// Accounts that existed before this batch, with the versions that they had.
    changed: Vec<ChangedAccountRow>,
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
        let house_ids = create_house_accounts(&mut connection, &accounts).await?;
        let row = sqlx::query!(
            r#"
            select nextval('accounts_id_seq') as "account!", nextval('operation_ids') as "operation!"
            "#
        )
        .fetch_one(&mut *connection)
        .await?;
        Ok(Self {
            house_ids,
            account_states: BTreeMap::new(),
            made: Vec::new(),
            // The last batch may have used numbers above the one that it took from the sequence.
            account_next: row.account.saturating_add(1_024),
            operation_next: row.operation.saturating_add(64),
            times_ms: None,
            rows: BTreeMap::new(),
        })
    }

    /// Appends a grant to a player without a wallet.
    pub fn append_grant(&mut self, input: GrantCoins, at_ms: i64) -> Result<(), LedgerError> {
        let wallet = Account::Wallet(input.player);
        self.create_account(&wallet);
        let mut books = self.select_books(&[wallet]);
        self.append_operation(input, at_ms, &mut books)?;
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
        let OpenGame { game, table, opened_at_ms, .. } = opening;
        let times = [parse_time(opened_at_ms)?, parse_time(settling.finished_at_ms)?];
        let finished_at_ms = settling.finished_at_ms;
        let pot = Account::Pot(table);
        if !self.account_states.contains_key(&pot) {
            self.create_account(&pot);
        }
        let wallets = opening.players.iter().copied().map(Account::Wallet);
        let mut books = self.select_books(&wallets.chain([pot]).collect::<Vec<_>>());
        for seat in Seat::all(u8::try_from(opening.players.len()).unwrap_or(u8::MAX)) {
            let account_state = AccountState::new(self.account_next);
            books.account_states.insert(Account::Stake(game, seat), account_state);
            self.account_next += 1;
        }
        let opened = Opening { input: opening.clone(), limit: WinLimit::Room };
        match self.append_operation(opened, opened_at_ms, &mut books)? {
            OpeningOutcome::Opened { .. } => {}
            OpeningOutcome::CannotPay { .. } | OpeningOutcome::OverAllowance { .. } => {
                return Err(LedgerError::Invalid { what: "a player cannot pay for its game" });
            }
        }
        let net = self.append_operation(settling, finished_at_ms, &mut books)?.net;

        self.push_row(
            GAMES,
            &[
                &game,
                &opening.kind,
                &table,
                &opening.room,
                &"settled",
                &opening.ante.hundredths(),
                &bytea_text(&opening.commitment.0.0),
                &times[0],
                &times[1],
            ],
        );
        let held = books.games.by_id(game).map(|game| game.stakes.clone()).unwrap_or_default();
        for (seat, ((player, stake), net)) in
            opening.players.iter().zip(&held).zip(&net).enumerate()
        {
            let [stake, net] = [stake, net].map(|amount| amount.hundredths());
            self.push_row(SEATS, &[&game, player, &seat, &stake, &net, &times[1]]);
        }
        for (account, account_state) in &books.account_states {
            if let Account::Stake(..) = account {
                self.push_account(account, account_state);
            }
        }
        self.apply_books(&books);
        Ok(())
    }

    fn create_account(&mut self, account: &Account) {
        self.account_states.insert(account.clone(), AccountState::new(self.account_next));
        self.made.push(account.clone());
        self.account_next += 1;
    }

    fn select_books(&self, accounts: &[Account]) -> Books {
        let account_state =
            |account: &Account| Some((account.clone(), *self.account_states.get(account)?));
        Books {
            account_states: accounts.iter().filter_map(account_state).collect(),
            house_ids: self.house_ids.clone(),
            ..Books::default()
        }
    }

    /// Stores the new account states.
    fn apply_books(&mut self, books: &Books) {
        for (account, account_state) in &books.account_states {
            if let Some(kept) = self.account_states.get_mut(account) {
                *kept = *account_state;
            }
        }
    }

    /// Decides an operation and appends its row. Its id is in the month of `at_ms` or a later one.
    fn append_operation<O: Operation>(
        &mut self,
        operation: O,
        at_ms: i64,
        books: &mut Books,
    ) -> Result<O::Outcome, LedgerError> {
        let at = parse_time(at_ms)?;
        let id = self.operation_next.saturating_add(1).max(months::first_operation_of(at));
        self.operation_next = id;
        let (first, last) = self.times_ms.unwrap_or((at_ms, at_ms));
        self.times_ms = Some((first.min(at_ms), last.max(at_ms)));

        books.operation = id;
        let outcome = operation.decide(books)?;
        let transfers = mem::take(&mut books.transfers);
        let request = Request::new(operation)?;
        let hash = bytea_text(&request.input_hash);
        let answer = to_json(&outcome)?;
        let game = Nullable(request.game);
        self.push_row(
            OPERATIONS,
            &[
                &id,
                &request.key,
                &request.kind,
                &hash,
                &answer,
                &game,
                &at,
                &ArrayText(&transfers.codes),
                &ArrayText(&transfers.sources),
                &ArrayText(&transfers.destinations),
                &ArrayText(&transfers.amounts),
                &ArrayText(&transfers.accounts),
                &ArrayText(&transfers.versions),
                &ArrayText(&transfers.balances),
            ],
        );
        self.push_row(KEYS, &[&request.key, &id]);
        self.push_row(UNSEALED, &[&id]);
        for account in &transfers.listed {
            self.push_row(ACCOUNT_OPERATIONS, &[account, &id]);
        }
        if let Some(documents) = request.documents() {
            let settlement = to_json(documents.settlement)?;
            self.push_row(RECORDS, &[&game, &settlement, &documents.record.as_str()]);
        }
        Ok(outcome)
    }

    fn push_account(&mut self, account: &Account, account_state: &AccountState) {
        let AccountState { id, balance, version, .. } = account_state;
        let balance = balance.hundredths();
        let player = Nullable(account.player());
        self.push_row(ACCOUNTS, &[id, account, &account.kind(), &player, &balance, version]);
    }

    fn push_row(&mut self, table: &'static str, fields: &[&dyn Display]) {
        self.rows.entry(table).or_default().push_row(fields);
    }

    /// Returns everything collected since the last call. Batches must be written in this order.
    pub fn take_batch(&mut self) -> LedgerBatch {
        for account in mem::take(&mut self.made) {
            if let Some(mut account_state) = self.account_states.get(&account).copied() {
                self.push_account(&account, &account_state);
                account_state.version_read = account_state.version;
                self.account_states.insert(account, account_state);
            }
        }
        let mut changed = Vec::new();
        for account_state in self.account_states.values_mut() {
            if account_state.has_changed() {
                changed.push(account_state.row());
                account_state.version_read = account_state.version;
            }
        }
        LedgerBatch {
            rows: mem::take(&mut self.rows),
            changed,
            account_next: self.account_next,
            operation_next: self.operation_next,
            times_ms: self.times_ms.take(),
        }
    }
}

impl LedgerBatch {
    /// Writes the batch in one transaction, then updates the house accounts and seals the
    /// operations.
    pub async fn write(self, pool: &PgPool) -> Result<(), LedgerError> {
        if let Some((first, last)) = self.times_ms {
            months::create_partitions(pool, parse_time(first)?, parse_time(last)?).await?;
        }
        let mut tx = bahay_db::begin(pool).await?;
        self.write_changed(&mut tx).await?;
        for (table, text) in self.rows {
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
        house_projection::seal_all(pool, &TransferTotals::default()).await?;
        Ok(())
    }

    /// Updates the balances of accounts that existed before this batch.
    async fn write_changed(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let written = sqlx::query!(
            r#"
            update accounts a
            set balance = s.balance, version = s.version
            from unnest($1::changed_account[]) as s
            where a.id = s.id and a.version = s.version_read
            "#,
            &self.changed as _
        )
        .execute(connection)
        .await?;
        if written.rows_affected() != self.changed.len() as u64 {
            return Err(sqlx::Error::Protocol("another process posts to these wallets".into()));
        }
        Ok(())
    }
}

/// A value, or the null of `copy`'s text format.
struct Nullable<T>(Option<T>);

impl<T: Display> Display for Nullable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            // A marker that no field contains: see `push_row`.
            None => f.write_str("\u{0}"),
        }
    }
}

/// An array of numbers, or of words without special characters, in PostgreSQL's text format.
struct ArrayText<'a, T>(&'a [T]);

impl<T: Display> Display for ArrayText<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, value) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            value.fmt(f)?;
        }
        f.write_str("}")
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
    format!("\\x{}", Hexadecimal(bytes))
}

fn to_json(value: &impl Serialize) -> Result<String, LedgerError> {
    serde_json::to_string(value).map_err(|error| LedgerError::broken(error.to_string()))
}

fn parse_time(at_ms: i64) -> Result<Timestamp, LedgerError> {
    let no_time = |_| LedgerError::Invalid { what: "a time is beyond the calendar" };
    Timestamp::from_millisecond(at_ms).map_err(no_time)
}

#[cfg(test)]
mod tests {
    use super::{ArrayText, CopyText, Nullable};

    #[test]
    fn special_characters_of_copy_are_escaped() {
        let mut text = CopyText::default();
        text.push_row(&[&1, &"a\tb\\c\nd", &Nullable(None::<u8>), &"\\xff"]);
        assert_eq!(text.0, "1\ta\\tb\\\\c\\nd\t\\N\t\\\\xff\n");
    }

    #[test]
    fn arrays_are_written_in_braces() {
        assert_eq!(ArrayText(&["ante", "hold"]).to_string(), "{ante,hold}");
        assert_eq!(ArrayText(&[-1, 20]).to_string(), "{-1,20}");
        assert_eq!(ArrayText::<i64>(&[]).to_string(), "{}");
    }
}
