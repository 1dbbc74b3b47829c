-- The ledger: accounts, operations, transfers and entries, and the hash chain over all booked operations.
-- docs/LEDGER.md describes it.

-- The chart of accounts. Every coin is in exactly one of these rows, in whole hundredths, and all balances
-- sum to zero: the negative balance of `issue` equals the sum of all others.
--
-- - `wallet:<player>`: the coins that a player can spend
-- - `stake:<game>:<seat>`: the coins that a seat can lose in its game
-- - `pot:<table>`: the POT of a table
-- - `fee:<room>`: the fees that the house has earned in a room
-- - `issue`: the source of all coins, and the only account with a negative balance
-- - `suspense`: corrections that are not explained yet; normally empty
--
-- `balance` and `version` are those of the account's newest entry. `fee` and `issue` are house accounts:
-- every game or grant touches one, so posting does not lock them. Their entries follow in the order of the
-- operations (see `pending_house_entries`), and until then their balances lag.
--
-- A batch of accounts takes one id, and adds a number below 1,024 for each.
create table accounts (
    id bigint generated always as identity (increment by 1024) primary key,
    code text not null unique,
    kind text not null
        check (kind in ('wallet', 'stake', 'pot', 'fee', 'issue', 'suspense')),
    player uuid null references players,
    balance bigint not null default 0,
    version bigint not null default 0 check (version >= 0),
    constraint accounts_kind_is_in_code check (split_part(code, ':', 1) = kind),
    constraint accounts_wallet_has_player check ((kind = 'wallet') = (player is not null)),
    constraint accounts_not_overdrawn check (balance >= 0 or kind = 'issue')
) with (fillfactor = 80);

-- The house accounts are few among millions of stake accounts.
create index accounts_of_house on accounts (kind) where kind in ('fee', 'issue');

insert into accounts (code, kind) values ('issue', 'issue'), ('suspense', 'suspense');

grant select, insert, update (balance, version) on accounts to bahay_service;
grant usage on sequence accounts_id_seq to bahay_service;

-- Operations, each performed once. The idempotency key is derived from the content of the operation
-- (`open:<game>`, `settle:<game>`, `void:<game>`, `welcome:<player>`, ...), so a repeated request finds it:
-- with the same input it returns the stored answer, with another input it is an error.
--
-- Operations, transfers and entries are partitioned by month, by the id of the operation: see
-- 0014_months.sql. An id consists of the month (UTC), such as 2611 for November 2026, and a number of twelve
-- digits, so the id alone determines the month, and no column had to be added. An id fits a JavaScript number
-- for as long as the year has two digits.
--
-- An id is taken while the operation's accounts are locked, so ids ascend along each account. A batch takes
-- one id, and adds a number below 64 for each operation. Gaps between ids have no meaning.
create sequence operation_ids as bigint increment by 64;

-- Returns the least id of the month (UTC) of a time. An operation of that time or later has no lower id. A
-- query for a time adds this bound, so that the partitions of earlier months are skipped.
create function first_operation_of(at timestamptz) returns bigint
language sql immutable strict parallel safe
return (
    (extract(year from at at time zone 'UTC')::bigint - 2000) * 100
    + extract(month from at at time zone 'UTC')::bigint
) * 1000000000000;

-- Returns the next id, for a caller that finds the sequence not yet in the month of its transaction. The
-- sequence only moves ahead: under a clock that was set back, ids stay in their month. Calls are serialized,
-- or two could set it to the same number.
create function begin_month_of_operations() returns bigint
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
    least bigint := first_operation_of(now());
begin
    perform pg_advisory_xact_lock(x'62616861796d6f6e'::bigint);
    if (select s.last_value from operation_ids s) < least then
        perform setval('operation_ids', least);
    end if;
    return nextval('operation_ids');
end
$$;

create table operations (
    id bigint primary key,
    key text not null,
    kind text not null
        check (kind in ('open', 'settle', 'void', 'grant', 'adjust', 'reverse', 'pot_refund', 'sweep')),
    -- SHA-256 of the input in its canonical form.
    input_hash bytea not null check (octet_length(input_hash) = 32),
    answer jsonb not null,
    game uuid null,
    -- The time by the database's clock, which all nodes share.
    created_at timestamptz not null default now()
) partition by range (id);

alter sequence operation_ids owned by operations.id;

