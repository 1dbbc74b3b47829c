-- The archive: records of games that are long over, copied out of `game_records` to objects in a
-- folder or in object storage. The objects are noted here, and the place of each record in
-- `game_records`, beside the settlement. After a grace period the text is removed here.

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

-- Notes an object of the archive and where each record is in it: of all these records or, when one is
-- not there as it was when the object was made, of none. Removes nothing. The time of the object is
-- that of the database's clock, and the service cannot change it.
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
    noted bigint;
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
    set archived_in = object, archived_at = a.place, archived_bytes = a.length,
        record_hash = a.hash, taken_over = position('"by":"ai"' in r.record) > 0
    from (
        select unnest(record_games) as game, unnest(record_places) as place,
            unnest(record_lengths) as length, unnest(record_hashes) as hash
    ) a
    join settlements s on s.game = a.game
    where r.game = a.game and r.archived_in is null
        and a.place >= 0 and a.length > 0 and a.place::bigint + a.length <= object_bytes
        and sha256(convert_to(r.record, 'UTF8')) = a.hash
        and s.finished_at < now() - interval '1 day';
    get diagnostics noted = row_count;
    if noted <> cardinality(record_games) then
        raise exception 'a record is not there as it was archived' using errcode = 'BH003';
    end if;
end
$$;

revoke execute on function archive_records from public;
grant execute on function archive_records to bahay_service;

-- Records whose text waits to be removed.
create index game_records_archived on game_records (archived_in)
    where archived_in is not null and record is not null;

-- Removes the texts of the records in an object that was noted so long ago as the owner has said, and
-- returns how many. A text that is no longer the one that was noted stays. Until the owner has said
-- how long (`owner_settings.archive_grace`), nothing is removed.
create function remove_archived_records(object bigint) returns bigint
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
    removed bigint;
begin
    update game_records r
    set record = null
    from archive_objects o, owner_settings s
    where o.number = object and o.made_at <= now() - s.archive_grace
        and r.archived_in = o.number and r.record is not null
        and sha256(convert_to(r.record, 'UTF8')) = r.record_hash;
    get diagnostics removed = row_count;
    return removed;
end
$$;

revoke execute on function remove_archived_records from public;
grant execute on function remove_archived_records to bahay_service;
