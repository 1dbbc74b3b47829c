-- Messages of the house to players, relations between players, and reports about players.

-- A player's inbox: notices that are shown once, at the next connection. A notice about coins is written in
-- the transaction that moves them, so it exists exactly if they moved.
create table notices (
    id uuid primary key default gen_random_uuid(),
    player uuid not null references players,
    -- The subject, for programs: `game_voided`.
    kind text not null,
    game uuid null references games,
    -- The returned amount in hundredths of a coin.
    amount bigint null check (amount >= 0),
    created_at timestamptz not null default date_trunc('milliseconds', now()),
    read_at timestamptz null
);

-- A player's notices, newest first.
create index notices_of_player on notices (player, created_at, id);

-- Every connection is told the number of unread notices.
create index notices_unread on notices (player) where read_at is null;

-- A game writes one notice of a kind per player.
create unique index notices_once_a_game on notices (game, player, kind) where game is not null;

-- Old notices are deleted.
create index notices_by_age on notices (created_at);

grant select, insert, update (read_at), delete on notices to bahay_service;

-- Players whom a player has blocked or muted. A block keeps the two from being seated together in rooms and
-- at private tables, and mutes the other as well; a mute only silences.
create table player_relations (
    player uuid not null references players,
    kind text not null check (kind in ('block', 'mute')),
    other uuid not null references players,
    created_at timestamptz not null default date_trunc('milliseconds', now()),
    primary key (player, kind, other),
    constraint player_relations_with_others check (player <> other)
);

grant select, insert, delete on player_relations to bahay_service;

-- Reports: at most one by each player about each other player of a game. The record of `game` is the
-- evidence. Operators uphold or dismiss a report, once. Neither a report nor its decision has an effect by
-- itself; a ban is an act of its own.
create table player_reports (
    id uuid primary key default gen_random_uuid(),
    reporter uuid not null references players,
    reported uuid not null references players,
    game uuid not null references games,
    reason text not null
        check (reason in ('cheating', 'collusion', 'abuse', 'name', 'stalling', 'other')),
    words text null check (char_length(words) between 1 and 500),
    created_at timestamptz not null default date_trunc('milliseconds', now()),
    outcome text null check (outcome in ('upheld', 'dismissed')),
    decided_by uuid null references operators,
    decided_at timestamptz null,
    -- A note for people.
    note text null check (char_length(note) between 10 and 500),
    constraint player_reports_about_others check (reporter <> reported),
    constraint player_reports_once unique (game, reporter, reported),
    constraint player_reports_decided_once check (
        (outcome is null) = (decided_by is null)
        and (outcome is null) = (decided_at is null)
        and (outcome is null) = (note is null)
    )
);

create index player_reports_about on player_reports (reported, created_at);
create index player_reports_by on player_reports (reporter, created_at);

-- The list for operators, newest first: all reports, and the open ones.
create index player_reports_newest on player_reports (created_at, id);
create index player_reports_open on player_reports (created_at, id) where outcome is null;

grant select, insert, update (outcome, decided_by, decided_at, note) on player_reports
    to bahay_service;
