-- The ledger: accounts, operations with their transfers, and the hash chain over all booked operations.
-- docs/LEDGER.md describes it.

-- The chart of accounts. Every coin is in exactly one of these rows, in whole hundredths, and all balances
-- sum to zero: the negative balance of `issue` equals the sum of all others.
--
-- - `wallet:<player>`: the coins that a player can spend
-- - `stake:<game>:<seat>`: the coins that a seat can lose in its game
-- - `pot:<table>`: the POT of a table
-- - `tournament:<tournament>`: the entries of a tournament, its guarantee, and the prizes not yet paid
-- - `fee:<room>`: the fees that the house has earned in a room, or at tournaments
-- - `issue`: the source of all coins, and the only account with a negative balance
-- - `suspense`: corrections that are not explained yet; normally empty
--
-- `version` is the number of the account's entries, and `balance` their sum. `fee` and `issue` are house
-- accounts: every game or grant touches one, so posting does not lock them. Their balances follow when the
-- operations are sealed (see `unsealed_operations`).
--
-- A process takes blocks of 1,024 ids from the sequence for the accounts that it creates. After a crash of
-- PostgreSQL the sequence may issue a block again that was taken in a transaction without a commit; the
-- primary key refuses its ids where they were used.
--
-- `kind` has a domain, like columns of `operations`, because PostgreSQL parses the check constraints of a
-- table in every statement that writes to it, and those of a domain once in each connection: lists of words
-- in check constraints were a tenth of the cost of a settlement that is written alone.
create domain account_kind as text
    check (value in ('wallet', 'stake', 'pot', 'tournament', 'fee', 'issue', 'suspense'));

create table accounts (
    id bigint generated always as identity (increment by 1024) primary key,
    code text not null unique,
    kind account_kind not null,
    player uuid null references players,
    balance bigint not null default 0,
    version bigint not null default 0 check (version >= 0),
    -- True for the account of a tournament that is over, which never holds coins again.
    is_closed boolean not null default false,
    constraint accounts_kind_is_in_code check (split_part(code, ':', 1) = kind),
    constraint accounts_wallet_has_player check ((kind = 'wallet') = (player is not null)),
    constraint accounts_not_overdrawn check (balance >= 0 or kind = 'issue'),
    constraint accounts_closed_are_empty check (balance = 0 or not is_closed)
) with (fillfactor = 80);

-- The house accounts are few among millions of stake accounts.
create index accounts_of_house on accounts (kind) where kind in ('fee', 'issue');

insert into accounts (code, kind) values ('issue', 'issue'), ('suspense', 'suspense');

grant select, insert, update (balance, version, is_closed) on accounts to bahay_service;
grant usage on sequence accounts_id_seq to bahay_service;

-- Operations, each performed once. The idempotency key is derived from the content of the operation
-- (`open:<game>`, `settle:<game>`, `void:<game>`, `welcome:<player>`, ...), so a repeated request finds it:
-- with the same input it returns the stored answer, with another input it is an error.
--
-- Operations are partitioned by month, by their id: see 0014_months.sql. An id consists of the month (UTC),
-- such as 2611 for November 2026, and a number of twelve digits, so the id alone determines the month, and no
-- column had to be added. An id fits a JavaScript number for as long as the year has two digits.
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

create domain operation_kind as text
    check (value in (
        'open', 'settle', 'void', 'grant', 'adjust', 'reverse', 'pot_refund', 'sweep',
        'tournament'
    ));

-- The arrays have one dimension and indices from 1, as the views and the seals read them.
create domain transfer_codes as text[]
    check (
        value <@ array[
            'ante', 'hold', 'payment', 'fee', 'release', 'pot', 'refund', 'welcome', 'daily',
            'relief', 'adjustment', 'reversal', 'pot_refund', 'house_bot', 'sweep',
            'tournament_entry', 'tournament_return', 'tournament_fee', 'tournament_fee_return',
            'guarantee', 'guarantee_return', 'prize', 'tournament_refund'
        ]
        and (cardinality(value) = 0 or (array_ndims(value) = 1 and array_lower(value, 1) = 1))
    );

create domain positive_bigints as bigint[]
    check (
        (0 < all (value)) is true
        and (cardinality(value) = 0 or (array_ndims(value) = 1 and array_lower(value, 1) = 1))
    );

create domain natural_bigints as bigint[]
    check (
        (0 <= all (value)) is true
        and (cardinality(value) = 0 or (array_ndims(value) = 1 and array_lower(value, 1) = 1))
    );

