-- Makes a player's claim last, if it is still to this table.  KEYS: the player's table.
-- ARGV: table.
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('persist', KEYS[1])
return 1
