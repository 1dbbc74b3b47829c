-- Monthly partitions: tables that grow with every game have a partition for each month (UTC), so that the
-- tables in use are small, old months are vacuumed once and never touched again, and an operator can keep
-- them on cheaper disks.
--
-- - `operations`, `transfers` and `entries` are partitioned by the id of the operation, which contains its
--   month
-- - `player_settlements` is partitioned by the end of the game
--
-- A row without a partition of its month goes to the default partition `…_unforeseen`, so it is never
-- rejected. The service creates the partitions of coming months (`months`), though it owns none of these
-- tables, through the function here. Each partition has the constraints of the whole table, and those that
-- the whole cannot have.

create table operations_unforeseen partition of operations default;
create table transfers_unforeseen partition of transfers default;
create table entries_unforeseen partition of entries (primary key (account, version)) default;
create table player_settlements_unforeseen partition of player_settlements default;

-- The service reports the number of rows in default partitions as a metric.
grant select on operations_unforeseen, transfers_unforeseen, entries_unforeseen,
    player_settlements_unforeseen to bahay_service;

-- Months whose entries have been deleted (0015_closed_months.sql).
create table closed_months (
    -- The first day of the month.
    month date primary key,
    -- The least id of the month after it.
    closed_before bigint not null unique,
    operations bigint not null,
    -- The number of its transfers: half of its entries.
    transfers bigint not null,
    -- The sum of their amounts.
    moved numeric not null,
    -- The newest seal of that time, which must remain in the chain.
    seal bigint not null,
    seal_hash bytea not null check (octet_length(seal_hash) = 32),
    closed_at timestamptz not null default date_trunc('milliseconds', now())
);

grant select on closed_months to bahay_service;

-- Creates the partition of a table for the month (UTC) of a time, if there is none; returns whether it did.
-- Rows of that month move from the default partition into it. `entries` gets no partition again for a closed
-- month, nor for an earlier one: it would be the oldest, and prevent all later ones from being closed.
--
-- The creation locks the default partition exclusively for a moment. If it would have to wait for that lock
-- it fails, and the service retries later.
create function make_month(of_table text, at timestamptz) returns boolean
language plpgsql
security definer
set search_path = public, pg_temp
set lock_timeout = '500ms'
as $$
declare
    month timestamptz := date_trunc('month', at, 'UTC');
    after timestamptz := (month at time zone 'UTC' + interval '1 month') at time zone 'UTC';
    part text := of_table || to_char(at at time zone 'UTC', '_YYYY_MM');
    unforeseen text := of_table || '_unforeseen';
    by_column text;
    low text;
    high text;
begin
    case of_table
        when 'operations' then by_column := 'id';
        when 'transfers', 'entries' then by_column := 'operation';
        when 'player_settlements' then by_column := 'finished_at';
        else raise exception 'no table of months' using errcode = 'BH004';
    end case;
    -- No clock is wrong by that much, and the number of tables must stay bounded.
    if month < '2020-01-01 00:00:00Z' or month > now() + interval '3 years' then
        raise exception 'a month out of bounds' using errcode = 'BH004';
    end if;
    if by_column = 'finished_at' then
        low := quote_literal(month);
        high := quote_literal(after);
    else
        low := first_operation_of(month);
        high := first_operation_of(after);
    end if;

    perform pg_advisory_xact_lock(x'62616861796d6f6d'::bigint);
    if to_regclass(part) is not null then
        return false;
    end if;
    if of_table = 'entries' and exists (
        select from closed_months c where c.closed_before >= first_operation_of(after)
    ) then
        raise exception 'the month is closed' using errcode = 'BH006';
    end if;
    execute format(
        'create table %I (
            like %I including defaults including constraints including storage
                including compression
        )',
        part, of_table
    );
    if of_table = 'entries' then
        execute format('alter table %I add primary key (account, version)', part);
    end if;
    execute format(
        'with moved as (delete from %I u where u.%I >= %s and u.%I < %s returning u.*)
        insert into %I select m.* from moved m',
        unforeseen, by_column, low, by_column, high, part
    );
    execute format(
        'alter table %I attach partition %I for values from (%s) to (%s)', of_table, part, low, high
    );
    return true;
end
$$;

revoke execute on function make_month from public;
grant execute on function make_month to bahay_service;

-- Analyzes a partitioned table as a whole; autovacuum analyzes only single partitions. The planner needs it
-- for queries over all months.
create function analyze_months(of_table text) returns void
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
    if of_table not in ('operations', 'transfers', 'entries', 'player_settlements') then
        raise exception 'no table of months' using errcode = 'BH004';
    end if;
    execute format('analyze %I', of_table);
end
$$;

revoke execute on function analyze_months from public;
grant execute on function analyze_months to bahay_service;

-- The first month of a house, the months that the service creates ahead of time, and the month before for
-- games that end before midnight and are booked after it.
select make_month(t.name, m.month at time zone 'UTC')
from unnest(array['operations', 'transfers', 'entries', 'player_settlements']) as t (name)
cross join generate_series(
    date_trunc('month', now() at time zone 'UTC') - interval '1 month',
    date_trunc('month', now() at time zone 'UTC') + interval '3 months',
    interval '1 month'
) as m (month);
