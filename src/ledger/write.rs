//! Writing what was decided: operations, transfers, entries, balances, games and records, in one
//! statement, so in one round trip, and as a transaction of its own where there is no other.
//!
//! Until then an operation is known by its place in the batch, and an account that is to be made
//! by a number below zero. The statement takes one id of each sequence, which leave room between
//! their numbers, and adds. Taking an id while reading would make a transaction of the reading,
//! which would wait for the disk.
//!
//! The statement is carried out in this order: it locks the games that end, makes accounts, locks
//! all accounts that were read and compares their versions with those that were read, and only
//! then writes, operations first, in the order of keys. These are the phases of `post`, so whoever
//! has read under locks finds what it holds, and whoever has not finds out whether its decisions
//! still stand. PostgreSQL runs parts of a statement in an order of its own; here each part waits
//! for a count of the part before.
//!
//! At the end the statement counts what it wrote. When a version or a count is not what was meant,
//! it divides by zero, because only an error takes back what a statement has done.

use serde_json::Value;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::books::Books;
use super::operation::Request;
use crate::games::store::Games;

/// The most operations in one statement: the room that the sequence of ids leaves.
pub(super) const OPERATIONS_MAX: usize = 64;

/// An operation that was decided in this batch.
pub(super) struct Decided<'a> {
    /// Its place in the batch, below [`OPERATIONS_MAX`].
    pub(super) place: i64,
    pub(super) request: &'a Request,
    pub(super) answer: Value,
}

/// Whether the statement refused because the books are not as they were read.
pub(super) fn is_overtaken(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    // Division by zero; nothing else in it divides.
    code.as_deref() == Some("22012")
}

