-- Months: what grows with every game without an end has a part for each month (UTC), so that what is
-- written now is small, old months are vacuumed once and never touched again, and an operator can
-- keep them on cheaper disks.
--
--   operations, transfers, entries   by the id of the operation, which carries its month
--   player_settlements               by when the game was finished
--
-- What finds no month goes to the part `…_unforeseen`, so that nothing is ever refused. Parts of the
-- months to come are made by the service (`months`), which owns none of these tables, through the
-- function here. Each part has what the whole has, and what the whole cannot say.

create table operations_unforeseen partition of operations default;
create table transfers_unforeseen partition of transfers default;
create table entries_unforeseen partition of entries (primary key (account, version)) default;
create table player_settlements_unforeseen partition of player_settlements default;

-- How many rows wait there is a figure of the service.
grant select on operations_unforeseen, transfers_unforeseen, entries_unforeseen,
    player_settlements_unforeseen to bahay_service;

-- Months whose entries are gone (0015_closed_months.sql).
create table closed_months (
    -- Its first day.
    month date primary key,
    -- The least id of the month after it.
    closed_before bigint not null unique,
    operations bigint not null,
    -- Half of the entries that it had.
    transfers bigint not null,
    -- The sum of their amounts.
    moved numeric not null,
    -- The newest seal of that time: it must be in the chain for ever after.
    seal bigint not null,
    seal_hash bytea not null check (octet_length(seal_hash) = 32),
    closed_at timestamptz not null default date_trunc('milliseconds', now())
);

grant select on closed_months to bahay_service;

-- Makes the part of a table for the month (UTC) of a time, if there is none; returns whether it did.
-- Rows of that month that are among the unforeseen move into it. Entries have no part again for a
-- month that was closed, nor for an earlier one: it would be the oldest, and keep all later ones from
-- being closed.
--
-- Adding a part locks the unforeseen ones against everybody for a moment. Who would have to wait for
-- that gives up instead, and the service comes again.
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
    -- No clock is wrong by that much, and nobody is to make tables without end.
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

-- Learns how much is in all months together, as the database does by itself only for each part: by
-- that it plans how to read them.
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

-- The month in which a house begins, those that a service makes ahead of time, and the one before
-- for what was finished before midnight and is booked after it.
select make_month(t.name, m.month at time zone 'UTC')
from unnest(array['operations', 'transfers', 'entries', 'player_settlements']) as t (name)
cross join generate_series(
    date_trunc('month', now() at time zone 'UTC') - interval '1 month',
    date_trunc('month', now() at time zone 'UTC') + interval '3 months',
    interval '1 month'
) as m (month);