-- The operations of a part of an hour are read from the ledger itself. Operations arrive nearly in the order
-- of time, so a few bytes for many pages locate a time; a B-tree would slow down every posting.
create index operations_by_time on operations using brin (created_at) with (pages_per_range = 16);

-- The uniqueness of keys across all months: a partitioned table can only guarantee it for each month.
-- Operations are found by key here. The audit compares both tables.
create table operation_keys (
    key text primary key,
    operation bigint not null
);

grant select, insert on operations, operation_keys to bahay_service;
grant usage on sequence operation_ids to bahay_service;
revoke execute on function begin_month_of_operations from public;
grant execute on function begin_month_of_operations to bahay_service;

-- Coins that went from one account to another. Rows are written once; another transfer corrects a mistake.
-- `number` counts the transfers of one operation from 1.
--
-- There are no foreign keys here or in `entries`: they double the cost of a settlement, and the only
-- statement that writes these rows takes their accounts and operations from rows that it locked or wrote
-- itself. The audit checks what foreign keys would check.
create table transfers (
    operation bigint not null,
    number smallint not null check (number > 0),
    code text not null
        check (code in (
            'ante', 'hold', 'payment', 'fee', 'release', 'pot', 'refund',
            'welcome', 'daily', 'relief', 'adjustment', 'reversal', 'pot_refund', 'house_bot', 'sweep'
        )),
    source bigint not null,
    destination bigint not null,
    amount bigint not null,
    primary key (operation, number),
    constraint transfers_move_something check (amount > 0),
    constraint transfers_go_elsewhere check (source <> destination)
) partition by range (operation);

-- The two sides of each transfer: one entry on its source, negative, and one on its destination. An account's
-- entries are numbered from 1 without gaps, and each continues the balance of the one before.
--
-- Account and version are unique in each month, as the primary key of its partition (0014_months.sql). The
-- whole table cannot have that key, since it is partitioned by the operation. The row of the account
-- guarantees uniqueness across months: a writer of an entry has locked it, and the version continues from
-- there. The audit detects violations.
create table entries (
    account bigint not null,
    version bigint not null check (version > 0),
    operation bigint not null,
    number smallint not null,
    amount bigint not null check (amount <> 0),
    balance_before bigint not null,
    balance_after bigint not null,
    constraint entries_add_up check (balance_after = balance_before + amount)
) partition by range (operation);

grant select, insert on transfers, entries to bahay_service;

-- Operations whose house sides have no entries yet, including those that move nothing. Posting inserts a row
-- here and does not lock `fee` or `issue`; the house projection periodically deletes rows in order and, in
-- the same transaction, writes the house entries with balance and version and seals the operations.
create table pending_house_entries (
    operation bigint primary key
);

grant select, insert, delete on pending_house_entries to bahay_service;

-- The hash chain over all booked operations. The house projection deletes operations from
-- `pending_house_entries` and, in the same transaction, seals them: one row here with a digest of each
-- operation and its transfers, and a hash over these and the hash before. A byte changed later does not match
-- its digest, a digest that is changed as well does not match its hash, and a copy of a number and its hash
-- reveals a rewritten chain. docs/LEDGER.md specifies the hashed texts; code and documentation compute them
-- independently.
create table seals (
    -- From 1 without gaps.
    number bigint primary key check (number > 0),
    operations bigint[] not null check (cardinality(operations) > 0),
    -- 32 bytes for each operation, in the order of `operations`.
    digests bytea not null,
    hash bytea not null check (octet_length(hash) = 32),
    sealed_at timestamptz not null default now(),
    constraint seals_digest_each_operation
        check (octet_length(digests) = 32 * cardinality(operations))
);

grant select, insert on seals to bahay_service;

-- The scheduled checks of the ledger, one per time slot for all nodes: the node that inserts the slot's row
-- runs it. A row without an end is an interrupted check.
create table ledger_checks (
    -- The beginning of the slot.
    slot timestamptz primary key,
    -- The extent: every game is replayed, or only those since the check before.
    extent text not null check (extent in ('everything', 'recent')),
    started_at timestamptz not null default now(),
    finished_at timestamptz null,
    -- The counts of the check.
    counted jsonb null,
    -- One line per difference; normally empty.
    differences text[] null,
    constraint ledger_checks_end_with_a_result check (
        (finished_at is null) = (counted is null)
        and (finished_at is null) = (differences is null)
    )
);

grant select, insert, update (finished_at, counted, differences) on ledger_checks to bahay_service;
