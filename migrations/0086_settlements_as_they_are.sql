-- A row with its record is too large for its place, so PostgreSQL tries to compress what is in it, one
-- column after the other. The record alone leaves for a table of its own anyway, and the settlement
-- beside it is small: to compress it as well cost more than it saved, when it was written and each
-- time that it was read. Settlements that are stored stay as they are.
alter table game_records alter column settlement set storage main;

-- Only nodes of the version before last call it (0083).
drop function read_books(text[], text[], uuid[], uuid[]);
