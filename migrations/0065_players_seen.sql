-- What operators look for in players: others of the same device or address, and what colleagues
-- have noted.
create index sessions_of_device on sessions (device) where device is not null;
create index sessions_of_address on sessions (address) where address is not null;

-- Written by operators about a player, for operators; never changed, and removed with the account.
create table player_notes (
    id uuid primary key,
    player uuid not null references players,
    written_by uuid not null references operators,
    words text not null check (char_length(words) between 1 and 2000),
    -- Names the call that made the row, so that a call that is repeated makes no second one.
    attempt uuid not null unique,
    created_at timestamptz not null default date_trunc('milliseconds', now())
);

create index player_notes_of_player on player_notes (player, created_at, id);

grant select, insert, delete on player_notes to bahay_service;

-- For finding a player by how its name begins.
create index players_by_name on players (lower(name) collate "C", id);
