-- Whom a player does not want to meet or to hear, and what players say about each other to the
-- house. A block keeps two players from being seated together and silences the other as well; a
-- mute only silences.
create table player_relations (
    player uuid not null references players,
    kind text not null check (kind in ('block', 'mute')),
    other uuid not null references players,
    created_at timestamptz not null default date_trunc('milliseconds', now()),
    primary key (player, kind, other),
    constraint player_relations_with_others check (player <> other)
);

-- Who has blocked a player is asked whenever that player is seated.
create index player_relations_of_other on player_relations (other, kind);

-- One report of each player about each other player of a game. `game` is where it happened, and
-- its record is the evidence.
create table player_reports (
    id uuid primary key default gen_random_uuid(),
    reporter uuid not null references players,
    reported uuid not null references players,
    game uuid not null references games,
    reason text not null
        check (reason in ('cheating', 'collusion', 'abuse', 'name', 'stalling', 'other')),
    words text null check (char_length(words) between 1 and 500),
    created_at timestamptz not null default date_trunc('milliseconds', now()),
    constraint player_reports_about_others check (reporter <> reported),
    constraint player_reports_once unique (game, reporter, reported)
);

create index player_reports_about on player_reports (reported, created_at);

grant select, insert, delete on player_relations to bahay_service;
grant select, insert on player_reports to bahay_service;
