-- A device that signs a guest in. The device's id works like a password, so only its SHA-256 is
-- kept.
create table devices (
    id_hash bytea primary key check (octet_length(id_hash) = 32),
    player uuid not null references players,
    created_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now()
);

create index devices_of_player on devices (player);
