-- Boards are read from Redis, which is filled by a board's key: nothing has ever read the scores in
-- their order. Without an index that names the score, and with room for another version of a row
-- beside it, a score that rises changes the table alone.
drop index board_scores_ranked;

alter table board_scores set (fillfactor = 80);
alter table player_statistics set (fillfactor = 80);
