-- What reports read from the ledger itself, because it is not in what was counted: in one place for
-- all of them. Both are plain queries, which become part of the one that names them.

-- Operations that wait to be counted.
create function late_operations()
    returns table (operation bigint)
    language sql stable
as $$
    select u.operation from unfolded u
    union all
    select unnest(s.operations)
    from seals s
    where s.number > (select p.seal from figures_progress p)
$$;

-- Of an interval: all of the parts of hours at both ends, and of what is between only what waits to be
-- counted. The whole hours are those from `first` to before `last`; without any, both are the
-- interval's end.
create function live_operations(
    begins timestamptz, ends timestamptz, first timestamptz, last timestamptz
)
    returns table (id bigint, kind text, game uuid, created_at timestamptz)
    language sql stable
as $$
    select o.id, o.kind, o.game, o.created_at
    from operations o
    where o.created_at >= begins and o.created_at < first
    union all
    select o.id, o.kind, o.game, o.created_at
    from operations o
    where o.created_at >= last and o.created_at < ends
    union all
    select o.id, o.kind, o.game, o.created_at
    from late_operations() l
    join operations o on o.id = l.operation
    where o.created_at >= first and o.created_at < last
$$;