/// Writes what is decided, all or nothing. `decided` is in the order of keys.
pub(super) async fn write(
    connection: &mut PgConnection,
    decided: &[Decided<'_>],
    books: &Books,
    games: &Games,
) -> Result<(), sqlx::Error> {
    if decided.iter().any(|one| usize::try_from(one.place).is_ok_and(|at| at >= OPERATIONS_MAX)) {
        return Err(sqlx::Error::Protocol("a batch has more operations than ids".into()));
    }
    let operations = OperationColumns::of(decided)?;
    let (transfers, entries) = (books.transfers(), books.entries());
    let accounts = AccountColumns::of(books);
    let finished = games.finished_columns()?;
    let opened = games.opened_columns()?;
    let opened_seat_numbers: &[i16] = &opened.seat_numbers;
    sqlx::query!(
        r#"
        with locked_games as materialized (
            select g.id, g.state
            from games g
            where g.id = any($1)
            order by g.id
            for no key update
        ),
        account_ids as materialized (
            select case when cardinality($2::bigint[]) > 0
                then nextval('accounts_id_seq') else 0 end as first
        ),
        made as (
            insert into accounts (id, code, kind, player, balance, version)
            overriding system value
            select (select i.first from account_ids i) + n.place, n.code, n.kind, n.player, n.balance, n.version
            from unnest($2::bigint[], $3::text[], $4::text[], $5::uuid[], $6::bigint[], $7::bigint[])
                as n (place, code, kind, player, balance, version)
            where (
                    select count(*) from locked_games g where g.state = 'open'
                ) = cardinality($1::uuid[])
            order by n.code
            returning id
        ),
        locked as materialized (
            select a.id, a.version
            from accounts a
            where a.id = any($8) and (select count(*) from made) = cardinality($2::bigint[])
            order by a.id
            for no key update
        ),
        held as materialized (
            select 1 / (
                case when (
                        select count(*) from locked_games g where g.state = 'open'
                    ) = cardinality($1::uuid[])
                    and (
                        select count(*)
                        from locked l
                        join unnest($8::bigint[], $9::bigint[]) as r (id, version)
                            on r.id = l.id and r.version = l.version
                    ) = cardinality($8::bigint[])
                then 1 else 0 end
            ) as one
        ),
        operation_ids as materialized (
            select nextval('operation_ids') as first from held h where h.one = 1
        ),
        new_operations as (
            insert into operations (id, key, kind, input_hash, answer, game)
            select (select i.first from operation_ids i) + o.place, o.key, o.kind, o.input_hash,
                o.answer, o.game
            from unnest(
                $10::bigint[], $11::text[], $12::text[], $13::bytea[], $14::jsonb[], $15::uuid[]
            ) as o (place, key, kind, input_hash, answer, game)
            returning id
        ),
        numbered as materialized (
            select count(*) = cardinality($10::bigint[]) as all from new_operations
        ),
        new_transfers as (
            insert into transfers (operation, number, code, source, destination, amount)
            select (select i.first from operation_ids i) + t.place, t.number, t.code,
                case when t.source < 0
                    then (select i.first from account_ids i) - t.source - 1
                    else t.source end,
                case when t.destination < 0
                    then (select i.first from account_ids i) - t.destination - 1
                    else t.destination end,
                t.amount
            from unnest(
                $16::bigint[], $17::smallint[], $18::text[], $19::bigint[], $20::bigint[],
                $21::bigint[]
            ) as t (place, number, code, source, destination, amount)
            where (select n.all from numbered n)
        ),
        new_entries as (
            insert into entries (
                account, version, operation, number, amount, balance_before, balance_after
            )
            select case when e.account < 0
                    then (select i.first from account_ids i) - e.account - 1
                    else e.account end,
                e.version, (select i.first from operation_ids i) + e.place, e.number, e.amount,
                e.balance_before, e.balance_after
            from unnest(
                $22::bigint[], $23::bigint[], $24::bigint[], $25::smallint[], $26::bigint[],
                $27::bigint[], $28::bigint[]
            ) as e (account, version, place, number, amount, balance_before, balance_after)
            where (select n.all from numbered n)
        ),
        to_fold as (
            insert into unfolded (operation)
            select (select i.first from operation_ids i) + u.place
            from unnest($10::bigint[]) as u (place)
            where (select n.all from numbered n)
        ),
        new_balances as (
            update accounts a
            set balance = s.balance, version = s.version
            from unnest($29::bigint[], $30::bigint[], $31::bigint[], $32::bigint[])
                as s (id, balance, version, version_read)
            where a.id = s.id and a.version = s.version_read and (select n.all from numbered n)
            returning a.id
        ),
        finished as (
            update games g
            set state = f.state,
                finished_at = coalesce(f.finished_at, date_trunc('milliseconds', now())),
                void_reason = f.void_reason
            from unnest($1::uuid[], $33::text[], $34::timestamptz[], $35::text[])
                as f (id, state, finished_at, void_reason)
            where g.id = f.id and (select n.all from numbered n)
            returning g.id, g.finished_at, g.state, g.ante
        ),
        finished_seats as (
            update game_players p
            set net = s.net, finished_at = f.finished_at
            from unnest($36::uuid[], $37::uuid[], $38::bigint[]) as s (game, player, net)
            join finished f on f.id = s.game
            where p.game = s.game and p.player = s.player
            returning p.game
        ),
        documents as (
            insert into game_records (game, settlement, record)
            select d.game, d.settlement, d.record::json
            from unnest($39::uuid[], $40::jsonb[], $41::text[]) as d (game, settlement, record)
            where (select n.all from numbered n)
        ),
        -- Whoever played a game that was voided is told, once: by the same statement.
        told as (
            insert into notices (player, kind, game, amount)
            select p.player, 'game_voided', f.id, f.ante + p.stake
            from finished f
            join game_players p on p.game = f.id
            where f.state = 'voided'
        ),
        opened as (
            insert into games (id, table_id, room, ante, opened_at)
            select g.id, g.table_id, g.room, g.ante, g.opened_at
            from unnest($42::uuid[], $43::uuid[], $44::text[], $45::bigint[], $46::timestamptz[])
                as g (id, table_id, room, ante, opened_at)
            -- Ends come first, since a table may end one game and begin another.
            where (select count(*) from finished) = cardinality($1::uuid[])
            returning id
        ),
        opened_seats as (
            insert into game_players (game, player, seat, stake)
            select s.game, s.player, s.seat, s.stake
            from unnest($47::uuid[], $48::uuid[], $49::smallint[], $50::bigint[])
                as s (game, player, seat, stake)
            where (select count(*) from opened) = cardinality($42::uuid[])
            returning game
        )
        select 1 / (
            case when (select n.all from numbered n)
                and (select count(*) from new_balances) = cardinality($29::bigint[])
                and (select count(*) from finished_seats) = cardinality($36::uuid[])
                and (select count(*) from opened_seats) = cardinality($47::uuid[])
            then 1 else 0 end
        ) as "one!"
        "#,
        &finished.games,
        &accounts.made_places,
        &accounts.made_codes,
        &accounts.made_kinds as _,
        &accounts.made_players as _,
        &accounts.made_balances,
        &accounts.made_versions,
        &accounts.read_ids,
        &accounts.read_versions,
        &operations.places,
        &operations.keys as _,
        &operations.kinds as _,
        &operations.input_hashes as _,
        &operations.answers as _,
        &operations.games as _,
        &column(transfers, |row| row.operation),
        &column(transfers, |row| row.number),
        &column(transfers, |row| row.code.as_str()) as _,
        &column(transfers, |row| row.source),
        &column(transfers, |row| row.destination),
        &column(transfers, |row| row.amount.hundredths()),
        &column(&entries, |row| row.account),
        &column(&entries, |row| row.version),
        &column(&entries, |row| row.operation),
        &column(&entries, |row| row.number),
        &column(&entries, |row| row.amount.hundredths()),
        &column(&entries, |row| row.balance_before.hundredths()),
        &column(&entries, |row| row.balance_after.hundredths()),
        &accounts.changed_ids,
        &accounts.changed_balances,
        &accounts.changed_versions,
        &accounts.changed_versions_read,
        &finished.states as _,
        &finished.times as _,
        &finished.reasons as _,
        &finished.seat_games,
        &finished.seat_players,
        &finished.seat_nets,
        &operations.settled,
        &operations.settlements as _,
        &operations.records,
        &opened.games,
        &opened.tables,
        &opened.rooms,
        &opened.antes,
        &opened.times as _,
        &opened.seat_games,
        &opened.seat_players,
        opened_seat_numbers,
        &opened.seat_stakes
    )
    .fetch_one(connection)
    .await?;
    Ok(())
}

#[derive(Default)]
struct OperationColumns<'a> {
    places: Vec<i64>,
    keys: Vec<&'a str>,
    kinds: Vec<&'static str>,
    input_hashes: Vec<&'a [u8]>,
    answers: Vec<Json<&'a Value>>,
    games: Vec<Option<Uuid>>,
    settled: Vec<Uuid>,
    settlements: Vec<Json<&'a bahay_engine::table::Settlement>>,
    records: Vec<String>,
}

