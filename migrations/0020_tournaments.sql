-- Tournaments: their journals, their entrants, and the games of their tables.
--
-- A tournament is a journal, as a table is: its terms, and its accepted inputs as lines. The program rebuilds
-- it from them; the other columns are copies for queries. The journal is here and not in live state, so that
-- a line and the coins that it moves are one transaction, and a loss of live state loses nothing.
create table tournaments (
    id uuid primary key,
    terms jsonb not null,
    -- The seed of its lots and deals, secret until it is over.
    seed bytea not null check (octet_length(seed) = 32),
    -- The number of lines in the journal.
    version bigint not null default 0 check (version >= 0),
    state text not null check (state in ('announced', 'running', 'ended', 'cancelled')),
    -- The number of players who are registered.
    entrants integer not null default 0 check (entrants >= 0),
    -- The sum of the prizes, in hundredths of a coin; null until registration is closed.
    pool bigint null check (pool >= 0),
    -- The coins that the house has earned with it: fees less guarantees and passes.
    house_result bigint not null default 0,
    -- The code by which players register for a private tournament.
    code text null unique,
    -- The time at which a node goes on with the tournament if no input arrives before; null if none does.
    due_at timestamptz null,
    -- The time of the notice before the start; null once it is written, and for a sit-and-go.
    remind_at timestamptz null,
    -- The first round of a duplicate whose deals are secret, and so its games and records; null if no round is.
    secret_round integer null check (secret_round > 0),
    -- The version after which the results are secret, while a round of a duplicate is played.
    secret_after bigint null,
    created_at timestamptz not null default date_trunc('milliseconds', now()),
    -- The time at which everything was paid, and its account closed.
    closed_at timestamptz null,
    constraint tournaments_close_when_over
        check (closed_at is null or state in ('ended', 'cancelled')),
    -- So no record is archived whose round is secret.
    constraint tournaments_close_without_secrets check (closed_at is null or secret_round is null)
);

create index tournaments_due on tournaments (due_at) where due_at is not null;

create index tournaments_to_remind on tournaments (remind_at) where remind_at is not null;

-- The closed tournaments, whose records are archived in this order.
create index tournaments_closed on tournaments (closed_at) where closed_at is not null;

-- The list, newest first.
create index tournaments_by_time on tournaments (created_at, id);

-- Operators search for a part of a name.
create index tournaments_by_part_of_name on tournaments using gin (lower(terms ->> 'name') gin_trgm_ops);

grant select, insert, update (version, state, entrants, due_at, secret_round, secret_after, closed_at)
    on tournaments to bahay_service;

grant update (pool, house_result, remind_at) on tournaments to bahay_service;

-- Requests for tournaments whose guarantee requires a second operator: one operator requests, another one
-- decides. An approval announces the tournament under the id of the request, in the same transaction.
create table tournament_requests (
    id uuid primary key,
    -- The id of the call that inserted the row, so that a retried call inserts no second one.
    attempt uuid not null unique,
    terms jsonb not null,
    -- The code by which players would register for a private tournament.
    code text null,
    state text not null default 'open'
        check (state in ('open', 'approved', 'rejected', 'withdrawn')),
    reason text not null check (char_length(reason) between 10 and 500),
    requested_by uuid not null references operators,
    requested_at timestamptz not null,
    decided_by uuid null references operators,
    -- The time of the decision or of the withdrawal.
    decided_at timestamptz null,
    rejection_reason text null check (char_length(rejection_reason) between 10 and 500),
    tournament uuid null unique references tournaments,
    constraint tournament_requests_need_two check (decided_by <> requested_by),
    constraint tournament_requests_decided_once check (
        (state in ('open', 'withdrawn')) = (decided_by is null)
        and (state = 'open') = (decided_at is null)
        and (state = 'approved') = (tournament is not null)
        and (state = 'rejected') = (rejection_reason is not null)
    )
);

create index tournament_requests_open on tournament_requests (id) where state = 'open';

grant select, insert, update (state, decided_by, decided_at, rejection_reason, tournament)
    on tournament_requests to bahay_service;

-- Schedules, whose tournaments repeat on days of the week.
create table tournament_schedules (
    id uuid primary key,
    -- The terms of each tournament, without a start.
    terms jsonb not null,
    -- The days of the week, from 1 for Monday, and the times as minutes of the day, in the house's time zone.
    days smallint[] not null check (days <@ array[1, 2, 3, 4, 5, 6, 7]::smallint[]),
    minutes smallint[] not null check (0 <= all (minutes) and 1440 > all (minutes)),
    -- The time from the announcement to the start, in seconds.
    announce_before_s integer not null check (announce_before_s > 0),
    is_paused boolean not null default false,
    created_by uuid not null references operators,
    created_at timestamptz not null,
    deleted_at timestamptz null
);

grant select, insert, update (is_paused, deleted_at) on tournament_schedules to bahay_service;

