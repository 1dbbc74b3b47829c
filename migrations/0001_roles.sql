-- The rights of a serving process. It takes the role `bahay_service` on every connection, whatever its login
-- is. Statements of that role read and insert rows of `operations`, `seals` and `game_records`, and can neither
-- update nor delete them. One function of the owner deletes data, within a limit that only the owner writes
-- (`owner_settings`): `remove_archived_records` (0013_archive.sql) deletes the text of a record. Each of the
-- following files grants the service the rights that it needs on their tables. The login that migrates owns
-- the tables and is not restricted by this; containers/roles.sql creates a login that is.
--
-- Roles belong to the whole server and not to one database, so the role may exist already.
do $$
begin
    if not exists (select from pg_roles where rolname = 'bahay_service') then
        create role bahay_service nologin;
    end if;
exception
    -- The migration of another database has created it concurrently.
    when duplicate_object or unique_violation then null;
end
$$;

grant bahay_service to current_user;

grant usage on schema public to bahay_service;

-- The limit within which a function of the owner deletes data. `bahay migrate` writes it, as the owner; the
-- service reads it. The table has one row. A limit of null deletes nothing.
create table owner_settings (
    one boolean primary key default true check (one),
    -- The time for which the text of a record remains here after its object was recorded.
    archive_grace interval null check (archive_grace between interval '0' and interval '3650 days')
);

insert into owner_settings default values;

grant select on owner_settings to bahay_service;