impl<'a> OperationColumns<'a> {
    fn of(decided: &'a [Decided<'a>]) -> Result<Self, sqlx::Error> {
        let mut columns = Self::default();
        for Decided { place, request, answer } in decided {
            let operation = &request.operation;
            columns.places.push(*place);
            columns.keys.push(&request.key);
            columns.kinds.push(operation.kind());
            columns.input_hashes.push(&request.input_hash);
            columns.answers.push(Json(answer));
            columns.games.push(operation.game().map(|game| game.0));
            if let Some(input) = operation.documents() {
                columns.settled.push(input.game.0);
                columns.settlements.push(Json(&input.settlement));
                let record = serde_json::to_string(&input.record);
                columns.records.push(record.map_err(|error| sqlx::Error::Encode(error.into()))?);
            }
        }
        Ok(columns)
    }
}

/// Accounts by what happens to them.
#[derive(Default)]
struct AccountColumns {
    /// All that there were when they were read, changed or not.
    read_ids: Vec<i64>,
    read_versions: Vec<i64>,
    changed_ids: Vec<i64>,
    changed_balances: Vec<i64>,
    changed_versions: Vec<i64>,
    changed_versions_read: Vec<i64>,
    made_places: Vec<i64>,
    made_codes: Vec<String>,
    made_kinds: Vec<&'static str>,
    made_players: Vec<Option<Uuid>>,
    made_balances: Vec<i64>,
    made_versions: Vec<i64>,
}

impl AccountColumns {
    fn of(books: &Books) -> Self {
        let mut columns = Self::default();
        for (account, standing) in books.standings() {
            let (id, balance, version) =
                (standing.id, standing.balance.hundredths(), standing.version);
            if standing.exists() {
                columns.read_ids.push(id);
                columns.read_versions.push(standing.version_read);
                if standing.has_changed() {
                    columns.changed_ids.push(id);
                    columns.changed_balances.push(balance);
                    columns.changed_versions.push(version);
                    columns.changed_versions_read.push(standing.version_read);
                }
            } else if standing.has_changed() {
                columns.made_places.push(-id - 1);
                columns.made_codes.push(account.to_string());
                columns.made_kinds.push(account.kind());
                columns.made_players.push(account.player().map(|player| player.0));
                columns.made_balances.push(balance);
                columns.made_versions.push(version);
            }
        }
        columns
    }
}

fn column<R, T>(rows: &[R], field: impl Fn(&R) -> T) -> Vec<T> {
    rows.iter().map(field).collect()
}
