-- The archive: records of old games, copied from `game_records` to objects in a folder or in object storage.
-- This file has the objects; `game_records` has the position of each record, with the settlement. After a
-- grace period the text is deleted here.

-- The compression dictionaries, each version once. The archive contains them as well, under their names.
create table archive_dictionaries (
    number integer primary key generated always as identity,
    name text not null unique check (char_length(name) between 1 and 200),
    hash bytea not null check (octet_length(hash) = 32),
    bytes integer not null check (bytes > 0),
    made_at timestamptz not null default date_trunc('milliseconds', now())
);

grant select, insert on archive_dictionaries to bahay_service;

-- The games whose records may be archived, with the time from which the age of a record counts, and its day
-- (UTC). 0020_tournaments.sql adds the games of tournaments.
create view archivable_games as
    select s.game, s.day, s.finished_at
    from settlements s;

grant select on archivable_games to bahay_service;

-- The objects of the archive. Each contains many records, one after the other.
create table archive_objects (
    number bigint primary key generated always as identity,
    name text not null unique check (char_length(name) between 1 and 200),
    -- The hash (SHA-256) of the whole object.
    hash bytea not null check (octet_length(hash) = 32),
    bytes integer not null check (bytes > 0),
    records integer not null check (records > 0),
    -- Null if there were too few records to train one.
    dictionary integer null,
    -- The last time from which the age of its records counts: the search for due records continues a day
    -- before it.
    last_finished_at timestamptz not null,
    made_at timestamptz not null default date_trunc('milliseconds', now())
);

grant select on archive_objects to bahay_service;

-- Records an object of the archive and the position of each record in it: of all these records or, if one has
-- changed since the object was made, of none. Deletes nothing. The object's time is that of the database's
-- clock, and the service cannot change it.
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
    due bigint;
    noted bigint;
begin
    select max(e.finished_at), count(*) filter (where e.finished_at < now() - interval '1 day')
    into last, due
    from archivable_games e
    where e.game = any(record_games);
    if due <> cardinality(record_games) then
        raise exception 'a record may not be archived yet' using errcode = 'BH003';
    end if;

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
    where r.game = a.game and r.archived_in is null
        and a.place >= 0 and a.length > 0 and a.place::bigint + a.length <= object_bytes
        and sha256(convert_to(r.record, 'UTF8')) = a.hash;
    get diagnostics noted = row_count;
    if noted <> cardinality(record_games) then
        raise exception 'a record is not there as it was archived' using errcode = 'BH003';
    end if;
end
$$;

revoke execute on function archive_records from public;
grant execute on function archive_records to bahay_service;

-- The records whose text is due for deletion.
create index game_records_archived on game_records (archived_in)
    where archived_in is not null and record is not null;

-- Deletes the texts of the records in an object that was recorded longer ago than the grace period, and
-- returns their number. A text that differs from the recorded hash is kept. Until the owner has set a grace
-- period (`owner_settings.archive_grace`), nothing is deleted.
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
