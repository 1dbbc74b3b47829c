-- A player is an account that plays, and everything that is somebody's points here. For now
-- everybody is a guest, known only by a device; a later kind is a later migration.
create table players (
    id uuid primary key,
    name text not null,
    kind text not null default 'guest' check (kind in ('guest')),
    -- The player's own calendar, by its IANA name: the daily reward is one a day of it.
    time_zone text null,
    created_at timestamptz not null default now()
);
