-- What a serving process may do. It takes this role on every connection, whoever it signed in as,
-- so that no statement of it can change or remove what was once booked: `operations`,
-- `transfers`, `entries`, `seals` and `game_records` are only read and added to, and the record of an
-- old game leaves by one function (0013_archive.sql). Each of the files that follow grants what the
-- service needs of its own tables. Whoever migrates owns the tables and is not bound by this;
-- containers/roles.sql makes a login that is.
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
