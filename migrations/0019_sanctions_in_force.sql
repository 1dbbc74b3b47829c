-- The sanctions in force are listed, newest first. Those that have ended without being lifted are skipped.
create index sanctions_not_lifted on sanctions (imposed_at, id) where lifted_at is null;

insert into additive_migrations (version) values (19);
