-- The projections of settled games: their endings, the statistics of players, the scores of leaderboards, and
-- ratings, each by kind of game. They follow from the seals of the ledger, which contain every settlement
-- once and in one order.

-- The positions of all projections of the seals. A position advances in the transaction that projects, so each
-- operation counts once, and a projection can be deleted and rebuilt. Each projection inserts its own row.
create table projections (
    name text primary key check (name ~ '^[a-z][a-z0-9_]*$'),
    -- The last projected seal.
    seal bigint not null default 0 check (seal >= 0),
    -- The settings that the projected rows depend on; a change of them requires a rebuild.
    version text not null default '',
    -- The number of rebuilds, which is part of the names of cached data.
    generation bigint not null default 1
);

insert into projections (name) values ('standings'), ('ratings');

grant select, update (seal, version, generation) on projections to bahay_service;

-- The ending of each game, as a name of its kind such as `stock`.
create table game_results (
    game uuid primary key references games,
    ending text not null check (ending ~ '^[a-z][a-z0-9_]*$' and char_length(ending) <= 32),
    -- Null if nobody won.
    winner uuid null references players
);

-- The statistics of each player in all games of a kind, as far as every kind has them.
create table player_statistics (
    player uuid not null references players,
    kind text not null,
    games bigint not null check (games >= 0),
    wins bigint not null check (wins between 0 and games),
    -- The largest POT won by the player, in hundredths of a coin.
    best_pot bigint not null check (best_pot >= 0),
    -- The consecutive wins at any tables: the current and the longest streak.
    streak bigint not null check (streak >= 0),
    best_streak bigint not null check (best_streak >= streak),
    primary key (player, kind)
) with (fillfactor = 80);

-- The statistics of single kinds: a row for each counter that is not zero. The program defines the names,
-- such as `hits` for the number of POTs won.
create table player_counters (
    player uuid not null,
    kind text not null,
    name text not null,
    value bigint not null check (value > 0),
    primary key (player, kind, name),
    foreign key (player, kind) references player_statistics (player, kind)
) with (fillfactor = 80);

-- Boards are read from Redis, which is filled by a board's key. No index contains the score and pages have
-- free space, so a rising score updates the table alone (HOT).
create table board_scores (
    kind text not null,
    -- The counted quantity, such as `coins`.
    board text not null,
    span text not null check (span in ('day', 'week', 'season', 'ever')),
    -- The first day of the span; 1970-01-01 for `ever`.
    starts_on date not null,
    player uuid not null references players,
    score bigint not null check (score > 0),
    -- The end of the game that reached the score: among equal scores the earlier one comes first.
    reached_at timestamptz not null,
    primary key (kind, board, span, starts_on, player)
) with (fillfactor = 80);

grant select, insert, delete on game_results to bahay_service;
grant select, insert, update, delete on player_statistics, player_counters, board_scores
    to bahay_service;

-- The ratings of players in a kind of game: Weng-Lin ratings with their uncertainty, both in thousandths.
create table ratings (
    player uuid not null references players,
    kind text not null,
    rating integer not null,
    uncertainty integer not null check (uncertainty > 0),
    games integer not null check (games > 0),
    -- The end of the last rated game: a day's board has the players who were rated on that day.
    rated_at timestamptz not null,
    -- The lower bound that orders the leaderboard, so that nobody leads it by one lucky game.
    at_least integer not null generated always as (rating - 3 * uncertainty) stored,
    primary key (player, kind)
);

-- Among equal ratings the one reached first comes first. An id begins with the time of the account's
-- creation, so the last criterion reads it from its end.
create index ratings_ranked on ratings (kind, at_least desc, rated_at, reverse(player::text));

grant select, insert, update (rating, uncertainty, games, rated_at) on ratings to bahay_service;
