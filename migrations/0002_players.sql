-- Players: accounts, sign-in methods, sessions, and sanctions.

-- A player is an account that plays, and the owner of coins. It begins as a guest, known only by a device;
-- `passwords` and `identities` have its other sign-in methods, and `kind` does not depend on them. House bots
-- are players of their own kind, whom nobody can sign in as.
create table players (
    id uuid primary key,
    name text not null,
    kind text not null default 'guest' check (kind in ('guest', 'bot')),
    -- A name from the program's catalogue.
    avatar text not null default 'carabao',
    -- The IANA name of the player's time zone. A daily reward is one per day of it.
    time_zone text null,
    created_at timestamptz not null default now(),
    -- The last change of the name by the player.
    renamed_at timestamptz null,
    -- True if the welcome grant is still due: the guest's network had used up its welcome grants of that day.
    -- The guest gets the grant on a later day, or after linking an identity.
    welcome_due boolean not null default false,
    -- The time of the deletion. A deleted player keeps its id, because the books refer to it, and no personal
    -- data.
    deleted_at timestamptz null
);

-- House bots are few among the players.
create index players_bots on players (id) where kind = 'bot';

-- The search for players by the beginning and by a part of the name.
create index players_by_name on players (lower(name) collate "C", id);

create extension if not exists pg_trgm with schema public;

create index players_by_part_of_name on players using gin (lower(name) gin_trgm_ops);

grant select, insert, update on players to bahay_service;

-- The skeletons of claimed names by Unicode's UTS 39, up to seven for each name. A name that a player has
-- chosen after signing in is claimed: nobody else may choose it or a confusable one. Names that guests bring
-- along at their first sign-in are not claimed, so two of them may be confusable until one of the two is
-- claimed. The primary key decides races.
create table name_skeletons (
    skeleton text primary key,
    player uuid not null references players
);

create index name_skeletons_of_player on name_skeletons (player);

grant select, insert, delete on name_skeletons to bahay_service;

-- A device that signs a guest in. The device's id works like a password, so only its SHA-256 is stored.
create table devices (
    id_hash bytea primary key check (octet_length(id_hash) = 32),
    player uuid not null references players,
    created_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now()
);

create index devices_of_player on devices (player);

grant select, insert, update, delete on devices to bahay_service;

-- A password of a player, in addition to a device.
create table passwords (
    player uuid primary key references players,
    -- Argon2id in the PHC string format, with its parameters, so that they can be raised later.
    hash text not null,
    set_at timestamptz not null,
    -- The number of the password. A proof of an earlier password opens no session any more.
    version integer not null default 1
);

-- Identities of OpenID Connect providers that sign a player in.
create table identities (
    -- The token's claims `iss` and `sub`.
    issuer text not null,
    subject text not null,
    player uuid not null references players,
    linked_at timestamptz not null,
    primary key (issuer, subject),
    constraint identities_one_of_an_issuer unique (player, issuer)
);

-- The nonces of used ID tokens, each used once. The program draws them and stores none before its use;
-- expired rows have no effect, and later uses delete them.
create table used_nonces (
    name uuid primary key,
    expires_at timestamptz not null,
    -- The call that used it.
    call uuid not null
);

create index used_nonces_by_age on used_nonces (expires_at);

-- Recent failed sign-ins by password, by the SHA-256 of the name's skeleton. Names without an account are
-- counted as well, so that a refusal reveals nothing about a name. Rows are deleted after some minutes.
create table sign_in_failures (
    name_hash bytea primary key check (octet_length(name_hash) = 32),
    since timestamptz not null,
    failures integer not null check (failures > 0)
);

create index sign_in_failures_by_age on sign_in_failures (since);

grant select, insert, update, delete on passwords, identities, used_nonces, sign_in_failures
    to bahay_service;

-- A session: a family of refresh tokens of which each replaces the one before. A revocation of the session
-- ends the family.
create table sessions (
    id uuid primary key,
    player uuid not null references players,
    -- The sign-in method.
    method text not null check (method in ('guest', 'password', 'openid')),
    created_at timestamptz not null default now(),
    -- The time of the sign-in or the last refresh.
    last_seen_at timestamptz not null default now(),
    expires_at timestamptz not null,
    revoked_at timestamptz null,
    -- The transaction of the revocation, by which nodes detect the revocations that they have not read yet.
    revoked_in xid8 null,
    revoke_reason text null,
    user_agent text null,
    -- The address as rate limits use it: of IPv6 the network.
    address text null,
    -- The network of the address: of IPv6 the largest one that a single subscriber may have.
    network text null,
    -- The hash of the device's id, as in `devices`, if the client sent it.
    device bytea null check (octet_length(device) = 32),
    -- Derives the newest refresh token from the one before it, which is not stored, so a repeated refresh
    -- returns the same token. Null if the newest token was drawn at random.
    successor_salt bytea null check (octet_length(successor_salt) = 32),
    constraint sessions_are_revoked_by_somebody
        check ((revoked_at is null) = (revoked_in is null))
);

create index sessions_of_player on sessions (player);

-- The players of one device or network. The devices of all sessions, whatever their sign-in method, keep
-- their players apart at tables, like those in `devices`.
create index sessions_of_device on sessions (device) where device is not null;
create index sessions_of_network on sessions (network) where network is not null;

-- A starting node reads the recently ended sessions, so that their access tokens stop working before they
-- expire.
create index sessions_revoked on sessions (revoked_at, id) where revoked_at is not null;

-- Each node then polls twice a second for revocations that it has not read yet.
create index sessions_revoked_in on sessions (revoked_in, id) where revoked_in is not null;

-- Sessions that have not been used for a long time are deleted.
create index sessions_by_age on sessions (last_seen_at);

grant select, insert, update, delete on sessions to bahay_service;

-- A refresh token is valid for one use, so a second use means that it was stolen, unless the device repeats a
-- request whose response was lost. Only its SHA-256 is stored.
create table refresh_tokens (
    hash bytea primary key check (octet_length(hash) = 32),
    session uuid not null references sessions,
    issued_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz null
);

create index refresh_tokens_of_session on refresh_tokens (session);

-- Expired tokens are deleted.
create index refresh_tokens_by_age on refresh_tokens (expires_at);

grant select, insert, update, delete on refresh_tokens to bahay_service;

-- Sanctions: bans and mutes, for a time or permanent. A sanction is never deleted; a wrong one is lifted. A
-- banned player can neither sign in nor refresh nor sit down, and has no session. A muted player continues to
-- play, and every phrase is rejected.
create table sanctions (
    id uuid primary key,
    player uuid not null references players,
    -- A ban excludes the player; a mute only rejects phrases.
    kind text not null check (kind in ('ban', 'mute')),
    -- The reason, which is shown to the player.
    reason text not null check (char_length(reason) between 10 and 500),
    imposed_at timestamptz not null,
    -- The end; null for a permanent sanction.
    ends_at timestamptz null,
    lifted_at timestamptz null,
    -- The operators who imposed and lifted it (0005_operators.sql); null for the command line.
    imposed_by uuid null,
    lifted_by uuid null,
    constraint sanctions_end_after_they_begin check (ends_at > imposed_at)
);

create index sanctions_of_player on sanctions (player) where lifted_at is null;

grant select, insert, update (lifted_at, lifted_by) on sanctions to bahay_service;
