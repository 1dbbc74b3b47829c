-- How well players play, as far as that can be told from finished games: a Weng-Lin rating, which
-- is a guess and how unsure it is, both in thousandths. Made from `games` alone, one game after the
-- other, so it can be made again.
create table ratings (
    player uuid primary key references players,
    rating integer not null,
    uncertainty integer not null check (uncertainty > 0),
    games integer not null check (games > 0)
);

-- Which games have been counted: each once.
create table rated_games (
    game uuid primary key references games,
    finished_at timestamptz not null
);

create index rated_games_newest on rated_games (finished_at);

-- Finished games in the order in which they are counted.
create index games_settled on games (finished_at, id) where state = 'settled';

grant select, insert, update (rating, uncertainty, games) on ratings to bahay_service;
grant select, insert on rated_games to bahay_service;
