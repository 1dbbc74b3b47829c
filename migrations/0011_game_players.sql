-- Who sat where in a game, with how much at stake, and what it came to.
create table game_players (
    game uuid not null references games,
    player uuid not null references players,
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
