-- Adds a player with an open socket at a process, or removes one without.
--
-- KEYS: processes by their last refresh, the process's players. ARGV: process, the time in ms for which a
-- process counts as alive after its last refresh, '1' or '0', player.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[3] == '0' then return redis.call('srem', KEYS[2], ARGV[4]) end
redis.call('sadd', KEYS[2], ARGV[4])
redis.call('pexpire', KEYS[2], ARGV[2])
redis.call('zadd', KEYS[1], now, ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[2])
return 1
