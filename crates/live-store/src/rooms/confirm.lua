-- Makes a player's claim permanent if it is still to this table.
--
-- KEYS: the player's claim. ARGV: table.
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('persist', KEYS[1])
return 1
