-- Players: who they are, by what they sign in, their sessions, and who may not come in.

-- A player is an account that plays, and everything that is somebody's points here. It begins as a
-- guest, known only by a device; how else it may sign in stands in `passwords` and `identities`,
-- and `kind` says nothing about them. Bots of the house are players of their own kind, whom nobody
-- can sign in as.
create table players (
    id uuid primary key,
    name text not null,
    kind text not null default 'guest' check (kind in ('guest', 'bot')),
    -- Of the catalogue in the program.
    avatar text not null default 'carabao',
    -- The player's own calendar, by its IANA name: the daily reward is one a day of it.
    time_zone text null,
    created_at timestamptz not null default now(),
    -- When the name was last changed by its player.
    renamed_at timestamptz null,
    -- A guest whose network had had its welcomes of the day when it came: it gets its own when it
    -- comes on another day, or has an identity.
    welcome_due boolean not null default false,
    -- A deleted player keeps its id, because the books name it, and nothing that says who it was.
    deleted_at timestamptz null
);

-- Bots are few among the players.
create index players_bots on players (id) where kind = 'bot';

-- For finding a player by how its name begins.
create index players_by_name on players (lower(name) collate "C", id);

grant select, insert, update on players to bahay_service;

-- What claimed names look like: skeletons after Unicode's UTS 39, up to seven for each name. A name
-- that a player has chosen after signing in is claimed: nobody else may choose it, nor one that
-- looks like it. Names that guests bring along at their first sign-in are not claimed, so two of
-- them may be alike until one of the two claims it. The primary key decides races.
create table name_skeletons (
    skeleton text primary key,
    player uuid not null references players
);

create index name_skeletons_of_player on name_skeletons (player);

grant select, insert, delete on name_skeletons to bahay_service;

-- A device that signs a guest in. The device's id works like a password, so only its SHA-256 is
-- kept.
create table devices (
    id_hash bytea primary key check (octet_length(id_hash) = 32),
    player uuid not null references players,
    created_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now()
);

create index devices_of_player on devices (player);

grant select, insert, update, delete on devices to bahay_service;

-- A name with a password, beside a device.
create table passwords (
    player uuid primary key references players,
    -- Argon2id in the PHC string format, with its parameters, so that they can be raised later.
    hash text not null,
    set_at timestamptz not null,
    -- Counts the passwords that there were: who has shown an earlier one opens no session any more.
    version integer not null default 1
);

-- Accounts elsewhere (OpenID Connect) that sign a player in.
create table identities (
    -- As in the token's claims `iss` and `sub`.
    issuer text not null,
    subject text not null,
    player uuid not null references players,
    linked_at timestamptz not null,
    primary key (issuer, subject),
    constraint identities_one_of_an_issuer unique (player, issuer)
);

-- Nonces that ID tokens have brought, each once. The program draws them and writes none down before it
-- is used; rows that are over mean nothing, and are removed by those that come.
create table used_nonces (
    name uuid primary key,
    expires_at timestamptz not null,
    -- The call that used it.
    call uuid not null
);

create index used_nonces_by_age on used_nonces (expires_at);

-- Sign-ins by password that failed lately, by the SHA-256 of what the name looks like. Names that
-- nobody has are counted as well, so that being refused says nothing about a name. Rows are removed
-- after some minutes.
create table sign_in_failures (
    name_hash bytea primary key check (octet_length(name_hash) = 32),
    since timestamptz not null,
    failures integer not null check (failures > 0)
);

create index sign_in_failures_by_age on sign_in_failures (since);

grant select, insert, update, delete on passwords, identities, used_nonces, sign_in_failures
    to bahay_service;

-- One signing in: a family of refresh tokens of which each replaces the one before. Revoking the
-- session ends the family.
create table sessions (
    id uuid primary key,
    player uuid not null references players,
    -- How it was opened.
    method text not null check (method in ('guest', 'password', 'openid')),
    created_at timestamptz not null default now(),
    -- When it was opened or last refreshed.
    last_seen_at timestamptz not null default now(),
    expires_at timestamptz not null,
    revoked_at timestamptz null,
    -- The transaction that revoked it, by which nodes tell what they have not heard of yet.
    revoked_in xid8 null,
    revoke_reason text null,
    user_agent text null,
    -- The address, as far as limits go: of IPv6 the network.
    address text null,
    -- The address's network: of IPv6 what one subscriber may have altogether.
    network text null,
    -- The hash of the device's id, as in `devices`, where the client told it.
    device bytea null check (octet_length(device) = 32),
    -- Derives the newest refresh token from the one before it, which is not stored: so whoever repeats
    -- a refresh is given the same token. Null where the newest was drawn.
    successor_salt bytea null check (octet_length(successor_salt) = 32),
    constraint sessions_are_revoked_by_somebody
        check ((revoked_at is null) = (revoked_in is null))
);

create index sessions_of_player on sessions (player);

-- What tells that two players are of one device or network. The devices of all sessions, however they
-- were opened, keep their players apart at tables, like those in `devices`.
create index sessions_of_device on sessions (device) where device is not null;
create index sessions_of_network on sessions (network) where network is not null;

-- A node that starts reads which sessions have ended lately, so that their access tokens stop
-- working before they expire.
create index sessions_revoked on sessions (revoked_at, id) where revoked_at is not null;

-- After that each node asks twice a second what it has not heard of yet.
create index sessions_revoked_in on sessions (revoked_in, id) where revoked_in is not null;

-- Sessions that nobody has used for long are removed.
create index sessions_by_age on sessions (last_seen_at);

grant select, insert, update, delete on sessions to bahay_service;

-- A refresh token is good for one use, so one that comes twice was stolen, unless its device repeats
-- a request whose answer was lost. Only its SHA-256 is kept.
create table refresh_tokens (
    hash bytea primary key check (octet_length(hash) = 32),
    session uuid not null references sessions,
    issued_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz null
);

create index refresh_tokens_of_session on refresh_tokens (session);

-- Tokens that have expired are removed.
create index refresh_tokens_by_age on refresh_tokens (expires_at);

grant select, insert, update, delete on refresh_tokens to bahay_service;

-- Players who may not come in, or not speak: until a time, or for good. A ban is never removed; one
-- that was wrong is lifted. Who may not come in can neither sign in nor refresh nor sit down, and
-- has no session. Who may not speak plays on, and every phrase is refused.
create table sanctions (
    id uuid primary key,
    player uuid not null references players,
    -- From what: from coming in (a ban), or only from speaking (a mute).
    kind text not null check (kind in ('ban', 'mute')),
    -- Told to the player.
    reason text not null check (char_length(reason) between 10 and 500),
    imposed_at timestamptz not null,
    -- Null for good.
    ends_at timestamptz null,
    lifted_at timestamptz null,
    constraint sanctions_end_after_they_begin check (ends_at > imposed_at)
);

create index sanctions_of_player on sanctions (player) where lifted_at is null;

grant select, insert, update (lifted_at) on sanctions to bahay_service;
