-- Games: who played for how much, what came of it, and the records by which each game can be
-- verified; and tables that were stopped.
--
-- A game is here what is played from one opening to its settlement. Which game is played is its
-- `kind`, in this file and all that follow, and in records: a short name of the program's, as
-- `tongits`. The database knows no such name, nor how the games of a kind can end, nor how many
-- play: a new game changes nothing here. Such names are checked where they come in and not where
-- they are copied to, because PostgreSQL holds a check again whenever the row changes, and a
-- pattern was half of what counting cost.

-- Games as far as coins are concerned, from the opening on. What happened in them is in
-- `game_records`.
create table games (
    id uuid primary key,
    kind text not null check (kind ~ '^[a-z][a-z0-9_]*$' and char_length(kind) <= 32),
    table_id uuid not null,
    room text not null,
    state text not null default 'open' check (state in ('open', 'settled', 'voided')),
    -- What each seat paid into the POT.
    ante bigint not null check (ante >= 0),
    -- The SHA-256 of the house's seed, as the table showed it before the deal. A commitment whose game
    -- is voided or never ends is public (rule 9.1a).
    commitment bytea not null check (octet_length(commitment) = 32),
    opened_at timestamptz not null,
    finished_at timestamptz null,
    void_reason text null check (char_length(void_reason) between 10 and 500),
    constraint games_finish_once check ((state = 'open') = (finished_at is null)),
    constraint games_voided_for_a_reason check ((state = 'voided') = (void_reason is not null))
);

-- A table plays one game at a time.
create unique index games_open_at_table on games (table_id) where state = 'open';

-- When a table whose POT waits was played at last.
create index games_of_table on games (table_id);

-- Games that could not be finished, newest first.
create index games_voided on games (finished_at) where state = 'voided';

grant select, insert, update (state, finished_at, void_reason) on games to bahay_service;

-- Who sat where in a game, with how much at stake, and what it came to.
--
-- There are no foreign keys here or in `game_records`. Two references for each seat were half of
-- what an opening cost, and each look at a player wrote a lock into that player's row. Seats are
-- written only by the statement that writes their game, and only for players whose wallets it has
-- read; records only with the end of a game that it has locked. The audit looks for what a foreign
-- key would refuse.
create table game_players (
    game uuid not null,
    player uuid not null,
    seat smallint not null check (seat between 0 and 7),
    stake bigint not null check (stake > 0),
    -- What the game changed for the player, the ante aside; 0 when it was voided. The fee is
    -- taken off, the POT is in it.
    net bigint null,
    -- As in `games`, so that a player's games can be read in order from one index.
    finished_at timestamptz null,
    primary key (game, player),
    constraint game_players_finish_once check ((net is null) = (finished_at is null))
);

-- A player's finished games newest first, and the open ones, whose `finished_at` is null.
create index game_players_of_player on game_players (player, finished_at, game);

grant select, insert, update (net, finished_at) on game_players to bahay_service;

-- The documents of settled games: the record holds all that is needed to verify a game, the
-- settlement is what the ledger booked for it. Written once.
create table game_records (
    game uuid primary key,
    settlement jsonb not null,
    -- A JSON text as it came. To parse it, as `json` does, took four times as long as storing it,
    -- and nothing in the database looks into a record. Whoever verifies games reads them all. Null
    -- once the record was moved to the archive (0013_archive.sql).
    record text null,
    -- Its copy in the archive: the number of the object, the place and length of its part of it, the
    -- hash (SHA-256) of the text as it came; and whether the AI has played for somebody, which reports
    -- count. For some days the text is kept beside the copy.
    archived_in bigint null,
    archived_at integer null,
    archived_bytes integer null,
    record_hash bytea null,
    taken_over boolean null,
    constraint game_records_somewhere check (record is not null or archived_in is not null),
    constraint game_records_archived_whole check (
        num_nonnulls(archived_in, archived_at, archived_bytes, record_hash, taken_over) in (0, 5)
    )
);

-- A row with its record is too large for its place, so PostgreSQL tries to compress what is in it,
-- one column after the other. The record alone leaves for a table of its own anyway, and the
-- settlement beside it is small: to compress it as well cost more than it saved.
alter table game_records alter column settlement set storage main;

-- LZ4 is several times faster than PostgreSQL's own compression, where the server was built with
-- it.
do $$
begin
    alter table game_records alter column record set compression lz4;
exception
    when feature_not_supported then null;
end
$$;

grant select, insert on game_records to bahay_service;

-- Tables that were stopped because going on could have done harm: for operators, who release or
-- void them. A table can be halted again after it was released.
create table halted_tables (
    id uuid primary key default gen_random_uuid(),
    table_id uuid not null,
    -- As far as they are known: a table between games has no game, and one that cannot be read
    -- may have no room. The kind is that of the game, or of the room.
    kind text null check (kind ~ '^[a-z][a-z0-9_]*$' and char_length(kind) <= 32),
    room text null,
    game uuid null,
    -- Of its journal, when it was halted; null when the journal could not be read.
    version bigint null,
    reason text not null,
    halted_at timestamptz not null default date_trunc('milliseconds', now()),
    released_at timestamptz null,
    outcome text null check (outcome in ('released', 'voided')),
    constraint halted_tables_end_once check ((released_at is null) = (outcome is null))
);

-- Halted once at a time, however many nodes meet the same fault.
create unique index halted_tables_now on halted_tables (table_id) where released_at is null;

grant select, insert, update (released_at, outcome) on halted_tables to bahay_service;
