-- Notices of tournaments: the time before the start, the start, a final place, a prize, a cancellation.

alter table notices add column tournament uuid null references tournaments;

-- The final place in the tournament.
alter table notices add column place integer null check (place > 0);

insert into additive_migrations (version) values (21);
