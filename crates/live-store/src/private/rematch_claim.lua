-- Claims the rematch of a game, unless a claim to another table than `over` exists. Returns the current
-- claim: code, table, host, and '1' once its table was created.
--
-- KEYS: the rematch. ARGV: code, table, host, the table that is over or '', time to live in ms.
local stands = redis.call('hmget', KEYS[1], 'code', 'table', 'host', 'made')
if stands[2] and stands[2] ~= ARGV[4] then return stands end
redis.call('del', KEYS[1])
redis.call('hset', KEYS[1], 'code', ARGV[1], 'table', ARGV[2], 'host', ARGV[3])
redis.call('pexpire', KEYS[1], ARGV[5])
return { ARGV[1], ARGV[2], ARGV[3], false }
