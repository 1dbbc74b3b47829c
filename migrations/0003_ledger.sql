-- The ledger: where coins are, how each of them came there, and the chain of hashes over all that
-- was booked. docs/LEDGER.md tells the whole of it.

-- The chart of accounts. Every coin is in exactly one of these rows, in whole hundredths, and all
-- balances together are zero: what `issue` is below zero is what everybody else holds.
--
--   wallet:<player>       what a player can spend
--   stake:<game>:<seat>   what a seat can lose in the game that it is playing
--   pot:<table>           the POT of a table
--   fee:<room>            what the house has earned in a room
--   issue                 where coins come from; the only account below zero
--   suspense              where a correction waits to be explained; nothing, in good times
--
-- `balance` and `version` are those of the account's newest entry. `fee` and `issue` are house
-- accounts: every game or grant touches one, so nothing locks them while posting. Their entries
-- follow in the order of the operations (see `pending_house_entries`), and until then their balance is late.
--
-- One id is taken for a whole batch of accounts, and a number below 1,024 added to it for each.
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

-- The house accounts are few among millions of stakes.
create index accounts_of_house on accounts (kind) where kind in ('fee', 'issue');

insert into accounts (code, kind) values ('issue', 'issue'), ('suspense', 'suspense');

grant select, insert, update (balance, version) on accounts to bahay_service;
grant usage on sequence accounts_id_seq to bahay_service;

-- What was asked of the ledger, once each. The key is derived from what the operation does
-- (`open:<game>`, `settle:<game>`, `void:<game>`, `welcome:<player>`, ...), so asking again finds
-- it: with the same input the stored answer is the answer, with another input it is an error.
--
-- Operations, transfers and entries have a part for each month, by the id of the operation: see
-- 0014_months.sql. An id is the month (UTC), as 2611 for November 2026, and a number of twelve
-- digits, so that whoever has an id knows its month, and no column had to be added for it. An id
-- fits a number of JavaScript for as long as the year has two digits.
--
-- An id is taken while the operation's accounts are locked, so ids ascend along each account. One
-- is taken for a whole batch, and a number below 64 added to it for each operation. Gaps between
-- ids mean nothing.
create sequence operation_ids as bigint increment by 64;

-- The least id of the month (UTC) in which a time is. An operation of that time or later has no
-- lower one: whoever asks for a time says so, and months before it are not looked at.
create function first_operation_of(at timestamptz) returns bigint
language sql immutable strict parallel safe
return (
    (extract(year from at at time zone 'UTC')::bigint - 2000) * 100
    + extract(month from at at time zone 'UTC')::bigint
) * 1000000000000;

-- The next id, for whoever finds that the sequence is not yet in the month of its transaction. It
-- only ever goes ahead: under a clock that was set back ids stay in the month in which they are.
-- One after the other, or two could set it to the same number.
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
    -- SHA-256 of the input in a canonical form.
    input_hash bytea not null check (octet_length(input_hash) = 32),
    answer jsonb not null,
    game uuid null,
    -- The database's clock, the one clock that all nodes share.
    created_at timestamptz not null default now()
) partition by range (id);

alter sequence operation_ids owned by operations.id;

-- What was booked within a part of an hour is read from the ledger itself. Operations come in the
-- order of time, nearly, so a few bytes for many pages tell where a time is; a tree would cost
-- every posting.
create index operations_by_time on operations using brin (created_at) with (pages_per_range = 16);

-- That a key is used once, in whatever month: a table of months could only say so of each month.
-- Whoever looks for an operation by its key asks here. The audit holds the two against each other.
create table operation_keys (
    key text primary key,
    operation bigint not null
);

grant select, insert on operations, operation_keys to bahay_service;
grant usage on sequence operation_ids to bahay_service;
revoke execute on function begin_month_of_operations from public;
grant execute on function begin_month_of_operations to bahay_service;

-- Coins that went from one account to another. Rows are written once; a mistake is mended by
-- another transfer. `number` counts the transfers of one operation from 1.
--
-- There are no foreign keys here or in `entries`: they double the cost of a settlement, and the
-- one statement that writes these rows takes their accounts and operations from rows that it
-- locked or wrote itself. The audit looks for what a foreign key would refuse.
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

-- The two sides of each transfer: one entry on its source, below zero, and one on its
-- destination. An account's entries are numbered from 1 without a gap, and each starts from the
-- balance that the one before left.
--
-- Of a month each account and version is there once: each part has that as its primary key
-- (0014_months.sql), and the whole cannot, since a month is of the operation. What keeps two months
-- from having the same is the account's row: who writes an entry has locked it, and the version
-- goes on from there. The audit looks for what was written otherwise.
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

-- Operations whose house sides have no entries yet, also those that move nothing. Posting adds a
-- row here instead of locking `fee` or `issue`; a periodic step takes rows out in order and, in the
-- same transaction, writes the house's entries with balance and version and seals the operations.
create table pending_house_entries (
    operation bigint primary key
);

grant select, insert, delete on pending_house_entries to bahay_service;

-- The hash chain over what was booked. The step that writes the house's entries takes operations
-- out of `pending_house_entries` and, in the same transaction, seals them: one row here with a digest of each
-- operation and its transfers, and a hash over these and the hash before. A byte that is changed
-- later no longer fits its digest, a digest that is changed as well no longer fits its hash, and
-- whoever has once noted a number and its hash can tell a chain that was written anew. The texts
-- that are hashed are told in docs/LEDGER.md; code and documentation compute them independently.
create table seals (
    -- From 1, without a gap.
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

-- Checks of the ledger that ran while serving, one in each slot of time whatever the number of
-- nodes: the first to add the slot's row runs it. A row without an end is a check that broke off.
create table ledger_checks (
    -- When the slot began.
    slot timestamptz primary key,
    -- Whether all games were read again, or only those since the check before.
    extent text not null check (extent in ('everything', 'recent')),
    started_at timestamptz not null default now(),
    finished_at timestamptz null,
    -- What was counted, in words of the check's own.
    counted jsonb null,
    -- One line for each thing that does not add up; none in good times.
    differences text[] null,
    constraint ledger_checks_end_with_a_result check (
        (finished_at is null) = (counted is null)
        and (finished_at is null) = (differences is null)
    )
);

grant select, insert, update (finished_at, counted, differences) on ledger_checks to bahay_service;
