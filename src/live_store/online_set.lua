-- Notes that a player has an open socket at a process, or has none there any more.
-- KEYS: processes by when they last spoke, the process' players.  ARGV: process, how long a process
-- that says nothing counts in ms, '1' or '0', player.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[3] == '0' then return redis.call('srem', KEYS[2], ARGV[4]) end
redis.call('sadd', KEYS[2], ARGV[4])
redis.call('pexpire', KEYS[2], ARGV[2])
redis.call('zadd', KEYS[1], now, ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[2])
return 1
