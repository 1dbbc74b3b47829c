-- Ratings as a leaderboard: by what a player is at least as good as, which is the rating less three
-- times how unsure it is, so that nobody leads it by one lucky game. `rated_at` is when the last
-- game that counted was finished: a day's board has those who were rated on that day.
alter table ratings
    add column rated_at timestamptz not null default now(),
    add column at_least integer not null
        generated always as (rating - 3 * uncertainty) stored;

create index ratings_ranked on ratings (at_least desc, player);

grant update (rated_at) on ratings to bahay_service;
