-- Closed months: their entries are deleted, and their sums are kept.
--
-- Entries are redundant: they follow from the transfers, which are kept and which the seals cover. So a
-- balance is the sum of the transfers of closed months and the entries of the others; the audit computes it
-- so, and compares the transfers of each closed month with the sums stored here.

-- 0014_months.sql creates the table of closed months, because no closed month may be created again.

-- Closes the oldest month that has entries and returns it, such as 2026-11, if at least the configured number
-- of whole months (`owner_settings.entries_kept_months`) between it and the current one keep their entries.
-- Returns null if there is no such month, and always until the owner has set the number. The current month is
-- that of the newest operation, or that of the clock if it is earlier.
--
-- Fails while a part of the month is still open: operations that are not sealed, a stake that is still held,
-- a POT that was not empty since, or an entry without a matching transfer.
create function close_oldest_month() returns text
language plpgsql
security definer
set search_path = public, pg_temp
set lock_timeout = '500ms'
as $$
declare
    kept integer := (select s.entries_kept_months from owner_settings s);
    part text;
    first_day timestamp;
    newest bigint := (select max(o.id) from operations o);
    present timestamp;
    low bigint;
    high bigint;
    found text;
begin
    if kept is null then
        return null;
    end if;
    -- Serialized, like the creation of months.
    perform pg_advisory_xact_lock(x'62616861796d6f6d'::bigint);
    select min(c.relname::text) into part
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'entries'::regclass and c.relname ~ '^entries_[0-9]{4}_[0-9]{2}$';
    if part is null or newest is null then
        return null;
    end if;
    first_day := to_timestamp(right(part, 7), 'YYYY_MM')::timestamp;
    present := least(
        make_timestamp(
            2000 + (newest / 100000000000000)::integer,
            (newest / 1000000000000 % 100)::integer, 1, 0, 0, 0
        ),
        date_trunc('month', now() at time zone 'UTC')
    );
    if first_day + make_interval(months => kept) >= present then
        return null;
    end if;
    low := first_operation_of(first_day at time zone 'UTC');
    high := first_operation_of((first_day + interval '1 month') at time zone 'UTC');

    if exists (select from pending_house_entries u where u.operation < high) then
        raise exception 'operations of % wait to be sealed', part using errcode = 'BH005';
    end if;
    if exists (select from entries_unforeseen e where e.operation < high) then
        raise exception 'entries of % are among the unforeseen', part using errcode = 'BH005';
    end if;
    -- The recipients of a POT refund are found by the POT's entries since it was last empty.
    select min(a.code) into found
    from accounts a
    where a.kind in ('stake', 'pot') and a.balance > 0
        and exists (
            select from entries e
            where e.account = a.id and e.operation >= low and e.operation < high
        )
        and not exists (
            select from entries e
            where e.account = a.id and e.operation >= high and e.balance_after = 0
        );
    if found is not null then
        raise exception '% holds coins of % since', found, part using errcode = 'BH005';
    end if;
    with sides as (
        select t.operation, t.number, t.source as account, -t.amount as amount
        from transfers t
        where t.operation >= low and t.operation < high
        union all
        select t.operation, t.number, t.destination, t.amount
        from transfers t
        where t.operation >= low and t.operation < high
    ),
    entered as (
        select e.operation, e.number, e.account, sum(e.amount) as amount, count(*) as count
        from entries e
        where e.operation >= low and e.operation < high
        group by e.operation, e.number, e.account
    )
    select min(coalesce(s.operation, e.operation)::text) into found
    from sides s
    full join entered e
        on e.operation = s.operation and e.number = s.number and e.account = s.account
    where s.amount is distinct from e.amount or e.count <> 1;
    if found is not null then
        raise exception 'operation % and its entries differ', found using errcode = 'BH005';
    end if;

    insert into closed_months (month, closed_before, operations, transfers, moved, seal, seal_hash)
    select first_day::date, high,
        (select count(*) from operations o where o.id >= low and o.id < high),
        (select count(*) from transfers t where t.operation >= low and t.operation < high),
        (
            select coalesce(sum(t.amount), 0)
            from transfers t
            where t.operation >= low and t.operation < high
        ),
        coalesce(s.number, 0), coalesce(s.hash, decode(repeat('00', 32), 'hex'))
    from (select) n
    left join (select s.number, s.hash from seals s order by s.number desc limit 1) s on true;
    execute format('drop table %I', part);
    return to_char(first_day, 'YYYY-MM');
end
$$;

revoke execute on function close_oldest_month from public;
grant execute on function close_oldest_month to bahay_service;
