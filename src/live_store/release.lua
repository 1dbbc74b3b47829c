-- Ends a player's claim to a table, if it is still to this one.  KEYS: the player's table.
-- ARGV: table.
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0
