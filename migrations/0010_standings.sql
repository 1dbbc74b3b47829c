-- What is counted from settled games, some time after they were settled: how each ended, what each
-- player has done, the scores of the leaderboards, and how well players play, all of it for each
-- kind of game by itself. It follows from the seals of the ledger, which name every settlement once
-- and in one order. A row of progress says up to which seal it was counted, and moves in the
-- transaction that counts. So each game counts once, and all of it can be thrown away and counted
-- again.

-- How each game ended, in a word of the program's for its kind, as `stock`.
create table game_results (
    game uuid primary key references games,
    ending text not null check (ending ~ '^[a-z][a-z0-9_]*$' and char_length(ending) <= 32),
    -- Null when nobody won.
    winner uuid null references players
);

-- What each player has done in all games of a kind, as far as it can be said of every kind.
create table player_statistics (
    player uuid not null references players,
    kind text not null,
    games bigint not null check (games >= 0),
    wins bigint not null check (wins between 0 and games),
    -- The largest POT that the player took, in hundredths of a coin.
    best_pot bigint not null check (best_pot >= 0),
    -- Wins in a row at whatever tables: now, and the longest ever.
    streak bigint not null check (streak >= 0),
    best_streak bigint not null check (best_streak >= streak),
    primary key (player, kind)
) with (fillfactor = 80);

-- The rest of it: what only some games count, a row for each counter that is not zero. Its name is
-- the program's, as `hits`, which says how often a player took a POT.
create table player_counters (
    player uuid not null,
    kind text not null,
    name text not null,
    value bigint not null check (value > 0),
    primary key (player, kind, name),
    foreign key (player, kind) references player_statistics (player, kind)
) with (fillfactor = 80);

-- Boards are read from Redis, which is filled by a board's key. Without an index that names the
-- score, and with room for another version of a row beside it, a score that rises changes the table
-- alone.
create table board_scores (
    kind text not null,
    -- What is counted, as `coins`.
    board text not null,
    span text not null check (span in ('day', 'week', 'season', 'ever')),
    -- The first day of the span; 1970-01-01 for `ever`.
    starts_on date not null,
    player uuid not null references players,
    score bigint not null check (score > 0),
    -- When the game was finished that brought the score: of equal scores the earlier one comes first.
    reached_at timestamptz not null,
    primary key (kind, board, span, starts_on, player)
) with (fillfactor = 80);

create table standings_progress (
    is_only boolean primary key default true check (is_only),
    -- The last seal that was counted.
    seal bigint not null check (seal >= 0),
    -- In which days and seasons: other ones are counted from the beginning.
    calendar text not null,
    -- How often it was begun anew: names what other stores keep of it.
    generation bigint not null
);

grant select, insert, delete on game_results to bahay_service;
grant select, insert, update, delete on player_statistics, player_counters, board_scores
    to bahay_service;
grant select, insert, update on standings_progress to bahay_service;

-- How well players play a game, as far as that can be told from finished ones: a Weng-Lin rating,
-- which is a guess and how unsure it is, both in thousandths.
create table ratings (
    player uuid not null references players,
    kind text not null,
    rating integer not null,
    uncertainty integer not null check (uncertainty > 0),
    games integer not null check (games > 0),
    -- When the last game that counted was finished: a day's board has those who were rated on that
    -- day.
    rated_at timestamptz not null,
    -- What the leaderboard goes by, so that nobody leads it by one lucky game.
    at_least integer not null generated always as (rating - 3 * uncertainty) stored,
    primary key (player, kind)
);

-- Of equal ratings the one that was reached first comes first. An id begins with the time at which
-- the account was made, so what decides last is read from its end.
create index ratings_ranked on ratings (kind, at_least desc, rated_at, reverse(player::text));

create table ratings_progress (
    is_only boolean primary key default true check (is_only),
    -- The last seal whose games were rated.
    seal bigint not null check (seal >= 0)
);

insert into ratings_progress (seal) values (0);

grant select, insert, update (rating, uncertainty, games, rated_at) on ratings to bahay_service;
grant select, update on ratings_progress to bahay_service;