-- The starts that have been announced. The primary key lets one node announce a tournament. The start is
-- inserted first, so the tournament is checked at the end of the transaction.
create table tournament_starts (
    schedule uuid not null references tournament_schedules,
    start timestamptz not null,
    tournament uuid not null unique references tournaments deferrable initially deferred,
    primary key (schedule, start)
);

grant select, insert on tournament_starts to bahay_service;

-- The guarantees that operators have announced alone, directly or by a schedule, on days of the house. Their
-- sums have a limit. Tournaments that a second operator approved are absent.
create table tournament_guarantees (
    tournament uuid primary key references tournaments,
    operator uuid not null references operators,
    -- The day of the announcement in the house's time zone.
    day date not null,
    -- In hundredths of a coin.
    amount bigint not null check (amount > 0),
    -- True if a schedule of the operator announced it.
    is_scheduled boolean not null
);

create index tournament_guarantees_of_day on tournament_guarantees (operator, day);

grant select, insert on tournament_guarantees to bahay_service;

-- The lines of the journals. The primary key decides which of two nodes that decided on the same version has
-- written the line: the other one reads it and decides again.
create table tournament_lines (
    tournament uuid not null references tournaments,
    -- From 1 without gaps.
    version bigint not null check (version > 0),
    line jsonb not null,
    -- The lines of the public list of results that follow from the line, often none.
    results jsonb not null,
    primary key (tournament, version)
);

grant select, insert on tournament_lines to bahay_service;

-- The players who have registered, by whom an account is kept that a tournament owes coins.
create table tournament_entrants (
    tournament uuid not null references tournaments,
    player uuid not null,
    primary key (tournament, player)
);

create index tournament_entrants_of_player on tournament_entrants (player, tournament);

grant select, insert, delete on tournament_entrants to bahay_service;

-- The passes of players, each of which pays one entry. An entry holds it from its registration on, until the
-- entry is returned; the journal of the tournament has the history.
create table tournament_passes (
    -- The correction that granted it.
    id uuid primary key references corrections,
    player uuid not null references players,
    -- The largest buy-in that it pays, in hundredths of a coin.
    buy_in_max bigint not null check (buy_in_max > 0),
    granted_at timestamptz not null,
    -- The tournament and the number of the player's entry that hold it; null while it is unused.
    used_in uuid null references tournaments,
    used_entry integer null check (used_entry > 0),
    used_at timestamptz null,
    -- The time from which on no entry holds it; null unless it is revoked.
    revoked_at timestamptz null,
    constraint tournament_passes_are_used_whole
        check (num_nulls(used_in, used_entry, used_at) in (0, 3)),
    constraint tournament_passes_are_used_or_revoked
        check (used_in is null or revoked_at is null)
);

create index tournament_passes_of_player on tournament_passes (player, buy_in_max);

-- An entry holds one pass.
create unique index tournament_passes_of_entry on tournament_passes (used_in, player, used_entry)
    where used_in is not null;

grant select, insert, update (used_in, used_entry, used_at, revoked_at), delete on tournament_passes
    to bahay_service;

-- The finished games of tournaments. No coins are staked in them, so they are not among `games`, whose rows
-- the audit compares with operations. Their records are in `game_records`. A game is stored before its table
-- goes on, and the tournament notes it later, once, in the line `scored_in`.
create table tournament_games (
    game uuid primary key references game_records,
    tournament uuid not null references tournaments,
    table_id uuid not null,
    -- The round, the number of the table in the round, and that of the game at the table, each from 1.
    round integer not null check (round > 0),
    table_number integer not null check (table_number > 0),
    number integer not null check (number > 0),
    kind text not null,
    -- By seat: the player, the points in hundredths, and whether the AI played for the player at the end.
    scores jsonb not null,
    finished_at timestamptz not null,
    scored_in bigint null,
    -- By seat: the decisions of the player, those against the advice of the AI, and the counts that these give
    -- each other seat. Null until measured.
    conduct jsonb null,
    unique (table_id, number)
);

create index tournament_games_unscored on tournament_games (tournament) where scored_in is null;
create index tournament_games_unmeasured on tournament_games (game)
    where conduct is null and scored_in is not null;
create index tournament_games_of_tournament on tournament_games (tournament, finished_at, game);
create index tournament_games_of_round on tournament_games (tournament, round, number);

grant select, insert, update (scored_in, conduct) on tournament_games to bahay_service;

-- The age of a tournament's records counts from its close, before which one of its rounds may be secret.
create or replace view archivable_games as
    select s.game, s.day, s.finished_at
    from settlements s
    union all
    select g.game, (t.closed_at at time zone 'UTC')::date, t.closed_at
    from tournament_games g
    join tournaments t on t.id = g.tournament
    where t.closed_at is not null;

insert into additive_migrations (version) values (20);
