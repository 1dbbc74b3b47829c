-- The rights of a serving process. It takes the role `bahay_service` on every connection, whatever
-- its login is. Statements of that role read and add to `operations`, `transfers`, `entries`, `seals`
-- and `game_records`, and can neither change nor remove their rows. Two functions of the owner do
-- remove something, within bounds that only the owner writes (`owner_settings`):
-- `remove_archived_records` (0013_archive.sql) takes away the text of a record, and
-- `close_oldest_month` (0015_closed_months.sql) the entries of a month. Each of the files that follow
-- grants the service the rights that it needs on their tables. The login that migrates owns the
-- tables and is not bound by this; containers/roles.sql makes a login that is.
--
-- Roles belong to the whole server and not to one database, so it may be there already.
do $$
begin
    if not exists (select from pg_roles where rolname = 'bahay_service') then
        create role bahay_service nologin;
    end if;
exception
    -- Another database's migration was faster.
    when duplicate_object or unique_violation then null;
end
$$;

grant bahay_service to current_user;

grant usage on schema public to bahay_service;

-- The bounds within which functions of the owner remove something. `bahay migrate` writes them, as
-- the owner; the service reads them. One row. A bound that is null removes nothing.
create table owner_settings (
    one boolean primary key default true check (one),
    -- How many whole months before the present one keep their entries.
    entries_kept_months integer null check (entries_kept_months between 2 and 1200),
    -- How long the text of a record stays here after its object in the archive was noted.
    archive_grace interval null check (archive_grace between interval '0' and interval '3650 days')
);

insert into owner_settings default values;

grant select on owner_settings to bahay_service;
