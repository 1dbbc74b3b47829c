-- What a player is to be told once, at the next connection: an inbox. A notice about coins is
-- written by the statement that moves them.
create table notices (
    id uuid primary key default gen_random_uuid(),
    player uuid not null references players,
    -- What it is about, for programs: `game_voided`.
    kind text not null,
    game uuid null references games,
    -- What came back, in hundredths of a coin.
    amount bigint null check (amount >= 0),
    created_at timestamptz not null default date_trunc('milliseconds', now()),
    read_at timestamptz null
);

-- A player's notices newest first.
create index notices_of_player on notices (player, created_at, id);

-- The number of those unread is told at every connection.
create index notices_unread on notices (player) where read_at is null;

-- A game says one thing to a player once.
create unique index notices_once_a_game on notices (game, player, kind) where game is not null;

grant select, insert, update (read_at) on notices to bahay_service;
