-- Keeps the players of a process for another while. Gives 0 when there are not as many as it has.
-- KEYS: processes by when they last spoke, the process' players.  ARGV: process, how long a process
-- that says nothing counts in ms, the number of its players.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now - ARGV[2])
redis.call('zadd', KEYS[1], now, ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[2])
redis.call('pexpire', KEYS[2], ARGV[2])
return redis.call('scard', KEYS[2]) == tonumber(ARGV[3]) and 1 or 0
