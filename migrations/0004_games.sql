-- Games: players, stakes and results, and the records by which each game can be verified; and halted tables.
--
-- A game is played from its opening to its settlement. Its `kind`, in this file, in all that follow and in
-- records, is a short name such as `tongits` that the program defines. The database knows neither the kinds
-- nor their endings nor their numbers of players, so a new kind changes nothing here. Names are checked where
-- they are first stored and not in copies, because PostgreSQL evaluates a check constraint on every change of
-- a row, and a pattern was half of the cost of projections.

-- Games for coins as the ledger needs them, from the opening on. `game_records` has their course.
create table games (
    id uuid primary key,
    kind text not null check (kind ~ '^[a-z][a-z0-9_]*$' and char_length(kind) <= 32),
    table_id uuid not null,
    room text not null,
    state text not null default 'open' check (state in ('open', 'settled', 'voided')),
    -- The ante of each seat.
    ante bigint not null check (ante >= 0),
    -- The SHA-256 of the server seed, as the table showed it before the deal. A commitment whose game is
    -- voided or never ends is public (rule 9.1a).
    commitment bytea not null check (octet_length(commitment) = 32),
    opened_at timestamptz not null,
    finished_at timestamptz null,
    void_reason text null check (char_length(void_reason) between 10 and 500),
    constraint games_finish_once check ((state = 'open') = (finished_at is null)),
    constraint games_voided_for_a_reason check ((state = 'voided') = (void_reason is not null))
);

-- A table plays one game at a time.
create unique index games_open_at_table on games (table_id) where state = 'open';

-- The last game of a table with a POT.
create index games_of_table on games (table_id);

-- The voided games, newest first.
create index games_voided on games (finished_at) where state = 'voided';

grant select, insert, update (state, finished_at, void_reason) on games to bahay_service;

-- The seats of a game with their players, stakes and results.
--
-- There are no foreign keys here or in `game_records`. Two references for each seat were half of the cost of
-- an opening, and each check of a player wrote a lock into that player's row. Seats are written only by the
-- statement that writes their game, and only for players whose wallets it has read; records only with the end
-- of a game that it has locked, or with the row of a tournament's game (0020_tournaments.sql). The audit checks
-- what foreign keys would check.
create table game_players (
    game uuid not null,
    player uuid not null,
    seat smallint not null check (seat between 0 and 7),
    stake bigint not null check (stake > 0),
    -- The change of the player's coins by the game without the ante, after the fee and with the POT; 0 if the
    -- game was voided.
    net bigint null,
    -- As in `games`, so that one index lists a player's games in order.
    finished_at timestamptz null,
    primary key (game, player),
    constraint game_players_finish_once check ((net is null) = (finished_at is null))
);

-- A player's finished games, newest first, and the open ones, whose `finished_at` is null.
create index game_players_of_player on game_players (player, finished_at, game);

grant select, insert, update (net, finished_at) on game_players to bahay_service;

-- The documents of finished games: the record contains everything needed to verify a game; the settlement is
-- the booked one or, for a game of a tournament, that of the record, in points. Written once.
create table game_records (
    game uuid primary key,
    settlement jsonb not null,
    -- The record as JSON text. Parsing it, as `json` does, took four times as long as storing it, and nothing
    -- in the database reads a record. A verification of games reads them completely. Null after the record
    -- was moved to the archive (0013_archive.sql).
    record text null,
    -- The copy in the archive: the number of the object, the position and length of its part, and the hash
    -- (SHA-256) of the text; and whether the AI has acted for a player, which reports count. For some days
    -- the text is kept in addition to the copy.
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

-- A row with its record is too large for its page, so PostgreSQL tries to compress its columns, one after the
-- other. The record is moved to the TOAST table anyway, and the settlement is small: compressing it as well
-- cost more than it saved.
alter table game_records alter column settlement set storage main;

-- LZ4 is several times faster than PostgreSQL's own compression, if the server was built with it.
do $$
begin
    alter table game_records alter column record set compression lz4;
exception
    when feature_not_supported then null;
end
$$;

grant select, insert on game_records to bahay_service;

-- Tables that were halted because playing on could have done harm. Operators release or void them. A table
-- can be halted again after a release.
create table halted_tables (
    id uuid primary key default gen_random_uuid(),
    table_id uuid not null,
    -- The known attributes: a table between games has no game, and one that cannot be read may have no room.
    -- The kind is that of the game, or of the room.
    kind text null check (kind ~ '^[a-z][a-z0-9_]*$' and char_length(kind) <= 32),
    room text null,
    game uuid null,
    -- The version of its journal at the halt; null if the journal could not be read.
    version bigint null,
    reason text not null,
    halted_at timestamptz not null default date_trunc('milliseconds', now()),
    released_at timestamptz null,
    outcome text null check (outcome in ('released', 'voided')),
    constraint halted_tables_end_once check ((released_at is null) = (outcome is null))
);

-- A table has one open halt, however many nodes detect the same fault.
create unique index halted_tables_now on halted_tables (table_id) where released_at is null;

grant select, insert, update (released_at, outcome) on halted_tables to bahay_service;
