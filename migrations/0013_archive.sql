-- The archive: records of games that are long over, moved out of `game_records` to objects in a
-- folder or in object storage. What was moved, and where to, is told here; its hash stays in
-- `game_records`, beside the settlement.

-- With what records are compressed, each version once. It lies in the archive as well, under its
-- name.
create table archive_dictionaries (
    number integer primary key generated always as identity,
    name text not null unique check (char_length(name) between 1 and 200),
    hash bytea not null check (octet_length(hash) = 32),
    bytes integer not null check (bytes > 0),
    made_at timestamptz not null default date_trunc('milliseconds', now())
);

grant select, insert on archive_dictionaries to bahay_service;

-- Objects of the archive. Each holds many records, one after the other.
create table archive_objects (
    number bigint primary key generated always as identity,
    name text not null unique check (char_length(name) between 1 and 200),
    -- Of the whole object (SHA-256).
    hash bytea not null check (octet_length(hash) = 32),
    bytes integer not null check (bytes > 0),
    records integer not null check (records > 0),
    -- Null where there were too few records to learn one from.
    dictionary integer null,
    -- When the last of its games was finished: from a day before on it is looked for more.
    last_finished_at timestamptz not null,
    made_at timestamptz not null default date_trunc('milliseconds', now())
);

grant select on archive_objects to bahay_service;

-- Notes an object and takes the records in it out of the database: all of them or, when one is not
-- there as it was when the object was made, none. The service may neither change nor remove records
-- by itself. By this it can give away only those of games that were counted by the reports and have
-- been over for a day at least, and only for the hash of what it gives away.
create function archive_records(
    object_name text, object_hash bytea, object_bytes integer, object_dictionary integer,
    record_games uuid[], record_places integer[], record_lengths integer[], record_hashes bytea[]
) returns void
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
    object bigint;
    last timestamptz;
    moved bigint;
begin
    select max(s.finished_at) into last
    from settlements s
    where s.game = any(record_games);

    insert into archive_objects (name, hash, bytes, records, dictionary, last_finished_at)
    values (
        object_name, object_hash, object_bytes, cardinality(record_games), object_dictionary, last
    )
    returning number into object;

    update game_records r
    set record = null, archived_in = object, archived_at = a.place, archived_bytes = a.length,
        record_hash = a.hash, taken_over = position('"by":"ai"' in r.record) > 0
    from (
        select unnest(record_games) as game, unnest(record_places) as place,
            unnest(record_lengths) as length, unnest(record_hashes) as hash
    ) a
    join settlements s on s.game = a.game
    where r.game = a.game and sha256(convert_to(r.record, 'UTF8')) = a.hash
        and s.finished_at < now() - interval '1 day';
    get diagnostics moved = row_count;
    if moved <> cardinality(record_games) then
        raise exception 'a record is not there as it was archived' using errcode = 'BH003';
    end if;
end
$$;

revoke execute on function archive_records from public;
grant execute on function archive_records to bahay_service;
