-- What the desk needs to answer in some milliseconds with a million games, by what was measured.

-- Millions of rows are read here, which takes longer than a statement may.
set local statement_timeout = 0;

-- Settlements of exactly one sort of a day, as `settlement_days` has them: so that a filter that fits
-- few reads only those.
create index settlements_of_sort
    on settlements (day, gross, room, coalesce(ending, ''), took_pot, taken_over);

-- The same by player, for the list and the totals of somebody who has played ten thousand games: all
-- that both ask for is in the index, side by side.
create table player_settlements (
    player uuid not null,
    finished_at timestamptz not null,
    game uuid not null,
    room text not null,
    ending text null,
    gross bigint not null,
    fee bigint not null,
    pot bigint null,
    taken_over boolean not null,
    primary key (player, finished_at, game)
        include (room, ending, gross, fee, pot, taken_over)
);

insert into player_settlements (
    player, finished_at, game, room, ending, gross, fee, pot, taken_over
)
select p.player, s.finished_at, s.game, s.room, s.ending, s.gross, s.fee, s.pot, s.taken_over
from settlements s
join game_players p on p.game = s.game
order by p.player, s.finished_at, s.game;

grant select, insert on player_settlements to bahay_service;

-- When a table whose POT waits was played at last.
create index games_of_table on games (table_id);
