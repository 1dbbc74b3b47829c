-- Players who may not come in: until a time, or for good. A ban is never removed; one that was wrong
-- is lifted. Whoever is banned can neither sign in nor refresh nor sit down, and has no session.
create table bans (
    id uuid primary key,
    player uuid not null references players,
    -- Told to the player.
    reason text not null check (char_length(reason) between 1 and 500),
    banned_at timestamptz not null,
    -- Null for good.
    ends_at timestamptz null,
    lifted_at timestamptz null,
    constraint bans_end_after_they_begin check (ends_at > banned_at)
);

create index bans_of_player on bans (player) where lifted_at is null;

grant select, insert, update (lifted_at) on bans to bahay_service;
