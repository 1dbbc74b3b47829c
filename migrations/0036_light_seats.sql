-- What makes a game cheaper to open and to settle.
--
-- The two references of a seat were looked up for each, and each look at a player wrote a lock into
-- that player's row: half of what an opening cost. Seats are written only by the statement that
-- writes their game and only for players whose wallets it has read; records only with the end of
-- a game that it has locked. The audit looks for what a foreign key would refuse.
alter table game_players drop constraint game_players_game_fkey;
alter table game_players drop constraint game_players_player_fkey;
alter table game_records drop constraint game_records_game_fkey;

-- PostgreSQL parsed each record to see that it is JSON, which took four times as long as storing
-- it, and nothing in the database looks into a record. Whoever verifies games reads them all.
alter table game_records alter column record type text using record::text;

-- Another type begins with the default of compression again.
do $$
begin
    alter table game_records alter column record set compression lz4;
exception
    when feature_not_supported then null;
end
$$;
