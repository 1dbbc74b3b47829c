-- Additive migrations: a program of an earlier version that does not know them still serves on the schema,
-- so a deployment can be rolled back without touching the database. Such a migration ends by recording itself:
--
--     insert into additive_migrations (version) values (16);

create table additive_migrations (
    version bigint primary key
);

grant select on additive_migrations to bahay_service;
