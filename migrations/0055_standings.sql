-- What is counted from settled games, some time after they were settled: how each ended, what each
-- player has done, and the scores of the leaderboards. All of it follows from the seals of the
-- ledger, which name every settlement once and in one order; `standings_progress` says up to which
-- seal it was counted, and moves in the transaction that counts. So each game counts once, and all
-- of it can be thrown away and counted again.
create table game_results (
    game uuid primary key references games,
    ending text not null check (ending in ('tongits', 'fight', 'stock')),
    -- Null when nobody won.
    winner uuid null references players
);

create table player_statistics (
    player uuid primary key references players,
    games bigint not null default 0 check (games >= 0),
    wins bigint not null default 0 check (wins between 0 and games),
    tongits bigint not null default 0 check (tongits between 0 and wins),
    fights_won bigint not null default 0 check (fights_won between 0 and wins),
    -- How often the player took the POT, and the largest one, in hundredths of a coin.
    hits bigint not null default 0 check (hits between 0 and games),
    best_pot bigint not null default 0 check (best_pot >= 0),
    -- Wins in a row at whatever tables: now, and the longest ever.
    streak bigint not null default 0 check (streak >= 0),
    best_streak bigint not null default 0 check (best_streak >= streak)
);

create table board_scores (
    board text not null check (board in ('coins', 'hits')),
    span text not null check (span in ('day', 'week', 'season', 'ever')),
    -- The first day of the span; 1970-01-01 for `ever`.
    starts_on date not null,
    player uuid not null references players,
    score bigint not null check (score > 0),
    primary key (board, span, starts_on, player)
);

-- A board from its top: equal scores in the order of the players' ids.
create index board_scores_ranked on board_scores (board, span, starts_on, score desc, player);

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
grant select, insert, update, delete on player_statistics, board_scores to bahay_service;
grant select, insert, update on standings_progress to bahay_service;
