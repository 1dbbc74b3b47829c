-- Notices of the kind `rematch`: somebody wants to play a game of the player's again, at a private table.

-- The code of the table.
alter table notices add column code text null;

-- Who invites.
alter table notices add column sender uuid null references players;

-- Another rematch of the same game takes the place of one whose table is over.
grant update (code, sender, created_at) on notices to bahay_service;

insert into additive_migrations (version) values (17);
