-- Ways to sign in beside a device: a name with a password, and accounts elsewhere (OpenID Connect).
-- They are added to the player that a guest is already; `players.kind` says nothing about them.
create table passwords (
    player uuid primary key references players,
    -- Argon2id in the PHC string format, with its parameters, so that they can be raised later.
    hash text not null,
    set_at timestamptz not null,
    -- Counts the passwords that there were: who has shown an earlier one opens no session any more.
    version integer not null default 1
);

create table identities (
    -- As in the token's claims `iss` and `sub`.
    issuer text not null,
    subject text not null,
    player uuid not null references players,
    linked_at timestamptz not null,
    primary key (issuer, subject),
    constraint identities_one_of_an_issuer unique (player, issuer)
);

-- Sign-ins by password that failed lately, by the SHA-256 of what the name looks like. Names that
-- nobody has are counted as well, so that being refused says nothing about a name. Rows are removed
-- after some minutes.
create table sign_in_failures (
    name_hash bytea primary key check (octet_length(name_hash) = 32),
    since timestamptz not null,
    failures integer not null check (failures > 0)
);

create index sign_in_failures_by_age on sign_in_failures (since);

-- What a player is told about its sessions, and what tells that two players are of one device.
alter table sessions
    -- How it was opened.
    add column method text not null default 'guest'
        check (method in ('guest', 'password', 'openid')),
    -- The address, as far as limits go: of IPv6 the network.
    add column address text null,
    -- The hash of the device's id, as in `devices`, where the client told it.
    add column device bytea null check (octet_length(device) = 32),
    -- When it was opened or last refreshed.
    add column last_seen_at timestamptz not null default now();

update sessions s
set last_seen_at = coalesce(
    (select max(t.issued_at) from refresh_tokens t where t.session = s.id), s.created_at
);

grant select, insert, update, delete on passwords, identities, sign_in_failures to bahay_service;
-- For deleting an account, and for forgetting devices.
grant delete on devices, refresh_tokens to bahay_service;
