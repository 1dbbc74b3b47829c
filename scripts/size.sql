-- Bytes per game in PostgreSQL, by table and index, largest first, for any database: `psql "$DATABASE_URL" -f
-- scripts/size.sql`. The size of a table excludes its indexes and includes its TOAST table. Relations below
-- one percent of the total appear in the sum only.
with games as (
    select greatest(count(*), 1) as number from games
),
-- A table partitioned by month counts as one under its own name, and so does each of its indexes.
months as (
    select i.inhrelid as part, i.inhparent as whole
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid and c.relkind = 'r'
),
parts as (
    select p.relation, p.of_table, sum(p.bytes) as bytes
    from (
        select coalesce(w.relname, c.relname) as relation, '' as of_table,
            pg_table_size(c.oid) as bytes
        from pg_class c
        left join months m on m.part = c.oid
        left join pg_class w on w.oid = m.whole
        where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
        union all
        select coalesce(replace(i.relname, t.relname, w.relname), i.relname),
            coalesce(w.relname, t.relname), pg_relation_size(i.oid)
        from pg_index x
        join pg_class i on i.oid = x.indexrelid
        join pg_class t on t.oid = x.indrelid
        left join months m on m.part = t.oid
        left join pg_class w on w.oid = m.whole
        where t.relnamespace = 'public'::regnamespace and t.relkind = 'r'
    ) p
    group by p.relation, p.of_table
),
lines as (
    select p.relation, p.of_table, p.bytes, 0 as place from parts p
    union all
    select 'all ' || count(*) || ' tables and indexes', '', sum(p.bytes), 1 from parts p
)
select l.relation, l.of_table as "index of", l.bytes,
    round(l.bytes::numeric / g.number, 1) as "bytes per game", g.number as games
from lines l
cross join games g
where l.place = 1 or l.bytes > (select sum(p.bytes) from parts p) * 0.01
order by l.place desc, l.bytes desc;
