-- Monthly partitions: tables that grow with every game have a partition for each month (UTC), so that the
-- tables in use are small, old months are vacuumed once and never touched again, and an operator can keep
-- them on cheaper disks.
--
-- - `operations` and `account_operations` are partitioned by the id of the operation, which contains its month
-- - `player_settlements` is partitioned by the end of the game
--
-- A row without a partition of its month goes to the default partition `…_unforeseen`, so it is never
-- rejected. The service creates the partitions of coming months (`months`), though it owns none of these
-- tables, through the function here. Each partition has the constraints of the whole table.

create table operations_unforeseen partition of operations default;
create table account_operations_unforeseen partition of account_operations default;
create table player_settlements_unforeseen partition of player_settlements default;

-- The service reports the number of rows in default partitions as a metric.
grant select on operations_unforeseen, account_operations_unforeseen, player_settlements_unforeseen
    to bahay_service;

-- Creates the partition of a table for the month (UTC) of a time, if there is none; returns whether it did.
-- Rows of that month move from the default partition into it.
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
        when 'account_operations' then by_column := 'operation';
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
    execute format(
        'create table %I (
            like %I including defaults including constraints including storage
                including compression
        )',
        part, of_table
    );
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
    if of_table not in ('operations', 'account_operations', 'player_settlements') then
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
from unnest(array['operations', 'account_operations', 'player_settlements']) as t (name)
cross join generate_series(
    date_trunc('month', now() at time zone 'UTC') - interval '1 month',
    date_trunc('month', now() at time zone 'UTC') + interval '3 months',
    interval '1 month'
) as m (month);
