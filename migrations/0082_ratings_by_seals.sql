-- Ratings follow the seals of the ledger, as standings do: each game is in one seal, so it needs no
-- row that says that it was rated, and nobody looks for games that were not.
--
-- Games that finished together may be sealed in another order, so nothing tells a seal up to which all
-- games were rated and none behind it. All ratings are made again, from the first game on, as they
-- can be at any time.
delete from ratings;
drop table rated_games;
drop index games_settled;

create table ratings_progress (
    is_only boolean primary key default true check (is_only),
    -- The last seal whose games were rated.
    seal bigint not null check (seal >= 0)
);

insert into ratings_progress (seal) values (0);

grant select, update on ratings_progress to bahay_service;
