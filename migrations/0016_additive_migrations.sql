-- Migrations that only add: a program that does not know them serves on the schema all the same, so
-- its version can be put back without touching the database. Such a migration ends by noting itself:
--
--     insert into additive_migrations (version) values (17);

create table additive_migrations (
    version bigint primary key
);

grant select on additive_migrations to bahay_service;
