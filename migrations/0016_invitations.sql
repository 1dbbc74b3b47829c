-- Notices of the kind `rematch`: another player invites to a rematch of a game at a private table.

-- The code of the table.
alter table notices add column code text null;

-- The inviting player.
alter table notices add column sender uuid null references players;

-- A later rematch of the same game replaces one whose table has ended.
grant update (code, sender, created_at) on notices to bahay_service;

insert into additive_migrations (version) values (16);