-- An operation is one row with all its transfers: a row for each transfer and two for its entries cost more.
-- The views `transfers` and `entries` show them as rows.
create table operations (
    id bigint primary key,
    key text not null,
    kind operation_kind not null,
    -- SHA-256 of the input in its canonical form.
    input_hash bytea not null check (octet_length(input_hash) = 32),
    answer jsonb not null,
    game uuid null,
    -- The time by the database's clock, which all nodes share.
    created_at timestamptz not null default now(),
    -- The transfers, one element of each array for each: amounts that went from one account to another. They
    -- are written once; another operation corrects a mistake. There are no foreign keys: they double the cost
    -- of a settlement. The service takes the ids of accounts from rows that the same call creates or whose
    -- versions it compares, and those of house accounts from its cache; no account is ever deleted. The audit
    -- checks what foreign keys would check.
    codes transfer_codes not null default '{}',
    sources positive_bigints not null default '{}',
    destinations positive_bigints not null default '{}',
    amounts positive_bigints not null default '{}',
    -- The accounts that were locked for the transfers, each once, with the version and the balance that they
    -- had before. House accounts are not among them.
    accounts positive_bigints not null default '{}',
    versions natural_bigints not null default '{}',
    balances natural_bigints not null default '{}',
    constraint operations_transfers_are_whole
        check (cardinality(codes) = all (array[
            cardinality(sources), cardinality(destinations), cardinality(amounts)
        ])),
    constraint operations_states_are_whole
        check (cardinality(accounts) = all (array[cardinality(versions), cardinality(balances)]))
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

-- The transfers of each operation, numbered from 1. A filter on `operation` is answered by the primary key of
-- `operations`.
create view transfers with (security_invoker) as
select o.id as operation, t.number::smallint as number, t.code, t.source, t.destination, t.amount
from operations o
cross join lateral unnest(o.codes, o.sources, o.destinations, o.amounts)
    with ordinality as t (code, source, destination, amount, number);

-- The two sides of each transfer: one entry on its source, negative, and one on its destination. An account's
-- entries are numbered from 1 without gaps by `version`, and each continues the balance of the one before.
-- Those of a house account have neither version nor balances, since it is not locked when they are booked.
--
-- Nothing indexes the accounts in an operation: a query for an account joins `account_operations`.
create view entries with (security_invoker) as
select o.id as operation, e.number::smallint as number, e.account, e.amount, e.version,
    e.balance_after - e.amount as balance_before, e.balance_after
from operations o
cross join lateral (
    select s.account, s.number, s.amount,
        a.version + count(*) over account as version,
        (a.balance + sum(s.amount) over account)::bigint as balance_after
    from (
        select t.source as account, t.number, -t.amount as amount
        from unnest(o.sources, o.amounts) with ordinality as t (source, amount, number)
        union all
        select t.destination, t.number, t.amount
        from unnest(o.destinations, o.amounts) with ordinality as t (destination, amount, number)
    ) s
    left join unnest(o.accounts, o.versions, o.balances) as a (account, version, balance)
        on a.account = s.account
    window account as (partition by s.account order by s.number)
) e;

-- The operations of each account, except those of stake accounts, which are found by their game
-- (`operation_keys`). The ids of accounts come from the service like those in `operations`, so there are no
-- foreign keys here either. Versions are not unique by a constraint: the call that writes an operation locks
-- the rows of its accounts and continues their versions. The audit detects violations.
create table account_operations (
    account bigint not null,
    operation bigint not null,
    primary key (account, operation)
) partition by range (operation);

grant select, insert on account_operations to bahay_service;
grant select on transfers, entries to bahay_service;

-- Operations that wait for their seal, including those that move nothing. Posting inserts a row here and
-- does not lock `fee` or `issue`; the house projection periodically deletes rows in order and, in the same
-- transaction, adds their transfers to the balances of house accounts and seals the operations.
create table unsealed_operations (
    operation bigint primary key
);

grant select, insert, delete on unsealed_operations to bahay_service;

-- The hash chain over all booked operations. Operations are deleted from `unsealed_operations` and, in the
-- same transaction, sealed: one row here with a digest of each operation and its transfers, and a hash over
-- these and the hash before. A byte changed later does not match its digest, a digest that is changed as well
-- does not match its hash, and a copy of a number and its hash reveals a rewritten chain. docs/LEDGER.md
-- specifies the hashed texts; code and documentation compute them independently.
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
