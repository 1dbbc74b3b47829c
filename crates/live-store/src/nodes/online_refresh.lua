-- Renews the lifetime of a process's set of players. Returns 0 if the set holds a different number of
-- players.
--
-- KEYS: processes by their last refresh, the process's players. ARGV: process, the time in ms for which a
-- process counts as alive after its last refresh, the number of its players.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now - ARGV[2])
redis.call('zadd', KEYS[1], now, ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[2])
redis.call('pexpire', KEYS[2], ARGV[2])
return redis.call('scard', KEYS[2]) == tonumber(ARGV[3]) and 1 or 0
