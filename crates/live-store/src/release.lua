-- Deletes a key if it still has this value: a player's claim to a table, or the lease of a holder.
--
-- KEYS: the claim or lease. ARGV: table or holder.
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0
